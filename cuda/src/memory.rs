//! Sizes of device memory.

/// What a device's memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemoryInfo {
    /// Free, in bytes.
    pub free: u64,
    /// In all, in bytes.
    pub total: u64,
}
