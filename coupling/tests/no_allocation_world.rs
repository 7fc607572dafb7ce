//! A step of the world allocates nothing once its buffers have grown.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{block, fixed_corotated, floor, free, prescribed, sliding};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_coupling::{
    Boundary, BoundaryKind, Coupling, Material, ParticleSnapshot, Settings, TactilePad, World,
};
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::{ConvexHull, Shape, SpatialVelocity, TriangleMesh};
use pliant_testing::allocations::{Counting, on_all_threads};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Clay, rubber and loose grains between a floor, a wall of the grid, a rocking plate, a pin that
/// rolls to and fro, loaded tools of every other shape that ring, and a free ball that rolls over.
fn busy_world() -> World {
    let mut settings = Settings::new(0.02, 2e-3);
    // Strongly coupled bodies have more state to repeat and to keep.
    settings.coupling = Coupling::Strong;
    settings.boundaries.push(Boundary {
        point: Point3::origin(),
        normal: Unit::new_normalize(Vector3::x()),
        kind: BoundaryKind::Slip,
    });
    let mut builder = World::builder(settings);
    let elastic = Elastic { youngs_modulus: 2e4, poissons_ratio: 0.3 };
    let clay = Material { density: 1000.0, model: Model::VonMises { elastic, yield_stress: 500.0 } };
    for (n, material) in [clay, fixed_corotated(3e4, 0.3, 800.0)].into_iter().enumerate() {
        let material = builder.material(material);
        let corner = [0.12 * n as f64, 0.0, 0.0];
        builder.particles(block(material, corner, [12, 10, 6], 0.01, Vector3::zeros()));
    }
    // Loose grains that slide and stop: many regions of contact.
    let grain = builder.material(fixed_corotated(3e4, 0.3, 800.0));
    for n in 0..12 {
        let corner = [0.1 * f64::from(n % 4), 0.3 + 0.1 * f64::from(n / 4), 0.0];
        let velocity = Vector3::new(0.1 * f64::from(n), 0.3, 0.0);
        builder.particles(block(grain, corner, [1, 1, 1 + n as usize % 2], 0.01, velocity));
    }
    let body = builder.body(floor(0.5)).unwrap();
    let pose = Isometry3::translation(0.12, 0.05, 0.0);
    let (half_extents, bins) = ([0.1, 0.04], [20, 8]);
    builder.tactile(TactilePad { name: "skin".into(), body, pose, half_extents, bins, reach: 0.01 });
    let along_y = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let pose = Isometry3::from_parts(Translation3::new(0.06, 0.05, 0.092), along_y);
    let keys: Vec<_> = (0..40)
        .map(|n| {
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            let down = if n < 4 { -0.06 } else { 0.0 };
            (0.05 * f64::from(n), Vector3::new(0.4 * sign, 0.0, down), Vector3::y() * (12.0 * sign))
        })
        .collect();
    let pin = Shape::Cylinder { radius: 0.03, half_length: 0.08 };
    builder.body(prescribed("pin", pin, pose, 0.7, &keys)).unwrap();
    let cube = Shape::Box { half_extents: Vector3::repeat(0.02) };
    let (corners, triangles) = cube.triangles(0);
    let shapes = [
        Shape::Sphere { radius: 0.02 },
        Shape::Capsule { radius: 0.015, half_length: 0.01 },
        Shape::ConvexHull(ConvexHull::new(&corners).unwrap()),
        Shape::Mesh(TriangleMesh::new(corners, triangles).unwrap()),
    ];
    for (n, shape) in shapes.into_iter().enumerate() {
        let pose = Isometry3::translation(0.16 + 0.05 * (n % 2) as f64, 0.025 + 0.05 * (n / 2) as f64, 0.079);
        let (name, weight) = (format!("tool {n}"), Vector3::z() * -2.0);
        builder.body(sliding(&name, shape, pose, 0.4, 0.2, Vector3::z(), 1.0, weight)).unwrap();
    }
    let velocity = SpatialVelocity { angular: Vector3::y() * 3.0, linear: Vector3::new(0.05, 0.0, -0.02) };
    let pose = Isometry3::translation(0.13, 0.06, 0.083);
    builder.body(free("ball", Shape::Sphere { radius: 0.02 }, pose, 0.4, 3000.0, velocity)).unwrap();
    // Loaded tools begin pressed in.
    (0..4).for_each(|n| {
        builder.allow_overlap(&format!("tool {n}"));
    });
    builder.build().unwrap()
}

/// No allocation on one thread in 150 steps with hundreds of contacts that come and go, nor in
/// reading the world afterwards, after three times as many steps to warm up: a block's contacts
/// have room for the most that it ever had. (`alloc_zeroed` and `realloc` come through `alloc`
/// here, so that growing buffers count too.)
#[test]
fn a_step_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let mut world = busy_world();
        let mut snapshot = ParticleSnapshot::default();
        let mut run = || {
            let (mut fewest, mut most, mut iterations) = (f64::INFINITY, 0.0_f64, 0);
            let before = on_all_threads();
            for _ in 0..150 {
                let report = world.step().unwrap();
                world.diagnostics();
                world.balance();
                world.snapshot(&mut snapshot).unwrap();
                fewest = fewest.min(report.contacts_mean);
                most = most.max(report.contacts_mean);
                iterations += report.iterations;
            }
            (on_all_threads() - before, fewest, most, iterations)
        };
        let warm_up = run();
        run();
        run();
        let (allocations, fewest, most, iterations) = run();
        println!(
            "{allocations} allocations, {} in the warm-up; {fewest} to {most} contacts, {iterations} iterations",
            warm_up.0
        );
        assert!(world.tactile(0).max_pressure() > 100.0, "the pad feels nothing");
        assert!(fewest > 250.0 && most > fewest + 10.0 && iterations > 500, "nothing happens");
        assert!(warm_up.0 > 0, "the counter does not count");
        assert_eq!(allocations, 0);
    });
}
