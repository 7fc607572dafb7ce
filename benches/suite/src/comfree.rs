//! Contact in closed form against the convex solver: time of a step over the number of contacts
//! (ComFree-Sim, figure 7), and depth of the contacts of a pile (figure 3).

use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::clutter::slope;
use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext, in_pool};
use super::rigid::{TimedRun, builtin_scene, fixed};
use pliant_render::plot::{Plot, PlotError, Series, Style};
use pliant_runner::machine::{OpenBackend, thread_time};
use pliant_scenes::format::{Copies, Form, Gains, RigidSolver, Scene};
use pliant_scenes::penetration::PenetrationStatistics;
use pliant_scenes::scenario::Scenario;

/// Time against contacts.
pub const CONTACTS: BenchPart = BenchPart {
    name: "contacts",
    about: "pile-scaling with 1 to 4,000 piles, 25 to 100,000 contacts: wall time of a step, closed form and convex; plot",
    run: contacts,
};

/// Depth of a pile.
pub const PILE: BenchPart = BenchPart {
    name: "pile",
    about: "primitive-pile with the published settings, ours and the convex solver: penetration after 1000 steps",
    run: pile,
};

/// Numbers of piles, and how often each is run: the fewer steps a run has, the more often.
const PILES: [(u32, usize); 5] = [(1, 200), (4, 100), (40, 20), (400, 3), (4000, 1)];

/// Steps that are left out, until the piles begin to fall, and steps that are timed. They are the
/// same for all, since the number of contacts of a body changes as it falls.
const STEPS: [usize; 2] = [30, 20];

/// Published values of figure 7.
const PUBLISHED: Gains = Gains::PerStep { stiffness: 0.1, damping: 0.001 };

/// The solvers compared; the convex solver is the last.
const SOLVERS: [&str; 3] = ["published", "predicted", "icf"];

/// A scene with one of [`SOLVERS`].
fn with(scene: &Scene, solver: &str) -> Scene {
    let mut scene = scene.clone();
    match solver {
        "icf" => scene.rigid_solver = RigidSolver::Icf,
        "published" => publish(&mut scene, PUBLISHED),
        _ => {}
    }
    scene
}

/// Chooses the published form.
fn publish(scene: &mut Scene, gains: Gains) {
    let comfree = &mut scene.rigid.comfree;
    (comfree.form, comfree.gains, comfree.facets) = (Form::Published, gains, 4);
}

/// Smallest meaningful processor time \[ms\]: the system counts it in hundredths of a second.
const RESOLVED: f64 = 500.0;

/// The timed steps of a solver.
#[derive(Clone, Debug, Default)]
struct Timed {
    /// Wall time of each \[ms\].
    wall: Vec<f64>,
    /// Contacts of a step \[-\].
    contacts: f64,
    /// Processor time of the thread, all steps together \[ms\]: other load of the machine affects
    /// it less than the wall time.
    processor: f64,
}

impl Timed {
    /// Steps the bodies of a scene.
    fn run(&mut self, scene: &Scene) -> Result<(), BenchError> {
        let fail = |reason: String| BenchError { bench: CONTACTS.name, reason };
        let mut world = Scenario::new(scene).map_err(|e| fail(e.to_string()))?.world;
        let simulation = world.bodies_mut().simulation_mut();
        let [before, timed] = STEPS;
        let step = |k: usize| scene.dt * (k + 1) as f64;
        for k in 0..before {
            simulation.advance_to(step(k)).map_err(|e| fail(e.to_string()))?;
        }
        let (mut contacts, start) = (0, thread_time());
        for k in before..before + timed {
            let clock = Instant::now();
            contacts += simulation.advance_to(step(k)).map_err(|e| fail(e.to_string()))?.solver.contacts;
            self.wall.push(1e3 * clock.elapsed().as_secs_f64());
        }
        if let (Some(start), Some(end)) = (start, thread_time()) {
            self.processor += 1e3 * (end - start);
        }
        self.contacts = contacts as f64 / timed as f64;
        Ok(())
    }

    /// Mean processor time of a step \[ms\], if known to one part in fifty.
    fn processor(&self) -> Option<f64> {
        (self.processor >= RESOLVED).then(|| self.processor / self.wall.len() as f64)
    }
}

fn contacts(options: &BenchOptions, report: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let scene = builtin_scene(CONTACTS.name, "pile-scaling")?;
    let machine = OpenBackend::processor();
    let sample = |case: String, unit| RowContext {
        machine: &machine,
        part: CONTACTS.name,
        case,
        threads: 1,
        precision: "f64",
        unit,
    };
    // Contacts and milliseconds of each solver, on the wall and on the processor.
    let mut points: [Vec<(f64, f64)>; SOLVERS.len()] = Default::default();
    let mut busy = points.clone();
    for (count, repeats) in PILES {
        let copies = scene.copies.map(|copies| Copies { count, ..copies });
        let mut found: [Timed; SOLVERS.len()] = Default::default();
        // The solvers alternate, so that other load of the machine slows all of them.
        for _ in 0..repeats {
            for (found, solver) in found.iter_mut().zip(SOLVERS) {
                let scene = Scene { copies, ..with(&scene, solver) };
                in_pool(CONTACTS.name, 1, || found.run(&scene))??;
            }
        }
        let processor = found.each_ref().map(Timed::processor);
        let mut wall = [0.0; SOLVERS.len()];
        for (k, timed) in found.into_iter().enumerate() {
            let more = json!({
                "contacts_mean": timed.contacts,
                "step_s": scene.dt,
                "processor_ms": processor[k],
            });
            let row = sample(format!("{}, {count} piles", SOLVERS[k]), "ms/step").row(timed.wall, more);
            wall[k] = row.value;
            points[k].push((timed.contacts, row.value));
            busy[k].extend(processor[k].map(|time| (timed.contacts, time)));
            report(row);
        }
        let icf = SOLVERS.len() - 1;
        for (k, solver) in SOLVERS.iter().enumerate().take(icf) {
            let on_processor = processor[icf].zip(processor[k]).map(|(slow, fast)| slow / fast);
            let row = sample(format!("icf over {solver}, {count} piles"), "1");
            report(row.row(vec![wall[icf] / wall[k]], json!({ "processor": on_processor })));
        }
    }
    for (k, solver) in SOLVERS.iter().enumerate() {
        let exponent = |points: &[(f64, f64)]| {
            let logarithms: Vec<_> = points.iter().map(|(n, t)| (n.ln(), t.ln())).collect();
            slope(&logarithms)
        };
        for (time, points) in [("wall", &points[k]), ("processor", &busy[k])] {
            if points.len() > 1 {
                let case = format!("{solver}, exponent of {time} time against contacts");
                report(sample(case, "1").row(vec![exponent(points)], json!({})));
            }
        }
    }
    if let Some(folder) = &options.plots {
        draw(folder, &points).map_err(|e| BenchError { bench: CONTACTS.name, reason: e.to_string() })?;
        options.figures.add("Time of a step over the number of contacts", folder.join(PLOT));
    }
    Ok(())
}

/// File of the plot.
const PLOT: &str = "contacts.svg";

/// Writes the plot.
fn draw(folder: &Path, points: &[Vec<(f64, f64)>; SOLVERS.len()]) -> Result<(), PlotError> {
    let names = ["closed form, published", "closed form, predicted", "convex (ICF)"];
    let plot = Plot {
        title: "Time of a step against contacts".to_owned(),
        x_label: "contacts [-]".to_owned(),
        y_label: "wall time of a step [ms]".to_owned(),
        log_x: true,
        log_y: true,
        series: names
            .iter()
            .zip(points)
            .map(|(name, points)| Series {
                name: (*name).to_owned(),
                points: points.clone(),
                style: Style::LinePoints,
            })
            .collect(),
        ..Plot::default()
    };
    plot.write_svg(folder.join(PLOT))
}

fn pile(_: &BenchOptions, report: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let scene = builtin_scene(PILE.name, "primitive-pile")?;
    let published = [(0.1, 0.001), (0.1, 0.005), (0.3, 0.001), (0.3, 0.005), (0.5, 0.001), (0.5, 0.005)];
    let mut cases: Vec<(String, Scene)> = Vec::new();
    for (stiffness, damping) in published {
        let mut scene = scene.clone();
        publish(&mut scene, Gains::PerStep { stiffness, damping });
        cases.push((format!("published {stiffness} {damping}"), scene));
    }
    cases.extend(["predicted", "icf"].map(|solver| (solver.to_owned(), with(&scene, solver))));
    for (case, scene) in cases {
        let play = in_pool(PILE.name, 1, || -> Result<_, BenchError> {
            let mut play = TimedRun::new(PILE.name, &scene, &fixed("2 ms", scene.dt, scene.dt))?;
            play.advance(scene.duration, |_| {})?;
            Ok(play)
        })??;
        let depths = PenetrationStatistics::of(&play.world);
        let more = json!({
            "deviation_mm": 1e3 * depths.deviation(),
            "deepest_mm": 1e3 * depths.deepest,
            "overlapping": depths.count,
        });
        report(play.row(&case, "mm", vec![1e3 * depths.mean()], more));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: the plot has a curve and a dot a point for each solver, on two logarithmic axes.
    #[test]
    fn the_plot_shows_every_solver() {
        let folder = std::env::temp_dir().join(format!("pliant-contacts-plot-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let points = [1.0, 2.0, 8.0].map(|factor| vec![(25.0, 0.1 * factor), (1e5, 400.0 * factor)]);
        draw(&folder, &points).unwrap();
        let svg = std::fs::read_to_string(folder.join("contacts.svg")).unwrap();
        assert_eq!(svg.matches("<circle").count(), 6);
        for text in ["convex (ICF)", "closed form, predicted", "contacts [-]", "1e5"] {
            assert!(svg.contains(text), "{text}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
