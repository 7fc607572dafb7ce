//! A run of a scene in memory, and the data that the laws use.
//!
//! Energies and momenta are summed here from the state alone: masses, poses and velocities of
//! bodies, totals of particles. The world's own balances are not used, because they are among what
//! is judged.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_coupling::{ParticleSnapshot, World};
use pliant_rigid::multibody::{Kinematics, LinkId, potential_energy};
use pliant_rigid::{BodyId, Shape, SpatialVelocity};

use pliant_runner::run::ClothWatch;
use pliant_scenes::format::Scene;
use pliant_scenes::scenario::Scenario;

/// Totals of all dynamic bodies and particles at one time, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Time \[s\].
    pub time: f64,
    /// Kinetic energy at the time of the positions, which velocities of particles are half a substep
    /// behind \[J\].
    pub kinetic: f64,
    /// Elastic energy of the particles \[J\].
    pub elastic: f64,
    /// Potential energy of gravity and of the joints' springs, zero of gravity at the world's
    /// origin \[J\].
    pub potential: f64,
    /// Linear momentum \[N s\].
    pub linear: Vector3<f64>,
    /// Angular momentum about the world's origin \[N m s\].
    pub angular: Vector3<f64>,
    /// Impulse of the last step on the environment: floors, tools, the grid's boundaries \[N s\].
    pub environment_impulse: Vector3<f64>,
    /// Work that bodies on prescribed paths have done since the start, and their impulses \[J, N s\].
    pub driven: Driven,
}

/// What bodies on prescribed paths gave to all others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Driven {
    /// Work \[J\].
    pub work: f64,
    /// Linear impulse \[N s\].
    pub impulse: Vector3<f64>,
}

impl Driven {
    /// Their work in a frame that moves at `frame` \[m/s\] \[J\].
    pub fn work_in(&self, frame: &Vector3<f64>) -> f64 {
        self.work - frame.dot(&self.impulse)
    }
}

impl Moment {
    /// Energy of a total `mass` \[kg\] in `gravity` \[m/s^2\] in a frame that moves at `frame`
    /// \[m/s\], up to a constant: `E - V.P + M V^2/2`, with the potential of gravity at `x - V t`.
    pub fn energy(&self, frame: &Vector3<f64>, mass: f64, gravity: &Vector3<f64>) -> f64 {
        self.kinetic_in(frame, mass) + self.elastic + self.potential_in(frame, mass, gravity)
    }

    /// Kinetic energy in that frame \[J\].
    pub fn kinetic_in(&self, frame: &Vector3<f64>, mass: f64) -> f64 {
        self.kinetic - frame.dot(&self.linear) + 0.5 * mass * frame.norm_squared()
    }

    /// Potential energy in that frame \[J\].
    pub fn potential_in(&self, frame: &Vector3<f64>, mass: f64, gravity: &Vector3<f64>) -> f64 {
        self.potential + mass * gravity.dot(frame) * self.time
    }
}

/// A body at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyState {
    /// Name.
    pub name: String,
    /// Whether it is dynamic.
    pub dynamic: bool,
    /// Frame at the centre of mass, world.
    pub pose: Isometry3<f64>,
    /// Velocity of that frame, world.
    pub velocity: SpatialVelocity,
}

/// A soft body, cloth or rope at the end: the means of its particles.
#[derive(Clone, Debug, PartialEq)]
pub struct PartState {
    /// Name.
    pub name: String,
    /// Mean position \[m\].
    pub center: Vector3<f64>,
    /// Mean velocity \[m/s\].
    pub velocity: Vector3<f64>,
}

/// A centre of mass or a particle that is deep in a body, or beyond it.
#[derive(Clone, Debug, PartialEq)]
pub struct Penetration {
    /// The inner object.
    pub what: String,
    /// The outer body.
    pub of: String,
    /// Depth below the surface \[m\].
    pub depth: f64,
    /// What it is compared with: of a particle the grid's spacing or the size of the outer body, if that is
    /// less; of a centre of mass the smallest length of the scene \[m\].
    pub length: f64,
    /// Time \[s\].
    pub time: f64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// It completed.
    Completed,
    /// The run ended with a typed error.
    Said(String),
    /// It panicked.
    Panicked(String),
}

/// Data of a run that the laws use.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// At the start and after every step.
    pub moments: Vec<Moment>,
    /// Mass of all dynamic bodies and particles \[kg\].
    pub mass: f64,
    /// Gravity \[m/s^2\].
    pub gravity: Vector3<f64>,
    /// Smallest length of the scene: the grid's spacing, or the least size of a body \[m\].
    pub length: f64,
    /// Distance from the world's origin to the farthest centre of mass at the start \[m\].
    pub span: f64,
    /// The bodies at the start, in the scene's order.
    pub start: Vec<BodyState>,
    /// The bodies at the end, in the scene's order.
    pub bodies: Vec<BodyState>,
    /// Soft bodies, then cloths, then ropes, at the end.
    pub parts: Vec<PartState>,
    /// The deepest particle and the deepest centre of mass found inside a body.
    pub inside: Vec<Penetration>,
    /// Edges of cloth that pass through faces, at the start and after every step; empty without cloth.
    pub crossings: Vec<usize>,
    /// Contacts between layers that the run says it could not keep apart.
    pub unresolved_layers: usize,
    /// The final state, bit for bit.
    pub state: Vec<u8>,
    /// Warnings of the run about the initial state.
    pub warnings: Vec<String>,
    /// Largest depth of particles inside bodies that it reports \[m\].
    pub deepest: f64,
    /// Largest penetration of bodies that it reports, in half thicknesses of the thinner one \[-\].
    pub max_overlap_ratio: f64,
    /// Energy gain that its own balance reports, relative to the energy input \[-\].
    pub gained: f64,
    /// How it ended.
    pub end: End,
}

/// A scene that did not run: refused with an error, or with a panic.
#[derive(Clone, Debug, PartialEq)]
pub enum NoRun {
    /// It was refused with a typed error.
    Refused(String),
    /// It panicked.
    Panicked(String),
}

/// Runs a scene in memory.
///
/// # Errors
/// A scene from which no world can be built.
pub fn record(scene: &Scene) -> Result<Record, NoRun> {
    record_from(scene, None)
}

/// As [`record`], but at half of the steps the state is written, and a new world continues from it.
///
/// # Errors
/// As [`record`].
pub fn record_resumed(scene: &Scene) -> Result<Record, NoRun> {
    record_from(scene, Some(steps_of(scene) / 2))
}

/// Whole steps of a scene.
pub fn steps_of(scene: &Scene) -> u64 {
    // The slack keeps 1.0 / 0.1 at ten steps.
    ((scene.duration / scene.dt) * (1.0 - 1e-12)).ceil().max(1.0) as u64
}

fn record_from(scene: &Scene, resume_at: Option<u64>) -> Result<Record, NoRun> {
    let scenario = catch(|| Scenario::new(scene));
    match scenario {
        Err(message) => Err(NoRun::Panicked(message)),
        Ok(Err(error)) => Err(NoRun::Refused(error.to_string())),
        Ok(Ok(scenario)) => Ok(RunRecorder::new(scenario).run(resume_at)),
    }
}

/// The message of a panic, if `work` does.
fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}

/// A world with its recorder.
struct RunRecorder {
    scenario: Scenario,
    kinematics: Kinematics,
    snapshot: ParticleSnapshot,
    /// Counts crossings of cloth; none without cloth.
    crossings: Option<ClothWatch>,
    record: Record,
    /// Impulse of the last step's contacts of bodies on the environment \[N s\].
    of_bodies: Vector3<f64>,
    /// What prescribed bodies gave so far.
    driven: Driven,
    /// Penetration at the start, which is not counted.
    started_inside: f64,
    end: End,
}

impl RunRecorder {
    fn new(scenario: Scenario) -> Self {
        let world = &scenario.world;
        let model = &world.bodies().simulation().system().model;
        let rigid: f64 = dynamic_links(world).map(|link| model.links()[link.0].inertia.mass).sum();
        let kinematics = Kinematics::new(model);
        let crossings = ClothWatch::new(world.cloths(), world.ropes());
        let record = Record {
            moments: Vec::new(),
            mass: rigid,
            gravity: world.gravity(),
            length: smallest_length(world, &scenario.scene),
            span: span(world),
            start: states(world),
            bodies: Vec::new(),
            parts: Vec::new(),
            inside: Vec::new(),
            crossings: Vec::new(),
            unresolved_layers: 0,
            state: Vec::new(),
            warnings: scenario.warnings.clone(),
            deepest: 0.0,
            max_overlap_ratio: 0.0,
            gained: 0.0,
            end: End::Completed,
        };
        let mut watch = Self {
            scenario,
            kinematics,
            snapshot: ParticleSnapshot::default(),
            crossings,
            record,
            of_bodies: Vector3::zeros(),
            driven: Driven::default(),
            started_inside: 0.0,
            end: End::Completed,
        };
        watch.record.mass += watch.scenario.world.diagnostics().mass;
        watch
    }

    fn run(mut self, resume_at: Option<u64>) -> Record {
        self.record_totals();
        self.find_penetrations();
        self.started_inside = self.record.inside.iter().map(|inside| inside.depth).fold(0.0, f64::max);
        self.record.inside.clear();
        let steps = steps_of(&self.scenario.scene);
        let every = (steps / 8).max(1);
        for step in 0..steps {
            if resume_at == Some(step) {
                self.resume();
            }
            if !self.step() {
                break;
            }
            self.record_totals();
            if step % every == every - 1 || step + 1 == steps {
                self.find_penetrations();
            }
        }
        self.finish()
    }

    /// Takes one step; returns whether it succeeded.
    fn step(&mut self) -> bool {
        let bodies = self.scenario.world.bodies();
        let before: Vec<Isometry3<f64>> = bodies.iter().map(|(id, _)| bodies.pose(id)).collect();
        let start = self.scenario.world.time();
        self.end = match catch(|| self.scenario.step()) {
            Ok(Ok(report)) => {
                self.record.deepest = self.record.deepest.max(report.deepest.unwrap_or(0.0));
                self.record.max_overlap_ratio =
                    self.record.max_overlap_ratio.max(report.rigid.solver.max_overlap_ratio);
                self.record.unresolved_layers += report.layers.map_or(0, |layers| layers.unresolved);
                self.of_bodies = report.rigid.environment_impulse.into();
                self.drive(&before, self.scenario.world.time() - start);
                return true;
            }
            Ok(Err(error)) => End::Said(error.to_string()),
            Err(message) => End::Panicked(message),
        };
        false
    }

    /// Adds what prescribed bodies gave in the last step, over their ways in it since `before`.
    fn drive(&mut self, before: &[Isometry3<f64>], dt: f64) {
        let world = &self.scenario.world;
        let bodies = world.bodies();
        for (id, _) in bodies.iter().filter(|(id, _)| !bodies.is_dynamic(*id)) {
            let (from, to) = (&before[id.0], bodies.pose(id));
            let way = to.translation.vector - from.translation.vector;
            let turn = (to.rotation * from.rotation.inverse()).scaled_axis();
            for impulses in [world.body_impulses(), world.contact_impulses()] {
                let of = &impulses[id.0];
                self.driven.impulse -= of.linear;
                self.driven.work -= (of.linear.dot(&way) + of.angular.dot(&turn)) / dt;
            }
        }
    }

    /// Continues in a new world from the state of this one.
    fn resume(&mut self) {
        let mut bytes = Vec::new();
        if let Err(error) = self.scenario.world.write_state(&mut bytes) {
            self.end = End::Said(error.to_string());
            return;
        }
        let fresh = match Scenario::new(&self.scenario.scene) {
            Ok(fresh) => fresh,
            Err(error) => {
                self.end = End::Said(error.to_string());
                return;
            }
        };
        self.scenario = fresh;
        if let Err(error) = self.scenario.world.read_state(&mut bytes.as_slice()) {
            self.end = End::Said(error.to_string());
        }
    }

    /// Records the present totals.
    fn record_totals(&mut self) {
        self.count_crossings();
        let world = &mut self.scenario.world;
        let particles = world.diagnostics();
        let bodies = world.bodies();
        let model = &bodies.simulation().system().model;
        self.kinematics.update(model, bodies.state());
        let momentum = bodies.momentum();
        let of_particles = |value: f64| if particles.mass > 0.0 { value } else { 0.0 };
        self.record.moments.push(Moment {
            time: world.time(),
            kinetic: of_particles(particles.kinetic_energy + particles.kinetic_lag) + bodies.kinetic_energy(),
            elastic: of_particles(particles.elastic_energy),
            potential: of_particles(particles.gravitational_energy)
                + potential_energy(model, &self.kinematics, bodies.state()),
            linear: particles.linear_momentum + momentum.linear,
            angular: particles.angular_momentum + momentum.angular,
            environment_impulse: environment_impulse(world, self.of_bodies),
            driven: self.driven,
        });
    }

    fn count_crossings(&mut self) {
        let Some(counter) = &mut self.crossings else { return };
        let world = &mut self.scenario.world;
        if world.snapshot(&mut self.snapshot).is_ok() {
            counter.follow(world.torn_faces(), world.cloths(), world.ropes());
            // Nothing keeps ropes from passing through cloth; a run tells.
            let found = counter.crossings(&self.snapshot.positions);
            self.record.crossings.push(found.count - found.of_ropes);
        }
    }

    /// Finds particles and centres of mass inside bodies.
    fn find_penetrations(&mut self) {
        let world = &mut self.scenario.world;
        if world.snapshot(&mut self.snapshot).is_err() {
            return;
        }
        let (time, spacing) = (world.time(), self.scenario.scene.grid_spacing.unwrap_or(f64::INFINITY));
        let mut particle: Option<Penetration> = None;
        let mut center: Option<Penetration> = None;
        for (id, body) in world.bodies().iter() {
            let pose = world.bodies().pose(id);
            for geometry in &body.geometries {
                let frame = pose * geometry.pose;
                let size = geometry.shape.bounding_sphere().map_or(f64::INFINITY, |(_, radius)| radius);
                let depth = |x: Point3<f64>| depth_in(&geometry.shape, &frame, &x);
                for x in &self.snapshot.positions {
                    let what = || "a particle".to_owned();
                    let length = spacing.min(size);
                    deeper(&mut particle, [depth((*x).into()), length], what, &body.name, time);
                }
                for (other, described) in world.bodies().iter() {
                    if other != id && world.bodies().is_dynamic(other) && can_touch(world, id, other) {
                        let x = world.bodies().pose(other).translation.vector;
                        let what = || format!("the centre of {}", described.name);
                        let length = self.record.length;
                        deeper(&mut center, [depth(x.into()), length], what, &body.name, time);
                    }
                }
            }
        }
        for found in [particle, center].into_iter().flatten() {
            if found.depth > self.started_inside {
                self.record.inside.push(found);
            }
        }
    }

    fn finish(mut self) -> Record {
        let Scenario { world, scene, parts, .. } = &mut self.scenario;
        self.record.bodies = states(world);
        self.record.gained = world.energy().gain.map_or(0.0, |gain| gain.relative());
        // A state that cannot be written counts as different from all others.
        if world.write_state(&mut self.record.state).is_err() {
            self.record.state.clear();
        }
        if world.snapshot(&mut self.snapshot).is_ok() {
            let cloths = world.cloths().iter().map(|patch| patch.vertices.clone());
            let ropes = world.ropes().iter().cloned();
            let names = scene.soft.iter().map(|s| &s.name).chain(scene.cloths.iter().map(|c| &c.name));
            let names = names.chain(scene.ropes.iter().map(|rope| &rope.name));
            for (range, name) in parts.iter().cloned().chain(cloths).chain(ropes).zip(names) {
                self.record.parts.push(mean_of(&self.snapshot, range, name));
            }
        }
        self.record.end = self.end;
        self.record
    }
}

fn states(world: &World) -> Vec<BodyState> {
    let bodies = world.bodies();
    let state = |(id, body): (BodyId, &pliant_rigid::Body)| BodyState {
        name: body.name.clone(),
        dynamic: bodies.is_dynamic(id),
        pose: bodies.pose(id),
        velocity: bodies.velocity(id),
    };
    bodies.iter().map(state).collect()
}

/// Distance from the origin to the farthest dynamic body \[m\].
fn span(world: &World) -> f64 {
    let bodies = world.bodies();
    let dynamic = bodies.iter().filter(|(id, _)| bodies.is_dynamic(*id));
    dynamic.map(|(id, _)| bodies.pose(id).translation.vector.norm()).fold(0.0, f64::max)
}

fn mean_of(snapshot: &ParticleSnapshot, range: std::ops::Range<usize>, name: &str) -> PartState {
    let count = range.len().max(1) as f64;
    let mean = |values: &[[f64; 3]]| {
        values[range.clone()].iter().map(|v| Vector3::from(*v)).sum::<Vector3<f64>>() / count
    };
    PartState {
        name: name.to_owned(),
        center: mean(&snapshot.positions),
        velocity: mean(&snapshot.velocities),
    }
}

fn deeper(
    worst: &mut Option<Penetration>,
    [depth, length]: [f64; 2],
    what: impl Fn() -> String,
    of: &str,
    time: f64,
) {
    if depth > 0.0 && worst.as_ref().is_none_or(|worst| depth / length > worst.depth / worst.length) {
        *worst = Some(Penetration { what: what(), of: of.to_owned(), depth, length, time });
    }
}

/// Depth of `x` below the surface of a shape in this frame \[m\]; none outside.
fn depth_in(shape: &Shape, frame: &Isometry3<f64>, x: &Point3<f64>) -> f64 {
    let local = frame.inverse_transform_point(x);
    if shape.lower_bound(&local) > 0.0 { 0.0 } else { (-shape.surface_point(&local).distance).max(0.0) }
}

/// Whether the geometries of two bodies may touch at all, and no joint is between them.
fn can_touch(world: &World, a: BodyId, b: BodyId) -> bool {
    let (first, second) = (world.bodies().body(a), world.bodies().body(b));
    let candidate = first
        .geometries
        .iter()
        .any(|g| second.geometries.iter().any(|o| g.group & o.mask != 0 && o.group & g.mask != 0));
    let model = &world.bodies().simulation().system().model;
    let parent = |body: &pliant_rigid::Body| body.link.and_then(|link| model.links()[link.0].parent);
    let joined = (parent(first).is_some() && parent(first) == second.link)
        || (parent(second).is_some() && parent(second) == first.link);
    candidate && !joined
}

fn dynamic_links(world: &World) -> impl Iterator<Item = LinkId> + '_ {
    let model = &world.bodies().simulation().system().model;
    model.trees().iter().flat_map(|tree| tree.links.iter().copied())
}

/// The grid's spacing or the least size of a body, whichever is less \[m\].
fn smallest_length(world: &World, scene: &Scene) -> f64 {
    let sizes = world.bodies().iter().filter(|(id, _)| world.bodies().is_dynamic(*id));
    let sizes = sizes.flat_map(|(_, body)| &body.geometries).filter_map(|g| g.shape.bounding_sphere());
    let least = sizes.map(|(_, radius)| radius).fold(f64::INFINITY, f64::min);
    let least =
        if world.particle_count() > 0 { least.min(scene.grid_spacing.unwrap_or(least)) } else { least };
    if least.is_finite() { least } else { 1.0 }
}

/// Impulse of the last step on the environment \[N s\]; contacts of bodies are those of the step's
/// report.
fn environment_impulse(world: &World, of_bodies: Vector3<f64>) -> Vector3<f64> {
    let bodies = world.bodies();
    let still = bodies.iter().filter(|(id, _)| !bodies.is_dynamic(*id));
    let of_particles: Vector3<f64> = still.map(|(id, _)| world.body_impulses()[id.0].linear).sum();
    of_bodies + of_particles - world.boundary_impulse().linear
}
