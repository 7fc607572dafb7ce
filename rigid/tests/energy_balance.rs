//! The balance of energy of a rigid step (`simulation::EnergyFlows`): closed forms of single terms,
//! and parts that sum.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_rigid::{PoseTrajectory, SpatialVelocity, Trajectory, VelocityKey};
use pliant_testing::Random;
use pliant_testing::floor::box_on_floor;
use pliant_testing::mechanisms::mechanism;
use std::sync::Arc;

const G: f64 = 9.81;

/// A simulation with its account.
struct Account<S> {
    simulation: Simulation<S>,
    start: f64,
    flows: EnergyFlows,
}

impl<S: ContactSource> Account<S> {
    fn open(system: System, source: S, integrator: Integrator, state: State) -> Self {
        let simulation = Simulation::new(system, source, integrator, state).unwrap();
        let mut account = Self { simulation, start: 0.0, flows: EnergyFlows::default() };
        account.start = account.energy();
        account
    }

    /// Kinetic, of weight, of springs.
    fn energy(&self) -> f64 {
        let (model, state) = (&self.simulation.system().model, self.simulation.state());
        let mut kinematics = Kinematics::new(model);
        kinematics.update(model, state);
        kinetic_energy(model, &kinematics, state) + potential_energy(model, &kinematics, state)
    }

    fn advance(&mut self, time: f64) {
        let summary = self.simulation.advance_to(time).unwrap();
        self.flows.add(&summary.energy);
    }

    /// What no part explains.
    fn imbalance(&self) -> f64 {
        let f = &self.flows;
        let work = f.motors + f.controllers + f.prescribed + f.loads + f.exchanged;
        let losses = f.contact_normal
            + f.contact_friction
            + f.joint_damping
            + f.joint_friction
            + f.joint_limits
            + f.constraints;
        // What contact stores and loses is what it took.
        self.energy() - self.start - f.potential_offset - work + losses
    }
}

/// A mass of 2 kg on a slider along z, with what the joint has besides.
fn slider(gravity: f64, dof: Dof) -> (Model, LinkId) {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -gravity));
    let inertia = RigidInertia::at_center(2.0, Vector3::zeros(), Matrix3::identity());
    let joint = JointKind::Prismatic { axis: Vector3::z_axis() };
    let frame = Isometry3::identity();
    let link =
        Link { name: "mass".into(), parent: None, joint, frame, inertia, gravity: true, dofs: vec![dof] };
    let id = builder.add(link).unwrap();
    (builder.build().unwrap(), id)
}

fn integrators(step: f64) -> [Integrator; 3] {
    [
        Integrator::Fixed { step },
        Integrator::ErrorControlled { accuracy: 1e-7, max_step: step },
        Integrator::Trapezoid { step, accuracy: None },
    ]
}

// Checks: a constant force F over t takes a mass m from rest to F t/m, work (F t)^2 / 2m; against
// weight F - m g does. Impulse and mean velocity are exact for a constant mass, so the bound is
// rounding.
#[test]
fn a_motor_does_its_work() {
    for integrator in integrators(0.01) {
        for gravity in [0.0, G] {
            let (model, link) = slider(gravity, Dof::default());
            let (force, mass, t) = (30.0, 2.0, 0.5);
            let mut system = System::new(model);
            let control = Control::Effort { effort: force };
            system.actuators.push(Actuator {
                link,
                dof: 0,
                control,
                effort_limit: f64::INFINITY,
                gravity_compensation: false,
            });
            let state = system.model.zero_configuration();
            let mut account = Account::open(system, NoContacts, integrator, state);
            account.advance(t);
            let speed = (force - mass * gravity) * t / mass;
            let exact = force * 0.5 * speed * t;
            assert!(
                (account.flows.motors - exact).abs() < 1e-9 * exact,
                "{integrator:?} {:?}, not {exact}",
                account.flows
            );
            // Positions that are half a step ahead are accounted for.
            assert!(account.imbalance().abs() < 1e-9, "{integrator:?} {}", account.imbalance());
        }
    }
}

// Checks: without other forces all kinetic energy that is gone went into damping, or dry friction,
// whatever the step.
#[test]
fn joints_lose_what_their_laws_take() {
    for integrator in integrators(0.01) {
        for dry in [false, true] {
            let dof = if dry {
                Dof { friction_loss: 3.0, ..Dof::default() }
            } else {
                Dof { damping: 3.0, ..Dof::default() }
            };
            let (model, _) = slider(0.0, dof);
            let mut state = model.zero_configuration();
            state.v[0] = 1.5;
            let mut account = Account::open(System::new(model), NoContacts, integrator, state);
            account.advance(0.3);
            let lost = account.start - account.energy();
            let [own, other] = [account.flows.joint_damping, account.flows.joint_friction];
            let [own, other] = if dry { [other, own] } else { [own, other] };
            // Viscous: v = v0 exp(-d t/m); dry: v = v0 - f t/m; first order in the step.
            let speed = if dry { 1.5 - 3.0 * 0.3 / 2.0 } else { 1.5 * (-3.0 * 0.3 / 2.0_f64).exp() };
            let exact = 1.5_f64.powi(2) - speed * speed;
            assert!((own - lost).abs() < 1e-9 && other == 0.0, "{integrator:?} {own} {other}, not {lost}");
            assert!((own - exact).abs() < 0.02 * exact, "{integrator:?} {own}, not {exact}");
        }
    }
}

// Checks: a joint beyond its limit has no energy there; the energy that a limit gives while it
// returns the joint is created by the scheme, and is a negative loss. It is at most m u^2/2, of 2
// kg at the bounded speed u = 0.5 m/s.
#[test]
fn what_a_limit_gives_is_seen() {
    let dof = Dof { limits: [0.0, f64::INFINITY], ..Dof::default() };
    let (model, _) = slider(0.0, dof);
    let mut state = model.zero_configuration();
    state.q[0] = -0.1;
    let mut account = Account::open(System::new(model), NoContacts, Integrator::Fixed { step: 2e-3 }, state);
    account.advance(2e-3);
    let given = account.energy() - account.start;
    assert!(given > 0.2 && given <= 0.25 * (1.0 + 1e-6), "{given}");
    assert!((account.flows.joint_limits + given).abs() < 1e-9 * given, "{:?}", account.flows);
}

// Checks: a box that slides from v0 on a floor of friction mu loses mu m g times its way to
// friction: all that it had, 1/2 m v0^2. One per cent: first-order steps of 1 ms, and the rocking
// of the start.
#[test]
fn a_sliding_box_loses_its_way_times_friction() {
    for comfree in [false, true] {
        let (model, mut state, floor) = box_on_floor(Vector3::new(0.0, 0.0, -G), 0.3, 0.0);
        state.v[3] = 1.0;
        let mut system = System::new(model);
        if comfree {
            system.solver = RigidSolver::ComFree(ComFreeSettings::default());
        }
        let mut account = Account::open(system, floor, Integrator::Fixed { step: 1e-3 }, state);
        account.advance(0.2);
        let displacement = account.simulation.state().q[4];
        let exact = 0.3 * G * displacement;
        let friction = account.flows.contact_friction;
        println!("{friction}, {exact}, {:?} {}", account.flows, account.imbalance());
        assert!((friction - exact).abs() < 0.01 * exact, "{friction}, not {exact}");
        assert!(account.imbalance().abs() < 0.01 * 0.5, "{}", account.imbalance());
    }
}

// Checks: a plate that goes up at V from one moment on lifts a box that stood on it: kinetic energy
// and weight both come from the plate. A cart that starts to move sideways brings what slides on it
// along: 1/2 m V^2 at the corner of the path, and nothing after.
#[test]
fn what_follows_a_path_does_work_on_what_it_carries() {
    let velocity = SpatialVelocity { angular: Vector3::zeros(), linear: Vector3::new(2.0, 0.0, 0.0) };
    let keys = vec![
        VelocityKey { time: 0.0, velocity: SpatialVelocity::zero() },
        VelocityKey { time: 0.1, velocity },
    ];
    let frame = Isometry3::identity();
    let path = PoseTrajectory::new(&Trajectory::Velocities(keys), &frame, "cart").unwrap();
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let link = |name: &str, parent, joint, mass| Link {
        name: name.into(),
        parent,
        joint,
        frame,
        inertia: RigidInertia::at_center(mass, Vector3::zeros(), Matrix3::identity() * mass),
        gravity: true,
        dofs: Vec::new(),
    };
    let cart = builder.add(link("cart", None, JointKind::Prescribed(Arc::new(path)), 0.0)).unwrap();
    let up = JointKind::Prismatic { axis: Vector3::z_axis() };
    builder.add(link("mass", Some(cart), up, 3.0)).unwrap();
    let model = builder.build().unwrap();
    let state = model.zero_configuration();
    let mut account = Account::open(System::new(model), NoContacts, Integrator::Fixed { step: 0.01 }, state);
    account.advance(0.3);
    assert!((account.flows.prescribed - 6.0).abs() < 1e-9, "{:?}", account.flows);
    assert!(account.imbalance().abs() < 1e-9, "{}", account.imbalance());
}

// Checks: what no part explains is the time stepping's and goes with the step, whatever is in the
// mechanism: damping, dry friction, springs, motors, forces from outside, weight. A part that is
// left out, or counted twice, does not.
#[test]
fn parts_sum_but_for_the_steps_own() {
    let seed = 71;
    for (k, integrator) in [0, 1].into_iter().flat_map(|k| [(k, false), (k, true)]) {
        let imbalance = |step: f64| {
            let mut random = Random::new(seed + k);
            let (model, state) = mechanism(&mut random);
            let mut system = System::new(model);
            let links = system.model.links().len();
            for l in 0..links {
                let link = LinkId(l);
                if system.model.tree_of(link).is_some()
                    && matches!(system.model.links()[l].joint, JointKind::Revolute { .. })
                {
                    let control = Control::Velocity { target: random.signed(), damping: 2.0 };
                    system.actuators.push(Actuator {
                        link,
                        dof: 0,
                        control,
                        effort_limit: 1.0,
                        gravity_compensation: false,
                    });
                }
            }
            system.applied = (0..links).map(|_| ForceVector::new(random.vector(), random.vector())).collect();
            let line = |force| LineForce { force, velocity: Vector3::zeros() };
            system.line_forces =
                (0..links).map(|_| line(ForceVector::new(random.vector(), random.vector()))).collect();
            let integrator = if integrator {
                Integrator::Trapezoid { step, accuracy: None }
            } else {
                Integrator::Fixed { step }
            };
            let mut account = Account::open(system, NoContacts, integrator, state);
            account.advance(0.08);
            let f = account.flows;
            (account.imbalance(), f.motors.abs().min(f.loads.abs()).min(f.exchanged.abs()))
        };
        let steps = [8e-4, 4e-4, 2e-4];
        let [a, b, c] = steps.map(imbalance);
        println!("seed {}: {a:?} {b:?} {c:?}", seed + k);
        // Halves twice, or better; what is left at a zero step is negligible against any part.
        assert!(b.0.abs() < 0.65 * a.0.abs() && c.0.abs() < 0.65 * b.0.abs(), "{a:?} {b:?} {c:?}");
        assert!((2.0 * c.0 - b.0).abs() < 1e-3 * c.1, "{c:?}");
    }
}

/// A double pendulum that falls from near upright, its lower end tied to a point by a rod.
fn tied_pendulum() -> (System, State) {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let mut parent = None;
    for (name, height) in [("upper", 0.0), ("lower", -0.4)] {
        let inertia =
            RigidInertia::at_center(1.0, Vector3::new(0.0, 0.0, -0.2), Matrix3::identity() * 0.0133);
        let joint = JointKind::Revolute { axis: Vector3::y_axis() };
        let (frame, name) = (Isometry3::translation(0.0, 0.0, height), name.into());
        let link = Link { name, parent, joint, frame, inertia, gravity: true, dofs: Vec::new() };
        parent = builder.add(link).ok();
    }
    let mut system = System::new(builder.build().unwrap());
    let mut state = system.model.zero_configuration();
    state.q.copy_from_slice(&[2.0, -1.0]);
    let mut kinematics = Kinematics::new(&system.model);
    kinematics.update(&system.model, &state);
    let (end, anchor) = (Point3::new(0.0, 0.0, -0.4), Point3::new(0.5, 0.0, 0.3));
    let distance = (kinematics.pose(parent.unwrap()) * end - anchor).norm();
    system.equalities.push(Equality::Distance { links: [parent, None], points: [end, anchor], distance });
    (system, state)
}

// Checks: positions that advance at the velocity of a step's end are half a step ahead at most, and
// the potential of the weight by what the weight does in it, m g v dt/2, with v = sqrt(2 g 2 l) the
// speed of a rod's end that fell from upright. What the time stepping gains or loses besides is
// imbalance.
#[test]
fn what_is_ahead_is_no_place_for_gains() {
    for step in [2e-3, 1e-2] {
        let (system, state) = tied_pendulum();
        let mut account = Account::open(system, NoContacts, Integrator::Fixed { step }, state);
        let bound = 2.0 * G * (4.0 * G * 0.8_f64).sqrt() * 0.5 * step;
        for second in 1..=20 {
            account.advance(f64::from(second));
            let f = &account.flows;
            println!("{step} s: ahead {}, imbalance {}", f.potential_offset, account.imbalance());
            assert!(f.potential_offset.abs() <= bound, "{} J, at most {bound}", f.potential_offset);
        }
    }
}

// Checks: a rod between two points does no work, what the trapezoid rule's turned directions add to
// its rate included: the energy attributed to it is proportional to the step, and small compared
// with the energy of the swing, 2 m g l.
#[test]
fn a_rod_does_no_work() {
    let worked = |step: f64| {
        let (system, state) = tied_pendulum();
        let integrator = Integrator::Trapezoid { step, accuracy: None };
        let mut account = Account::open(system, NoContacts, integrator, state);
        account.advance(1.0);
        println!("{step} s: rod {}, imbalance {}", account.flows.constraints, account.imbalance());
        (account.flows.constraints.abs(), account.imbalance().abs())
    };
    let [coarse, fine] = [1e-3, 2.5e-4].map(worked);
    let swing = 2.0 * G * 0.4;
    assert!(coarse.0.max(coarse.1) < 0.01 * swing, "{coarse:?}");
    assert!(fine.0 < 0.3 * coarse.0 && fine.1 < 0.3 * coarse.1, "{coarse:?} {fine:?}");
}

// Checks: an undamped ball that the step resolves well bounces elastically: contact takes its
// energy, stores it and gives all of it back, so that contact neither loses nor creates energy, at
// the second-order step to a thousandth. (Implicit Euler loses some to its contact: the scheme must
// not create it either.)
#[test]
fn an_elastic_bounce_stores_and_gives_back() {
    for (integrator, first_order) in [
        (Integrator::Trapezoid { step: 2e-4, accuracy: None }, false),
        (Integrator::Fixed { step: 2e-4 }, true),
    ] {
        let (model, mut state, mut floor) = box_on_floor(Vector3::new(0.0, 0.0, -G), 0.0, 0.2);
        (floor.stiffness, floor.dissipation) = (5e4, 0.0);
        state.v[5] = -2.0;
        let mut account = Account::open(System::new(model), floor, integrator, state);
        let (mut most, mut worst) = (0.0_f64, 0.0_f64);
        let put_in = 0.5 * 4.0 + G * 0.2;
        for step in 1..=150 {
            account.advance(2e-3 * f64::from(step));
            most = most.max(account.flows.contact_after.unwrap());
            worst = worst.max(account.imbalance().abs());
        }
        let lost = account.flows.lost_in_contact();
        println!("{most} stored of {put_in}, {lost} lost, imbalance {worst}");
        assert!(most > 0.8 * put_in && account.flows.contact_after == Some(0.0));
        assert!(worst < 1e-3 * put_in, "{worst}");
        let allowed = if first_order { 0.0..0.5 } else { -1e-3..1e-3 };
        assert!(allowed.contains(&(lost / put_in)), "{lost}");
    }
}

// Checks: forces do no work on a tree at rest. A floating chain of random masses hangs on a force that
// balances its weight, exchanged or constant; its joints are held by stiff motors, or are straight
// under the point where the force acts. Work, imbalance and kinetic energy stay within the rounding
// of the solve, relative to m g^2 h t, the energy of the falls of all steps.
#[test]
fn no_force_works_on_a_floating_tree_at_rest() {
    let seed = 23;
    let mut random = Random::new(seed);
    for case in 0..40 {
        let step = 10f64.powf(-3.5 + random.signed());
        let masses = [0, 1, 2].map(|_| 10f64.powf(1.5 * random.signed()));
        let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
        let mut parent = None;
        for (k, mass) in masses.into_iter().enumerate() {
            let center = Vector3::new(0.0, 0.0, -0.1);
            let inertia = RigidInertia::at_center(mass, center, Matrix3::identity() * (0.01 * mass));
            let joint =
                if k == 0 { JointKind::Free } else { JointKind::Revolute { axis: Vector3::y_axis() } };
            let frame = Isometry3::translation(0.0, 0.0, -0.2 * f64::from(k > 0));
            let name = format!("link{k}");
            parent = builder
                .add(Link { name, parent, joint, frame, inertia, gravity: true, dofs: Vec::new() })
                .ok();
        }
        let mut system = System::new(builder.build().unwrap());
        let weight: f64 = masses.iter().map(|mass| mass * G).sum();
        let lift = ForceVector::new(Vector3::zeros(), Vector3::new(0.0, 0.0, weight));
        let exchanged = case % 2 == 0;
        if exchanged {
            let lifted = LineForce { force: lift, velocity: Vector3::zeros() };
            system.line_forces = vec![lifted, LineForce::zero(), LineForce::zero()];
        } else {
            system.applied = vec![lift, ForceVector::zero(), ForceVector::zero()];
        }
        let state = system.model.zero_configuration();
        let mut account = Account::open(system, NoContacts, Integrator::Fixed { step }, state);
        let time = 50.0 * step;
        account.advance(time);
        let falls = weight * G * step * time;
        let f = &account.flows;
        let found = [f.loads, f.exchanged, account.imbalance()].map(|energy| energy / falls);
        println!("seed {seed}, case {case}, step {step:.2e} s, masses {masses:.2?} kg: {found:?}");
        assert!(found.iter().all(|share| share.abs() < 1e-6), "{found:?}");
    }
}
