//! The affine part of the vertices' own motion, for zones that have moved rigidly. A rigid zone keeps every
//! distance in it, also those that may shrink: layers that bodies press together would be put back in
//! every step, against the bodies' contact, which then does its work again. Points do not meet in an
//! affine motion as long as its determinant is positive, as they do not in a rigid one: each zone also
//! takes on the affine motion that is nearest to what impulses alone led it to. It has the same momentum,
//! and lets a pile of layers become thinner and shear.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use super::zones::Zones;

type V3 = Vector3<f64>;

/// Least moment of second order of a zone in one direction, over the largest \[-\]: a million times as
/// wide as thick.
const LEAST_MOMENT: f64 = 1e-12;

/// Part of its volume that an affine motion leaves of a zone, at least \[-\].
const REMAINDER: f64 = 0.1;

/// How near to that part the motion is taken to end \[-\].
const TOLERANCE: f64 = 1e-3;

/// Steps after which the part of an affine motion is taken as found.
const MOST_STEPS: usize = 100;

/// Moves every zone on from `ends` by the affine part of the motion to `wanted`, the one nearest to it by
/// the squares of distances times masses. Held vertices of a zone stay where they have moved to.
pub(super) fn move_affinely(zones: &Zones, inverse_masses: &[f64], wanted: &[V3], ends: &mut [V3]) {
    for zone in zones.iter() {
        let of_held = zone.clone().filter(|v| inverse_masses[*v] == 0.0);
        let free = zone.filter(|v| inverse_masses[*v] > 0.0);
        let (center, moved, across) = match of_held.clone().next() {
            // The motion rests at all of them, so on the line, in the plane or the space between them.
            Some(held) => (ends[held], V3::zeros(), across_arms(of_held, &ends[held], ends)),
            None => {
                let (center, moved) = mean_motion(free.clone(), inverse_masses, wanted, ends);
                (center, moved, Matrix3::identity())
            }
        };
        let (mut moments, mut of_motion) = (Matrix3::zeros(), Matrix3::zeros());
        for v in free.clone() {
            let (m, arm) = (1.0 / inverse_masses[v], across * (ends[v] - center));
            moments += m * arm * arm.transpose();
            of_motion += m * (wanted[v] - ends[v] - moved) * arm.transpose();
        }
        // The search for eigenvalues need not end where a moment is not finite.
        if !moments.iter().chain(&of_motion).chain(&across).all(|x: &f64| x.is_finite()) {
            continue;
        }
        let gradient = of_motion * pseudo_inverse(&moments) * across;
        let gradient = gradient * part_without_a_meeting(&gradient);
        free.for_each(|v| ends[v] += gradient * (ends[v] - center));
    }
}

/// Centre of mass of vertices, and how far it moves to `wanted` from where they are \[m\].
fn mean_motion(
    vertices: impl Iterator<Item = usize>,
    inverse_masses: &[f64],
    wanted: &[V3],
    positions: &[V3],
) -> (V3, V3) {
    let (mut mass, mut center, mut moved) = (0.0, V3::zeros(), V3::zeros());
    for v in vertices {
        let m = 1.0 / inverse_masses[v];
        (mass, center, moved) = (mass + m, center + m * positions[v], moved + m * (wanted[v] - positions[v]));
    }
    (center / mass, moved / mass)
}

/// The projection across all directions from a centre to these vertices.
fn across_arms(vertices: impl Iterator<Item = usize>, center: &V3, positions: &[V3]) -> Matrix3<f64> {
    let arms = vertices.map(|v| positions[v] - center).filter(|arm| arm.norm_squared() > 0.0);
    let moments = arms.fold(Matrix3::zeros(), |sum, arm| sum + arm * arm.transpose());
    if !moments.iter().all(|x: &f64| x.is_finite()) {
        return moments;
    }
    Matrix3::identity() - moments * pseudo_inverse(&moments)
}

/// The inverse of moments of second order in the directions in which there are points.
fn pseudo_inverse(moments: &Matrix3<f64>) -> Matrix3<f64> {
    let eigen = SymmetricEigen::new(*moments);
    let least = LEAST_MOMENT * eigen.eigenvalues.max();
    let inverse = eigen.eigenvalues.map(|value| if value > least { 1.0 / value } else { 0.0 });
    eigen.eigenvectors * Matrix3::from_diagonal(&inverse) * eigen.eigenvectors.transpose()
}

/// The part t of a displacement gradient G up to which det(1 + t G) stays above [`REMAINDER`], at most 1.
/// Steps are so short that the cubic cannot pass it within one, with the bound of its second derivative
/// on the whole way.
fn part_without_a_meeting(gradient: &Matrix3<f64>) -> f64 {
    let trace = gradient.trace();
    let second = 0.5 * (trace * trace - (gradient * gradient).trace());
    let third = gradient.determinant();
    let bend = 2.0 * second.abs() + 6.0 * third.abs();
    let mut part = 0.0;
    for _ in 0..MOST_STEPS {
        let left = 1.0 + part * (trace + part * (second + part * third)) - REMAINDER;
        if left < TOLERANCE {
            return part;
        }
        let slope = trace + part * (2.0 * second + part * 3.0 * third);
        // Where left + slope s - bend s^2 / 2 is zero.
        let root = (slope * slope + 2.0 * bend * left).sqrt();
        let step = if slope < 0.0 { 2.0 * left / (root - slope) } else { (slope + root) / bend };
        part += step;
        // Nothing bends, and the determinant does not fall: the step is infinite or not a number.
        if part >= 1.0 || !step.is_finite() {
            return 1.0;
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use pliant_numeric::random::SplitMix64;

    use super::*;

    const SEED: u64 = 20_261_129;

    // The law: on the whole way that is allowed the determinant is at least the remainder, and the way is
    // not cut short where the determinant stays above it. Random gradients from a hundredth to a hundred,
    // each sampled at a thousand places.
    #[test]
    fn affine_motions_end_before_points_meet() {
        println!("seed {SEED}");
        let mut random = SplitMix64::new(SEED);
        let mut shortened = 0;
        for case in 0..3000 {
            let size = 10.0_f64.powf(random.uniform_in(-2.0, 2.0));
            let gradient: Matrix3<f64> = Matrix3::from_fn(|_, _| size * random.uniform_in(-1.0, 1.0));
            let determinant = |t: f64| (Matrix3::identity() + gradient * t).determinant();
            let part = part_without_a_meeting(&gradient);
            for sample in 0..=1000 {
                let left = determinant(part * f64::from(sample) / 1000.0);
                assert!(left >= REMAINDER - 1e-9 * size.powi(3).max(1.0), "case {case}: {left}");
            }
            if part < 1.0 {
                shortened += 1;
                assert!(determinant(part) < REMAINDER + TOLERANCE, "case {case}: cut short at {part}");
            }
        }
        println!("{shortened} of 3000 shortened");
        assert!(shortened > 300);
    }
}
