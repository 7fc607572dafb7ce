#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use pliant_fuzz::checks::mesh;
use pliant_fuzz::mutator;

fuzz_target!(|data: &[u8]| mesh::beside(data));

fuzz_mutator!(|data: &mut [u8], size: usize, limit: usize, seed: u32| {
    mutator::mutate(data, size, limit, seed)
});
