//! Settings of a [`World`](crate::World).

use nalgebra::{Point3, Vector3};
use pliant_mpm::Boundary;
use pliant_rigid::{OutOfRange, RigidSettings};
use serde::{Deserialize, Serialize};

use crate::auto_or::AutoOr;
use crate::convex::SolverSettings;

/// The stiffness number `substep^2 k / m_p` of stiffness `Auto`: SAP's near-rigid bound `4 pi^2 /
/// beta^2` (Castro et al. 2022, section V) at beta = 1, where the contact's own period equals the
/// substep. A stiffer contact differs by less than the substep resolves, and only makes the problem
/// harder.
pub const NEAR_RIGID_STIFFNESS_NUMBER: f64 = 4.0 * std::f64::consts::PI * std::f64::consts::PI;

/// Most substeps of a step. Where stability asks for more, which would take days, the step is
/// refused.
pub const MOST_SUBSTEPS: u32 = 10_000_000;

/// How dynamic bodies are coupled to the particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Coupling {
    /// Strong if a body is light compared with the material that a pressure wave from the contact
    /// reaches within a step, or with what a layer between it and another body gives back within a
    /// step; else weak. The manifest says which.
    #[default]
    Auto,
    /// Bodies keep their velocity through the substeps and get the sum of their impulses at the end
    /// of the step (Yu et al. 2025, section IV-A). Steps must be short where bodies are light.
    Weak,
    /// Bodies are strongly coupled: their velocities are unknowns of the contact problem.
    Strong,
}

/// Coupling step: time after which bodies and particles exchange impulses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CouplingStep {
    /// `dt`, halved as often as needed where bodies would move too far past the particles within
    /// it, or decelerate too much. The manifest counts the coupling steps.
    #[default]
    Auto,
    /// Always `dt`. The manifest warns if that was too long.
    Fixed,
}

/// Motion of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GridMotion {
    /// The grid moves with the largest fixed or prescribed body, or with the particles if there is
    /// none, so that results do not depend on the inertial frame. It is at rest if there are grid
    /// boundaries, and on a GPU.
    #[default]
    Auto,
    /// The grid is at rest.
    Fixed,
}

/// How particles add to the grid (P2G) on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Transfer {
    /// In a fixed order: the same bits whatever the schedule. The processor has no other.
    #[default]
    Ordered,
    /// By atomic additions, after particles of one cell were added up in registers (Gao et al.
    /// 2018): the last bits change from run to run.
    Atomic,
}

/// Contact between particles and bodies: Hunt-Crossley with regularised Coulomb friction. The
/// coefficient of friction belongs to the bodies' geometries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ContactSettings {
    /// Stiffness of one particle's contact \[N/m\]. "auto" is the stiffest that the substep resolves:
    /// the square of the substep times the stiffness over the particle's mass is then 4 pi^2.
    pub stiffness: AutoOr<f64>,
    /// Hunt-Crossley dissipation \[s/m\].
    pub dissipation: f64,
    /// Stiction tolerance: the slip velocity at which friction has most of its value \[m/s\].
    pub stiction_tolerance: f64,
    /// Distance from a particle's centre at which it touches \[m\]; 0 makes particles points, as in
    /// Yu et al. 2025. "auto" is half of the particle's spacing, so that the surface of a sampled
    /// body is where its shape was; of cloth half of the sheet's thickness.
    pub particle_radius: AutoOr<f64>,
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self {
            stiffness: AutoOr::Auto,
            dissipation: 1.0,
            stiction_tolerance: 5e-5,
            particle_radius: AutoOr::Auto,
        }
    }
}

impl ContactSettings {
    /// The values that are out of range, as fields of `contact`.
    pub fn out_of_range(&self) -> impl Iterator<Item = OutOfRange> {
        let (stiffness, radius) = (self.stiffness.value(), self.particle_radius.value());
        [
            stiffness.and_then(|k| OutOfRange::unless_positive("contact.stiffness", k, "N/m")),
            OutOfRange::unless_not_negative("contact.dissipation", self.dissipation, "s/m"),
            OutOfRange::unless_positive("contact.stiction_tolerance", self.stiction_tolerance, "m/s"),
            radius.and_then(|r| OutOfRange::unless_not_negative("contact.particle_radius", r, "m")),
        ]
        .into_iter()
        .flatten()
    }
}

/// All settings of a world, without its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Grid spacing h \[m\].
    pub grid_spacing: f64,
    /// Step of the world \[s\]: bodies move, and a row of the tables is written.
    pub dt: f64,
    /// MPM substeps in a step. A number that is unstable is refused; `Auto` takes as many as stability
    /// asks for ([`pliant_mpm::largest_stable_substep`]) at the present speed of the particles or
    /// that of the bodies' surfaces over the step, whichever is larger.
    pub substeps: AutoOr<u32>,
    /// Gravity, world frame \[m/s^2\].
    pub gravity: Vector3<f64>,
    /// How dynamic bodies are coupled to the particles.
    pub coupling: Coupling,
    /// Whether a step may be split into coupling steps.
    pub coupling_step: CouplingStep,
    /// Whether the grid moves with the scene.
    pub grid_motion: GridMotion,
    /// How particles add to the grid.
    pub transfer: Transfer,
    /// Contact between particles and bodies.
    pub contact: ContactSettings,
    /// Whether layers of cloth, and strands of ropes, are kept from passing through each other, where the
    /// particles are on the processor.
    pub layer_contact: bool,
    /// The contact solver.
    pub solver: SolverSettings,
    /// Integrator of the bodies and contact among them. Without an integrator each step is one step
    /// of the bodies.
    pub rigid: RigidSettings,
    /// Conditions on the grid at fixed planes.
    pub boundaries: Vec<Boundary>,
}

impl Settings {
    /// Settings with this grid spacing \[m\] and step \[s\], earth's gravity along -z, and defaults
    /// for the rest.
    pub fn new(grid_spacing: f64, dt: f64) -> Self {
        Self {
            grid_spacing,
            dt,
            substeps: AutoOr::Auto,
            coupling: Coupling::Auto,
            coupling_step: CouplingStep::Auto,
            grid_motion: GridMotion::Auto,
            transfer: Transfer::Ordered,
            gravity: Vector3::new(0.0, 0.0, -9.81),
            contact: ContactSettings::default(),
            layer_contact: true,
            solver: SolverSettings::default(),
            rigid: RigidSettings::default(),
            boundaries: Vec::new(),
        }
    }
}

/// Particles of one material to add to a world.
#[derive(Clone, Debug, PartialEq)]
pub struct ParticleSet {
    /// Positions, world frame \[m\].
    pub positions: Vec<Point3<f64>>,
    /// Velocities, world frame \[m/s\].
    pub velocities: Vec<Vector3<f64>>,
    /// Volumes at rest \[m^3\].
    pub volumes: Vec<f64>,
    /// Their material.
    pub material: MaterialId,
}

/// Index of a material in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaterialId(pub usize);
