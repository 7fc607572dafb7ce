//! Joint constraints in harder cases: limits through the whole impact, closures of loops that would
//! drift, couplers and welds that begin off, efforts clamped on both sides.

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::floor::free_link;

const G: f64 = 9.81;
const TOLERANCE: f64 = 1e-5;

fn integrators() -> [Integrator; 2] {
    [Integrator::Fixed { step: 1e-3 }, Integrator::ErrorControlled { accuracy: 1e-5, max_step: 0.1 }]
}

/// A rod of 1 kg a metre that turns about y at `frame` and goes `along`, in its own frame (m).
fn rod(name: &str, parent: Option<LinkId>, frame: Isometry3<f64>, along: Vector3<f64>) -> Link {
    let (length, direction) = (along.norm(), along.normalize());
    let thin = Matrix3::identity() - direction * direction.transpose();
    let inertia = (thin * length * length / 12.0 + Matrix3::identity() * 1e-3) * length;
    Link {
        name: name.into(),
        parent,
        joint: JointKind::Revolute { axis: Vector3::y_axis() },
        frame,
        inertia: RigidInertia::at_center(length, along / 2.0, inertia),
        gravity: true,
        dofs: vec![Dof::default()],
    }
}

fn hung(x: f64) -> Isometry3<f64> {
    Isometry3::translation(x, 0.0, 0.0)
}

/// Angle about y that turns -z to the direction from `a` to `b`.
fn angle(a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
    let d = b - a;
    (-d.x).atan2(-d.z)
}

// Checks: a joint never is more than 1e-5 beyond its limits, not even while it hits them, and rests
// on the one that its load presses it to: a turning joint thrown at both limits in turn, a sliding
// one that falls with 50 m/s^2 and carries another.
#[test]
fn limits_hold_through_the_impact() {
    for integrator in integrators() {
        let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -50.0));
        let mut turning = rod("turning", None, hung(0.0), -Vector3::z());
        turning.dofs[0].limits = [-0.3, 0.4];
        builder.add(turning).unwrap();
        let mut parent = None;
        for (name, limits) in [("sliding", [-0.2, 0.1]), ("carried", [-0.05, 0.3])] {
            let mut link = free_link(name, 2.0, Vector3::repeat(0.1));
            link.joint = JointKind::Prismatic { axis: Vector3::z_axis() };
            link.parent = parent;
            link.dofs = vec![Dof { limits, ..Dof::default() }];
            parent = Some(builder.add(link).unwrap());
        }
        let model = builder.build().unwrap();
        let limits: Vec<[f64; 2]> = model.dofs().iter().map(|dof| dof.limits).collect();
        let mut state = model.zero_configuration();
        state.v[0] = 15.0;
        let mut simulation = Simulation::new(System::new(model), NoContacts, integrator, state).unwrap();
        let mut reached = 0.0_f64;
        for k in 1..=1000 {
            simulation.advance_to(1e-3 * f64::from(k)).unwrap();
            let q = &simulation.state().q;
            reached = reached.max(q[0]);
            for (i, (q, [lower, upper])) in q.iter().zip(&limits).enumerate() {
                let beyond = (lower - q).max(q - upper);
                assert!(beyond < TOLERANCE, "{integrator:?}, joint {i} at {k} ms: {beyond:e} beyond");
            }
        }
        assert!((reached - 0.4).abs() < TOLERANCE, "{integrator:?}: it went to {reached} only");
        let q = &simulation.state().q;
        assert!((q[1] + 0.2).abs() < TOLERANCE && (q[2] + 0.05).abs() < TOLERANCE, "{integrator:?}: {q:?}");
    }
}

// Checks: q_driven = ratio q_driver + offset within 1e-5 at every step, from 20 steps on also where
// it began 1e-3 off.
#[test]
fn a_coupler_that_begins_off_is_pulled_in() {
    for integrator in integrators() {
        let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
        let driver = builder.add(rod("driver", None, hung(0.0), -Vector3::z())).unwrap();
        let driven = builder.add(rod("driven", None, hung(0.0), Vector3::new(0.3, 0.0, -0.2))).unwrap();
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        (state.q[0], state.q[1]) = (0.5, -0.9 + 1e-3);
        let mut system = System::new(model);
        system.equalities.push(Equality::Coupler { driver, driven, ratio: -2.0, offset: 0.1 });
        let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
        let start = simulation.state().q[0];
        let mut displacement = 0.0_f64;
        for k in 20..=1000 {
            simulation.advance_to(1e-3 * f64::from(k)).unwrap();
            let q = &simulation.state().q;
            let error = q[1] + 2.0 * q[0] - 0.1;
            assert!(error.abs() < TOLERANCE, "{integrator:?} at {k} ms: {error:e}");
            displacement = displacement.max((q[0] - start).abs());
        }
        assert!(displacement > 0.3, "{integrator:?}: it hardly moved: {displacement}");
    }
}

/// A four-bar linkage with rods of 0.6, 1.1 and 0.9 m on pins 1 m apart: no two of them parallel,
/// so that a constraint of velocities alone drifts. The loop is closed where `open` says: 0 at the
/// end of the bar, 1 at its beginning, 2 at both, the bar being free.
fn four_bar(open: usize, integrator: Integrator) -> (Vec<f64>, f64) {
    let (left_end, right_end) = {
        let (a, b) = (0.9_f64, 0.6_f64);
        let left = Vector3::new(-a.sin(), 0.0, -a.cos()) * b;
        // The right rod's end: 1.1 m from the left one's, 0.9 m from its pin.
        let pin = Vector3::x();
        let (d, along) = ((left - pin).norm(), (pin - left).normalize());
        let x = (1.1_f64.powi(2) - 0.9_f64.powi(2) + d * d) / (2.0 * d);
        let side = Vector3::new(along.z, 0.0, -along.x) * (1.1_f64.powi(2) - x * x).sqrt();
        let down = if side.z < 0.0 { side } else { -side };
        (left, left + along * x + down)
    };
    let origin = Vector3::zeros();
    let (q_left, q_right) = (angle(&origin, &left_end), angle(&Vector3::x(), &right_end));
    let q_bar = angle(&left_end, &right_end);
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let left = builder.add(rod("left", None, hung(0.0), -Vector3::z() * 0.6)).unwrap();
    let right = builder.add(rod("right", None, hung(1.0), -Vector3::z() * 0.9)).unwrap();
    let down = |length: f64| Isometry3::translation(0.0, 0.0, -length);
    let bar = match open {
        0 => rod("bar", Some(left), down(0.6), -Vector3::z() * 1.1),
        1 => rod("bar", Some(right), down(0.9), -Vector3::z() * 1.1),
        _ => {
            let mut bar = rod("bar", None, hung(0.0), -Vector3::z() * 1.1);
            bar.joint = JointKind::Free;
            bar.dofs.clear();
            bar
        }
    };
    let bar = builder.add(bar).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q[0] = q_left;
    state.q[model.positions_of(right).start] = q_right;
    let at = model.positions_of(bar);
    match open {
        0 => state.q[at.start] = q_bar - q_left,
        1 => state.q[at.start] = q_bar + std::f64::consts::PI - q_right,
        _ => {
            let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), q_bar);
            let q = [turn.w, turn.i, turn.j, turn.k, left_end.x, left_end.y, left_end.z];
            state.q[at].copy_from_slice(&q);
        }
    }
    // Where the bar is joined to the left and the right rod, in its own frame.
    let (near, far) = (Point3::origin(), Point3::new(0.0, 0.0, -1.1));
    let (at_left, at_right) = if open == 1 { (far, near) } else { (near, far) };
    let ends = [Point3::new(0.0, 0.0, -0.6), Point3::new(0.0, 0.0, -0.9)];
    let mut system = System::new(model);
    if open != 0 {
        system.equalities.push(Equality::Ball { links: [Some(bar), Some(left)], points: [at_left, ends[0]] });
    }
    if open != 1 {
        system
            .equalities
            .push(Equality::Ball { links: [Some(bar), Some(right)], points: [at_right, ends[1]] });
    }
    let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
    let mut angles = Vec::new();
    let mut worst = 0.0_f64;
    let mut kinematics = Kinematics::new(&simulation.system().model);
    for k in 0..=2000 {
        simulation.advance_to(1e-3 * f64::from(k)).unwrap();
        kinematics.update(&simulation.system().model, simulation.state());
        for (point, link, end) in [(at_left, left, ends[0]), (at_right, right, ends[1])] {
            let gap = kinematics.pose(bar) * point - kinematics.pose(link) * end;
            worst = worst.max(gap.norm());
        }
        angles.push(simulation.state().q[0]);
    }
    (angles, worst)
}

// Checks: the loop stays closed within 1e-5 m through 2 s of swinging; where it is cut does not
// matter for the motion, by more than the first order of the steps. The motion is wide, so the
// closures work.
#[test]
fn a_general_four_bar_linkage_stays_closed() {
    for integrator in integrators() {
        let runs = [0, 1, 2].map(|open| four_bar(open, integrator));
        for (open, (angles, worst)) in runs.iter().enumerate() {
            assert!(*worst < TOLERANCE, "{integrator:?}, cut {open}: {worst:e} m");
            let (low, high) = angles.iter().fold((f64::MAX, f64::MIN), |(l, h), q| (l.min(*q), h.max(*q)));
            assert!(high - low > 0.5, "{integrator:?}, cut {open}: {low} to {high}");
            let apart = angles.iter().zip(&runs[0].0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 0.02, "{integrator:?}, cut {open}: {apart}");
        }
    }
}

// Checks: a weld keeps two frames together within 1e-5 m and 1e-5 rad while the pair is thrown and
// turns, from 20 ms on also where they began 1 mm and 1 mrad apart; the frames are not the links'
// own. A thrown pair's centre of mass flies its parabola, to the first order of the steps
// (g t dt/2).
#[test]
fn a_weld_holds_frames_together() {
    for integrator in integrators() {
        let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
        let a = builder.add(free_link("a", 1.0, Vector3::new(0.01, 0.02, 0.03))).unwrap();
        let b = builder.add(free_link("b", 3.0, Vector3::new(0.05, 0.02, 0.04))).unwrap();
        let model = builder.build().unwrap();
        let turn = |x, y, z| UnitQuaternion::from_scaled_axis(Vector3::new(x, y, z));
        let frames = [
            Isometry3::from_parts(Translation3::new(0.2, 0.0, 0.1), turn(0.3, -0.5, 0.2)),
            Isometry3::from_parts(Translation3::new(-0.1, 0.3, 0.0), turn(-0.7, 0.1, 0.9)),
        ];
        let off = Isometry3::from_parts(Translation3::new(6e-4, 0.0, 8e-4), turn(0.0, 1e-3, 0.0));
        let poses = [Isometry3::identity(), frames[0] * off * frames[1].inverse()];
        let mut state = model.zero_configuration();
        // The pair turns as one body about the first link's origin.
        let (spin, throw) = (Vector3::new(1.0, 3.0, -2.0), Vector3::new(1.0, 0.0, 2.0));
        for (link, pose) in [a, b].into_iter().zip(&poses) {
            let (r, t) = (pose.rotation, pose.translation.vector);
            state.q[model.positions_of(link)].copy_from_slice(&[r.w, r.i, r.j, r.k, t.x, t.y, t.z]);
            let v = throw + spin.cross(&t);
            state.v[model.velocities_of(link)].copy_from_slice(&[spin.x, spin.y, spin.z, v.x, v.y, v.z]);
        }
        let center = |q: &[f64]| {
            let at = |link| Vector3::from_column_slice(&q[model.positions_of(link)][4..]);
            (at(a) + at(b) * 3.0) / 4.0
        };
        let (from, with) = (center(&state.q), throw + spin.cross(&poses[1].translation.vector) * 0.75);
        let mut system = System::new(model.clone());
        system.equalities.push(Equality::Weld { links: [Some(a), Some(b)], frames });
        let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
        let mut kinematics = Kinematics::new(&model);
        for k in 20..=1000 {
            simulation.advance_to(1e-3 * f64::from(k)).unwrap();
            kinematics.update(&model, simulation.state());
            let apart = (kinematics.pose(a) * frames[0]).inverse() * (kinematics.pose(b) * frames[1]);
            let (gap, turned) = (apart.translation.vector.norm(), apart.rotation.angle());
            assert!(gap < TOLERANCE && turned < TOLERANCE, "{integrator:?} at {k} ms: {gap:e} m, {turned:e}");
        }
        let flight = from + with + Vector3::new(0.0, 0.0, -G / 2.0);
        let error = (center(&simulation.state().q) - flight).norm();
        assert!(error < G * 0.02 / 2.0, "{integrator:?}: {error:e} m off the parabola");
    }
}

// Efforts are clamped exactly, both ways, for control of position, of rate, and a plain effort.
#[test]
fn efforts_are_clamped_on_both_sides() {
    let limit = 3.0;
    for sign in [1.0, -1.0] {
        for control in [
            Control::Position { target: sign * 9.0, target_rate: 0.0, stiffness: 1e4, damping: 10.0 },
            Control::Velocity { target: sign * 90.0, damping: 10.0 },
            Control::Effort { effort: sign * 50.0 },
        ] {
            let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
            let link = builder.add(rod("rod", None, hung(0.0), -Vector3::z())).unwrap();
            let model = builder.build().unwrap();
            let state = model.zero_configuration();
            let mut system = System::new(model);
            system.actuators.push(Actuator {
                link,
                dof: 0,
                control,
                effort_limit: limit,
                gravity_compensation: false,
            });
            let step = Integrator::Fixed { step: 1e-3 };
            let mut simulation = Simulation::new(system, NoContacts, step, state).unwrap();
            for k in 1..=100 {
                simulation.advance_to(1e-3 * f64::from(k)).unwrap();
                assert_eq!(
                    simulation.actuator_efforts().next().unwrap(),
                    sign * limit,
                    "{control:?} at {k} ms"
                );
            }
        }
    }
}
