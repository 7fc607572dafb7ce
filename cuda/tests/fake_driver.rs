//! The way to a GPU, without one: `src/driver.rs` with a stand-in for NVIDIA's driver
//! (`driver/fake_driver.cpp`).
//!
//! The stand-in is compiled as `libcuda.so`, and the other test programs run in processes that find
//! it first. Where there is no C++ compiler that does it, this is told and nothing is tested.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![cfg(all(target_os = "linux", feature = "emulated"))]

mod support;

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::process::Command;

use pliant_cuda::kernels::ProbeMisuseParameters;
use pliant_cuda::{Device, DeviceError, Launch};
use support::build::{Library, program, text};

/// Set in the processes that have the fake driver.
const FAKED: &str = "PLIANT_FAKE_DRIVER";

fn faked(program: &Path, library: &Library) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", library.folder()).env(FAKED, "1");
    command
}

/// The stand-in; none in a process that has it already, or without a compiler.
fn fake_driver() -> Option<Library> {
    if std::env::var_os(FAKED).is_some() {
        return None;
    }
    Library::compile("libcuda.so", &["-O2"], &["tests/driver/fake_driver.cpp"])
}

#[test]
#[ignore = "slow tier"]
fn tests_pass_by_way_of_a_driver() {
    let Some(library) = fake_driver() else {
        return;
    };
    for name in
        ["warp", "block", "misuse", "algorithms", "device", "mpm_transfers", "mpm_constitutive", "mpm_steps"]
    {
        // One test after the other: the fake driver has one stream, and what captures a graph would
        // catch the others' work.
        let done = faked(&program(name), &library).arg("--test-threads=1").output().unwrap();
        assert!(done.status.success(), "{name}: {}", text(&done));
    }
}

#[test]
fn failures_of_a_driver_have_names() {
    let Some(library) = fake_driver() else {
        return;
    };
    let own = std::env::current_exe().unwrap();
    let cases = [
        ("FAKE_VERSION", "11080", "CUDA 11.8 and the kernels need 12.0"),
        ("FAKE_DEVICES", "0", "no CUDA device 0: there are 0"),
        ("FAKE_CAPABILITY", "75", "device 0 (Fake GPU) has compute capability 7.5"),
        (
            "FAKE_JIT_FAILS",
            "1",
            "cannot load the kernels (FAKE_ERROR_218: of the fake driver):\nptxas fatal: line 7 is bad",
        ),
        ("FAKE_MISSING", "sort_scatter", "kernel 'sort_scatter' is missing"),
        ("FAKE_MEMORY", "1000", "out of device memory: asked for 4000 bytes, 1000 of 1000 are free"),
        ("FAKE_MEMORY", "1000000", "the device is lost (FAKE_ERROR_719: of the fake driver)"),
    ];
    for (name, value, said) in cases {
        let mut command = faked(&own, &library);
        let done =
            command.args(["--exact", "tells_what_fails", "--nocapture"]).env(name, value).output().unwrap();
        assert!(done.status.success() && text(&done).contains(said), "{name}={value}: {}", text(&done));
    }
}

/// Checks: a thread has the context that it had before, whatever a device did in it: with another
/// library's context, and with none.
#[test]
fn contexts_of_others_stay() {
    let Some(library) = fake_driver() else {
        return;
    };
    let mut command = faked(&std::env::current_exe().unwrap(), &library);
    let done = command.args(["--exact", "leaves_the_context", "--nocapture"]).output().unwrap();
    assert!(done.status.success() && text(&done).contains("left as it was"), "{}", text(&done));
}

/// With the fake driver, works on a device in threads that have a context or none.
#[test]
fn leaves_the_context() {
    if std::env::var_os(FAKED).is_none() {
        return;
    }
    type Set = unsafe extern "C" fn(*mut c_void) -> c_int;
    type Get = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
    // SAFETY: the stand-in, which runs nothing when it is loaded; the types are those of its calls.
    let (driver, mut other) = (unsafe { libloading::Library::new("libcuda.so") }.unwrap(), 0_u8);
    let (set, get): (libloading::Symbol<Set>, libloading::Symbol<Get>) =
        // SAFETY: as above.
        unsafe { (driver.get(b"cuCtxSetCurrent").unwrap(), driver.get(b"cuCtxGetCurrent").unwrap()) };
    for before in [std::ptr::null_mut(), (&raw mut other).cast::<c_void>()] {
        let check = |after: &str| {
            let mut found = std::ptr::null_mut();
            // SAFETY: the place is this function's own.
            assert_eq!(unsafe { get(&raw mut found) }, 0);
            assert!(found == before, "{after} left another context");
        };
        // SAFETY: the stand-in does nothing with another library's handle.
        assert_eq!(unsafe { set(before) }, 0);
        let device = Device::cuda(0).unwrap();
        check("opening");
        let cells = device.upload(&[1_u32; 100]).unwrap();
        check("an upload");
        assert_eq!(cells.download().unwrap(), [1; 100]);
        check("a download");
        device.synchronize().unwrap();
        check("waiting");
        drop(cells);
        drop(device);
        check("closing");
    }
    println!("left as it was");
}

/// With the fake driver, prints the first failure of a device: while it opens, while it gives
/// memory, or while it runs a kernel that breaks a rule.
#[test]
fn tells_what_fails() {
    if std::env::var_os(FAKED).is_none() {
        return;
    }
    let fails = || -> Result<(), DeviceError> {
        let device = Device::cuda(0)?;
        assert_eq!(device.name(), "Fake GPU");
        let cells = device.upload(&[0_u32; 1000])?;
        // Not on a GPU, and no reason to go to another device.
        let misuse = ProbeMisuseParameters { cells: cells.span(), rule: 0, unused: 0 };
        let missing = device.launch(Launch::new(1, 32), &misuse);
        assert_eq!(missing, Err(DeviceError::MissingKernel { kernel: "probe_misuse" }));
        // More threads than the kernel is made for, which this driver sees too late.
        let none = support::race_parameters(&device)?;
        device.launch(Launch::new(1, 512), &none)?;
        device.synchronize()
    };
    println!("{}", fails().unwrap_err());
}
