//! Building a world: everything is checked before the first step.

use nalgebra::{Isometry3, Vector3};
use pliant_mpm::cloth::Sheet;
use pliant_mpm::rope::Rope;
use pliant_mpm::{InstructionSet, Material, Mpm, ParticleState};
use pliant_rigid::{
    Bodies, BodiesBuilder, BodyDesc, BodyId, MechanismDesc, OutOfRange, RigidError, RobotHandle,
};

use crate::auto_or::AutoOr;
use crate::error::BuildError;
use crate::initial_overlap::{NamedParticles, check_overlaps};
use crate::mass_ratio::choose_coupling;
use crate::sensor::TactilePad;
use crate::settings::{MaterialId, NEAR_RIGID_STIFFNESS_NUMBER, ParticleSet, Settings};
use crate::world::World;

/// Largest stiffness against the near-rigid one: rounding of velocities (1e-16 of about 1 m/s)
/// times the stiffness number is then a thousandth of the usual stiction tolerance.
const MAX_STIFFNESS_RATIO: f64 = 1e8;

/// Collects the contents of a [`World`].
#[derive(Debug)]
pub struct WorldBuilder {
    settings: Settings,
    materials: Vec<Material>,
    particles: Vec<ParticleState>,
    sheets: Vec<Sheet>,
    ropes: Vec<Rope>,
    bodies: BodiesBuilder,
    pads: Vec<TactilePad>,
    level: InstructionSet,
    deferred_error: Option<BuildError>,
    parts: Vec<NamedParticles>,
    sheet_names: Vec<String>,
    rope_names: Vec<String>,
    allowed: Vec<String>,
    mass_damping: [Vec<f64>; 3],
}

impl World {
    /// Starts building a world.
    pub fn builder(settings: Settings) -> WorldBuilder {
        WorldBuilder::new(settings)
    }
}

impl WorldBuilder {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            materials: Vec::new(),
            particles: Vec::new(),
            sheets: Vec::new(),
            ropes: Vec::new(),
            bodies: BodiesBuilder::new(),
            pads: Vec::new(),
            level: InstructionSet::detect(),
            deferred_error: None,
            parts: Vec::new(),
            sheet_names: Vec::new(),
            rope_names: Vec::new(),
            allowed: Vec::new(),
            mass_damping: Default::default(),
        }
    }

    /// Adds a material.
    pub fn material(&mut self, material: Material) -> MaterialId {
        self.materials.push(material);
        MaterialId(self.materials.len() - 1)
    }

    /// Damps all motion of the particles of materials, and of sheets of cloth, by a force -alpha m v
    /// from outside the world (mass-proportional damping): rates alpha \[1/s\] in the order of the
    /// materials and of the sheets; those that are left out are zero.
    pub fn mass_damping(&mut self, materials: Vec<f64>, sheets: Vec<f64>) -> &mut Self {
        let [of_materials, of_sheets, _] = &mut self.mass_damping;
        (*of_materials, *of_sheets) = (materials, sheets);
        self
    }

    /// The same for ropes, on the spin of their segments too: rates alpha \[1/s\] in the order of the ropes;
    /// those that are left out are zero.
    pub fn rope_mass_damping(&mut self, ropes: Vec<f64>) -> &mut Self {
        self.mass_damping[2] = ropes;
        self
    }

    /// Adds particles; they are numbered in this order.
    pub fn particles(&mut self, set: ParticleSet) -> &mut Self {
        let name = format!("particle set {}", self.parts.len());
        self.part(&name, set)
    }

    /// Adds particles under a name, which messages and [`allow_overlap`](Self::allow_overlap) use.
    pub fn part(&mut self, name: &str, set: ParticleSet) -> &mut Self {
        let ParticleSet { positions, velocities, volumes, material } = set;
        if positions.len() != velocities.len() || positions.len() != volumes.len() {
            self.deferred_error = Some(BuildError::ParticleLists {
                positions: positions.len(),
                velocities: velocities.len(),
                volumes: volumes.len(),
            });
        }
        let states = positions.into_iter().zip(velocities).zip(volumes);
        let states = states.map(|((x, v), volume)| ParticleState::new(x, v, volume, material.0));
        self.part_states(name, states)
    }

    /// Adds particles in any state of motion and deformation under a name, as
    /// [`part`](Self::part); their material is an index of [`MaterialId`].
    pub fn part_states(&mut self, name: &str, states: impl IntoIterator<Item = ParticleState>) -> &mut Self {
        let start = self.particles.len();
        self.particles.extend(states);
        self.parts.push(NamedParticles { name: name.to_owned(), range: start..self.particles.len() });
        self
    }

    /// Adds particles in any state of motion and deformation; their material is an index of
    /// [`MaterialId`].
    pub fn particle_states(&mut self, states: impl IntoIterator<Item = ParticleState>) -> &mut Self {
        let name = format!("particle set {}", self.parts.len());
        self.part_states(&name, states)
    }

    /// Adds a sheet of cloth. The particles of the sheets come after all others, in the order of
    /// [`World::cloths`].
    pub fn cloth(&mut self, sheet: Sheet) -> &mut Self {
        let name = format!("cloth {}", self.sheets.len());
        self.named_cloth(&name, sheet)
    }

    /// Adds a sheet of cloth under a name, which messages and
    /// [`allow_overlap`](Self::allow_overlap) use.
    pub fn named_cloth(&mut self, name: &str, sheet: Sheet) -> &mut Self {
        self.sheets.push(sheet);
        self.sheet_names.push(name.to_owned());
        self
    }

    /// Adds a rope. The particles of the ropes come after all others, in the order of [`World::ropes`].
    pub fn rope(&mut self, rope: Rope) -> &mut Self {
        let name = format!("rope {}", self.ropes.len());
        self.named_rope(&name, rope)
    }

    /// Adds a rope under a name, which messages and [`allow_overlap`](Self::allow_overlap) use.
    pub fn named_rope(&mut self, name: &str, rope: Rope) -> &mut Self {
        self.ropes.push(rope);
        self.rope_names.push(name.to_owned());
        self
    }

    /// Lets the particles, cloth, rope or body of this name start inside others.
    pub fn allow_overlap(&mut self, name: &str) -> &mut Self {
        self.allowed.push(name.to_owned());
        self
    }

    /// Adds a body.
    ///
    /// # Errors
    /// [`RigidError`] naming the body and what is wrong with it.
    pub fn body(&mut self, body: BodyDesc) -> Result<BodyId, RigidError> {
        self.bodies.add(body)
    }

    /// Adds a robot, its world at `base` of the parent's frame, and keeps the names of its file.
    ///
    /// # Errors
    /// As [`BodiesBuilder::robot`].
    pub fn robot(
        &mut self,
        name: &str,
        robot: impl Into<MechanismDesc>,
        parent: Option<BodyId>,
        base: &Isometry3<f64>,
    ) -> Result<RobotHandle, RigidError> {
        self.bodies.robot(name, robot, parent, base)
    }

    /// The bodies so far, to add mechanisms, motors and constraints.
    pub fn bodies(&mut self) -> &mut BodiesBuilder {
        &mut self.bodies
    }

    /// Adds a tactile pad; returns its number for [`World::tactile`].
    pub fn tactile(&mut self, pad: TactilePad) -> usize {
        self.pads.push(pad);
        self.pads.len() - 1
    }

    /// Asks for at most this instruction set; the best the processor has by default.
    pub fn instruction_set(&mut self, level: InstructionSet) -> &mut Self {
        self.level = level;
        self
    }

    /// Checks everything and builds the world.
    ///
    /// # Errors
    /// [`BuildError`] naming what is wrong, the value and its unit.
    pub fn build(self) -> Result<World, BuildError> {
        let Self { settings, materials, mut particles, sheets, ropes, bodies, pads, level, .. } = self;
        let deferred_error = self.deferred_error;
        let (mut parts, allowed) = (self.parts, self.allowed);
        if let Some(error) = deferred_error {
            return Err(error);
        }
        check_settings(&settings)?;
        for (index, material) in materials.iter().enumerate() {
            material.validate().map_err(|source| BuildError::Material { index, source })?;
        }
        let has_lines = !(sheets.is_empty() && ropes.is_empty());
        if particles.is_empty() && !has_lines && bodies.is_empty() {
            return Err(BuildError::Empty);
        }
        let mut bodies = bodies.build(settings.gravity, settings.dt, &settings.rigid)?;
        let (h, boundaries) = (settings.grid_spacing, &settings.boundaries);
        let [mut rates, of_sheets, of_ropes] = self.mass_damping;
        rates.resize(materials.len(), 0.0);
        rates.extend(of_sheets);
        rates.resize(materials.len() + sheets.len(), 0.0);
        rates.extend(of_ropes);
        let lines = (&sheets[..], &ropes[..]);
        let mut mpm = Mpm::with_ropes(h, materials, &particles, lines, boundaries, level)?;
        mpm.set_mass_damping(rates)?;
        if has_lines {
            particles = mpm.particles();
        }
        for (sheet, name) in sheets.iter().zip(self.sheet_names) {
            let start = parts.last().map_or(0, |part| part.range.end);
            let count = sheet.mesh.vertices().len() + sheet.mesh.faces().len();
            parts.push(NamedParticles { name, range: start..start + count });
        }
        for (range, name) in mpm.rope_particles().iter().zip(self.rope_names) {
            parts.push(NamedParticles { name, range: range.clone() });
        }
        check_substeps(&settings, &mpm, &bodies)?;
        check_stiffness(&settings, &mpm, &particles)?;
        check_overlaps(&settings, &mpm, &bodies, &parts, &allowed)?;
        pads.iter().try_for_each(|pad| pad.validate(&bodies))?;
        let strong = choose_coupling(&settings, &mpm, &particles, &mut bodies)?;
        let world = World::assemble(settings, mpm, bodies, strong, pads);
        world.substeps_within(world.settings().dt)?;
        Ok(world)
    }
}

fn check_settings(settings: &Settings) -> Result<(), BuildError> {
    let refuse = |OutOfRange { field, value, unit, requirement }| {
        Err(BuildError::Setting { field, value, unit, requirement })
    };
    let lengths = [
        OutOfRange::unless_positive("grid_spacing", settings.grid_spacing, "m"),
        OutOfRange::unless_positive("dt", settings.dt, "s"),
    ];
    if let Some(figure) = lengths.into_iter().flatten().chain(settings.contact.out_of_range()).next() {
        return refuse(figure);
    }
    if let AutoOr::Value(value) = settings.contact.particle_radius
        && value > settings.grid_spacing
    {
        let requirement = "at most the grid spacing: contact would reach beyond the nodes of its stencil";
        return refuse(OutOfRange { field: "contact.particle_radius", value, unit: "m", requirement });
    }
    if let Some(&value) = settings.gravity.iter().find(|g| !g.is_finite()) {
        return refuse(OutOfRange { field: "gravity", value, unit: "m/s^2", requirement: "finite" });
    }
    if settings.substeps == AutoOr::Value(0) {
        return refuse(OutOfRange { field: "substeps", value: 0.0, unit: "", requirement: "at least 1" });
    }
    Ok(settings.solver.validate()?)
}

/// Refuses explicit substeps beyond the stability limit, at the largest speed that prescribed
/// bodies will have.
fn check_substeps(settings: &Settings, mpm: &Mpm, bodies: &Bodies) -> Result<(), BuildError> {
    let AutoOr::Value(substeps) = settings.substeps else { return Ok(()) };
    let substep = settings.dt / f64::from(substeps);
    let fastest = mpm.max_speed().max(bodies.fastest_surface(0.0, f64::INFINITY, &Vector3::zeros()));
    let largest = mpm.largest_stable_substep(fastest);
    if substep > largest {
        let needed = (settings.dt / largest).ceil() as u32;
        return Err(BuildError::UnstableSubsteps { substeps, substep, largest, needed });
    }
    Ok(())
}

/// Refuses stiffness that double precision does not resolve: far beyond the near-rigid one it
/// changes only rounding.
fn check_stiffness(settings: &Settings, mpm: &Mpm, particles: &[ParticleState]) -> Result<(), BuildError> {
    let AutoOr::Value(stiffness) = settings.contact.stiffness else { return Ok(()) };
    let substep = match settings.substeps {
        AutoOr::Value(substeps) => settings.dt / f64::from(substeps),
        AutoOr::Auto => settings.dt.min(mpm.largest_stable_substep(0.0)),
    };
    let masses = particles.iter().map(|p| mpm.density(p.material) * p.volume);
    let mass = masses.fold(f64::INFINITY, f64::min);
    let near_rigid = NEAR_RIGID_STIFFNESS_NUMBER * mass / (substep * substep);
    let number = stiffness / near_rigid;
    if number > MAX_STIFFNESS_RATIO {
        let largest = MAX_STIFFNESS_RATIO * near_rigid;
        return Err(BuildError::TooStiff { stiffness, mass, substep, number, largest });
    }
    Ok(())
}
