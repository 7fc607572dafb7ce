//! Figure 2: the force of a held cube on a panel, by the engine and by the schemes of
//! [`rivals`](super::rivals), beside statics.

use std::path::Path;
use std::time::Instant;

use pliant_render::plot::{Figure, Plot, PlotError, Series, Style};
use pliant_scenes::format::Scene;
use pliant_scenes::scenario::Scenario;

use super::rivals::held_cube::{HeldCube, HeldCubeError, PanelForce};
use super::rivals::implicit::{self, ImplicitSettings};
use super::rivals::penalty::{self, Schedule};

/// Names of the components of a [`Curve`], and the one that statics gives in words.
pub const COMPONENTS: [&str; 3] = ["normal force", "friction along y", "friction along z"];

/// The end of a run that is averaged \[s\].
pub const AVERAGED: f64 = 0.05;

/// A scheme, and how it is called.
#[derive(Clone, Debug)]
pub enum Scheme {
    /// The engine, as the scene states.
    Ours,
    /// Explicit penalty forces.
    Penalty(Schedule),
    /// Everything implicit.
    Implicit(ImplicitSettings),
}

impl Scheme {
    /// Its name, with steps.
    pub fn name(&self, scene: &Scene) -> String {
        match self {
            Self::Ours => {
                let substeps = scene.substeps.value().map_or("auto".to_owned(), |n| n.to_string());
                format!("ours, {} ms, N {substeps}", scene.dt * 1e3)
            }
            Self::Penalty(s) => format!("explicit penalty, {} ms, N {}", s.step * 1e3, s.substeps),
            Self::Implicit(s) => format!("implicit, {} ms", s.step * 1e3),
        }
    }

    /// Whether it is another paper's.
    pub fn is_rival(&self) -> bool {
        !matches!(self, Self::Ours)
    }
}

/// The force on the left panel over time.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The scheme's name.
    pub name: String,
    /// Time \[s\], and the components in the order of [`COMPONENTS`] \[N\]: each the mean over a step
    /// of the scheme. The normal force presses on the panel, that along z is the weight it carries.
    pub points: Vec<(f64, [f64; 3])>,
    /// Wall time of the steps \[s\].
    pub wall: f64,
    /// Newton iterations, and solves that did not converge, of an implicit scheme.
    pub newton: Option<implicit::ImplicitReport>,
}

/// Mean and standard deviation of each component \[N\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Mean.
    pub mean: [f64; 3],
    /// Standard deviation over the steps, about the mean.
    pub deviation: [f64; 3],
    /// Steps that count.
    pub steps: usize,
}

impl Curve {
    /// Mean and standard deviation from a time on \[s\].
    pub fn spread(&self, from: f64) -> Spread {
        let late = || self.points.iter().filter(|(time, _)| *time > from + 1e-9).map(|(_, force)| force);
        let steps = late().count();
        let over = |sum: f64| sum / steps as f64;
        let mean = [0, 1, 2].map(|a| over(late().map(|f| f[a]).sum()));
        let deviation = [0, 1, 2].map(|a| over(late().map(|f| (f[a] - mean[a]).powi(2)).sum()).sqrt());
        Spread { mean, deviation, steps }
    }

    fn add(&mut self, sample: &PanelForce) {
        let force = &sample.force;
        self.points.push((sample.time, [-force.x, force.y, -force.z]));
    }
}

/// Statics \[N\]: the force that presses the panel, nothing along y, half of the cube's weight along z
/// (`rho g L^3/2` of a cube of edge `L`).
pub fn statics(cube: &HeldCube) -> [f64; 3] {
    let mass: f64 = cube.mpm.particles.iter().map(|p| p.mass).sum();
    [cube.panels[0].applied, 0.0, 0.5 * mass * cube.mpm.gravity.norm()]
}

/// Steps the scene to its end.
///
/// # Errors
/// [`HeldCubeError`]: the scene is of another kind, or the scheme is unstable at its step.
pub fn run(scene: &Scene, scheme: &Scheme) -> Result<Curve, HeldCubeError> {
    let mut curve = Curve { name: scheme.name(scene), points: Vec::new(), wall: 0.0, newton: None };
    if let Scheme::Ours = scheme {
        return run_ours(scene, curve);
    }
    let mut cube = HeldCube::new(scene)?;
    let clock = Instant::now();
    match scheme {
        Scheme::Ours => {}
        Scheme::Penalty(schedule) => {
            penalty::run(&mut cube, *schedule, scene.duration, |sample| curve.add(&sample))?;
        }
        Scheme::Implicit(settings) => {
            let report = implicit::run(&mut cube, *settings, scene.duration, |sample| curve.add(&sample))?;
            curve.newton = Some(report);
        }
    }
    curve.wall = clock.elapsed().as_secs_f64();
    Ok(curve)
}

fn run_ours(scene: &Scene, mut curve: Curve) -> Result<Curve, HeldCubeError> {
    let fail = |reason: String| HeldCubeError::Scene { scene: scene.name.clone(), reason };
    let mut scenario = Scenario::new(scene).map_err(|e| fail(e.to_string()))?;
    let left = scenario.world.bodies().find("left").ok_or_else(|| fail("needs a body 'left'".to_owned()))?;
    for _ in 0..(scene.duration / scene.dt).round() as usize {
        let clock = Instant::now();
        scenario.step().map_err(|e| fail(e.to_string()))?;
        curve.wall += clock.elapsed().as_secs_f64();
        let wrench = scenario.world.contact_wrench(left).unwrap_or_default();
        curve.add(&PanelForce { time: scenario.world.time(), force: wrench.force });
    }
    Ok(curve)
}

/// Draws the components one above the other, with statics as lines.
///
/// # Errors
/// The plot cannot be drawn or written.
pub fn draw(curves: &[Curve], statics: &[f64; 3], path: &Path) -> Result<(), PlotError> {
    let panel = |a: usize| {
        let series = |curve: &Curve| Series {
            name: curve.name.clone(),
            points: curve.points.iter().map(|(time, force)| (*time, force[a])).collect(),
            style: if curve.points.len() < 100 { Style::LinePoints } else { Style::Line },
        };
        Plot {
            title: COMPONENTS[a].to_owned(),
            x_label: "time [s]".to_owned(),
            y_label: "force [N]".to_owned(),
            series: curves.iter().map(series).collect(),
            hlines: vec![(statics[a], format!("statics, {:.4} N", statics[a]))],
            ..Plot::default()
        }
    };
    let title = "Force of the cube on the left panel".to_owned();
    Figure { title, panels: vec![panel(0), panel(2), panel(1)] }.write_svg(path)
}

/// Draws the standard deviation of the friction along y \[N\] over the friction number of explicit
/// penalty forces, with that of the engine as a line.
///
/// # Errors
/// The plot cannot be drawn or written.
pub fn draw_onset(penalty: &[(f64, f64)], ours: f64, path: &Path) -> Result<(), PlotError> {
    let mut points = penalty.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Plot {
        title: "Oscillation of the friction along y".to_owned(),
        x_label: "friction number [-]".to_owned(),
        y_label: "standard deviation [N]".to_owned(),
        log_x: true,
        log_y: true,
        series: vec![Series { name: "explicit penalty".to_owned(), points, style: Style::LinePoints }],
        hlines: vec![(ours, "ours, 0.1 ms, N 1".to_owned())],
        ..Plot::default()
    }
    .write_svg(path)
}
