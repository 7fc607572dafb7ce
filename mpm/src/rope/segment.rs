//! A segment with its material frame: parallel transport in time and along the line.

use nalgebra::Vector3;

/// Length over that at rest below which the direction of a segment is that before: one that is pressed to
/// nothing has none.
const COLLAPSED: f64 = 1e-6;

/// A segment of a rope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// From its first vertex to the second (m, world frame).
    pub edge: Vector3<f64>,
    /// Direction of the edge (no unit).
    pub tangent: Vector3<f64>,
    /// Length of the edge \[m\].
    pub length: f64,
    /// First axis of the material frame, across the tangent (unit vector).
    pub director: Vector3<f64>,
    /// Angular velocity of the cross-section about the tangent \[rad/s\].
    pub spin: f64,
}

impl Segment {
    /// Not a segment: what stands after the last one of a rope.
    pub const NONE: Self = Self {
        edge: Vector3::new(0.0, 0.0, 1.0),
        tangent: Vector3::new(0.0, 0.0, 1.0),
        length: 1.0,
        director: Vector3::new(1.0, 0.0, 0.0),
        spin: 0.0,
    };

    /// A segment at rest along `edge` \[m\], with a frame transported from that of the one before, or any
    /// frame for a first one, turned by `twist` about its tangent \[rad\].
    pub fn after(before: Option<&Self>, edge: Vector3<f64>, twist: f64) -> Self {
        let length = edge.norm();
        let tangent = edge / length;
        let director = match before {
            Some(before) => transport(&before.tangent, &tangent, &before.director),
            // The axis that is farthest from the tangent spans a plane with it.
            None => tangent.cross(&Vector3::ith(tangent.iamin(), 1.0)),
        };
        let director = turned(&tangent, &across(&tangent, &director), twist);
        Self { edge, tangent, length, director, spin: 0.0 }
    }

    /// Its second axis, tangent x director.
    pub fn second(&self) -> Vector3<f64> {
        self.tangent.cross(&self.director)
    }

    /// The segment along a new `edge` \[m\] (`rest` long at rest \[m\]), its frame transported there and
    /// turned by `angle` \[rad\]. The spin keeps its part along the new tangent; what is left of its
    /// vector, as a multiple of the moment of inertia \[rad/s\], is the second result: it is across the
    /// new tangent, and goes to the vertices.
    pub fn carried(&self, edge: Vector3<f64>, rest: f64, angle: f64) -> (Self, Vector3<f64>) {
        let length = edge.norm();
        let (tangent, length) = if length > COLLAPSED * rest {
            (edge / length, length)
        } else {
            (self.tangent, COLLAPSED * rest)
        };
        let moved = transport(&self.tangent, &tangent, &self.director);
        let director = turned(&tangent, &across(&tangent, &moved), angle);
        let spin = self.spin * self.tangent.dot(&tangent);
        let left = self.spin * self.tangent - spin * tangent;
        (Self { edge, tangent, length, director, spin }, left)
    }

    /// Impulse on the second vertex, opposite on the first, that has this moment (N m s, across the
    /// tangent) \[N s\].
    pub fn couple(&self, moment: &Vector3<f64>) -> Vector3<f64> {
        moment.cross(&self.tangent) / self.length
    }

    /// Angle from the frame of `self`, transported along the line, to that of the `next` segment; of all
    /// that differ by whole turns the one nearest to `guess` \[rad\].
    pub fn twist_to(&self, next: &Self, guess: f64) -> f64 {
        let moved = transport(&self.tangent, &next.tangent, &self.director);
        let (x, y) = (moved.dot(&next.director), next.tangent.dot(&moved.cross(&next.director)));
        let angle = y.atan2(x);
        angle + core::f64::consts::TAU * ((guess - angle) / core::f64::consts::TAU).round()
    }
}

/// The rotation that takes the unit vector `from` to `to` on the shortest way, applied to `vector`
/// (Bergou et al. 2008, section 4.2.2).
pub fn transport(from: &Vector3<f64>, to: &Vector3<f64>, vector: &Vector3<f64>) -> Vector3<f64> {
    let (axis, cos) = (from.cross(to), from.dot(to));
    if 1.0 + cos < 1e-12 {
        // Half a turn: about the vector itself, which then stays.
        return *vector;
    }
    vector + axis.cross(vector) + axis * (axis.dot(vector) / (1.0 + cos))
        - axis.norm_squared() / (1.0 + cos) * vector
}

/// The unit vector across `tangent` that is nearest to `vector`.
fn across(tangent: &Vector3<f64>, vector: &Vector3<f64>) -> Vector3<f64> {
    (vector - tangent * tangent.dot(vector)).normalize()
}

/// `vector`, across `tangent`, turned about it by `angle` \[rad\].
fn turned(tangent: &Vector3<f64>, vector: &Vector3<f64>, angle: f64) -> Vector3<f64> {
    let (sin, cos) = angle.sin_cos();
    vector * cos + tangent.cross(vector) * sin
}
