//! Bending and twist at an inner vertex, between two segments.
//!
//! With t0 and t1 the tangents, phi the angle between them, b = t0 x t1 / sin phi and m the twist, over
//! the length l of the vertex (half of both segments at rest):
//!
//! E = B / (2 l) |kappa - kappa_0|^2 + C / (2 l) w(phi) m^2, kappa = phi b,
//!
//! where kappa is taken along the axes half-way between the two frames, and w = 1 up to a quarter of a
//! turn, sin^2 phi beyond.
//!
//! # Derivatives
//! A change of the tangents changes the angle by b x t1 . dt1 - b x t0 . dt0, the twist of frames that
//! are transported in time by tan(phi / 2) b . (dt0 + dt1) (Bergou et al. 2008, equation 9, with the
//! curvature binormal 2 tan(phi / 2) b), and the direction of b against the axes half-way by cot(phi / 2)
//! / 2 b . (dt1 - dt0). A rotation of all changes none of these, so forces and torques have no moment.

use nalgebra::Vector3;

use super::segment::Segment;

/// Sine of the angle between two segments below which their common normal is not used: all terms with
/// it are then those of a straight line.
const STRAIGHT: f64 = 1e-12;

/// Bending and twist of an inner vertex at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// Half of the two segments' lengths at rest \[m\].
    pub length: f64,
    /// Bending stiffness B \[N m^2\].
    pub bending: f64,
    /// Twist stiffness C \[N m^2\].
    pub twist: f64,
    /// Natural angle between the segments along the axes half-way between their frames \[rad\].
    pub natural: [f64; 2],
}

/// Energy of a bend, its forces and torques.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BendForces {
    /// Elastic energy \[J\].
    pub energy: f64,
    /// Derivatives of the energy with respect to the two edges \[N\].
    pub on_edges: [Vector3<f64>; 2],
    /// Torques about the tangents on the two segments' cross-sections \[N m\].
    pub torques: [f64; 2],
    /// Bound on the stiffness against changes of the angle, over the length \[N m\].
    pub stiffness: f64,
}

impl BendForces {
    /// What the second segment does on the first about the tangent, without the part of a natural curvature,
    /// which acts on both alike \[N m\].
    pub fn twisting_moment(&self) -> f64 {
        0.5 * (self.torques[0] - self.torques[1])
    }
}

/// How the tangents are, and the natural curvature's part.
struct Angles {
    angle: f64,
    sin: f64,
    cos: f64,
    binormal: Vector3<f64>,
}

impl Angles {
    fn of([first, second]: [&Segment; 2]) -> Self {
        let (cross, cos) = (first.tangent.cross(&second.tangent), first.tangent.dot(&second.tangent));
        let sin = cross.norm();
        let binormal = if sin > STRAIGHT { cross / sin } else { first.director };
        Self { angle: sin.atan2(cos), sin, cos, binormal }
    }

    /// The weight w of the twist's energy, its derivative, and its product with tan(phi / 2).
    fn twist_weight(&self) -> [f64; 3] {
        let Self { sin, cos, .. } = *self;
        if cos >= 0.0 {
            [1.0, 0.0, sin / (1.0 + cos)]
        } else {
            [sin * sin, 2.0 * sin * cos, sin * (1.0 - cos)]
        }
    }
}

impl Bend {
    /// The angle between two segments along the axes half-way between their frames \[rad\], for a twist
    /// `twist` \[rad\].
    pub fn angles(segments: [&Segment; 2], twist: f64) -> [f64; 2] {
        let angles = Angles::of(segments);
        let along = half_way(segments[0], &angles.binormal, twist);
        along.map(|part| angles.angle * part)
    }

    /// Energy, forces and torques for two segments with a `twist` between them \[rad\].
    pub fn forces(&self, segments: [&Segment; 2], twist: f64) -> BendForces {
        let angles = Angles::of(segments);
        let Angles { angle, cos, binormal: b, .. } = angles;
        let [p0, p1] = segments.map(|segment| b.cross(&segment.tangent));
        let (bending, twisting) = (self.bending / self.length, self.twist / self.length);
        let [weight, slope, weighted_tan] = angles.twist_weight();
        // dE/dphi, dE/d(twist) over its own derivative, dE/d(direction of b).
        let mut moment = bending * angle + 0.5 * twisting * twist * twist * slope;
        let torque = twisting * weight * twist;
        let around = twisting * weighted_tan * twist;
        let mut energy = 0.5 * (bending * angle * angle + twisting * weight * twist * twist);
        let (mut turning, mut torque_of_natural) = (0.0, 0.0);
        let [k0, k1] = self.natural;
        let has_natural = self.natural != [0.0; 2];
        if has_natural {
            let [along, beside] = half_way(segments[0], &b, twist);
            let (equal, unequal) = (k0 * along + k1 * beside, k1 * along - k0 * beside);
            energy += bending * (0.5 * (k0 * k0 + k1 * k1) - angle * equal);
            moment -= bending * equal;
            let ratio =
                if angles.sin > STRAIGHT { angle * (1.0 + cos) / (2.0 * angles.sin) } else { straight(cos) };
            turning = -bending * ratio * unequal;
            torque_of_natural = -0.5 * bending * angle * unequal;
        }
        let of_first = b * (around - turning) - p0 * moment;
        let of_second = b * (around + turning) + p1 * moment;
        BendForces {
            energy,
            on_edges: [of_first / segments[0].length, of_second / segments[1].length],
            torques: [torque + torque_of_natural, torque_of_natural - torque],
            stiffness: self.stiffness(&angles, twist, torque.abs()),
        }
    }

    /// Bound on the second derivative of the energy for unit changes of the tangents, see
    /// [`super::stability`] \[N m\].
    fn stiffness(&self, angles: &Angles, twist: f64, torque: f64) -> f64 {
        let [weight, _, weighted_tan] = angles.twist_weight();
        let tan_squared = if weight > 0.0 { weighted_tan * weighted_tan / weight } else { 0.0 };
        let natural = self.natural[0].hypot(self.natural[1]);
        let fold = if angles.cos < 0.0 { self.twist * twist * twist } else { 0.0 };
        let bending = self.bending * (1.0 + natural);
        (bending + self.twist * tan_squared + fold) / self.length + 0.5 * torque * (1.0 + tan_squared)
    }
}

/// Limit of phi cot(phi / 2) / 2 at no angle and at half a turn.
fn straight(cos: f64) -> f64 {
    if cos > 0.0 { 1.0 } else { 0.0 }
}

/// Cosine and sine of the direction of `binormal` in the frame of the `first` segment, turned back by half of
/// the twist.
fn half_way(first: &Segment, binormal: &Vector3<f64>, twist: f64) -> [f64; 2] {
    let (x, y) = (binormal.dot(&first.director), binormal.dot(&first.second()));
    let (sin, cos) = (0.5 * twist).sin_cos();
    [x * cos + y * sin, y * cos - x * sin]
}
