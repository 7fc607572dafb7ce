//! Settings of a [`World`](crate::World).

use nalgebra::{Point3, Vector3};
use pliant_mpm::Boundary;
use pliant_rigid::RigidSettings;
use serde::{Deserialize, Serialize};

use crate::convex::SolverSettings;

/// Number of MPM substeps in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Substeps {
    /// The smallest stable number ([`pliant_mpm::largest_stable_substep`]) at the present speed of
    /// the particles or that of the bodies' surfaces over the step, whichever is larger.
    #[default]
    Auto,
    /// This number; an unstable one is refused.
    Fixed(u32),
}

/// Stiffness of the contact between a particle and a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Stiffness {
    /// As stiff as the substep can resolve: `substep^2 k / m_p` = [`NEAR_RIGID_STIFFNESS_NUMBER`]
    /// for each particle.
    #[default]
    Auto,
    /// k \[N/m\].
    Fixed(f64),
}

/// The stiffness number `substep^2 k / m_p` of `Stiffness::Auto`: SAP's near-rigid bound `4 pi^2 /
/// beta^2` (Castro et al. 2022, section V) at beta = 1, where the contact's own period equals the
/// substep. A stiffer contact differs by less than the substep resolves, and only makes the problem
/// harder.
pub const NEAR_RIGID_STIFFNESS_NUMBER: f64 = 4.0 * std::f64::consts::PI * std::f64::consts::PI;

/// Contact radius of a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ParticleRadius {
    /// Half the particle's share of space, `cbrt(volume) / 2`: the surface of a sampled body is
    /// then where its shape was. Of cloth half the sheet's thickness.
    #[default]
    Auto,
    /// This radius \[m\]; 0 makes particles points, as in Yu et al. 2025.
    Fixed(f64),
}

/// How dynamic bodies are coupled to the particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Coupling {
    /// Chosen for each body: strong if, by an estimate, the material that a pressure wave from the
    /// contact reaches within a step is not light compared with the body
    /// ([`crate::World::strongly_coupled`]).
    #[default]
    Auto,
    /// Bodies keep their initial velocity through the substeps of a step and get the sum of their
    /// impulses at its end (Yu et al. 2025, section IV-A). Steps must be short where bodies are
    /// light.
    Weak,
    /// The velocities of bodies are unknowns of every contact problem within the step.
    Strong,
}

/// Coupling step: time after which bodies and particles exchange impulses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CouplingStep {
    /// A step of the world, halved as often as needed where bodies would move too far past the
    /// particles within it, or accelerate too much: [`crate::StepReport::coupling_excess`].
    #[default]
    Auto,
    /// Always a step of the world. The report tells if it was too long.
    Fixed,
}

/// Motion of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GridMotion {
    /// The grid moves with the largest fixed or prescribed body, or with the particles if there is
    /// none: results do not depend on the inertial frame. It is at rest if the grid has boundaries,
    /// and on a backend.
    #[default]
    Auto,
    /// The grid is at rest.
    Fixed,
}

/// Contact between particles and bodies. Friction belongs to the bodies' geometries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, default)]
pub struct ContactSettings {
    /// Stiffness k.
    pub stiffness: Stiffness,
    /// Hunt-Crossley dissipation d \[s/m\].
    pub dissipation: f64,
    /// Stiction tolerance v_s [m/s]: the creep below which friction holds.
    pub stiction_tolerance: f64,
    /// Radius of a particle.
    pub particle_radius: ParticleRadius,
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self {
            stiffness: Stiffness::Auto,
            dissipation: 1.0,
            stiction_tolerance: 5e-5,
            particle_radius: ParticleRadius::Auto,
        }
    }
}

/// All settings of a world, without its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Grid spacing h \[m\].
    pub grid_spacing: f64,
    /// Step of the world \[s\]: bodies move, and a row of the tables is written.
    pub dt: f64,
    /// MPM substeps in a step.
    pub substeps: Substeps,
    /// Gravity, world frame \[m/s^2\].
    pub gravity: Vector3<f64>,
    /// How dynamic bodies are coupled to the particles.
    pub coupling: Coupling,
    /// Whether a step may be split into coupling steps.
    pub coupling_step: CouplingStep,
    /// Whether the grid moves with the scene.
    pub grid_motion: GridMotion,
    /// Contact between particles and bodies.
    pub contact: ContactSettings,
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
            substeps: Substeps::Auto,
            coupling: Coupling::Auto,
            coupling_step: CouplingStep::Auto,
            grid_motion: GridMotion::Auto,
            gravity: Vector3::new(0.0, 0.0, -9.81),
            contact: ContactSettings::default(),
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
