//! What all handles of a device share: its backend and the buffers that live on it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::command::Command;
use crate::driver::Gpu;
use crate::emulated::Emulator;
use crate::error::DeviceError;
use crate::host_memory::{HostAllocator, HostMemory};
use crate::layout::RawSpan;
use crate::memory::DeviceMemoryInfo;

#[derive(Debug)]
pub(crate) enum DeviceKind {
    Gpu(Gpu),
    Emulated(Emulator),
}

/// The buffers that live on a device.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    /// Address and size of each.
    buffers: BTreeMap<u64, u64>,
    /// How many have gone: what was checked when as many had is still right.
    pub(crate) released: u64,
    /// Copies from the host and to it so far.
    pub(crate) copies: HostCopies,
}

/// Copies between host and device since the device was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCopies {
    /// From the host.
    pub uploads: u64,
    /// To the host.
    pub downloads: u64,
}

/// A device and the buffers that live on it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub backend: DeviceKind,
    /// Held while anything touches device memory, so that no buffer goes away between a launch's
    /// check and the launch, and so that the emulation is never in two threads at once.
    pub allocations: Mutex<Allocations>,
}

impl Shared {
    // The map is whole even where a thread panicked with it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Allocations> {
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run(&self, commands: &[Command]) -> Result<(), DeviceError> {
        for command in commands {
            match &self.backend {
                DeviceKind::Gpu(gpu) => gpu.issue(command)?,
                DeviceKind::Emulated(emulator) => emulator.issue(command)?,
            }
        }
        Ok(())
    }

    pub(crate) fn memory(&self, allocations: &Allocations) -> Result<DeviceMemoryInfo, DeviceError> {
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.memory(),
            DeviceKind::Emulated(_) => {
                let total = Emulator::MEMORY;
                Ok(DeviceMemoryInfo { free: total.saturating_sub(allocations.buffers.values().sum()), total })
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
            DeviceKind::Gpu(gpu) => gpu.allocate(bytes)?,
            DeviceKind::Emulated(emulator) => {
                let DeviceMemoryInfo { free, total } = self.memory(&allocations)?;
                let given = if bytes <= free { emulator.allocate(bytes) } else { None };
                given.ok_or(DeviceError::OutOfMemory { asked: bytes, free, total })?
            }
        };
        allocations.buffers.insert(address, bytes);
        Ok(address)
    }

    pub(crate) fn release(&self, address: u64) {
        let mut allocations = self.lock();
        if allocations.buffers.remove(&address).is_some() {
            allocations.released += 1;
            match &self.backend {
                DeviceKind::Gpu(gpu) => gpu.release(address),
                DeviceKind::Emulated(emulator) => emulator.release(address),
            }
        }
    }

    pub(crate) fn upload(&self, to: RawSpan, values: &[u8]) -> Result<(), DeviceError> {
        let mut held = self.lock();
        held.copies.uploads += 1;
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.upload(to, values),
            DeviceKind::Emulated(emulator) => {
                emulator.upload(to, values);
                Ok(())
            }
        }
    }

    pub(crate) fn download(&self, from: RawSpan, values: &mut [u8]) -> Result<(), DeviceError> {
        let mut held = self.lock();
        held.copies.downloads += 1;
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.download(from, values),
            DeviceKind::Emulated(emulator) => {
                emulator.download(from, values);
                Ok(())
            }
        }
    }

    /// Writes the pattern over and over.
    pub(crate) fn fill(&self, to: RawSpan, pattern: &[u8]) -> Result<(), DeviceError> {
        let _held = self.lock();
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.fill(to, pattern),
            DeviceKind::Emulated(emulator) => {
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

impl HostAllocator for Shared {
    fn allocate_host(&self, bytes: u64) -> Result<u64, DeviceError> {
        if bytes == 0 {
            return Ok(0);
        }
        let _held = self.lock();
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.allocate_host(bytes),
            DeviceKind::Emulated(emulator) => {
                let full = DeviceError::OutOfMemory { asked: bytes, free: 0, total: Emulator::MEMORY };
                emulator.allocate(bytes).ok_or(full)
            }
        }
    }

    fn release_host(&self, address: u64) {
        if address == 0 {
            return;
        }
        let _held = self.lock();
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.release_host(address),
            DeviceKind::Emulated(emulator) => emulator.release(address),
        }
    }

    fn write_host(&self, memory: &HostMemory, values: &[u8]) -> Result<(), DeviceError> {
        let _held = self.lock();
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.write_host(memory, values),
            DeviceKind::Emulated(emulator) => {
                emulator.write_host(memory, values);
                Ok(())
            }
        }
    }

    fn read_host(&self, memory: &HostMemory, values: &mut [u8]) -> Result<(), DeviceError> {
        let _held = self.lock();
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.read_host(memory, values),
            DeviceKind::Emulated(emulator) => {
                emulator.read_host(memory, values);
                Ok(())
            }
        }
    }
}

impl Allocations {
    /// Whether all spans of the commands lie in live buffers.
    pub(crate) fn check(&self, commands: &[Command]) -> Result<(), DeviceError> {
        commands.iter().try_for_each(|command| self.check_spans(command.name(), command.spans()))
    }

    /// Whether all spans of a command lie in live buffers.
    pub(crate) fn check_spans(&self, command: &'static str, spans: &[RawSpan]) -> Result<(), DeviceError> {
        for span in spans {
            let lies_within = |(start, size): (&u64, &u64)| {
                span.bytes <= *size
                    && span.address - start <= size - span.bytes
                    && span.address % span.align == 0
            };
            let owner = self.buffers.range(..=span.address).next_back();
            if span.bytes > 0 && !owner.is_some_and(lies_within) {
                let (address, bytes) = (span.address, span.bytes);
                return Err(DeviceError::DanglingSpan { command, address, bytes });
            }
        }
        Ok(())
    }

    /// Counts the copies between host and device in these commands.
    pub(crate) fn count_copies(&mut self, commands: &[Command]) {
        for command in commands {
            match command {
                Command::FromHost { .. } => self.copies.uploads += 1,
                Command::ToHost { .. } => self.copies.downloads += 1,
                _ => {}
            }
        }
    }
}
