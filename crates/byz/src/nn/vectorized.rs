//! Loops compiled twice: once with AVX2 and FMA, which processors with AVX-512 run as well, once for any processor.

/// Defines `fn $name(…)`, which runs the generic `$body::<T, FUSED>(…)` in the form that suits the processor.
macro_rules! vectorized {
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident = $body:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)?
    ) => {
        $(#[$doc])*
        $visibility fn $name<T: $crate::nn::Smooth>($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn with_avx2<T: $crate::nn::Smooth>($($argument: $kind),*) $(-> $result)? {
                $body::<T, true>($($argument),*)
            }
            match $crate::kernels::Kernels::detect() {
                $crate::kernels::Kernels::Scalar => $body::<T, false>($($argument),*),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Detected` is only made after the processor said it has both features.
                $crate::kernels::Kernels::Avx2(_) | $crate::kernels::Kernels::Avx512(_) => unsafe {
                    with_avx2::<T>($($argument),*)
                },
            }
        }
    };
}
pub(crate) use vectorized;
