//! Asking for memory before it is needed: what is read at random places waits for nothing else.

/// Hints that these bytes will be read soon.
pub(crate) fn prefetch(bytes: &[u8]) {
    const LINE: usize = 64;
    for line in bytes.chunks(LINE) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint, which every x86-64 has and which may name any address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = line;
    }
}
