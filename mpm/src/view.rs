//! The particles and the grid of the fast path, for reading.

use nalgebra::{Matrix3, Point3, Vector3};
use rayon::prelude::*;

use crate::cloth::ClothMaterial;
use crate::engine::Mpm;
use crate::particle::{ParticleExtent, ParticleState};
use crate::rope::RopeMaterial;
use crate::scratchpad::StencilBox;
use crate::sheets::lanes;
use crate::stored::ParticleRecord;
use crate::tiles::{BLOCK_CELLS, DeformationTile, KinematicsTile, ParticleBlock, deformation, kinematics};
use pliant_numeric::simd::LANES;

/// The particles of one block, for reading. Indices run over `0..len()` in the sorted order.
#[derive(Clone, Copy, Debug)]
pub struct BlockView<'a> {
    block: &'a ParticleBlock,
    kinematics: &'a [KinematicsTile],
    deformation: &'a [DeformationTile],
    grid_spacing: f64,
    origin: Vector3<f64>,
    densities: &'a [f64],
    /// Materials of the sheets, and of the ropes.
    sheets: &'a [ClothMaterial],
    ropes: &'a [RopeMaterial],
    /// Number of materials that are neither.
    materials: usize,
    /// Node blocks around this block, x slowest, z fastest, by index into [`Mpm::nodes`].
    pub node_blocks: &'a [u32; 27],
    stencil_box: &'a StencilBox,
}

impl Mpm {
    /// Number of blocks that hold particles.
    pub fn block_count(&self) -> usize {
        self.store.blocks.len()
    }

    /// The state of all particles, block by block, bit for bit as it is stored.
    pub fn stored_particles(&self) -> impl Iterator<Item = ParticleRecord> {
        (0..self.block_count()).flat_map(|b| {
            let view = self.block(b);
            (0..view.len()).map(move |i| view.stored(i))
        })
    }

    /// The particles of block `b`.
    pub fn block(&self, b: usize) -> BlockView<'_> {
        let block = &self.store.blocks[b];
        BlockView {
            block,
            kinematics: &self.store.kinematics[block.range()],
            deformation: &self.store.deformation[block.range()],
            grid_spacing: self.grid_spacing,
            origin: self.frame.origin,
            densities: &self.densities,
            sheets: self.sheet_materials(),
            ropes: self.rope_materials(),
            materials: self.materials.len(),
            node_blocks: &self.topology.nodes_of_particles[b],
            stencil_box: &self.stencil_boxes[b],
        }
    }

    /// The vertices of the face whose centroid is particle `id`: their block, and their index within
    /// it; none for other particles.
    pub fn face_corners(&self, id: u32) -> Option<[(BlockView<'_>, usize); 3]> {
        let corners = self.sheets.as_ref()?.corners_of(&self.store, id)?;
        Some(corners.map(|(block, i)| (self.block(block), i)))
    }

    /// Largest speed of a particle relative to a `velocity` (world frame) \[m/s\].
    pub fn max_speed_relative_to(&self, velocity: &Vector3<f64>) -> f64 {
        let velocity = [velocity.x as f32, velocity.y as f32, velocity.z as f32];
        let squares = (0..self.block_count()).into_par_iter().map(|b| self.block(b).largest_square(velocity));
        f64::from(squares.reduce(|| 0.0, f32::max)).sqrt()
    }

    /// Node blocks as they are now: after [`Mpm::particles_to_grid`], the free-motion velocities.
    pub fn nodes(&self) -> &[crate::blocks::NodeBlock] {
        &self.nodes
    }

    /// Node blocks, to change velocities before [`Mpm::grid_to_particles`].
    pub fn nodes_mut(&mut self) -> &mut [crate::blocks::NodeBlock] {
        &mut self.nodes
    }

    /// Block and index within it of the node at integer coordinates `node`; `None` where the grid
    /// has no block.
    pub fn find_node(&self, node: [i32; 3]) -> Option<(usize, usize)> {
        let key = node.map(|n| n.div_euclid(BLOCK_CELLS));
        let local = [0, 1, 2].map(|d| (node[d] - key[d] * BLOCK_CELLS) as usize);
        let block = self.topology.keys.binary_search(&key).ok()?;
        Some((block, (local[0] * 4 + local[1]) * 4 + local[2]))
    }

    /// World position \[m\] of node `node` of node block `block`.
    pub fn node_position(&self, block: usize, node: usize) -> Point3<f64> {
        let p = crate::grid::node_position(self.topology.keys[block], node);
        Point3::new(p[0], p[1], p[2]) * self.grid_spacing + self.frame.origin
    }

    /// Calls `visit(id, state)` for every particle, in the sorted order; `id` is its index when it
    /// was added.
    pub fn for_each_particle(&self, mut visit: impl FnMut(u32, &ParticleState)) {
        for b in 0..self.block_count() {
            let view = self.block(b);
            for i in 0..view.len() {
                visit(view.id(i), &view.state(i));
            }
        }
    }

    /// All particles in the order in which they were added.
    pub fn particles(&self) -> Vec<ParticleState> {
        let blank = ParticleState::new(Point3::origin(), Vector3::zeros(), 0.0, 0);
        let mut all = vec![blank; self.len()];
        self.for_each_particle(|id, state| all[id as usize] = *state);
        all
    }
}

impl BlockView<'_> {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.block.count as usize
    }

    /// Never true: blocks without particles are not kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn motion(&self, row: usize, i: usize) -> f32 {
        self.kinematics[i / LANES][row].0[i % LANES]
    }

    fn strain(&self, row: usize, i: usize) -> f32 {
        self.deformation[i / LANES][row].0[i % LANES]
    }

    fn motion_rows<const N: usize>(&self, first: usize, i: usize) -> [f32; N] {
        core::array::from_fn(|n| self.motion(first + n, i))
    }

    fn strain_rows<const N: usize>(&self, first: usize, i: usize) -> [f32; N] {
        core::array::from_fn(|n| self.strain(first + n, i))
    }

    /// Square of the largest speed relative to a velocity, world frame \[m^2/s^2\].
    pub(crate) fn largest_square(&self, velocity: [f32; 3]) -> f32 {
        let mut largest = [0.0_f32; LANES];
        for (t, tile) in self.kinematics.iter().enumerate().take(self.len().div_ceil(LANES)) {
            let lanes = (self.len() - t * LANES).min(LANES);
            let mut squares = [0.0_f32; LANES];
            for (d, v) in velocity.iter().enumerate() {
                let row = &tile[kinematics::VELOCITY + d].0;
                squares.iter_mut().zip(row).for_each(|(s, x)| *s += (x - v) * (x - v));
            }
            largest[..lanes].iter_mut().zip(squares).for_each(|(a, s)| *a = a.max(s));
        }
        largest.into_iter().fold(0.0, f32::max)
    }

    /// The block's lowest corner in integer node coordinates.
    pub fn corner_node(&self) -> [i32; 3] {
        self.block.key.map(|k| k.wrapping_mul(BLOCK_CELLS))
    }

    /// The block's lowest corner, world frame \[m\].
    pub fn corner(&self) -> Point3<f64> {
        let c = self.block.key.map(|k| f64::from(BLOCK_CELLS) * f64::from(k) * self.grid_spacing);
        Point3::new(c[0], c[1], c[2]) + self.origin
    }

    /// Edge of the block \[m\].
    pub fn edge(&self) -> f64 {
        f64::from(BLOCK_CELLS) * self.grid_spacing
    }

    /// Position in cells from the block's corner.
    pub fn local_position(&self, i: usize) -> [f64; 3] {
        let of = |row: usize| f64::from(self.motion(row, i));
        [0, 1, 2].map(|d| of(kinematics::POSITION + d) + of(kinematics::POSITION_LOW + d))
    }

    /// Position, world frame \[m\].
    pub fn position(&self, i: usize) -> Point3<f64> {
        let local = self.local_position(i);
        let key = self.block.key;
        let x =
            [0, 1, 2].map(|d| (f64::from(BLOCK_CELLS) * f64::from(key[d]) + local[d]) * self.grid_spacing);
        Point3::new(x[0], x[1], x[2]) + self.origin
    }

    /// Positions of the sixteen particles from index `16 tile` on, one row each for x, y and z, in
    /// cells from the block's corner, rounded to f32. Entries past the block's last particle are
    /// undefined.
    pub fn position_rows(&self, tile: usize) -> [&[f32; LANES]; 3] {
        [0, 1, 2].map(|d| &self.kinematics[tile][kinematics::POSITION + d].0)
    }

    /// Lowest and highest corner of a box that contains all particles up to rounding, found from
    /// their stencil box alone: it is larger than [`Self::local_bounds`] by up to a cell, along z
    /// by up to four. In cells from the block's corner.
    pub fn rough_bounds(&self) -> [[f64; 3]; 2] {
        self.stencil_box.bounds()
    }

    /// Lowest and highest corner of the particles' bounding box, in cells from the block's corner.
    pub fn local_bounds(&self) -> [[f64; 3]; 2] {
        // Lane by lane first, many at a time.
        let (mut lows, mut highs) = ([[f32::INFINITY; LANES]; 3], [[f32::NEG_INFINITY; LANES]; 3]);
        for tile in 0..self.kinematics.len() {
            let lanes = self.block.lanes(tile);
            for (d, row) in self.position_rows(tile).into_iter().enumerate() {
                // A full tile's length is known at compile time.
                let lanes = if lanes == LANES { LANES } else { lanes };
                for (x, (low, high)) in row[..lanes].iter().zip(lows[d].iter_mut().zip(&mut highs[d])) {
                    *low = low.min(*x);
                    *high = high.max(*x);
                }
            }
        }
        let low = lows.map(|lanes| f64::from(lanes.into_iter().fold(f32::INFINITY, f32::min)));
        let high = highs.map(|lanes| f64::from(lanes.into_iter().fold(f32::NEG_INFINITY, f32::max)));
        [low, high]
    }

    /// Velocity, world frame \[m/s\].
    pub fn velocity(&self, i: usize) -> Vector3<f64> {
        Vector3::from_fn(|d, _| f64::from(self.motion(kinematics::VELOCITY + d, i)))
    }

    /// Affine velocity field C \[1/s\].
    pub fn affine(&self, i: usize) -> Matrix3<f64> {
        Matrix3::from_fn(|r, c| f64::from(self.motion(kinematics::AFFINE + r * 3 + c, i)))
    }

    /// The affine velocity field as it is stored, row by row \[1/s\].
    pub fn stored_affine(&self, i: usize) -> [f32; 9] {
        self.motion_rows(kinematics::AFFINE, i)
    }

    /// Whether it is a vertex or a centroid of cloth.
    pub fn is_cloth(&self, i: usize) -> bool {
        self.material(i).checked_sub(self.materials).is_some_and(|sheet| sheet < self.sheets.len())
    }

    /// Whether it is a vertex of a rope.
    pub fn is_rope(&self, i: usize) -> bool {
        self.material(i) >= self.materials + self.sheets.len()
    }

    /// Elastic deformation gradient; identity for cloth and ropes, whose deformation is in the positions
    /// of their vertices, in directors and in frames.
    pub fn deformation_gradient(&self, i: usize) -> Matrix3<f64> {
        if self.material(i) >= self.materials {
            return Matrix3::identity();
        }
        Matrix3::from_fn(|r, c| f64::from(self.strain(deformation::GRADIENT + r * 3 + c, i)))
    }

    /// Director of a face whose centroid this particle of cloth is; zero for a vertex.
    pub fn director(&self, i: usize) -> Vector3<f64> {
        Vector3::from(lanes::DIRECTOR.map(|row| f64::from(self.strain(row, i))))
    }

    /// The model's history variable; for a centroid of cloth the area of its face over that at
    /// rest.
    pub fn history(&self, i: usize) -> f64 {
        f64::from(self.strain(deformation::STATE, i))
    }

    /// Mass \[kg\].
    pub fn mass(&self, i: usize) -> f64 {
        f64::from(self.strain(deformation::MASS, i))
    }

    /// Volume at rest \[m^3\].
    pub fn volume(&self, i: usize) -> f64 {
        self.mass(i) / self.densities[self.material(i)]
    }

    /// The surface that it represents.
    pub fn extent(&self, i: usize) -> ParticleExtent {
        let volume = self.volume(i);
        match self.material(i).checked_sub(self.materials) {
            Some(sheet) => match sheet.checked_sub(self.sheets.len()) {
                // A segment's shadow on the surface: pi r^2 l is the volume, 2 r l the shadow.
                Some(rope) => {
                    let radius = self.ropes[rope].radius;
                    let area = volume * core::f64::consts::FRAC_2_PI / radius;
                    ParticleExtent { area, thickness: 2.0 * radius }
                }
                None => {
                    let thickness = self.sheets[sheet].thickness;
                    ParticleExtent { area: volume / thickness, thickness }
                }
            },
            None => {
                let edge = volume.cbrt();
                ParticleExtent { area: edge * edge, thickness: edge }
            }
        }
    }

    /// The order in which it was added.
    pub fn id(&self, i: usize) -> u32 {
        self.motion(kinematics::ID, i).to_bits()
    }

    /// Index of its material.
    pub fn material(&self, i: usize) -> usize {
        self.motion(kinematics::MATERIAL, i).to_bits() as usize
    }

    /// Kirchhoff stress times rest volume \[J\], as xx, yy, zz, xy, xz, yz.
    pub fn stress_volume(&self, i: usize) -> [f64; 6] {
        core::array::from_fn(|n| f64::from(self.strain(deformation::STRESS_VOLUME + n, i)))
    }

    /// Of a particle of cloth or a rope: force on it \[N\], zero for a face, and axial vector of the skew part
    /// of a face's stress times volume \[J\].
    pub(crate) fn cloth_forces(&self, i: usize) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let of = |rows: [usize; 3]| Vector3::from(rows.map(|row| f64::from(self.strain(row, i))));
        (self.material(i) >= self.materials).then(|| (of(lanes::FORCE), of(lanes::MOMENT)))
    }

    /// All of its state, bit for bit as it is stored.
    pub fn stored(&self, i: usize) -> ParticleRecord {
        ParticleRecord {
            id: self.id(i),
            material: self.material(i) as u32,
            block: self.block.key,
            position: self.motion_rows(kinematics::POSITION, i),
            position_low: self.motion_rows(kinematics::POSITION_LOW, i),
            velocity: self.motion_rows(kinematics::VELOCITY, i),
            affine: self.motion_rows(kinematics::AFFINE, i),
            deformation_gradient: self.strain_rows(deformation::GRADIENT, i),
            stress_volume: self.strain_rows(deformation::STRESS_VOLUME, i),
            mass: self.strain(deformation::MASS, i),
            history: self.strain(deformation::STATE, i),
        }
    }

    /// All of its state.
    pub fn state(&self, i: usize) -> ParticleState {
        ParticleState {
            position: self.position(i),
            velocity: self.velocity(i),
            affine: self.affine(i),
            deformation_gradient: self.deformation_gradient(i),
            volume: self.volume(i),
            material: self.material(i),
            state: self.history(i),
        }
    }
}
