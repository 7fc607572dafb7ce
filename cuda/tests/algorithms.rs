//! Prefix sums, sorting and reductions against plain Rust, at sizes around those of tiles; all must
//! come out the same bits whatever the schedule.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use pliant_cuda::algorithms::{Reduce, Scan, Sort};
use pliant_cuda::kernels::{REDUCE_TILE, SCAN_THREADS, SCAN_TILE, ScanParameters};
use pliant_cuda::{Commands, Device, Launch};
use support::{Random, devices};

/// Sizes around a tile's, one with more tiles than a block has threads where the device is fast,
/// and none.
fn sizes(device: &Device, tile: u32) -> Vec<usize> {
    let tile = tile as usize;
    let mut sizes = vec![0, 1, 31, 33, 1000, tile - 1, tile, tile + 1, 5 * tile + 77];
    sizes.push(if device.is_emulated() { 300 * tile + 1 } else { 4_000_003 });
    sizes
}

#[test]
fn scans_are_exclusive_prefix_sums() {
    for device in devices() {
        for count in sizes(&device, SCAN_TILE) {
            // Large numbers: sums are modulo 2^32.
            let values = Random(count as u64).words(count);
            let input = device.upload(&values).unwrap();
            let output = device.allocate::<u32>(count).unwrap();
            let scan = Scan::new(&device, count).unwrap();
            let mut commands = Commands::new();
            scan.issue(&mut commands, input.span(), output.span());
            // In place, too.
            scan.issue(&mut commands, input.span(), input.span());
            device.submit(&commands).unwrap();
            let mut total = 0_u32;
            let before = |value: &u32| {
                let before = total;
                total = total.wrapping_add(*value);
                before
            };
            let right: Vec<u32> = values.iter().map(before).collect();
            assert!(output.download().unwrap() == right, "{}, {count} elements", device.name());
            assert!(input.download().unwrap() == right, "{}, {count} elements, in place", device.name());
            assert_eq!(scan.total().download().unwrap(), [total]);
        }
    }
}

/// Where blocks before have published their own sums and gone no farther, a tile looks back over
/// more of them than a warp has lanes, to the last that knows all before it.
#[test]
fn a_scan_looks_back_over_many_tiles() {
    const BEFORE: u32 = 100;
    const TILES: u32 = BEFORE + 10;
    let values = Random(TILES.into()).words(((TILES - 1) * SCAN_TILE + 77) as usize);
    let add = |sum: &mut u32, value: &u32| Some(std::mem::replace(sum, sum.wrapping_add(*value)));
    let sums: Vec<u32> = values.iter().scan(0, add).collect();
    for device in devices() {
        let at = |tile: u32| sums[(tile * SCAN_TILE) as usize];
        let published = (0..BEFORE).map(|tile| {
            // In run 0, 2 marks the sum of all up to this tile, and 1 that of the tile alone.
            let (kind, from) = if tile == 3 { (2_u64, 0) } else { (1, at(tile)) };
            kind << 32 | u64::from(at(tile + 1).wrapping_sub(from))
        });
        let states: Vec<_> = published.chain((BEFORE..TILES).map(|_| 0)).collect();
        let (states, progress) = (device.upload(&states).unwrap(), device.upload(&[BEFORE, 0, 0]).unwrap());
        let input = device.upload(&values).unwrap();
        let output = device.allocate::<u32>(values.len()).unwrap();
        let total = device.allocate::<u32>(1).unwrap();
        let mut commands = Commands::new();
        commands.launch(
            Launch::new(TILES - BEFORE, SCAN_THREADS),
            &ScanParameters {
                input: input.span(),
                output: output.span(),
                states: states.span(),
                progress: progress.span(),
                total: total.span(),
                count: values.len() as u32,
                unused: 0,
            },
        );
        device.submit(&commands).unwrap();
        let first = (BEFORE * SCAN_TILE) as usize;
        assert!(output.download().unwrap()[first..] == sums[first..], "{}", device.name());
    }
}

#[test]
fn sorting_is_stable_by_the_given_bits() {
    let mut random = Random(5);
    for device in devices() {
        for (count, bits) in
            [(0, 0..8), (1, 0..8), (777, 0..4), (2048, 3..14), (5001, 0..20), (20_000, 0..32)]
        {
            let keys = random.words(count);
            let values: Vec<u32> = (0..count as u32).collect();
            let device_keys = device.upload(&keys).unwrap();
            let device_values = device.upload(&values).unwrap();
            let sort = Sort::new(&device, count).unwrap();
            let mut commands = Commands::new();
            sort.issue(&mut commands, device_keys.span(), device_values.span(), bits.clone());
            device.submit(&commands).unwrap();
            let mask = u32::MAX >> (32 - (bits.end - bits.start));
            let mut right = values;
            // Rust's sort is stable.
            right.sort_by_key(|value| keys[*value as usize] >> bits.start & mask);
            assert!(
                device_values.download().unwrap() == right,
                "{}, {count} keys, bits {bits:?}",
                device.name()
            );
            let right: Vec<u32> = right.iter().map(|value| keys[*value as usize]).collect();
            assert!(
                device_keys.download().unwrap() == right,
                "{}, {count} keys, bits {bits:?}",
                device.name()
            );
        }
    }
}

/// Sum and maximum of the values in f64 and in f32, as a device gives them.
fn reduced(device: &Device, values: &[f64]) -> [f64; 4] {
    let doubles = device.upload(values).unwrap();
    let singles: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    let singles = device.upload(&singles).unwrap();
    let reduce = [(); 4].map(|()| Reduce::new(device, values.len()).unwrap());
    let mut commands = Commands::new();
    reduce[0].issue_sum_f64(&mut commands, doubles.span());
    reduce[1].issue_sum_f32(&mut commands, singles.span());
    reduce[2].issue_max_f64(&mut commands, doubles.span());
    reduce[3].issue_max_f32(&mut commands, singles.span());
    device.submit(&commands).unwrap();
    reduce.map(|reduce| reduce.result().download().unwrap()[0])
}

#[test]
fn reductions_are_right_and_the_same_bits_on_every_schedule() {
    let devices = devices();
    for count in [0, 1, 33, 2047, 2049, 70_001, 300 * REDUCE_TILE as usize] {
        let mut random = Random(count as u64);
        let values: Vec<f64> = (0..count).map(|_| random.signed()).collect();
        let results: Vec<_> = devices.iter().map(|device| reduced(device, &values)).collect();
        for (device, found) in devices.iter().zip(&results) {
            // Pairwise or not, n additions of numbers up to 1 err by less than n ulps of the
            // partial sums (Higham 2002, section 4.2), which are below sqrt(n) or so here.
            let bound = f64::EPSILON * (1.0 + count as f64).powf(1.5);
            let sum: f64 = values.iter().sum();
            let single: f64 = values.iter().map(|value| f64::from(*value as f32)).sum();
            assert!((found[0] - sum).abs() <= bound, "{}: {} and {sum}", device.name(), found[0]);
            assert!((found[1] - single).abs() <= bound, "{}: {} and {single}", device.name(), found[1]);
            let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let single = if count == 0 { max } else { f64::from(max as f32) };
            assert_eq!(found[2..], [max, single], "{}, {count} elements", device.name());
            assert_eq!(found.map(f64::to_bits), results[0].map(f64::to_bits), "{count} elements");
        }
    }
}

#[test]
fn a_single_nan_is_the_maximum() {
    for device in devices() {
        for at in [0, 17, 2047, 2048, 4999] {
            let mut values = vec![1.0; 5000];
            values[at] = f64::NAN;
            let found = reduced(&device, &values);
            assert!(found.iter().all(|value| value.is_nan()), "{}: {found:?}", device.name());
        }
    }
}
