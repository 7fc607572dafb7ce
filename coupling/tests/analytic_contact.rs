//! Normal contact of particles and bodies against closed forms: one particle, tools of every shape
//! at rest.

use crate::common::{self, G, block, fixed_corotated, floor, force_on, run_for, snapshot};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{AutoOr, ParticleSet, Settings, World};
use pliant_rigid::contact_model::normal_impulse;
use pliant_rigid::{ConvexHull, Shape, TriangleMesh};

/// One substep `substep` [s] of a particle of 1 g that overlaps the plane z = 0 by `overlap` [m]
/// (negative: above it) and has the normal velocity `velocity` [m/s], at x and y `at` [cells].
/// Returns its velocity [m/s] and the normal impulse on the plane [N s].
fn particle_velocity_after(
    overlap: f64,
    velocity: f64,
    at: [f64; 2],
    stiffness: f64,
    dissipation: f64,
    substep: f64,
) -> (f64, f64) {
    let h = 0.02;
    let mut settings = Settings::new(h, substep);
    settings.substeps = AutoOr::Value(1);
    settings.gravity = Vector3::zeros();
    settings.contact.stiffness = AutoOr::Value(stiffness);
    settings.contact.dissipation = dissipation;
    settings.contact.particle_radius = AutoOr::Value(0.0);
    settings.solver.relative_tolerance = 1e-12;
    let mut builder = World::builder(settings);
    let material = builder.material(fixed_corotated(1e4, 0.3, 1000.0));
    builder.particles(ParticleSet {
        positions: vec![Point3::new(at[0] * h, at[1] * h, -overlap)],
        velocities: vec![Vector3::new(0.0, 0.0, velocity)],
        volumes: vec![1e-6],
        material,
    });
    let plane = builder.body(floor(0.0)).unwrap();
    builder.allow_overlap("floor");
    let mut world = builder.build().unwrap();
    run_for(&mut world, substep, |_, _| {});
    (snapshot(&mut world).velocities[0][2], world.body_impulses()[plane.0].linear.z)
}

/// One particle against a plane through the whole loop. The post-contact velocity solves a v^2 + b
/// v + c = 0 with a = k d delta^2, b = -m - k delta (delta + d phi0), c = k delta phi0 + m v* (phi0
/// > 0 the overlap), the root with v < 1/d (Hunt-Crossley, implicit).
///
/// The mass m in it is the particle's own: its nodes have m_i = w_i m, the solve moves them by w_i
/// gamma/m_i = gamma/m each, all alike, and the particle gathers sum_i w_i (v* + gamma/m) = v* +
/// gamma/m. In general the effective mass of a contact is 1/sum_i (w_i^2/m_i).
///
/// Tolerance: f32. Rounding of the position within its block of four cells moves the gap by 2 h
/// 2^-23, so the velocity by that over the substep; node velocities and masses add 1e-6 of the
/// speed. Measured: a fifth of it.
#[test]
fn one_particle_against_a_plane() {
    let m = 1e-3;
    for (overlap, v, k, d, substep) in [
        (1e-3, -1.5, 1e3, 0.0, 1e-3),
        (1e-3, -1.5, 1e3, 1.0, 1e-3),
        (2e-3, 0.5, 1e4, 0.5, 5e-4),
        (5e-4, -3.0, 1e5, 10.0, 1e-4),
        (4e-3, -0.4, 50.0, 5.0, 1e-3),
        (-5e-4, -1.0, 1e4, 1.0, 1e-3),
        (-9e-4, -1.0, 1e6, 0.1, 1e-3),
    ] {
        for at in [[0.5, 0.5], [0.13, 0.77], [3.99, 4.01]] {
            let (got, on_plane) = particle_velocity_after(overlap, v, at, k, d, substep);
            let (a, b, c) = (
                k * d * substep * substep,
                -m - k * substep * (substep + d * overlap),
                k * substep * overlap + m * v,
            );
            // The smaller root, in the form that does not cancel.
            let expected = 2.0 * c / (-b + (b * b - 4.0 * a * c).sqrt());
            let tolerance =
                2.0 * 0.02 * f64::from(f32::EPSILON) / substep + 1e-6 * v.abs().max(expected.abs());
            println!(
                "phi0 {overlap}, v {v}, k {k}, d {d}: {got:.9} m/s, law {expected:.9}, off by {:.1e}",
                got - expected
            );
            assert!((got - expected).abs() < tolerance, "{got} m/s, law {expected}, cell {at:?}");
            let gamma = normal_impulse(expected, -overlap, k, d, substep);
            assert!(
                (on_plane + gamma).abs() < m * tolerance,
                "the plane gets {on_plane} N s, law {}",
                -gamma
            );
        }
    }
}

/// A gap that the particle does not close within the substep leaves it alone.
#[test]
fn a_particle_that_does_not_reach_the_plane_flies_on() {
    let (v, on_plane) = particle_velocity_after(-1.1e-3, -1.0, [0.3, 0.4], 1e6, 1.0, 1e-3);
    assert!((v + 1.0).abs() < 1e-6 && on_plane == 0.0, "{v} m/s, {on_plane} N s");
}

/// A box as a closed mesh of twelve triangles.
fn box_mesh(half: Vector3<f64>) -> TriangleMesh {
    let (vertices, triangles) = Shape::Box { half_extents: half }.triangles(3);
    TriangleMesh::new(vertices, triangles).unwrap()
}

/// An L-shaped, not convex, closed profile in x and z, extruded along y: a flat foot with an
/// upright.
fn foot_mesh() -> TriangleMesh {
    let profile = [(-0.03, 0.0), (0.03, 0.0), (0.03, 0.015), (-0.01, 0.015), (-0.01, 0.05), (-0.03, 0.05)];
    let mut vertices = Vec::new();
    for y in [-0.03, 0.03] {
        vertices.extend(profile.iter().map(|&(x, z)| Point3::new(x, y, z)));
    }
    // The front (y < 0), seen from outside counter-clockwise; the back is its mirror image.
    let front = [[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]];
    let mut triangles: Vec<[u32; 3]> = front.to_vec();
    triangles.extend(front.iter().map(|&[a, b, c]| [a + 6, c + 6, b + 6]));
    for a in 0..6 {
        let b = (a + 1) % 6;
        triangles.extend([[a, a + 6, b], [b, a + 6, b + 6]]);
    }
    TriangleMesh::new(vertices, triangles).unwrap()
}

/// Statics: a tool that rests on a soft block is carried by it with m g, and the floor carries
/// both. Every shape, tilted where it is round. Tolerance 1 % of the mean over the last 0.1 s.
/// Measured: 5e-4, and 6e-3 for the corner, which still sinks.
#[test]
fn a_tool_at_rest_is_carried_with_its_weight() {
    let octahedron: Vec<Point3<f64>> = [Vector3::x(), Vector3::y(), Vector3::z()]
        .iter()
        .flat_map(|axis| [Point3::from(axis * 0.04), Point3::from(axis * -0.04)])
        .collect();
    let on_edge = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.5 * std::f64::consts::PI);
    let level = UnitQuaternion::identity();
    // Name, shape, rotation, height of its lowest point below its origin.
    let tools = [
        ("box", Shape::Box { half_extents: Vector3::new(0.03, 0.03, 0.02) }, level, 0.02),
        ("sphere", Shape::Sphere { radius: 0.04 }, level, 0.04),
        ("capsule", Shape::Capsule { radius: 0.02, half_length: 0.03 }, on_edge, 0.02),
        ("cylinder on its side", Shape::Cylinder { radius: 0.03, half_length: 0.04 }, on_edge, 0.03),
        ("cylinder on its face", Shape::Cylinder { radius: 0.03, half_length: 0.02 }, level, 0.02),
        ("hull on a corner", Shape::ConvexHull(ConvexHull::new(&octahedron).unwrap()), level, 0.04),
        ("box mesh", Shape::Mesh(box_mesh(Vector3::new(0.03, 0.03, 0.02))), level, 0.02),
        ("foot mesh", Shape::Mesh(foot_mesh()), level, 0.0),
    ];
    let (mass, spacing) = (0.3, 0.01);
    for (name, shape, rotation, below) in tools {
        let mut builder = World::builder(Settings::new(0.02, 1e-3));
        let material = builder.material(fixed_corotated(3e4, 0.3, 1000.0));
        builder.particles(block(material, [-0.05, -0.05, 0.0], [10, 10, 5], spacing, Vector3::zeros()));
        let ground = builder.body(floor(0.5)).unwrap();
        let pose = Isometry3::from_parts(Translation3::new(0.002, 0.001, 0.05 + below), rotation);
        let force = Vector3::z() * (-mass * G);
        // Damping near critical against the block's stiffness.
        let axis = pose.rotation.inverse_transform_vector(&Vector3::z());
        let tool = builder.body(common::sliding(name, shape, pose, 0.5, mass, axis, 20.0, force)).unwrap();
        let mut world = builder.build().unwrap();
        let (mut on_tool, mut environment_impulse, mut steps) = (Vector3::zeros(), Vector3::zeros(), 0.0);
        run_for(&mut world, 0.8, |world, _| {
            if world.time() > 0.7 {
                on_tool += force_on(world, tool);
                environment_impulse += force_on(world, ground);
                steps += 1.0;
            }
        });
        let (on_tool, environment_impulse) = (on_tool / steps, environment_impulse / steps);
        let (weight, all) = (mass * G, (mass + 0.5) * G);
        let depth = -world.bodies().joint(tool).0[0];
        println!(
            "{name}: carried {:.4}, floor {:.4} of the law; {:.1} mm deep",
            on_tool.z / weight,
            -environment_impulse.z / all,
            1e3 * depth
        );
        assert!((on_tool.z / weight - 1.0).abs() < 0.01, "{name}: {on_tool} N, weight {weight}");
        assert!(
            (environment_impulse.z / -all - 1.0).abs() < 0.01,
            "{name}: floor {environment_impulse} N, weight {all}"
        );
        assert!(depth > 0.0, "{name} sinks in");
    }
}
