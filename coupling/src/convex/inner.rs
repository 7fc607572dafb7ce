//! The linear system of a Newton step, by preconditioned conjugate gradients with matrix-free
//! products, in velocities scaled by the roots of the masses (see `kernels/linear.rs`); in single
//! precision where that resolves the system, which is almost always, and else in double precision.
//! Where even that does not (light nodes that share stiff contacts couple beyond the diagonal
//! blocks), it says so, and the solver factorises.

use super::active::Active;
use super::body_block::BodyBlock;
use super::kernels::{
    Lanes, Matrix, NodeBlocks, Nodes, Real, Rows, Stencil, SymmetricColumns, WIDTH, conjugate, descend,
    diagonal_blocks_add, expand_weights, invert_scaled, pack_hessians, product_add, scale_gradient,
    scale_solution,
};
use super::layout::Vector;
use super::mobility::{Spatial, add_impulse, point_velocity};
use super::prepared::Prepared;

/// Largest trace of a scaled diagonal block, `tr(B_i)/m_i`, that single precision is trusted with:
/// its rounding is then below a hundredth of the identity, on which the motion of a light node
/// between stiff contacts depends alone. With the masses of particles the trace is at most about
/// the stiffness number (and `mu gamma_n0/(v_s m_p)`).
const LARGEST_SINGLE: f64 = 1e-2 / f32::EPSILON as f64;

/// The linear systems of a solve.
#[derive(Clone, Debug, Default)]
pub(super) struct ConjugateGradients {
    single: LinearSystem<f32>,
    double: LinearSystem<f64>,
    /// What stays the same through this solve has been read.
    loaded: bool,
    /// This solve goes on in double precision.
    needs_double: bool,
    /// This solve is beyond conjugate gradients.
    failed: bool,
}

/// How far the inner iteration goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerTarget {
    /// Norm of the linear residual in M^-1 to reach, as a part of the gradient's.
    pub reduction: f64,
    /// Most products.
    pub iterations: usize,
}

/// One Newton system `(M + J^T G J) d = -g`.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewtonSystem<'a> {
    pub prepared: &'a Prepared,
    pub active: &'a Active,
    /// `G`.
    pub hessians: &'a [SymmetricColumns],
    pub gradient: &'a [Vector],
    /// The gradient's norm in M^-1.
    pub norm: f64,
}

impl ConjugateGradients {
    /// Begins a solve.
    pub fn begin(&mut self) {
        self.loaded = false;
        self.needs_double = false;
        self.failed = false;
    }

    /// Whether the rest of this solve needs another method.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Solves a Newton system from zero; every iterate is a direction of descent. Returns the
    /// number of products.
    pub fn solve(
        &mut self,
        newton: &NewtonSystem,
        bodies: &mut BodyBlock,
        target: InnerTarget,
        out: &mut [Vector],
    ) -> usize {
        if !self.loaded {
            // Only now: many solves never need a system.
            self.single.load(newton.prepared);
            self.loaded = true;
        }
        if !self.needs_double {
            let largest = self.single.precondition(newton).max(bodies.largest());
            if largest <= LARGEST_SINGLE {
                return self.single.solve(newton, bodies, target, out);
            }
            self.double.load(newton.prepared);
            self.needs_double = true;
        }
        self.double.precondition(newton);
        let products = self.double.solve(newton, bodies, target, out);
        self.failed = self.double.true_residual(newton, bodies) > 2.0 * target.reduction;
        products + 1
    }
}

/// The system and the vectors of the iteration in one precision. Buffers grow and are kept.
#[derive(Clone, Debug, Default)]
struct LinearSystem<T> {
    /// Roots of the inverse masses, zero where there is no mass or no node. Bounded, so that the
    /// precision can square it: a lighter node counts as heavier here, and only here.
    scale: Vec<Lanes<T>>,
    weights: Vec<Stencil<T>>,
    hessians: Vec<Matrix<T>>,
    blocks: Vec<Matrix<T>>,
    inverse_blocks: Vec<NodeBlocks<T>>,
    solution: Vec<Nodes<T>>,
    residual: Vec<Nodes<T>>,
    preconditioned: Vec<Nodes<T>>,
    direction: Vec<Nodes<T>>,
    scaled_direction: Rows<T>,
    image: Rows<T>,
    /// For each active contact: the body's contribution to its relative velocity, then its
    /// impulse. Empty if no body is strongly coupled.
    contact_motion: Vec<[T; 4]>,
    velocities: Vec<Spatial>,
    impulses: Vec<Spatial>,
}

impl<T: Real> LinearSystem<T> {
    fn load(&mut self, prepared: &Prepared) {
        // A row is read as four nodes.
        let chunks = (prepared.vectors() + 1).div_ceil(WIDTH);
        let zero = T::default();
        self.scale.clear();
        self.scale.resize(chunks, [zero; WIDTH]);
        for (scale, inverse) in self.scale.as_flattened_mut().iter_mut().zip(&prepared.inverse_mass) {
            *scale = T::of(inverse.sqrt().min(T::LARGEST_SCALE));
        }
        self.weights.resize(prepared.weights.len(), [[zero; WIDTH]; 5]);
        expand_weights(&prepared.weights, &mut self.weights);
        for buffer in [&mut self.solution, &mut self.residual, &mut self.preconditioned, &mut self.direction]
        {
            buffer.clear();
            buffer.resize(chunks, [[zero; WIDTH]; 3]);
        }
        self.blocks.resize(prepared.vectors(), [zero; 8]);
        self.inverse_blocks.resize(chunks, [[zero; WIDTH]; 6]);
        for component in self.scaled_direction.iter_mut().chain(&mut self.image) {
            component.clear();
            component.resize(chunks * WIDTH, zero);
        }
    }

    /// Inverts the scaled diagonal blocks; returns the largest trace of the contacts' part of one.
    fn precondition(&mut self, newton: &NewtonSystem) -> f64 {
        self.blocks.fill([T::default(); 8]);
        diagonal_blocks_add(
            newton.active,
            &newton.prepared.weights,
            newton.hessians,
            false,
            &mut self.blocks,
        );
        invert_scaled(&self.blocks, &self.scale, &mut self.inverse_blocks)
    }

    fn solve(
        &mut self,
        newton: &NewtonSystem,
        bodies: &mut BodyBlock,
        target: InnerTarget,
        out: &mut [Vector],
    ) -> usize {
        self.hessians.resize(newton.active.contacts.len(), [T::default(); 8]);
        pack_hessians(newton.active, newton.hessians, &mut self.hessians);
        // A right-hand side of norm one keeps single precision in its range.
        scale_gradient(newton.norm, &self.scale, newton.gradient, &mut self.residual);
        let products = self.iterate(newton, bodies, target);
        scale_solution(newton.norm, &self.scale, &self.solution, out);
        products
    }

    /// The norm of the linear residual, as a part of the gradient's, by one more product: the
    /// recurrence's own can have lost touch with it.
    fn true_residual(&mut self, newton: &NewtonSystem, bodies: &mut BodyBlock) -> f64 {
        let (p, t, q) = (&mut self.direction, &mut self.scaled_direction, &mut self.image);
        conjugate(&self.scale, &self.solution, T::default(), p, t, q);
        self.product_add(newton);
        scale_gradient(newton.norm, &self.scale, newton.gradient, &mut self.residual);
        // A step of length one leaves the residual.
        self.descend(1.0, newton, bodies)[1].sqrt()
    }

    /// `image += J^T G J scaled_direction`, nodes and bodies; returns the curvature along it.
    fn product_add(&mut self, newton: &NewtonSystem) -> f64 {
        let Self { weights, hessians, scaled_direction, image, contact_motion, velocities, impulses, .. } =
            self;
        let (active, mobility) = (newton.active, &newton.prepared.mobility);
        if mobility.rank() == 0 {
            return product_add::<T, false>(
                active,
                weights,
                hessians,
                contact_motion,
                scaled_direction,
                image,
            );
        }
        let first = newton.prepared.nodes.len();
        mobility.velocities(|j| scaled_direction[j % 3][first + j / 3].double(), velocities);
        contact_motion.clear();
        contact_motion.extend(active.contacts.iter().map(|&c| {
            let zero = T::default();
            let Some((body, lever)) = mobility.on(c as usize) else { return [zero; 4] };
            let [x, y, z] = point_velocity(&velocities[body], &lever).map(T::of);
            [x, y, z, zero]
        }));
        let curvature =
            product_add::<T, true>(active, weights, hessians, contact_motion, scaled_direction, image);
        impulses.clear();
        impulses.resize(mobility.bodies(), [0.0; 6]);
        for (&c, g) in active.contacts.iter().zip(&*contact_motion) {
            if let Some((body, lever)) = mobility.on(c as usize) {
                add_impulse(&mut impulses[body], &lever, &[-g[0].double(), -g[1].double(), -g[2].double()]);
            }
        }
        mobility.reduce(impulses, |j, value| {
            let out = &mut image[j % 3][first + j / 3];
            *out = *out + T::of(value);
        });
        curvature
    }

    /// `solution` for the right-hand side in `residual`.
    fn iterate(&mut self, newton: &NewtonSystem, bodies: &mut BodyBlock, target: InnerTarget) -> usize {
        self.solution.fill([[T::default(); WIDTH]; 3]);
        self.direction.fill([[T::default(); WIDTH]; 3]);
        for component in &mut self.image {
            component.fill(T::default());
        }
        // A step of length zero preconditions the first residual.
        let [mut reduction, _] = self.descend(0.0, newton, bodies);
        let mut beta = 0.0;
        for product in 1..=target.iterations {
            let inertia = conjugate(
                &self.scale,
                &self.preconditioned,
                T::of(beta),
                &mut self.direction,
                &mut self.scaled_direction,
                &mut self.image,
            );
            let curvature = inertia + self.product_add(newton);
            // Not positive only where everything has underflowed, not finite where it has
            // overflowed.
            if !(curvature > 0.0 && curvature.is_finite() && reduction > 0.0) {
                return product;
            }
            let [next, residual_squared] = self.descend(reduction / curvature, newton, bodies);
            if residual_squared <= target.reduction * target.reduction {
                return product;
            }
            beta = next / reduction;
            reduction = next;
        }
        target.iterations
    }

    /// A step along the direction, and the preconditioned residual after it; returns the products
    /// of the residual with that and itself.
    fn descend(&mut self, step: f64, newton: &NewtonSystem, bodies: &mut BodyBlock) -> [f64; 2] {
        let mut products = descend(
            T::of(step),
            &self.direction,
            &self.image,
            &self.scale,
            &self.inverse_blocks,
            &mut self.solution,
            &mut self.residual,
            &mut self.preconditioned,
        );
        // The bodies' block is no 3 x 3 one: the kernel took the identity for it.
        let first = newton.prepared.nodes.len();
        let place = |j: usize| (first + j / 3, j % 3);
        let of = |vectors: &[Nodes<T>], j: usize| {
            let (n, a) = place(j);
            vectors[n / WIDTH][a][n % WIDTH].double()
        };
        let (residual, preconditioned) = (&self.residual, &mut self.preconditioned);
        bodies.solve(
            |j| of(residual, j),
            |j, value| {
                let (n, a) = place(j);
                products[0] += of(residual, j) * (value - of(residual, j));
                preconditioned[n / WIDTH][a][n % WIDTH] = T::of(value);
            },
        );
        products
    }
}

/// The forcing sequence of an inexact Newton method: how far each linear system is solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forcing {
    previous: Option<(f64, f64)>,
}

impl Forcing {
    const FIRST: f64 = 0.1;
    const LARGEST: f64 = 0.5;
    const SMALLEST: f64 = 1e-8;
    /// While friction's Hessian is replaced by the quadratic above it: the outer iteration is then
    /// linear, and gains nothing from a solution that is more exact than it.
    const FAR_FORCING: f64 = 0.2;

    pub fn new() -> Self {
        Self { previous: None }
    }

    /// Target for the linear residual as a part of the nonlinear residual (Eisenstat and Walker
    /// 1996, choice 2, gamma 0.9, with their safeguard). No system is solved much beyond the
    /// tolerance of the outer iteration, nor, where the outer iteration is linear (`far`), beyond
    /// what that can use.
    pub fn target(&mut self, residual: f64, tolerance: f64, far: bool) -> f64 {
        let factor = match self.previous {
            None => Self::FIRST,
            Some((before, eta)) => {
                let ratio = residual / before;
                let wanted = 0.9 * ratio * ratio;
                let kept = 0.9 * eta * eta;
                let safeguarded = if kept > 0.1 { wanted.max(kept) } else { wanted };
                safeguarded.clamp(if far { Self::FAR_FORCING } else { Self::SMALLEST }, Self::LARGEST)
            }
        };
        self.previous = Some((residual, factor));
        factor.max(0.8 * tolerance / residual)
    }
}
