//! Random mechanisms for tests.

#![allow(clippy::unwrap_used)] // everything here runs in tests

use crate::Random;
use nalgebra::{Isometry3, Matrix3, Translation3, Unit, Vector3};
use pliant_rigid::multibody::*;

/// Along no axis, so that no term of it vanishes.
pub const GRAVITY: Vector3<f64> = Vector3::new(0.3, -0.2, -9.81);

/// A direction.
pub fn axis_of(random: &mut Random) -> Unit<Vector3<f64>> {
    Unit::new_normalize(random.vector())
}

/// A pose within a metre or two.
pub fn pose(random: &mut Random) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::from(random.vector()), random.rotation())
}

/// A solid: some points of mass, seen from a frame that is not their centre.
pub fn inertia(random: &mut Random) -> RigidInertia {
    let mut total = RigidInertia::zero();
    for _ in 0..6 {
        let sphere = Matrix3::identity() * 0.01;
        total += RigidInertia::at_center(0.3 + 0.2 * random.signed(), random.vector() * 0.3, sphere);
    }
    total
}

/// Two trees that have every joint, massless links, welded links and branches.
pub fn mechanism(random: &mut Random) -> (Model, State) {
    let mut builder = ModelBuilder::new(GRAVITY);
    let mut add = |builder: &mut ModelBuilder, name: &str, parent, joint, massive: bool| {
        let mut dofs = Vec::new();
        for _ in 0..6 {
            dofs.push(Dof { armature: 0.05 + 0.05 * random.signed(), ..Dof::default() });
        }
        let inertia = if massive { inertia(random) } else { RigidInertia::zero() };
        let frame = pose(random);
        let link = Link { name: name.into(), parent, joint, frame, inertia, gravity: name != "c", dofs };
        builder.add(link).unwrap()
    };
    let mut axis = Random::new(2024);
    let base = add(&mut builder, "base", None, JointKind::Fixed, true);
    let float = add(&mut builder, "float", None, JointKind::Free, true);
    let a = add(&mut builder, "a", Some(base), JointKind::Revolute { axis: axis_of(&mut axis) }, false);
    let b = add(&mut builder, "b", Some(float), JointKind::Ball, true);
    let c = add(&mut builder, "c", Some(a), JointKind::Prismatic { axis: axis_of(&mut axis) }, true);
    let d = add(
        &mut builder,
        "d",
        Some(c),
        JointKind::Universal { first: axis_of(&mut axis), second: axis_of(&mut axis) },
        true,
    );
    let e = add(&mut builder, "e", Some(b), JointKind::Fixed, true);
    let f = add(&mut builder, "f", Some(e), JointKind::Planar, true);
    add(&mut builder, "g", Some(a), JointKind::Free, true);
    add(&mut builder, "h", Some(d), JointKind::Revolute { axis: axis_of(&mut axis) }, true);
    add(
        &mut builder,
        "i",
        Some(f),
        JointKind::Universal { first: axis_of(&mut axis), second: axis_of(&mut axis) },
        true,
    );
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    let mut kick = vec![0.0; model.velocities()];
    kick.iter_mut().for_each(|x| *x = random.signed());
    model.advance(&mut state.q, &kick, 1.5);
    state.v.iter_mut().for_each(|x| *x = 2.0 * random.signed());
    (model, state)
}
