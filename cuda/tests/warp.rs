//! Operations of a warp against their definitions in the CUDA C++ Programming Guide ("Warp Shuffle
//! Functions", "Warp Vote Functions", "Warp Match Functions", "Warp Reduce Functions"), for whole
//! warps and for masks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use pliant_cuda::Launch;
use pliant_cuda::kernels::{ProbeShuffleF64Parameters, ProbeWarpParameters};
use support::{Random, devices};

const LANES: usize = 32;

/// Lanes of a mask.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// What `kernels/probe.cu` gives a lane for the operation of this number.
fn expected(operation: u32, mask: u32, parameter: u32, width: u32, values: &[u32], lane: usize) -> u32 {
    let parameter = parameter as usize;
    let first = lane - lane % width as usize;
    let end = first + width as usize;
    let of_mask = |mask: u32| lanes(mask).map(|lane| values[lane]);
    let signed = || of_mask(mask).map(|value| value as i32);
    let votes = |holds: &dyn Fn(u32) -> bool| {
        lanes(mask).filter(|lane| holds(values[*lane])).fold(0, |b, l| b | 1 << l)
    };
    let odd = |value: u32| value % 2 == 1;
    match operation {
        0 => values[first + parameter % width as usize],
        1 => values[if lane >= first + parameter { lane - parameter } else { lane }],
        2 => values[if lane + parameter < end { lane + parameter } else { lane }],
        3 => values[if lane ^ parameter < end { lane ^ parameter } else { lane }],
        4 => votes(&odd),
        5 => u32::from(of_mask(mask).any(odd)),
        6 => u32::from(of_mask(mask).all(odd)),
        7 => votes(&|value| value % 5 == values[lane] % 5),
        8 => of_mask(mask).fold(0, u32::wrapping_add),
        9 => of_mask(mask).min().unwrap(),
        10 => of_mask(mask).max().unwrap(),
        11 => signed().min().unwrap() as u32,
        12 => signed().max().unwrap() as u32,
        13 => of_mask(mask).fold(!0, |a, b| a & b),
        14 => of_mask(mask).fold(0, |a, b| a | b),
        15 => of_mask(mask).fold(0, |a, b| a ^ b),
        16 => of_mask(mask & (0x5555_5555 << (lane % 2))).fold(0, u32::wrapping_add),
        _ => values[lane],
    }
}

/// Runs an operation on two blocks of two warps and compares; lanes outside of the mask must have
/// written nothing.
fn check(operation: u32, mask: u32, parameter: u32, width: u32, values: &[u32]) {
    const UNTOUCHED: u32 = 0xdead_beef;
    for device in devices() {
        let input = device.upload(values).unwrap();
        let output = device.upload(&vec![UNTOUCHED; values.len()]).unwrap();
        let parameters = ProbeWarpParameters {
            input: input.span(),
            output: output.span(),
            operation,
            mask,
            parameter,
            width,
        };
        device.launch(Launch::new(2, 2 * LANES as u32), &parameters).unwrap();
        let output = output.download().unwrap();
        for (at, found) in output.iter().enumerate() {
            let (warp, lane) = (&values[at - at % LANES..][..LANES], at % LANES);
            let named = mask >> lane & 1 == 1;
            let right =
                if named { expected(operation, mask, parameter, width, warp, lane) } else { UNTOUCHED };
            assert_eq!(
                *found,
                right,
                "{}: operation {operation}, mask {mask:#x}, parameter {parameter}, width {width}, thread {at}",
                device.name()
            );
        }
    }
}

#[test]
fn shuffles_reach_the_right_lanes_for_every_width_and_distance() {
    let values = Random(1).words(4 * LANES);
    for width in [2, 4, 8, 16, 32] {
        for parameter in [0, 1, 2, 3, 7, 13, 16, 31] {
            for operation in 0..=3 {
                check(operation, !0, parameter, width, &values);
            }
        }
    }
}

#[test]
fn shuffles_within_half_a_warp_leave_the_other_half_alone() {
    let values = Random(2).words(4 * LANES);
    for mask in [0x0000_ffff, 0xffff_0000] {
        for operation in 0..=3 {
            check(operation, mask, 5, 16, &values);
        }
    }
}

#[test]
fn votes_matches_and_reductions_take_the_lanes_of_their_mask() {
    let mut random = Random(3);
    for mask in [!0, 1, 0x8000_0000, 0x0f0f_1234, random.word() | 1, random.word() | 2] {
        let mut values = random.words(4 * LANES);
        for operation in 4..=17 {
            check(operation, mask, 0, 32, &values);
        }
        // All odd, and none.
        values.iter_mut().for_each(|value| *value |= 1);
        (4..=6).for_each(|operation| check(operation, mask, 0, 32, &values));
        values.iter_mut().for_each(|value| *value &= !1);
        (4..=6).for_each(|operation| check(operation, mask, 0, 32, &values));
    }
}

#[test]
fn shuffles_carry_f64_whole() {
    let mut random = Random(4);
    let values: Vec<f64> = (0..LANES).map(|_| random.signed()).collect();
    for device in devices() {
        for lane_mask in [1, 6, 31] {
            let input = device.upload(&values).unwrap();
            let output = device.allocate::<f64>(LANES).unwrap();
            let parameters = ProbeShuffleF64Parameters {
                input: input.span(),
                output: output.span(),
                lane_mask,
                unused: 0,
            };
            device.launch(Launch::new(1, LANES as u32), &parameters).unwrap();
            let right: Vec<f64> = (0..LANES).map(|lane| values[lane ^ lane_mask as usize]).collect();
            assert_eq!(output.download().unwrap(), right, "{}", device.name());
        }
    }
}
