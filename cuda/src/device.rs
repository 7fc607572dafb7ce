//! Devices: a GPU, or its emulation by the processor.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::buffer::Buffer;
use crate::command::{Commands, Launch};
use crate::cubin::KernelImage;
use crate::driver::{self, Gpu};
use crate::emulated::Emulator;
use crate::error::DeviceError;
use crate::host_memory::HostMemory;
use crate::kernels::{Kernel, Parameters};
use crate::layout::{DeviceType, RawSpan};
use crate::memory::DeviceMemoryInfo;
use crate::shared::{DeviceKind, HostCopies, Shared};

/// A GPU, or its emulation. Handles are cheap to clone and share one queue of commands.
#[derive(Clone, Debug)]
pub struct Device {
    shared: Arc<Shared>,
}

impl Device {
    /// Whether this build has the emulated device.
    pub const IS_EMULATION_BUILT: bool = cfg!(feature = "emulated");

    /// The GPU of number `ordinal`, from 0, with all kernels loaded.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`], [`DeviceError::DriverTooOld`], [`DeviceError::NoSuchDevice`],
    /// [`DeviceError::DeviceTooOld`], [`DeviceError::KernelsDoNotLoad`],
    /// [`DeviceError::MissingKernel`], or another failure of the driver.
    pub fn cuda(ordinal: u32) -> Result<Self, DeviceError> {
        Ok(Self::of(DeviceKind::Gpu(Gpu::open(ordinal)?)))
    }

    /// A device emulated by this thread's processor. The seed chooses the order in which blocks,
    /// warps and lanes run.
    ///
    /// # Errors
    /// [`DeviceError::NotEmulated`] where the feature `emulated` is off.
    pub fn emulated(seed: u64) -> Result<Self, DeviceError> {
        Ok(Self::of(DeviceKind::Emulated(Emulator::built_in(seed)?)))
    }

    /// A device emulated by another build of this crate's kernels and emulation, one with
    /// sanitizers for example.
    ///
    /// # Errors
    /// [`DeviceError::EmulationLibrary`] where it does not load.
    ///
    /// # Safety
    /// The library must be built from the sources of this very crate.
    pub unsafe fn emulated_by(library: &Path, seed: u64) -> Result<Self, DeviceError> {
        // SAFETY: the caller's promise.
        let emulator = unsafe { Emulator::loaded(library, seed) }?;
        Ok(Self::of(DeviceKind::Emulated(emulator)))
    }

    /// Another queue of commands to the same device, with memory of its own: what runs in one does
    /// not wait for what runs in another, and buffers of one are no use in another. The kernels are
    /// not loaded again. Of the emulated device it is another one, with a schedule of its own.
    ///
    /// # Errors
    /// Those of the device.
    pub fn queue(&self) -> Result<Self, DeviceError> {
        Ok(Self::of(match &self.shared.backend {
            DeviceKind::Gpu(gpu) => DeviceKind::Gpu(gpu.queue()?),
            DeviceKind::Emulated(emulator) => DeviceKind::Emulated(emulator.queue()?),
        }))
    }

    fn of(backend: DeviceKind) -> Self {
        Self { shared: Arc::new(Shared { backend, allocations: Mutex::default() }) }
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        match &self.shared.backend {
            DeviceKind::Gpu(gpu) => gpu.name(),
            DeviceKind::Emulated(_) => "emulated device",
        }
    }

    /// Whether kernels run on the processor.
    pub fn is_emulated(&self) -> bool {
        matches!(self.shared.backend, DeviceKind::Emulated(_))
    }

    /// What the kernels were loaded from; nothing on the emulated device, which has them built in.
    pub fn kernel_image(&self) -> Option<&KernelImage> {
        match &self.shared.backend {
            DeviceKind::Gpu(gpu) => Some(gpu.kernel_image()),
            DeviceKind::Emulated(_) => None,
        }
    }

    /// What its memory holds.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn memory(&self) -> Result<DeviceMemoryInfo, DeviceError> {
        let allocations = self.shared.lock();
        self.shared.memory(&allocations)
    }

    /// Refuses what is larger than what is free, before any of it is allocated.
    pub(crate) fn check_free(&self, asked: u64) -> Result<(), DeviceError> {
        let DeviceMemoryInfo { free, total } = self.memory()?;
        if asked <= free { Ok(()) } else { Err(DeviceError::OutOfMemory { asked, free, total }) }
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        match &self.shared.backend {
            DeviceKind::Gpu(gpu) => gpu.multiprocessors(),
            DeviceKind::Emulated(emulator) => emulator.multiprocessors(),
        }
    }

    /// Blocks of a kernel that the device can hold at once, the most that a cooperative launch can
    /// have.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn resident_blocks(&self, kernel: Kernel, threads: u32, shared: u32) -> Result<u32, DeviceError> {
        match &self.shared.backend {
            DeviceKind::Gpu(gpu) => gpu.resident_blocks(kernel, threads, shared),
            DeviceKind::Emulated(emulator) => Ok(emulator.resident_threads() / threads.max(1)),
        }
    }

    /// Blocks of cooperative launches of these kernels: a few a multiprocessor keep it busy, and
    /// more of them make barriers slow.
    pub(crate) fn cooperative_blocks(&self, kernels: &[Kernel], threads: u32) -> Result<u32, DeviceError> {
        let most = (4 * self.multiprocessors()).max(1);
        kernels.iter().try_fold(most, |blocks, kernel| {
            Ok(blocks.min(self.resident_blocks(*kernel, threads, 0)?).max(1))
        })
    }

    /// Memory for `length` elements.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], [`DeviceError::BufferTooLong`], or another failure of the
    /// driver.
    pub fn allocate<T: DeviceType>(&self, length: usize) -> Result<Buffer<T>, DeviceError> {
        Buffer::new(self.shared.clone(), length)
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
    /// [`DeviceError::DanglingSpan`], [`DeviceError::Launch`]; [`DeviceError::Emulation`] where an
    /// emulated kernel breaks a rule; on a GPU, failures of earlier launches.
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
        let mut allocations = self.shared.lock();
        allocations.check(&commands.list)?;
        allocations.count_copies(&commands.list);
        self.shared.run(&commands.list)
    }

    /// Prepares commands to be run many times: on a GPU as a graph, which the driver starts in one
    /// call.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn record(&self, give: impl FnOnce(&mut Commands)) -> Result<Recording, DeviceError> {
        let mut commands = Commands::new();
        give(&mut commands);
        let allocations = self.shared.lock();
        allocations.check(&commands.list)?;
        let released = AtomicU64::new(allocations.released);
        let graph = match &self.shared.backend {
            DeviceKind::Gpu(gpu) => Some(gpu.capture(&commands.list)?),
            DeviceKind::Emulated(_) => None,
        };
        Ok(Recording { graph, commands, released, shared: self.shared.clone() })
    }

    /// Copies between host and device so far: each that the host waits for takes some ten
    /// microseconds on a GPU, however little it moves.
    pub fn host_copies(&self) -> HostCopies {
        self.shared.lock().copies
    }

    pub(crate) fn host_memory(&self, bytes: u64) -> Result<HostMemory, DeviceError> {
        HostMemory::new(self.shared.clone(), bytes)
    }

    /// Whether all spans that `command` is given lie in live buffers.
    pub(crate) fn check_spans(&self, command: &'static str, spans: &[RawSpan]) -> Result<(), DeviceError> {
        self.shared.lock().check_spans(command, spans)
    }

    /// Waits until all commands have run.
    ///
    /// # Errors
    /// What failed since the last time, on a GPU; most such failures are [`DeviceError::Lost`].
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        // Another thread may be recording a graph, which a wait for the stream would break.
        let _held = self.shared.lock();
        match &self.shared.backend {
            DeviceKind::Gpu(gpu) => gpu.synchronize(),
            DeviceKind::Emulated(_) => Ok(()),
        }
    }
}

/// Commands made ready to be run many times.
#[derive(Debug)]
pub struct Recording {
    // Before `shared`: the graph goes while its context is there.
    graph: Option<driver::Graph>,
    commands: Commands,
    /// Buffers that had gone when the spans were checked.
    released: AtomicU64,
    shared: Arc<Shared>,
}

impl Recording {
    /// Runs the commands.
    ///
    /// # Errors
    /// As [`Device::launch`]; [`DeviceError::DanglingSpan`] where a buffer of the recording has
    /// grown or gone.
    pub fn run(&self) -> Result<(), DeviceError> {
        let mut allocations = self.shared.lock();
        if allocations.released != self.released.load(Ordering::Relaxed) {
            // Some buffer has gone since, of the recording or another.
            allocations.check(&self.commands.list)?;
            self.released.store(allocations.released, Ordering::Relaxed);
        }
        allocations.count_copies(&self.commands.list);
        match (&self.shared.backend, &self.graph) {
            (DeviceKind::Gpu(gpu), Some(graph)) => gpu.launch_graph(graph),
            _ => self.shared.run(&self.commands.list),
        }
    }
}
