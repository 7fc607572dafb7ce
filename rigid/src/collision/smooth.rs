//! Two solids, one of them an ellipsoid: the direction of greatest separation by Newton's method.
//!
//! GJK approaches the nearest points of round solids by tens of ever smaller facets. The separation
//! as a function of the direction is smooth if the other solid touches with a corner, a rim or an
//! ellipsoid's surface, and Newton's method needs four or five steps. If an edge or face of the
//! other touches, it has a kink at the solution, Newton does not converge, and the general
//! algorithms are used.

use super::manifold::across;
use super::pair::ConvexPair;
use super::solid::ShapeWithTables;
use nalgebra::{Matrix2, Matrix3, Unit, Vector2, Vector3};
use pliant_geometry::Shape;

/// Supporting points whose offset across the direction is below this part of the smaller solid face
/// each other.
const FACING: f64 = 1e-9;
/// Most steps: twice the number of smooth cases. The general algorithms solve the others.
const STEPS: usize = 10;
/// Most halvings of a step that lowers the separation.
const HALVINGS: usize = 4;
/// Longest step \[rad\].
const LONGEST: f64 = 0.5;

/// Number of roundings in a separation: two rotated supporting points and a product.
const ROUNDINGS: f64 = 16.0;

/// What Newton's method found.
pub(super) enum Ascent {
    /// The solids are `margin` or more apart.
    Separation,
    /// A direction of greatest separation, and that \[m\].
    Found(Unit<Vector3<f64>>, f64),
    /// It did not converge.
    NotConverged,
}

/// Whether one of the two is an ellipsoid.
pub(super) fn applies(pair: &ConvexPair<'_>) -> bool {
    [&pair.a, &pair.b].iter().any(|solid| matches!(solid.shape, Shape::Ellipsoid { .. }))
}

/// Supporting points of both at the unit direction `n`, and their separation.
struct Support {
    /// From the first's supporting point to the second's \[m\].
    between: Vector3<f64>,
    /// Separation of the cores \[m\].
    along: f64,
}

impl Support {
    fn new(pair: &ConvexPair<'_>, n: &Vector3<f64>) -> Self {
        let between = pair.between(n);
        Self { between, along: between.dot(n) }
    }
}

/// The greatest separation near `start`: over the unit sphere of directions n, the separation `s(n)
/// = n . (t + ...) - h_A(n) - h_B(-n)` with support functions h has the gradient w, from one
/// supporting point to the other, less its part along n, and the second derivative `-(H_A + H_B) -
/// s` across n, H being the second derivatives of h: the curvature radii of the surfaces.
pub(super) fn ascend(pair: &ConvexPair<'_>, start: Unit<Vector3<f64>>, margin: f64) -> Ascent {
    let radii = pair.a.radius() + pair.b.radius();
    // Rounding of a separation: of points about as far from the origin as the solids' centres are
    // apart.
    let rounding = ROUNDINGS * f64::EPSILON * (pair.translation.norm() + pair.size());
    let mut n = start;
    let mut at = Support::new(pair, &n);
    for _ in 0..STEPS {
        if at.along - radii >= margin {
            return Ascent::Separation;
        }
        let axes = across(&n);
        let gradient = Vector2::new(at.between.dot(&axes[0]), at.between.dot(&axes[1]));
        let curvature = flattened(&curvature(pair, &n), &axes);
        let second = curvature + Matrix2::identity() * at.along;
        let least = least_eigenvalue(&second);
        if gradient.norm() <= FACING * pair.size() {
            // Not a saddle, nor the least separation.
            return if least > 0.0 { Ascent::Found(n, at.along - radii) } else { Ascent::NotConverged };
        }
        // If the separation curves upwards, a step along the gradient leads away from the saddle.
        let lift = (0.1 * curvature.trace() - least).max(0.0);
        let lifted = if least > 0.0 { second } else { second + Matrix2::identity() * lift };
        let Some(inverse) = lifted.try_inverse() else { return Ascent::NotConverged };
        let mut step = inverse * gradient;
        step *= (LONGEST / step.norm()).min(1.0);
        let mut better = None;
        for _ in 0..HALVINGS {
            let m = Unit::new_normalize(n.as_ref() + axes[0] * step.x + axes[1] * step.y);
            let there = Support::new(pair, &m);
            if there.along >= at.along - rounding {
                better = Some((m, there));
                break;
            }
            step *= 0.5;
        }
        let Some(next) = better else { return Ascent::NotConverged };
        (n, at) = next;
    }
    Ascent::NotConverged
}

/// The sum of the second derivatives of both support functions at `n`, in the first's frame \[m\].
pub(super) fn curvature(pair: &ConvexPair<'_>, n: &Unit<Vector3<f64>>) -> Matrix3<f64> {
    let r = pair.rotation.matrix();
    let second = of_solid(&pair.b, &pair.rotation.inverse_transform_vector(&-n.as_ref()));
    of_solid(&pair.a, n) + r * second * r.transpose()
}

/// Second derivative of a core's support function at the unit direction `d`, in its own frame [m]:
/// nothing at corners.
fn of_solid(solid: &ShapeWithTables<'_>, d: &Vector3<f64>) -> Matrix3<f64> {
    match solid.shape {
        Shape::Ellipsoid { semi_axes } => {
            // h = |D d|, h' = D^2 d/h, h'' = (D^2 - h' h'^T)/h.
            let squared = semi_axes.component_mul(semi_axes);
            let h = semi_axes.component_mul(d).norm();
            let point = squared.component_mul(d) / h;
            (Matrix3::from_diagonal(&squared) - point * point.transpose()) / h
        }
        Shape::Cylinder { radius, .. } => {
            // h = r |(d_x, d_y)| + l |d_z|: a circle's arc.
            let away = (d.x * d.x + d.y * d.y).sqrt();
            if away > 0.0 {
                let tangent = Vector3::new(-d.y, d.x, 0.0) / away;
                tangent * tangent.transpose() * (radius / away)
            } else {
                Matrix3::zeros()
            }
        }
        _ => Matrix3::zeros(),
    }
}

/// The matrix restricted to the plane across the direction.
fn flattened(m: &Matrix3<f64>, axes: &[Vector3<f64>; 2]) -> Matrix2<f64> {
    let [t, u] = axes;
    let (mt, mu) = (m * t, m * u);
    let mixed = t.dot(&mu);
    Matrix2::new(t.dot(&mt), mixed, mixed, u.dot(&mu))
}

fn least_eigenvalue(m: &Matrix2<f64>) -> f64 {
    let (mean, half) = (0.5 * m.trace(), 0.5 * (m[(0, 0)] - m[(1, 1)]));
    mean - half.hypot(m[(0, 1)])
}
