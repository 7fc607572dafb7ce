//! Levenberg-Marquardt within joint limits.

use nalgebra::{DMatrix, DVector, Isometry3, Matrix3, Point3, Unit, UnitQuaternion, Vector3};

use super::chain::Chain;
use super::error::{InverseKinematicsError, Unreachable};

/// Target of the tool's axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Orientation {
    /// No requirement.
    Free,
    /// A direction of the tool has a target direction in the base; the rotation about it is free.
    JointAxis {
        /// The direction in the tool's frame.
        tool: Unit<Vector3<f64>>,
        /// The target direction in the base.
        base: Unit<Vector3<f64>>,
    },
    /// A target orientation in the base.
    Full(UnitQuaternion<f64>),
}

/// Target of the tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolGoal {
    /// Target of the tool's origin in the base \[m\].
    pub position: Point3<f64>,
    /// Target of its axes.
    pub orientation: Orientation,
}

/// Tolerances and iteration limits of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveSettings {
    /// Largest error of position \[m\].
    pub position_tolerance: f64,
    /// Largest error of orientation \[rad\].
    pub orientation_tolerance: f64,
    /// Most steps from one seed.
    pub max_iterations: usize,
    /// Number of seeds tried after the given ones: the middle of the ranges, then points of
    /// Halton's sequence (Halton 1960, Numerische Mathematik 2) in them.
    pub seeds: usize,
}

impl Default for SolveSettings {
    fn default() -> Self {
        Self { position_tolerance: 1e-6, orientation_tolerance: 1e-6, max_iterations: 100, seeds: 128 }
    }
}

/// A configuration that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigurationSolution {
    /// The configuration \[rad, m\].
    pub configuration: Vec<f64>,
    /// Error of position \[m\].
    pub position_error: f64,
    /// Error of orientation \[rad\].
    pub orientation_error: f64,
    /// Steps of Levenberg and Marquardt from all seeds together, without those towards the rest
    /// configuration.
    pub iterations: usize,
    /// The seed from which it was found, the given ones first.
    pub seed: usize,
}

/// Half range \[rad\] of the seeds of joints without limits.
const SEED_RANGE: f64 = core::f64::consts::PI;
/// Primes: bases of the Halton sequence. A chain of more joints takes them again, shifted.
const PRIMES: [usize; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
/// Fraction of the tolerances at which steps stop: one more step usually reaches it, and successive
/// configurations then do not jitter.
const POLISH: f64 = 1e-3;
/// A seed is abandoned when this many steps together reduce the squared error by less than
/// `STALL_GAIN`.
const STALL_STEPS: usize = 12;
const STALL_GAIN: f64 = 1e-3;
/// Largest step towards the rest configuration \[rad, m\], and the largest number of steps.
const REST_STEP: f64 = 0.3;
const REST_STEPS: usize = 40;
/// Singular values below this part of the largest count as none in the null space.
const RANK: f64 = 1e-4;

/// Errors of a configuration, and their Jacobian.
struct Errors {
    /// Residual \[m\]: orientation times the lever, position.
    residual: DVector<f64>,
    /// Its Jacobian with respect to the joints.
    jacobian: DMatrix<f64>,
    position: f64,
    orientation: f64,
}

impl Errors {
    fn cost(&self) -> f64 {
        self.residual.norm_squared()
    }

    fn within(&self, settings: &SolveSettings, part: f64) -> bool {
        self.position <= part * settings.position_tolerance
            && self.orientation <= part * settings.orientation_tolerance
    }
}

/// Residual rotation vector (rad, base axes), and the projection of angular velocity that counts.
fn orientation_residual(pose: &Isometry3<f64>, target: &Orientation) -> (Vector3<f64>, Matrix3<f64>) {
    match target {
        Orientation::Free => (Vector3::zeros(), Matrix3::zeros()),
        Orientation::Full(rotation) => {
            ((rotation * pose.rotation.inverse()).scaled_axis(), Matrix3::identity())
        }
        Orientation::JointAxis { tool, base } => {
            let (a, b) = (pose.rotation * tool.into_inner(), base.into_inner());
            let (cross, dot) = (a.cross(&b), a.dot(&b));
            let angle = cross.norm().atan2(dot);
            // If the two are opposite, any direction across will do.
            let across = cross.try_normalize(1e-12).unwrap_or_else(|| {
                let other = if a.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
                a.cross(&other).normalize()
            });
            (across * angle, Matrix3::identity() - a * a.transpose())
        }
    }
}

impl Chain {
    fn errors(&self, configuration: &[f64], goal: &ToolGoal, lever: f64) -> Errors {
        let (pose, mut jacobian) = self.jacobian(configuration);
        let (turn, counts) = orientation_residual(&pose, &goal.orientation);
        let shift = goal.position.coords - pose.translation.vector;
        let mut residual = DVector::zeros(6);
        residual.fixed_rows_mut::<3>(0).copy_from(&(turn * lever));
        residual.fixed_rows_mut::<3>(3).copy_from(&shift);
        for j in 0..self.len() {
            let w = counts * jacobian.fixed_view::<3, 1>(0, j) * lever;
            jacobian.fixed_view_mut::<3, 1>(0, j).copy_from(&w);
        }
        Errors { residual, jacobian, position: shift.norm(), orientation: turn.norm() }
    }

    /// A configuration that puts the tool at `goal`, within the joints' limits: Levenberg-Marquardt
    /// with a damping in proportion to the squared error (Nakamura and Hanafusa 1986, J. Dyn. Sys.
    /// Meas. Control 108; Buss 2004, "Introduction to inverse kinematics with Jacobian transpose,
    /// pseudoinverse and damped least squares methods"; that proportion: Sugihara 2011, IEEE Trans.
    /// Robotics 27(5)). Steps are projected on the limits; a joint at one that it would leave is
    /// left out of the step. It is tried from `seeds` in their order, then from fixed ones, so that
    /// the same call gives the same bits; the first solution found then moves towards `rest`, if
    /// given, by null-space motion (Liegeois 1977, IEEE Trans. SMC 7(12)).
    ///
    /// # Errors
    /// [`InverseKinematicsError::Unreachable`] with the residual of the best configuration;
    /// [`InverseKinematicsError::Configuration`].
    pub fn solve(
        &self,
        goal: &ToolGoal,
        seeds: &[&[f64]],
        rest: Option<&[f64]>,
        settings: &SolveSettings,
    ) -> Result<ConfigurationSolution, InverseKinematicsError> {
        for configuration in seeds.iter().copied().chain(rest) {
            self.check(configuration)?;
        }
        let (mut solution, errors) = self.search(goal, seeds, settings);
        if errors.within(settings, 1.0) {
            if let Some(rest) = rest {
                self.approach_rest(&mut solution.configuration, goal, rest, settings);
                let errors = self.errors(&solution.configuration, goal, self.lever());
                (solution.position_error, solution.orientation_error) = (errors.position, errors.orientation);
            }
            return Ok(solution);
        }
        let anyhow = ToolGoal { orientation: Orientation::Free, ..*goal };
        let distance = match goal.orientation {
            Orientation::Free => errors.position,
            _ => self.search(&anyhow, &[&solution.configuration], settings).1.position,
        };
        Err(Box::new(self.unreachable(goal, &solution.configuration, &errors, distance)).into())
    }

    /// The configuration for a goal near that of the configuration `from`, without other seeds: the
    /// smallest change, after a null-space motion by the fraction `pull.1` (0 to 1) towards the
    /// rest configuration `pull.0`.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn follow(
        &self,
        goal: &ToolGoal,
        from: &[f64],
        pull: Option<(&[f64], f64)>,
        settings: &SolveSettings,
    ) -> Result<ConfigurationSolution, InverseKinematicsError> {
        self.check(from)?;
        let lever = self.lever();
        let mut configuration = from.to_vec();
        if let Some((rest, part)) = pull {
            self.check(rest)?;
            let increment = self.null_space_step(&configuration, goal, rest, lever);
            configuration.iter_mut().zip(increment.iter()).for_each(|(q, d)| *q += part * d);
        }
        let (iterations, errors) = self.descend(&mut configuration, goal, lever, settings);
        if errors.within(settings, 1.0) {
            let (position_error, orientation_error) = (errors.position, errors.orientation);
            return Ok(ConfigurationSolution {
                configuration,
                position_error,
                orientation_error,
                iterations,
                seed: 0,
            });
        }
        let anyhow = ToolGoal { orientation: Orientation::Free, ..*goal };
        let distance = self.search(&anyhow, &[&configuration], settings).1.position;
        Err(Box::new(self.unreachable(goal, &configuration, &errors, distance)).into())
    }

    fn check(&self, configuration: &[f64]) -> Result<(), InverseKinematicsError> {
        if configuration.len() == self.len() && configuration.iter().all(|q| q.is_finite()) {
            return Ok(());
        }
        Err(InverseKinematicsError::Configuration { found: configuration.len(), target: self.len() })
    }

    fn unreachable(
        &self,
        goal: &ToolGoal,
        configuration: &[f64],
        errors: &Errors,
        distance: f64,
    ) -> Unreachable {
        let at_limit = |(j, q): (usize, &f64)| {
            let limit = self.limits(j).into_iter().find(|limit| (q - limit).abs() < 1e-9)?;
            Some((self.name(j).to_owned(), limit))
        };
        Unreachable {
            target: goal.position,
            position_error: errors.position,
            orientation_error: errors.orientation,
            distance,
            at_limits: configuration.iter().enumerate().filter_map(at_limit).collect(),
            configuration: configuration.to_vec(),
        }
    }

    /// The first configuration within the tolerances, or else the best one.
    fn search(
        &self,
        goal: &ToolGoal,
        seeds: &[&[f64]],
        settings: &SolveSettings,
    ) -> (ConfigurationSolution, Errors) {
        let lever = self.lever();
        let mut best: Option<(ConfigurationSolution, Errors)> = None;
        let mut total = 0;
        for seed in 0..seeds.len() + settings.seeds.max(1) {
            let mut configuration = match seeds.get(seed) {
                Some(given) => given.to_vec(),
                None => self.seed(seed - seeds.len()),
            };
            self.clamp(&mut configuration);
            let (iterations, errors) = self.descend(&mut configuration, goal, lever, settings);
            total += iterations;
            let done = errors.within(settings, 1.0);
            if done || best.as_ref().is_none_or(|(_, b)| errors.cost() < b.cost()) {
                let (position_error, orientation_error) = (errors.position, errors.orientation);
                let solution = ConfigurationSolution {
                    configuration,
                    position_error,
                    orientation_error,
                    iterations: total,
                    seed,
                };
                best = Some((solution, errors));
            }
            if done {
                break;
            }
        }
        // There is at least one seed.
        best.unwrap_or_else(|| {
            let configuration = self.seed(0);
            let errors = self.errors(&configuration, goal, lever);
            let (position_error, orientation_error) = (errors.position, errors.orientation);
            (
                ConfigurationSolution {
                    configuration,
                    position_error,
                    orientation_error,
                    iterations: total,
                    seed: 0,
                },
                errors,
            )
        })
    }

    /// Seed number `k`: the middle of the ranges, then Halton's sequence.
    fn seed(&self, k: usize) -> Vec<f64> {
        let range = |j: usize| match self.limits(j) {
            [low, high] if low.is_finite() && high.is_finite() => [low, high],
            [low, _] if low.is_finite() => [low, low + 2.0 * SEED_RANGE],
            [_, high] if high.is_finite() => [high - 2.0 * SEED_RANGE, high],
            _ => [-SEED_RANGE, SEED_RANGE],
        };
        let share = |j: usize| {
            if k == 0 { 0.5 } else { radical_inverse(k + j / PRIMES.len(), PRIMES[j % PRIMES.len()]) }
        };
        (0..self.len())
            .map(|j| {
                let [low, high] = range(j);
                low + (high - low) * share(j)
            })
            .collect()
    }

    /// Minimises the error from a configuration; returns the number of steps and the final errors.
    fn descend(
        &self,
        configuration: &mut Vec<f64>,
        goal: &ToolGoal,
        lever: f64,
        settings: &SolveSettings,
    ) -> (usize, Errors) {
        self.clamp(configuration);
        let mut errors = self.errors(configuration, goal, lever);
        let mut damping = 1.0;
        let (mut since, mut cost_then) = (0, errors.cost());
        for iteration in 0..settings.max_iterations {
            if errors.within(settings, POLISH) {
                return (iteration, errors);
            }
            let Some(step) = self.step(configuration, &errors, damping) else { return (iteration, errors) };
            let mut next: Vec<f64> = configuration.iter().zip(step.iter()).map(|(q, d)| q + d).collect();
            self.clamp(&mut next);
            let there = self.errors(&next, goal, lever);
            if there.cost() < errors.cost() {
                *configuration = next;
                errors = there;
                damping = f64::max(damping / 4.0, 1e-6);
            } else if errors.within(settings, 1.0) || damping > 1e12 {
                // Rounding, or a minimum.
                return (iteration + 1, errors);
            } else {
                damping *= 8.0;
            }
            since += 1;
            if since == STALL_STEPS {
                if errors.cost() > (1.0 - STALL_GAIN) * cost_then {
                    return (iteration + 1, errors);
                }
                (since, cost_then) = (0, errors.cost());
            }
        }
        (settings.max_iterations, errors)
    }

    /// `(J^T J + lambda I) d = J^T e` of the joints that are not at a limit, `lambda = damping
    /// |e|^2`.
    fn step(&self, configuration: &[f64], errors: &Errors, damping: f64) -> Option<DVector<f64>> {
        let gradient = errors.jacobian.tr_mul(&errors.residual);
        let held = |j: usize| {
            let [low, high] = self.limits(j);
            (configuration[j] <= low && gradient[j] < 0.0) || (configuration[j] >= high && gradient[j] > 0.0)
        };
        let free: Vec<usize> = (0..self.len()).filter(|&j| !held(j)).collect();
        let jacobian = errors.jacobian.select_columns(&free);
        let mut matrix = jacobian.tr_mul(&jacobian);
        // The least keeps the factorisation away from singular matrices.
        let lambda = damping * errors.cost() + 1e-14 * (1.0 + matrix.trace());
        for i in 0..free.len() {
            matrix[(i, i)] += lambda;
        }
        let solved = matrix.cholesky()?.solve(&gradient.select_rows(&free));
        let mut step = DVector::zeros(self.len());
        for (k, &j) in free.iter().enumerate() {
            step[j] = solved[k];
        }
        // Beyond this step the Jacobian is not valid.
        let longest = step.amax();
        if longest > 1.0 {
            step /= longest;
        }
        Some(step)
    }

    /// The null-space part of the step to `rest`, which does not move the tool to first order:
    /// `(I - J^+ J) (rest - q)`, in the joints that are not at a limit.
    fn null_space_step(
        &self,
        configuration: &[f64],
        goal: &ToolGoal,
        rest: &[f64],
        lever: f64,
    ) -> DVector<f64> {
        let errors = self.errors(configuration, goal, lever);
        let increment =
            DVector::from_iterator(self.len(), rest.iter().zip(configuration).map(|(r, q)| r - q));
        let svd = errors.jacobian.svd(false, true);
        let mut free = increment.clone();
        if let Some(rows) = svd.v_t {
            let least = RANK * svd.singular_values.max();
            for (k, value) in svd.singular_values.iter().enumerate() {
                if *value > least {
                    let row = rows.row(k).transpose();
                    free -= &row * row.dot(&increment);
                }
            }
        }
        free
    }

    fn approach_rest(
        &self,
        configuration: &mut Vec<f64>,
        goal: &ToolGoal,
        rest: &[f64],
        settings: &SolveSettings,
    ) {
        let lever = self.lever();
        let far = |configuration: &[f64]| {
            configuration.iter().zip(rest).map(|(q, r)| (q - r) * (q - r)).sum::<f64>()
        };
        let mut share: f64 = 1.0;
        for _ in 0..REST_STEPS {
            let increment = self.null_space_step(configuration, goal, rest, lever);
            let longest = increment.amax();
            if longest * share < 1e-6 {
                return;
            }
            let scale = share * f64::min(1.0, REST_STEP / longest);
            let mut next: Vec<f64> =
                configuration.iter().zip(increment.iter()).map(|(q, d)| q + scale * d).collect();
            let (_, errors) = self.descend(&mut next, goal, lever, settings);
            if errors.within(settings, 1.0) && far(&next) < far(configuration) {
                *configuration = next;
                share = f64::min(1.0, 2.0 * share);
            } else {
                share *= 0.5;
            }
        }
    }
}

/// Van der Corput's radical inverse of `k` in a base: its digits mirrored at the point.
fn radical_inverse(mut k: usize, base: usize) -> f64 {
    let (mut value, mut digit) = (0.0, 1.0 / base as f64);
    let step = digit;
    while k > 0 {
        value += (k % base) as f64 * digit;
        k /= base;
        digit *= step;
    }
    value
}
