//! The emulated device: what Rust sees of the C++ in `emulation/`.
//!
//! The structures here mirror `emulation/engine.hpp` and `emulation/interface.hpp`. The C++ side is
//! compiled without exceptions, keeps no thread of its own, and answers every misuse by a kernel
//! with an [`ErrorReport`].

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::command::{Command, Launch};
use crate::emulation_error::{EmulatedThread, EmulationError, EmulationFault};
use crate::error::DeviceError;
use crate::host_memory::HostMemory;
use crate::kernels::Kernel;
use crate::layout::RawSpan;

/// `emulation::ErrorReport`.
#[repr(C)]
struct ErrorReport {
    code: u32,
    block: [u32; 3],
    thread: [u32; 3],
    mask: u32,
    index: u64,
    length: u64,
    operation: *const c_char,
    reason: *const c_char,
}

/// `emulation::LaunchRequest`.
#[repr(C)]
struct LaunchRequest {
    kernel: *const c_char,
    parameters: *const c_void,
    parameter_bytes: u32,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    cooperative: u32,
}

/// `emulation::Engine`, which only the C++ side looks into.
#[repr(C)]
struct Engine {
    opaque: [u8; 0],
}

/// `emulation::Interface`.
#[repr(C)]
struct Interface {
    create: unsafe extern "C" fn(u64) -> *mut Engine,
    destroy: unsafe extern "C" fn(*mut Engine),
    allocate: unsafe extern "C" fn(u64) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
    copy: unsafe extern "C" fn(*mut c_void, *const c_void, u64),
    fill: unsafe extern "C" fn(*mut c_void, *const c_void, u64, u64),
    launch: unsafe extern "C" fn(*mut Engine, *const LaunchRequest, *mut ErrorReport),
    find: unsafe extern "C" fn(*const c_char, *mut u32) -> u32,
    resident_threads: u32,
    multiprocessors: u32,
    sanitized: u32,
}

#[cfg(feature = "emulated")]
unsafe extern "C" {
    safe fn pliant_emulation_interface() -> *const Interface;
}

/// An emulated device. [`crate::device::Shared`] sees to it that one thread at a time calls it.
#[derive(Debug)]
pub(crate) struct Emulator {
    interface: &'static Interface,
    engine: *mut Engine,
    seed: u64,
    /// Queues of it so far.
    queues: AtomicU64,
}

// SAFETY: the engine belongs to no thread: it sets the thread it works for at each launch. Calls
// are serialised by the lock of `Shared`.
unsafe impl Send for Emulator {}
// SAFETY: as above.
unsafe impl Sync for Emulator {}

impl std::fmt::Debug for Interface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interface").field("sanitized", &(self.sanitized != 0)).finish_non_exhaustive()
    }
}

impl Emulator {
    /// Memory of an emulated device, in bytes.
    pub(crate) const MEMORY: u64 = 8 << 30;

    #[cfg(feature = "emulated")]
    pub(crate) fn built_in(seed: u64) -> Result<Self, DeviceError> {
        // SAFETY: the function returns the address of a constant.
        Self::new(unsafe { &*pliant_emulation_interface() }, seed)
    }

    #[cfg(not(feature = "emulated"))]
    pub(crate) fn built_in(_seed: u64) -> Result<Self, DeviceError> {
        Err(DeviceError::NotEmulated)
    }

    /// # Safety
    /// The library must be built from `emulation/` and `kernels/` of this crate.
    pub(crate) unsafe fn loaded(library: &Path, seed: u64) -> Result<Self, DeviceError> {
        let failed = |error: libloading::Error| DeviceError::EmulationLibrary {
            path: library.display().to_string(),
            reason: error.to_string(),
        };
        // SAFETY: the library's initialisers only register kernels, by the caller's promise.
        let loaded = unsafe { libloading::Library::new(library) }.map_err(failed)?;
        // SAFETY: the type is that of `emulation/kernels.cpp`.
        let function = unsafe {
            loaded
                .get::<unsafe extern "C" fn() -> *const Interface>(b"pliant_emulation_interface\0")
                .map_err(failed)?
        };
        // SAFETY: the function returns the address of a constant of the library, which is never
        // unloaded (below).
        let interface = unsafe { &*function() };
        std::mem::forget(loaded);
        Self::new(interface, seed)
    }

    fn new(interface: &'static Interface, seed: u64) -> Result<Self, DeviceError> {
        for kernel in Kernel::ALL {
            let mut bytes = 0;
            let name = c_name(*kernel)?;
            // SAFETY: the name is a C string and `bytes` may be written.
            if unsafe { (interface.find)(name.as_ptr(), &raw mut bytes) } == 0 {
                return Err(DeviceError::MissingKernel { kernel: kernel.name() });
            }
        }
        // SAFETY: any seed will do.
        let engine = unsafe { (interface.create)(seed) };
        if engine.is_null() {
            return Err(DeviceError::OutOfMemory { asked: 0, free: 0, total: Self::MEMORY });
        }
        Ok(Self { interface, engine, seed, queues: AtomicU64::new(0) })
    }

    /// Another one, with a schedule that follows from this one's seed.
    pub(crate) fn queue(&self) -> Result<Self, DeviceError> {
        let queue = self.queues.fetch_add(1, Ordering::Relaxed) + 1;
        Self::new(self.interface, self.seed.wrapping_add(queue.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        self.interface.multiprocessors
    }

    pub(crate) fn resident_threads(&self) -> u32 {
        self.interface.resident_threads
    }

    /// The address of fresh memory; none where the host has no more.
    pub(crate) fn allocate(&self, bytes: u64) -> Option<u64> {
        // SAFETY: any size will do.
        let memory = unsafe { (self.interface.allocate)(bytes) };
        (!memory.is_null()).then_some(memory as u64)
    }

    /// Frees what `allocate` gave; `Shared` calls this once for each.
    pub(crate) fn release(&self, address: u64) {
        // SAFETY: `Shared` removes the address from its table first, where only addresses from
        // `allocate` are.
        unsafe { (self.interface.release)(address as *mut c_void) }
    }

    /// # Safety
    /// Both are addresses of memory of `allocate` with that many bytes from there on.
    unsafe fn copy(&self, to: u64, from: u64, bytes: u64) {
        // SAFETY: the caller's promise.
        unsafe { (self.interface.copy)(to as *mut c_void, from as *const c_void, bytes) }
    }

    /// Writes the beginning of memory of the host.
    pub(crate) fn write_host(&self, memory: &HostMemory, values: &[u8]) {
        // SAFETY: the memory is from `allocate` and has room for the values (`HostMemory::check`).
        unsafe { self.copy(memory.address(), values.as_ptr() as u64, values.len() as u64) }
    }

    /// Reads the beginning of memory of the host.
    pub(crate) fn read_host(&self, memory: &HostMemory, values: &mut [u8]) {
        // SAFETY: as above.
        unsafe { self.copy(values.as_mut_ptr() as u64, memory.address(), values.len() as u64) }
    }

    pub(crate) fn upload(&self, to: RawSpan, values: &[u8]) {
        // SAFETY: the span comes from a live buffer and is as long as the values (`Buffer::range`).
        unsafe {
            (self.interface.copy)(to.address as *mut c_void, values.as_ptr().cast(), values.len() as u64)
        }
    }

    pub(crate) fn download(&self, from: RawSpan, values: &mut [u8]) {
        // SAFETY: as in `upload`.
        unsafe {
            (self.interface.copy)(
                values.as_mut_ptr().cast(),
                from.address as *const c_void,
                values.len() as u64,
            )
        }
    }

    pub(crate) fn fill(&self, to: RawSpan, pattern: &[u8]) {
        // SAFETY: the span comes from a live buffer of elements of the pattern's size.
        unsafe {
            (self.interface.fill)(
                to.address as *mut c_void,
                pattern.as_ptr().cast(),
                pattern.len() as u64,
                to.bytes,
            );
        }
    }

    /// Runs a command whose spans were checked.
    pub(crate) fn issue(&self, command: &Command) -> Result<(), DeviceError> {
        match command {
            Command::Launch { kernel, launch, parameters, bytes, .. } => {
                let name = c_name(*kernel)?;
                let request = LaunchRequest {
                    kernel: name.as_ptr(),
                    parameters: parameters.as_ptr().cast(),
                    // Kernels have at most 4 KiB of parameters.
                    parameter_bytes: *bytes as u32,
                    grid: launch.blocks,
                    block: launch.threads,
                    shared_bytes: launch.shared,
                    cooperative: u32::from(launch.cooperative),
                };
                // SAFETY: all zeros is a report of no error.
                let mut report: ErrorReport = unsafe { std::mem::zeroed() };
                // SAFETY: the engine lives as long as `self`; request, parameters and report
                // outlive the call.
                unsafe { (self.interface.launch)(self.engine, &raw const request, &raw mut report) };
                error_of(*kernel, *launch, &report).map_or(Ok(()), Err)
            }
            Command::Clear { to } => {
                self.fill(*to, &[0]);
                Ok(())
            }
            Command::Copy { spans: [from, to] } => {
                // SAFETY: both spans were checked, and are equally long.
                unsafe { self.copy(to.address, from.address, from.bytes) };
                Ok(())
            }
            Command::FromHost { from, to } => {
                // SAFETY: the span was checked and is no longer than the host's memory, which is from
                // `allocate`.
                unsafe { self.copy(to.address, from.address(), to.bytes) };
                Ok(())
            }
            Command::ToHost { from, to } => {
                // SAFETY: as above.
                unsafe { self.copy(to.address(), from.address, from.bytes) };
                Ok(())
            }
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // SAFETY: made by `create`, destroyed once.
        unsafe { (self.interface.destroy)(self.engine) }
    }
}

fn c_name(kernel: Kernel) -> Result<CString, DeviceError> {
    CString::new(kernel.name()).map_err(|_| DeviceError::MissingKernel { kernel: kernel.name() })
}

/// The error in a report; none where all went well.
fn error_of(kernel: Kernel, launch: Launch, report: &ErrorReport) -> Option<DeviceError> {
    let text = |text: *const c_char| {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: the C++ side points to literals.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    let kernel = kernel.name();
    let ErrorReport { block, thread, mask, index, length, .. } = *report;
    let (operation, reason) = (text(report.operation), text(report.reason));
    // The numbers of `emulation::ErrorCode`.
    let fault = match report.code {
        0 => return None,
        1 => EmulationFault::OutOfBounds { index, length },
        2 => {
            EmulationFault::DivergentBarrier { barrier: operation, reason, arrived: index, expected: length }
        }
        3 => EmulationFault::WarpMisuse { operation, mask, reason },
        4 => EmulationFault::NotCooperative,
        5 => EmulationFault::SharedMemory { asked: index, available: length },
        6 => EmulationFault::HostMemory { reason, bytes: index },
        8 => EmulationFault::Waiting { reason, atomics: index },
        9 => EmulationFault::Deadlock { operation, reason, unfinished: index, threads: length },
        // A launch that no device takes, which a driver refuses too.
        _ => {
            let reason = format!("{reason} ({index}, {length})");
            let Launch { blocks, threads, shared, .. } = launch;
            return Some(DeviceError::Launch { kernel, blocks, threads, shared, reason });
        }
    };
    let is_of_launch = matches!(report.code, 4..=6);
    let thread = (!is_of_launch).then_some(EmulatedThread { block, thread });
    Some(Box::new(EmulationError { kernel, thread, fault }).into())
}
