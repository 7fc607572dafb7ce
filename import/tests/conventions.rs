//! What MJCF and URDF mean, against closed forms, against each other, and against numbers recorded
//! from MuJoCo.

use nalgebra::{DMatrix, Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use pliant_import::{self, Imported};
use pliant_rigid::Shape;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use std::f64::consts::{FRAC_PI_2, PI};

fn mjcf(text: &str) -> Imported {
    let imported = pliant_import::from_mjcf(text, ".").unwrap_or_else(|e| panic!("{e}"));
    assert!(imported.warnings.is_empty(), "{}", imported.warnings[0]);
    imported
}

fn bodies(inner: &str) -> Imported {
    mjcf(&format!("<mujoco><compiler angle=\"radian\"/><worldbody>{inner}</worldbody></mujoco>"))
}

fn pose(imported: &Imported, q: &[f64], link: &str) -> Isometry3<f64> {
    let model = &imported.system.model;
    let mut state = imported.state.clone();
    state.q.copy_from_slice(q);
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, &state);
    *kinematics.pose(model.link(link).unwrap())
}

fn mass_matrix_at(model: &Model, state: &State) -> (DMatrix<f64>, Vec<f64>) {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let mut mass = MassMatrix::default();
    mass_matrix(model, &kinematics, &mut mass);
    let n = model.velocities();
    let mut dense = DMatrix::zeros(n, n);
    let mut unit = vec![0.0; n];
    for i in 0..n {
        unit.fill(0.0);
        unit[i] = 1.0;
        mass.multiply(model, &unit, dense.column_mut(i).as_mut_slice());
    }
    let mut bias = vec![0.0; n];
    bias_forces(model, &kinematics, &[], &mut InverseDynamicsBuffers::default(), &mut bias);
    (dense, bias)
}

const BALL: &str = "<geom type=\"sphere\" size=\"0.1\" mass=\"2\"/>";

/// A hinge away from the body's origin: the link's frame sits at the hinge, which does not move,
/// and the body swings about it with I = 2/5 m r^2 + m d^2 and the torque m g d sin q of gravity.
#[test]
fn a_hinge_at_an_offset_is_a_pendulum() {
    let m = bodies(&format!(
        "<body name=\"b\" pos=\"1 2 3\"><joint axis=\"0 1 0\" pos=\"0 0 0.5\"/>{BALL}</body>"
    ));
    let mut state = m.state.clone();
    state.q[0] = 0.7;
    let hinge = pose(&m, &state.q, "b").translation.vector;
    assert!((hinge - Vector3::new(1.0, 2.0, 3.5)).norm() < 1e-15);
    let (mass, bias) = mass_matrix_at(&m.system.model, &state);
    assert!((mass[(0, 0)] - (0.4 * 2.0 * 0.01 + 2.0 * 0.25)).abs() < 1e-14);
    assert!((bias[0] - 2.0 * 9.81 * 0.5 * 0.7_f64.sin()).abs() < 1e-13);
}

/// `ref` is the coordinate of the pose that the file shows; joints of one body act in their order,
/// each on what the earlier ones have moved: x = T(p) R(a, q - ref) T(-p) for each.
#[test]
fn joints_of_one_body_form_a_chain() {
    let m = bodies(&format!(
        "<body name=\"b\" pos=\"1 0 0\">
           <joint name=\"first\" axis=\"0 0 1\" pos=\"0.2 0 0\" ref=\"0.3\"/>
           <joint name=\"second\" type=\"slide\" axis=\"1 0 0\" ref=\"0.1\"/>
           <joint name=\"third\" axis=\"0 1 0\" pos=\"0 0 0.4\"/>{BALL}</body>"
    ));
    assert_eq!(m.state.q, [0.3, 0.1, 0.0]);
    let about = |p: Vector3<f64>, r: UnitQuaternion<f64>| {
        Translation3::from(p) * Isometry3::from_parts(Translation3::identity(), r) * Translation3::from(-p)
    };
    let q = [0.9, 0.35, -0.5];
    let turn = UnitQuaternion::from_axis_angle;
    let body = Translation3::new(1.0, 0.0, 0.0)
        * about(Vector3::new(0.2, 0.0, 0.0), turn(&Vector3::z_axis(), 0.6))
        * Translation3::new(0.25, 0.0, 0.0)
        * about(Vector3::new(0.0, 0.0, 0.4), turn(&Vector3::y_axis(), -0.5));
    // The last link's frame is at its joint.
    let expected = body * Translation3::new(0.0, 0.0, 0.4);
    let found = pose(&m, &q, "b");
    assert!((found.to_homogeneous() - expected.to_homogeneous()).abs().max() < 1e-15);
    // The geometry is where the body is, whatever the link's frame.
    let at = found * m.geometries[0].pose;
    assert!((at.translation.vector - body.translation.vector).norm() < 1e-15);
    let links: Vec<_> = ["first", "second", "third"].map(|n| m.joint(n).unwrap()).into();
    assert_eq!(links, [LinkId(0), LinkId(1), LinkId(2)]);
}

/// Every way to write one orientation: a quarter turn about z, then a quarter turn about the new x.
#[test]
fn orientations_agree_however_they_are_written() {
    let expected = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), FRAC_PI_2)
        * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2);
    let third = 2.0 * PI / 3.0;
    for (compiler, written) in [
        ("", "quat=\"1 1 1 1\"".to_owned()),
        ("angle=\"radian\"", format!("axisangle=\"1 1 1 {third}\"")),
        ("angle=\"degree\"", "axisangle=\"2 2 2 120\"".to_owned()),
        ("eulerseq=\"zxy\"", "euler=\"90 90 0\"".to_owned()),
        // Fixed axes, the other way round.
        ("eulerseq=\"XZY\"", "euler=\"90 90 0\"".to_owned()),
        ("angle=\"radian\" eulerseq=\"yzx\"", format!("euler=\"0 {FRAC_PI_2} {FRAC_PI_2}\"")),
        ("", "xyaxes=\"0 1 0 0 1 1\"".to_owned()),
    ] {
        let text = format!(
            "<mujoco><compiler {compiler}/><worldbody><body name=\"b\" {written}/></worldbody></mujoco>"
        );
        let turned = pose(&mjcf(&text), &[], "b").rotation;
        assert!(turned.angle_to(&expected) < 1e-15, "{compiler} {written}");
    }
    let up = pose(&bodies("<body name=\"b\" zaxis=\"0 3 4\"/>"), &[], "b") * Vector3::z();
    assert!((up - Vector3::new(0.0, 0.6, 0.8)).norm() < 1e-15);
    let down = pose(&bodies("<body name=\"b\" zaxis=\"0 0 -1\"/>"), &[], "b") * Vector3::z();
    assert!((down + Vector3::z()).norm() < 1e-15);
}

/// Degrees are the default; lengths of slides stay lengths.
#[test]
fn angles_are_degrees_unless_radians_are_asked_for() {
    let inner = format!(
        "<worldbody><body><joint name=\"h\" range=\"-90 180\" springref=\"45\" stiffness=\"1\"/>{BALL}</body>
         <body><joint name=\"s\" type=\"slide\" range=\"-90 180\" ref=\"2\"/>{BALL}</body></worldbody>"
    );
    let degrees = mjcf(&format!("<mujoco>{inner}</mujoco>"));
    let dof = |m: &Imported, joint: &str| m.system.model.links()[m.joint(joint).unwrap().0].dofs[0];
    assert_eq!(dof(&degrees, "h").limits, [-FRAC_PI_2, PI]);
    assert!((dof(&degrees, "h").reference - PI / 4.0).abs() < 1e-16);
    assert_eq!(dof(&degrees, "s").limits, [-90.0, 180.0]);
    let radians = mjcf(&format!("<mujoco><compiler angle=\"radian\"/>{inner}</mujoco>"));
    assert_eq!(dof(&radians, "h").limits, [-90.0, 180.0]);
}

/// The mass of a capsule between two points: pi r^2 L + 4/3 pi r^3 of density 1000; its axis and
/// middle.
#[test]
fn fromto_puts_a_capsule_between_two_points() {
    let m = bodies(
        "<body name=\"b\"><freejoint/><geom type=\"capsule\" size=\"0.1\" fromto=\"1 0 0 1 0.6 0.8\"/></body>",
    );
    let capsule = &m.geometries[0];
    let Shape::Capsule { radius, half_length } = capsule.shape else { panic!("{:?}", capsule.shape) };
    assert_eq!((radius, half_length), (0.1, 0.5));
    assert!((capsule.pose.translation.vector - Vector3::new(1.0, 0.3, 0.4)).norm() < 1e-15);
    let axis = capsule.pose.rotation * Vector3::z();
    assert!((axis.cross(&Vector3::new(0.0, 0.6, 0.8))).norm() < 1e-15);
    let mass = m.system.model.links()[0].inertia.mass;
    assert!((mass - 1000.0 * PI * (0.01 + 4.0 / 3.0 * 0.001)).abs() < 1e-11, "{mass}");
}

/// `inertiafromgeom`: the sum over geoms by Steiner's theorem; an `<inertial>` counts instead
/// unless it is overruled; groups out of range do not count; `settotalmass`, `boundmass`,
/// `boundinertia` and `balanceinertia` as documented.
#[test]
fn masses_come_from_geoms_or_from_inertial() {
    let body = |compiler: &str, inertial: &str| {
        mjcf(&format!(
            "<mujoco><compiler {compiler}/><worldbody><body name=\"b\"><freejoint/>{inertial}
               <geom type=\"box\" size=\"0.1 0.2 0.3\" pos=\"0.5 0 0\" mass=\"3\"/>
               <geom type=\"box\" size=\"0.1 0.2 0.3\" pos=\"-0.5 0 0\" mass=\"3\" group=\"4\"/>
             </body></worldbody></mujoco>"
        ))
        .system
        .model
        .links()[0]
            .inertia
    };
    let two = body("", "");
    let box_moments = Vector3::new(0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04); // m/3 (b^2 + c^2), m = 3
    let expected = Matrix3::from_diagonal(&(box_moments * 2.0 + Vector3::new(0.0, 1.5, 1.5)));
    assert!((two.mass - 6.0).abs() < 1e-15 && two.moment.norm() < 1e-15);
    assert!((two.inertia - expected).abs().max() < 1e-15);
    let one = body("inertiagrouprange=\"0 3\"", "");
    assert!((one.mass - 3.0).abs() < 1e-15 && (one.center().x - 0.5).abs() < 1e-15);
    let given = "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 2 2.5\"/>";
    assert!((body("", given).mass - 1.0).abs() < 1e-15);
    assert!((body("inertiafromgeom=\"true\"", given).mass - 6.0).abs() < 1e-15);
    assert!((body("settotalmass=\"12\"", "").inertia - expected * 2.0).abs().max() < 1e-14);
    let flat = "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 4\"/>";
    let balanced = body("balanceinertia=\"true\"", flat).inertia;
    assert!((balanced - Matrix3::identity() * 2.0).abs().max() < 1e-15);
    let bounded = body("boundmass=\"2\" boundinertia=\"1.5\"", given);
    let least = Matrix3::from_diagonal(&Vector3::new(1.5, 2.0, 2.5));
    assert!(bounded.mass == 2.0 && (bounded.inertia - least).abs().max() < 1e-15);
    // fullinertia is xx, yy, zz, xy, xz, yz.
    let full = body("", "<inertial pos=\"0 0 0\" mass=\"1\" fullinertia=\"3 4 5 0.1 0.2 0.3\"/>").inertia;
    assert_eq!(full, Matrix3::new(3.0, 0.1, 0.2, 0.1, 4.0, 0.3, 0.2, 0.3, 5.0));
}

/// Classes: the outermost holds everywhere, a nested one inherits from the one around it,
/// `childclass` holds for what is inside, and an element's own class and attributes come first.
/// Attributes are inherited one by one.
#[test]
fn default_classes_are_inherited() {
    let m = mjcf(
        "<mujoco><compiler angle=\"radian\"/><default>
           <joint damping=\"1\" armature=\"0.5\"/> <geom size=\"0.1\" pos=\"1 2 3\" mass=\"1\"/>
           <default class=\"a\"> <joint damping=\"2\"/>
             <default class=\"b\"> <joint armature=\"0.7\"/> <geom euler=\"0.1 0 0\"/> </default>
           </default>
         </default><worldbody>
           <body><joint name=\"main\"/><geom/></body>
           <body childclass=\"a\"><joint name=\"a\"/><geom/>
             <body><joint name=\"b\" class=\"b\" damping=\"3\"/><geom class=\"b\" quat=\"0 1 0 0\"/></body>
             <frame childclass=\"b\" pos=\"0 0 1\"><body><joint name=\"framed\"/><geom/></body></frame>
           </body>
         </worldbody></mujoco>",
    );
    let dof = |joint: &str| {
        let dof = m.system.model.links()[m.joint(joint).unwrap().0].dofs[0];
        [dof.damping, dof.armature]
    };
    assert_eq!(dof("main"), [1.0, 0.5]);
    assert_eq!(dof("a"), [2.0, 0.5]);
    assert_eq!(dof("b"), [3.0, 0.7]);
    assert_eq!(dof("framed"), [2.0, 0.7]);
    // The place comes from the outermost class, the orientation from the element.
    let geom = &m.geometries[2].pose;
    assert_eq!(geom.translation.vector, Vector3::new(1.0, 2.0, 3.0));
    assert!((geom.rotation.angle() - PI).abs() < 1e-15);
}

/// Motors: the force on the joint is gear times the actuator's, whose length and rate are gear
/// times the joint's.
#[test]
fn motors_act_through_their_gears() {
    let m = mjcf(&format!(
        "<mujoco><worldbody><body><joint name=\"j\" range=\"-90 90\" actuatorfrcrange=\"-50 50\"/>{BALL}</body></worldbody>
         <actuator>
           <motor joint=\"j\" gear=\"2\" ctrlrange=\"-3 3\"/>
           <position joint=\"j\" gear=\"2\" kp=\"10\" kv=\"1\" forcerange=\"-20 20\"/>
           <velocity joint=\"j\" gear=\"2\" kv=\"5\"/>
           <general joint=\"j\" gear=\"2\" gainprm=\"10\" biastype=\"affine\" biasprm=\"3 -20 -2\"/>
           <position joint=\"j\" kp=\"10\" dampratio=\"1\" inheritrange=\"0.5\"/>
         </actuator></mujoco>"
    ));
    let mut m = m;
    m.set_control(&[5.0, 0.8, 0.8, 0.8, 9.0]);
    let control: Vec<Control> = m.system.actuators.iter().map(|a| a.control).collect();
    assert_eq!(control[0], Control::Effort { effort: 6.0 });
    let servo =
        |target, stiffness, damping| Control::Position { target, target_rate: 0.0, stiffness, damping };
    assert_eq!(control[1], servo(0.4, 40.0, 4.0));
    assert_eq!(control[2], Control::Velocity { target: 0.4, damping: 20.0 });
    // 2 (10 u + 3 - 20 (2 q) - 2 (2 v)): stiffness 80, damping 8, target 2 (10 u + 3)/80.
    assert_eq!(control[3], servo(0.275, 80.0, 8.0));
    // Critical damping of the inertia 2/5 m r^2 at the joint, and a target within half the range.
    let damping = 2.0 * (10.0_f64 * 0.008).sqrt();
    let Control::Position { target, damping: found, .. } = control[4] else { panic!() };
    assert!((target - PI / 4.0).abs() < 1e-15 && (found - damping).abs() < 1e-15);
    let limits: Vec<f64> = m.system.actuators.iter().map(|a| a.effort_limit).collect();
    assert_eq!(limits, [50.0, 40.0, 50.0, 50.0, 50.0]);
}

/// A mesh asset: the reference pose is taken off first, then the scale applied (asked of MuJoCo
/// 4.0: the corner tetrahedron with this reference and scale has its centre of mass at the place
/// below).
#[test]
fn a_mesh_is_moved_before_it_is_scaled() {
    let m = mjcf(
        "<mujoco><asset><mesh name=\"t\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1\" refpos=\"0.1 0.2 0.3\" scale=\"1 2 3\"/></asset>
         <worldbody><body><freejoint/><geom type=\"mesh\" mesh=\"t\"/></body></worldbody></mujoco>",
    );
    let inertia = m.system.model.links()[0].inertia;
    assert!((inertia.mass - 1000.0).abs() < 1e-9);
    assert!((inertia.center() - Vector3::new(0.15, 0.1, -0.15)).norm() < 1e-12, "{:?}", inertia.center());
}

/// MuJoCo 4.0 lets a ball of 2 kg with this contact rest 1.22625 mm deep: 16000 N/m, of two equal
/// springs in series. Its damper there, with the documented b = 2/(d t) and the yielding d/(1 - d),
/// is the dissipation times the weight.
#[test]
fn solref_becomes_the_spring_that_mujoco_rests_on() {
    let m = pliant_import::from_mjcf(
        "<mujoco><worldbody><body><freejoint/>
           <geom size=\"0.1\" mass=\"2\" solref=\"0.05 1\" solimp=\"0.9 0.95 0.001\"/></body></worldbody></mujoco>",
        ".",
    );
    let material = m.unwrap().geometries[0].material;
    assert!((material.combine(&material).stiffness - 16000.0).abs() < 1e-8, "{material:?}");
    let damping = 2.0 / (0.95 * 0.05) * (0.95 / 0.05);
    assert!((material.dissipation - damping / 9.81).abs() < 1e-12);
}

/// Keyframes: MuJoCo has the place of a free body before its quaternion, and angular velocities in
/// the body's axes. Motors that are left out take their numbers with them.
#[test]
fn keyframes_are_brought_to_the_order_used_here() {
    let text = format!(
        "<mujoco><worldbody><body name=\"f\" pos=\"1 2 3\"><freejoint/>{BALL}</body>
           <body name=\"b\"><joint type=\"ball\"/>{BALL}</body><body><joint name=\"j\"/>{BALL}</body></worldbody>
         <actuator><adhesion body=\"f\" ctrlrange=\"0 1\"/><motor joint=\"j\"/></actuator>
         <keyframe><key name=\"k\" time=\"2\" qpos=\"4 5 6 1 0 0 1 0 2 0 0 0.7\" qvel=\"1 2 3 4 5 6 1 2 3 9\" ctrl=\"8 9\"/></keyframe>
         </mujoco>"
    );
    let m = pliant_import::from_mjcf(&text, ".").unwrap();
    assert_eq!(m.state.q, [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let key = m.keyframe("k").unwrap();
    let half = 0.5_f64.sqrt();
    let q = [half, 0.0, 0.0, half, 4.0, 5.0, 6.0, 0.0, 1.0, 0.0, 0.0, 0.7];
    // A quarter turn about z takes (4, 5, 6) to (-5, 4, 6); half a turn about x takes (1, 2, 3) to
    // (1, -2, -3).
    let v = [-5.0, 4.0, 6.0, 1.0, 2.0, 3.0, 1.0, -2.0, -3.0, 9.0];
    assert!(key.state.q.iter().zip(q).all(|(a, b)| (a - b).abs() < 1e-15), "{:?}", key.state.q);
    assert!(key.state.v.iter().zip(v).all(|(a, b)| (a - b).abs() < 1e-14), "{:?}", key.state.v);
    assert_eq!((key.state.time, key.control.as_slice()), (2.0, &[9.0][..]));
    key.state.validate(&m.system.model).unwrap();
}

/// Constraints hold in the configuration that the file shows; couplings count from the reference
/// coordinates.
#[test]
fn constraints_hold_where_the_file_shows_the_bodies() {
    let m = mjcf(&format!(
        "<mujoco><worldbody>
           <body name=\"a\" pos=\"1 0 0\" euler=\"0 0 90\"><joint name=\"ja\" pos=\"0.1 0 0\" ref=\"20\"/>{BALL}</body>
           <body name=\"b\" pos=\"0 1 0\"><joint name=\"jb\" pos=\"0 0.2 0\"/>{BALL}</body>
           <body name=\"c\" pos=\"0 0 2\"><freejoint/>{BALL}</body>
         </worldbody><equality>
           <connect body1=\"a\" body2=\"b\" anchor=\"0.3 0.4 0.5\"/>
           <weld body1=\"c\" body2=\"b\"/> <weld body1=\"a\"/>
           <weld body1=\"a\" body2=\"b\" relpose=\"1 2 3 1 0 0 0\"/>
           <joint joint1=\"ja\" joint2=\"jb\" polycoef=\"0.5 2 0 0 0\"/> <joint joint1=\"jb\" polycoef=\"0.25\"/>
         </equality></mujoco>"
    ));
    let model = &m.system.model;
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, &m.state);
    let at = |link: Option<LinkId>| link.map_or(Isometry3::identity(), |link| *kinematics.pose(link));
    let soft = |e: &Equality| match e {
        Equality::Compliant { held, .. } => (**held).clone(),
        other => other.clone(),
    };
    let held: Vec<Equality> = m.system.equalities.iter().map(soft).collect();
    let Equality::Ball { links, points } = &held[0] else { panic!() };
    let ends = [at(links[0]) * points[0], at(links[1]) * points[1]];
    assert!((ends[0] - ends[1]).norm() < 1e-15, "{ends:?}");
    // a is turned by 90 degrees: (0.3, 0.4, 0.5) is at (1 - 0.4, 0.3, 0.5).
    assert!((ends[0].coords - Vector3::new(0.6, 0.3, 0.5)).norm() < 1e-15);
    for equality in &held[1..3] {
        let Equality::Weld { links, frames } = equality else { panic!() };
        let [a, b] = [at(links[0]) * frames[0], at(links[1]) * frames[1]];
        assert!((a.to_homogeneous() - b.to_homogeneous()).abs().max() < 1e-15);
    }
    let Equality::Weld { links, frames } = &held[3] else { panic!() };
    let apart = (at(links[0]) * frames[0]).translation.vector - (at(links[1]) * frames[1]).translation.vector;
    // Body b should be at (1, 2, 3) of a, that is at (1 - 2, 1, 3); it is at (0, 1, 0).
    assert!((apart - Vector3::new(-1.0, 0.0, 3.0)).norm() < 1e-15, "{apart:?}");
    let Equality::Coupler { ratio, offset, .. } = held[4] else { panic!() };
    assert!(ratio == 2.0 && (offset - (20.0_f64.to_radians() + 0.5)).abs() < 1e-15);
    let Equality::Coupler { driver, driven, ratio, offset } = held[5] else { panic!() };
    assert!(driver == driven && ratio == 0.0 && offset == 0.25);
}

/// MuJoCo's rule: (contype a and conaffinity b) or (contype b and conaffinity a), besides
/// exclusions and pairs.
#[test]
fn geoms_touch_by_mujocos_rule() {
    let figures = [(1_u32, 1_u32), (1, 0), (2, 1), (0, 2), (4, 4), (0, 1), (6, 0)];
    let mut worldbody = String::new();
    for (i, (contype, conaffinity)) in figures.iter().enumerate() {
        worldbody += &format!(
            "<body name=\"b{i}\" pos=\"{i} 0 0\"><freejoint/>
               <geom name=\"g{i}\" size=\"0.1\" contype=\"{contype}\" conaffinity=\"{conaffinity}\"/></body>"
        );
    }
    let m = mjcf(&format!(
        "<mujoco><worldbody><geom name=\"floor\" type=\"plane\" size=\"1 1 1\"/>{worldbody}
           <body name=\"seen\"><geom name=\"seen\" size=\"0.1\" contype=\"0\" conaffinity=\"0\"/></body></worldbody>
         <contact><exclude body1=\"b0\" body2=\"b5\"/><exclude body1=\"world\" body2=\"b0\"/>
           <pair geom1=\"g4\" geom2=\"g5\"/></contact></mujoco>"
    ));
    assert_eq!(m.visuals.len(), 1);
    let scene =
        pliant_rigid::collision::CollisionModel::new(m.geometries.clone(), &m.system.model, &m.excluded)
            .unwrap();
    let number = |name: &str| m.geometries.iter().position(|g| g.name == name).unwrap();
    for (i, a) in figures.iter().enumerate() {
        for (j, b) in figures.iter().enumerate().skip(i + 1) {
            let rule = a.0 & b.1 != 0 || b.0 & a.1 != 0;
            let expected = match (i, j) {
                (0, 5) => false,
                (4, 5) => true,
                _ => rule,
            };
            let found = scene.may_touch(number(&format!("g{i}")), number(&format!("g{j}")));
            assert_eq!(found, expected, "{i} and {j}");
        }
        let expected = i != 0 && (a.0 & 1 != 0 || a.1 & 1 != 0);
        assert_eq!(scene.may_touch(number("floor"), number(&format!("g{i}"))), expected, "{i} and the floor");
    }
}

/// A body on several joints stays apart from what holds it, as one on a single joint does.
#[test]
fn a_body_on_several_joints_does_not_touch_its_parent() {
    let m = bodies(&format!(
        "<body name=\"a\"><freejoint/>{BALL}<body name=\"b\"><joint name=\"x\"/><joint name=\"y\" axis=\"1 0 0\"/>{BALL}
           <body name=\"fixed\">{BALL}</body></body></body>"
    ));
    let scene =
        pliant_rigid::collision::CollisionModel::new(m.geometries.clone(), &m.system.model, &m.excluded)
            .unwrap();
    assert!(!scene.may_touch(0, 1) && !scene.may_touch(0, 2) && !scene.may_touch(1, 2));
}

/// Numbers recorded from MuJoCo 4.0.0 (`mj_fullM` times (1, 2, ..., 13), and `qfrc_bias`) at the
/// keyframe of `data/mixed.xml`, brought to the velocities used here: angular before linear, in the
/// axes of the parent.
#[test]
fn a_mechanism_of_every_joint_moves_as_in_mujoco() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mixed.xml");
    let m = pliant_import::load(path).unwrap();
    let state = &m.keyframe("moving").unwrap().state;
    let (mass, bias) = mass_matrix_at(&m.system.model, state);
    let momentum = mass * nalgebra::DVector::from_fn(13, |i, _| (i + 1) as f64);
    let expected = [
        -12.0137995966929,
        -8.27864434799136,
        45.8927349913603,
        438.523452596623,
        502.634257773278,
        603.503018002464,
        -12.5564204613706,
        63.629609801207,
        9.40727403852758,
        -0.273411622680212,
        0.497298765161822,
        -0.293943410034457,
        6.604,
    ];
    let expected_bias = [
        -0.282065886720712,
        -52.0309818958976,
        -14.240179046526,
        -6.25321403520678,
        -16.6497532167034,
        983.611630397028,
        18.00191011173,
        21.0929318434215,
        -2.91663228855382,
        -0.000118948327448164,
        -0.0215476492047588,
        -0.406445052120063,
        0.519686620290195,
    ];
    for i in 0..13 {
        // Relative to the largest of them: the sums have lost what is smaller.
        assert!((momentum[i] - expected[i]).abs() < 1e-12 * 600.0, "{i}: {} {}", momentum[i], expected[i]);
        assert!((bias[i] - expected_bias[i]).abs() < 1e-12 * 1000.0, "{i}: {} {}", bias[i], expected_bias[i]);
    }
}

/// One mechanism in both formats: a tree of random frames, axes and inertias. The mass matrices are
/// equal at random positions.
#[test]
fn mjcf_and_urdf_describe_the_same_mechanism() {
    for seed in 0..10 {
        let random = &mut Random::new(seed);
        let (mut urdf, mut joints) = (String::new(), String::new());
        let (mut open, mut close) = (String::new(), String::new());
        let parents = 5;
        for i in 0..parents {
            let (p, a, c) = (random.vector(), random.vector(), random.vector() * 0.2);
            let rpy = random.vector();
            let moments = Vector3::new(1.0, 1.1, 1.2) + random.vector() * 0.1;
            let own = random.vector();
            let mass = 2.0 + random.signed();
            let (kind, slide) =
                if random.signed() > 0.3 { ("prismatic", "slide") } else { ("revolute", "hinge") };
            let three = |v: &Vector3<f64>| format!("{:?} {:?} {:?}", v.x, v.y, v.z);
            urdf += &format!(
                "<link name=\"l{i}\"><inertial><origin xyz=\"{}\" rpy=\"{}\"/><mass value=\"{mass:?}\"/>
                   <inertia ixx=\"{:?}\" iyy=\"{:?}\" izz=\"{:?}\" ixy=\"0.05\" ixz=\"0\" iyz=\"-0.03\"/></inertial></link>",
                three(&c), three(&own), moments.x, moments.y, moments.z
            );
            let parent = if i == 0 { "root".to_owned() } else { format!("l{}", i - 1) };
            joints += &format!(
                "<joint name=\"j{i}\" type=\"{kind}\"><origin xyz=\"{}\" rpy=\"{}\"/><parent link=\"{parent}\"/>
                   <child link=\"l{i}\"/><axis xyz=\"{}\"/><limit lower=\"-9\" upper=\"9\" effort=\"1\" velocity=\"1\"/></joint>",
                three(&p), three(&rpy), three(&a)
            );
            // URDF's roll, pitch, yaw turn about fixed axes.
            open += &format!(
                "<body name=\"l{i}\" pos=\"{}\" euler=\"{}\"><joint name=\"j{i}\" type=\"{slide}\" axis=\"{}\"/>
                   <inertial pos=\"{}\" euler=\"{}\" mass=\"{mass:?}\" fullinertia=\"{} 0.05 0 -0.03\"/>",
                three(&p), three(&rpy), three(&a), three(&c), three(&own), three(&moments)
            );
            close += "</body>";
        }
        let urdf = format!("<robot name=\"r\"><link name=\"root\"/>{urdf}{joints}</robot>");
        let text = format!(
            "<mujoco><compiler angle=\"radian\" eulerseq=\"XYZ\"/><worldbody>{open}{close}</worldbody></mujoco>"
        );
        let (a, b) = (mjcf(&text), pliant_import::from_urdf(&urdf, ".").unwrap());
        for _ in 0..5 {
            let q: Vec<f64> = (0..parents).map(|_| 2.0 * random.signed()).collect();
            let v: Vec<f64> = (0..parents).map(|_| random.signed()).collect();
            let [(ma, ba), (mb, bb)] = [&a, &b].map(|m| {
                let state = State { time: 0.0, q: q.clone(), v: v.clone() };
                mass_matrix_at(&m.system.model, &state)
            });
            let scale = ma.abs().max();
            assert!((&ma - &mb).abs().max() < 1e-12 * scale, "seed {seed}");
            for (x, y) in ba.iter().zip(&bb) {
                assert!((x - y).abs() < 1e-12 * scale * 10.0, "seed {seed}: {x} {y}");
            }
        }
    }
}

const INERTIAL: &str = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1.2\" izz=\"1.5\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";

fn robot(joints: &str, links: &[&str]) -> Imported {
    let links: String = links.iter().map(|l| format!("<link name=\"{l}\">{INERTIAL}</link>")).collect();
    pliant_import::from_urdf(&format!("<robot name=\"r\">{links}{joints}</robot>"), ".")
        .unwrap_or_else(|e| panic!("{e}"))
}

fn between(name: &str, kind: &str, parent: &str, child: &str, inner: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{inner}</joint>"
    )
}

/// URDF's joints: which coordinates they have, and what a planar one's are.
#[test]
fn urdf_joints_mean_what_they_say() {
    let limit = "<limit lower=\"-1\" upper=\"2\" effort=\"30\" velocity=\"4\"/><dynamics damping=\"0.3\" friction=\"0.2\"/>";
    let mimic = format!("{limit}<mimic joint=\"turn\" multiplier=\"-2\" offset=\"0.1\"/>");
    let joints = [
        between("weld", "fixed", "a", "b", "<origin xyz=\"0 0 1\"/>"),
        between("turn", "revolute", "b", "c", limit),
        between("spin", "continuous", "b", "d", "<axis xyz=\"0 0 2\"/>"),
        between("slide", "prismatic", "b", "e", limit),
        between("follow", "revolute", "b", "f", &mimic),
        between("fly", "floating", "b", "g", ""),
        between("glide", "planar", "b", "h", "<axis xyz=\"1 0 0\"/>"),
    ]
    .concat();
    let m = robot(&joints, &["a", "b", "c", "d", "e", "f", "g", "h"]);
    let model = &m.system.model;
    let joint = |name: &str| &model.links()[m.joint(name).unwrap().0];
    assert_eq!(joint("turn").joint, JointKind::Revolute { axis: Vector3::x_axis() });
    assert_eq!(joint("spin").joint, JointKind::Revolute { axis: Vector3::z_axis() });
    assert_eq!(joint("spin").dofs[0].limits, [f64::NEG_INFINITY, f64::INFINITY]);
    assert_eq!(joint("slide").joint, JointKind::Prismatic { axis: Vector3::x_axis() });
    assert_eq!(joint("fly").joint, JointKind::Free);
    let dof = joint("turn").dofs[0];
    assert_eq!((dof.limits, dof.damping, dof.friction_loss), ([-1.0, 2.0], 0.3, 0.2));
    assert_eq!(m.joints.iter().find(|j| j.name == "turn").unwrap().velocity_limit, Some(4.0));
    // The followed joints have motors; the follower, and those without limits, have none.
    let driven: Vec<&str> = m.inputs.iter().map(|input| input.name.as_str()).collect();
    assert_eq!(driven, ["turn", "slide"]);
    let Equality::Coupler { driver, driven, ratio, offset } = m.system.equalities[0] else { panic!() };
    assert_eq!((driver, driven), (m.joint("turn").unwrap(), m.joint("follow").unwrap()));
    assert_eq!((ratio, offset), (-2.0, 0.1));
    // In the plane across x: any motion keeps the link at the height of its origin along x, and
    // turns it about x.
    assert_eq!(joint("glide").joint, JointKind::Planar);
    let mut state = m.state.clone();
    state.q[model.positions_of(m.joint("glide").unwrap())].copy_from_slice(&[0.3, 0.4, 0.7]);
    let moved = pose(&m, &state.q, "h");
    assert!(moved.translation.x.abs() < 1e-15);
    let offset = moved.translation.vector - Vector3::new(0.0, 0.0, 1.0);
    assert!((offset.norm() - 0.5).abs() < 1e-15);
    let start = pose(&m, &m.state.q, "h");
    let own = joint("glide").inertia.rotated(&start).inertia;
    let expected = Matrix3::from_diagonal(&Vector3::new(1.0, 1.2, 1.5));
    assert!((own - expected).abs().max() < 1e-15, "{own}");
    let turn = (moved.rotation * start.rotation.inverse()).scaled_axis();
    assert!((turn - Vector3::new(0.7, 0.0, 0.0)).norm() < 1e-15, "{turn:?}");
}

/// Tendons and the motors that are not plain efforts, servos or dampers on a joint. Lengths by hand
/// in the configuration of the file; the damping ratio is of the inertia that the tendon feels,
/// `1/(J M^-1 J^T)`, as in MuJoCo 4.0.0. Ranges of tendons are not angles, whatever the compiler
/// says; a motor with unequal limits keeps both.
#[test]
fn tendons_and_their_motors_are_read() {
    let m = mjcf(
        "<mujoco><default><position inheritrange=\"0.5\"/><tendon stiffness=\"7\"/></default>
         <worldbody><site name=\"w\" pos=\"0 0 1\"/><geom name=\"g\" type=\"cylinder\" size=\"0.1 1\" contype=\"0\"/>
           <body name=\"a\"><joint name=\"x\" type=\"slide\" axis=\"0 0 1\" range=\"-1 3\"/><geom size=\"0.1\" mass=\"4\"/>
             <site name=\"s\" pos=\"0 3 -3\"/></body></worldbody>
         <tendon><spatial name=\"t\" springlength=\"1 2\" range=\"0 90\"><site site=\"w\"/><site site=\"s\"/>
             <pulley divisor=\"2\"/><site site=\"s\"/><geom geom=\"g\" sidesite=\"w\"/><site site=\"w\"/></spatial>
           <fixed name=\"f\" damping=\"3\"><joint joint=\"x\" coef=\"-2\"/></fixed></tendon>
         <actuator><position name=\"p\" joint=\"x\"/><motor name=\"m\" joint=\"x\" gear=\"-2\" forcerange=\"-1 3\"/>
           <position name=\"pt\" tendon=\"f\" kp=\"16\" dampratio=\"1\" inheritrange=\"0\"/>
           <intvelocity name=\"iv\" joint=\"x\" inheritrange=\"1\"/>
           <general name=\"g\" site=\"s\" gear=\"0 0 1\" dyntype=\"filterexact\" dynprm=\"0.2\" ctrlrange=\"-1 1\"/>
           <muscle name=\"u\" joint=\"x\" lengthrange=\"-1 1\" scale=\"80\"/></actuator>
         <keyframe><key name=\"k\" act=\"1 2 3\" ctrl=\"1 2 3 4 5 6\"/></keyframe></mujoco>",
    );
    let [t, f] = &m.system.tendons[..] else { panic!() };
    let mut kinematics = pliant_rigid::multibody::Kinematics::new(&m.system.model);
    kinematics.update(&m.system.model, &m.state);
    let mut arms = [0.0];
    let length = t.moment_arms(&m.system.model, &kinematics, &m.state, &mut arms);
    // The side is within the cylinder's radius of its axis but not of its centre; the end at the
    // axis is inside: nothing is touched.
    assert!((length - 7.5).abs() < 1e-14 && (arms[0] + 1.5 * 0.8).abs() < 1e-14, "{length} {arms:?}");
    assert_eq!((t.stiffness, t.rest, t.range), (7.0, [1.0, 2.0], [0.0, 90.0]));
    assert_eq!((f.rest, f.damping), ([0.0; 2], 3.0));
    assert_eq!((m.inputs.len(), m.inputs[0].range), (1, [0.0, 2.0]));
    let [motor, servo, integral, filter, muscle] = &m.system.drives[..] else { panic!() };
    assert_eq!(motor.force_range, [-1.0, 3.0]);
    // J = -2 and 4 kg: an inertia of 1 kg.
    assert_eq!(servo.bias, ForceLaw::Affine([0.0, -16.0, -8.0]));
    assert_eq!((integral.activation, integral.activation_range), (Activation::Integral, [-1.0, 3.0]));
    assert_eq!(
        (filter.activation, filter.control_range),
        (Activation::Filter { time_constant: 0.2 }, [-1.0, 1.0])
    );
    let ForceLaw::MuscleActive(curves) = muscle.gain else { panic!() };
    // The acceleration by a force of 1 is 1/4.
    assert!((curves.peak_force - 320.0).abs() < 1e-10, "{curves:?}");
    let key = m.keyframe("k").unwrap();
    assert_eq!((&key.control[..], &key.drive_control[..]), (&[1.0][..], &[2.0, 3.0, 4.0, 5.0, 6.0][..]));
    assert_eq!(key.activation, [1.0, 2.0, 3.0]);
}

/// Checks: a kind of force that a file switches off is as one that the file does not have (MuJoCo's
/// XML reference, `option/flag`); `constraint` is contact, equality, friction loss and limits.
#[test]
fn forces_switched_off_are_as_if_absent() {
    let all = ["contact", "equality", "frictionloss", "limit", "spring", "damper"];
    let text = |on: &dyn Fn(&str) -> bool, flags: &str| {
        let given = |kind: &str, text: &str| if on(kind) { text.to_owned() } else { String::new() };
        let own = [
            given("frictionloss", "frictionloss='0.2'"),
            given("limit", "limited='true' range='-1 2'"),
            given("spring", "stiffness='3'"),
            given("damper", "damping='0.4'"),
        ]
        .join(" ");
        let body = |name: &str, x: f64| {
            format!(
                "<body name='{name}' pos='{x} 0 0'><joint name='{name}' axis='0 1 0' {own}/>\
                 <geom name='{name}' size='0.1' {}/></body>",
                given("contact", "conaffinity='1'")
            )
        };
        let held = given("equality", "<joint joint1='a' joint2='b'/>");
        format!(
            "<mujoco><compiler autolimits='false'/><option><flag {flags}/></option>\
             <default><geom conaffinity='0'/></default><worldbody>{}{}</worldbody>\
             <equality>{held}</equality><tendon><fixed {own}><joint joint='a' coef='1'/></fixed></tendon></mujoco>",
            body("a", 0.0),
            body("b", 1.0)
        )
        .replace('\'', "\"")
    };
    let read = |on: &dyn Fn(&str) -> bool, flags: &str| {
        let Imported { system, geometries, .. } = mjcf(&text(on, flags));
        let dofs: Vec<_> = system.model.links().iter().map(|link| link.dofs.clone()).collect();
        let touch = geometries[0].group & geometries[1].mask != 0;
        (dofs, system.equalities, system.tendons, touch)
    };
    let with_all = read(&|_| true, "");
    for kind in all {
        let off = read(&|_| true, &format!("{kind}='disable'"));
        assert_eq!(off, read(&|other| other != kind, ""), "{kind}");
        assert_ne!(off, with_all, "{kind}");
    }
    let constraints = ["contact", "equality", "frictionloss", "limit"];
    let off = read(&|_| true, "constraint='disable'");
    assert_eq!(off, read(&|other| !constraints.contains(&other), ""));
}
