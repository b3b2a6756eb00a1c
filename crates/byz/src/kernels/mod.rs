//! The only hot loops, and the only `unsafe` of the library's arithmetic.
//!
//! A kernel works on one block of columns that fits the cache; the walk over blocks and threads is
//! `crate::engine`'s. Each file holds a kernel generic over [`Lanes`] and a plain function that says the same
//! thing slowly; tests hold them together.
//!
//! - `distances`: squared differences of all pairs of rows
//! - `short`: the same of rows of a few numbers
//! - `combine`: one weighted combination of rows
//! - `mix`: many weighted combinations of rows
//! - `moments`: mean and standard deviation of columns, rows about the mean
//! - `product`: matrix products of layers
//! - `transpose`: columns written as rows
//! - `networks`: sorting columns across rows
//! - `coordinate`: what coordinate-wise rules make of a sorted column

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod combine;
pub(crate) mod coordinate;
pub(crate) mod distances;
mod lanes;
mod merge_exchange;
pub(crate) mod mix;
pub(crate) mod moments;
pub(crate) mod networks;
mod prefetch;
pub(crate) mod product;
mod scratch;
pub(crate) mod short;
pub(crate) mod stream;
pub(crate) mod transpose;

pub(crate) use lanes::Lanes;
pub(crate) use prefetch::prefetch;
pub(crate) use scratch::Scratch;

/// A number type that messages may have.
pub trait Scalar:
    Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + std::ops::Add<Output = Self>
    + std::ops::Mul<Output = Self>
    + Into<f64>
    + 'static
{
    /// Lanes that run everywhere.
    type Plain: Lanes<Scalar = Self>;
    /// Lanes for AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Scalar = Self>;
    /// Lanes for AVX-512.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Scalar = Self>;
    /// Name as NumPy writes it.
    const NAME: &'static str;
    /// An admissible value times this is finite. For f64 it keeps squares of differences, summed over any
    /// dimension, below the largest f64; f32 squares always fit one.
    const HEADROOM: Self;
    /// Whether a finite value may have a square that is not.
    const SQUARES_MAY_OVERFLOW: bool;
    /// Block sums of squares below this are recomputed in f64, because terms may have underflowed.
    const SMALLEST_SQUARES: f64;
    /// Relative error of a measured squared distance.
    const RESOLUTION: f64;
    /// Distance from one to the next larger number.
    const EPSILON: f64;
    /// Relative error that planning accepts before it measures a quantity directly.
    const PLANNING_ERROR: f64;
    /// Rounds to the nearest.
    fn from_f64(value: f64) -> Self;
    /// To f64, exactly.
    fn to_f64(self) -> f64 {
        self.into()
    }
    /// Whether a weight survives rounding with all its digits: it is zero or normal.
    fn holds(weight: f64) -> bool;
    /// Finite, and small enough for its square to be summed.
    fn is_admissible(self) -> bool;
    /// parameter − rate · update, computed in f64 and rounded once.
    fn descend(parameter: Self, rate: f64, update: Self) -> Self {
        Self::from_f64(parameter.to_f64() - rate * update.to_f64())
    }
    /// Appends its bytes, little end first.
    fn write_bytes(self, to: &mut Vec<u8>);
    /// Reads what `write_bytes` wrote, from exactly as many bytes.
    fn read_bytes(bytes: &[u8]) -> Self;
    /// All values of a slice widened to f64, for the slow and exact paths.
    fn widen(from: &[Self], to: &mut [f64]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.to_f64();
        }
    }
}

impl Scalar for f32 {
    #[inline]
    fn write_bytes(self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_le_bytes());
    }
    #[inline]
    fn read_bytes(bytes: &[u8]) -> f32 {
        f32::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
    }
    type Plain = lanes::Plain<f32>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = avx2::F32x8;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = avx512::F32x16;
    const NAME: &'static str = "float32";
    const HEADROOM: f32 = 1.0;
    const SQUARES_MAY_OVERFLOW: bool = false;
    const SMALLEST_SQUARES: f64 = 1e-34;
    const RESOLUTION: f64 = 6e-8;
    const EPSILON: f64 = f32::EPSILON as f64;
    const PLANNING_ERROR: f64 = 1e-4;
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    fn holds(weight: f64) -> bool {
        weight == 0.0 || (weight as f32).is_normal()
    }
    #[inline]
    fn is_admissible(self) -> bool {
        self.is_finite()
    }
}

impl Scalar for f64 {
    #[inline]
    fn write_bytes(self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_le_bytes());
    }
    #[inline]
    fn read_bytes(bytes: &[u8]) -> f64 {
        f64::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
    }
    type Plain = lanes::Plain<f64>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = avx2::F64x4;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = avx512::F64x8;
    const NAME: &'static str = "float64";
    const HEADROOM: f64 = 1e162;
    const SQUARES_MAY_OVERFLOW: bool = true;
    const SMALLEST_SQUARES: f64 = 0.0;
    const RESOLUTION: f64 = 4e-16;
    const EPSILON: f64 = f64::EPSILON;
    const PLANNING_ERROR: f64 = 1e-9;
    fn from_f64(value: f64) -> f64 {
        value
    }
    fn holds(_: f64) -> bool {
        true
    }
    #[inline]
    fn is_admissible(self) -> bool {
        (self * Self::HEADROOM).is_finite()
    }
}

/// Which compiled form of the kernels runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Plain arrays; any processor.
    Scalar,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(Detected),
    /// AVX-512 (F, DQ and VL) beside AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx512(Detected),
}

/// Proof that the processor was asked; only [`Kernels::available`] makes it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected(());

impl Kernels {
    /// The fastest that this processor runs; `BYZ_KERNELS=scalar` in the environment forces the plain ones, `avx2` none beyond
    /// AVX2.
    pub fn detect() -> Kernels {
        static CHOICE: std::sync::OnceLock<Kernels> = std::sync::OnceLock::new();
        *CHOICE.get_or_init(|| {
            let mut known = Kernels::available();
            if let Ok(most) = std::env::var("BYZ_KERNELS") {
                let position = ["scalar", "avx2"].iter().position(|name| *name == most);
                known.truncate(position.map_or(known.len(), |position| position + 1));
            }
            known[known.len() - 1]
        })
    }

    /// The fastest that this processor runs, whatever the environment says.
    pub fn fastest() -> Kernels {
        let known = Kernels::available();
        known[known.len() - 1]
    }

    /// All that this processor runs, the slowest first.
    pub fn available() -> Vec<Kernels> {
        let mut known = vec![Kernels::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            use std::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                known.push(Kernels::Avx2(Detected(())));
                if has!("avx512f") && has!("avx512dq") && has!("avx512vl") {
                    known.push(Kernels::Avx512(Detected(())));
                }
            }
        }
        known
    }

    /// The same, or those of half the width where rows of `width` numbers would not fill a vector.
    pub(crate) fn for_width(self, width: usize) -> Kernels {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernels::Avx512(detected) if width < 16 => Kernels::Avx2(detected),
            other => other,
        }
    }

    /// Numbers of this type in a vector.
    pub(crate) fn width<T: Scalar>(self) -> usize {
        match self {
            Kernels::Scalar => T::Plain::WIDTH,
            #[cfg(target_arch = "x86_64")]
            Kernels::Avx2(_) => T::Avx2::WIDTH,
            #[cfg(target_arch = "x86_64")]
            Kernels::Avx512(_) => T::Avx512::WIDTH,
        }
    }

    /// The name shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Kernels::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Kernels::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kernels::Avx512(_) => "avx512",
        }
    }
}

/// Defines `pub(crate) fn $name(kernels, …)` that runs the generic `$lanes::<L>(…)` with the chosen lanes.
/// After `narrow`, AVX-512 runs the lanes of AVX2.
macro_rules! dispatch {
    (narrow $($definition:tt)*) => { dispatch! { @ (Avx2, "avx2,fma") $($definition)* } };
    (
        @ ($widest:ident, $features:literal)
        $(#[$doc:meta])*
        $name:ident => $lanes:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)?
    ) => {
        $(#[$doc])*
        pub(crate) fn $name<T: Scalar>(kernels: Kernels, $($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn with_avx2<T: Scalar>($($argument: $kind),*) $(-> $result)? {
                $lanes::<T::Avx2>($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = $features)]
            fn with_avx512<T: Scalar>($($argument: $kind),*) $(-> $result)? {
                $lanes::<T::$widest>($($argument),*)
            }
            match kernels {
                Kernels::Scalar => $lanes::<T::Plain>($($argument),*),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Detected` is only made after the processor said it has these features.
                Kernels::Avx2(_) => unsafe { with_avx2::<T>($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Kernels::Avx512(_) => unsafe { with_avx512::<T>($($argument),*) },
            }
        }
    };
    ($($definition:tt)*) => { dispatch! { @ (Avx512, "avx512f,avx512dq,avx512vl") $($definition)* } };
}
pub(crate) use dispatch;
