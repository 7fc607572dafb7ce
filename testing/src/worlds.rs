//! A system with one of everything that batches support, and states with many overlaps.

use crate::Random;
use crate::comfree::*;
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial, FrictionRule};
use pliant_rigid::comfree::*;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;

/// Gains with which the published form is stable for many deep contacts.
pub const GENTLE: Gains = Gains::Physical { frequency: 10.0, damping_ratio: 0.3 };

pub fn random_pose(random: &mut Random, reach: f64) -> Isometry3<f64> {
    let [x, y, z] = [0; 3].map(|_| reach * random.signed());
    let turn = Vector3::from([0; 3].map(|_| 3.0 * random.signed()));
    Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_scaled_axis(turn))
}

pub fn link(name: &str, parent: Option<LinkId>, joint: JointKind, frame: Isometry3<f64>, mass: f64) -> Link {
    let inertia = mass * 1e-3 * Matrix3::new(2.0, 0.2, 0.1, 0.2, 1.5, -0.1, 0.1, -0.1, 1.0);
    let center = Vector3::new(0.01, -0.02, 0.03);
    let dof = Dof { damping: 0.05, armature: 0.002, ..Dof::default() };
    Link {
        name: name.into(),
        parent,
        inertia: RigidInertia::at_center(mass, center, inertia),
        gravity: name != "wrist",
        dofs: vec![dof; joint.velocities()],
        joint,
        frame,
    }
}

/// An arm with joints of all kinds, a branch, welded links, springs, limits, dry friction and
/// motors; a cube, a sphere and a floor. Sliding, torsional and rolling friction, all four shapes.
pub fn everything(settings: ComFreeSettings) -> (System, CollisionModel) {
    let mut random = Random::new(5);
    let mut builder = ModelBuilder::new(Vector3::new(0.3, -0.2, -G));
    let mut frame = || random_pose(&mut random, 0.1);
    let x = Vector3::x_axis();
    let base = builder.add(link("base", None, JointKind::Fixed, frame(), 1.0)).unwrap();
    let shoulder = JointKind::Revolute { axis: nalgebra::Unit::new_normalize(Vector3::new(1.0, 2.0, -0.5)) };
    let mut upper = link("upper", Some(base), shoulder, frame(), 0.8);
    upper.dofs[0].stiffness = 2.0;
    upper.dofs[0].reference = 0.3;
    upper.dofs[0].limits = [-0.2, 0.3];
    let upper = builder.add(upper).unwrap();
    let mut slide = link("slide", Some(upper), JointKind::Prismatic { axis: x }, frame(), 0.5);
    slide.dofs[0].friction_loss = 0.4;
    slide.dofs[0].limits = [-0.02, 0.02];
    let slide = builder.add(slide).unwrap();
    let welded = builder.add(link("welded", Some(slide), JointKind::Fixed, frame(), 0.3)).unwrap();
    let wrist = builder.add(link("wrist", Some(welded), JointKind::Ball, frame(), 0.4)).unwrap();
    let branch = JointKind::Revolute { axis: Vector3::y_axis() };
    let branch = builder.add(link("branch", Some(upper), branch, frame(), 0.3)).unwrap();
    let side = Shape::Box { half_extents: Vector3::repeat(0.05) };
    let ball = Shape::Sphere { radius: 0.06 };
    let cube = builder.add(body("cube", &side)).unwrap();
    let round = builder.add(body("ball", &ball)).unwrap();
    let model = builder.build().unwrap();

    let mut system = System::new(model);
    system.solver = RigidSolver::ComFree(settings);
    let motor = |link, control| Actuator {
        link,
        dof: 0,
        control,
        effort_limit: f64::INFINITY,
        gravity_compensation: false,
    };
    let position = Control::Position { target: 0.4, target_rate: 0.1, stiffness: 8.0, damping: 0.3 };
    system.actuators = vec![
        motor(upper, position),
        motor(slide, Control::Velocity { target: 0.2, damping: 5.0 }),
        motor(branch, Control::Effort { effort: 0.2 }),
    ];
    let material = |friction, torsion, rolling| ContactMaterial {
        torsional_friction: torsion,
        rolling_friction: rolling,
        ..ContactMaterial::with_friction(friction)
    };
    let capsule = Shape::Capsule { radius: 0.04, half_length: 0.06 };
    let on = |name: &str, link, shape: Shape, material| CollisionGeometry {
        pose: Isometry3::translation(0.01, 0.0, 0.02),
        ..geometry(name, link, shape, material)
    };
    let larger = |material| ContactMaterial { friction_rule: FrictionRule::Larger, ..material };
    let geometries = vec![
        geometry("floor", None, Shape::HalfSpace, larger(material(0.8, 0.01, 0.002))),
        on("welded", Some(welded), capsule.clone(), material(0.5, 0.0, 0.0)),
        on("branch", Some(branch), ball.clone(), material(0.9, 0.02, 0.001)),
        on("wrist", Some(wrist), capsule, material(0.4, 0.003, 0.0)),
        geometry("cube", Some(cube), side, larger(material(0.6, 0.01, 0.001))),
        geometry("ball", Some(round), ball, material(0.7, 0.02, 0.003)),
    ];
    let scene = CollisionModel::new(geometries, &system.model, &[]).unwrap();
    (system, scene)
}

/// A state with many overlaps: bodies within 8 cm of the floor's origin.
pub fn crowded(model: &Model, random: &mut Random) -> State {
    let mut state = model.zero_configuration();
    for link in model.links() {
        let id = model.link(&link.name).unwrap();
        let q = &mut state.q[model.positions_of(id)];
        match link.joint {
            JointKind::Free | JointKind::Ball => {
                let pose = random_pose(random, 0.08);
                let (r, t) = (pose.rotation, pose.translation);
                let all = [r.w, r.i, r.j, r.k, t.x, t.y, t.z];
                q.copy_from_slice(&all[..q.len()]);
            }
            _ => q.iter_mut().for_each(|q| *q = 0.5 * random.signed()),
        }
    }
    state.v.iter_mut().for_each(|v| *v = random.signed());
    state
}
