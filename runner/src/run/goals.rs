//! Goals during a run: each measures its quantity after every step, and keeps the worst value.

use std::ops::Range;

use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use pliant_coupling::{BackendError, ParticleSnapshot, World};
use pliant_mpm::cloth::SheetParticles;
use pliant_rigid::BodyId;
use serde::{Deserialize, Serialize};

use crate::record::manifest::{GoalResult, Number, Status};
use pliant_garment::covered_area;
use pliant_garment::crossings::CrossingDetector;
use pliant_scenes::format::{Goal, MaterialRef, Quantity, Scene};
use pliant_scenes::isometry::isometry;

/// The worst measurement of one goal. It is part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorstMeasurement {
    value: Number,
    time: Number,
    /// Distance of the value from the bounds, negative outside; null if it is not finite.
    margin: Number,
    /// Steps at which it was measured.
    steps: u64,
}

/// Measures goals after every step.
pub struct GoalMonitor {
    watched: Vec<ResolvedGoal>,
    worst: Vec<WorstMeasurement>,
    /// Crossings of all cloth, if a goal needs them, and their number at the start.
    check: CrossingDetector,
    /// Number of faces that had torn when it was made.
    torn_faces: usize,
    crossings_at_start: usize,
    snapshot: ParticleSnapshot,
    coordinates: Vec<f64>,
}

/// A goal with its names resolved.
struct ResolvedGoal {
    goal: Goal,
    of: GoalSubject,
    frame: Option<Frame>,
    unit: &'static str,
}

enum GoalSubject {
    /// Particles, and their density at rest \[kg/m^3\].
    Soft(Range<usize>, f64),
    Rigid(Frame),
    /// All sheets.
    Cloths,
    /// The particles of a sheet, its density \[kg/m^3\] and its number.
    ClothSpec(Range<usize>, f64, usize),
    /// The vertices of a rope, and its density \[kg/m^3\].
    Rope(Range<usize>, f64),
}

/// The frame that the scene gives a body.
struct Frame {
    body: BodyId,
    center: Vector3<f64>,
}

impl Frame {
    fn of(name: &str, world: &World, centers: &[Vector3<f64>]) -> Option<Self> {
        let body = world.bodies().find(name)?;
        Some(Self { body, center: centers.get(body.0).copied()? })
    }

    fn pose(&self, world: &World) -> Isometry3<f64> {
        world.bodies().pose(self.body) * Translation3::from(-self.center)
    }
}

impl GoalMonitor {
    /// Resolves the goals of a scene; `parts` are the particles of each soft body, `centers` the
    /// bodies' centres of mass in the frames that the scene gives them \[m\].
    ///
    /// # Errors
    /// A name that a robot's file does not have, as a line that names the field; validation has
    /// reported all others.
    pub fn new(
        scene: &Scene,
        world: &World,
        parts: &[Range<usize>],
        centers: &[Vector3<f64>],
    ) -> Result<Self, String> {
        let mut watched = Vec::with_capacity(scene.goals.len());
        for (at, goal) in scene.goals.iter().enumerate() {
            let frame = |field: &str, name: &str| {
                Frame::of(name, world, centers)
                    .ok_or_else(|| format!("goals[{at}].{field}: '{name}' is not defined"))
            };
            let of = match (&goal.soft, &goal.cloth, &goal.rope, &goal.body) {
                _ if goal.quantity == Quantity::NewCrossings => GoalSubject::Cloths,
                (_, Some(name), ..) => cloth(scene, world, name)
                    .ok_or_else(|| format!("goals[{at}].cloth: '{name}' is not defined"))?,
                (Some(name), ..) => soft(scene, parts, name)
                    .ok_or_else(|| format!("goals[{at}].soft: '{name}' is not defined"))?,
                (None, None, Some(name), _) => rope(scene, world, name)
                    .ok_or_else(|| format!("goals[{at}].rope: '{name}' is not defined"))?,
                (None, None, None, name) => {
                    GoalSubject::Rigid(frame("body", name.as_deref().unwrap_or_default())?)
                }
            };
            let relative = goal.relative_to.as_deref().map(|name| frame("relative_to", name)).transpose()?;
            watched.push(ResolvedGoal {
                goal: goal.clone(),
                of,
                frame: relative,
                unit: goal.quantity.unit(),
            });
        }
        let asked = watched.iter().any(|watched| matches!(watched.of, GoalSubject::Cloths));
        Ok(Self {
            worst: vec![WorstMeasurement::default(); watched.len()],
            check: if asked {
                CrossingDetector::new(world.cloths()).with_ropes(world.ropes())
            } else {
                CrossingDetector::default()
            },
            torn_faces: 0,
            crossings_at_start: 0,
            watched,
            snapshot: ParticleSnapshot::default(),
            coordinates: Vec::new(),
        })
    }

    /// The measurements so far, for a checkpoint.
    pub fn worst(&self) -> &[WorstMeasurement] {
        &self.worst
    }

    /// Continues from a checkpoint.
    pub fn restore(&mut self, worst: Vec<WorstMeasurement>) {
        if worst.len() == self.watched.len() {
            self.worst = worst;
        }
    }

    /// Sets the number of crossings of cloth at the start \[-\]; 0 if this is never called.
    pub fn started_with_crossings(&mut self, count: usize) {
        self.crossings_at_start = count;
    }

    /// Measures every goal whose time span contains the present time; `dt` is the step \[s\].
    ///
    /// # Errors
    /// Particles that a backend cannot return.
    pub fn step(&mut self, world: &mut World, dt: f64) -> Result<(), BackendError> {
        let time = world.time();
        let mut seen = false;
        for (watched, worst) in self.watched.iter().zip(&mut self.worst) {
            // Half of a step's slack: at least one step is in any span, and a span of whole steps
            // has the expected ones.
            let goal = &watched.goal;
            if time < goal.from - 0.5 * dt || goal.until.is_some_and(|until| time > until + 0.5 * dt) {
                continue;
            }
            if !seen && !matches!(watched.of, GoalSubject::Rigid(_)) {
                world.snapshot(&mut self.snapshot)?;
                seen = true;
            }
            let value = match watched.of {
                GoalSubject::Cloths => {
                    if self.torn_faces != world.torn_faces() {
                        self.torn_faces = world.torn_faces();
                        self.check = CrossingDetector::new(world.cloths()).with_ropes(world.ropes());
                    }
                    self.check.count(&self.snapshot.positions).count as f64 - self.crossings_at_start as f64
                }
                _ => watched.measure(world, &self.snapshot, &mut self.coordinates),
            };
            worst.add(value, time, watched.margin(value));
        }
        Ok(())
    }

    /// The results of a run that ended with `status` at `time` \[s\], `dt` its step \[s\].
    pub fn results(&self, status: Status, time: f64, dt: f64) -> Vec<GoalResult> {
        let result = |(watched, worst): (&ResolvedGoal, &WorstMeasurement)| {
            let goal = &watched.goal;
            let whole = worst.steps > 0
                && match goal.until {
                    Some(until) => time >= until - 0.5 * dt,
                    None => status == Status::Completed,
                };
            // NaN meets no goal.
            let holds = worst.margin.0 >= 0.0;
            let met = match (whole, worst.steps > 0 && !holds) {
                (_, true) => Some(false),
                (true, false) => Some(true),
                (false, false) => (status == Status::Failed).then_some(false),
            };
            GoalResult {
                name: goal.name.clone(),
                met,
                worst: if worst.steps > 0 { worst.value } else { Number(f64::NAN) },
                time: if worst.steps > 0 { worst.time } else { Number(f64::NAN) },
                unit: watched.unit.to_owned(),
            }
        };
        self.watched.iter().zip(&self.worst).map(result).collect()
    }
}

/// The particles of a cloth.
fn cloth(scene: &Scene, world: &World, name: &str) -> Option<GoalSubject> {
    let at = scene.cloths.iter().position(|cloth| cloth.name == name)?;
    let patch = world.cloths().get(at)?;
    let range = patch.vertices.start..patch.centroids.end;
    Some(GoalSubject::ClothSpec(range, scene.cloths[at].material.density, at))
}

/// The vertices of a rope.
fn rope(scene: &Scene, world: &World, name: &str) -> Option<GoalSubject> {
    let at = scene.ropes.iter().position(|rope| rope.name == name)?;
    Some(GoalSubject::Rope(world.ropes().get(at)?.clone(), scene.ropes[at].material.density))
}

/// Area under a sheet \[m^2\], in strips of a quarter of the grid spacing \[m\]; NaN if it cannot
/// be computed.
fn covered(patch: &SheetParticles, positions: &[[f64; 3]], grid_spacing: f64) -> f64 {
    let at = |p: &[f64; 3]| Vector3::from(*p);
    let positions: Vec<_> = positions[patch.vertices.clone()].iter().map(at).collect();
    let faces: Vec<_> = patch.faces.iter().map(|f| f.map(|v| v as usize - patch.vertices.start)).collect();
    covered_area(&positions, &faces, grid_spacing / 4.0).unwrap_or(f64::NAN)
}

/// The particles of a soft body.
fn soft(scene: &Scene, parts: &[Range<usize>], name: &str) -> Option<GoalSubject> {
    let at = scene.soft.iter().position(|soft| soft.name == name)?;
    let material: &MaterialRef = &scene.soft[at].material;
    let density = material.resolve(&scene.materials)?.particle_material().density;
    Some(GoalSubject::Soft(parts.get(at)?.clone(), density))
}

impl WorstMeasurement {
    fn add(&mut self, value: f64, time: f64, margin: f64) {
        // Once NaN, it stays NaN.
        let worse = self.steps == 0 || margin < self.margin.0 || (margin.is_nan() && !self.margin.0.is_nan());
        self.steps += 1;
        if worse {
            *self = Self { value: Number(value), time: Number(time), margin: Number(margin), ..*self };
        }
    }
}

impl ResolvedGoal {
    /// Distance of a value from the bounds, negative outside.
    fn margin(&self, value: f64) -> f64 {
        if value.is_nan() {
            return f64::NAN;
        }
        let above = self.goal.min.map_or(f64::INFINITY, |min| value - min);
        let below = self.goal.max.map_or(f64::INFINITY, |max| max - value);
        above.min(below)
    }

    fn measure(&self, world: &World, particles: &ParticleSnapshot, scratch: &mut Vec<f64>) -> f64 {
        // From the world into the frame of the goal.
        let into = self.frame.as_ref().map_or(Isometry3::identity(), |frame| frame.pose(world).inverse());
        let (range, density) = match &self.of {
            GoalSubject::Rigid(frame) => {
                let Quantity::Center { axis } = self.goal.quantity else { return f64::NAN };
                return (into * frame.pose(world)).translation.vector[axis.index()];
            }
            GoalSubject::Soft(range, density) | GoalSubject::Rope(range, density) => {
                (range.clone(), *density)
            }
            GoalSubject::Cloths => return f64::NAN,
            GoalSubject::ClothSpec(_, _, sheet) if self.goal.quantity == Quantity::CoveredArea => {
                return covered(&world.cloths()[*sheet], &particles.positions, world.settings().grid_spacing);
            }
            GoalSubject::ClothSpec(range, density, _) => (range.clone(), *density),
        };
        let place = |p: usize| Point3::from(particles.positions[p]);
        let points = range.clone().map(|p| into * place(p));
        match &self.goal.quantity {
            Quantity::Center { axis } => {
                let volumes = &particles.volume[range];
                let moment: f64 = points.zip(volumes).map(|(x, volume)| x[axis.index()] * volume).sum();
                moment / volumes.iter().sum::<f64>()
            }
            Quantity::Lowest { axis } => {
                extreme(points.map(|x| x[axis.index()]), f64::INFINITY, |x, least| x < least)
            }
            Quantity::Highest { axis } => {
                extreme(points.map(|x| x[axis.index()]), f64::NEG_INFINITY, |x, greatest| x > greatest)
            }
            Quantity::Gap { axis } => {
                scratch.clear();
                scratch.extend(points.map(|x| x[axis.index()]));
                scratch.sort_unstable_by(f64::total_cmp);
                let gaps = scratch.windows(2).map(|pair| pair[1] - pair[0]);
                extreme(gaps, 0.0, |gap, widest| gap > widest)
            }
            Quantity::Length => {
                range.clone().zip(range.skip(1)).map(|(p, next)| (place(next) - place(p)).norm()).sum()
            }
            Quantity::EndToEnd => (place(range.end - 1) - place(range.start)).norm(),
            Quantity::MassInBox { half_extents, pose } => {
                let to_box = isometry(pose).inverse();
                let inside = |x: &Point3<f64>| {
                    let x = to_box * x;
                    (0..3).all(|k| x[k].abs() <= half_extents[k])
                };
                let volume: f64 = points
                    .zip(&particles.volume[range])
                    .filter(|(x, _)| inside(x))
                    .map(|(_, volume)| volume)
                    .sum();
                // The sum of nothing is -0.
                density * volume + 0.0
            }
            Quantity::NewCrossings | Quantity::CoveredArea => f64::NAN,
        }
    }
}

/// The extreme of some values; NaN stays NaN.
fn extreme(values: impl Iterator<Item = f64>, from: f64, beyond: impl Fn(f64, f64) -> bool) -> f64 {
    values.fold(from, |found, x| if x.is_nan() || beyond(x, found) { x } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::cloth::tests::{standing, two_triangles, world};
    use crate::run::tests::material;

    // Checks: crossings count from those at the start, two of two triangles that intersect, so that
    // a run which starts with two has no new ones, and one that starts with none has two. Without
    // cloth there are none.
    #[test]
    fn new_crossings_are_those_beyond_the_start() {
        let mut world = world(&standing(0.1), material());
        let goal: Goal = serde_json::from_str(
            r#"{ "name": "no more crossings", "quantity": { "type": "new-crossings" }, "max": 0 }"#,
        )
        .unwrap();
        let judged = |world: &mut World, start| {
            let watched = ResolvedGoal {
                goal: goal.clone(),
                of: GoalSubject::Cloths,
                frame: None,
                unit: goal.quantity.unit(),
            };
            let mut goal_monitor = GoalMonitor {
                worst: vec![WorstMeasurement::default()],
                watched: vec![watched],
                check: CrossingDetector::new(&two_triangles()),
                torn_faces: 0,
                crossings_at_start: 0,
                snapshot: ParticleSnapshot::default(),
                coordinates: Vec::new(),
            };
            goal_monitor.started_with_crossings(start);
            goal_monitor.step(world, 1e-3).unwrap();
            let result = goal_monitor.results(Status::Completed, 0.0, 1e-3).remove(0);
            (result.met, result.worst.0, result.unit)
        };
        assert_eq!(judged(&mut world, 2), (Some(true), 0.0, "crossings".to_owned()));
        assert_eq!(judged(&mut world, 0), (Some(false), 2.0, "crossings".to_owned()));
        let scene = Scene { goals: vec![goal], ..Scene::empty("crossings", 1.0, 1e-3) };
        let refused = pliant_scenes::format::validate(&scene).unwrap_err().to_string();
        assert!(refused.contains("goals[0].quantity: there is no cloth to have crossings"), "{refused}");
    }
}
