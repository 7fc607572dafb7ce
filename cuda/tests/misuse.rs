//! The emulation tells which rule a kernel broke, and where, and the device goes on afterwards.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use pliant_cuda::kernels::{ProbeMisuseParameters, ProbeRacesParameters};
use pliant_cuda::{Device, DeviceError, EmulationError, EmulationFault, Launch};
use support::{devices, emulated, is_emulated};

/// Breaks a rule of `kernels/misuse.cu` with two blocks of two warps.
fn broken(device: &Device, rule: u32, cooperative: bool) -> EmulationFault {
    error_of(device, rule, cooperative).fault
}

fn error_of(device: &Device, rule: u32, cooperative: bool) -> EmulationError {
    let cells = device.upload(&[0_u32; 64]).unwrap();
    let parameters = ProbeMisuseParameters { cells: cells.span(), rule, unused: 0 };
    let launch = Launch { cooperative, ..Launch::new(2, 64) };
    match device.launch(launch, &parameters).unwrap_err() {
        DeviceError::Emulation(error) => *error,
        other => panic!("rule {rule}: {other}"),
    }
}

/// A kernel that does nothing wrong still gets its answer.
fn works(device: &Device) {
    let last = device.allocate::<u32>(1).unwrap();
    let sum = device.upload(&[0.0_f32]).unwrap();
    device.launch(Launch::new(2, 33), &ProbeRacesParameters { last: last.span(), sum: sum.span() }).unwrap();
    assert!(last.download().unwrap()[0] < 66);
}

/// Runs a check with several schedules.
fn each_seed(check: impl Fn(&Device)) {
    if is_emulated() {
        for seed in 0..8 {
            let device = emulated(seed);
            check(&device);
            works(&device);
        }
    }
}

#[test]
fn index_beyond_a_span() {
    each_seed(|device| {
        let EmulationError { kernel, thread, fault } = error_of(device, 0, false);
        assert_eq!((kernel, thread.unwrap().thread), ("probe_misuse", [5, 0, 0]));
        assert_eq!(fault, EmulationFault::OutOfBounds { index: 66, length: 64 });
    });
}

#[test]
fn index_beyond_a_shared_array() {
    each_seed(|device| {
        let EmulationError { thread, fault, .. } = error_of(device, 1, false);
        let index = u64::from(thread.unwrap().thread[0]);
        assert_eq!(fault, EmulationFault::OutOfBounds { index, length: 32 });
        assert!((32..64).contains(&index));
    });
}

#[test]
fn barriers_that_some_threads_never_reach() {
    for rule in [2, 3] {
        each_seed(|device| match broken(device, rule, false) {
            EmulationFault::DivergentBarrier { barrier, arrived, expected, .. } => {
                assert!(
                    barrier.starts_with("__syncthreads") && arrived < expected && expected == 64,
                    "{barrier}"
                );
            }
            other => panic!("{other}"),
        });
    }
}

#[test]
fn lanes_that_wait_in_two_places() {
    each_seed(|device| match broken(device, 4, false) {
        EmulationFault::WarpMisuse { operation, mask, reason, .. } => {
            assert_eq!((operation.as_str(), mask), ("__syncwarp", !0));
            assert!(reason.contains("elsewhere"), "{reason}");
        }
        other => panic!("{other}"),
    });
}

#[test]
fn masks_that_do_not_fit() {
    let cases = [
        (5, "__ballot_sync", "not in its own mask"),
        (6, "__shfl_sync", "not in the mask"),
        (7, "__any_sync", "has returned"),
        (8, "_sync", "another operation"),
        (9, "__ballot_sync", ""),
        (12, "__shfl_xor_sync", "power of two"),
    ];
    for (rule, operation, reason) in cases {
        each_seed(|device| match broken(device, rule, false) {
            EmulationFault::WarpMisuse { operation: found, reason: why, .. } => {
                assert!(found.ends_with(operation) && why.contains(reason), "rule {rule}: {found}: {why}");
            }
            other => panic!("rule {rule}: {other}"),
        });
    }
}

#[test]
fn grid_barriers_need_a_cooperative_launch_and_all_blocks() {
    each_seed(|device| {
        assert_eq!(broken(device, 10, false), EmulationFault::NotCooperative);
        match broken(device, 11, true) {
            // Block 1 waits for block 0: its 64 threads never return.
            EmulationFault::Deadlock { unfinished, threads, .. } => {
                assert_eq!((unfinished, threads), (64, 128));
            }
            other => panic!("{other}"),
        }
    });
}

/// Waiting for a lock that a thread holds across a barrier would take forever.
#[test]
fn locks_that_nobody_gives_back() {
    each_seed(|device| match broken(device, 14, false) {
        EmulationFault::Waiting { atomics, .. } => assert_eq!(atomics, 1 << 22),
        other => panic!("{other}"),
    });
}

/// Fresh memory, device's or shared, reads as all ones: NaN for floats.
#[test]
fn fresh_memory_is_poisoned() {
    each_seed(|device| {
        let fresh = device.allocate::<f64>(3).unwrap().download().unwrap();
        assert!(fresh.iter().all(|value| value.is_nan()));
        let cells = device.upload(&[0_u32; 64]).unwrap();
        device
            .launch(Launch::new(3, 64), &ProbeMisuseParameters { cells: cells.span(), rule: 13, unused: 0 })
            .unwrap();
        assert_eq!(cells.download().unwrap(), [!0; 64]);
    });
}

#[test]
fn launches_that_no_device_takes() {
    for device in devices() {
        let last = device.allocate::<u32>(1).unwrap();
        let sum = device.allocate::<f32>(1).unwrap();
        let parameters = ProbeRacesParameters { last: last.span(), sum: sum.span() };
        for launch in [
            Launch::new(0, 32),
            Launch::new(1, 0),
            Launch::new(1, 1025),
            Launch::new(1 << 20, 32).cooperative(),
            Launch::new(1, 32).with_shared(1 << 20),
        ] {
            match device.launch(launch, &parameters).unwrap_err() {
                DeviceError::Launch { kernel, blocks, threads, shared, reason } => {
                    assert_eq!((kernel, blocks, threads), ("probe_races", launch.blocks, launch.threads));
                    assert!(shared == launch.shared && !reason.is_empty());
                }
                other => panic!("{other}"),
            }
        }
        works(&device);
    }
}
