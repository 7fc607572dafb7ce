//! A test of a device that a user can ask for.

use crate::algorithms::Scan;
use crate::device::Device;
use crate::error::DeviceError;
use crate::kernels::SCAN_TILE;

impl Device {
    /// Whether the device adds up a few numbers as it should: that it takes memory, loads kernels
    /// and runs them.
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
}
