//! From a scene to a world that is ready to step.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use nalgebra::{Point3, Unit, Vector3};
use pliant_coupling::convex::{Direction, SolverSettings};
use pliant_coupling::{
    BranchError, BuildError, MaterialId, Settings, StepError, StepReport, World, WorldBuilder,
};
use pliant_mpm::{Boundary, BoundaryKind, ParticleState};
use pliant_rigid::comfree::RigidSolver;
use pliant_rigid::multibody::LinkId;
use pliant_rigid::simulation::Integrator;
use pliant_rigid::simulation::StepMaker;
use pliant_rigid::{BeyondLimit, RigidSettings, RobotHandle};

use crate::assemble::{
    AssembleError, AssembledCloth, AssembledRope, Assembly, RigidParts, SoftParticles, TimedInputs, assemble,
    sightings, tactile_pads,
};
use crate::estimate::Estimate;
use crate::format::{self, Order, Scene, ValidationError, validate, within_limits};
use crate::initial_checks::{
    OverlapError, ParticleCloud, PlacedShape, bodies_in_bodies, soft_in_soft, warn_of_soft_contacts,
    warn_of_unused,
};
use crate::isometry::isometry;
use crate::sightings::{SeenFrame, Sightings};

/// A scene from which no world can be built.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// Its values are not valid.
    #[error(transparent)]
    Invalid(#[from] ValidationError),
    /// One of its parts cannot be built.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// No world can be built of the parts: an unstable substep, particles inside a body at the
    /// start, ...
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Bodies start inside each other.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
}

/// A scene that is ready to step: its world, the inputs of its motors over time, and data for a
/// runner.
pub struct Scenario {
    /// The scene, as it is written into the manifest.
    pub scene: Scene,
    /// The world at time 0.
    pub world: World,
    /// sRGB colour of each particle, in the world's order.
    pub colors: Vec<[u8; 3]>,
    /// Particles of each soft body, in the world's order.
    pub parts: Vec<Range<usize>>,
    /// sRGB colour of each cloth's back; none if it follows from the front's.
    pub back_colors: Vec<Option<[u8; 3]>>,
    /// Centre of mass of each body in the frame that the scene gives it \[m\].
    pub centers: Vec<Vector3<f64>>,
    /// Names of joints by which the scene refers to them, by their links.
    pub joint_names: BTreeMap<LinkId, String>,
    /// The robots, in the scene's order.
    pub robots: Vec<RobotHandle>,
    /// Targets and efforts of the motors in time.
    inputs: TimedInputs,
    sightings: Sightings,
    /// Warnings, one line each: joints that start beyond their limits, parts of robots' files that
    /// are left out or approximated (motors and tendons first), and doubtful initial states.
    pub warnings: Vec<String>,
    /// How well the parts of decomposed meshes fit, and which files of the cache were made anew, one
    /// line each.
    pub notes: Vec<String>,
    /// Every file that was read for the world, beside the scene's own: models, what they include,
    /// meshes. Sorted.
    pub files: Vec<PathBuf>,
}

impl Scenario {
    /// Validates a scene and builds its world.
    ///
    /// # Errors
    /// [`SceneError`], naming the field.
    pub fn new(scene: &Scene) -> Result<Self, SceneError> {
        build(scene, None)
    }

    /// The same, with a folder that keeps the hulls of decomposed meshes. It is made if something
    /// is to be kept.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_cache(scene: &Scene, folder: &Path) -> Result<Self, SceneError> {
        build(scene, Some(folder))
    }

    /// What its run will need: with the counts of the world as it is built.
    pub fn estimate(&self) -> Estimate {
        estimate(&self.scene, &self.world)
    }

    /// The robot of a name, to read and set it through the world's bodies.
    pub fn robot(&self, name: &str) -> Option<&RobotHandle> {
        self.robots.iter().find(|robot| robot.name() == name)
    }

    /// A scenario that continues from the same state with the same bits, and shares nothing with
    /// this one that changes: [`World::branch`].
    ///
    /// # Errors
    /// [`BranchError`].
    pub fn branch(&self) -> Result<Self, BranchError> {
        Ok(Self {
            scene: self.scene.clone(),
            world: self.world.branch()?,
            colors: self.colors.clone(),
            parts: self.parts.clone(),
            back_colors: self.back_colors.clone(),
            centers: self.centers.clone(),
            joint_names: self.joint_names.clone(),
            robots: self.robots.clone(),
            inputs: self.inputs.clone(),
            sightings: self.sightings.clone(),
            warnings: self.warnings.clone(),
            notes: self.notes.clone(),
            files: self.files.clone(),
        })
    }

    /// Ends what the scene tells the motors and drives of a robot in time: they keep their present
    /// inputs until a program sets others. It cannot be undone, and is no part of a saved state.
    pub fn release_motors(&mut self, robot: &RobotHandle) {
        self.inputs.release(robot);
    }

    /// Whether a task or an actuator of the scene drives the joint of a robot's link: what a program
    /// sets there is overwritten before the next step.
    pub fn drives(&self, robot: &RobotHandle, link: LinkId) -> bool {
        self.inputs.drive_beside(robot, link, self.world.bodies().simulation().system())
    }

    /// Sets the targets and efforts of all motors for the next step, and takes it.
    ///
    /// # Errors
    /// As [`World::step`].
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.set_motors()?;
        self.world.step()
    }

    /// Sets the targets and efforts of all motors for the next step, for a program that changes
    /// some of them before it calls [`World::step`] itself.
    ///
    /// # Errors
    /// [`StepError::Motors`]: a sighting without a direction, a waypoint in its frame that cannot be
    /// reached.
    pub fn set_motors(&mut self) -> Result<(), StepError> {
        self.sightings.look(&self.scene, &mut self.world, &mut self.inputs)?;
        let time = self.world.time();
        self.inputs.apply(self.world.bodies_mut().simulation_mut().system_mut(), time, self.scene.dt);
        Ok(())
    }

    /// The frames that the sightings found so far, in the scene's order. They belong to a saved state
    /// of the scenario, beside the world's.
    pub fn seen(&self) -> &[Option<SeenFrame>] {
        self.sightings.seen()
    }

    /// Takes over the frames of a saved state; false if there are not as many as sightings.
    #[must_use]
    pub fn set_seen(&mut self, seen: Vec<Option<SeenFrame>>) -> bool {
        self.sightings.restore(seen, &mut self.inputs)
    }
}

fn build(scene: &Scene, cache: Option<&Path>) -> Result<Scenario, SceneError> {
    validate(scene)?;
    let assembly = assemble(scene, cache)?;
    let points = sightings(scene, &assembly)?;
    let Assembly { materials, mass_damping, soft, cloths, ropes, rigid, warnings: coarse } = assembly;
    check_soft(scene, &soft, &cloths, &ropes)?;
    let mut builder = World::builder(settings(scene));
    for pad in tactile_pads(scene, &rigid)? {
        builder.tactile(pad);
    }
    let RigidParts {
        builder: bodies,
        centers,
        inputs,
        tasks,
        joint_names,
        robots,
        warnings: of_files,
        notes,
        mut files,
    } = rigid;
    let ids: Vec<_> = materials.into_iter().map(|material| builder.material(material)).collect();
    builder.mass_damping(mass_damping, scene.cloths.iter().map(|cloth| cloth.mass_damping).collect());
    builder.rope_mass_damping(scene.ropes.iter().map(|rope| rope.mass_damping).collect());
    let mut colors = Vec::new();
    let mut parts = Vec::new();
    for (at, part) in soft.into_iter().enumerate() {
        let count = part.sample.positions.len();
        parts.push(colors.len()..colors.len() + count);
        colors.resize(colors.len() + count, part.color);
        let (volume, MaterialId(material)) = (part.sample.particle_volume, ids[part.material]);
        let states = part.sample.positions.into_iter().zip(part.velocities).map(|(x, v)| ParticleState {
            affine: part.velocity_gradient,
            ..ParticleState::new(x, v, volume, material)
        });
        builder.part_states(&soft_label(scene, at), states);
    }
    let mut back_colors = Vec::new();
    for (at, AssembledCloth { sheet, color, back_color }) in cloths.into_iter().enumerate() {
        let count = sheet.mesh.vertices().len() + sheet.mesh.faces().len();
        colors.resize(colors.len() + count, color);
        back_colors.push(back_color);
        builder.named_cloth(&cloth_label(scene, at), sheet);
    }
    for (at, AssembledRope { rope, color }) in ropes.into_iter().enumerate() {
        colors.resize(colors.len() + rope.vertices.len(), color);
        builder.named_rope(&rope_label(scene, at), rope);
    }
    *builder.bodies() = bodies;
    allow(scene, &mut builder);
    let (scene, world) = (scene.clone(), builder.build()?);
    within_limits(&scene, &estimate(&scene, &world))?;
    // What makes the first steps differ from what a user expects comes before what a file lacks.
    let at_start = world.bodies().beyond_limits().filter_map(
        |BeyondLimit { link, position, limit, unit, is_compliant }| {
            let beyond = (position - limit).abs();
            let returns = match is_compliant {
                true => "the limit pushes it back as stiffly as its file says".to_owned(),
                false => format!("the limit returns it at 0.5 {unit}/s at most"),
            };
            // Less is a rounding of the file, and the text would say 0.
            (beyond >= 5e-5).then(|| {
            format!(
                "the joint of '{link}' starts at {position:.4} {unit}, {beyond:.4} {unit} beyond its limit \
                 of {limit:.4} {unit}: {returns}"
            )
        })
        },
    );
    let apart = world.bodies().apart_from_couplings().map(|(name, q, demanded, unit)| {
        format!(
            "the joint of '{name}' starts at {q:.4} {unit}; its coupling to another joint demands \
             {demanded:.4} {unit}: the first step moves it there, and creates the energy that this takes"
        )
    });
    let of_start = at_start.chain(apart);
    let mut warnings: Vec<String> = of_start.chain(of_files.into_iter().map(|(_, line)| line)).collect();
    warnings.extend(coarse);
    warnings.extend(bodies_in_bodies(&scene, &world)?);
    warnings.extend(warn_of_soft_contacts(&scene, &world));
    let maker = StepMaker::Simulation(world.bodies().simulation().system().solver);
    warnings.extend(warn_of_unused(&scene, &world, maker));
    files.extend(scene.clone().files_mut().map(|file| file.clone()));
    files.sort();
    files.dedup();
    Ok(Scenario {
        scene,
        world,
        colors,
        parts,
        back_colors,
        centers,
        joint_names,
        robots,
        inputs,
        sightings: Sightings::new(points, tasks),
        warnings,
        notes,
        files,
    })
}

fn estimate(scene: &Scene, world: &World) -> Estimate {
    Estimate::of_world(scene, world.particle_count(), world.bodies().len(), world.substeps())
}

fn soft_label(scene: &Scene, at: usize) -> String {
    format!("soft[{at}] '{}'", scene.soft[at].name)
}

fn cloth_label(scene: &Scene, at: usize) -> String {
    format!("cloths[{at}] '{}'", scene.cloths[at].name)
}

fn rope_label(scene: &Scene, at: usize) -> String {
    format!("ropes[{at}] '{}'", scene.ropes[at].name)
}

/// Passes the scene's allowed overlaps to the builder.
fn allow(scene: &Scene, builder: &mut WorldBuilder) {
    for name in &scene.allow_overlap {
        let soft = (0..scene.soft.len()).filter(|&at| scene.soft[at].name == *name);
        let cloths = (0..scene.cloths.len()).filter(|&at| scene.cloths[at].name == *name);
        let ropes = (0..scene.ropes.len()).filter(|&at| scene.ropes[at].name == *name);
        let labels = soft.map(|at| soft_label(scene, at)).chain(cloths.map(|at| cloth_label(scene, at)));
        for label in labels.chain(ropes.map(|at| rope_label(scene, at))) {
            builder.allow_overlap(&label);
        }
        let links: Vec<String> = builder.bodies().bodies().iter().map(|body| body.name.clone()).collect();
        let of_robot = format!("{name}/");
        for link in links.iter().filter(|link| *link == name || link.starts_with(&of_robot)) {
            builder.allow_overlap(link);
        }
    }
}

/// Refuses soft bodies, cloths and ropes that start in soft bodies.
fn check_soft(
    scene: &Scene,
    soft: &[SoftParticles],
    cloths: &[AssembledCloth],
    ropes: &[AssembledRope],
) -> Result<(), OverlapError> {
    let Some(spacing) = scene.grid_spacing else { return Ok(()) };
    let mut clouds = Vec::new();
    let mut regions = Vec::new();
    for (at, part) in soft.iter().enumerate() {
        let (positions, radius) = (part.sample.positions.clone(), part.sample.radius());
        clouds.push(ParticleCloud {
            name: &scene.soft[at].name,
            label: soft_label(scene, at),
            positions,
            radius,
        });
        regions.push(PlacedShape { shape: part.shape.clone(), pose: isometry(&scene.soft[at].pose) });
    }
    for (at, AssembledCloth { sheet, .. }) in cloths.iter().enumerate() {
        let vertices = sheet.mesh.vertices();
        let middle = |face: &[usize; 3]| face.iter().map(|&v| vertices[v]).sum::<Vector3<f64>>() / 3.0;
        let middles = sheet.mesh.faces().iter().map(middle);
        let positions = vertices.iter().copied().chain(middles).map(Point3::from).collect();
        let radius = 0.5 * sheet.material.thickness;
        clouds.push(ParticleCloud {
            name: &scene.cloths[at].name,
            label: cloth_label(scene, at),
            positions,
            radius,
        });
    }
    for (at, AssembledRope { rope, .. }) in ropes.iter().enumerate() {
        clouds.push(ParticleCloud {
            name: &scene.ropes[at].name,
            label: rope_label(scene, at),
            positions: rope.vertices.iter().copied().map(Point3::from).collect(),
            radius: rope.material.radius,
        });
    }
    soft_in_soft(scene, &clouds, &regions, spacing)
}

impl Scenario {
    /// Whether the scene has cloth whose layers are to be kept from passing through each other.
    pub fn keeps_layers_apart(&self) -> bool {
        self.scene.layer_contact && !self.world.cloths().is_empty()
    }
}

fn settings(scene: &Scene) -> Settings {
    Settings {
        // A scene with soft bodies or cloths has it; without them it is not used.
        grid_spacing: scene.grid_spacing.unwrap_or(1.0),
        dt: scene.dt,
        substeps: scene.substeps,
        coupling: scene.coupling,
        coupling_step: scene.coupling_step,
        grid_motion: scene.grid_motion,
        transfer: scene.transfer,
        gravity: scene.gravity.into(),
        contact: scene.contact,
        layer_contact: scene.layer_contact,
        solver: solver(&scene.solver),
        rigid: rigid(scene),
        boundaries: scene.boundaries.iter().map(boundary).collect(),
    }
}

fn rigid(scene: &Scene) -> RigidSettings {
    let rigid = &scene.rigid;
    RigidSettings {
        integrator: Some(match rigid.integrator {
            format::Integrator::Fixed { step } => Integrator::Fixed { step: step.unwrap_or(scene.dt) },
            format::Integrator::Trapezoid { step } => {
                Integrator::Trapezoid { step: step.unwrap_or(scene.dt), accuracy: None }
            }
            format::Integrator::ErrorControlled { accuracy, max_step, order } => {
                match order.unwrap_or(Order::First) {
                    Order::First => Integrator::ErrorControlled { accuracy, max_step },
                    Order::Second => Integrator::Trapezoid { step: max_step, accuracy: Some(accuracy) },
                }
            }
        }),
        stiction_tolerance: rigid.stiction_tolerance,
        refresh_friction: rigid.refresh_friction,
        solver: match scene.rigid_solver {
            format::RigidSolver::Icf => RigidSolver::Icf,
            format::RigidSolver::Comfree => RigidSolver::ComFree(rigid.comfree),
        },
    }
}

fn solver(solver: &format::Solver) -> SolverSettings {
    SolverSettings {
        direction: match solver.direction {
            format::Direction::Auto => Direction::default(),
            format::Direction::Block => Direction::Block,
            format::Direction::LumpedBlock => Direction::LumpedBlock,
            format::Direction::Lbfgs => Direction::Lbfgs { memory: 8 },
            format::Direction::NewtonCg => Direction::NewtonCg,
            format::Direction::NewtonFactorised => Direction::NewtonFactorised,
        },
        relative_tolerance: solver.relative_tolerance,
        absolute_tolerance: solver.absolute_tolerance,
        max_iterations: solver.max_iterations as usize,
        max_inner_iterations: solver.max_inner_iterations as usize,
    }
}

fn boundary(boundary: &format::Boundary) -> Boundary {
    Boundary {
        point: Point3::from(boundary.point),
        normal: Unit::new_normalize(boundary.normal.into()),
        kind: match boundary.kind {
            format::BoundaryKind::Sticky {} => BoundaryKind::Sticky,
            format::BoundaryKind::Slip {} => BoundaryKind::Slip,
            format::BoundaryKind::Frictional { friction } => BoundaryKind::Frictional { friction },
        },
    }
}
