//! Polynomials of the fifth degree in time.

/// Value and slope at s, from 0 to 1, of the quintic polynomial with the given ends and slopes and
/// zero curvature at both ends.
pub(super) fn quintic(from: f64, to: f64, slope0: f64, slope1: f64, s: f64) -> [f64; 2] {
    let displacement = to - from;
    let c3 = 10.0 * displacement - 6.0 * slope0 - 4.0 * slope1;
    let c4 = -15.0 * displacement + 8.0 * slope0 + 7.0 * slope1;
    let c5 = 6.0 * displacement - 3.0 * slope0 - 3.0 * slope1;
    [
        from + s * (slope0 + s * s * (c3 + s * (c4 + s * c5))),
        slope0 + s * s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)),
    ]
}
