//! The CUDA backend of Pliant: kernels, what launches them, and their emulation on machines without
//! a GPU.
//!
//! A [`Device`] is a GPU or its emulation by the processor; everything else works the same on both.
//! [`Buffer`]s hold device memory, a [`Launch`] with the parameters of a kernel ([`kernels`]) runs
//! it, [`Commands`] are a sequence of launches and copies that a [`Recording`] repeats without the
//! host's help. [`algorithms`] are prefix sums, sorting and reductions made of kernels.
//!
//! ```
//! use pliant_cuda::{Commands, Device, algorithms::Scan};
//!
//! # fn main() -> Result<(), pliant_cuda::DeviceError> {
//! # if !Device::IS_EMULATION_BUILT { return Ok(()); }
//! let device = Device::emulated(1)?;
//! let input = device.upload(&[3u32, 1, 4])?;
//! let output = device.allocate::<u32>(3)?;
//! let scan = Scan::new(&device, 3)?;
//! let mut commands = Commands::new();
//! scan.issue(&mut commands, input.span(), output.span());
//! device.submit(&commands)?;
//! assert_eq!(output.download()?, [0, 3, 4]);
//! # Ok(())
//! # }
//! ```
//!
//! Unsafe code is in two modules: `driver` calls NVIDIA's driver, `emulated` the C++ side of the
//! emulation.

pub mod algorithms;
pub mod backend;
mod buffer;
mod command;
pub mod contact;
pub mod convex;
pub mod cubin;
mod device;
mod driver;
mod emulated;
mod emulation_error;
mod error;
mod host_memory;
pub mod kernels;
pub mod layout;
mod memory;
pub mod mpm;
pub mod ptx;
mod self_test;
mod shared;
pub mod staging;
pub mod worlds;

pub use buffer::Buffer;
pub use command::{Commands, Launch};
pub use device::{Device, Recording};
pub use driver::{DriverInfo, GpuInfo};
pub use emulation_error::{EmulatedThread, EmulationError, EmulationFault};
pub use error::DeviceError;
pub use memory::DeviceMemoryInfo;
pub use shared::HostCopies;
