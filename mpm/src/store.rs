//! Puts particles into tiles.

use nalgebra::{Matrix3, Point3};

use crate::constitutive::{AnyModel, Constitutive, ConstitutiveResponse};
use crate::error::MpmError;
use crate::material::Material;
use crate::particle::ParticleState;
use crate::tiles::{
    BLOCK_CELLS, BlockKey, DeformationTile, Half, KinematicsTile, ParticleBlock, ParticleStore, deformation,
    kinematics, padding_value, reserve_with_slack, split,
};
use pliant_numeric::linalg::{Mat3, Sym3};
use pliant_numeric::simd::{F32x16, LANES};

/// Location of a particle: block, cell within it, index in the list, position in cells from the
/// block's corner, and what rounding leaves of it.
pub(crate) struct ParticleIndex {
    pub key: BlockKey,
    cell: u32,
    index: u32,
    pub local: [f32; 3],
    pub low: [f32; 3],
}

/// In a grid whose origin is the world's. Block and cell are those of the lowest node of the
/// stencil.
pub(crate) fn locate_particle(
    index: usize,
    position: &Point3<f64>,
    grid_spacing: f64,
) -> Result<ParticleIndex, MpmError> {
    let mut place =
        ParticleIndex { key: [0; 3], cell: 0, index: index as u32, local: [0.0; 3], low: [0.0; 3] };
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
        [place.local[d], place.low[d]] = split(x - block * f64::from(BLOCK_CELLS));
        // Rounding to f32 may carry a position up to the block's end.
        let base = (place.local[d] - 0.5).floor().clamp(0.0, (BLOCK_CELLS - 1) as f32);
        place.cell = place.cell * 4 + base as u32;
    }
    Ok(place)
}

/// Checks that the particle is finite in f32, in which it is stored.
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
) -> Result<ParticleStore, MpmError> {
    let limit = i32::MAX as usize / LANES;
    if particles.len() > limit {
        return Err(MpmError::TooManyParticles { count: particles.len(), limit });
    }
    let mut places = Vec::with_capacity(particles.len());
    for (i, p) in particles.iter().enumerate() {
        check(i, p, densities)?;
        places.push(locate_particle(i, &p.position, h)?);
    }
    places.sort_unstable_by_key(|p| (p.key, p.cell, p.index));
    let mut store = ParticleStore::default();
    let tiles: usize = places.chunk_by(|a, b| a.key == b.key).map(|group| group.len().div_ceil(LANES)).sum();
    reserve_with_slack(&mut store.kinematics, tiles);
    reserve_with_slack(&mut store.deformation, tiles);
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
    places: &[ParticleIndex],
    particles: &[ParticleState],
    materials: &[Material],
    densities: &[f64],
) -> (KinematicsTile, DeformationTile) {
    let mut motion: KinematicsTile = padding(Half::Kinematics);
    let mut strain: DeformationTile = padding(Half::Deformation);
    for (l, place) in places.iter().enumerate() {
        let p = &particles[place.index as usize];
        let mass = p.volume * densities[p.material];
        // The stress of cloth is computed in `sheets`.
        let response = materials.get(p.material).map_or_else(
            || ConstitutiveResponse {
                deformation_gradient: to_mat3(&p.deformation_gradient),
                kirchhoff_stress: Sym3 { xx: 0.0, yy: 0.0, zz: 0.0, xy: 0.0, xz: 0.0, yz: 0.0 },
                state: 1.0,
                dissipated: 0.0,
            },
            |m| AnyModel::<f64>::new(&m.model).update(to_mat3(&p.deformation_gradient), p.state, 0.0),
        );
        for d in 0..3 {
            motion[kinematics::POSITION + d].0[l] = place.local[d];
            motion[kinematics::POSITION_LOW + d].0[l] = place.low[d];
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

/// A tile of padding.
pub(crate) fn padding<const ROWS: usize>(half: Half) -> [F32x16; ROWS] {
    core::array::from_fn(|row| F32x16([padding_value(half, row); LANES]))
}

fn to_mat3(m: &Matrix3<f64>) -> Mat3<f64> {
    Mat3(core::array::from_fn(|i| core::array::from_fn(|j| m[(i, j)])))
}

fn entries(s: &Sym3<f64>) -> [f64; 6] {
    [s.xx, s.yy, s.zz, s.xy, s.xz, s.yz]
}
