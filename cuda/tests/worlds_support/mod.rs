//! Systems of worlds, and states of them where much overlaps.

use nalgebra::{Isometry3, Matrix3, Quaternion, UnitQuaternion, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionModel, ContactMaterial};
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::{JointKind, Link, ModelBuilder, RigidInertia, State};
use pliant_rigid::simulation::System;

use pliant_testing::Random;
use pliant_testing::comfree::{body, down, geometry};
use pliant_testing::worlds::{crowded, everything, link, random_pose};

/// Boxes of all proportions, one of them without weight and one with its centre of mass aside, and
/// two rods, over a floor.
fn solids(settings: ComFreeSettings) -> (System, CollisionModel) {
    let halves = [[0.05, 0.05, 0.05], [0.08, 0.03, 0.02], [0.02, 0.07, 0.05], [0.04, 0.005, 0.06]];
    let stencil_boxes = halves.map(|half| Shape::Box { half_extents: Vector3::from(half) });
    let rods = [0.07, 0.1].map(|half_length| Shape::Capsule { radius: 0.03, half_length });
    let mut builder = ModelBuilder::new(down());
    let material = ContactMaterial::with_friction(0.6);
    let mut geometries = vec![geometry("floor", None, Shape::HalfSpace, material)];
    let names = ["box 0", "box 1", "box 2", "box 3", "rod 0", "rod 1"];
    for (name, shape) in names.into_iter().zip(stencil_boxes.into_iter().chain(rods)) {
        let mut link = Link { gravity: name != "box 1", ..body(name, &shape) };
        if name == "box 2" {
            let inertia = 1e-3 * Matrix3::new(2.0, 0.2, 0.1, 0.2, 1.5, -0.1, 0.1, -0.1, 1.0);
            link.inertia = RigidInertia::at_center(0.5, Vector3::new(0.01, -0.02, 0.015), inertia);
        }
        let link = builder.add(link).unwrap();
        geometries.push(geometry(name, Some(link), shape, material));
    }
    let mut system = System::new(builder.build().unwrap());
    system.solver = RigidSolver::ComFree(settings);
    let scene = CollisionModel::new(geometries, &system.model, &[]).unwrap();
    (system, scene)
}

/// A free base with arms: its velocities are not those of a free-floating body.
fn walker(settings: ComFreeSettings) -> (System, CollisionModel) {
    let mut random = Random::new(6);
    let mut frame = || random_pose(&mut random, 0.1);
    let mut builder = ModelBuilder::new(down());
    let base = link("base", None, JointKind::Free, Isometry3::identity(), 1.0);
    let base = builder.add(Link { dofs: Vec::new(), ..base }).unwrap();
    let hip = JointKind::Revolute { axis: Vector3::y_axis() };
    let leg = builder.add(link("leg", Some(base), hip, frame(), 0.4)).unwrap();
    let arm = builder.add(link("arm", Some(base), JointKind::Ball, frame(), 0.3)).unwrap();
    let mut system = System::new(builder.build().unwrap());
    system.solver = RigidSolver::ComFree(settings);
    let material = ContactMaterial::with_friction(0.6);
    let geometries = vec![
        geometry("floor", None, Shape::HalfSpace, material),
        geometry("base", Some(base), Shape::Box { half_extents: Vector3::new(0.05, 0.08, 0.03) }, material),
        geometry("leg", Some(leg), Shape::Capsule { radius: 0.02, half_length: 0.1 }, material),
        geometry("arm", Some(arm), Shape::Sphere { radius: 0.05 }, material),
    ];
    let scene = CollisionModel::new(geometries, &system.model, &[]).unwrap();
    (system, scene)
}

pub fn systems(settings: ComFreeSettings) -> [(System, CollisionModel); 3] {
    [everything(settings), solids(settings), walker(settings)]
}

/// Where much overlaps, a leg is turned by up to a whole turn, and rods lie nearly along each
/// other.
pub fn random_state(system: &System, random: &mut Random) -> State {
    let model = &system.model;
    let mut state = crowded(model, random);
    let first = |name: &str| model.link(name).map(|link| model.positions_of(link).start);
    if let Some(leg) = first("leg") {
        state.q[leg] = 6.0 * random.signed();
    }
    if let (Some(rod), Some(other)) = (first("rod 0"), first("rod 1")) {
        let [w, x, y, z] = [0, 1, 2, 3].map(|k| state.q[rod + k]);
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let turn = turn * UnitQuaternion::from_scaled_axis(0.02 * random.vector());
        state.q[other..other + 4].copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
    }
    state
}

/// A ball by itself.
pub fn ball() -> (System, CollisionModel) {
    let mut builder = ModelBuilder::new(down());
    builder.add(body("ball", &Shape::Sphere { radius: 0.1 })).unwrap();
    let mut system = System::new(builder.build().unwrap());
    system.solver = RigidSolver::ComFree(ComFreeSettings::default());
    let scene = CollisionModel::new(Vec::new(), &system.model, &[]).unwrap();
    (system, scene)
}
