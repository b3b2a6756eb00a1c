//! A handful of numbers processed together: the only vocabulary the kernels speak.
//!
//! Each kernel is written once, generic over [`Lanes`], and compiled three times: with `__m512`/`__m512d` inside a function
//! that enables AVX-512, with `__m256`/`__m256d` for AVX2 and FMA, and with plain arrays for every other processor. Accumulation happens in
//! [`Lanes::Sum`], f64 for both number types, because f32 sums of n messages overflow at 3e38 and round at 1e-7.
//!
//! Rejected: portable `std::simd` (nightly), a SIMD crate (the set of operations below is the whole need).

use super::Scalar;

/// A vector of `WIDTH` numbers. The AVX implementations may only run inside a function that enables their features.
pub trait Lanes: Copy {
    /// The number type of one lane.
    type Scalar: Scalar;
    /// One f64 per lane.
    type Sum: Copy;
    /// Numbers per vector.
    const WIDTH: usize;
    /// Whether unrolled sorting networks pay: they live on registers.
    const UNROLL: bool;
    /// Whether a vector is a whole cache line in one of 32 registers: AVX-512.
    const WIDE: bool;

    /// All lanes the same.
    fn splat(value: Self::Scalar) -> Self;
    /// Reads `WIDTH` numbers.
    ///
    /// # Safety
    /// `from` must be readable for `WIDTH` numbers; no alignment is needed.
    unsafe fn load(from: *const Self::Scalar) -> Self;
    /// Writes `WIDTH` numbers.
    ///
    /// # Safety
    /// `to` must be writable for `WIDTH` numbers; no alignment is needed.
    unsafe fn store(self, to: *mut Self::Scalar);
    /// Writes the columns of `WIDTH` rows of `WIDTH` numbers as rows.
    ///
    /// # Safety
    /// Both must have that many rows, `from_stride` and `to_stride` numbers apart.
    #[inline(always)]
    unsafe fn transpose(
        from: *const Self::Scalar,
        from_stride: usize,
        to: *mut Self::Scalar,
        to_stride: usize,
    ) {
        for column in 0..Self::WIDTH {
            for row in 0..Self::WIDTH {
                // SAFETY: row and column are below WIDTH.
                unsafe { *to.add(column * to_stride + row) = *from.add(row * from_stride + column) };
            }
        }
    }
    /// Hints that `from` will be read soon; any address is allowed.
    fn prefetch(from: *const Self::Scalar);
    /// self + other.
    fn add(self, other: Self) -> Self;
    /// self − other.
    fn sub(self, other: Self) -> Self;
    /// self · factor + addend.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// The smaller, lane by lane.
    fn min(self, other: Self) -> Self;
    /// The larger, lane by lane.
    fn max(self, other: Self) -> Self;
    /// 0 where the lane is admissible (finite, and for f64 below the limit), NaN elsewhere; added to `flags`.
    fn flag_inadmissible(self, flags: Self) -> Self;
    /// Whether no lane of `flags` is NaN.
    fn is_clean(flags: Self) -> bool;
    /// Adds the lanes, in f64, to the four sums at `to`.
    ///
    /// # Safety
    /// `to` must be readable and writable for four f64.
    unsafe fn add_to_memory(self, to: *mut f64);
    /// The lanes added up in f64, in a fixed order.
    fn total(self) -> f64;

    /// All sums the same.
    fn splat_sum(value: f64) -> Self::Sum;
    /// Every lane as an f64.
    fn widen(self) -> Self::Sum;
    /// sum + weight · (self − reference), in f64.
    fn weigh_into(self, reference: Self::Sum, weight: f64, sum: Self::Sum) -> Self::Sum;
    /// sum + (self − other)², in f64.
    fn square_into(self, other: Self, sum: Self::Sum) -> Self::Sum;
    /// sum + other.
    fn add_sums(sum: Self::Sum, other: Self::Sum) -> Self::Sum;
    /// reference + factor · sum, rounded once to the number type.
    fn round(reference: Self::Sum, factor: f64, sum: Self::Sum) -> Self;
    /// The sums added up, in a fixed order.
    fn total_sum(sum: Self::Sum) -> f64;
    /// sum − other.
    fn sub_sums(sum: Self::Sum, other: Self::Sum) -> Self::Sum;
    /// Lane by lane `yes` where left < right, else `no`.
    fn select_less(left: Self::Sum, right: Self::Sum, yes: Self::Sum, no: Self::Sum) -> Self::Sum;
    /// A bit per lane where the sums are equal.
    fn equal_bits(left: Self::Sum, right: Self::Sum) -> u32;
    /// A bit per lane where the numbers are equal.
    fn same_bits(self, other: Self) -> u32;
}

/// Plain arrays: correct everywhere, vectorised by the compiler where it can.
#[derive(Clone, Copy)]
pub struct Plain<T>([T; 8]);

macro_rules! plain_lanes {
    ($scalar:ty) => {
        impl Lanes for Plain<$scalar> {
            type Scalar = $scalar;
            type Sum = [f64; 8];
            const WIDTH: usize = 8;
            const UNROLL: bool = false;
            const WIDE: bool = false;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                Self([value; 8])
            }
            #[inline(always)]
            unsafe fn load(from: *const $scalar) -> Self {
                // SAFETY: the caller promises WIDTH readable numbers.
                Self(unsafe { from.cast::<[$scalar; 8]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $scalar) {
                // SAFETY: the caller promises WIDTH writable numbers.
                unsafe { to.cast::<[$scalar; 8]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            fn prefetch(_: *const $scalar) {}
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self(std::array::from_fn(|k| self.0[k] + other.0[k]))
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self(std::array::from_fn(|k| self.0[k] - other.0[k]))
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                Self(std::array::from_fn(|k| self.0[k] * factor.0[k] + addend.0[k]))
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Self(std::array::from_fn(|k| if self.0[k] < other.0[k] { self.0[k] } else { other.0[k] }))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self(std::array::from_fn(|k| if self.0[k] > other.0[k] { self.0[k] } else { other.0[k] }))
            }
            #[inline(always)]
            fn flag_inadmissible(self, flags: Self) -> Self {
                let headroom = <$scalar as Scalar>::HEADROOM;
                Self(std::array::from_fn(|k| self.0[k] * headroom * 0.0 + flags.0[k]))
            }
            #[inline(always)]
            fn is_clean(flags: Self) -> bool {
                flags.0.iter().all(|flag| !flag.is_nan())
            }
            #[inline(always)]
            unsafe fn add_to_memory(self, to: *mut f64) {
                for k in 0..4 {
                    // SAFETY: the caller promises four f64.
                    unsafe { *to.add(k) += f64::from(self.0[k]) + f64::from(self.0[k + 4]) };
                }
            }
            #[inline(always)]
            fn total(self) -> f64 {
                Self::total_sum(self.0.map(f64::from))
            }
            #[inline(always)]
            fn splat_sum(value: f64) -> [f64; 8] {
                [value; 8]
            }
            #[inline(always)]
            fn widen(self) -> [f64; 8] {
                self.0.map(f64::from)
            }
            #[inline(always)]
            fn weigh_into(self, reference: [f64; 8], weight: f64, sum: [f64; 8]) -> [f64; 8] {
                std::array::from_fn(|k| sum[k] + weight * (f64::from(self.0[k]) - reference[k]))
            }
            #[inline(always)]
            fn square_into(self, other: Self, sum: [f64; 8]) -> [f64; 8] {
                std::array::from_fn(|k| {
                    let difference = f64::from(self.0[k]) - f64::from(other.0[k]);
                    sum[k] + difference * difference
                })
            }
            #[inline(always)]
            fn add_sums(sum: [f64; 8], other: [f64; 8]) -> [f64; 8] {
                std::array::from_fn(|k| sum[k] + other[k])
            }
            #[inline(always)]
            fn round(reference: [f64; 8], factor: f64, sum: [f64; 8]) -> Self {
                Self(std::array::from_fn(|k| (reference[k] + factor * sum[k]) as $scalar))
            }
            #[inline(always)]
            fn total_sum(s: [f64; 8]) -> f64 {
                ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
            }
            #[inline(always)]
            fn sub_sums(sum: [f64; 8], other: [f64; 8]) -> [f64; 8] {
                std::array::from_fn(|k| sum[k] - other[k])
            }
            #[inline(always)]
            fn select_less(left: [f64; 8], right: [f64; 8], yes: [f64; 8], no: [f64; 8]) -> [f64; 8] {
                std::array::from_fn(|k| if left[k] < right[k] { yes[k] } else { no[k] })
            }
            #[inline(always)]
            fn equal_bits(left: [f64; 8], right: [f64; 8]) -> u32 {
                (0..8).fold(0, |bits, k| bits | (u32::from(left[k] == right[k]) << k))
            }
            #[inline(always)]
            fn same_bits(self, other: Self) -> u32 {
                (0..8).fold(0, |bits, k| bits | (u32::from(self.0[k] == other.0[k]) << k))
            }
        }
    };
}

plain_lanes!(f32);
plain_lanes!(f64);
