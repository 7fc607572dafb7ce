//! Particle layouts, random numbers and the two paths side by side, for tests.

#![allow(dead_code)] // every test file uses some of these

use nalgebra::{Point3, Vector3};
use pliant_mpm::material::{Elastic, GranularFlow, GranularWalls, Material, Model};
use pliant_mpm::reference::ReferenceParticle;
use pliant_mpm::{Boundary, GridMotionSums, InstructionSet, Mpm, MpmError, ParticleState};

/// Half the distance from 1 to the next f32: the largest relative error of one f32 operation.
pub const ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;

/// Undeformed particles at the centres of `counts` cells of edge `edges` [m], the first cell's
/// corner at `corner` [m].
pub fn lattice(
    corner: [f64; 3],
    edges: [f64; 3],
    counts: [usize; 3],
    density: f64,
) -> Vec<ReferenceParticle> {
    let mut particles = Vec::new();
    for i in 0..counts[0] {
        for j in 0..counts[1] {
            for k in 0..counts[2] {
                let at = |axis: usize, n: usize| corner[axis] + edges[axis] * (n as f64 + 0.5);
                let position = Vector3::new(at(0, i), at(1, j), at(2, k));
                particles.push(ReferenceParticle::at_rest(position, edges.iter().product(), 0, density));
            }
        }
    }
    particles
}

/// A material of every model: E 1e3 Pa, nu 0.3, 1e3 kg/m^3.
pub fn every_material() -> Vec<Material> {
    every_material_with(1e3)
}

/// A material of every model: `youngs_modulus` in Pa, nu 0.3, yield stress E/20, 1e3 kg/m^3.
pub fn every_material_with(youngs_modulus: f64) -> Vec<Material> {
    let elastic = Elastic { youngs_modulus, poissons_ratio: 0.3 };
    let models = [
        Model::FixedCorotated(elastic),
        Model::NeoHookean(elastic),
        Model::LinearCorotated(elastic),
        Model::VonMises { elastic, yield_stress: 0.05 * youngs_modulus },
        Model::DruckerPrager { elastic, friction_angle: 0.5 },
        Model::Granular(GranularFlow {
            elastic,
            friction_angle: 0.5,
            fast_friction_angle: 0.6,
            inertial_number: 0.28,
            grain_diameter: 1e-3,
            grain_density: 2500.0,
            walls: GranularWalls::Rough,
        }),
    ];
    models.map(|model| Material { density: 1e3, model }).to_vec()
}

/// The instruction sets of this machine.
pub fn levels() -> Vec<InstructionSet> {
    let mut levels = vec![InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512];
    levels.retain(|l| l.supported() == *l);
    levels
}

/// The reference's particles as the fast path takes them.
pub fn to_states(particles: &[ReferenceParticle]) -> Vec<ParticleState> {
    let state = |p: &ReferenceParticle| ParticleState {
        position: Point3::from(p.position),
        velocity: p.velocity,
        affine: p.affine,
        deformation_gradient: p.deformation_gradient,
        volume: p.volume,
        material: p.material,
        state: p.state,
    };
    particles.iter().map(state).collect()
}

/// The fast path's particles, with the values that it rounded, as the reference takes them.
pub fn to_reference(mpm: &Mpm) -> Vec<ReferenceParticle> {
    let particle = |s: &ParticleState| ReferenceParticle {
        position: s.position.coords,
        velocity: s.velocity,
        affine: s.affine,
        deformation_gradient: s.deformation_gradient,
        volume: s.volume,
        mass: s.volume * mpm.materials()[s.material].density,
        material: s.material,
        state: s.state,
    };
    mpm.particles().iter().map(particle).collect()
}

/// The fast path at the machine's best instruction set.
pub fn fast(h: f64, materials: &[Material], particles: &[ReferenceParticle], boundaries: &[Boundary]) -> Mpm {
    Mpm::new(h, materials.to_vec(), &to_states(particles), boundaries, InstructionSet::detect()).unwrap()
}

/// One substep of the fast path, sorted first if that pays.
pub fn step(mpm: &mut Mpm, dt: f64, gravity: Vector3<f64>) -> Result<GridMotionSums, MpmError> {
    mpm.begin_step();
    let sums = mpm.particles_to_grid(dt, gravity);
    mpm.grid_to_particles(dt)?;
    Ok(sums)
}

/// As [`step`], with `condition(position [m], velocity [m/s])` called for every node with mass
/// after its free motion.
pub fn step_with(
    mpm: &mut Mpm,
    dt: f64,
    gravity: Vector3<f64>,
    mut condition: impl FnMut(&Vector3<f64>, &mut Vector3<f64>),
) {
    mpm.begin_step();
    mpm.particles_to_grid(dt, gravity);
    for block in 0..mpm.nodes().len() {
        for node in 0..mpm.nodes()[block].nodes.len() {
            let [x, y, z, mass] = mpm.nodes()[block].nodes[node];
            if mass > 0.0 {
                let position = mpm.node_position(block, node).coords;
                let mut v = Vector3::new(x, y, z).map(f64::from);
                condition(&position, &mut v);
                mpm.nodes_mut()[block].nodes[node] = [v.x as f32, v.y as f32, v.z as f32, mass];
            }
        }
    }
    mpm.grid_to_particles(dt).unwrap();
}

/// The saved state: every bit of the particles.
pub fn bits(mpm: &Mpm) -> Vec<u8> {
    let mut bytes = Vec::new();
    mpm.write_state(&mut bytes).unwrap();
    bytes
}
