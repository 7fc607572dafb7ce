//! The scene `dough-rolling` at every tolerance of the contact solver, as in Fig. 4 of the convex
//! MPM and rigid body paper: wall time, real-time rate, and the distance of the particles at the
//! end from their positions at the tightest tolerance.

use std::path::Path;

use serde_json::json;

use super::part::{BenchError, BenchOptions, Measurement, RowContext};
use super::rigid::builtin_scene;
use super::scene_run::run_whole;
use pliant_render::plot::{Plot, Series, Style};

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    threads: usize,
    tolerance: f64,
    /// \[s\].
    wall: f64,
    /// Simulated over wall time \[-\].
    rate: f64,
}

/// Runs the scene at each tolerance, the tightest first, and draws plots if `options` has a folder.
pub(super) fn run(
    part: &'static str,
    options: &BenchOptions,
    tolerances: &[f64],
    row: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    let mut scene = builtin_scene(part, "dough-rolling")?;
    let spacing = scene.grid_spacing.unwrap_or(1.0);
    let mut sorted = tolerances.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut points = Vec::new();
    for &threads in &options.threads {
        let mut tightest: Option<Vec<[f64; 3]>> = None;
        for &tolerance in &sorted {
            scene.solver.relative_tolerance = tolerance;
            let mut whole = run_whole(part, &scene, &options.machine, threads, |_| Ok(()))?;
            let positions =
                whole.positions().map_err(|e| BenchError { bench: part, reason: e.to_string() })?;
            let off =
                Distances::between(tightest.get_or_insert_with(|| positions.clone()), &positions, spacing);
            let details = json!({
                "distance_mean_cells": off.mean,
                "distance_max_cells": off.max,
                "share_within_a_tenth_of_a_cell": off.near,
            });
            let (wall, rate) = (whole.wall(), whole.real_time_rate());
            let make = |case: String, unit, value| {
                RowContext { machine: &options.machine, part, case, threads, precision: "f32", unit }
                    .row(vec![value], whole.details(details.clone()))
            };
            let case = format!("dough-rolling eps_r {tolerance:e}");
            row(make(format!("{case}, wall"), "s", wall));
            row(make(format!("{case}, simulated over wall time"), "s/s", rate));
            row(make(format!("{case}, particles within h/10 of the tightest"), "1", off.near));
            points.push(Point { threads, tolerance, wall, rate });
        }
    }
    if let Some(folder) = &options.plots {
        draw(folder, &points).map_err(|e| BenchError { bench: part, reason: e.to_string() })?;
        options.figures.add("Wall time of dough-rolling over the relative tolerance", folder.join(WALL));
        options.figures.add("Real-time rate of dough-rolling over the relative tolerance", folder.join(RATE));
    }
    Ok(())
}

/// Distances between particles of two runs, in cells.
struct Distances {
    mean: f64,
    max: f64,
    /// Fraction of those nearer than a tenth of a cell \[-\].
    near: f64,
}

impl Distances {
    fn between(a: &[[f64; 3]], b: &[[f64; 3]], spacing: f64) -> Self {
        let cells = |(p, q): (&[f64; 3], &[f64; 3])| {
            (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>().sqrt() / spacing
        };
        let all: Vec<f64> = a.iter().zip(b).map(cells).collect();
        let count = all.len().max(1) as f64;
        Self {
            mean: all.iter().sum::<f64>() / count,
            max: all.iter().copied().fold(0.0, f64::max),
            near: all.iter().filter(|d| **d < 0.1).count() as f64 / count,
        }
    }
}

/// Files of the plots.
const WALL: &str = "tolerance-wall.svg";
const RATE: &str = "tolerance-rate.svg";

/// Writes both plots.
fn draw(folder: &Path, points: &[Point]) -> Result<(), pliant_render::plot::PlotError> {
    let [wall, rate] = plots(points);
    wall.write_svg(folder.join(WALL))?;
    rate.write_svg(folder.join(RATE))
}

/// Wall time and real-time rate against tolerance, a curve for each number of threads.
fn plots(points: &[Point]) -> [Plot; 2] {
    let mut counts: Vec<usize> = points.iter().map(|p| p.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    let curves = |value: fn(&Point) -> f64| -> Vec<Series> {
        let curve = |count: &usize| Series {
            name: if *count == 1 { "1 thread".to_owned() } else { format!("{count} threads") },
            points: points.iter().filter(|p| p.threads == *count).map(|p| (p.tolerance, value(p))).collect(),
            style: Style::LinePoints,
        };
        counts.iter().map(curve).collect()
    };
    let plot = |title: &str, y_label: &str, series, hlines| Plot {
        title: title.to_owned(),
        x_label: "relative tolerance [-]".to_owned(),
        y_label: y_label.to_owned(),
        log_x: true,
        log_y: false,
        series,
        hlines,
        ..Plot::default()
    };
    [
        plot("dough-rolling, 10 s simulated", "wall time [s]", curves(|p| p.wall), Vec::new()),
        plot(
            "dough-rolling",
            "simulated over wall time [-]",
            curves(|p| p.rate),
            vec![(1.0, "real time".to_owned()), (0.59, "published at 0.1 (RTX 4090)".to_owned())],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: a curve for each number of threads, through every tolerance, and both files are
    // there.
    #[test]
    fn plots_show_every_run() {
        let point = |threads, tolerance| Point { threads, tolerance, wall: 9.0, rate: 10.0 / 9.0 };
        let points = [point(1, 1e-5), point(2, 1e-5), point(1, 1e-1), point(2, 1e-1)];
        for plot in plots(&points) {
            assert_eq!(plot.series.len(), 2);
            assert!(plot.series.iter().all(|s| s.points.len() == 2 && s.points[0].0 == 1e-5));
        }
        let folder = std::env::temp_dir().join(format!("pliant-tolerance-plots-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        draw(&folder, &points).unwrap();
        for name in [WALL, RATE] {
            assert!(std::fs::read_to_string(folder.join(name)).unwrap().contains("<svg"));
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    // Checks: distances in cells; one of four particles moved by a whole cell.
    #[test]
    fn distances_are_in_cells() {
        let a = [[0.0; 3]; 4];
        let mut b = a;
        b[2] = [0.0, 0.02, 0.0];
        let off = Distances::between(&a, &b, 0.02);
        assert_eq!((off.mean, off.max, off.near), (0.25, 1.0, 0.75));
    }
}
