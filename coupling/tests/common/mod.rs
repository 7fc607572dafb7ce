//! Blocks, bodies and measurements that the tests of whole worlds share.
// Every test file uses its own part of this.
#![allow(dead_code)]

pub mod idle;

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_coupling::{Material, MaterialId, ParticleSet, ParticleSnapshot, StepReport, World};
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::{
    BodyDesc, BodyId, Geometry, Joint, MassProperties, Motion, Shape, SpatialVelocity, Trajectory,
    VelocityKey,
};

/// Earth's gravity [m/s^2].
pub const G: f64 = 9.81;

/// An elastic material: Young's modulus [Pa], Poisson's ratio, density [kg/m^3].
pub fn fixed_corotated(youngs_modulus: f64, poissons_ratio: f64, density: f64) -> Material {
    Material { density, model: Model::FixedCorotated(Elastic { youngs_modulus, poissons_ratio }) }
}

/// Particles at the centres of `counts` cubes of edge `spacing` [m] from `corner` [m] on, all with
/// one velocity [m/s].
pub fn block(
    material: MaterialId,
    corner: [f64; 3],
    counts: [usize; 3],
    spacing: f64,
    velocity: Vector3<f64>,
) -> ParticleSet {
    let mut positions = Vec::new();
    for i in 0..counts[0] {
        for j in 0..counts[1] {
            for k in 0..counts[2] {
                let at = [i, j, k].map(|n| (n as f64 + 0.5) * spacing);
                positions.push(Point3::new(corner[0] + at[0], corner[1] + at[1], corner[2] + at[2]));
            }
        }
    }
    let n = positions.len();
    ParticleSet { positions, velocities: vec![velocity; n], volumes: vec![spacing.powi(3); n], material }
}

/// One shape in its body's frame, with this friction.
pub fn geometry(shape: Shape, friction: f64) -> Vec<Geometry> {
    vec![Geometry::new(shape, friction)]
}

/// A body that stays.
pub fn fixed(name: &str, shape: Shape, pose: Isometry3<f64>, friction: f64) -> BodyDesc {
    BodyDesc {
        name: name.into(),
        pose,
        motion: Motion::Fixed,
        geometries: geometry(shape, friction),
        appearance: Vec::new(),
    }
}

/// The half-space z <= 0.
pub fn floor(friction: f64) -> BodyDesc {
    fixed("floor", Shape::HalfSpace, Isometry3::identity(), friction)
}

/// A body with prescribed velocities from times [s] on: linear [m/s], angular [rad/s].
pub fn prescribed(
    name: &str,
    shape: Shape,
    pose: Isometry3<f64>,
    friction: f64,
    keys: &[(f64, Vector3<f64>, Vector3<f64>)],
) -> BodyDesc {
    let keys = keys
        .iter()
        .map(|&(time, linear, angular)| VelocityKey { time, velocity: SpatialVelocity { angular, linear } });
    let motion = Motion::Prescribed(Trajectory::Velocities(keys.collect()));
    BodyDesc {
        name: name.into(),
        pose,
        motion,
        geometries: geometry(shape, friction),
        appearance: Vec::new(),
    }
}

/// A body of `mass` [kg] that slides along `axis` with damping [N s/m] under a constant force [N].
pub fn sliding(
    name: &str,
    shape: Shape,
    pose: Isometry3<f64>,
    friction: f64,
    mass: f64,
    axis: Vector3<f64>,
    damping: f64,
    force: Vector3<f64>,
) -> BodyDesc {
    let motion = Motion::Dynamic {
        parent: None,
        joint: Joint::prismatic(nalgebra::Unit::new_normalize(axis), damping),
        // A slider does not turn: any valid inertia will do.
        mass: MassProperties { mass, inertia: Matrix3::identity() * mass },
        force,
        torque: Vector3::zeros(),
        velocity: SpatialVelocity::zero(),
        gravity: false,
    };
    BodyDesc {
        name: name.into(),
        pose,
        motion,
        geometries: geometry(shape, friction),
        appearance: Vec::new(),
    }
}

/// A free body of a density [kg/m^3] without gravity.
pub fn free(
    name: &str,
    shape: Shape,
    pose: Isometry3<f64>,
    friction: f64,
    density: f64,
    velocity: SpatialVelocity,
) -> BodyDesc {
    let (mass, _, inertia) = shape.mass_properties(density).expect("a solid");
    let motion = Motion::Dynamic {
        parent: None,
        joint: Joint::free(),
        mass: MassProperties { mass, inertia },
        force: Vector3::zeros(),
        torque: Vector3::zeros(),
        velocity,
        gravity: false,
    };
    BodyDesc {
        name: name.into(),
        pose,
        motion,
        geometries: geometry(shape, friction),
        appearance: Vec::new(),
    }
}

/// Force of the particles on a body, mean over the last step [N].
pub fn force_on(world: &World, body: BodyId) -> Vector3<f64> {
    world.body_impulses()[body.0].linear / world.settings().dt
}

/// Steps the world for `duration` [s], with `observe` after every step.
pub fn run_for(world: &mut World, duration: f64, mut observe: impl FnMut(&mut World, &StepReport)) {
    let steps = (duration / world.settings().dt).round() as u64;
    for _ in 0..steps {
        let report = world.step().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.not_converged, 0, "t = {} s: {report:?}", world.time());
        observe(world, &report);
    }
}

/// The particles now.
pub fn snapshot(world: &mut World) -> ParticleSnapshot {
    let mut snapshot = ParticleSnapshot::default();
    world.snapshot(&mut snapshot).unwrap();
    snapshot
}

/// Mean velocity of all particles, which have one mass [m/s].
pub fn mean_velocity(world: &mut World) -> Vector3<f64> {
    let velocities = snapshot(world).velocities;
    let n = velocities.len() as f64;
    velocities.into_iter().map(Vector3::from).sum::<Vector3<f64>>() / n
}

/// Slope of the least-squares line through points (t, y).
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (t0, y0) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let (top, bottom) =
        points.iter().fold((0.0, 0.0), |(a, b), (t, y)| (a + (t - t0) * (y - y0), b + (t - t0) * (t - t0)));
    top / bottom
}
