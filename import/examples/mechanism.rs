//! Imports one file and prints its mechanism as JSON: one object on one line. It is the side of
//! Pliant in `benches/imports`, which compares it with other engines, one process for each file.
//!
//! `mechanism FILE` imports a file; without an argument a request is read from the standard input:
//!
//! ```json
//! {"file": "arm.urdf",
//!  "states": [{"q": {"elbow": [0.3]}, "v": {"elbow": [1.0]}}],
//!  "motions": [{"time": 0.5, "step": 2e-4, "limits": false, "equalities": false,
//!               "friction": false}]}
//! ```
//!
//! Joints without an entry in a state are where the file has them, and at rest. Positions and
//! velocities are Pliant's (`docs/import.md`): a free joint has the quaternion (w, x, y, z), then
//! the place; its velocities are angular, then linear, in the axes of its parent. A motion may have
//! `"by": "runge_kutta"`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use nalgebra::{Isometry3, Quaternion};
use serde::Deserialize;
use serde_json::{Value, json};

use pliant_import::{Imported, ImportedJoint, LoadOptions, Repair};
use pliant_rigid::multibody::{
    Dof, ForwardDynamicsBuffers, InverseDynamicsBuffers, Kinematics, LinkId, MassMatrix, Model, ModelBuilder,
    State, bias_forces, forward_dynamics, kinetic_energy, mass_matrix, potential_energy,
};
use pliant_rigid::simulation::{Integrator, NoContacts, Simulation, System};

type Failure = Box<dyn std::error::Error>;

/// What is asked about a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    file: String,
    /// Repairs to make.
    #[serde(default)]
    repairs: BTreeSet<Repair>,
    /// Whether the root of a URDF is free; fixed unless given.
    #[serde(default)]
    floating: bool,
    #[serde(default)]
    states: Vec<Coordinates>,
    #[serde(default)]
    motions: Vec<Motion>,
}

impl Request {
    fn options(&self) -> LoadOptions {
        let (repairs, floating) = (self.repairs.clone(), Some(self.floating));
        LoadOptions { floating, repairs, ..LoadOptions::default() }
    }
}

/// Positions and velocities of joints, by name.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Coordinates {
    q: BTreeMap<String, Vec<f64>>,
    v: BTreeMap<String, Vec<f64>>,
}

/// A passive motion: no contacts, no motors. The rest is as in the file where it is not switched
/// off.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Motion {
    /// \[s\]
    time: f64,
    /// \[s\]
    step: f64,
    #[serde(default)]
    start: Coordinates,
    #[serde(default = "yes")]
    limits: bool,
    #[serde(default = "yes")]
    equalities: bool,
    /// Dry friction of joints.
    #[serde(default = "yes")]
    friction: bool,
    #[serde(default)]
    by: By,
}

/// What takes the steps.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum By {
    /// Pliant's simulation, with its integrator of second order.
    #[default]
    Simulation,
    /// The classical Runge-Kutta rule of fourth order for the forward dynamics. It shows the
    /// imported mechanism without the error of a simulation, and knows no limits, equalities and
    /// dry friction.
    RungeKutta,
}

fn yes() -> bool {
    true
}

fn main() -> Result<(), Failure> {
    let request = match std::env::args().nth(1) {
        Some(file) => Request {
            file,
            repairs: BTreeSet::new(),
            floating: false,
            states: Vec::new(),
            motions: Vec::new(),
        },
        None => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            serde_json::from_str(&text)?
        }
    };
    println!("{}", answer(&request)?);
    Ok(())
}

fn answer(request: &Request) -> Result<Value, Failure> {
    let mut imported = match pliant_import::load_with(&request.file, &request.options()) {
        Ok(imported) => imported,
        Err(error) => {
            let (problem, attribute) = (error.problem.to_string(), &error.attribute);
            let element = &error.location.element;
            return Ok(json!({ "ok": false, "error": error.to_string(), "problem": problem,
                              "element": element, "attribute": attribute, "repair": error.repair }));
        }
    };
    let mut answer = describe(&imported);
    let states: Result<Vec<Value>, Failure> =
        request.states.iter().map(|given| at_state(&imported, &state_of(&imported, given)?)).collect();
    answer["states"] = states?.into();
    let mut motions = Vec::new();
    for motion in &request.motions {
        let start = state_of(&imported, &motion.start)?;
        let system = passive(&mut imported, motion)?;
        motions.push(match motion.by {
            By::Simulation => moved(system, motion, start),
            By::RungeKutta => integrated(&system, motion, start),
        });
        // The system was used up.
        imported = pliant_import::load_with(&request.file, &request.options())?;
    }
    answer["motions"] = motions.into();
    Ok(answer)
}

/// The mechanism at the state of the file.
fn describe(imported: &Imported) -> Value {
    let (model, state) = (&imported.system.model, &imported.state);
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let links = model.links().iter().enumerate().map(|(i, link)| {
        let (mass, center) = (link.inertia.mass, link.inertia.center());
        // About the centre of mass.
        let inertia = link.inertia.shifted(&-center).inertia;
        let rows: Vec<Vec<f64>> = (0..3).map(|r| inertia.row(r).iter().copied().collect()).collect();
        let frame = placed(kinematics.pose(LinkId(i)));
        json!({ "name": link.name, "parent": link.parent.map(|p| p.0), "joint": link.joint.name(),
                "mass": mass, "center": center.as_slice(), "inertia": rows, "pose": frame,
                "gravity": link.gravity })
    });
    let links: Vec<Value> = links.collect();
    let joints: Vec<Value> = imported.joints.iter().map(|joint| described(imported, joint)).collect();
    let warnings: Vec<String> = imported.warnings.iter().map(ToString::to_string).collect();
    let mass: f64 = model.links().iter().map(|link| link.inertia.mass).sum();
    json!({ "ok": true, "name": imported.name, "warnings": warnings, "links": links, "joints": joints,
            "positions": model.positions(), "velocities": model.velocities(), "mass": mass,
            "gravity": model.gravity.as_slice(), "time_step": imported.time_step,
            "actuators": imported.system.actuators.len(),
            "equalities": imported.system.equalities.len(),
            "externals": imported.system.externals.len(), "geometries": imported.geometries.len() })
}

fn described(imported: &Imported, joint: &ImportedJoint) -> Value {
    let model = &imported.system.model;
    let (q, v) = (model.positions_of(joint.link), model.velocities_of(joint.link));
    let link = &model.links()[joint.link.0];
    let first = link.dofs.first().copied().unwrap_or_default();
    json!({ "name": joint.name, "link": joint.link.0, "kind": link.joint.name(),
            "positions": q.len(), "velocities": v.len(), "first_position": q.start,
            "first_velocity": v.start, "damping": first.damping, "armature": first.armature,
            "friction": first.friction_loss, "stiffness": first.stiffness,
            "limits": first.limits.map(finite) })
}

/// JSON has no infinity.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// (w, x, y, z), then the place.
fn placed(pose: &Isometry3<f64>) -> [f64; 7] {
    let (r, x) = (pose.rotation, pose.translation.vector);
    [r.w, r.i, r.j, r.k, x.x, x.y, x.z]
}

fn state_of(imported: &Imported, given: &Coordinates) -> Result<State, Failure> {
    let model = &imported.system.model;
    let mut state = imported.state.clone();
    for (numbers, positions) in [(&given.q, true), (&given.v, false)] {
        for (name, values) in numbers {
            let link = imported.joint(name).ok_or_else(|| format!("no joint '{name}'"))?;
            let all = if positions { &mut state.q } else { &mut state.v };
            let range = if positions { model.positions_of(link) } else { model.velocities_of(link) };
            if range.len() != values.len() {
                return Err(
                    format!("joint '{name}' has {} numbers, not {}", range.len(), values.len()).into()
                );
            }
            all[range].copy_from_slice(values);
        }
    }
    state.validate(model)?;
    Ok(state)
}

/// Centres of mass of all links in the world \[m\].
fn centers(model: &Model, kinematics: &Kinematics) -> Vec<[f64; 3]> {
    let center = |(i, link): (usize, &pliant_rigid::multibody::Link)| {
        (kinematics.pose(LinkId(i)) * nalgebra::Point3::from(link.inertia.center())).coords.into()
    };
    model.links().iter().enumerate().map(center).collect()
}

/// Mass matrix, bias forces, accelerations and energies at a state.
fn at_state(imported: &Imported, state: &State) -> Result<Value, Failure> {
    let (system, model) = (&imported.system, &imported.system.model);
    let n = model.velocities();
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let mut mass = MassMatrix::default();
    mass_matrix(model, &kinematics, &mut mass);
    let mut matrix = vec![vec![0.0; n]; n];
    for (t, tree) in model.trees().iter().enumerate() {
        let (block, first) = (mass.block(t), tree.first_velocity);
        for r in 0..tree.velocities {
            for c in 0..tree.velocities {
                matrix[first + r][first + c] = block[(r, c)];
            }
        }
    }
    let mut bias = vec![0.0; n];
    bias_forces(model, &kinematics, &[], &mut InverseDynamicsBuffers::default(), &mut bias);
    let passive = passive_forces(system, &kinematics, state);
    let accelerations = |forces: &[f64]| {
        let mut out = vec![0.0; n];
        forward_dynamics(model, &kinematics, forces, &[], &mut ForwardDynamicsBuffers::default(), &mut out);
        out
    };
    Ok(json!({ "mass_matrix": matrix, "bias": bias, "passive": passive,
               "acceleration": accelerations(&passive),
               "free_acceleration": accelerations(&vec![0.0; n]),
               "kinetic": kinetic_energy(model, &kinematics, state),
               "potential": potential_energy(model, &kinematics, state),
               "centers": centers(model, &kinematics) }))
}

/// Damping, springs and force elements of joints and tendons, without dry friction \[N m, N\].
fn passive_forces(system: &System, kinematics: &Kinematics, state: &State) -> Vec<f64> {
    let model = &system.model;
    let mut forces: Vec<f64> = model.dofs().iter().zip(&state.v).map(|(dof, v)| -dof.damping * v).collect();
    for (i, link) in model.links().iter().enumerate().filter(|(_, link)| !link.joint.has_quaternion()) {
        let (q, v) = (model.positions_of(LinkId(i)), model.velocities_of(LinkId(i)));
        for ((dof, q), n) in link.dofs.iter().zip(&state.q[q]).zip(v) {
            forces[n] -= dof.stiffness * (q - dof.reference);
        }
    }
    let mut arms = vec![0.0; model.velocities()];
    for tendon in system.tendons.iter().filter(|t| t.stiffness != 0.0 || t.damping != 0.0) {
        let length = tendon.moment_arms(model, kinematics, state, &mut arms);
        let rate: f64 = arms.iter().zip(&state.v).map(|(arm, v)| arm * v).sum();
        // The spring is slack between its rest lengths.
        let stretch = length - length.clamp(tendon.rest[0], tendon.rest[1]);
        let pull = tendon.stiffness * stretch + tendon.damping * rate;
        forces.iter_mut().zip(&arms).for_each(|(force, arm)| *force -= pull * arm);
    }
    for external in &system.externals {
        let mut x = vec![0.0; external.states()];
        external.start(&mut x);
        external.add_forces(model, kinematics, state, &x, &mut forces);
    }
    forces
}

/// The system without motors, and without what the motion switches off.
fn passive(imported: &mut Imported, motion: &Motion) -> Result<System, Failure> {
    let old = &imported.system.model;
    let mut builder = ModelBuilder::new(old.gravity);
    // The import has said which moments no body has.
    builder.accept_any_moments();
    for link in old.links() {
        let mut link = link.clone();
        for dof in &mut link.dofs {
            if !motion.limits {
                dof.limits = Dof::default().limits;
            }
            if !motion.friction {
                dof.friction_loss = 0.0;
            }
        }
        builder.add(link)?;
    }
    let mut system = System::new(builder.build()?);
    if motion.equalities {
        system.equalities = core::mem::take(&mut imported.system.equalities);
    }
    system.tendons = core::mem::take(&mut imported.system.tendons);
    for tendon in &mut system.tendons {
        if !motion.limits {
            tendon.range = [f64::NEG_INFINITY, f64::INFINITY];
        }
        if !motion.friction {
            tendon.friction_loss = 0.0;
        }
        if !motion.equalities {
            tendon.holds.clear();
        }
    }
    system.externals = core::mem::take(&mut imported.system.externals);
    Ok(system)
}

/// The end of a motion, by the integrator of second order. A motion that fails says why.
fn moved(system: System, motion: &Motion, start: State) -> Value {
    let integrator = Integrator::Trapezoid { step: motion.step, accuracy: None };
    let begun = std::time::Instant::now();
    let end = Simulation::new(system, NoContacts, integrator, start).and_then(|mut simulation| {
        simulation.advance_to(motion.time)?;
        Ok(simulation)
    });
    let seconds = begun.elapsed().as_secs_f64();
    match end {
        Ok(simulation) => ended(&simulation.system().model, simulation.state(), seconds),
        Err(error) => json!({ "ok": false, "seconds": seconds, "error": error.to_string() }),
    }
}

fn ended(model: &Model, state: &State, seconds: f64) -> Value {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    json!({ "ok": true, "seconds": seconds, "q": state.q, "v": state.v,
            "centers": centers(model, &kinematics) })
}

/// The end of a motion by the Runge-Kutta rule.
fn integrated(system: &System, motion: &Motion, mut state: State) -> Value {
    let begun = std::time::Instant::now();
    let count = (motion.time / motion.step).round();
    let step = motion.time / count;
    let mut work = RungeKutta::new(&system.model);
    for _ in 0..count as usize {
        work.advance(system, &mut state, step);
        if !state.v.iter().all(|v| v.abs() < 1e8) {
            return json!({ "ok": false, "error": "the Runge-Kutta rule diverges: too stiff for its step" });
        }
    }
    ended(&system.model, &state, begun.elapsed().as_secs_f64())
}

/// Rates of the state at a stage.
struct RungeKutta {
    kinematics: Kinematics,
    work: ForwardDynamicsBuffers,
    stage: State,
    rates: [State; 4],
}

impl RungeKutta {
    fn new(model: &Model) -> Self {
        let zero = model.zero_configuration();
        Self {
            kinematics: Kinematics::new(model),
            work: ForwardDynamicsBuffers::default(),
            stage: zero.clone(),
            rates: core::array::from_fn(|_| zero.clone()),
        }
    }

    fn advance(&mut self, system: &System, state: &mut State, step: f64) {
        self.stage.clone_from(state);
        for s in 0..4 {
            self.evaluate(system, s);
            if s < 3 {
                let part = if s < 2 { 0.5 * step } else { step };
                self.stage.clone_from(state);
                shift(&mut self.stage, &self.rates[s], part);
            }
        }
        for (rate, weight) in self.rates.iter().zip([1.0, 2.0, 2.0, 1.0]) {
            shift(state, rate, step * weight / 6.0);
        }
        for (i, link) in system.model.links().iter().enumerate() {
            if link.joint.has_quaternion() {
                let first = system.model.positions_of(LinkId(i)).start;
                let length = state.q[first..first + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
                state.q[first..first + 4].iter_mut().for_each(|x| *x /= length);
            }
        }
    }

    /// Rates of positions and velocities at the stage.
    fn evaluate(&mut self, system: &System, s: usize) {
        let (model, rate) = (&system.model, &mut self.rates[s]);
        self.kinematics.update(model, &self.stage);
        let forces = passive_forces(system, &self.kinematics, &self.stage);
        forward_dynamics(model, &self.kinematics, &forces, &[], &mut self.work, &mut rate.v);
        for (i, link) in model.links().iter().enumerate() {
            let (q, v) = (model.positions_of(LinkId(i)), model.velocities_of(LinkId(i)));
            let (own, v) = (&mut rate.q[q.clone()], &self.stage.v[v]);
            if link.joint.has_quaternion() {
                let turn = &self.stage.q[q.start..q.start + 4];
                let turn = Quaternion::new(turn[0], turn[1], turn[2], turn[3]);
                let turned = Quaternion::new(0.0, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]) * turn;
                own[..4].copy_from_slice(&[turned.w, turned.i, turned.j, turned.k]);
                own[4..].copy_from_slice(&v[3..]);
            } else {
                own.copy_from_slice(v);
            }
        }
    }
}

/// Adds a part of the rates.
fn shift(state: &mut State, rate: &State, part: f64) {
    state.q.iter_mut().zip(&rate.q).for_each(|(q, rate)| *q += part * rate);
    state.v.iter_mut().zip(&rate.v).for_each(|(v, rate)| *v += part * rate);
}
