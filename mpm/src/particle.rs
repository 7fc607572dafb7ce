//! Particles as users see them, and their way in and out of the tiles.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::arena::Window;
use crate::cloth::ClothMaterial;
use crate::constitutive::{AnyModel, Constitutive, Response};
use crate::engine::Mpm;
use crate::error::MpmError;
use crate::material::Material;
use crate::sheets::lanes;
use crate::state::StoredParticle;
use crate::tiles::{
    BLOCK_CELLS, BlockKey, Half, ParticleBlock, ROWS, Store, Tile, deformation, kinematics, padding_value,
    with_room,
};
use pliant_numeric::linalg::{Mat3, Sym3};
use pliant_numeric::simd::{LANES, Row};

/// State of one particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleState {
    /// Position, world frame [m].
    pub position: Point3<f64>,
    /// Velocity, world frame [m/s].
    pub velocity: Vector3<f64>,
    /// Affine velocity field C: the velocity's gradient around the particle [1/s].
    pub affine: Matrix3<f64>,
    /// Elastic deformation gradient (no unit).
    pub deformation_gradient: Matrix3<f64>,
    /// Volume at rest [m^3].
    pub volume: f64,
    /// Index of its material.
    pub material: usize,
    /// The model's history variable (see [`Constitutive`]).
    pub state: f64,
}

impl ParticleState {
    /// A particle at rest shape.
    pub fn new(position: Point3<f64>, velocity: Vector3<f64>, volume: f64, material: usize) -> Self {
        Self {
            position,
            velocity,
            affine: Matrix3::zeros(),
            deformation_gradient: Matrix3::identity(),
            volume,
            material,
            state: 0.0,
        }
    }
}

/// What of a body's surface a particle stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ParticleExtent {
    /// Area of the surface that it stands for [m^2]: a face of a cube of its volume; of cloth its share of the sheet.
    pub area: f64,
    /// Twice the distance from it to that surface [m]: the cube's edge; of cloth the sheet's thickness.
    pub thickness: f64,
}

/// A particle's place: block, cell within it, index in the list, position in cells from the block's corner.
pub(crate) struct Place {
    pub key: BlockKey,
    cell: u32,
    index: u32,
    pub local: [f32; 3],
}

/// Of a grid whose origin is the world's. Block and cell are those of the lowest node of the stencil.
pub(crate) fn place(index: usize, position: &Point3<f64>, grid_spacing: f64) -> Result<Place, MpmError> {
    let mut place = Place { key: [0; 3], cell: 0, index: index as u32, local: [0.0; 3] };
    for d in 0..3 {
        let x = position[d] / grid_spacing;
        let block = ((x - 0.5).floor() / f64::from(BLOCK_CELLS)).floor();
        if !block.is_finite() || block.abs() > f64::from(i32::MAX - 2) {
            return Err(MpmError::InvalidParticle {
                index,
                field: "position",
                value: position[d],
                unit: "m",
                requirement: "is not finite or too far from the origin for this grid spacing",
            });
        }
        place.key[d] = block as i32;
        place.local[d] = (x - block * f64::from(BLOCK_CELLS)) as f32;
        // Rounding to f32 may carry a position up to the block's end.
        let base = (place.local[d] - 0.5).floor().clamp(0.0, (BLOCK_CELLS - 1) as f32);
        place.cell = place.cell * 4 + base as u32;
    }
    Ok(place)
}

/// Checks that the particle is a number in f32, in which it is kept.
fn check(index: usize, p: &ParticleState, densities: &[f64]) -> Result<(), MpmError> {
    let invalid = |field, value, unit, requirement| {
        Err(MpmError::InvalidParticle { index, field, value, unit, requirement })
    };
    let Some(density) = densities.get(p.material) else {
        return Err(MpmError::UnknownMaterial { index, material: p.material, count: densities.len() });
    };
    if !(p.volume > 0.0 && p.volume.is_finite()) {
        return invalid("volume", p.volume, "m^3", "must be positive and finite");
    }
    if !((p.volume * density) as f32).is_normal() {
        return invalid("volume", p.volume, "m^3", "gives a mass beyond the range of f32");
    }
    let finite = "must be finite in f32";
    let overflows = |v: &&f64| !(**v as f32).is_finite();
    if let Some(&v) = p.velocity.iter().find(overflows) {
        return invalid("velocity", v, "m/s", finite);
    }
    if let Some(&v) = p.affine.iter().find(overflows) {
        return invalid("affine", v, "1/s", finite);
    }
    if let Some(&v) = p.deformation_gradient.iter().find(overflows) {
        return invalid("deformation_gradient", v, "", finite);
    }
    if overflows(&&p.state) {
        return invalid("state", p.state, "", finite);
    }
    Ok(())
}

/// Sorts the particles into tiles.
pub(crate) fn build_store(
    h: f64,
    materials: &[Material],
    densities: &[f64],
    particles: &[ParticleState],
) -> Result<Store, MpmError> {
    let limit = i32::MAX as usize / LANES;
    if particles.len() > limit {
        return Err(MpmError::TooManyParticles { count: particles.len(), limit });
    }
    let mut places = Vec::with_capacity(particles.len());
    for (i, p) in particles.iter().enumerate() {
        check(i, p, densities)?;
        places.push(place(i, &p.position, h)?);
    }
    places.sort_unstable_by_key(|p| (p.key, p.cell, p.index));
    let mut store = Store::default();
    let tiles: usize = places.chunk_by(|a, b| a.key == b.key).map(|group| group.len().div_ceil(LANES)).sum();
    with_room(&mut store.kinematics, tiles);
    with_room(&mut store.deformation, tiles);
    for group in places.chunk_by(|a, b| a.key == b.key) {
        let first_tile = store.kinematics.len() as u32;
        store.blocks.push(ParticleBlock { key: group[0].key, first_tile, count: group.len() as u32 });
        for chunk in group.chunks(LANES) {
            let (motion, strain) = build_tiles(chunk, particles, materials, densities);
            store.kinematics.push(motion);
            store.deformation.push(strain);
        }
    }
    Ok(store)
}

fn build_tiles(
    places: &[Place],
    particles: &[ParticleState],
    materials: &[Material],
    densities: &[f64],
) -> (Tile, Tile) {
    let empty = |half| core::array::from_fn::<Row, ROWS, _>(|r| Row([padding_value(half, r); LANES]));
    let (mut motion, mut strain): (Tile, Tile) = (empty(Half::Kinematics), empty(Half::Deformation));
    for (l, place) in places.iter().enumerate() {
        let p = &particles[place.index as usize];
        let mass = p.volume * densities[p.material];
        // Cloth finds its stress elsewhere.
        let response = materials.get(p.material).map_or_else(
            || Response {
                deformation_gradient: to_mat3(&p.deformation_gradient),
                kirchhoff_stress: Sym3 { xx: 0.0, yy: 0.0, zz: 0.0, xy: 0.0, xz: 0.0, yz: 0.0 },
                state: 1.0,
                dissipated: 0.0,
            },
            |m| AnyModel::<f64>::new(&m.model).update(to_mat3(&p.deformation_gradient), p.state, 0.0),
        );
        for d in 0..3 {
            motion[kinematics::POSITION + d].0[l] = place.local[d];
            motion[kinematics::VELOCITY + d].0[l] = p.velocity[d] as f32;
            for e in 0..3 {
                motion[kinematics::AFFINE + d * 3 + e].0[l] = p.affine[(d, e)] as f32;
                strain[deformation::GRADIENT + d * 3 + e].0[l] = response.deformation_gradient.0[d][e] as f32;
            }
        }
        motion[kinematics::ID].0[l] = f32::from_bits(place.index);
        motion[kinematics::MATERIAL].0[l] = f32::from_bits(p.material as u32);
        for (n, s) in entries(&response.kirchhoff_stress).into_iter().enumerate() {
            strain[deformation::STRESS_VOLUME + n].0[l] = (s * p.volume) as f32;
        }
        strain[deformation::MASS].0[l] = mass as f32;
        strain[deformation::STATE].0[l] = response.state as f32;
    }
    for d in 0..3 {
        let row = &mut motion[kinematics::POSITION + d].0;
        let first = row[0];
        row[places.len()..].fill(first);
    }
    (motion, strain)
}

fn to_mat3(m: &Matrix3<f64>) -> Mat3<f64> {
    Mat3(core::array::from_fn(|i| core::array::from_fn(|j| m[(i, j)])))
}

fn entries(s: &Sym3<f64>) -> [f64; 6] {
    [s.xx, s.yy, s.zz, s.xy, s.xz, s.yz]
}

/// The particles of one block, for reading. Indices run over `0..len()` in the sorted order.
#[derive(Clone, Copy, Debug)]
pub struct BlockView<'a> {
    block: &'a ParticleBlock,
    kinematics: &'a [Tile],
    deformation: &'a [Tile],
    grid_spacing: f64,
    origin: Vector3<f64>,
    densities: &'a [f64],
    /// What the sheets are made of.
    sheets: &'a [ClothMaterial],
    /// Number of materials that are not cloth.
    materials: usize,
    /// Node blocks around this block, x slowest, z fastest, by index into [`Mpm::nodes`].
    pub node_blocks: &'a [u32; 27],
    window: &'a Window,
}

impl Mpm {
    /// Number of blocks that hold particles.
    pub fn block_count(&self) -> usize {
        self.store.blocks.len()
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
            materials: self.materials.len(),
            node_blocks: &self.topology.nodes_of_particles[b],
            window: &self.windows[b],
        }
    }

    /// Node blocks as they are now: after [`Mpm::particles_to_grid`], the free-motion velocities.
    pub fn nodes(&self) -> &[crate::blocks::NodeBlock] {
        &self.nodes
    }

    /// Node blocks, to change velocities before [`Mpm::grid_to_particles`].
    pub fn nodes_mut(&mut self) -> &mut [crate::blocks::NodeBlock] {
        &mut self.nodes
    }

    /// Block and index within it of the node at integer coordinates `node`; `None` where the grid has no block.
    pub fn find_node(&self, node: [i32; 3]) -> Option<(usize, usize)> {
        let key = node.map(|n| n.div_euclid(BLOCK_CELLS));
        let local = [0, 1, 2].map(|d| (node[d] - key[d] * BLOCK_CELLS) as usize);
        let block = self.topology.keys.binary_search(&key).ok()?;
        Some((block, (local[0] * 4 + local[1]) * 4 + local[2]))
    }

    /// World position [m] of node `node` of node block `block`.
    pub fn node_position(&self, block: usize, node: usize) -> Point3<f64> {
        let p = crate::grid::node_position(self.topology.keys[block], node);
        Point3::new(p[0], p[1], p[2]) * self.grid_spacing + self.frame.origin
    }

    /// Calls `visit(id, state)` for every particle, in the sorted order; `id` is its index when it was added.
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

    /// Square of the largest speed relative to a velocity, world frame [m^2/s^2].
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

    /// The block's lowest corner, world frame [m].
    pub fn corner(&self) -> Point3<f64> {
        let c = self.block.key.map(|k| f64::from(BLOCK_CELLS) * f64::from(k) * self.grid_spacing);
        Point3::new(c[0], c[1], c[2]) + self.origin
    }

    /// Edge of the block [m].
    pub fn edge(&self) -> f64 {
        f64::from(BLOCK_CELLS) * self.grid_spacing
    }

    /// Position in cells from the block's corner.
    pub fn local_position(&self, i: usize) -> [f64; 3] {
        [0, 1, 2].map(|d| f64::from(self.motion(kinematics::POSITION + d, i)))
    }

    /// Position, world frame [m].
    pub fn position(&self, i: usize) -> Point3<f64> {
        let local = self.local_position(i);
        let key = self.block.key;
        let x =
            [0, 1, 2].map(|d| (f64::from(BLOCK_CELLS) * f64::from(key[d]) + local[d]) * self.grid_spacing);
        Point3::new(x[0], x[1], x[2]) + self.origin
    }

    /// Positions of the sixteen particles from index `16 tile` on, x, y and z each for itself, in cells from the block's
    /// corner. Past the block's last particle they mean nothing.
    pub fn position_rows(&self, tile: usize) -> [&[f32; LANES]; 3] {
        [0, 1, 2].map(|d| &self.kinematics[tile][kinematics::POSITION + d].0)
    }

    /// Lowest and highest corner of a box that holds all particles, but for rounding, without a look at them: what their stencils
    /// reach, so that it is larger than [`Self::local_bounds`] by up to a cell, along z by up to four. In cells from the block's corner.
    pub fn rough_bounds(&self) -> [[f64; 3]; 2] {
        self.window.bounds()
    }

    /// Lowest and highest corner of the particles' bounding box, in cells from the block's corner.
    pub fn local_bounds(&self) -> [[f64; 3]; 2] {
        // Lane by lane first, many at a time.
        let (mut lows, mut highs) = ([[f32::INFINITY; LANES]; 3], [[f32::NEG_INFINITY; LANES]; 3]);
        for tile in 0..self.kinematics.len() {
            let lanes = self.block.lanes(tile);
            for (d, row) in self.position_rows(tile).into_iter().enumerate() {
                // A full tile's length is known when this is compiled.
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

    /// Velocity, world frame [m/s].
    pub fn velocity(&self, i: usize) -> Vector3<f64> {
        Vector3::from_fn(|d, _| f64::from(self.motion(kinematics::VELOCITY + d, i)))
    }

    /// Affine velocity field C [1/s].
    pub fn affine(&self, i: usize) -> Matrix3<f64> {
        Matrix3::from_fn(|r, c| f64::from(self.motion(kinematics::AFFINE + r * 3 + c, i)))
    }

    /// Whether it is a vertex or a centroid of cloth.
    pub fn is_cloth(&self, i: usize) -> bool {
        self.material(i) >= self.materials
    }

    /// Elastic deformation gradient; identity for cloth, whose deformation is in the places of its vertices and its directors.
    pub fn deformation_gradient(&self, i: usize) -> Matrix3<f64> {
        if self.is_cloth(i) {
            return Matrix3::identity();
        }
        Matrix3::from_fn(|r, c| f64::from(self.strain(deformation::GRADIENT + r * 3 + c, i)))
    }

    /// Director of a face whose centroid this particle of cloth is; zero for a vertex.
    pub fn director(&self, i: usize) -> Vector3<f64> {
        Vector3::from(lanes::DIRECTOR.map(|row| f64::from(self.strain(row, i))))
    }

    /// The model's history variable; for a centroid of cloth the area of its face over that at rest.
    pub fn history(&self, i: usize) -> f64 {
        f64::from(self.strain(deformation::STATE, i))
    }

    /// Mass [kg].
    pub fn mass(&self, i: usize) -> f64 {
        f64::from(self.strain(deformation::MASS, i))
    }

    /// Volume at rest [m^3].
    pub fn volume(&self, i: usize) -> f64 {
        self.mass(i) / self.densities[self.material(i)]
    }

    /// What it stands for of a surface.
    pub fn extent(&self, i: usize) -> ParticleExtent {
        let volume = self.volume(i);
        match self.material(i).checked_sub(self.materials) {
            Some(sheet) => {
                let thickness = self.sheets[sheet].thickness;
                ParticleExtent { area: volume / thickness, thickness }
            }
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

    /// Kirchhoff stress times rest volume [J], as xx, yy, zz, xy, xz, yz.
    pub fn stress_volume(&self, i: usize) -> [f64; 6] {
        core::array::from_fn(|n| f64::from(self.strain(deformation::STRESS_VOLUME + n, i)))
    }

    /// All of its state, bit for bit as it is kept.
    pub fn stored(&self, i: usize) -> StoredParticle {
        StoredParticle {
            id: self.id(i),
            material: self.material(i) as u32,
            block: self.block.key,
            position: self.motion_rows(kinematics::POSITION, i),
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
