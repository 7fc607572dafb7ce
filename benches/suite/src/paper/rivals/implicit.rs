//! A fully implicit step, as of Zong et al. 2024 (reference 10 of Yu et al. 2025): the velocities `v`
//! of the grid and `u` of the panels minimise
//!
//! ```text
//! 1/2 |v - v*|_M^2 + 1/2 |u - u*|_m^2 + sum_p V_p psi(F_p + step grad v F_p) + sum_c l_c(v_c - u_c)
//! ```
//!
//! where `v*` has gravity only, `psi` is the elastic energy and `l_c` the contact potential with lagged
//! friction. Newton's method with a dense Cholesky factor and a backtracking line search (Nocedal and
//! Wright 2006, Algorithm 3.1); the derivative of the stress is taken by central differences and its
//! negative eigenvalues are set to zero (Teran et al. 2005), as not every energy is convex in `v`.

use nalgebra::{DMatrix, DVector, Matrix3, SMatrix, Vector3};
use pliant_mpm::bspline::INVERSE_SECOND_MOMENT;
use pliant_mpm::constitutive::{AnyModel, Constitutive};
use pliant_mpm::reference::{Grid, ReferenceParticle};
use pliant_rigid::contact_model::NormalContactModel;
use pliant_rigid::icf::potential::{ConstraintPotential, ContactPotential};

use super::held_cube::{HeldCube, HeldCubeError, PanelForce};

/// Settings of the implicit scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitSettings {
    /// Step \[s\].
    pub step: f64,
    /// Relative tolerance of the rule of the engine's solver
    /// ([`pliant_coupling::convex::SolverSettings`]) \[-\].
    pub tolerance: f64,
    /// Most Newton iterations of a step.
    pub most_iterations: usize,
}

impl ImplicitSettings {
    /// Step of Zong et al. in figure 2 of Yu et al. 2025: 10 ms.
    pub const PUBLISHED: Self = Self { step: 1e-2, tolerance: 1e-6, most_iterations: 100 };
}

/// What the steps took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImplicitReport {
    /// Newton iterations of all steps.
    pub iterations: usize,
    /// Steps that did not reach the tolerance.
    pub not_converged: usize,
    /// Unknowns of the last step.
    pub unknowns: usize,
}

/// Halvings of a step of Newton's method.
const MOST_HALVINGS: usize = 40;
/// Decrease of the objective over the slope at which a step is taken (Armijo).
const SUFFICIENT: f64 = 1e-4;
/// Change of a deformation gradient for central differences: the cube root of the rounding.
const DIFFERENCE: f64 = 6e-6;
/// Gap below which a particle may touch within a step, in grid spacings: none moves farther here.
const REACH: f64 = 0.5;

/// Steps the cube to `duration` \[s\]; `observe` gets the force on the left panel after every step.
///
/// # Errors
/// [`HeldCubeError`].
pub fn run(
    cube: &mut HeldCube,
    settings: ImplicitSettings,
    duration: f64,
    mut observe: impl FnMut(PanelForce),
) -> Result<ImplicitReport, HeldCubeError> {
    let steps = (duration / settings.step).round() as usize;
    let mut report = ImplicitReport::default();
    let mut lagged = vec![[None; 2]; cube.mpm.particles.len()];
    for step in 1..=steps {
        let time = cube.mpm.time;
        // Without a substep: mass and momentum alone.
        let mut grid =
            cube.mpm.particles_to_grid(0.0).map_err(|source| HeldCubeError::Unstable { time, source })?;
        grid.free_motion(settings.step, &cube.mpm.gravity);
        let problem = Problem::new(cube, &grid, settings.step, &lagged);
        let (velocities, iterations, converged) =
            problem.solve(&settings).ok_or(HeldCubeError::NotPositive { time })?;
        report.iterations += iterations;
        report.not_converged += usize::from(!converged);
        report.unknowns = velocities.len();
        lagged.fill([None; 2]);
        let mut force = Vector3::zeros();
        for contact in &problem.contacts {
            let impulse = problem.impulse(contact, &velocities);
            lagged[contact.particle][contact.panel] = Some(impulse.x.abs());
            if contact.panel == 0 {
                force -= impulse / settings.step;
            }
        }
        let slots = problem.slots;
        for (k, slot) in slots.iter().enumerate() {
            grid.nodes_mut()[*slot].velocity = velocities.fixed_rows::<3>(3 * k).into_owned();
        }
        cube.mpm.grid_to_particles(&grid, settings.step);
        cube.mpm.time += settings.step;
        for (panel, velocity) in cube.panels.iter_mut().zip(velocities.rows(3 * slots.len(), 2).iter()) {
            panel.velocity = *velocity;
            panel.face += settings.step * velocity;
        }
        observe(PanelForce { time: step as f64 * settings.step, force });
    }
    Ok(report)
}

/// The minimisation of one step. Unknowns: three of each node with mass, one of each panel.
struct Problem<'a> {
    particles: &'a [ReferenceParticle],
    model: AnyModel<f64>,
    /// Slots of the nodes in the grid.
    slots: Vec<usize>,
    mass: DVector<f64>,
    free: DVector<f64>,
    stencils: Vec<Stencil>,
    contacts: Vec<Contact>,
}

/// How the velocities of 27 nodes enter a particle.
struct Stencil {
    /// First unknown of each node.
    rows: [usize; 27],
    weights: [f64; 27],
    /// The deformation gradient at the end is `F + sum_k v_k gradients_k^T`.
    gradients: [Vector3<f64>; 27],
}

struct Contact {
    particle: usize,
    panel: usize,
    potential: ContactPotential,
}

/// Objective \[J\] and gradient \[N s\]; the rest measures the gradient.
struct Evaluation {
    objective: f64,
    gradient: DVector<f64>,
    /// `|M^-1/2 grad|` \[sqrt(J)\].
    residual: f64,
    /// What the relative tolerance multiplies \[sqrt(J)\].
    scale: f64,
}

impl<'a> Problem<'a> {
    fn new(cube: &'a HeldCube, grid: &Grid, step: f64, lagged: &[[Option<f64>; 2]]) -> Self {
        let (h, particles) = (grid.spacing(), &cube.mpm.particles);
        let mut row_of = vec![usize::MAX; grid.nodes().len()];
        let mut slots = Vec::new();
        for (slot, _) in grid.nodes().iter().enumerate().filter(|(_, node)| node.mass > 0.0) {
            row_of[slot] = 3 * slots.len();
            slots.push(slot);
        }
        let bodies = 3 * slots.len();
        let (mut mass, mut free) = (DVector::zeros(bodies + 2), DVector::zeros(bodies + 2));
        for (k, slot) in slots.iter().enumerate() {
            let node = &grid.nodes()[*slot];
            mass.rows_mut(3 * k, 3).fill(node.mass);
            free.rows_mut(3 * k, 3).copy_from(&node.velocity);
        }
        for (k, panel) in cube.panels.iter().enumerate() {
            let mut alone = *panel;
            alone.advance(0.0, step);
            mass[bodies + k] = panel.mass + step * panel.damping;
            free[bodies + k] = alone.velocity;
        }
        let scale = step * INVERSE_SECOND_MOMENT / (h * h);
        let stencil = |p: &ReferenceParticle| {
            let mut stencil =
                Stencil { rows: [0; 27], weights: [0.0; 27], gradients: [Vector3::zeros(); 27] };
            for (k, (node, weight, offset)) in grid.stencil(&p.position).enumerate() {
                // A node that only rounding leaves without mass has no weight either.
                stencil.rows[k] = if row_of[node] == usize::MAX { 0 } else { row_of[node] };
                stencil.weights[k] = weight;
                stencil.gradients[k] = p.deformation_gradient.transpose() * offset * (scale * weight);
            }
            stencil
        };
        let stencils = particles.iter().map(stencil).collect();
        let mut contacts = Vec::new();
        for (particle, p) in particles.iter().enumerate() {
            for (k, panel) in cube.panels.iter().enumerate() {
                let gap = cube.gap(panel, &p.position);
                if gap > REACH * h {
                    continue;
                }
                let law = &cube.contact;
                // A new contact starts as in the engine: at most the impulse that stops the particle.
                let approach = panel.normal * (p.velocity.x - panel.velocity);
                let stops = p.mass * (-approach - gap / step).max(0.0);
                let bound =
                    lagged[particle][k].unwrap_or_else(|| law.normal_impulse(approach, gap, step).min(stops));
                let normal = NormalContactModel::new(gap, law.stiffness, law.dissipation, step);
                let friction = law.friction(panel.friction * bound);
                let potential = ContactPotential::from_models([panel.normal, 0.0, 0.0], normal, friction);
                contacts.push(Contact { particle, panel: k, potential });
            }
        }
        let model = AnyModel::new(&cube.mpm.materials()[0].model);
        Self { particles, model, slots, mass, free, stencils, contacts }
    }

    /// Velocities, Newton iterations, and whether the tolerance is reached; `None` where the Hessian has
    /// no factor.
    fn solve(&self, settings: &ImplicitSettings) -> Option<(DVector<f64>, usize, bool)> {
        let mut velocities = self.free.clone();
        let mut now = self.evaluate(&velocities);
        for iteration in 0..settings.most_iterations {
            if now.residual <= settings.tolerance * now.scale {
                return Some((velocities, iteration, true));
            }
            let direction = -self.hessian(&velocities).cholesky()?.solve(&now.gradient);
            let slope = direction.dot(&now.gradient);
            let mut alpha = 1.0;
            let mut next = self.evaluate(&(&velocities + &direction));
            for _ in 0..MOST_HALVINGS {
                if next.objective <= now.objective + SUFFICIENT * alpha * slope {
                    break;
                }
                alpha *= 0.5;
                next = self.evaluate(&(&velocities + alpha * &direction));
            }
            velocities += alpha * direction;
            now = next;
        }
        let converged = now.residual <= settings.tolerance * now.scale;
        Some((velocities, settings.most_iterations, converged))
    }

    fn deformation(&self, particle: usize, velocities: &DVector<f64>) -> Matrix3<f64> {
        let stencil = &self.stencils[particle];
        let mut f = self.particles[particle].deformation_gradient;
        for (row, gradient) in stencil.rows.iter().zip(&stencil.gradients) {
            f += velocities.fixed_rows::<3>(*row) * gradient.transpose();
        }
        f
    }

    /// Velocity of a contact's particle relative to its panel \[m/s\].
    fn relative(&self, contact: &Contact, velocities: &DVector<f64>) -> [f64; 3] {
        let stencil = &self.stencils[contact.particle];
        let mut v = Vector3::zeros();
        for (row, weight) in stencil.rows.iter().zip(&stencil.weights) {
            v += velocities.fixed_rows::<3>(*row) * *weight;
        }
        v.x -= velocities[3 * self.slots.len() + contact.panel];
        v.into()
    }

    /// Impulse on a contact's particle \[N s\].
    fn impulse(&self, contact: &Contact, velocities: &DVector<f64>) -> Vector3<f64> {
        contact.potential.response(&self.relative(contact, velocities)).impulse.into()
    }

    fn evaluate(&self, velocities: &DVector<f64>) -> Evaluation {
        let off = velocities - &self.free;
        let inertia = self.mass.component_mul(&off);
        let mut objective = 0.5 * inertia.dot(&off);
        let mut forces = DVector::<f64>::zeros(velocities.len());
        for (p, particle) in self.particles.iter().enumerate() {
            let f = self.deformation(p, velocities);
            objective += particle.volume * self.model.energy_density(&f.into(), particle.state);
            let stress = particle.volume * self.first_piola(&f, particle.state);
            let stencil = &self.stencils[p];
            for (row, gradient) in stencil.rows.iter().zip(&stencil.gradients) {
                let mut target = forces.fixed_rows_mut::<3>(*row);
                target -= stress * gradient;
            }
        }
        let bodies = 3 * self.slots.len();
        for contact in &self.contacts {
            let response = contact.potential.response(&self.relative(contact, velocities));
            objective += response.potential;
            let impulse = Vector3::from(response.impulse);
            let stencil = &self.stencils[contact.particle];
            for (row, weight) in stencil.rows.iter().zip(&stencil.weights) {
                let mut target = forces.fixed_rows_mut::<3>(*row);
                target += impulse * *weight;
            }
            forces[bodies + contact.panel] -= impulse.x;
        }
        let gradient = inertia - &forces;
        let over_mass = |g: &DVector<f64>| g.zip_map(&self.mass, |g, m| g * g / m).sum().sqrt();
        let momentum = velocities.zip_map(&self.mass, |v, m| m * v * v).sum().sqrt();
        let (residual, scale) = (over_mass(&gradient), momentum.max(over_mass(&forces)));
        Evaluation { objective, gradient, residual, scale }
    }

    /// First Piola-Kirchhoff stress `tau F^-T` \[Pa\]; zero where `F` has no inverse.
    fn first_piola(&self, f: &Matrix3<f64>, state: f64) -> Matrix3<f64> {
        let stress: Matrix3<f64> = self.model.update((*f).into(), state, 0.0).kirchhoff_stress.into();
        f.try_inverse().map_or_else(Matrix3::zeros, |inverse| stress * inverse.transpose())
    }

    /// Derivative of the first Piola-Kirchhoff stress, rows and columns (a, b) at 3 a + b, without its
    /// negative eigenvalues \[Pa\].
    fn stress_derivative(&self, f: &Matrix3<f64>, state: f64) -> SMatrix<f64, 9, 9> {
        let mut derivative = SMatrix::<f64, 9, 9>::zeros();
        for column in 0..9 {
            let at = (column / 3, column % 3);
            let moved = |by: f64| {
                let mut f = *f;
                f[at] += by;
                self.first_piola(&f, state)
            };
            let change = (moved(DIFFERENCE) - moved(-DIFFERENCE)) / (2.0 * DIFFERENCE);
            for row in 0..9 {
                derivative[(row, column)] = change[(row / 3, row % 3)];
            }
        }
        let mut eigen = (0.5 * (derivative + derivative.transpose())).symmetric_eigen();
        eigen.eigenvalues.apply(|value| *value = value.max(0.0));
        eigen.recompose()
    }

    /// The Hessian's lower triangle \[kg\].
    fn hessian(&self, velocities: &DVector<f64>) -> DMatrix<f64> {
        let mut hessian = DMatrix::from_diagonal(&self.mass);
        for (p, particle) in self.particles.iter().enumerate() {
            let derivative =
                particle.volume * self.stress_derivative(&self.deformation(p, velocities), particle.state);
            let Stencil { rows, gradients, .. } = &self.stencils[p];
            for (row, gradient) in rows.iter().zip(gradients) {
                // Contracted with one gradient: rows a, columns (c, d).
                let partial: SMatrix<f64, 3, 9> =
                    SMatrix::from_fn(|a, cd| (0..3).map(|b| gradient[b] * derivative[(3 * a + b, cd)]).sum());
                for (column, other) in rows.iter().zip(gradients).filter(|(column, _)| *column <= row) {
                    for a in 0..3 {
                        for c in 0..3 {
                            let value: f64 = (0..3).map(|d| partial[(a, 3 * c + d)] * other[d]).sum();
                            hessian[(row + a, column + c)] += value;
                        }
                    }
                }
            }
        }
        let bodies = 3 * self.slots.len();
        for contact in &self.contacts {
            let response = contact.potential.response(&self.relative(contact, velocities));
            let block = Matrix3::from_fn(|a, b| response.hessian[a][b]);
            let Stencil { rows, weights, .. } = &self.stencils[contact.particle];
            let panel = bodies + contact.panel;
            for (row, weight) in rows.iter().zip(weights) {
                for (column, other) in rows.iter().zip(weights).filter(|(column, _)| *column <= row) {
                    let mut target = hessian.fixed_view_mut::<3, 3>(*row, *column);
                    target += block * (weight * other);
                }
                for c in 0..3 {
                    hessian[(panel, row + c)] -= weight * block[(0, c)];
                }
            }
            hessian[(panel, panel)] += block[(0, 0)];
        }
        hessian
    }
}
