//! Penetration of rigid bodies.

use pliant_coupling::World;

/// Statistics of the depths of overlapping contacts, over contact points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PenetrationStatistics {
    /// Number of overlapping contacts \[-\].
    pub count: usize,
    /// Deepest \[m\].
    pub deepest: f64,
    sum: f64,
    squares: f64,
}

impl PenetrationStatistics {
    /// Those of the contacts of a world's last step, at its start.
    pub fn of(world: &World) -> Self {
        let mut depths = Self::default();
        depths.look(world);
        depths
    }

    /// Adds those of the contacts of the last step.
    pub fn look(&mut self, world: &World) {
        for contact in world.bodies().simulation().contact_forces() {
            self.add(-contact.candidate.distance);
        }
    }

    /// Adds one \[m\]; gaps do not count.
    pub fn add(&mut self, depth: f64) {
        if depth > 0.0 {
            self.count += 1;
            self.deepest = self.deepest.max(depth);
            self.sum += depth;
            self.squares += depth * depth;
        }
    }

    /// Mean \[m\]; 0 without overlaps.
    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// Standard deviation \[m\].
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        (self.squares / self.count.max(1) as f64 - mean * mean).max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: mean and deviation of 1, 2, 3, 6 are 3 and sqrt(3.5); gaps do not count.
    #[test]
    fn depths_have_their_mean_and_deviation() {
        let mut depths = PenetrationStatistics::default();
        [1.0, -5.0, 2.0, 3.0, 0.0, 6.0].into_iter().for_each(|d| depths.add(d));
        assert_eq!((depths.count, depths.deepest, depths.mean()), (4, 6.0, 3.0));
        assert!((depths.deviation() - 3.5_f64.sqrt()).abs() < 1e-12);
    }
}
