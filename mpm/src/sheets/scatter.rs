//! What the sheets found goes to their lanes.

use super::{Member, Sheets, Vertex, is_cloth, lanes};
use crate::arena::Window;
use crate::g2p::{Extent, Outcome, check_positions, speed_squared};
use crate::scalar::Real;
use crate::simd::{Kernel, LANES, Lanes, Row, Simd};
use crate::tiles::{ParticleBlock, Tile, deformation, kinematics};

impl Sheets {
    /// Force on a vertex: of its faces, then of its hinges [N].
    fn force(&self, number: usize) -> [f32; 3] {
        let mut force = [0.0; 3];
        for &entry in self.around.of(number) {
            let (face, k) = (entry as usize / 4, entry as usize % 4);
            let row = &self.states[face / LANES].forces[face % LANES].0;
            for d in 0..3 {
                force[d] += row[3 * k + d];
            }
        }
        self.bending.add_force(number, &mut force);
        force
    }

    /// Writes a particle's lane.
    fn write(&self, id: usize, motion: &mut Tile, strain: &mut Tile, l: usize) {
        match self.members[id - self.first] {
            Member::Vertex(number) => {
                let Vertex { local, velocity, .. } = self.vertices[number as usize];
                let force = self.force(number as usize);
                for d in 0..3 {
                    motion[kinematics::POSITION + d].0[l] = local[d];
                    motion[kinematics::VELOCITY + d].0[l] = velocity[d];
                    strain[lanes::FORCE[d]].0[l] = force[d];
                    strain[lanes::MOMENT[d]].0[l] = 0.0;
                    strain[lanes::DIRECTOR[d]].0[l] = 0.0;
                }
            }
            Member::Face(number) => {
                let (state, face) = (&self.states[number as usize / LANES], number as usize % LANES);
                let (row, forces) = (&state.centroid[face].0, &state.forces[face].0);
                for d in 0..3 {
                    motion[kinematics::POSITION + d].0[l] = row[d];
                    motion[kinematics::VELOCITY + d].0[l] = row[3 + d];
                    strain[lanes::DIRECTOR[d]].0[l] = row[6 + d];
                    strain[lanes::FORCE[d]].0[l] = 0.0;
                    strain[lanes::MOMENT[d]].0[l] = forces[9 + d];
                }
                for n in 0..6 {
                    strain[deformation::STRESS_VOLUME + n].0[l] = row[9 + n];
                }
                strain[deformation::STATE].0[l] = row[15];
            }
        }
    }
}

/// Writes the lanes of cloth in one block, and measures the block again: window, outcome.
pub(crate) struct Scatter<'a> {
    pub sheets: &'a Sheets,
    /// Number of materials that are not cloth.
    pub materials: usize,
    pub block: &'a ParticleBlock,
    pub kinematics: &'a mut [Tile],
    pub deformation: &'a mut [Tile],
    pub window: &'a mut Window,
}

impl Kernel for Scatter<'_> {
    type Output = Option<Outcome>;

    /// None where the block has no cloth.
    #[inline(always)]
    fn run<S: Simd>(self) -> Option<Outcome> {
        let mut any = false;
        for (t, (motion, strain)) in self.kinematics.iter_mut().zip(self.deformation.iter_mut()).enumerate() {
            let lanes = self.block.lanes(t);
            for l in 0..lanes {
                if is_cloth(motion[kinematics::MATERIAL].0[l], self.materials) {
                    any = true;
                    self.sheets.write(motion[kinematics::ID].0[l].to_bits() as usize, motion, strain, l);
                }
            }
            // Padding is where the first lane is.
            for row in &mut motion[kinematics::POSITION..][..3] {
                let first = row.0[0];
                row.0[lanes..].fill(first);
            }
        }
        if !any {
            return None;
        }
        let mut outcome = Outcome::default();
        let mut extent = Extent::<S>::new();
        let mut fastest = Lanes::<S>::all(0.0);
        for (t, motion) in self.kinematics.iter().enumerate() {
            extent.include(motion);
            check_positions::<S>(motion, t, self.block.lanes(t), &mut outcome);
            fastest = fastest.max(speed_squared(motion));
        }
        let mut row = Row::ZERO;
        fastest.store(&mut row);
        outcome.speed_squared = row.0.iter().fold(0.0, |a, &b| a.max(b));
        *self.window = extent.window();
        Some(outcome)
    }
}
