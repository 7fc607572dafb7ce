//! A GPU: memory, launches, graphs.

use std::ffi::{CString, c_int, c_void};
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};

use super::{GpuInfo, device, device_count, failed, initialise, reason};
use crate::command::{Command, Launch};
use crate::cubin::{self, KernelImage};
use crate::error::DeviceError;
use crate::host_memory::HostMemory;
use crate::kernels::Kernel;
use crate::layout::RawSpan;
use crate::memory::DeviceMemoryInfo;
use crate::ptx::PTX;

/// The compute capability that the kernels are compiled for.
const NEEDED_CAPABILITY: (u32, u32) = (8, 0);
/// Dynamic shared memory of a block that needs no leave, in bytes.
const PLAIN_SHARED: u32 = 48 * 1024;

/// A queue of commands to a GPU: a stream of its own, with the context and the kernels that all
/// queues of the GPU share.
#[derive(Debug)]
pub(crate) struct Gpu {
    loaded: Arc<LoadedGpu>,
    stream: sys::CUstream,
}

/// A GPU with its primary context and the kernels.
#[derive(Debug)]
struct LoadedGpu {
    info: GpuInfo,
    device: sys::CUdevice,
    context: sys::CUcontext,
    module: sys::CUmodule,
    kernel_image: KernelImage,
    /// In the order of [`Kernel::ALL`].
    functions: Vec<Option<sys::CUfunction>>,
}

// SAFETY: handles of the driver may be used from any thread that has made the context its own,
// which every method does.
unsafe impl Send for Gpu {}
// SAFETY: as above; the driver is thread-safe.
unsafe impl Sync for Gpu {}
// SAFETY: as for `Gpu`.
unsafe impl Send for LoadedGpu {}
// SAFETY: as above.
unsafe impl Sync for LoadedGpu {}

/// The calling thread has a context of ours. When this goes it has the one that it had, so that
/// other libraries in the thread find theirs.
struct Entered {
    /// Null for none.
    before: sys::CUcontext,
    is_new: bool,
}

impl Entered {
    /// The context must be retained as long as this lives.
    fn into(context: sys::CUcontext) -> Result<Self, DeviceError> {
        let before = result::ctx::get_current().map_err(failed("cuCtxGetCurrent"))?;
        let before = before.unwrap_or(std::ptr::null_mut());
        let is_new = before != context;
        if is_new {
            // SAFETY: the context is retained.
            unsafe { result::ctx::set_current(context) }.map_err(failed("cuCtxSetCurrent"))?;
        }
        Ok(Self { before, is_new })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if self.is_new {
            // SAFETY: the context was current in this thread a moment ago, or is none. Nothing can be
            // done about a failure.
            let _ = unsafe { result::ctx::set_current(self.before) };
        }
    }
}

impl Gpu {
    pub(crate) fn open(ordinal: u32) -> Result<Self, DeviceError> {
        initialise()?;
        let count = device_count()?;
        if ordinal >= count {
            return Err(DeviceError::NoSuchDevice { ordinal, count });
        }
        let (device, info) = device(ordinal)?;
        if info.capability < NEEDED_CAPABILITY {
            return Err(DeviceError::DeviceTooOld { ordinal, name: info.name, capability: info.capability });
        }
        // SAFETY: the device is the driver's; the context is released when `gpu` goes.
        let context =
            unsafe { result::primary_ctx::retain(device) }.map_err(failed("cuDevicePrimaryCtxRetain"))?;
        let mut loaded = LoadedGpu {
            info,
            device,
            context,
            module: std::ptr::null_mut(),
            kernel_image: KernelImage::Ptx { reason: None },
            functions: Vec::new(),
        };
        let _entered = Entered::into(context)?;
        (loaded.module, loaded.kernel_image) = load_kernels(loaded.info.capability)?;
        for kernel in Kernel::ALL {
            loaded.functions.push(if kernel.is_on_gpu() {
                Some(find_function(loaded.module, *kernel)?)
            } else {
                None
            });
        }
        let (kernels, image) = (loaded.functions.len(), &loaded.kernel_image);
        tracing::debug!(device = loaded.info.name, kernels, %image, "a GPU is ready");
        Self::with_stream(Arc::new(loaded))
    }

    fn with_stream(loaded: Arc<LoadedGpu>) -> Result<Self, DeviceError> {
        let _entered = Entered::into(loaded.context)?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
            .map_err(failed("cuStreamCreate"))?;
        Ok(Self { loaded, stream })
    }

    /// Another queue of the same GPU.
    pub(crate) fn queue(&self) -> Result<Self, DeviceError> {
        Self::with_stream(self.loaded.clone())
    }

    /// Makes the context the calling thread's until what is returned goes.
    fn enter(&self) -> Result<Entered, DeviceError> {
        Entered::into(self.loaded.context)
    }

    fn function(&self, kernel: Kernel) -> Result<sys::CUfunction, DeviceError> {
        let found = self.loaded.functions.get(kernel as usize).copied().flatten();
        found.ok_or(DeviceError::MissingKernel { kernel: kernel.name() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.loaded.info.name
    }

    pub(crate) fn kernel_image(&self) -> &KernelImage {
        &self.loaded.kernel_image
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        self.loaded.info.multiprocessors
    }

    pub(crate) fn memory(&self) -> Result<DeviceMemoryInfo, DeviceError> {
        let _entered = self.enter()?;
        let (free, total) = result::mem_get_info().map_err(failed("cuMemGetInfo"))?;
        Ok(DeviceMemoryInfo { free: free as u64, total: total as u64 })
    }

    pub(crate) fn resident_blocks(
        &self,
        kernel: Kernel,
        threads: u32,
        shared: u32,
    ) -> Result<u32, DeviceError> {
        let _entered = self.enter()?;
        let function = self.function(kernel)?;
        self.allow_shared(function, shared).map_err(failed("cuFuncSetAttribute"))?;
        let (threads, shared) = (threads as c_int, shared as usize);
        // SAFETY: the function belongs to the loaded module.
        let blocks =
            unsafe { result::occupancy::max_active_block_per_multiprocessor(function, threads, shared) };
        let blocks = blocks.map_err(failed("cuOccupancyMaxActiveBlocksPerMultiprocessor"))?;
        Ok(blocks.unsigned_abs() * self.loaded.info.multiprocessors)
    }

    pub(crate) fn allocate(&self, bytes: u64) -> Result<u64, DeviceError> {
        let _entered = self.enter()?;
        // SAFETY: the memory is freed by `release`.
        match unsafe { result::malloc_sync(bytes as usize) } {
            Ok(address) => Ok(address),
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                let DeviceMemoryInfo { free, total } = self.memory()?;
                Err(DeviceError::OutOfMemory { asked: bytes, free, total })
            }
            Err(error) => Err(failed("cuMemAlloc")(error)),
        }
    }

    /// Frees what `allocate` gave, once what runs has ended; the caller calls this once for each.
    pub(crate) fn release(&self, address: u64) {
        // SAFETY: the address came from `allocate` and was not freed before.
        let freed = self
            .enter()
            .and_then(|_entered| unsafe { result::free_sync(address) }.map_err(failed("cuMemFree")));
        if let Err(error) = freed {
            tracing::warn!(%error, "device memory was not freed");
        }
    }

    /// The address of pinned memory of the host, zero in all of it.
    pub(crate) fn allocate_host(&self, bytes: u64) -> Result<u64, DeviceError> {
        let _entered = self.enter()?;
        // SAFETY: the memory is freed by `release_host`, and is this long.
        unsafe {
            let memory = result::malloc_host(bytes as usize, 0).map_err(failed("cuMemHostAlloc"))?;
            std::ptr::write_bytes(memory.cast::<u8>(), 0, bytes as usize);
            Ok(memory as u64)
        }
    }

    /// Frees what `allocate_host` gave, once what runs has ended; the caller calls this once for
    /// each.
    pub(crate) fn release_host(&self, address: u64) {
        let freed = self.synchronize().and_then(|()| {
            let _entered = self.enter()?;
            // SAFETY: the address came from `allocate_host` and was not freed before.
            unsafe { result::free_host(address as *mut c_void) }.map_err(failed("cuMemFreeHost"))
        });
        if let Err(error) = freed {
            tracing::warn!(%error, "pinned memory was not freed");
        }
    }

    /// Writes the beginning of pinned memory, once nothing runs that might read it.
    pub(crate) fn write_host(&self, memory: &HostMemory, values: &[u8]) -> Result<(), DeviceError> {
        self.synchronize()?;
        // SAFETY: the memory has room for the values (`HostMemory::check`), and nothing else uses it:
        // the stream is idle, and the caller holds the lock under which commands are given to it.
        unsafe {
            std::ptr::copy_nonoverlapping(values.as_ptr(), memory.address() as *mut u8, values.len());
        }
        Ok(())
    }

    /// Reads the beginning of pinned memory, once nothing runs that might write it.
    pub(crate) fn read_host(&self, memory: &HostMemory, values: &mut [u8]) -> Result<(), DeviceError> {
        self.synchronize()?;
        // SAFETY: as in `write_host`.
        unsafe {
            std::ptr::copy_nonoverlapping(memory.address() as *const u8, values.as_mut_ptr(), values.len());
        }
        Ok(())
    }

    pub(crate) fn upload(&self, to: RawSpan, values: &[u8]) -> Result<(), DeviceError> {
        if values.is_empty() {
            return Ok(());
        }
        let _entered = self.enter()?;
        // SAFETY: the span is in a live buffer and as long as the values, which stay until the copy
        // is done.
        unsafe { result::memcpy_htod_async(to.address, values, self.stream) }
            .map_err(failed("cuMemcpyHtoDAsync"))?;
        self.synchronize()
    }

    pub(crate) fn download(&self, from: RawSpan, values: &mut [u8]) -> Result<(), DeviceError> {
        if values.is_empty() {
            return Ok(());
        }
        let _entered = self.enter()?;
        // SAFETY: as in `upload`.
        unsafe { result::memcpy_dtoh_async(values, from.address, self.stream) }
            .map_err(failed("cuMemcpyDtoHAsync"))?;
        self.synchronize()
    }

    pub(crate) fn fill(&self, to: RawSpan, pattern: &[u8]) -> Result<(), DeviceError> {
        if pattern.iter().all(|byte| *byte == pattern[0]) {
            let _entered = self.enter()?;
            return self.set_bytes(to, pattern[0]);
        }
        self.upload(to, &pattern.repeat(to.bytes as usize / pattern.len()))
    }

    fn set_bytes(&self, to: RawSpan, byte: u8) -> Result<(), DeviceError> {
        if to.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the span is in a live buffer.
        unsafe { result::memset_d8_async(to.address, byte, to.bytes as usize, self.stream) }
            .map_err(failed("cuMemsetD8Async"))
    }

    /// Puts a command into the stream; its spans were checked.
    pub(crate) fn issue(&self, command: &Command) -> Result<(), DeviceError> {
        let _entered = self.enter()?;
        match command {
            Command::Launch { kernel, launch, parameters, .. } => self.launch(*kernel, *launch, parameters),
            Command::Clear { to } => self.set_bytes(*to, 0),
            Command::Copy { spans: [from, to] } if from.bytes > 0 => {
                let bytes = from.bytes as usize;
                // SAFETY: both spans are in live buffers and equally long.
                unsafe { result::memcpy_dtod_async(to.address, from.address, bytes, self.stream) }
                    .map_err(failed("cuMemcpyDtoDAsync"))
            }
            Command::Copy { .. } => Ok(()),
            Command::FromHost { from, to } => {
                // SAFETY: the memory is pinned, lives as long as the command, and has as many bytes as
                // the span at least, which lies in a live buffer. Nobody writes it before the copy is
                // done (`write_host`).
                unsafe {
                    let values = std::slice::from_raw_parts(from.address() as *const u8, to.bytes as usize);
                    result::memcpy_htod_async(to.address, values, self.stream)
                }
                .map_err(failed("cuMemcpyHtoDAsync"))
            }
            Command::ToHost { from, to } => {
                // SAFETY: as above; nobody reads it before the copy is done (`read_host`).
                unsafe {
                    let values = std::slice::from_raw_parts_mut(to.address() as *mut u8, from.bytes as usize);
                    result::memcpy_dtoh_async(values, from.address, self.stream)
                }
                .map_err(failed("cuMemcpyDtoHAsync"))
            }
        }
    }

    /// Raises the limit of a kernel's dynamic shared memory to what it is to have, where it has to
    /// be.
    fn allow_shared(&self, function: sys::CUfunction, shared: u32) -> Result<(), DriverError> {
        if shared <= PLAIN_SHARED {
            return Ok(());
        }
        let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function belongs to the loaded module.
        unsafe { result::function::set_function_attribute(function, attribute, shared as c_int) }
    }

    fn launch(&self, kernel: Kernel, launch: Launch, parameters: &[u64]) -> Result<(), DeviceError> {
        let function = self.function(kernel)?;
        let Launch { blocks, threads, shared, cooperative } = launch;
        let refused = |call| {
            move |error| match failed(call)(error) {
                lost @ DeviceError::Lost { .. } => lost,
                _ => {
                    let reason = reason(error);
                    DeviceError::Launch { kernel: kernel.name(), blocks, threads, shared, reason }
                }
            }
        };
        self.allow_shared(function, shared).map_err(refused("cuFuncSetAttribute"))?;
        let mut pointers = [parameters.as_ptr().cast_mut().cast::<c_void>()];
        let grid = (blocks[0], blocks[1], blocks[2]);
        let block = (threads[0], threads[1], threads[2]);
        // SAFETY: the kernel takes one structure by value, whose layout `parameters.cuh` checks;
        // the driver copies it before it returns. Its spans lie in live buffers; what the kernel
        // does within them is its own affair.
        let launched = unsafe {
            if cooperative {
                result::launch_cooperative_kernel(function, grid, block, shared, self.stream, &mut pointers)
            } else {
                result::launch_kernel(function, grid, block, shared, self.stream, &mut pointers)
            }
        };
        launched.map_err(refused("cuLaunchKernel"))
    }

    /// A graph of the commands. The caller holds the lock that keeps others from using the stream
    /// meanwhile.
    pub(crate) fn capture(&self, commands: &[Command]) -> Result<Graph, DeviceError> {
        let _entered = self.enter()?;
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives as long as `self`.
        unsafe { result::stream::begin_capture(self.stream, mode) }
            .map_err(failed("cuStreamBeginCapture"))?;
        let issued = commands.iter().try_for_each(|command| self.issue(command));
        // A capture that was begun is ended, whatever happened in it.
        // SAFETY: as above.
        let ended = unsafe { result::stream::end_capture(self.stream) }.map_err(failed("cuStreamEndCapture"));
        issued?;
        let template = ended?;
        // SAFETY: the graph is the one just made.
        let graph = unsafe { result::graph::instantiate(template, sys::CUgraphInstantiate_flags(0)) }
            .map_err(failed("cuGraphInstantiate"));
        // SAFETY: as above; the instance does not need it.
        let destroyed = unsafe { result::graph::destroy(template) }.map_err(failed("cuGraphDestroy"));
        let graph = Graph { handle: graph?, context: self.loaded.context };
        destroyed?;
        Ok(graph)
    }

    pub(crate) fn launch_graph(&self, graph: &Graph) -> Result<(), DeviceError> {
        let _entered = self.enter()?;
        // SAFETY: the graph belongs to this context; its spans were checked.
        unsafe { result::graph::launch(graph.handle, self.stream) }.map_err(failed("cuGraphLaunch"))
    }

    pub(crate) fn synchronize(&self) -> Result<(), DeviceError> {
        let _entered = self.enter()?;
        // SAFETY: the stream lives as long as `self`.
        unsafe { result::stream::synchronize(self.stream) }.map_err(failed("cuStreamSynchronize"))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // Nothing can be done about failures here, and after a lost device all of these fail.
        if let Ok(_entered) = self.enter() {
            // SAFETY: the handle is this structure's own.
            let _ = unsafe { result::stream::destroy(self.stream) };
        }
    }
}

impl Drop for LoadedGpu {
    fn drop(&mut self) {
        // As above.
        if let Ok(_entered) = Entered::into(self.context)
            && !self.module.is_null()
        {
            // SAFETY: the handle is this structure's own.
            let _ = unsafe { result::module::unload(self.module) };
        }
        // SAFETY: retained once, in `open`.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// An instantiated graph. Whoever holds one also holds its [`Gpu`].
#[derive(Debug)]
pub(crate) struct Graph {
    handle: sys::CUgraphExec,
    context: sys::CUcontext,
}

// SAFETY: as for `Gpu`; launches are serialised by the lock of `Shared`.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the context outlives the graph (`Recording` drops it first); destroyed once.
        unsafe {
            if let Ok(_entered) = Entered::into(self.context) {
                let _ = result::graph::exec_destroy(self.handle);
            }
        }
    }
}

/// Loads the kernels into the current context: from the cubin for its device where there is one
/// that the driver takes, else from the PTX.
fn load_kernels(capability: (u32, u32)) -> Result<(sys::CUmodule, KernelImage), DeviceError> {
    let reason = match cubin::find(capability) {
        Ok(found) => match load_module(&found.image) {
            Ok(module) => return Ok((module, KernelImage::Cubin { path: found.path })),
            // A driver may be older than the compiler that made the cubin.
            Err(error) => Some(format!("{}: {error}", found.path.display())),
        },
        Err(reason) => reason,
    };
    if let Some(reason) = &reason {
        tracing::warn!(reason, "the driver assembles the kernels, which may take a while");
    }
    let image = CString::new(PTX)
        .map_err(|error| DeviceError::KernelsDoNotLoad { reason: error.to_string(), log: String::new() })?;
    Ok((load_module(image.as_bytes_with_nul())?, KernelImage::Ptx { reason }))
}

/// Has the driver load an image, which is a whole cubin or PTX that ends with a zero.
fn load_module(image: &[u8]) -> Result<sys::CUmodule, DeviceError> {
    let mut log = vec![0u8; 16 * 1024];
    let mut options = [
        sys::CUjit_option_enum::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option_enum::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // The driver takes the values of small options in the place of pointers.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: the driver finds the end of the image, by its headers or by its zero; options and their values are equally many and outlive the
    // call.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    loaded.result().map_err(|error| {
        if let lost @ DeviceError::Lost { .. } = failed("cuModuleLoadDataEx")(error) {
            return lost;
        }
        let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
        let log = String::from_utf8_lossy(text).trim().to_owned();
        DeviceError::KernelsDoNotLoad { reason: reason(error), log }
    })?;
    Ok(module)
}

fn find_function(module: sys::CUmodule, kernel: Kernel) -> Result<sys::CUfunction, DeviceError> {
    let missing = DeviceError::MissingKernel { kernel: kernel.name() };
    let name = CString::new(kernel.name()).map_err(|_| missing.clone())?;
    // SAFETY: the module is loaded.
    match unsafe { result::module::get_function(module, name) } {
        Ok(function) => Ok(function),
        Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)) => Err(missing),
        Err(error) => Err(failed("cuModuleGetFunction")(error)),
    }
}
