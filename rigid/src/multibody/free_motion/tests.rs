use nalgebra::{Isometry3, Matrix3, Translation3, Unit, UnitQuaternion};

use super::*;
use crate::multibody::{JointKind, Link, ModelBuilder, kinetic_energy};

/// A tree of a free root and of one body on each joint.
fn tree(random: &mut impl FnMut() -> f64) -> (Model, State) {
    let mut vector = |size: f64| size * Vector3::new(random(), random(), random());
    let [a, b, c, d] = core::array::from_fn(|_| Unit::new_normalize(vector(1.0)));
    let joints = [
        JointKind::Free,
        JointKind::Ball,
        JointKind::Planar,
        JointKind::Universal { first: a, second: b },
        JointKind::Prismatic { axis: c },
        JointKind::Revolute { axis: d },
    ];
    let mut builder = ModelBuilder::new(Vector3::zeros());
    for (l, joint) in joints.into_iter().enumerate() {
        let moments = Vector3::new(1e-3, 1.5e-3, 2e-3);
        let turn = UnitQuaternion::from_scaled_axis(vector(1.0));
        let link = Link {
            name: format!("{l}"),
            parent: l.checked_sub(1).map(LinkId),
            joint,
            frame: Isometry3::from_parts(Translation3::from(vector(0.1)), turn),
            inertia: RigidInertia::at_center(0.5, vector(0.1), Matrix3::from_diagonal(&moments)),
            gravity: true,
            dofs: Vec::new(),
        };
        builder.add(link).unwrap();
    }
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    let v: Vec<f64> = (0..model.velocities()).map(|_| random()).collect();
    model.advance(&mut state.q, &v, 1.0);
    state.v.iter_mut().for_each(|v| *v = 5.0 * random());
    (model, state)
}

/// What is carried along a way keeps its kinetic energy, but for the square of the way: a tenth
/// of the way, a hundredth of the error.
#[test]
fn what_is_carried_keeps_its_energy() {
    let mut bits = 18_u64;
    let mut random = || {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    for draw in 0..20 {
        let (model, state) = tree(&mut random);
        let energy = |state: &State| {
            let mut kinematics = Kinematics::new(&model);
            kinematics.update(&model, state);
            kinetic_energy(&model, &kinematics, state)
        };
        let displacement: Vec<f64> = state.v.iter().map(|_| random()).collect();
        let mut motion = ContactFreeMotion::new(&model);
        // Its end is its start.
        motion.run(&model, &state, 1e-12, |_| false).unwrap();
        let before = energy(&state);
        let off = |size: f64, carried: bool| {
            let displacement: Vec<f64> = displacement.iter().map(|w| size * w).collect();
            let mut moved = state.clone();
            model.advance(&mut moved.q, &displacement, 1.0);
            if carried {
                motion.clone().parallel_transport(&model, 0, &displacement, &mut moved.v);
            }
            (energy(&moved) / before - 1.0).abs()
        };
        let [coarse, fine, without] = [off(1e-3, true), off(1e-4, true), off(1e-4, false)];
        println!("draw {draw}: {coarse:e}, {fine:e}, with the same numbers {without:e}");
        assert!(coarse < 1e-4 && fine < 0.02 * coarse + 1e-10, "draw {draw}: {coarse:e} {fine:e}");
        assert!(without > 3.0 * fine, "draw {draw}: {without:e} {fine:e}");
    }
}
