//! NVIDIA's driver: devices, memory, launches, graphs.
//!
//! Handles of the driver are raw pointers, each owned by one structure here: [`Gpu`] has one
//! stream and shares the primary context and the module with all kernels, [`Graph`] an instantiated graph of
//! that context. Every call first makes the context the calling thread's own.

mod gpu;

use std::ffi::c_int;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUresult};

use crate::error::DeviceError;

pub(crate) use gpu::{Gpu, Graph};

/// The oldest CUDA version whose drivers load the PTX, as the driver counts.
const NEEDED_VERSION: i32 = 12_000;

/// What the driver says of itself and its devices.
#[derive(Clone, Debug, PartialEq)]
pub struct DriverInfo {
    /// Version of CUDA that the driver supports, major and minor.
    pub version: (u32, u32),
    /// Its devices.
    pub devices: Vec<GpuInfo>,
}

/// What the driver says of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuInfo {
    /// Its name.
    pub name: String,
    /// Its memory in all, in bytes.
    pub memory: u64,
    /// Its compute capability, major and minor.
    pub capability: (u32, u32),
    /// Number of multiprocessors.
    pub multiprocessors: u32,
}

impl DriverInfo {
    /// Asks the driver. A machine without devices is no error; one without a driver is.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`], [`DeviceError::DriverTooOld`], or another failure of the driver.
    pub fn ask() -> Result<Self, DeviceError> {
        let version = initialise()?;
        let devices =
            (0..device_count()?).map(|ordinal| Ok(device(ordinal)?.1)).collect::<Result<_, DeviceError>>()?;
        let (major, minor) = (version / 1000, version % 1000 / 10);
        Ok(Self { version: (major.unsigned_abs(), minor.unsigned_abs()), devices })
    }
}

/// Finds and starts the driver; its version.
fn initialise() -> Result<i32, DeviceError> {
    // SAFETY: loads the driver's library, which has no conditions.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoDriver);
    }
    let mut found = 0;
    // SAFETY: `found` may be written; this call needs no `cuInit`.
    unsafe { sys::cuDriverGetVersion(&raw mut found) }.result().map_err(failed("cuDriverGetVersion"))?;
    if found < NEEDED_VERSION {
        return Err(DeviceError::DriverTooOld { found, needed: NEEDED_VERSION });
    }
    match result::init() {
        Ok(()) | Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(found),
        Err(error) => Err(failed("cuInit")(error)),
    }
}

/// Number of devices; none where the driver did not start for want of one.
fn device_count() -> Result<u32, DeviceError> {
    match result::device::get_count() {
        Ok(count) => Ok(count.unsigned_abs()),
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE | CUresult::CUDA_ERROR_NOT_INITIALIZED)) => Ok(0),
        Err(error) => Err(failed("cuDeviceGetCount")(error)),
    }
}

fn device(ordinal: u32) -> Result<(sys::CUdevice, GpuInfo), DeviceError> {
    let handle = result::device::get(ordinal as c_int).map_err(failed("cuDeviceGet"))?;
    let attribute = |attribute| {
        // SAFETY: the handle is the driver's.
        let value = unsafe { result::device::get_attribute(handle, attribute) };
        value.map(i32::unsigned_abs).map_err(failed("cuDeviceGetAttribute"))
    };
    let info = GpuInfo {
        name: result::device::get_name(handle).map_err(failed("cuDeviceGetName"))?,
        // SAFETY: the handle is the driver's.
        memory: unsafe { result::device::total_mem(handle) }.map_err(failed("cuDeviceTotalMem"))? as u64,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
    };
    Ok((handle, info))
}

/// The driver's name of an error, and what it means.
fn reason(error: DriverError) -> String {
    let text =
        |text: Result<&std::ffi::CStr, DriverError>| text.map(|text| text.to_string_lossy().into_owned());
    match (text(error.error_name()), text(error.error_string())) {
        (Ok(name), Ok(about)) => format!("{name}: {about}"),
        _ => format!("error {}", error.0 as u32),
    }
}

/// Turns an error of a call into ours.
fn failed(call: &'static str) -> impl Fn(DriverError) -> DeviceError {
    move |error| {
        let reason = reason(error);
        match error.0 {
            // After these the context is of no use any more.
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
            | CUresult::CUDA_ERROR_DEINITIALIZED
            | CUresult::CUDA_ERROR_EXTERNAL_DEVICE => DeviceError::Lost { call, reason },
            _ => DeviceError::Driver { call, reason },
        }
    }
}
