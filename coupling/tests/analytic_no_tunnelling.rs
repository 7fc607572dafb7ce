//! Particles do not pass through thin plates, however fast: contacts are found with the motion of the substep ahead.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{block, fixed, fixed_corotated, prescribed};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{ParticleSnapshot, Settings, StepError, Stiffness, Substeps, World};
use pliant_mpm::largest_stable_substep;
use pliant_rigid::{BodyId, Shape};

const H: f64 = 0.02;
const DT: f64 = 0.01;

/// Half of a plate 1 mm thick across x, which nothing gets around.
fn plate() -> Shape {
    Shape::Box { half_extents: Vector3::new(0.0005, 2.0, 2.0) }
}

/// What a run is made of. The block is pressed with its shock, rho c v a particle's area: 1.8 N at E = 1e4 Pa, 18 N at 1e6. A fixed
/// stiffness must hold that within the particle's radius and half the plate (5.5 mm), or the compliance itself lets a layer
/// sink through the plate: at E = 1e6 that happens with 1e3 N/m and does not with 2e3, at 1e5 with 500 and not with 1e3.
#[derive(Clone, Copy, Debug)]
struct Case {
    youngs_modulus: f64,
    stiffness: Stiffness,
    auto_substeps: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (youngs_modulus, low) in [(1e4, 1e3), (1e6, 3e3)] {
        for stiffness in [Stiffness::Auto, Stiffness::Fixed(low)] {
            for auto_substeps in [true, false] {
                cases.push(Case { youngs_modulus, stiffness, auto_substeps });
            }
        }
    }
    cases
}

fn settings(case: Case, speed: f64) -> Settings {
    let mut settings = Settings::new(H, DT);
    settings.gravity = Vector3::zeros();
    settings.contact.stiffness = case.stiffness;
    if !case.auto_substeps {
        let material = fixed_corotated(case.youngs_modulus, 0.3, 1000.0);
        let largest = largest_stable_substep(H, &[material], speed);
        settings.substeps = Substeps::Fixed((DT / largest).ceil() as u32);
    }
    settings
}

/// On which side of the plate each particle is: whether its x is above the plate's.
fn sides(world: &World, plate: BodyId, snapshot: &mut ParticleSnapshot) -> Vec<bool> {
    world.snapshot(snapshot);
    let x = world.bodies().pose(plate).translation.x;
    snapshot.positions.iter().map(|p| p[0] > x).collect()
}

/// Steps the world and counts the particles that changed side at the end of some step.
fn changed_sides(world: &mut World, plate: BodyId, steps: usize) -> Result<usize, StepError> {
    let mut snapshot = ParticleSnapshot::default();
    let before = sides(world, plate, &mut snapshot);
    let mut worst = 0;
    for _ in 0..steps {
        world.step()?;
        let now = sides(world, plate, &mut snapshot);
        worst = worst.max(before.iter().zip(&now).filter(|(a, b)| a != b).count());
    }
    Ok(worst)
}

/// A plate of 1 mm sweeps through a block, and through where it was, at 5 m/s, dt 10 ms (5 substeps of half a cell's way at E = 1e4):
/// no particle changes side, neither when the plate starts outside the block nor within it.
#[test]
fn a_swept_plate_lets_no_particle_through() {
    for case in cases() {
        for (place, x) in [("outside", -0.01), ("inside", 0.04)] {
            let mut builder = World::builder(settings(case, 0.0));
            let material = builder.material(fixed_corotated(case.youngs_modulus, 0.3, 1000.0));
            builder.particles(block(material, [0.0; 3], [8; 3], 0.01, Vector3::zeros()));
            let pose = Isometry3::translation(x, 0.04, 0.04);
            let sweep = [(0.0, Vector3::x() * 5.0, Vector3::zeros())];
            let plate = builder.body(prescribed("plate", plate(), pose, 0.5, &sweep)).unwrap();
            let mut world = builder.build().unwrap();
            let changed = changed_sides(&mut world, plate, 10).unwrap();
            assert_eq!(changed, 0, "particles changed side, from {place}: {case:?}");
        }
    }
}

/// A block thrown at 5 m/s on a fixed plate of 1 mm.
#[test]
fn a_thrown_block_does_not_pass_a_plate() {
    for case in cases() {
        let mut builder = World::builder(settings(case, 5.0));
        let material = builder.material(fixed_corotated(case.youngs_modulus, 0.3, 1000.0));
        builder.particles(block(material, [-0.1, 0.0, 0.0], [8; 3], 0.01, Vector3::x() * 5.0));
        let pose = Isometry3::translation(0.0, 0.04, 0.04);
        let plate = builder.body(fixed("plate", plate(), pose, 0.5)).unwrap();
        let mut world = builder.build().unwrap();
        let changed = changed_sides(&mut world, plate, 20).unwrap();
        assert_eq!(changed, 0, "particles changed side: {case:?}");
    }
}
