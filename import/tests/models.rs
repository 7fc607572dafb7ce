//! The models in `scenes/models`: degrees of freedom, mass, reach, and that their motors can hold
//! them.

use std::path::PathBuf;

use nalgebra::{Isometry3, Translation3, Vector3};
use pliant_import::{self, Imported};
use pliant_rigid::collision::{CollisionModel, Detector};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;

fn model(name: &str) -> Imported {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scenes/models").join(name);
    let imported = pliant_import::load(path).unwrap_or_else(|e| panic!("{e}"));
    assert!(imported.warnings.is_empty(), "{name}: {}", imported.warnings[0]);
    imported
}

fn mass(imported: &Imported) -> f64 {
    imported.system.model.links().iter().map(|link| link.inertia.mass).sum()
}

/// Where a link's origin is.
fn place(imported: &Imported, state: &State, link: &str) -> Vector3<f64> {
    let model = &imported.system.model;
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    kinematics.pose(model.link(link).unwrap()).translation.vector
}

#[test]
fn dimensions_and_masses_are_the_published_ones() {
    // Degrees of freedom; total mass (kg); a link and where it is at the zero pose (m). Sources:
    // the comments of the models.
    let (shank, thigh, ankle) = (0.246 * 1.75, 0.245 * 1.75, 0.039 * 1.75);
    let leg = 0.209 + 0.195;
    let table = [
        ("iiwa7.xml", 7, 23.9, "flange", [0.0, 0.0, 0.34 + 0.4 + 0.4 + 0.126]),
        ("iiwa7.urdf", 7, 23.9, "flange", [0.0, 0.0, 0.34 + 0.4 + 0.4 + 0.126]),
        ("panda.xml", 7, 18.0, "flange", [0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107]),
        ("parallel_gripper.xml", 2, 0.73, "left_finger", [0.0, 0.0, 0.0584]),
        ("allegro_hand.xml", 16, 1.08, "middle_tip", [0.0, 0.0, 0.0007 + 0.0164 + 0.054 + 0.0384]),
        // The thumb points sideways: Rz(-pi/2) Ry(-1.658062789) of (-0.027, 0.005, 0.109) from its base.
        ("allegro_hand.xml", 16, 1.08, "thumb_tip", [-0.0132, 0.125565, -0.082384]),
        ("humanoid.xml", 6 + 19, 75.0, "left_foot", [0.0, 0.191 * 1.75 / 2.0, ankle]),
        ("quadruped.xml", 6 + 12, 8.912, "front_left_shank", [0.19, 0.049 + 0.062 + 0.004, 0.3 - 0.209]),
    ];
    for (name, dofs, kilograms, link, at) in table {
        let imported = model(name);
        assert_eq!(imported.system.model.velocities(), dofs, "{name}");
        assert!((mass(&imported) - kilograms).abs() < 1e-9, "{name}: {} kg", mass(&imported));
        let found = place(&imported, &imported.state, link);
        // Lengths are written with six decimals.
        assert!((found - Vector3::from(at)).norm() < 2e-6, "{name}: {link} is at {found:?}");
    }
    let humanoid = model("humanoid.xml");
    let pelvis = place(&humanoid, &humanoid.state, "pelvis");
    assert!((pelvis.z - (shank + thigh + ankle)).abs() < 2e-6);
    // A leg bent by law of cosines: at the keyframe "stand" thigh and shank make the angles -0.8
    // and 0.8 with the vertical.
    let quadruped = model("quadruped.xml");
    let stand = quadruped.keyframe("stand").unwrap().state.clone();
    let knee = place(&quadruped, &stand, "hind_right_shank");
    let expected = Vector3::new(-0.19 + 0.209 * 0.8_f64.sin(), -0.115, 0.29 - 0.209 * 0.8_f64.cos());
    assert!((knee - expected).norm() < 1e-9, "{knee:?}");
    assert!(leg > 0.29, "it stands within its reach");
}

/// Motors under gravity compensation hold every model where it is. A floating base is welded to the
/// world for this. Motors are strong enough, or the arm would sink.
#[test]
fn gravity_compensation_holds_every_model_still() {
    for name in [
        "iiwa7.xml",
        "iiwa7.urdf",
        "panda.xml",
        "parallel_gripper.xml",
        "allegro_hand.xml",
        "humanoid.xml",
        "quadruped.xml",
    ] {
        let mut imported = model(name);
        let state = imported.keyframes.first().map_or(imported.state.clone(), |key| key.state.clone());
        for actuator in &mut imported.system.actuators {
            actuator.control = Control::Effort { effort: 0.0 };
            actuator.gravity_compensation = true;
        }
        let links = imported.system.model.links();
        if links[0].joint == JointKind::Free {
            let mut kinematics = Kinematics::new(&imported.system.model);
            kinematics.update(&imported.system.model, &state);
            let frames = [*kinematics.pose(LinkId(0)), Isometry3::identity()];
            imported.system.equalities.push(Equality::Weld { links: [None, Some(LinkId(0))], frames });
        }
        let start = state.q.clone();
        let integrator = Integrator::Fixed { step: 0.002 };
        let mut simulation = Simulation::new(imported.system, NoContacts, integrator, state).unwrap();
        simulation.advance_to(0.5).unwrap();
        let moved = simulation.state().q.iter().zip(&start).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // The weld is near-rigid and gives by some micrometres; fixed bases do not move at all.
        assert!(moved < 1e-5, "{name} moved by {moved}");
    }
}

/// Without compensation an arm falls: the test above can fail.
#[test]
fn an_arm_without_motors_falls() {
    let mut imported = model("iiwa7.xml");
    let state = imported.keyframe("ready").unwrap().state.clone();
    imported.system.actuators.clear();
    let start = state.q.clone();
    let integrator = Integrator::Fixed { step: 0.002 };
    let mut simulation = Simulation::new(imported.system, NoContacts, integrator, state).unwrap();
    simulation.advance_to(0.5).unwrap();
    let moved = simulation.state().q.iter().zip(&start).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved > 0.1, "{moved}");
}

/// Every model makes a scene, and nothing of it overlaps at its zero pose and its keyframes.
#[test]
fn no_model_touches_itself_where_it_begins() {
    for name in [
        "iiwa7.xml",
        "panda.xml",
        "parallel_gripper.xml",
        "allegro_hand.xml",
        "humanoid.xml",
        "quadruped.xml",
    ] {
        let imported = model(name);
        let model = &imported.system.model;
        let scene = CollisionModel::new(imported.geometries.clone(), model, &imported.excluded);
        let scene = scene.unwrap().with_pairs(&imported.pairs).unwrap();
        let mut detector = Detector::new();
        let states = imported.keyframes.iter().map(|key| &key.state).chain([&imported.state]);
        for state in states {
            let mut kinematics = Kinematics::new(model);
            kinematics.update(model, state);
            let mut contacts = Vec::new();
            detector.detect(&scene, |link| *kinematics.pose(link), 0.0, &mut contacts);
            let deepest = contacts.iter().min_by(|a, b| a.distance.total_cmp(&b.distance));
            if let Some(contact) = deepest {
                let [a, b] = [contact.a, contact.b].map(|g| &scene.geometries()[g].name);
                // Closed pads touch at a distance of 0.
                assert!(contact.distance > -1e-9, "{name}: '{a}' and '{b}' overlap by {}", -contact.distance);
            }
        }
    }
}

/// Servos of the gripper close on their limits: commanded to open, the fingers end 0.04 m from the
/// middle.
#[test]
fn the_gripper_opens_when_told_to() {
    let mut imported = model("parallel_gripper.xml");
    imported.set_control(&[0.04, 1.0]); // the second beyond its range of 0.04
    let [left, right] = ["left", "right"].map(|name| imported.joint(name).unwrap());
    let state = imported.state.clone();
    let integrator = Integrator::Fixed { step: 0.001 };
    let mut simulation = Simulation::new(imported.system, NoContacts, integrator, state).unwrap();
    simulation.advance_to(1.0).unwrap();
    for link in [left, right] {
        let at = simulation.system().model.positions_of(link).start;
        let q = simulation.state().q[at];
        assert!((q - 0.04).abs() < 1e-6, "{q}");
    }
}

/// The arm as MJCF and as URDF is one mechanism, but for the armature that URDF does not have.
#[test]
fn the_arm_is_the_same_in_both_formats() {
    let (mjcf, urdf) = (model("iiwa7.xml"), model("iiwa7.urdf"));
    let q = [0.3, -0.5, 1.1, 0.7, -0.9, 1.3, 0.2];
    let masses = [&mjcf, &urdf].map(|imported| {
        let model = &imported.system.model;
        let mut state = imported.state.clone();
        state.q.copy_from_slice(&q);
        let mut kinematics = Kinematics::new(model);
        kinematics.update(model, &state);
        let mut mass = MassMatrix::default();
        mass_matrix(model, &kinematics, &mut mass);
        mass.block(0).into_owned()
    });
    let armature = nalgebra::DMatrix::identity(7, 7) * 0.1;
    let difference = (&masses[0] - armature - &masses[1]).abs().max();
    assert!(difference < 1e-12, "{difference}");
    assert_eq!(mjcf.inputs.len(), urdf.inputs.len());
    for (a, b) in mjcf.system.actuators.iter().zip(&urdf.system.actuators) {
        assert_eq!(a.effort_limit, b.effort_limit);
    }
    for (a, b) in mjcf.joints.iter().zip(&urdf.joints) {
        let limits =
            [&mjcf, &urdf].map(|m| m.system.model.links()[m.joint(&a.name).unwrap().0].dofs[0].limits);
        assert!((limits[0][1] - limits[1][1]).abs() < 1e-12 && limits[0][0] == -limits[0][1]);
        assert!(b.velocity_limit.unwrap() > 1.0);
    }
    // One more: geometry in both is at the same place.
    let frame =
        |m: &Imported| m.geometries.iter().map(|g| g.pose.translation).collect::<Vec<Translation3<f64>>>();
    for (a, b) in frame(&mjcf).iter().zip(&frame(&urdf)) {
        assert!((a.vector - b.vector).norm() < 1e-12);
    }
}
