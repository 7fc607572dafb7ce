//! Buffers, recordings and what goes wrong with them; what a machine without a GPU is told.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use pliant_cuda::algorithms::Scan;
use pliant_cuda::layout::Span;
use pliant_cuda::{Commands, Device, DeviceError, DeviceMemoryInfo, DriverInfo, ptx};
use support::{Random, devices, emulated, gpu, is_emulated};

#[test]
fn devices_pass_their_own_test() {
    for device in devices() {
        assert!(device.self_test().unwrap(), "{}", device.name());
        assert!(device.multiprocessors() > 0 && !device.name().is_empty());
    }
}

#[test]
fn buffers_keep_what_is_put_into_them() {
    for device in devices() {
        let values = Random(1).words(1000);
        let mut buffer = device.upload(&values).unwrap();
        assert_eq!(buffer.download().unwrap(), values);
        buffer.upload_at(10, &[1, 2, 3]).unwrap();
        let mut some = [0; 4];
        buffer.download_at(9, &mut some).unwrap();
        assert_eq!(some, [values[9], 1, 2, 3]);
        buffer.fill(0x0102_0304).unwrap();
        assert_eq!(buffer.download().unwrap(), vec![0x0102_0304; 1000]);
        let mut numbers = device.allocate::<f64>(77).unwrap();
        numbers.fill(-0.1).unwrap();
        assert_eq!(numbers.download().unwrap(), vec![-0.1; 77]);
        assert!(device.allocate::<f64>(0).unwrap().download().unwrap().is_empty());
    }
}

#[test]
fn growing_keeps_what_is_there() {
    for device in devices() {
        let values = Random(2).words(100);
        let mut buffer = device.upload(&values).unwrap();
        assert!(!buffer.grow(100).unwrap());
        assert!(buffer.grow(101).unwrap());
        // Half as much again, so that many small steps cost little.
        assert_eq!(buffer.len(), 150);
        assert_eq!(buffer.download().unwrap()[..100], values);
    }
}

#[test]
fn copies_beyond_the_end_are_errors_with_their_figures() {
    for device in devices() {
        let mut buffer = device.allocate::<u32>(3).unwrap();
        let error = buffer.upload_at(2, &[1, 2]).unwrap_err();
        assert_eq!(error, DeviceError::LengthMismatch { given: 2, first: 2, length: 3 });
        let error = buffer.download_at(usize::MAX, &mut [0]).unwrap_err();
        assert_eq!(error, DeviceError::LengthMismatch { given: 1, first: usize::MAX, length: 3 });
    }
}

#[test]
fn memory_is_counted_and_runs_out_with_figures() {
    for device in devices() {
        let DeviceMemoryInfo { free, total } = device.memory().unwrap();
        let buffer = device.allocate::<f64>(1 << 20).unwrap();
        assert!(device.memory().unwrap().free <= free);
        drop(buffer);
        if device.is_emulated() {
            assert_eq!(device.memory().unwrap(), DeviceMemoryInfo { free, total });
        }
        // 9 GiB, more than the emulated device has, and so many of them that no GPU has as much.
        let parts = total / (9 << 30) + 1;
        let all: Result<Vec<_>, _> = (0..parts).map(|_| device.allocate::<f64>(9 << 27)).collect();
        match all {
            Err(DeviceError::OutOfMemory { asked, free, total: same }) => {
                assert_eq!((asked, same), (9 << 30, total));
                assert!(free <= total);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_recording_runs_again_and_again() {
    for device in devices() {
        let buffer = device.upload(&[1_u32; 10]).unwrap();
        let copy = device.upload(&[9_u32; 10]).unwrap();
        let scan = Scan::new(&device, 10).unwrap();
        let recording = device
            .record(|commands| {
                scan.issue(commands, buffer.span(), buffer.span());
                commands.copy(buffer.span(), copy.span().first(5)).clear(scan.total().span());
            })
            .unwrap();
        assert_eq!(buffer.download().unwrap(), [1; 10], "recording runs nothing");
        recording.run().unwrap();
        assert_eq!(buffer.download().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        recording.run().unwrap();
        device.synchronize().unwrap();
        assert_eq!(buffer.download().unwrap(), [0, 0, 1, 3, 6, 10, 15, 21, 28, 36]);
        assert_eq!(copy.download().unwrap(), [0, 0, 1, 3, 6, 9, 9, 9, 9, 9]);
        assert_eq!(scan.total().download().unwrap(), [0]);
    }
}

/// Neither a buffer that is gone, nor one of another device, nor a span that was made up reaches a
/// kernel.
#[test]
fn stale_spans_are_errors() {
    for device in devices() {
        let mut buffer = device.upload(&[1_u32; 10]).unwrap();
        let scan = Scan::new(&device, 100).unwrap();
        let recording = device.record(|commands| scan.issue(commands, buffer.span(), buffer.span())).unwrap();
        let stale = buffer.span();
        buffer.grow(100).unwrap();
        let made_up: Span<u32> = bytemuck::cast([8_u64, 5]);
        let mut commands = Commands::new();
        scan.issue(&mut commands, buffer.span(), made_up);
        for error in [recording.run(), device.submit(&commands)].map(Result::unwrap_err) {
            assert!(matches!(error, DeviceError::DanglingSpan { command: "scan", .. }), "{error}");
        }
        // An address may be given out again; only then may the span be good again.
        let mut commands = Commands::new();
        commands.clear(stale);
        if let Err(error) = device.submit(&commands) {
            assert!(
                matches!(error, DeviceError::DanglingSpan { command: "clear", bytes: 40, .. }),
                "{error}"
            );
        }
    }
}

#[test]
fn devices_of_other_threads_do_not_meet() {
    if !is_emulated() {
        return;
    }
    let shared = emulated(9);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let shared = &shared;
            scope.spawn(move || {
                for device in [shared.clone(), emulated(seed)] {
                    let values = Random(seed).words(5000);
                    let buffer = device.upload(&values).unwrap();
                    let scan = Scan::new(&device, 5000).unwrap();
                    let mut commands = Commands::new();
                    scan.issue(&mut commands, buffer.span(), buffer.span());
                    device.submit(&commands).unwrap();
                    let total = values[..4999].iter().fold(0, |a: u32, b| a.wrapping_add(*b));
                    assert_eq!(buffer.download().unwrap()[4999], total);
                }
            });
        }
    });
}

/// A machine without a driver is told so; it is never a panic, and never another device in its
/// place.
#[test]
fn a_missing_gpu_is_a_typed_error() {
    match DriverInfo::ask() {
        Ok(info) => {
            let count = info.devices.len() as u32;
            assert!(info.version.0 >= 12);
            assert_eq!(gpu().is_some(), count > 0);
            let error = Device::cuda(count).unwrap_err();
            assert_eq!(error, DeviceError::NoSuchDevice { ordinal: count, count });
        }
        Err(error) => {
            assert_eq!(error, DeviceError::NoDriver);
            assert_eq!(Device::cuda(0).unwrap_err(), error);
        }
    }
}

#[test]
fn errors_name_their_figures() {
    let text = DeviceError::DriverTooOld { found: 11_040, needed: 12_000 }.to_string();
    assert!(text.contains("11.4") && text.contains("12.0"), "{text}");
    let text = DeviceError::OutOfMemory { asked: 3, free: 2, total: 7 }.to_string();
    assert!(text.contains("3 bytes") && text.contains("2 of 7"), "{text}");
}

/// The PTX was made from these very kernels, for Ampere and later, and drivers of CUDA 12.0 load
/// it.
#[test]
fn the_ptx_is_current() {
    assert!(
        ptx::is_current(),
        "run cuda/ptx.py: the kernels changed (their hash is {})",
        ptx::sources_hash()
    );
    assert_eq!((ptx::version(), ptx::target()), ("8.0", "sm_80"));
    for kernel in pliant_cuda::kernels::Kernel::ALL {
        let entry = format!(".entry {}(", kernel.name());
        assert_eq!(ptx::PTX.contains(&entry), kernel.is_on_gpu(), "{}", kernel.name());
    }
    // What the code costs is counted anew with every change.
    let costs =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/ptx/cost.md")).unwrap_or_default();
    assert!(
        costs.contains(&format!("of PTX {},", ptx::hash())),
        "run cuda/ptx.py: ptx/cost.md is of another PTX"
    );
    // All sources are in the list that is hashed.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".cu") || name.ends_with(".cuh"))
        .collect();
    names.sort();
    assert!(names.iter().map(String::as_str).eq(ptx::SOURCES.iter().map(|source| source.0)), "{names:?}");
}
