//! Devices: a GPU, or its emulation by the processor.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::algorithms::Scan;
use crate::buffer::Buffer;
use crate::command::{Command, Commands, Launch};
use crate::driver::{self, Gpu};
use crate::emulated::Emulator;
use crate::error::DeviceError;
use crate::kernels::{Kernel, Parameters, SCAN_TILE};
use crate::layout::{DeviceType, RawSpan};

/// A GPU, or its emulation. Handles are cheap to clone and share one queue of commands.
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) shared: Arc<Shared>,
}

/// What a device's memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Free, in bytes.
    pub free: u64,
    /// In all, in bytes.
    pub total: u64,
}

#[derive(Debug)]
enum Backend {
    Gpu(Gpu),
    Emulated(Emulator),
}

/// A device and the buffers that live on it.
#[derive(Debug)]
pub(crate) struct Shared {
    backend: Backend,
    /// Address and size of each buffer. Held while anything touches device memory, so that no buffer goes away between
    /// a launch's check and the launch, and so that the emulation is never in two threads at once.
    allocations: Mutex<BTreeMap<u64, u64>>,
}

impl Device {
    /// Whether this build has the emulated device.
    pub const IS_EMULATION_BUILT: bool = cfg!(feature = "emulated");

    /// The GPU of number `ordinal`, from 0, with all kernels loaded.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`], [`DeviceError::DriverTooOld`], [`DeviceError::NoSuchDevice`], [`DeviceError::DeviceTooOld`],
    /// [`DeviceError::KernelsDoNotLoad`], [`DeviceError::MissingKernel`], or another failure of the driver.
    pub fn cuda(ordinal: u32) -> Result<Self, DeviceError> {
        Ok(Self::of(Backend::Gpu(Gpu::open(ordinal)?)))
    }

    /// A device emulated by this thread's processor. The seed chooses the order in which blocks, warps and lanes run.
    ///
    /// # Errors
    /// [`DeviceError::NotEmulated`] where the feature `emulated` is off.
    pub fn emulated(seed: u64) -> Result<Self, DeviceError> {
        Ok(Self::of(Backend::Emulated(Emulator::built_in(seed)?)))
    }

    /// A device emulated by another build of this crate's kernels and emulation, one with sanitizers for example.
    ///
    /// # Errors
    /// [`DeviceError::EmulationLibrary`] where it does not load.
    ///
    /// # Safety
    /// The library must be built from the sources of this very crate.
    pub unsafe fn emulated_by(library: &Path, seed: u64) -> Result<Self, DeviceError> {
        // SAFETY: the caller's promise.
        let emulator = unsafe { Emulator::loaded(library, seed) }?;
        Ok(Self::of(Backend::Emulated(emulator)))
    }

    fn of(backend: Backend) -> Self {
        Self { shared: Arc::new(Shared { backend, allocations: Mutex::default() }) }
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        match &self.shared.backend {
            Backend::Gpu(gpu) => gpu.name(),
            Backend::Emulated(_) => "emulated device",
        }
    }

    /// Whether kernels run on the processor.
    pub fn is_emulated(&self) -> bool {
        matches!(self.shared.backend, Backend::Emulated(_))
    }

    /// What its memory holds.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn memory(&self) -> Result<Memory, DeviceError> {
        let allocations = self.shared.lock();
        self.shared.memory(&allocations)
    }

    /// Refuses what is larger than what is free, before any of it is allocated.
    pub(crate) fn check_free(&self, asked: u64) -> Result<(), DeviceError> {
        let Memory { free, total } = self.memory()?;
        if asked <= free { Ok(()) } else { Err(DeviceError::OutOfMemory { asked, free, total }) }
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        match &self.shared.backend {
            Backend::Gpu(gpu) => gpu.multiprocessors(),
            Backend::Emulated(emulator) => emulator.multiprocessors(),
        }
    }

    /// Blocks of a kernel that the device can hold at once, the most that a cooperative launch can have.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn resident_blocks(&self, kernel: Kernel, threads: u32, shared: u32) -> Result<u32, DeviceError> {
        match &self.shared.backend {
            Backend::Gpu(gpu) => gpu.resident_blocks(kernel, threads, shared),
            Backend::Emulated(emulator) => Ok(emulator.resident_threads() / threads.max(1)),
        }
    }

    /// Memory for `length` elements.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], [`DeviceError::BufferTooLong`], or another failure of the driver.
    pub fn allocate<T: DeviceType>(&self, length: usize) -> Result<Buffer<T>, DeviceError> {
        Buffer::new(self, length)
    }

    /// A buffer with a copy of values of the host.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn upload<T: DeviceType>(&self, values: &[T]) -> Result<Buffer<T>, DeviceError> {
        let mut buffer = self.allocate(values.len())?;
        buffer.upload(values)?;
        Ok(buffer)
    }

    /// Launches the kernel that the parameters are for. On a GPU it runs while the host goes on.
    ///
    /// # Errors
    /// [`DeviceError::DanglingSpan`], [`DeviceError::Launch`]; [`DeviceError::Emulation`] where an emulated kernel breaks a
    /// rule; on a GPU, failures of earlier launches.
    pub fn launch<P: Parameters>(&self, launch: Launch, parameters: &P) -> Result<(), DeviceError> {
        let mut commands = Commands::new();
        commands.launch(launch, parameters);
        self.submit(&commands)
    }

    /// Runs commands in their order.
    ///
    /// # Errors
    /// As [`Device::launch`]; the commands before the one that failed have run.
    pub fn submit(&self, commands: &Commands) -> Result<(), DeviceError> {
        let allocations = self.shared.lock();
        check_spans(&allocations, &commands.list)?;
        self.shared.run(&commands.list)
    }

    /// Prepares commands to be run many times: on a GPU as a graph, which the driver starts in one call.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn record(&self, give: impl FnOnce(&mut Commands)) -> Result<Recording, DeviceError> {
        let mut commands = Commands::new();
        give(&mut commands);
        let allocations = self.shared.lock();
        check_spans(&allocations, &commands.list)?;
        let graph = match &self.shared.backend {
            Backend::Gpu(gpu) => Some(gpu.capture(&commands.list)?),
            Backend::Emulated(_) => None,
        };
        Ok(Recording { graph, commands, shared: self.shared.clone() })
    }

    /// Whether the device adds up a few numbers as it should: that it takes memory, loads kernels and runs them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn self_test(&self) -> Result<bool, DeviceError> {
        let count = 3 * SCAN_TILE;
        let numbers = self.upload(&(0..count).collect::<Vec<_>>())?;
        let scan = Scan::new(self, count as usize)?;
        let recording = self.record(|commands| scan.issue(commands, numbers.span(), numbers.span()))?;
        recording.run()?;
        // Sums of 0, 1, 2, ...: n (n - 1) / 2.
        Ok(numbers.download()?.into_iter().zip(0_u32..).all(|(sum, n)| 2 * sum == n * n.saturating_sub(1)))
    }

    /// Waits until all commands have run.
    ///
    /// # Errors
    /// What failed since the last time, on a GPU; most such failures are [`DeviceError::Lost`].
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        match &self.shared.backend {
            Backend::Gpu(gpu) => gpu.synchronize(),
            Backend::Emulated(_) => Ok(()),
        }
    }
}

/// Commands made ready to be run many times.
#[derive(Debug)]
pub struct Recording {
    // Before `shared`: the graph goes while its context is there.
    graph: Option<driver::Graph>,
    commands: Commands,
    shared: Arc<Shared>,
}

impl Recording {
    /// Runs the commands.
    ///
    /// # Errors
    /// As [`Device::launch`]; [`DeviceError::DanglingSpan`] where a buffer of the recording has grown or gone.
    pub fn run(&self) -> Result<(), DeviceError> {
        let allocations = self.shared.lock();
        check_spans(&allocations, &self.commands.list)?;
        match (&self.shared.backend, &self.graph) {
            (Backend::Gpu(gpu), Some(graph)) => gpu.launch_graph(graph),
            _ => self.shared.run(&self.commands.list),
        }
    }
}

/// Whether all spans of the commands lie in live buffers.
fn check_spans(allocations: &BTreeMap<u64, u64>, commands: &[Command]) -> Result<(), DeviceError> {
    for command in commands {
        for span in command.spans() {
            let lies_within = |(start, size): (&u64, &u64)| {
                span.bytes <= *size
                    && span.address - start <= size - span.bytes
                    && span.address % span.align == 0
            };
            let owner = allocations.range(..=span.address).next_back();
            if span.bytes > 0 && !owner.is_some_and(lies_within) {
                let (address, bytes) = (span.address, span.bytes);
                return Err(DeviceError::DanglingSpan { command: command.name(), address, bytes });
            }
        }
    }
    Ok(())
}

impl Shared {
    // The map is whole even where a thread panicked with it.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, commands: &[Command]) -> Result<(), DeviceError> {
        for command in commands {
            match &self.backend {
                Backend::Gpu(gpu) => gpu.issue(command)?,
                Backend::Emulated(emulator) => emulator.issue(command)?,
            }
        }
        Ok(())
    }

    fn memory(&self, allocations: &BTreeMap<u64, u64>) -> Result<Memory, DeviceError> {
        match &self.backend {
            Backend::Gpu(gpu) => gpu.memory(),
            Backend::Emulated(_) => {
                let total = Emulator::MEMORY;
                Ok(Memory { free: total.saturating_sub(allocations.values().sum()), total })
            }
        }
    }

    /// The address of fresh memory; 0 for none.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<u64, DeviceError> {
        if bytes == 0 {
            return Ok(0);
        }
        let mut allocations = self.lock();
        let address = match &self.backend {
            Backend::Gpu(gpu) => gpu.allocate(bytes)?,
            Backend::Emulated(emulator) => {
                let Memory { free, total } = self.memory(&allocations)?;
                let given = if bytes <= free { emulator.allocate(bytes) } else { None };
                given.ok_or(DeviceError::OutOfMemory { asked: bytes, free, total })?
            }
        };
        allocations.insert(address, bytes);
        Ok(address)
    }

    pub(crate) fn release(&self, address: u64) {
        let mut allocations = self.lock();
        if allocations.remove(&address).is_some() {
            match &self.backend {
                Backend::Gpu(gpu) => gpu.release(address),
                Backend::Emulated(emulator) => emulator.release(address),
            }
        }
    }

    pub(crate) fn upload(&self, to: RawSpan, values: &[u8]) -> Result<(), DeviceError> {
        let _held = self.lock();
        match &self.backend {
            Backend::Gpu(gpu) => gpu.upload(to, values),
            Backend::Emulated(emulator) => {
                emulator.upload(to, values);
                Ok(())
            }
        }
    }

    pub(crate) fn download(&self, from: RawSpan, values: &mut [u8]) -> Result<(), DeviceError> {
        let _held = self.lock();
        match &self.backend {
            Backend::Gpu(gpu) => gpu.download(from, values),
            Backend::Emulated(emulator) => {
                emulator.download(from, values);
                Ok(())
            }
        }
    }

    /// Writes the pattern over and over.
    pub(crate) fn fill(&self, to: RawSpan, pattern: &[u8]) -> Result<(), DeviceError> {
        let _held = self.lock();
        match &self.backend {
            Backend::Gpu(gpu) => gpu.fill(to, pattern),
            Backend::Emulated(emulator) => {
                emulator.fill(to, pattern);
                Ok(())
            }
        }
    }

    pub(crate) fn copy(&self, from: RawSpan, to: RawSpan) -> Result<(), DeviceError> {
        let _held = self.lock();
        self.run(&[Command::Copy { spans: [from, to] }])
    }
}
