//! Barriers, shared memory, atomics and arithmetic, against plain Rust; what depends on the
//! schedule, and what does not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use std::collections::HashSet;

use pliant_cuda::kernels::{
    GRID_BARRIER_WORDS, Kernel, ProbeArithmeticParameters, ProbeAtomicsParameters, ProbeBlockParameters,
    ProbeGridParameters, ProbeRacesParameters,
};
use pliant_cuda::{Buffer, Device, Launch};
use support::{LIBRARY, Random, devices, emulated, is_emulated};

#[test]
fn blocks_exchange_values_through_shared_memory_and_count_at_barriers() {
    let (blocks, threads) = (5, 96);
    let mut values = Random(1).words(blocks * threads);
    // One block of odd values only, one of even ones.
    values[..threads].iter_mut().for_each(|value| *value |= 1);
    values[threads..2 * threads].iter_mut().for_each(|value| *value &= !1);
    for device in devices() {
        let input = device.upload(&values).unwrap();
        let [next, previous] = [(); 2].map(|()| device.allocate::<u32>(values.len()).unwrap());
        let votes = device.allocate::<[u32; 3]>(values.len()).unwrap();
        let parameters = ProbeBlockParameters {
            input: input.span(),
            next: next.span(),
            previous: previous.span(),
            votes: votes.span(),
        };
        device
            .launch(Launch::new(blocks as u32, threads as u32).with_shared(4 * threads as u32), &parameters)
            .unwrap();
        let [next, previous] = [next, previous].map(|buffer| buffer.download().unwrap());
        let votes = votes.download().unwrap();
        for at in 0..values.len() {
            let block = &values[at - at % threads..][..threads];
            let odd = block.iter().filter(|value| *value % 2 == 1).count();
            assert_eq!(next[at], block[(at + 1) % threads]);
            assert_eq!(previous[at], block[(at % threads + threads - 1) % threads]);
            let right = [odd as u32, u32::from(odd == threads), u32::from(odd > 0)];
            assert_eq!(votes[at], right, "{}, thread {at}", device.name());
        }
    }
}

#[test]
fn atomics_lose_nothing() {
    let count = 3000;
    let operands = Random(2).words(count);
    let longs: Vec<u64> =
        operands.iter().zip(0..).map(|(value, thread)| u64::from(*value) << 16 | thread).collect();
    let signed = || operands.iter().map(|value| *value as i32);
    for device in devices() {
        let input = device.upload(&operands).unwrap();
        let words = device.upload(&[7, 7, !0, 0, !0, 0, 0, 0, 5, 0_u32]).unwrap();
        let integers = device.upload(&[-3, i32::MAX, i32::MIN]).unwrap();
        let wide = device.upload(&[1 << 60, u64::MAX, 0, 0, u64::from(u32::MAX)]).unwrap();
        let floats = device.upload(&[0.5_f32, -1.0]).unwrap();
        let doubles = device.upload(&[0.25_f64]).unwrap();
        let tickets = device.allocate::<u32>(count).unwrap();
        let parameters = ProbeAtomicsParameters {
            operands: input.span(),
            words: words.span(),
            integers: integers.span(),
            longs: wide.span(),
            floats: floats.span(),
            doubles: doubles.span(),
            tickets: tickets.span(),
            count: count as u32,
            unused: 0,
        };
        device.launch(Launch::over(count as u32, 256, 256), &parameters).unwrap();

        let sum = operands.iter().fold(0, |a: u32, b| a.wrapping_add(*b));
        let words = words.download().unwrap();
        let min = *operands.iter().min().unwrap();
        let max = *operands.iter().max().unwrap();
        assert_eq!(words[..4], [sum.wrapping_add(7), 7_u32.wrapping_sub(sum), min, max]);
        let and = operands.iter().fold(!0, |a, b| a & b);
        let or = operands.iter().fold(0, |a, b| a | b);
        let xor = operands.iter().fold(0, |a, b| a ^ b);
        assert_eq!(words[4..7], [and, or, xor]);
        assert!(operands.contains(&words[7]), "the last exchanged value is somebody's");
        assert_eq!(words[8..], [5 + count as u32, count as u32]);

        let sum = signed().fold(-3, i32::wrapping_add);
        assert_eq!(integers.download().unwrap(), [sum, signed().min().unwrap(), signed().max().unwrap()]);

        let wide = wide.download().unwrap();
        let sum = longs.iter().fold(1 << 60, |a: u64, b| a.wrapping_add(*b));
        assert_eq!(wide[..3], [sum, *longs.iter().min().unwrap(), *longs.iter().max().unwrap()]);
        assert!(longs.contains(&wide[3]));
        assert_eq!(wide[4], u64::from(u32::MAX) + count as u64);

        // Whole numbers below 2^24 and 2^53: exact in any order.
        let small: u32 = operands.iter().map(|value| value % 16).sum();
        let floats = floats.download().unwrap();
        assert_eq!(floats[0], 0.5 + small as f32);
        assert!((0.0..16.0).contains(&floats[1]));
        assert_eq!(
            doubles.download().unwrap()[0],
            0.25 + operands.iter().map(|value| f64::from(*value)).sum::<f64>()
        );

        // Each thread got a ticket of its own.
        let mut tickets = tickets.download().unwrap();
        tickets.sort_unstable();
        assert!(tickets.into_iter().eq(0..count as u32));
    }
}

/// Rounds of `probe_grid` with some blocks: each becomes the sum of its neighbours.
fn meet(device: &Device, barrier: &Buffer<u32>, blocks: u32, rounds: u32) {
    let mut right: Vec<u32> = Random(3).words(blocks as usize);
    let mut values = device.allocate::<u32>(2 * blocks as usize).unwrap();
    values.upload(&right).unwrap();
    let parameters =
        ProbeGridParameters { barrier: barrier.span(), values: values.span(), rounds, unused: 0 };
    device.launch(Launch::new(blocks, 64).cooperative(), &parameters).unwrap();
    let n = right.len();
    for _ in 0..rounds {
        right = (0..n).map(|i| right[(i + n - 1) % n].wrapping_add(right[(i + 1) % n])).collect();
    }
    let half = rounds as usize % 2 * n;
    assert_eq!(values.download().unwrap()[half..][..n], right, "{}, {blocks} blocks", device.name());
}

/// What one block wrote before a barrier of the grid, its neighbours read after it, and none before.
/// The barrier leaves its memory ready for the next launch, of any number of blocks: an odd number
/// of rounds leaves the highest bit set, an even one nothing.
#[test]
fn grid_barriers_keep_rounds_apart() {
    // Another build is slower: one schedule will do.
    let seeds = if Device::IS_EMULATION_BUILT && std::env::var_os(LIBRARY).is_none() { 4..20 } else { 0..0 };
    for device in devices().into_iter().chain(seeds.map(emulated)) {
        let most = device.resident_blocks(Kernel::ProbeGrid, 64, 0).unwrap();
        let barrier = device.upload(&[0; GRID_BARRIER_WORDS as usize]).unwrap();
        let mut rounds_so_far = 0;
        for (blocks, rounds) in [(23, 17), (2, 5), (most, 3), (1, 4), (23, 6), (7, 9)] {
            meet(&device, &barrier, blocks.min(most), rounds);
            rounds_so_far += rounds;
            assert_eq!(barrier.download().unwrap(), [(rounds_so_far % 2) << 31], "{}", device.name());
        }
    }
}

/// The last writer, and a sum of f32 in the order of the threads.
fn race(device: &Device) -> (u32, u32) {
    let last = device.allocate::<u32>(1).unwrap();
    let sum = device.upload(&[0.0_f32]).unwrap();
    let parameters = ProbeRacesParameters { last: last.span(), sum: sum.span() };
    device.launch(Launch::new(4, 64), &parameters).unwrap();
    (last.download().unwrap()[0], sum.download().unwrap()[0].to_bits())
}

/// The emulation is of use only where it shows races: their outcome must follow from the seed, and
/// change with it.
#[test]
fn races_show_in_the_schedule() {
    if !is_emulated() {
        return;
    }
    let outcomes: Vec<_> = (0..16).map(|seed| race(&emulated(seed))).collect();
    let again: Vec<_> = (0..16).map(|seed| race(&emulated(seed))).collect();
    assert_eq!(outcomes, again, "a seed decides the schedule");
    let last: HashSet<_> = outcomes.iter().map(|outcome| outcome.0).collect();
    let sums: HashSet<_> = outcomes.iter().map(|outcome| outcome.1).collect();
    assert!(last.len() >= 8, "16 seeds let {} threads write last", last.len());
    assert!(sums.len() >= 2, "16 seeds round a sum in {} ways", sums.len());
}

#[test]
fn bits_and_roots() {
    let mut values = Random(4).words(300);
    values[..4].copy_from_slice(&[0, 1, 0x8000_0000, !0]);
    for device in devices() {
        let input = device.upload(&values).unwrap();
        let bits = device.allocate::<[u32; 4]>(values.len()).unwrap();
        let roots = device.allocate::<[f64; 2]>(values.len()).unwrap();
        let parameters =
            ProbeArithmeticParameters { input: input.span(), bits: bits.span(), roots: roots.span() };
        device.launch(Launch::over(values.len() as u32, 128, 128), &parameters).unwrap();
        let (bits, roots) = (bits.download().unwrap(), roots.download().unwrap());
        for (at, value) in values.iter().enumerate() {
            let lowest = if *value == 0 { 0 } else { value.trailing_zeros() + 1 };
            let right = [value.count_ones(), lowest, value.leading_zeros(), value.reverse_bits()];
            assert_eq!(bits[at], right, "{value:#x}");
            // CUDA C++ Programming Guide, "Mathematical Functions": rsqrtf errs by 2 ulp at most,
            // rsqrt by 1.
            let single = 1.0 / f64::from(1.0 + *value as f32).sqrt();
            let double = 1.0 / (1.0 + f64::from(*value)).sqrt();
            assert!((roots[at][0] / single - 1.0).abs() <= 2.5 * f64::from(f32::EPSILON), "{value}");
            assert!((roots[at][1] / double - 1.0).abs() <= 2.0 * f64::EPSILON, "{value}");
        }
    }
}
