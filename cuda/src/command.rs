//! Commands to a device: launches and copies, in order.

use std::sync::Arc;

use crate::host_memory::HostMemory;
use crate::kernels::{Kernel, Parameters};
use crate::layout::{DeviceType, RawSpan, Span};

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along x, y, z.
    pub blocks: [u32; 3],
    /// Threads of a block along x, y, z.
    pub threads: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// Whether all blocks must be resident at once, as grid barriers need.
    pub cooperative: bool,
}

impl Launch {
    /// `blocks` blocks of `threads` threads, in one dimension.
    pub fn new(blocks: u32, threads: u32) -> Self {
        Self { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared: 0, cooperative: false }
    }

    /// As many blocks as `items` need when each takes `per_block` of them, and at least one.
    pub fn over(items: u32, per_block: u32, threads: u32) -> Self {
        Self::new(items.div_ceil(per_block.max(1)).max(1), threads)
    }

    /// With dynamic shared memory for each block, in bytes.
    #[must_use]
    pub fn with_shared(self, bytes: u32) -> Self {
        Self { shared: bytes, ..self }
    }

    /// With all blocks resident at once;
    /// [`Device::resident_blocks`](crate::Device::resident_blocks) bounds their number.
    #[must_use]
    pub fn cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Command {
    Launch {
        kernel: Kernel,
        launch: Launch,
        /// The parameters, aligned as every parameter structure is.
        parameters: Vec<u64>,
        bytes: usize,
        spans: Vec<RawSpan>,
    },
    /// Zero bytes.
    Clear { to: RawSpan },
    /// From the first span to the second, which are equally long.
    Copy { spans: [RawSpan; 2] },
    /// To the span, as many bytes as it has.
    FromHost { from: Arc<HostMemory>, to: RawSpan },
    /// From the span, as many bytes as it has.
    ToHost { from: RawSpan, to: Arc<HostMemory> },
}

impl Command {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Launch { kernel, .. } => kernel.name(),
            Self::Clear { .. } => "clear",
            Self::Copy { .. } => "copy",
            Self::FromHost { .. } => "copy from host",
            Self::ToHost { .. } => "copy to host",
        }
    }

    pub(crate) fn spans(&self) -> &[RawSpan] {
        match self {
            Self::Launch { spans, .. } => spans,
            Self::Clear { to } | Self::FromHost { to, .. } => std::slice::from_ref(to),
            Self::ToHost { from, .. } => std::slice::from_ref(from),
            Self::Copy { spans } => spans,
        }
    }
}

/// Launches and copies in the order they run, each of which sees what the ones before it wrote.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    pub(crate) list: Vec<Command>,
}

impl Commands {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Launches the kernel that the parameters are for.
    pub fn launch<P: Parameters>(&mut self, launch: Launch, parameters: &P) -> &mut Self {
        let bytes = size_of::<P>();
        let mut words = vec![0u64; bytes.div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes]
            .copy_from_slice(bytemuck::bytes_of(parameters));
        let mut spans = Vec::new();
        parameters.each_span(&mut |span| spans.push(span));
        self.list.push(Command::Launch { kernel: P::KERNEL, launch, parameters: words, bytes, spans });
        self
    }

    /// Sets all bytes of a span to zero.
    pub fn clear<T: DeviceType>(&mut self, span: Span<T>) -> &mut Self {
        self.list.push(Command::Clear { to: span.raw() });
        self
    }

    /// Copies the beginning of a span to that of another one, as many elements as both have.
    pub fn copy<T: DeviceType>(&mut self, from: Span<T>, to: Span<T>) -> &mut Self {
        let length = from.len().min(to.len());
        self.list.push(Command::Copy { spans: [from.first(length).raw(), to.first(length).raw()] });
        self
    }

    /// Copies the beginning of the host's memory to a span, as many bytes as both have.
    pub(crate) fn copy_in<T: DeviceType>(&mut self, from: &Arc<HostMemory>, to: Span<T>) -> &mut Self {
        let to = RawSpan { bytes: to.raw().bytes.min(from.bytes()), ..to.raw() };
        self.list.push(Command::FromHost { from: from.clone(), to });
        self
    }

    /// Copies a span to the beginning of the host's memory, as many bytes as both have.
    pub(crate) fn copy_out<T: DeviceType>(&mut self, from: Span<T>, to: &Arc<HostMemory>) -> &mut Self {
        let from = RawSpan { bytes: from.raw().bytes.min(to.bytes()), ..from.raw() };
        self.list.push(Command::ToHost { from, to: to.clone() });
        self
    }

    /// Number of commands.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
