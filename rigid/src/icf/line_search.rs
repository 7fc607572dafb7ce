//! Exact line search: the least cost along a direction, by Newton on the slope with bisection as
//! its safeguard, begun at the minimum of the cubic through both ends of the full step.

/// Cost and its first two derivatives along a line.
pub(super) type Along<'a> = &'a mut dyn FnMut(f64) -> [f64; 3];

/// Evaluations allowed: bisection alone narrows 1e-300..1 to rounding in some fifty.
const MOST: usize = 100;
/// Part of the slope at the start that may remain: Newton's next step makes good what is left, and
/// every evaluation goes over all constraints.
const SLOPE: f64 = 1e-3;

/// A step length and how many evaluations it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LineSearchResult {
    pub alpha: f64,
    pub evaluations: usize,
}

/// The minimiser along the line, from cost `l0` and slope `d0 < 0` at its start.
pub(super) fn search(along: Along<'_>, l0: f64, d0: f64) -> LineSearchResult {
    let [l1, d1, _] = along(1.0);
    let mut evaluations = 1;
    // Still descending or as good as level at the end of Newton's own step: beyond it, the model
    // that made the step says, lies nothing.
    if d1 <= SLOPE * d0.abs() {
        return LineSearchResult { alpha: 1.0, evaluations };
    }
    // A bracket: the slope is negative at its lower end, positive at its upper.
    let (mut low, mut high) = (0.0, 1.0);
    let mut alpha = cubic_minimum(l0, d0, l1, d1);
    while evaluations < MOST {
        if !(alpha > low && alpha < high) {
            alpha = 0.5 * (low + high);
        }
        let [_, d, curvature] = along(alpha);
        evaluations += 1;
        if d.abs() <= SLOPE * d0.abs() || high - low <= f64::EPSILON * high {
            break;
        }
        if d < 0.0 {
            low = alpha
        } else {
            high = alpha
        }
        alpha -= d / curvature;
    }
    LineSearchResult { alpha, evaluations }
}

/// Where the cubic with these values and slopes at 0 and 1 is least, within (0, 1); NaN where it is
/// nowhere.
fn cubic_minimum(l0: f64, d0: f64, l1: f64, d1: f64) -> f64 {
    let rise = l1 - l0;
    let (a, b) = (d0 + d1 - 2.0 * rise, 3.0 * rise - 2.0 * d0 - d1);
    // Root of 3 a x^2 + 2 b x + d0 with positive curvature, in the form that does not cancel.
    -d0 / (b + (b * b - 3.0 * a * d0).max(0.0).sqrt())
}
