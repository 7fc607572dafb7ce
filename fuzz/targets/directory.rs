#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use pliant_fuzz::{mutator, runs};

fuzz_target!(|data: &[u8]| runs::directory(data));

fuzz_mutator!(|data: &mut [u8], size: usize, limit: usize, seed: u32| {
    mutator::mutate(data, size, limit, seed)
});
