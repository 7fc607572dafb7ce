//! The scene `hold` in the f64 reference: a soft cube and two panels that slide along x.

use nalgebra::{Matrix3, Vector3};
use pliant_coupling::ParticleSnapshot;
use pliant_mpm::reference::{ReferenceError, ReferenceMpm, ReferenceParticle};
use pliant_rigid::contact_model::{RegularisedFriction, normal_impulse};
use pliant_scenes::format::{JointSpec, Motion, RigidShape, Scene};
use pliant_scenes::scenario::Scenario;

/// Why the scene cannot be stepped by a scheme of comparison.
#[derive(Debug, thiserror::Error)]
pub enum HeldCubeError {
    /// The scene is not a soft cube between two panels.
    #[error("scene '{scene}': {reason}")]
    Scene {
        /// Its name.
        scene: String,
        /// What it lacks.
        reason: String,
    },
    /// The particles left the grid: the scheme is unstable at its step.
    #[error("unstable at {time} s: {source}")]
    Unstable {
        /// Simulated time \[s\].
        time: f64,
        /// What failed.
        source: ReferenceError,
    },
    /// The Hessian of an implicit step has no Cholesky factor.
    #[error("no Cholesky factor of the Hessian at {time} s")]
    NotPositive {
        /// Simulated time \[s\].
        time: f64,
    },
}

/// A panel: its inner face is the plane at `face`, and the particles are on the side of `normal`.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Place of the face along x \[m\].
    pub face: f64,
    /// Outward normal of the face along x: 1 or -1.
    pub normal: f64,
    /// Velocity along x \[m/s\].
    pub velocity: f64,
    /// Mass \[kg\].
    pub mass: f64,
    /// Viscous damping of its slide \[N s/m\].
    pub damping: f64,
    /// Force that presses it, along x \[N\].
    pub applied: f64,
    /// Coefficient of friction \[-\].
    pub friction: f64,
}

impl Panel {
    /// Ends a step \[s\] under the impulse of the cube along x \[N s\]; the damping is that at the end,
    /// so that it is stable at any step.
    pub fn advance(&mut self, impulse: f64, step: f64) {
        self.velocity =
            (self.mass * self.velocity + step * self.applied + impulse) / (self.mass + step * self.damping);
        self.face += step * self.velocity;
    }
}

/// The contact model of a particle on a panel, the same for all.
#[derive(Clone, Copy, Debug)]
pub struct ContactLaw {
    /// Stiffness of one particle's contact \[N/m\].
    pub stiffness: f64,
    /// Hunt-Crossley dissipation \[s/m\].
    pub dissipation: f64,
    /// Stiction tolerance \[m/s\].
    pub stiction_tolerance: f64,
    /// Distance from a particle's centre at which it touches \[m\].
    pub radius: f64,
}

impl ContactLaw {
    /// Friction with this bound on its impulse \[N s\].
    pub fn friction(&self, bound: f64) -> RegularisedFriction {
        RegularisedFriction { bound, regularisation: self.stiction_tolerance }
    }

    /// Normal impulse over a step \[s\] at the gap \[m\] and the normal velocity \[m/s\].
    pub fn normal_impulse(&self, velocity: f64, gap: f64, step: f64) -> f64 {
        normal_impulse(velocity, gap, self.stiffness, self.dissipation, step)
    }
}

/// The force of the cube on the left panel, mean over a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelForce {
    /// End of the step \[s\].
    pub time: f64,
    /// World axes \[N\].
    pub force: Vector3<f64>,
}

/// Particles and panels.
pub struct HeldCube {
    /// The cube.
    pub mpm: ReferenceMpm,
    /// Left and right.
    pub panels: [Panel; 2],
    /// Contact of both.
    pub contact: ContactLaw,
}

impl HeldCube {
    /// The cube and the panels of a scene as it starts: `hold`, or one with its parts.
    ///
    /// # Errors
    /// [`HeldCubeError::Scene`].
    pub fn new(scene: &Scene) -> Result<Self, HeldCubeError> {
        let fail =
            |reason: &str| HeldCubeError::Scene { scene: scene.name.clone(), reason: reason.to_owned() };
        let mut world = Scenario::new(scene).map_err(|e| fail(&e.to_string()))?.world;
        let mut snapshot = ParticleSnapshot::default();
        world.snapshot(&mut snapshot).map_err(|e| fail(&e.to_string()))?;
        let [soft] = &scene.soft[..] else { return Err(fail("needs one soft body")) };
        let material = soft.material.resolve(&scene.materials).ok_or_else(|| fail("needs a material"))?;
        let spacing = scene.grid_spacing.ok_or_else(|| fail("needs a grid"))?;
        let particle = |(x, (&volume, &mass)): (&[f64; 3], (&f64, &f64))| ReferenceParticle {
            position: Vector3::from(*x),
            velocity: Vector3::zeros(),
            affine: Matrix3::zeros(),
            deformation_gradient: Matrix3::identity(),
            volume,
            mass,
            material: 0,
            state: 0.0,
        };
        let particles: Vec<_> =
            snapshot.positions.iter().zip(snapshot.volume.iter().zip(&snapshot.mass)).map(particle).collect();
        let volume = particles.first().map_or(0.0, |p| p.volume);
        let gravity = Vector3::from(scene.gravity);
        let mpm = ReferenceMpm::new(spacing, gravity, vec![material.particle_material()], particles)
            .map_err(|e| fail(&e.to_string()))?;
        let panel = |name: &str, normal: f64| panel(scene, name, normal).ok_or_else(|| fail(name));
        let contact = ContactLaw {
            stiffness: scene.contact.stiffness.value().ok_or_else(|| fail("needs contact.stiffness"))?,
            dissipation: scene.contact.dissipation,
            stiction_tolerance: scene.contact.stiction_tolerance,
            radius: scene.contact.particle_radius.value().unwrap_or(0.5 * volume.cbrt()),
        };
        Ok(Self { mpm, panels: [panel("left", 1.0)?, panel("right", -1.0)?], contact })
    }

    /// Particles of the cube's face at the left panel, before the first step.
    pub fn contacts_of_a_panel(&self) -> usize {
        let gap = |p: &&ReferenceParticle| self.gap(&self.panels[0], &p.position);
        self.mpm.particles.iter().filter(|p| gap(p) < 0.5 * self.contact.radius).count()
    }

    /// Signed distance of a particle at `position` \[m\] from a panel \[m\].
    pub fn gap(&self, panel: &Panel, position: &Vector3<f64>) -> f64 {
        panel.normal * (position.x - panel.face) - self.contact.radius
    }
}

/// The panel of this name, a box that slides along x.
fn panel(scene: &Scene, name: &str, normal: f64) -> Option<Panel> {
    let body = scene.bodies.iter().find(|body| body.name == name)?;
    let Motion::Dynamic(dynamic) = &body.motion else { return None };
    let JointSpec::Prismatic(joint) = &dynamic.joint else { return None };
    let [geometry] = &body.geometries[..] else { return None };
    let RigidShape::Box { half_extents } = &geometry.shape else { return None };
    Some(Panel {
        face: dynamic.pose.position[0] + normal * half_extents[0],
        normal,
        velocity: 0.0,
        mass: dynamic.mass?,
        damping: joint.damping,
        applied: dynamic.applied_force[0],
        friction: geometry.friction,
    })
}
