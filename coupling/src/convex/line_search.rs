//! The exact line search: the objective along a direction is convex and smooth, and costs one pass
//! over the contacts' rays at any step length.

use super::kernels::{LineSearchLanes, along};
use super::layout::ContactModelLanes;

/// The objective along a direction: `l(alpha) = l(0) + alpha slope + alpha^2/2 |d|_M^2 + contacts`.
pub(super) struct LineObjective<'a> {
    pub contact_models: &'a [ContactModelLanes],
    pub line_search_lanes: &'a [LineSearchLanes],
    /// Derivative of the whole objective at zero \[J\]: gradient times direction.
    pub slope: f64,
    /// `|d|_M^2` \[J\].
    pub mass_curvature: f64,
    /// Size of the terms whose difference the slope is \[J\], which sets how far it can be
    /// resolved.
    pub term_magnitude: f64,
    /// A step length to try first; without one it is that of the quadratic model at zero.
    pub trial: Option<f64>,
}

/// What the search found.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineSearchResult {
    /// The step length.
    pub alpha: f64,
    /// Evaluations.
    pub evaluations: usize,
}

/// The search stops where the slope has fallen to this fraction of the first one: steps beyond that
/// gain nothing for any of the directions.
const SLOPE_REDUCTION: f64 = 0.02;

/// Evaluations after which the best bracket is taken: bisection alone has then resolved f64.
const MOST_EVALUATIONS: usize = 60;

/// Minimises along the line: Newton on the slope, safeguarded by a bracket; the first step inside a
/// bracket is the minimum of the cubic through values and slopes at its ends.
pub(super) fn search(line: &LineObjective) -> LineSearchResult {
    if line.slope >= 0.0 || line.slope.is_nan() {
        return LineSearchResult { alpha: 0.0, evaluations: 0 };
    }
    let at_zero = along(line.contact_models, line.line_search_lanes, 0.0);
    let value = |sums: [f64; 3], alpha: f64| {
        // The linear part of the mass term follows from the whole slope.
        let linear = line.slope - at_zero[1];
        (sums[0] - at_zero[0]) + alpha * linear + 0.5 * alpha * alpha * line.mass_curvature
    };
    let slope =
        |sums: [f64; 3], alpha: f64| line.slope + (sums[1] - at_zero[1]) + alpha * line.mass_curvature;
    let newton = -line.slope / (at_zero[2] + line.mass_curvature);
    let rounding = 8.0 * f64::EPSILON * line.term_magnitude;
    // The slope is lost in rounding: only the quadratic model is left, and its step is as good as
    // any.
    if -line.slope * SLOPE_REDUCTION <= rounding {
        return LineSearchResult { alpha: newton, evaluations: 1 };
    }
    let target = -line.slope * SLOPE_REDUCTION;
    let (mut low, mut low_value, mut low_slope) = (0.0, 0.0, line.slope);
    let mut high: Option<(f64, f64, f64)> = None;
    let mut alpha = line.trial.unwrap_or(newton);
    let mut width_before = f64::INFINITY;
    for evaluation in 1..=MOST_EVALUATIONS {
        let sums = along(line.contact_models, line.line_search_lanes, alpha);
        let (l, dl, ddl) = (value(sums, alpha), slope(sums, alpha), sums[2] + line.mass_curvature);
        let enough = dl.abs() <= target && l <= rounding;
        if enough || evaluation == MOST_EVALUATIONS {
            let alpha = if enough { alpha } else { low };
            return LineSearchResult { alpha, evaluations: evaluation + 1 };
        }
        if dl < 0.0 {
            (low, low_value, low_slope) = (alpha, l, dl);
        } else {
            high = Some((alpha, l, dl));
        }
        let step = alpha - dl / ddl;
        alpha = match high {
            None => step,
            Some((end, end_value, end_slope)) => {
                let width = end - low;
                let halved = width < 0.5 * width_before;
                width_before = width;
                let inside = |a: f64| a > low + 1e-3 * width && a < end - 1e-3 * width;
                let cubic = cubic_minimum([low, low_value, low_slope], [end, end_value, end_slope]);
                if evaluation == 1 && inside(cubic) {
                    cubic
                } else if halved && inside(step) {
                    step
                } else {
                    low + 0.5 * width
                }
            }
        };
    }
    LineSearchResult { alpha: low, evaluations: MOST_EVALUATIONS + 1 }
}

/// Minimum of the cubic Hermite interpolant through `[position, value, slope]` at two points
/// (Nocedal and Wright 2006, eq. 3.59); not a number where there is none.
fn cubic_minimum(a: [f64; 3], b: [f64; 3]) -> f64 {
    let d1 = a[2] + b[2] - 3.0 * (a[1] - b[1]) / (a[0] - b[0]);
    let d2 = (d1 * d1 - a[2] * b[2]).sqrt();
    b[0] - (b[0] - a[0]) * (b[2] + d2 - d1) / (b[2] - a[2] + 2.0 * d2)
}
