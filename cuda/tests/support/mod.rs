//! The devices that tests run on, and numbers to run them with.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod build;
pub mod contact;
pub mod shapes;

pub use pliant_testing::Random;
use pliant_testing::gpu::hidden_gpu;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;

use pliant_cuda::kernels::ProbeRacesParameters;
use pliant_cuda::layout::Span;
use pliant_cuda::{Device, DeviceError};

/// Names a build of the emulation to use instead of the built-in one; tests/sanitized.rs and
/// tests/contracted.rs set it.
pub const LIBRARY: &str = "PLIANT_EMULATION_LIBRARY";

/// Set beside [`LIBRARY`] where that build fuses products with sums, as a GPU's compiler does.
pub const FUSES: &str = "PLIANT_EMULATION_FUSES";

/// Whether the device rounds each operation of a kernel as it is written: the emulation, unless its
/// compiler may fuse.
pub fn rounds_as_written(device: &Device) -> bool {
    device.is_emulated() && std::env::var_os(FUSES).is_none()
}

/// Whether there is an emulated device.
pub fn is_emulated() -> bool {
    Device::IS_EMULATION_BUILT || std::env::var_os(LIBRARY).is_some()
}

/// An emulated device whose schedule follows from the seed.
pub fn emulated(seed: u64) -> Device {
    match std::env::var_os(LIBRARY) {
        Some(path) => emulated_by(&PathBuf::from(path), seed),
        None => Device::emulated(seed).unwrap(),
    }
}

/// The same by another build of the emulation ([`build::Library`]).
pub fn emulated_by(library: &Path, seed: u64) -> Device {
    // SAFETY: `Library::compile` builds it from this crate's sources.
    unsafe { Device::emulated_by(library, seed) }.unwrap()
}

/// The first GPU, where the machine has one; else the test program says once on the standard error
/// that it leaves it out. A driver that is there and does not work is a failure, not a machine
/// without a GPU.
pub fn gpu() -> Option<Device> {
    static TOLD: Once = Once::new();
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(error @ (DeviceError::NoDriver | DeviceError::NoSuchDevice { count: 0, .. })) => {
            if let Some(reason) = hidden_gpu() {
                panic!("the GPU cannot be used: {error}; {reason}");
            }
            // Past the capture of the test's output, which nobody sees of what passes.
            #[expect(clippy::explicit_write, reason = "eprintln is captured in tests, and this must be seen")]
            let tell = || writeln!(std::io::stderr(), "SKIPPED on a GPU: {error}").unwrap();
            TOLD.call_once(tell);
            None
        }
        Err(error) => panic!("the GPU cannot be used: {error}"),
    }
}

/// The GPU where there is one, and the emulated device with some seeds.
pub fn devices() -> Vec<Device> {
    // One will do for another build, which is slower: the schedules are the same.
    let seeds: &[u64] = match (std::env::var_os(LIBRARY), Device::IS_EMULATION_BUILT) {
        (Some(_), _) => &[4],
        (None, true) => &[1, 2, 3],
        (None, false) => &[],
    };
    let devices: Vec<Device> = gpu().into_iter().chain(seeds.iter().map(|seed| emulated(*seed))).collect();
    assert!(!devices.is_empty(), "there is no device to test: no GPU, and the emulation was not built");
    devices
}

/// A GPU where there is one, and one emulated device: for what takes long, or what no schedule
/// changes.
pub fn device_kinds() -> Vec<Device> {
    let mut devices = devices();
    let gpus = devices.iter().filter(|device| !device.is_emulated()).count();
    devices.truncate(gpus + 1);
    devices
}

/// Parameters of a kernel that does next to nothing, with memory that is not there for long.
pub fn race_parameters(device: &Device) -> Result<ProbeRacesParameters, DeviceError> {
    device.allocate::<u32>(1)?;
    Ok(ProbeRacesParameters { last: Span::EMPTY, sum: Span::EMPTY })
}
