//! [`Lanes`] on AVX2 and FMA registers: eight f32 or four f64.
//!
//! Every method is a thin name for one to four instructions and is inlined into a kernel entry point that enables
//! both features; `Kernels::detect` is the only way such an entry point is reached.

use super::lanes::Lanes;
use std::arch::x86_64::*;

/// Eight f32.
#[derive(Clone, Copy)]
pub struct F32x8(__m256);
/// Four f64.
#[derive(Clone, Copy)]
pub struct F64x4(__m256d);

/// Adds four f64 pairwise: (0+2) + (1+3).
#[inline(always)]
fn total_pd(v: __m256d) -> f64 {
    // SAFETY: reached only from entry points that enable AVX2.
    unsafe {
        let halves = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd::<1>(v));
        _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
    }
}

/// The eight lanes as two vectors of four f64.
#[inline(always)]
fn widen(v: __m256) -> (__m256d, __m256d) {
    // SAFETY: reached only from entry points that enable AVX2.
    unsafe { (_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(v))) }
}

macro_rules! avx2 {
    ($body:expr) => {{
        // SAFETY: reached only from entry points that enable AVX2 and FMA; what pointers need, callers promise.
        unsafe { $body }
    }};
}

/// Of four rows of eight numbers: columns k and k + 4 as the halves of vector k.
///
/// # Safety
/// Four rows of eight numbers must be readable, `stride` apart.
#[inline(always)]
unsafe fn four_columns(from: *const f32, stride: usize) -> [__m256; 4] {
    avx2!({
        let (a, b) = (_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(stride)));
        let (c, d) = (_mm256_loadu_ps(from.add(2 * stride)), _mm256_loadu_ps(from.add(3 * stride)));
        let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(ab, cd),
            _mm256_shuffle_ps::<0xEE>(ab, cd),
            _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm256_shuffle_ps::<0xEE>(ab_high, cd_high),
        ]
    })
}

impl Lanes for F32x8 {
    type Scalar = f32;
    type Sum = (__m256d, __m256d);
    const WIDTH: usize = 8;
    const UNROLL: bool = true;
    const WIDE: bool = false;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        avx2!(Self(_mm256_set1_ps(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        avx2!(Self(_mm256_loadu_ps(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        avx2!(_mm256_storeu_ps(to, self.0))
    }
    #[inline(always)]
    unsafe fn transpose(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
        let mut halves = [[Self::splat(0.0).0; 4]; 2];
        for (i, half) in halves.iter_mut().enumerate() {
            // SAFETY: rows 4i to 4i + 3 of eight.
            *half = unsafe { four_columns(from.add(4 * i * from_stride), from_stride) };
        }
        for k in 0..4 {
            avx2!({
                let low = _mm256_permute2f128_ps::<0x20>(halves[0][k], halves[1][k]);
                let high = _mm256_permute2f128_ps::<0x31>(halves[0][k], halves[1][k]);
                _mm256_storeu_ps(to.add(k * to_stride), low);
                _mm256_storeu_ps(to.add((k + 4) * to_stride), high);
            });
        }
    }
    #[inline(always)]
    fn prefetch(from: *const f32) {
        avx2!(_mm_prefetch::<_MM_HINT_T0>(from.cast()))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        avx2!(Self(_mm256_add_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        avx2!(Self(_mm256_sub_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        avx2!(Self(_mm256_fmadd_ps(self.0, factor.0, addend.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        avx2!(Self(_mm256_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        avx2!(Self(_mm256_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn flag_inadmissible(self, flags: Self) -> Self {
        avx2!(Self(_mm256_fmadd_ps(self.0, _mm256_setzero_ps(), flags.0)))
    }
    #[inline(always)]
    fn is_clean(flags: Self) -> bool {
        avx2!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(flags.0, flags.0)) == 0)
    }
    #[inline(always)]
    unsafe fn add_to_memory(self, to: *mut f64) {
        let (low, high) = widen(self.0);
        avx2!(_mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), _mm256_add_pd(low, high))))
    }
    #[inline(always)]
    fn total(self) -> f64 {
        let (low, high) = widen(self.0);
        avx2!(total_pd(_mm256_add_pd(low, high)))
    }
    #[inline(always)]
    fn splat_sum(value: f64) -> Self::Sum {
        avx2!((_mm256_set1_pd(value), _mm256_set1_pd(value)))
    }
    #[inline(always)]
    fn widen(self) -> Self::Sum {
        widen(self.0)
    }
    #[inline(always)]
    fn weigh_into(self, reference: Self::Sum, weight: f64, sum: Self::Sum) -> Self::Sum {
        let (low, high) = widen(self.0);
        avx2!({
            let weight = _mm256_set1_pd(weight);
            (
                _mm256_fmadd_pd(weight, _mm256_sub_pd(low, reference.0), sum.0),
                _mm256_fmadd_pd(weight, _mm256_sub_pd(high, reference.1), sum.1),
            )
        })
    }
    #[inline(always)]
    fn square_into(self, other: Self, sum: Self::Sum) -> Self::Sum {
        let ((a, b), (c, d)) = (widen(self.0), widen(other.0));
        avx2!({
            let (low, high) = (_mm256_sub_pd(a, c), _mm256_sub_pd(b, d));
            (_mm256_fmadd_pd(low, low, sum.0), _mm256_fmadd_pd(high, high, sum.1))
        })
    }
    #[inline(always)]
    fn add_sums(sum: Self::Sum, other: Self::Sum) -> Self::Sum {
        avx2!((_mm256_add_pd(sum.0, other.0), _mm256_add_pd(sum.1, other.1)))
    }
    #[inline(always)]
    fn round(reference: Self::Sum, factor: f64, sum: Self::Sum) -> Self {
        avx2!({
            let factor = _mm256_set1_pd(factor);
            let low = _mm256_cvtpd_ps(_mm256_fmadd_pd(factor, sum.0, reference.0));
            let high = _mm256_cvtpd_ps(_mm256_fmadd_pd(factor, sum.1, reference.1));
            Self(_mm256_set_m128(high, low))
        })
    }
    #[inline(always)]
    fn total_sum(sum: Self::Sum) -> f64 {
        avx2!(total_pd(_mm256_add_pd(sum.0, sum.1)))
    }
    #[inline(always)]
    fn sub_sums(sum: Self::Sum, other: Self::Sum) -> Self::Sum {
        avx2!((_mm256_sub_pd(sum.0, other.0), _mm256_sub_pd(sum.1, other.1)))
    }
    #[inline(always)]
    fn select_less(left: Self::Sum, right: Self::Sum, yes: Self::Sum, no: Self::Sum) -> Self::Sum {
        avx2!((
            _mm256_blendv_pd(no.0, yes.0, _mm256_cmp_pd::<_CMP_LT_OQ>(left.0, right.0)),
            _mm256_blendv_pd(no.1, yes.1, _mm256_cmp_pd::<_CMP_LT_OQ>(left.1, right.1)),
        ))
    }
    #[inline(always)]
    fn equal_bits(left: Self::Sum, right: Self::Sum) -> u32 {
        avx2!({
            let low = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(left.0, right.0));
            let high = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(left.1, right.1));
            (low | high << 4) as u32
        })
    }
    #[inline(always)]
    fn same_bits(self, other: Self) -> u32 {
        avx2!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(self.0, other.0)) as u32)
    }
}

impl Lanes for F64x4 {
    type Scalar = f64;
    type Sum = __m256d;
    const WIDTH: usize = 4;
    const UNROLL: bool = true;
    const WIDE: bool = false;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        avx2!(Self(_mm256_set1_pd(value)))
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        avx2!(Self(_mm256_loadu_pd(from)))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        avx2!(_mm256_storeu_pd(to, self.0))
    }
    #[inline(always)]
    fn prefetch(from: *const f64) {
        avx2!(_mm_prefetch::<_MM_HINT_T0>(from.cast()))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        avx2!(Self(_mm256_add_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        avx2!(Self(_mm256_sub_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        avx2!(Self(_mm256_fmadd_pd(self.0, factor.0, addend.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        avx2!(Self(_mm256_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        avx2!(Self(_mm256_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn flag_inadmissible(self, flags: Self) -> Self {
        avx2!({
            let raised = _mm256_mul_pd(self.0, _mm256_set1_pd(<f64 as super::Scalar>::HEADROOM));
            Self(_mm256_fmadd_pd(raised, _mm256_setzero_pd(), flags.0))
        })
    }
    #[inline(always)]
    fn is_clean(flags: Self) -> bool {
        avx2!(_mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(flags.0, flags.0)) == 0)
    }
    #[inline(always)]
    unsafe fn add_to_memory(self, to: *mut f64) {
        avx2!(_mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), self.0)))
    }
    #[inline(always)]
    fn total(self) -> f64 {
        total_pd(self.0)
    }
    #[inline(always)]
    fn splat_sum(value: f64) -> __m256d {
        avx2!(_mm256_set1_pd(value))
    }
    #[inline(always)]
    fn widen(self) -> __m256d {
        self.0
    }
    #[inline(always)]
    fn weigh_into(self, reference: __m256d, weight: f64, sum: __m256d) -> __m256d {
        avx2!(_mm256_fmadd_pd(_mm256_set1_pd(weight), _mm256_sub_pd(self.0, reference), sum))
    }
    #[inline(always)]
    fn square_into(self, other: Self, sum: __m256d) -> __m256d {
        avx2!({
            let difference = _mm256_sub_pd(self.0, other.0);
            _mm256_fmadd_pd(difference, difference, sum)
        })
    }
    #[inline(always)]
    fn add_sums(sum: __m256d, other: __m256d) -> __m256d {
        avx2!(_mm256_add_pd(sum, other))
    }
    #[inline(always)]
    fn round(reference: __m256d, factor: f64, sum: __m256d) -> Self {
        avx2!(Self(_mm256_fmadd_pd(_mm256_set1_pd(factor), sum, reference)))
    }
    #[inline(always)]
    fn total_sum(sum: __m256d) -> f64 {
        total_pd(sum)
    }
    #[inline(always)]
    fn sub_sums(sum: __m256d, other: __m256d) -> __m256d {
        avx2!(_mm256_sub_pd(sum, other))
    }
    #[inline(always)]
    fn select_less(left: __m256d, right: __m256d, yes: __m256d, no: __m256d) -> __m256d {
        avx2!(_mm256_blendv_pd(no, yes, _mm256_cmp_pd::<_CMP_LT_OQ>(left, right)))
    }
    #[inline(always)]
    fn equal_bits(left: __m256d, right: __m256d) -> u32 {
        avx2!(_mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(left, right)) as u32)
    }
    #[inline(always)]
    fn same_bits(self, other: Self) -> u32 {
        Self::equal_bits(self.0, other.0)
    }
}
