//! [`Lanes`] on AVX-512 registers: sixteen f32 or eight f64.
//!
//! As in `avx2`, every method is a thin name for a few instructions, inlined into an entry point that enables the features.

use super::lanes::Lanes;
use std::arch::x86_64::*;

/// Sixteen f32.
#[derive(Clone, Copy)]
pub struct F32x16(__m512);
/// Eight f64.
#[derive(Clone, Copy)]
pub struct F64x8(__m512d);

macro_rules! avx512 {
    ($body:expr) => {{
        // SAFETY: reached only from entry points that enable AVX-512; what pointers need, callers promise.
        unsafe { $body }
    }};
}

/// Eight f64 as four: each with the one four places on.
#[inline(always)]
fn fold(v: __m512d) -> __m256d {
    avx512!(_mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd::<1>(v)))
}

/// Adds eight f64 pairwise: halves, then (0+2) + (1+3).
#[inline(always)]
fn total_pd(v: __m512d) -> f64 {
    let four = fold(v);
    avx512!({
        let halves = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
        _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
    })
}

/// The sixteen lanes as two vectors of eight f64.
#[inline(always)]
fn widen(v: __m512) -> (__m512d, __m512d) {
    avx512!((_mm512_cvtps_pd(_mm512_castps512_ps256(v)), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(v))))
}

impl Lanes for F32x16 {
    type Scalar = f32;
    type Sum = (__m512d, __m512d);
    const WIDTH: usize = 16;
    const UNROLL: bool = true;
    const WIDE: bool = true;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        avx512!(Self(_mm512_set1_ps(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        avx512!(Self(_mm512_loadu_ps(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        avx512!(_mm512_storeu_ps(to, self.0))
    }
    #[inline(always)]
    fn prefetch(from: *const f32) {
        avx512!(_mm_prefetch::<_MM_HINT_T0>(from.cast()))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        avx512!(Self(_mm512_add_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        avx512!(Self(_mm512_sub_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        avx512!(Self(_mm512_fmadd_ps(self.0, factor.0, addend.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        avx512!(Self(_mm512_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        avx512!(Self(_mm512_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn flag_inadmissible(self, flags: Self) -> Self {
        avx512!(Self(_mm512_fmadd_ps(self.0, _mm512_setzero_ps(), flags.0)))
    }
    #[inline(always)]
    fn is_clean(flags: Self) -> bool {
        avx512!(_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(flags.0, flags.0) == 0)
    }
    #[inline(always)]
    unsafe fn add_to_memory(self, to: *mut f64) {
        let (low, high) = widen(self.0);
        avx512!(_mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), fold(_mm512_add_pd(low, high)))))
    }
    #[inline(always)]
    fn total(self) -> f64 {
        let (low, high) = widen(self.0);
        avx512!(total_pd(_mm512_add_pd(low, high)))
    }
    #[inline(always)]
    fn splat_sum(value: f64) -> Self::Sum {
        avx512!((_mm512_set1_pd(value), _mm512_set1_pd(value)))
    }
    #[inline(always)]
    fn widen(self) -> Self::Sum {
        widen(self.0)
    }
    #[inline(always)]
    fn weigh_into(self, reference: Self::Sum, weight: f64, sum: Self::Sum) -> Self::Sum {
        let (low, high) = widen(self.0);
        avx512!({
            let weight = _mm512_set1_pd(weight);
            (
                _mm512_fmadd_pd(weight, _mm512_sub_pd(low, reference.0), sum.0),
                _mm512_fmadd_pd(weight, _mm512_sub_pd(high, reference.1), sum.1),
            )
        })
    }
    #[inline(always)]
    fn square_into(self, other: Self, sum: Self::Sum) -> Self::Sum {
        let ((a, b), (c, d)) = (widen(self.0), widen(other.0));
        avx512!({
            let (low, high) = (_mm512_sub_pd(a, c), _mm512_sub_pd(b, d));
            (_mm512_fmadd_pd(low, low, sum.0), _mm512_fmadd_pd(high, high, sum.1))
        })
    }
    #[inline(always)]
    fn add_sums(sum: Self::Sum, other: Self::Sum) -> Self::Sum {
        avx512!((_mm512_add_pd(sum.0, other.0), _mm512_add_pd(sum.1, other.1)))
    }
    #[inline(always)]
    fn round(reference: Self::Sum, factor: f64, sum: Self::Sum) -> Self {
        avx512!({
            let factor = _mm512_set1_pd(factor);
            let low = _mm512_cvtpd_ps(_mm512_fmadd_pd(factor, sum.0, reference.0));
            let high = _mm512_cvtpd_ps(_mm512_fmadd_pd(factor, sum.1, reference.1));
            Self(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high))
        })
    }
    #[inline(always)]
    fn total_sum(sum: Self::Sum) -> f64 {
        avx512!(total_pd(_mm512_add_pd(sum.0, sum.1)))
    }
    #[inline(always)]
    fn sub_sums(sum: Self::Sum, other: Self::Sum) -> Self::Sum {
        avx512!((_mm512_sub_pd(sum.0, other.0), _mm512_sub_pd(sum.1, other.1)))
    }
    #[inline(always)]
    fn select_less(left: Self::Sum, right: Self::Sum, yes: Self::Sum, no: Self::Sum) -> Self::Sum {
        avx512!((
            _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(left.0, right.0), no.0, yes.0),
            _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(left.1, right.1), no.1, yes.1),
        ))
    }
    #[inline(always)]
    fn equal_bits(left: Self::Sum, right: Self::Sum) -> u32 {
        avx512!({
            let low = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(left.0, right.0);
            let high = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(left.1, right.1);
            u32::from(low) | u32::from(high) << 8
        })
    }
    #[inline(always)]
    fn same_bits(self, other: Self) -> u32 {
        avx512!(u32::from(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, other.0)))
    }
}

impl Lanes for F64x8 {
    type Scalar = f64;
    type Sum = __m512d;
    const WIDTH: usize = 8;
    const UNROLL: bool = true;
    const WIDE: bool = true;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        avx512!(Self(_mm512_set1_pd(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        avx512!(Self(_mm512_loadu_pd(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        avx512!(_mm512_storeu_pd(to, self.0))
    }
    #[inline(always)]
    fn prefetch(from: *const f64) {
        avx512!(_mm_prefetch::<_MM_HINT_T0>(from.cast()))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        avx512!(Self(_mm512_add_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        avx512!(Self(_mm512_sub_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        avx512!(Self(_mm512_fmadd_pd(self.0, factor.0, addend.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        avx512!(Self(_mm512_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        avx512!(Self(_mm512_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn flag_inadmissible(self, flags: Self) -> Self {
        avx512!({
            let raised = _mm512_mul_pd(self.0, _mm512_set1_pd(<f64 as super::Scalar>::HEADROOM));
            Self(_mm512_fmadd_pd(raised, _mm512_setzero_pd(), flags.0))
        })
    }
    #[inline(always)]
    fn is_clean(flags: Self) -> bool {
        avx512!(_mm512_cmp_pd_mask::<_CMP_UNORD_Q>(flags.0, flags.0) == 0)
    }
    #[inline(always)]
    unsafe fn add_to_memory(self, to: *mut f64) {
        avx512!(_mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), fold(self.0))))
    }
    #[inline(always)]
    fn total(self) -> f64 {
        total_pd(self.0)
    }
    #[inline(always)]
    fn splat_sum(value: f64) -> __m512d {
        avx512!(_mm512_set1_pd(value))
    }
    #[inline(always)]
    fn widen(self) -> __m512d {
        self.0
    }
    #[inline(always)]
    fn weigh_into(self, reference: __m512d, weight: f64, sum: __m512d) -> __m512d {
        avx512!(_mm512_fmadd_pd(_mm512_set1_pd(weight), _mm512_sub_pd(self.0, reference), sum))
    }
    #[inline(always)]
    fn square_into(self, other: Self, sum: __m512d) -> __m512d {
        avx512!({
            let difference = _mm512_sub_pd(self.0, other.0);
            _mm512_fmadd_pd(difference, difference, sum)
        })
    }
    #[inline(always)]
    fn add_sums(sum: __m512d, other: __m512d) -> __m512d {
        avx512!(_mm512_add_pd(sum, other))
    }
    #[inline(always)]
    fn round(reference: __m512d, factor: f64, sum: __m512d) -> Self {
        avx512!(Self(_mm512_fmadd_pd(_mm512_set1_pd(factor), sum, reference)))
    }
    #[inline(always)]
    fn total_sum(sum: __m512d) -> f64 {
        total_pd(sum)
    }
    #[inline(always)]
    fn sub_sums(sum: __m512d, other: __m512d) -> __m512d {
        avx512!(_mm512_sub_pd(sum, other))
    }
    #[inline(always)]
    fn select_less(left: __m512d, right: __m512d, yes: __m512d, no: __m512d) -> __m512d {
        avx512!(_mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(left, right), no, yes))
    }
    #[inline(always)]
    fn equal_bits(left: __m512d, right: __m512d) -> u32 {
        avx512!(u32::from(_mm512_cmp_pd_mask::<_CMP_EQ_OQ>(left, right)))
    }
    #[inline(always)]
    fn same_bits(self, other: Self) -> u32 {
        Self::equal_bits(self.0, other.0)
    }
}
