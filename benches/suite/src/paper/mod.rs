//! The evaluation of Yu et al. 2025 ("A Convex Formulation of Material Points and Rigid Bodies with
//! GPU-Accelerated Async-Coupling for Interactive Simulation"): its figures, its table, ablations and
//! convergence, measured here and beside the published values.

pub mod ablation;
pub mod convergence;
pub mod hold;
pub mod rivals;
pub mod shake;

use serde_json::json;

use crate::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext};
use crate::rigid::builtin_scene;
use crate::{dough, table1, tolerance};
use pliant_runner::machine::OpenBackend;

use convergence::{ColdStart, DIRECTIONS, Solve};
use hold::{COMPONENTS, Curve, Scheme};
use rivals::held_cube::{HeldCube, HeldCubeError};
use rivals::implicit::ImplicitSettings;
use rivals::penalty::Schedule;
use shake::ShakeWatch;

/// The part.
pub const PART: BenchPart = BenchPart {
    name: "paper",
    about: "the evaluation of the convex MPM and rigid body paper (long): hold beside rivals' schemes, shake, dough-rolling over the tolerance, the table, ablations, convergence; plots",
    run,
};

fn run(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    convergence_rows(options, row)?;
    hold_rows(options, row)?;
    ablation::run(PART.name, options, row)?;
    dough::run(PART.name, options, &tolerance::TOLERANCES, row)?;
    let picture = options.plots.as_ref().map(|folder| folder.join("shake.png"));
    let mut watch = ShakeWatch::new(picture);
    table1::run_as(PART.name, false, options, &mut |scenario| watch.look(scenario), row)?;
    shake_rows(options, &watch, row);
    Ok(())
}

fn fail(reason: impl ToString) -> BenchError {
    BenchError { bench: PART.name, reason: reason.to_string() }
}

/// A row of a serial measurement in f64.
fn serial(case: String, unit: &'static str) -> RowContext<'static> {
    static PROCESSOR: OpenBackend = OpenBackend::processor();
    RowContext { machine: &PROCESSOR, part: PART.name, case, threads: 1, precision: "f64", unit }
}

/// Substeps of 0.1 ms by which the onset of the penalty scheme's oscillation is shown.
const SUBSTEPS: [u32; 6] = [1, 2, 3, 4, 6, 10];

/// Deviation of a force, of its mean, below which it has settled.
const SETTLED: f64 = 0.01;

/// Figure 2.
fn hold_rows(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let scene = builtin_scene(PART.name, "hold")?;
    let cube = HeldCube::new(&scene).map_err(fail)?;
    let statics = hold::statics(&cube);
    let from = scene.duration - hold::AVERAGED;
    for (component, value) in COMPONENTS.iter().zip(statics) {
        let case = format!("hold, {component}, mean of the last {} s", hold::AVERAGED);
        row(serial(case, "N").row(vec![value], json!({})).of("statics", true));
    }
    let mut schemes = vec![Scheme::Ours, Scheme::Implicit(ImplicitSettings::PUBLISHED)];
    let one_step = |substeps| Schedule { step: scene.dt, substeps };
    schemes.extend(SUBSTEPS.map(|substeps| Scheme::Penalty(one_step(substeps))));
    schemes.push(Scheme::Penalty(Schedule::PUBLISHED));
    let contacts = cube.contacts_of_a_panel();
    let mut curves: Vec<Curve> = Vec::new();
    let (mut onset, mut ours, mut settled) = (Vec::new(), f64::NAN, false);
    for scheme in schemes {
        (options.progress)(&format!("hold: {}", scheme.name(&scene)));
        let curve = match hold::run(&scene, &scheme) {
            Ok(curve) => curve,
            Err(e @ HeldCubeError::Unstable { .. }) => {
                (options.progress)(&format!("hold: {}: {e}", scheme.name(&scene)));
                let case = format!("hold, simulated until unstable, {}", scheme.name(&scene));
                let HeldCubeError::Unstable { time, .. } = e else { continue };
                row(serial(case, "s").row(vec![time], json!({})).of(scheme.name(&scene), true));
                continue;
            }
            Err(e) => return Err(fail(e)),
        };
        curve_rows(&scene, &scheme, &curve, &cube, contacts, row);
        let spread = curve.spread(from);
        let lateral = spread.deviation[1];
        match &scheme {
            Scheme::Ours => ours = lateral,
            Scheme::Penalty(s) => onset.push((s.friction_number(&cube, contacts), lateral)),
            Scheme::Implicit(_) => {}
        }
        // Of the substeps of the sweep, the longest is drawn at which the normal force has settled.
        let in_sweep = matches!(&scheme, Scheme::Penalty(s) if *s != Schedule::PUBLISHED);
        let settles = spread.deviation[0] < SETTLED * statics[0];
        if !in_sweep || (settles && !settled) {
            settled |= in_sweep;
            curves.push(curve);
        }
    }
    if let Some(folder) = &options.plots {
        let file = folder.join("hold.svg");
        hold::draw(&curves, &statics, &file).map_err(fail)?;
        options.figures.add("Figure 2: force of the held cube on the left panel, beside statics", file);
        let file = folder.join("hold-onset.svg");
        hold::draw_onset(&onset, ours, &file).map_err(fail)?;
        let caption = "Oscillation of the friction along y in the last 0.05 s: explicit penalty forces by \
                       their friction number, and the engine at its own step";
        options.figures.add(caption, file);
    }
    Ok(())
}

fn curve_rows(
    scene: &pliant_scenes::format::Scene,
    scheme: &Scheme,
    curve: &Curve,
    cube: &HeldCube,
    contacts: usize,
    row: &mut dyn FnMut(Measurement),
) {
    let spread = curve.spread(scene.duration - hold::AVERAGED);
    let number = if let Scheme::Penalty(s) = scheme { Some(s.friction_number(cube, contacts)) } else { None };
    let details = json!({
        "scene": scene.name,
        "particles": cube.mpm.particles.len(),
        "contacts_of_a_panel": contacts,
        "friction_number": number,
        "steps_averaged": spread.steps,
        "newton_iterations": curve.newton.map(|n| n.iterations),
        "steps_not_converged": curve.newton.map(|n| n.not_converged),
        "unknowns": curve.newton.map(|n| n.unknowns),
        "wall_s": curve.wall,
    });
    let precision = if scheme.is_rival() { "f64" } else { "f32" };
    let mut make = |case: String, unit, value: f64| {
        let context = RowContext { precision, ..serial(case, unit) };
        row(context.row(vec![value], details.clone()).of(curve.name.clone(), scheme.is_rival()));
    };
    for (a, component) in COMPONENTS.iter().enumerate() {
        let last = hold::AVERAGED;
        make(format!("hold, {component}, mean of the last {last} s"), "N", spread.mean[a]);
        make(format!("hold, {component}, deviation in the last {last} s"), "N", spread.deviation[a]);
    }
    make("hold, wall time of a simulated second".to_owned(), "s", curve.wall / scene.duration);
    make("hold, simulated over wall time".to_owned(), "s/s", scene.duration / curve.wall);
    if let Some(number) = number {
        make(
            "hold, friction number of the scheme (2 is the bound of a lone particle)".to_owned(),
            "1",
            number,
        );
    }
}

/// Stiffness numbers, contacts and seeds of the problems of convergence.
const NUMBERS: [f64; 2] = [1.0, 100.0];
const CONTACTS: usize = 100;
const SEEDS: std::ops::Range<u64> = 0..40;

fn convergence_rows(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for number in NUMBERS {
        let problems = ColdStart::draw(number, CONTACTS, SEEDS);
        let mut all: Vec<(&str, Vec<Solve>)> = Vec::new();
        for (name, direction) in DIRECTIONS {
            let solves: Vec<Solve> = problems.iter().map(|problem| problem.solve(direction)).collect();
            let details = json!({
                "stiffness_number": number,
                "contacts": CONTACTS,
                "seeds": [SEEDS.start, SEEDS.end],
                "relative_tolerance": convergence::TOLERANCE,
                "converged": solves.iter().filter(|solve| solve.converged).count(),
                "direction": name,
            });
            let mut make = |case: &str, unit, values| {
                let case = format!("convergence, stiffness number {number}, {case}");
                row(serial(case, unit).row(values, details.clone()).of(name, false));
            };
            let converged = solves.iter().filter(|solve| solve.converged).count();
            make(&format!("solves converged, of {}", solves.len()), "solves", vec![converged as f64]);
            make("iterations", "1", solves.iter().map(|solve| solve.iterations() as f64).collect());
            make("factor of the cost an iteration", "1", solves.iter().filter_map(Solve::factor).collect());
            make("rise of the cost beyond rounding", "1", solves.iter().map(Solve::rise).collect());
            all.push((name, solves));
        }
        if let Some(folder) = &options.plots {
            let file = folder.join(format!("convergence-{number}.svg"));
            let title = format!("Residual from cold starts, stiffness number {number}");
            convergence::draw(&title, &all, &file).map_err(fail)?;
            options.figures.add(format!("{title}, {CONTACTS} contacts"), file);
        }
    }
    Ok(())
}

/// Figure 3.
fn shake_rows(options: &BenchOptions, watch: &ShakeWatch, row: &mut dyn FnMut(Measurement)) {
    let goals = watch.goals();
    let met = goals.iter().filter(|goal| goal.met == Some(true)).count();
    let context = RowContext {
        machine: &options.machine,
        part: PART.name,
        case: format!("shake, goals met, of {}", goals.len()),
        threads: *options.threads.last().unwrap_or(&1),
        precision: "f32",
        unit: "goals",
    };
    row(context.row(vec![met as f64], json!({ "goals": goals })));
    match &watch.drawn {
        Some(Ok(file)) => options.figures.add("Figure 3: the stack while it is shaken", file),
        Some(Err(reason)) => (options.progress)(&format!("shake: no picture: {reason}")),
        None => {}
    }
}
