#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| byz_fuzz::model(bytes));
