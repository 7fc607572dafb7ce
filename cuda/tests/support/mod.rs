//! The devices that tests run on, and numbers to run them with.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod build;
pub mod contact;
pub mod shapes;

use std::path::PathBuf;

use pliant_cuda::kernels::ProbeRacesParameters;
use pliant_cuda::layout::Span;
use pliant_cuda::{Device, DeviceError};

/// Names a build of the emulation to use instead of the built-in one; tests/sanitized.rs sets it.
pub const LIBRARY: &str = "PLIANT_EMULATION_LIBRARY";

/// Whether there is an emulated device.
pub fn is_emulated() -> bool {
    Device::IS_EMULATION_BUILT || std::env::var_os(LIBRARY).is_some()
}

/// An emulated device whose schedule follows from the seed.
pub fn emulated(seed: u64) -> Device {
    match std::env::var_os(LIBRARY) {
        // SAFETY: tests/sanitized.rs builds it from this crate's sources.
        Some(path) => unsafe { Device::emulated_by(&PathBuf::from(path), seed) }.unwrap(),
        None => Device::emulated(seed).unwrap(),
    }
}

/// The first GPU, where the machine has one. A driver that is there and does not work is a failure, not a machine without a GPU.
pub fn gpu() -> Option<Device> {
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(DeviceError::NoDriver | DeviceError::NoSuchDevice { count: 0, .. }) => None,
        Err(error) => panic!("the GPU cannot be used: {error}"),
    }
}

/// The emulated device with some seeds, and the GPU where there is one.
pub fn devices() -> Vec<Device> {
    // One will do for another build, which is slower: the schedules are the same.
    let seeds: &[u64] = match (std::env::var_os(LIBRARY), Device::IS_EMULATION_BUILT) {
        (Some(_), _) => &[4],
        (None, true) => &[1, 2, 3],
        (None, false) => &[],
    };
    let devices: Vec<Device> = seeds.iter().map(|seed| emulated(*seed)).chain(gpu()).collect();
    assert!(!devices.is_empty(), "there is no device to test: no GPU, and the emulation was not built");
    devices
}

/// Parameters of a kernel that does next to nothing, with memory that is not there for long.
pub fn race_parameters(device: &Device) -> Result<ProbeRacesParameters, DeviceError> {
    device.allocate::<u32>(1)?;
    Ok(ProbeRacesParameters { last: Span::EMPTY, sum: Span::EMPTY })
}

/// A small generator (splitmix64; Steele, Lea and Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn long(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    pub fn word(&mut self) -> u32 {
        (self.long() >> 32) as u32
    }

    pub fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.word()).collect()
    }

    /// Between -1 and 1.
    pub fn number(&mut self) -> f64 {
        (self.long() >> 11) as f64 * (2.0 / (1_u64 << 53) as f64) - 1.0
    }
}
