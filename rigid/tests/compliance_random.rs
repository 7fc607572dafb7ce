//! Compliant equalities of random masses, stiffness and damping.

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_rigid::Compliance;
use pliant_rigid::comfree::ImpedanceCurve;
use pliant_rigid::multibody::{Dof, JointKind, Link, LinkId, ModelBuilder, RigidInertia};
use pliant_rigid::simulation::{Equality, Integrator, NoContacts, Simulation, System};
use pliant_testing::Random;

const GRAVITY: f64 = 9.81;
/// Most steps of the coarser run: after many the tolerance of the solver shows, which adds up.
const MOST: f64 = 200.0;
/// Times at which motions are compared.
const TIMES: usize = 8;

struct Case {
    mass: f64,
    impedance: f64,
    compliance: Compliance,
}

impl Case {
    fn draw(random: &mut Random) -> Self {
        let mut power = |low: f64, high: f64| 10f64.powf(random.uniform(low, high));
        let (mass, mobility, time, ratio) =
            (power(-3.0, 4.0), power(-4.0, 3.0), power(-3.0, 1.0), power(-1.0, 1.0));
        let impedance = random.uniform(0.0001, 0.9999);
        let curve = ImpedanceCurve { minimum: impedance, maximum: impedance, ..ImpedanceCurve::default() };
        Self { mass, impedance, compliance: Compliance::of_time_constant(time, ratio, curve, mobility) }
    }

    /// Rate of the damping and stiffness, for a unit of the whole mass.
    fn rates(&self) -> [f64; 2] {
        let added = self.impedance / ((1.0 - self.impedance) * self.compliance.mobility);
        let share = added / (self.mass + added);
        [0.5 * share * self.compliance.damping, share * self.compliance.stiffness * self.impedance]
    }

    /// The position after `time`, in parts of that at rest.
    fn exact(&self, time: f64) -> f64 {
        let [decay, spring] = self.rates();
        let square = spring - decay * decay;
        let root = square.abs().sqrt();
        let faded = if square > 0.0 {
            (-decay * time).exp() * ((root * time).cos() + decay / root * (root * time).sin())
        } else {
            // Both roots, without a difference of large numbers.
            let slow = spring / (decay + root);
            let fast = decay + root;
            (fast * (-slow * time).exp() - slow * (-fast * time).exp()) / (fast - slow)
        };
        1.0 - faded
    }

    fn system(&self) -> System {
        let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -GRAVITY));
        builder
            .add(Link {
                name: "mass".to_owned(),
                parent: None,
                joint: JointKind::Prismatic { axis: Vector3::z_axis() },
                frame: Isometry3::identity(),
                inertia: RigidInertia::at_center(
                    self.mass,
                    Vector3::zeros(),
                    Matrix3::identity() * self.mass,
                ),
                gravity: true,
                dofs: vec![Dof::default()],
            })
            .unwrap();
        let mut system = System::new(builder.build().unwrap());
        let (driver, driven) = (LinkId(0), LinkId(0));
        let held = Box::new(Equality::Coupler { driver, driven, ratio: 0.0, offset: 0.0 });
        system.equalities.push(Equality::Compliant {
            compliance: self.compliance,
            turning: 0.0,
            lever: 0.0,
            held,
        });
        system
    }

    /// Largest error in parts of the position at rest, until the `end`.
    fn error(&self, integrator: Integrator, end: f64) -> f64 {
        let [_, spring] = self.rates();
        let added = self.impedance / ((1.0 - self.impedance) * self.compliance.mobility);
        let rest = -self.mass * GRAVITY / (self.mass + added) / spring;
        let state = self.system().model.zero_configuration();
        let mut simulation = Simulation::new(self.system(), NoContacts, integrator, state).unwrap();
        let mut largest = 0.0_f64;
        for i in 1..=TIMES {
            let time = end * i as f64 / TIMES as f64;
            simulation.advance_to(time).unwrap();
            largest = largest.max((simulation.state().q[0] / rest - self.exact(time)).abs());
        }
        largest
    }
}

// Checks: the damped oscillator (m + M) x'' + M b x' + M k d x = -m g with M = d/((1 - d) A) (MuJoCo
// documentation, Computation, Solver parameters), for masses, mobilities, time constants and damping
// ratios over many powers of ten. With eight times the steps the error is that of the order of the
// integrator: 1/8 of it and 1/64, up to the higher terms, of the size of a step's phase. The trapezoid
// rule has that of the second order where a step resolves the rates b and (k d)^(1/2) of the row itself.
#[test]
fn random_equalities_are_damped_oscillators() {
    let mut judged = [0; 2];
    let (mut orders, mut worst) = ([f64::INFINITY; 2], [0.0_f64; 2]);
    for seed in 0..60 {
        let case = Case::draw(&mut Random::new(seed));
        let [decay, spring] = case.rates();
        let fastest = spring.sqrt().max(2.0 * decay);
        let end = 3.0 / fastest;
        let own = case.compliance.damping + (case.compliance.stiffness * case.impedance).sqrt();
        for (o, order) in [1, 2].into_iter().enumerate() {
            let error = |steps: f64| {
                let step = end / steps;
                let integrator = match order {
                    1 => Integrator::Fixed { step },
                    _ => Integrator::Trapezoid { step, accuracy: None },
                };
                case.error(integrator, end)
            };
            let few = if order == 1 { 32.0 } else { 32.0_f64.max(end * own) };
            if few > MOST {
                continue;
            }
            judged[o] += 1;
            let (coarse, fine) = (error(few), error(8.0 * few));
            let measured = (coarse / fine).log(8.0);
            orders[o] = orders[o].min(measured);
            worst[o] = worst[o].max(coarse);
            assert!(measured > f64::from(order) - 0.25, "seed {seed}, order {order}: {coarse} {fine}");
        }
    }
    assert!(judged[1] > 20, "{judged:?}");
    println!("{judged:?} cases: least orders {orders:?}, largest errors of the coarser run {worst:?}");
}

// Checks: however long the step is, first-order steps are stable and end at rest at the closed form
// m g (1 - d) A/(k d^2) (same source).
#[test]
fn long_steps_end_at_rest() {
    for seed in 0..60 {
        let case = Case::draw(&mut Random::new(seed));
        let [decay, spring] = case.rates();
        // The slowest decay of the motion, of which a step is 100.
        let slowest =
            if decay * decay > spring { spring / (decay + (decay * decay - spring).sqrt()) } else { decay };
        let step = 100.0 / slowest;
        let error = case.error(Integrator::Fixed { step }, 40.0 * step);
        let last = case.exact(40.0 * step);
        assert!((last - 1.0).abs() < 1e-12 && error.is_finite(), "seed {seed}: {error}");
        let state = case.system().model.zero_configuration();
        let mut simulation =
            Simulation::new(case.system(), NoContacts, Integrator::Fixed { step }, state).unwrap();
        simulation.advance_to(40.0 * step).unwrap();
        let added = case.impedance / ((1.0 - case.impedance) * case.compliance.mobility);
        let rest = -case.mass * GRAVITY / (case.mass + added) / spring;
        let q = simulation.state().q[0];
        assert!((q / rest - 1.0).abs() < 1e-6, "seed {seed}: {q}, {rest}");
    }
}
