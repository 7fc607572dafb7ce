//! Whole scenes of articulated bodies with collision detection: a peg in a gripper, clutter at
//! rest, one run twice.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::floor::free_link;

const STICTION: f64 = 1e-4;

fn material(friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness: 1e7,
        dissipation: 10.0,
        static_friction: friction,
        dynamic_friction: friction,
        ..ContactMaterial::with_friction(0.0)
    }
}

fn solid(link: Option<LinkId>, pose: Isometry3<f64>, shape: Shape, friction: f64) -> CollisionGeometry {
    let name = link.map_or("world".to_owned(), |l| format!("link {}", l.0));
    CollisionGeometry {
        name,
        link,
        pose,
        shape,
        material: material(friction),
        group: 1,
        mask: 1,
        color: [180; 3],
    }
}

fn cuboid(half: [f64; 3]) -> Shape {
    Shape::Box { half_extents: half.into() }
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

/// A peg of 10.02 mm, tilted by 10 degrees, in a gap of 10 mm between two fingers on a post that
/// does not move.
fn gripper(integrator: Integrator) -> Simulation<Collisions> {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -9.81));
    let half = [0.00501, 0.005, 0.04];
    let (mass, _, inertia) = cuboid(half).mass_properties(1000.0).unwrap();
    let peg = builder.add(free_link("peg", mass, inertia.diagonal())).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 10.0_f64.to_radians());
    state.q[..4].copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
    state.q[4..].copy_from_slice(&[0.0, 0.05, 0.36]);
    let finger = cuboid([0.005, 0.04, 0.005]);
    let geometries = vec![
        solid(None, at(0.0, 0.0, -0.02), cuboid([0.5, 0.5, 0.02]), 0.5),
        solid(None, at(0.0, 0.0, 0.3), cuboid([0.02, 0.02, 0.1]), 0.5),
        solid(None, at(-0.01, 0.05, 0.39), finger.clone(), 0.5),
        solid(None, at(0.01, 0.05, 0.39), finger, 0.5),
        solid(Some(peg), Isometry3::identity(), cuboid(half), 0.5),
    ];
    let scene = CollisionModel::new(geometries, &model, &[]).unwrap();
    Simulation::new(System::new(model), Collisions::new(scene, STICTION), integrator, state).unwrap()
}

// The peg stays, and creeps less than v_s t (its weight is a hundredth of what friction can hold).
#[test]
fn a_peg_stays_in_its_gripper() {
    for integrator in
        [Integrator::Fixed { step: 1e-3 }, Integrator::ErrorControlled { accuracy: 1e-3, max_step: 0.1 }]
    {
        let mut simulation = gripper(integrator);
        simulation.advance_to(0.1).unwrap();
        let settled = simulation.state().q[6];
        simulation.advance_to(2.1).unwrap();
        let fallen = settled - simulation.state().q[6];
        assert!(fallen.abs() < STICTION * 2.0, "{integrator:?}: {fallen:e} m in 2 s");
        let start = 0.36;
        assert!((settled - start).abs() < 1e-3, "{integrator:?}: {settled}");
    }
}

/// Spheres and boxes that fall into a bin of 0.4 m, `rows` layers of four.
fn clutter(rows: usize, integrator: Integrator) -> Simulation<Collisions> {
    let mut random = Random::new(12);
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -9.81));
    let mut geometries = vec![solid(None, Isometry3::identity(), Shape::HalfSpace, 0.5)];
    for (x, y) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let half = if x == 0.0 { [0.2, 0.02, 0.5] } else { [0.02, 0.24, 0.5] };
        geometries.push(solid(None, at(0.22 * x, 0.22 * y, 0.5), cuboid(half), 0.5));
    }
    let mut poses = Vec::new();
    for row in 0..rows {
        for column in 0..4 {
            let shape =
                if (row + column) % 2 == 0 { Shape::Sphere { radius: 0.05 } } else { cuboid([0.05; 3]) };
            let (mass, _, inertia) = shape.mass_properties(1000.0).unwrap();
            let link = builder.add(free_link(&format!("{row} {column}"), mass, inertia.diagonal())).unwrap();
            geometries.push(solid(Some(link), Isometry3::identity(), shape, 0.5));
            let (x, y) = (if column & 1 == 0 { -0.1 } else { 0.1 }, if column & 2 == 0 { -0.1 } else { 0.1 });
            let shift = random.vector() * 0.01;
            let place = Translation3::new(x, y, 0.15 + 0.15 * row as f64).vector + shift;
            poses.push(Isometry3::from_parts(place.into(), random.rotation()));
        }
    }
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    for (i, pose) in poses.iter().enumerate() {
        let (t, r) = (pose.translation.vector, pose.rotation);
        state.q[model.positions_of(LinkId(i))].copy_from_slice(&[r.w, r.i, r.j, r.k, t.x, t.y, t.z]);
    }
    let scene = CollisionModel::new(geometries, &model, &[]).unwrap();
    Simulation::new(System::new(model), Collisions::new(scene, STICTION), integrator, state).unwrap()
}

// Checks: twelve bodies fall and come to rest in their bin; contact forces then carry the weight
// (Newton), and nobody is deeper in another than its own impact explains. A step that does not
// converge would be an error. At rest: within 1 % of the weight, spheres may still roll slowly.
// Nothing but friction ends their rolling in the heap: under coarse error control some still turned
// at 5 rad/s after three seconds.
#[test]
fn clutter_comes_to_rest_on_its_own_weight() {
    for integrator in [
        Integrator::Fixed { step: 5e-3 },
        Integrator::ErrorControlled { accuracy: 1e-2, max_step: 0.1 },
        Integrator::Trapezoid { step: 5e-3, accuracy: None },
        Integrator::Trapezoid { step: 0.1, accuracy: Some(1e-2) },
    ] {
        let mut simulation = clutter(3, integrator);
        simulation.advance_to(6.0).unwrap();
        let model = &simulation.system().model;
        let weight: f64 = model.links().iter().map(|l| l.inertia.mass * 9.81).sum();
        let outward = |c: &ContactForce| if c.candidate.second.is_none() { -c.force } else { c.force };
        let carried: f64 = simulation
            .contact_forces()
            .filter(|c| c.candidate.first.is_none() || c.candidate.second.is_none())
            .map(|c| outward(&c).z)
            .sum();
        assert!((carried / weight - 1.0).abs() < 0.01, "{integrator:?}: {carried} N of {weight} N");
        let deepest = simulation.contact_forces().map(|c| -c.candidate.distance).fold(0.0, f64::max);
        assert!(deepest < 1e-4, "{integrator:?}: {deepest} m");
        for l in 0..model.links().len() {
            let q = &simulation.state().q[model.positions_of(LinkId(l))];
            assert!(q[4].abs() < 0.2 && q[5].abs() < 0.2 && q[6] > 0.04, "{integrator:?}, link {l}: {q:?}");
        }
    }
}

// Repeatability with collision detection: a restored run continues with the same bits.
#[test]
fn restored_clutter_continues_bit_for_bit() {
    let integrator = Integrator::ErrorControlled { accuracy: 1e-2, max_step: 0.05 };
    let mut whole = clutter(2, integrator);
    whole.advance_to(0.4).unwrap();
    let saved = whole.save();
    whole.advance_to(0.8).unwrap();
    let mut other = clutter(2, integrator);
    other.advance_to(0.6).unwrap();
    other.restore(&saved).unwrap();
    other.advance_to(0.8).unwrap();
    assert_eq!(other.save(), whole.save());
}
