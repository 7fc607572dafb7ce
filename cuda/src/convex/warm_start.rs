//! The velocities that the last solve left on the grid, from the device and to it: what the next
//! solve starts from.

use pliant_coupling::NodeVelocity;

use super::{ConvexError, DeviceConvexSolver};
use crate::DeviceError;
use crate::kernels::KEY_BITS;

/// The key of a node in the table.
fn key_of(node: [i32; 3]) -> u64 {
    let mask = (1 << KEY_BITS) - 1;
    let pack = |key: u64, x: i32| key << KEY_BITS | u64::from(x as u32) & mask;
    1 << (3 * KEY_BITS) | node.into_iter().fold(0, pack)
}

/// The node of a key.
fn node_of(key: u64) -> [i32; 3] {
    [2, 1, 0].map(|axis| {
        let low = (key >> (axis * KEY_BITS)) as i32;
        // The coordinate's own sign.
        low << (32 - KEY_BITS) >> (32 - KEY_BITS)
    })
}

/// Where the search for a key begins, before the mask: Fibonacci hashing (Knuth, TAOCP 3, 6.4), as
/// the kernel does it.
fn home_of(key: u64) -> u32 {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

impl DeviceConvexSolver {
    /// What the last solve left, in ascending order of the nodes. Waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn save_velocities(&self) -> Result<Vec<NodeVelocity>, DeviceError> {
        let mut state = [0; 2];
        self.table.state.download_at(0, &mut state)?;
        let [half, mask] = state;
        if mask == 0 {
            return Ok(Vec::new());
        }
        let (places, first) = (mask as usize + 1, half as usize * self.table.first.len());
        let (mut keys, mut numbers) = (vec![0; places], vec![0; places]);
        self.table.keys.download_at(first, &mut keys)?;
        self.table.numbers.download_at(first, &mut numbers)?;
        let velocities = self.velocities.download()?;
        let taken = keys.iter().zip(&numbers).filter(|(key, _)| **key != 0);
        let left = |(key, number): (&u64, &u32)| {
            let velocity = velocities.get(*number as usize)?;
            Some(NodeVelocity { node: node_of(*key), velocity: *velocity })
        };
        let mut all: Vec<_> = taken.filter_map(left).collect();
        all.sort_unstable_by_key(|left| left.node);
        Ok(all)
    }

    /// Has the next solve start from these velocities, of nodes that differ from each other, and
    /// from free ones elsewhere.
    ///
    /// # Errors
    /// [`ConvexError::CapacityExceeded`] where there are more nodes than the capacity
    /// ([`DeviceConvexSolver::grow`]); those of the device.
    pub fn restore_velocities(&mut self, left: &[NodeVelocity]) -> Result<(), ConvexError> {
        if left.len() > self.node_capacity as usize {
            return Err(self.capacity_exceeded());
        }
        if left.is_empty() {
            return Ok(self.table.state.upload(&[0; 2])?);
        }
        let places = (2 * left.len()).next_power_of_two().max(64);
        let mask = places as u32 - 1;
        let (mut keys, mut numbers) = (vec![0; places], vec![0; places]);
        for (number, left) in (0..).zip(left) {
            let key = key_of(left.node);
            let mut at = home_of(key) & mask;
            // At most half of the places are taken.
            while keys[at as usize] != 0 {
                at = (at + 1) & mask;
            }
            keys[at as usize] = key;
            numbers[at as usize] = number;
        }
        let velocities: Vec<_> = left.iter().map(|left| left.velocity).collect();
        self.table.keys.upload_at(0, &keys)?;
        self.table.numbers.upload_at(0, &numbers)?;
        self.velocities.upload_at(0, &velocities)?;
        Ok(self.table.state.upload(&[0, mask])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The law: packing loses nothing of coordinates within 20 bits and a sign, the kernels' range.
    #[test]
    fn keys_keep_nodes() {
        let most = (1 << 20) - 1;
        for node in [[0, 0, 0], [1, -1, 2], [-most, most, -7], [most, -most - 1, most]] {
            assert_eq!(node_of(key_of(node)), node);
            assert_ne!(key_of(node), 0);
        }
    }
}
