//! The way to a GPU, without one: `src/driver.rs` with a stand-in for NVIDIA's driver
//! (`driver/fake_driver.cpp`).
//!
//! The stand-in is compiled as `libcuda.so`, and the other test programs run in processes that find
//! it first. Where there is no C++ compiler that does it, this is told and nothing is tested.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![cfg(all(target_os = "linux", feature = "emulated"))]

mod support;

use std::error::Error;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use nalgebra::Isometry3;
use pliant_coupling::{Material, ParticleSet, Settings, World};
use pliant_cuda::algorithms::Scan;
use pliant_cuda::kernels::{Kernel, ProbeMisuseParameters};
use pliant_cuda::{Device, DeviceError, Launch, backend, cubin};
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::{BodyDesc, Geometry, Motion, Shape};
use support::build::{Library, program, text};

/// Set in the processes that have the fake driver.
const FAKED: &str = "PLIANT_FAKE_DRIVER";

fn faked(program: &Path, library: &Library) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", library.folder()).env(FAKED, "1");
    command
}

/// The stand-in; none in a process that has it already, or without a compiler.
///
/// Tests that run at the same time share it: to compile it takes most of their time.
fn fake_driver() -> Option<Arc<Library>> {
    static SHARED: Mutex<Weak<Library>> = Mutex::new(Weak::new());
    if std::env::var_os(FAKED).is_some() {
        return None;
    }
    let mut shared = SHARED.lock().unwrap();
    if let Some(library) = shared.upgrade() {
        return Some(library);
    }
    let library = Arc::new(Library::compile("libcuda.so", &["-O2"], &["tests/driver/fake_driver.cpp"])?);
    *shared = Arc::downgrade(&library);
    Some(library)
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

/// Checks: after a fault every call gives [`DeviceError::Lost`], soon, and all handles can be
/// dropped; a device cannot be opened again in the process.
#[test]
fn a_lost_device_says_so_at_every_call() {
    let Some(library) = fake_driver() else {
        return;
    };
    let own = std::env::current_exe().unwrap();
    // Illegal address, launch failed, uncorrectable memory error.
    for fault in ["700", "719", "214"] {
        let mut command = faked(&own, &library);
        command.args(["--exact", "calls_a_lost_device", "--nocapture"]).env("FAKE_FAULT", fault);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begun.elapsed() > Duration::from_secs(300) {
                child.kill().unwrap();
                panic!("error {fault}: it hangs: {}", text(&child.wait_with_output().unwrap()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let done = child.wait_with_output().unwrap();
        let said = format!("all lost (FAKE_ERROR_{fault}: of the fake driver)");
        assert!(done.status.success() && text(&done).contains(&said), "error {fault}: {}", text(&done));
    }
}

/// Checks: between host and device go no more copies, graphs and waits a step than README.md says.
#[test]
fn a_step_calls_the_driver_as_often_as_the_readme_says() {
    let Some(library) = fake_driver() else {
        return;
    };
    let mut command = faked(&std::env::current_exe().unwrap(), &library);
    let done = command.args(["--exact", "counts_the_calls_of_a_step", "--nocapture"]).output().unwrap();
    let said = text(&done);
    let rows: Vec<_> = said.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(done.status.success() && rows.len() == 2, "{said}");
    for row in rows {
        assert!(include_str!("../README.md").contains(row), "cuda/README.md does not have\n{row}");
    }
}

/// With the fake driver, prints what a step of worlds asks of the driver, as rows of README.md.
#[test]
fn counts_the_calls_of_a_step() {
    if std::env::var_os(FAKED).is_none() {
        return;
    }
    // SAFETY: the stand-in, which runs nothing when it is loaded; the type is that of its function.
    let driver = unsafe { libloading::Library::new("libcuda.so") }.unwrap();
    let calls: libloading::Symbol<unsafe extern "C" fn(*const c_char) -> u64> =
        // SAFETY: as above.
        unsafe { driver.get(b"fake_calls").unwrap() };
    let counted = || {
        // SAFETY: the texts end with a zero.
        [c"to the device", c"from the device", c"graphs", c"waits"]
            .map(|what| unsafe { calls(what.as_ptr()) })
    };
    let device = Device::cuda(0).unwrap();
    for (what, half_extents) in [("no bodies", None), ("bodies", Some([0.1; 3]))] {
        let mut world = world_on(&device, half_extents);
        // The first steps record and sort.
        for _ in 0..2 {
            world.step().unwrap();
        }
        let before = counted();
        world.step().unwrap();
        let after = counted();
        let [to, from, graphs, waits] = std::array::from_fn(|k| after[k] - before[k]);
        println!("| {what} | {to} | {from} | {graphs} | {waits} |");
    }
}

/// A world of one particle on a device, and of a fixed box above it.
fn world_on(device: &Device, half_extents: Option<[f64; 3]>) -> World {
    let mut builder = World::builder(Settings::new(0.01, 1e-3));
    let model = Model::FixedCorotated(Elastic { youngs_modulus: 1e4, poissons_ratio: 0.3 });
    let material = builder.material(Material { density: 1e3, model });
    builder.particles(ParticleSet {
        positions: vec![[0.0, 0.0, 1.0].into()],
        velocities: vec![[0.0; 3].into()],
        volumes: vec![1e-6],
        material,
    });
    if let Some(half_extents) = half_extents {
        let shape = Shape::Box { half_extents: half_extents.into() };
        let body = BodyDesc {
            name: "box".into(),
            pose: Isometry3::translation(0.0, 0.0, 1.15),
            motion: Motion::Fixed,
            geometries: vec![Geometry::new(shape, 0.5)],
            appearance: Vec::new(),
        };
        builder.body(body).unwrap();
    }
    let mut world = builder.build().unwrap();
    backend::attach(device, &mut world).unwrap();
    world
}

/// With the fake driver, runs a kernel that breaks a rule, and makes every call after it.
#[test]
fn calls_a_lost_device() {
    if std::env::var_os(FAKED).is_none() {
        return;
    }
    let device = Device::cuda(0).unwrap();
    let mut world = world_on(&device, None);
    world.step().unwrap();
    let mut cells = device.upload(&[1_u32; 3000]).unwrap();
    let scan = Scan::new(&device, 3000).unwrap();
    let span = cells.span();
    let recording = device.record(|commands| scan.issue(commands, span, span)).unwrap();
    let none = support::race_parameters(&device).unwrap();
    // More threads than the kernel is made for.
    device.launch(Launch::new(1, 512), &none).unwrap();
    let first = device.synchronize().unwrap_err();
    let DeviceError::Lost { reason, .. } = &first else { panic!("{first}") };
    let check = |what: &str, result: Result<(), DeviceError>| {
        assert!(matches!(&result, Err(DeviceError::Lost { .. })), "{what}: {result:?}");
    };
    check("synchronize", device.synchronize());
    check("memory", device.memory().map(drop));
    check("resident_blocks", device.resident_blocks(Kernel::Scan, 256, 0).map(drop));
    check("allocate", device.allocate::<u32>(9).map(drop));
    check("upload", cells.upload(&[2; 3000]));
    check("download", cells.download().map(drop));
    check("fill", cells.fill(0));
    check("grow", cells.grow(9000).map(drop));
    check("launch", device.launch(Launch::new(1, 32), &none));
    check("record", device.record(|commands| scan.issue(commands, span, span)).map(drop));
    check("run", recording.run());
    check("self_test", device.self_test().map(drop));
    check("open", Device::cuda(0).map(drop));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| check("another thread", device.synchronize()));
        other.join().unwrap();
    });
    for _ in 0..2 {
        let error = world.step().unwrap_err();
        let (mut chain, mut source) = (error.to_string(), error.source());
        while let Some(cause) = source {
            (chain, source) = (format!("{chain}: {cause}"), cause.source());
        }
        assert!(chain.contains("the device is lost"), "{chain}");
    }
    println!("all lost ({reason})");
}

/// Checks: the cubin of the device's architecture and of this PTX is loaded, and the PTX for every
/// other file, with the reason.
#[test]
fn a_cubin_is_of_this_ptx() {
    let Some(library) = fake_driver() else {
        return;
    };
    let (own, path) = (std::env::current_exe().unwrap(), library.folder().join("pliant-sm_90.cubin"));
    // Only what the stand-in reads: the beginning of an ELF file, with its architecture.
    let image = |architecture: u8| {
        let mut image = b"\x7fELF".to_vec();
        image.resize(64, 0);
        image[48] = architecture;
        image
    };
    let mark = |architecture: &str, hash: &str| format!("\npliant cubin for {architecture} of PTX {hash}\n");
    let hash = pliant_cuda::ptx::hash();
    let right = mark("sm_90", &hash);
    let cases = [
        (90, right.as_str(), "loaded cubin "),
        (90, &mark("sm_90", "0123456789abcdef"), "is of other kernels)"),
        (90, &mark("sm_80", &hash), "is of other kernels)"),
        (90, &right[..right.len() - 1], "is no whole cubin of Pliant)"),
        (90, "", "is no whole cubin of Pliant)"),
        (80, &right, "cannot load the kernels (FAKE_ERROR_209: of the fake driver))"),
    ];
    let load = || {
        let mut command = faked(&own, &library);
        command.env(cubin::FOLDER, library.folder()).args(["--exact", "tells_what_it_loaded", "--nocapture"]);
        text(&command.output().unwrap())
    };
    for (architecture, end, said) in cases {
        std::fs::write(&path, [image(architecture), end.as_bytes().to_vec()].concat()).unwrap();
        let loaded = load();
        let from = if said == "loaded cubin " { said } else { "loaded PTX (" };
        assert!(loaded.contains(from) && loaded.contains(said), "{architecture} {end:?}: {loaded}");
    }
    std::fs::remove_file(&path).unwrap();
    let loaded = load();
    assert!(loaded.contains("loaded PTX (") && loaded.contains("sm_90.cubin: "), "{loaded}");
}

/// With the fake driver, prints what the kernels were loaded from.
#[test]
fn tells_what_it_loaded() {
    if std::env::var_os(FAKED).is_none() {
        return;
    }
    let device = Device::cuda(0).unwrap();
    println!("loaded {}", device.kernel_image().unwrap());
    assert!(device.self_test().unwrap());
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
