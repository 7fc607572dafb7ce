//! Motion that is slow beside the rounding of positions in f32: by less than a unit in the last place in a
//! substep.

use crate::common::{self, levels};
use nalgebra::{Matrix3, Point3, Vector3};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Sheet, Stability};
use pliant_mpm::material::{Elastic, Material, Model};
use pliant_mpm::{Mpm, ParticleState};
use pliant_testing::Random;

const SUBSTEPS: u32 = 2000;

/// Rounding of the sum of two f32 \[cells\]: half of a unit in the last place of 4 cells, and that of it.
const OF_SUM: f64 = 4.0 * common::ROUNDOFF * common::ROUNDOFF;

/// Soft as nothing, so that no force turns a particle round: random particles in a cube of three cells, with
/// the velocity field v + L x.
fn cloud(h: f64, (velocity, rate): (Vector3<f64>, Matrix3<f64>), random: &mut Random) -> Vec<ParticleState> {
    let particle = |_| {
        let x = random.vector() * (1.5 * h);
        let mut particle = ParticleState::new(Point3::from(x), velocity + rate * x, (0.5 * h).powi(3), 0);
        particle.affine = rate;
        particle
    };
    (0..100).map(particle).collect()
}

/// Makes the substeps. The first `count` particles have moved by the sum of their velocities times the substep
/// (the step of symplectic Euler, Jiang et al. 2016), up to the rounding of each f32 product. Returns the
/// largest distance from there, over that bound.
fn lost(mpm: &mut Mpm, dt: f64, h: f64, count: usize) -> f64 {
    let start = mpm.particles();
    let mut moved = vec![(Vector3::zeros(), 0.0_f64); start.len()];
    for _ in 0..SUBSTEPS {
        mpm.begin_step();
        mpm.particles_to_grid(dt, Vector3::zeros());
        mpm.grid_to_particles(dt).unwrap();
        mpm.for_each_particle(|id, particle| {
            let (sum, path) = &mut moved[id as usize];
            *sum += dt * particle.velocity;
            *path += dt * particle.velocity.amax();
        });
    }
    let mut worst = 0.0_f64;
    for ((end, start), (sum, path)) in mpm.particles().iter().zip(&start).zip(moved).take(count) {
        // Roundings of the substep over h, of the product with it, and three times of what the constraints
        // of cloth add; those of sums that are kept.
        let bound = 8.0 * common::ROUNDOFF * path + f64::from(SUBSTEPS) * OF_SUM * h;
        worst = worst.max((end.position - start.position - sum).amax() / bound);
    }
    worst
}

/// Random substeps, grids and velocities, from 1e-10 to 1e-2 cells in a substep: the slow ones do not move at
/// all where sums are rounded to nearest, the fast ones cross blocks.
#[test]
fn particles_go_where_their_velocities_take_them() {
    let seed = 5;
    let (mut random, mut worst) = (Random::new(seed), 0.0_f64);
    for case in 0..16 {
        let level = random.choose(&levels());
        let h = random.log_uniform(1e-3, 0.5);
        let dt = random.log_uniform(1e-6, 1e-3);
        let cells = 10.0_f64.powf(-10.0 + f64::from(case) * 0.5);
        let rate = random.matrix() * (0.1 * cells / dt);
        let particles = cloud(h, (random.vector() * (cells * h / dt), rate), &mut random);
        let model = Model::FixedCorotated(Elastic { youngs_modulus: 1e-9, poissons_ratio: 0.3 });
        let materials = vec![Material { density: 1e3, model }];
        let mut mpm = Mpm::new(h, materials, &particles, &[], level).unwrap();
        let off = lost(&mut mpm, dt, h, usize::MAX);
        println!("seed {seed}, case {case}: {cells:.1e} cells a substep, {level:?}: {off:.2} of the bound");
        worst = worst.max(off);
    }
    assert!(worst < 1.0, "{worst} of the bound");
}

/// Sheets too, whose vertices the constraints of their faces move as well.
#[test]
fn sheets_go_where_their_velocities_take_them() {
    let seed = 6;
    let (mut random, mut worst) = (Random::new(seed), 0.0_f64);
    for case in 0..8 {
        let level = random.choose(&levels());
        let h = random.log_uniform(5e-3, 0.05);
        let sides = [Vector3::x(), Vector3::y()].map(|side| 4.0 * h * (side + 0.2 * random.vector()));
        let mesh = ClothMesh::rectangle(random.vector() * h, sides[0], sides[1], [5, 5]).unwrap();
        let elastic = Elastic { youngs_modulus: 1e4, poissons_ratio: 0.3 };
        let mut sheet = Sheet::new(mesh, ClothMaterial::new(800.0, elastic, 1e-3, 2e4));
        let dt = 0.2 * Stability::new(&sheet, h).largest_substep(0.0);
        let cells = 10.0_f64.powf(-9.0 + f64::from(case));
        sheet.velocity = random.vector() * (cells * h / dt);
        let mut mpm = Mpm::with_sheets(h, Vec::new(), &[], &[sheet], &[], level).unwrap();
        // Faces are put in the middle of their vertices.
        let vertices = mpm.sheet_particles()[0].vertices.len();
        let off = lost(&mut mpm, dt, h, vertices);
        println!("seed {seed}, case {case}: {cells:.1e} cells a substep, {level:?}: {off:.2} of the bound");
        worst = worst.max(off);
    }
    assert!(worst < 1.0, "{worst} of the bound");
}
