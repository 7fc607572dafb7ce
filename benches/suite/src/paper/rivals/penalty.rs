//! Explicit penalty coupling, as in ManiSkill2 (Gu et al. 2023): the contact forces of a substep are
//! those of its start, by penalty stiffness times depth and by regularised Coulomb friction, and the
//! particles carry them to the grid.
//!
//! Friction `-mu f_n v_t / sqrt(|v_t|^2 + v_s^2)` is a damper of `mu f_n/v_s` near rest. An explicit
//! substep `tau` on a mass `m` is stable only while `tau mu f_n/(m v_s) < 2` (Hairer and Wanner,
//! "Solving Ordinary Differential Equations II", IV.2: Euler's method on y' = -lambda y); beyond, the
//! slip changes its sign in every substep, and friction between its bounds.

use nalgebra::Vector3;

use super::held_cube::{HeldCube, HeldCubeError, PanelForce};

/// Steps of the bodies, and the substeps of the particles in each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Step of the panels \[s\].
    pub step: f64,
    /// Substeps of the particles in a step.
    pub substeps: u32,
}

impl Schedule {
    /// That of Gu et al. in figure 2 of Yu et al. 2025: 25 substeps in each 0.01 ms.
    pub const PUBLISHED: Self = Self { step: 1e-5, substeps: 25 };

    /// `tau mu f_n/(m v_s)` of the force on a panel spread evenly over `contacts` particles of the cube:
    /// above 2 explicit friction on a lone particle is unstable.
    pub fn friction_number(&self, cube: &HeldCube, contacts: usize) -> f64 {
        let panel = &cube.panels[0];
        let mass = cube.mpm.particles.first().map_or(f64::NAN, |p| p.mass);
        let force = panel.applied.abs() / contacts as f64;
        self.step / f64::from(self.substeps) * panel.friction * force
            / (mass * cube.contact.stiction_tolerance)
    }
}

/// Steps the cube to `duration` \[s\]; `observe` gets the force on the left panel after every step.
///
/// # Errors
/// [`HeldCubeError::Unstable`].
pub fn run(
    cube: &mut HeldCube,
    schedule: Schedule,
    duration: f64,
    mut observe: impl FnMut(PanelForce),
) -> Result<(), HeldCubeError> {
    let substep = schedule.step / f64::from(schedule.substeps);
    let steps = (duration / schedule.step).round() as usize;
    let mut forces = Vec::new();
    for step in 1..=steps {
        let mut impulses = [Vector3::zeros(); 2];
        for k in 0..schedule.substeps {
            find_forces(cube, f64::from(k) * substep, &mut forces);
            for (_, panel, force) in &forces {
                impulses[*panel] -= substep * force;
            }
            let time = cube.mpm.time;
            let unstable = |source| HeldCubeError::Unstable { time, source };
            let mut grid = cube.mpm.particles_to_grid(substep).map_err(unstable)?;
            for (particle, _, force) in &forces {
                for (node, weight, _) in grid.stencil(&cube.mpm.particles[*particle].position) {
                    grid.nodes_mut()[node].momentum += substep * weight * force;
                }
            }
            grid.free_motion(substep, &cube.mpm.gravity);
            cube.mpm.grid_to_particles(&grid, substep);
            cube.mpm.time += substep;
        }
        for (panel, impulse) in cube.panels.iter_mut().zip(&impulses) {
            panel.advance(impulse.x, schedule.step);
        }
        observe(PanelForce { time: step as f64 * schedule.step, force: impulses[0] / schedule.step });
    }
    Ok(())
}

/// The contact forces on the particles \[N\], with particle and panel, `after` \[s\] from the start of
/// the panels' step.
fn find_forces(cube: &HeldCube, after: f64, forces: &mut Vec<(usize, usize, Vector3<f64>)>) {
    forces.clear();
    let law = &cube.contact;
    for (p, particle) in cube.mpm.particles.iter().enumerate() {
        for (k, panel) in cube.panels.iter().enumerate() {
            let gap = cube.gap(panel, &particle.position) - panel.normal * panel.velocity * after;
            if gap >= 0.0 {
                continue;
            }
            let relative = particle.velocity - Vector3::x() * panel.velocity;
            let approach = panel.normal * relative.x;
            let normal = law.stiffness * -gap * (1.0 - law.dissipation * approach).max(0.0);
            let slip = Vector3::new(0.0, relative.y, relative.z);
            let secant = law.friction(panel.friction * normal).secant(slip.norm());
            forces.push((p, k, Vector3::x() * (panel.normal * normal) - slip * secant));
        }
    }
}
