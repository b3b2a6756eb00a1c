//! The number types that files hold, to and from the two that the kernels compute with.
//!
//! Reading is exact: float16 and bfloat16 fit float32, all fit float64. Writing rounds to the nearest,
//! ties to even. A number too large for the type is not written at all: infinity would poison whoever loads the
//! file, and the largest finite number would be a value that no rule has computed.

use crate::kernels::Scalar;
use half::{bf16, f16, slice::HalfFloatSliceExt};

/// A number type of a file, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// IEEE half precision.
    F16,
    /// The upper half of a float32.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Float {
    /// Name as NumPy and PyTorch write it.
    pub fn name(self) -> &'static str {
        match self {
            Float::F16 => "float16",
            Float::Bf16 => "bfloat16",
            Float::F32 => "float32",
            Float::F64 => "float64",
        }
    }

    /// Bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Float::F16 | Float::Bf16 => 2,
            Float::F32 => 4,
            Float::F64 => 8,
        }
    }

    /// The type of the kernels that holds every value of this one.
    pub fn computed(self) -> Float {
        if self == Float::F64 { Float::F64 } else { Float::F32 }
    }

    /// Reads `out.len()` numbers that start `stride` bytes apart.
    ///
    /// # Panics
    /// If `bytes` is too short for them.
    pub fn decode<T: Scalar>(self, bytes: &[u8], stride: usize, out: &mut [T]) {
        match self {
            Float::F16 if stride == 2 => decode_halves(bytes, out),
            Float::F16 => each(bytes, stride, out, |bytes| f16::from_le_bytes(bytes).to_f64()),
            Float::Bf16 => each(bytes, stride, out, |bytes| {
                f64::from(f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16))
            }),
            Float::F32 => each(bytes, stride, out, |bytes| f64::from(f32::from_le_bytes(bytes))),
            Float::F64 => each(bytes, stride, out, f64::from_le_bytes),
        }
    }

    /// Appends the number rounded to this type; false if it is finite but the type's nearest value is not.
    pub(super) fn encode(self, value: f64, out: &mut Vec<u8>) -> bool {
        let written = match self {
            Float::F16 => {
                let half = f16::from_f32(round_to_odd(value));
                out.extend(half.to_le_bytes());
                half.to_f64()
            }
            Float::Bf16 => {
                let half = bf16::from_f32(round_to_odd(value));
                out.extend(half.to_le_bytes());
                half.to_f64()
            }
            Float::F32 => {
                out.extend((value as f32).to_le_bytes());
                f64::from(value as f32)
            }
            Float::F64 => {
                out.extend(value.to_le_bytes());
                value
            }
        };
        written.is_finite() || !value.is_finite()
    }
}

/// Through f64: the compiler removes the detour where both ends are f32.
fn each<T: Scalar, const N: usize>(
    bytes: &[u8],
    stride: usize,
    out: &mut [T],
    number: impl Fn([u8; N]) -> f64,
) {
    if stride == N {
        for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<N>().0) {
            *out = T::from_f64(number(*bytes));
        }
    } else {
        for (k, out) in out.iter_mut().enumerate() {
            let mut one = [0; N];
            one.copy_from_slice(&bytes[k * stride..][..N]);
            *out = T::from_f64(number(one));
        }
    }
}

/// In groups, which `half` converts with the processor's instruction where there is one.
fn decode_halves<T: Scalar>(bytes: &[u8], out: &mut [T]) {
    const GROUP: usize = 64;
    let (mut halves, mut singles) = ([f16::ZERO; GROUP], [0f32; GROUP]);
    for (out, bytes) in out.chunks_mut(GROUP).zip(bytes.chunks(2 * GROUP)) {
        let count = out.len();
        for (half, bytes) in halves.iter_mut().zip(bytes.as_chunks::<2>().0) {
            *half = f16::from_le_bytes(*bytes);
        }
        halves[..count].convert_to_f32_slice(&mut singles[..count]);
        for (out, single) in out.iter_mut().zip(&singles) {
            *out = T::from_f64(f64::from(*single));
        }
    }
}

/// To f32 such that rounding once more, to a shorter type, gives what rounding at once would have given:
/// truncate, and set the last bit if anything was lost.
fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || !nearest.is_finite() {
        return nearest;
    }
    let away = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(float: Float, value: f64) -> Option<f64> {
        let mut bytes = Vec::new();
        let fits = float.encode(value, &mut bytes);
        let mut out = [0.0];
        float.decode::<f64>(&bytes, float.size(), &mut out);
        fits.then_some(out[0])
    }

    #[test]
    fn every_half_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            for float in [Float::F16, Float::Bf16] {
                let mut value = [0f32];
                float.decode(&bits.to_le_bytes(), 2, &mut value);
                if value[0].is_finite() {
                    let mut bytes = Vec::new();
                    assert!(float.encode(f64::from(value[0]), &mut bytes));
                    assert_eq!(bytes, bits.to_le_bytes());
                }
            }
        }
    }

    #[test]
    fn strided_and_grouped_reading_agree() {
        let bytes: Vec<u8> = (0..u16::MAX / 16).flat_map(|k| (k.wrapping_mul(7919)).to_le_bytes()).collect();
        let count = bytes.len() / 2;
        let mut dense = vec![0f32; count];
        Float::F16.decode(&bytes, 2, &mut dense);
        let spread: Vec<u8> = bytes.chunks(2).flat_map(|two| [two[0], two[1], 9, 9]).collect();
        let mut strided = vec![0f32; count];
        Float::F16.decode(&spread, 4, &mut strided);
        assert!(dense.iter().zip(&strided).all(|(a, b)| a == b || (a.is_nan() && b.is_nan())));
    }

    #[test]
    fn a_double_is_rounded_once_not_twice() {
        // Just above the middle of 1 and the next half, 1 + 2⁻¹⁰: f32 would round it to the middle, then to even.
        assert_eq!(encoded(Float::F16, 1.0 + 2f64.powi(-11) + 2f64.powi(-40)), Some(1.0 + 2f64.powi(-10)));
        assert_eq!(encoded(Float::F16, 1.0 + 2f64.powi(-11)), Some(1.0));
        assert_eq!(encoded(Float::Bf16, -1.0 - 2f64.powi(-8) - 2f64.powi(-45)), Some(-1.0 - 2f64.powi(-7)));
        assert_eq!(encoded(Float::F16, 1e-300), Some(0.0));
    }

    #[test]
    fn what_does_not_fit_is_neither_infinite_nor_clamped() {
        assert_eq!(encoded(Float::F16, 65519.0), Some(65504.0));
        assert_eq!(encoded(Float::F16, 65520.0), None);
        assert_eq!(encoded(Float::Bf16, 3.4e38), None);
        assert_eq!(encoded(Float::F32, -1e39), None);
        assert_eq!(encoded(Float::F64, 1e300), Some(1e300));
    }
}
