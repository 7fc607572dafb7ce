//! Memory of the host that a device copies from and to by itself.

use std::sync::Arc;

use crate::error::DeviceError;

/// What gives memory of the host, copies to and from it, and takes it back.
pub(crate) trait HostAllocator: std::fmt::Debug + Send + Sync {
    /// The address of zero bytes that the device copies from and to; 0 for none.
    fn allocate_host(&self, bytes: u64) -> Result<u64, DeviceError>;

    fn release_host(&self, address: u64);

    /// Writes the memory's beginning, once all commands given so far have run.
    fn write_host(&self, memory: &HostMemory, values: &[u8]) -> Result<(), DeviceError>;

    /// Reads the memory's beginning, once all commands given so far have run.
    fn read_host(&self, memory: &HostMemory, values: &mut [u8]) -> Result<(), DeviceError>;
}

/// Memory of the host at a fixed address, aligned to 16 bytes; on a GPU it is pinned, so that
/// copies in a graph need no help. Whoever reads or writes it first waits for the device.
#[derive(Debug)]
pub(crate) struct HostMemory {
    device: Arc<dyn HostAllocator>,
    address: u64,
    bytes: u64,
}

impl HostMemory {
    /// Zero bytes in all of it.
    pub(crate) fn new(device: Arc<dyn HostAllocator>, bytes: u64) -> Result<Self, DeviceError> {
        let address = device.allocate_host(bytes)?;
        Ok(Self { device, address, bytes })
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes its beginning, once all commands given so far have run.
    pub(crate) fn write(&self, values: &[u8]) -> Result<(), DeviceError> {
        self.check(values.len())?;
        self.device.write_host(self, values)
    }

    /// Reads its beginning, once all commands given so far have run.
    pub(crate) fn read(&self, values: &mut [u8]) -> Result<(), DeviceError> {
        self.check(values.len())?;
        self.device.read_host(self, values)
    }

    fn check(&self, given: usize) -> Result<(), DeviceError> {
        let length = self.bytes as usize;
        if given <= length {
            return Ok(());
        }
        Err(DeviceError::LengthMismatch { given, first: 0, length })
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        self.device.release_host(self.address);
    }
}
