//! What all handles of a device share: its backend and the buffers that live on it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::command::Command;
use crate::driver::Gpu;
use crate::emulated::Emulator;
use crate::error::DeviceError;
use crate::layout::RawSpan;
use crate::memory::DeviceMemoryInfo;

#[derive(Debug)]
pub(crate) enum DeviceKind {
    Gpu(Gpu),
    Emulated(Emulator),
}

/// A device and the buffers that live on it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub backend: DeviceKind,
    /// Address and size of each buffer. Held while anything touches device memory, so that no
    /// buffer goes away between a launch's check and the launch, and so that the emulation is never
    /// in two threads at once.
    pub allocations: Mutex<BTreeMap<u64, u64>>,
}

impl Shared {
    // The map is whole even where a thread panicked with it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
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

    pub(crate) fn memory(&self, allocations: &BTreeMap<u64, u64>) -> Result<DeviceMemoryInfo, DeviceError> {
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.memory(),
            DeviceKind::Emulated(_) => {
                let total = Emulator::MEMORY;
                Ok(DeviceMemoryInfo { free: total.saturating_sub(allocations.values().sum()), total })
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
        allocations.insert(address, bytes);
        Ok(address)
    }

    pub(crate) fn release(&self, address: u64) {
        let mut allocations = self.lock();
        if allocations.remove(&address).is_some() {
            match &self.backend {
                DeviceKind::Gpu(gpu) => gpu.release(address),
                DeviceKind::Emulated(emulator) => emulator.release(address),
            }
        }
    }

    pub(crate) fn upload(&self, to: RawSpan, values: &[u8]) -> Result<(), DeviceError> {
        let _held = self.lock();
        match &self.backend {
            DeviceKind::Gpu(gpu) => gpu.upload(to, values),
            DeviceKind::Emulated(emulator) => {
                emulator.upload(to, values);
                Ok(())
            }
        }
    }

    pub(crate) fn download(&self, from: RawSpan, values: &mut [u8]) -> Result<(), DeviceError> {
        let _held = self.lock();
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

/// Whether all spans of the commands lie in live buffers.
pub(crate) fn check_spans(allocations: &BTreeMap<u64, u64>, commands: &[Command]) -> Result<(), DeviceError> {
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
