//! Bending: a quadratic energy of the angle at every edge with two faces (Grinspun, Hirani, Desbrun
//! and Schroeder 2003, "Discrete shells").
//!
//! E = 1/2 B |e|^2 / (A_1 + A_2) (theta - theta_0)^2, with |e| and the areas A of the rest mesh.
//! The weight is that of the paper up to its factor, which is chosen so that B is the bending
//! stiffness (moment per width over curvature) of a sheet rolled up along any side of a mesh of
//! rectangles, and along any direction of a mesh of equilateral triangles. Across other meshes B
//! depends somewhat on the direction, as it does in the paper. A strip whose edges are free to curl
//! is softer, as that of a plate is by 1 - nu^2: by about 15 % where it is two rectangles wide,
//! because of their diagonals. A plate of Young's modulus E and thickness t has B = E t^3 / (12
//! (1 - nu^2)); cloth has much less.
//!
//! Gradient of the angle: moving a wing's tip along its normal rotates that face by the
//! displacement over the altitude, and the edge's ends get the opposite in the ratio of the lever
//! arms (Bridson, Marino and Fedkiw 2003; Tamstorf and Grinspun 2013).

use super::mesh::ClothMesh;
use nalgebra::Vector3;

/// An edge between two faces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// The edge's ends, then the tip of the face on its left, then that of the other face.
    pub vertices: [usize; 4],
    /// Angle at rest \[rad\].
    pub rest_angle: f64,
    /// Moment per angle \[N m\].
    pub stiffness: f64,
}

impl Hinge {
    /// The hinges of a mesh whose sheet has a bending stiffness B \[N m\].
    pub fn all(mesh: &ClothMesh, bending_stiffness: f64) -> Vec<Self> {
        let hinge = |edge: &super::Edge| {
            let (other, tip) = edge.other?;
            let [a, b] = edge.vertices;
            let vertices = [a, b, edge.opposite, tip];
            let length_squared = (mesh.vertices()[b] - mesh.vertices()[a]).norm_squared();
            let stiffness = bending_stiffness * length_squared / (mesh.area(edge.face) + mesh.area(other));
            Some(Self { vertices, rest_angle: angle(&vertices.map(|v| mesh.vertices()[v])), stiffness })
        };
        mesh.edges().iter().filter_map(hinge).collect()
    }

    /// Difference of the angle from that at rest \[rad\], within (-pi, pi]; corners \[m\] in the
    /// order of `vertices`.
    fn angle_from_rest(&self, corners: &[Vector3<f64>; 4]) -> f64 {
        let bend = angle(corners) - self.rest_angle;
        bend - core::f64::consts::TAU * (bend / core::f64::consts::TAU).round()
    }

    /// Energy \[J\] at corners (m, world frame) in the order of `vertices`.
    pub fn energy(&self, corners: &[Vector3<f64>; 4]) -> f64 {
        0.5 * self.stiffness * self.angle_from_rest(corners).powi(2)
    }

    /// Forces (N, world frame) on the four vertices.
    pub fn forces(&self, corners: &[Vector3<f64>; 4]) -> [Vector3<f64>; 4] {
        let moment = -self.stiffness * self.angle_from_rest(corners);
        angle_gradient(corners).map(|g| moment * g)
    }
}

/// Edge, and the two faces' normals (twice their areas).
fn normals(&[a, b, left, right]: &[Vector3<f64>; 4]) -> [Vector3<f64>; 3] {
    let edge = b - a;
    [edge, edge.cross(&(left - a)), (right - a).cross(&edge)]
}

/// Angle from the left face's normal to the other's about the edge [rad]: negative where the tips
/// are above the edge.
fn angle(corners: &[Vector3<f64>; 4]) -> f64 {
    let [edge, left, right] = normals(corners);
    left.cross(&right).dot(&edge).atan2(left.dot(&right) * edge.norm())
}

/// Derivative of [`angle`] with respect to the corners \[rad/m\]; zero for a face that has
/// collapsed.
fn angle_gradient(corners: &[Vector3<f64>; 4]) -> [Vector3<f64>; 4] {
    let [edge, left, right] = normals(corners);
    let length = edge.norm();
    let (left_squared, right_squared) = (left.norm_squared(), right.norm_squared());
    if !(left_squared > 0.0 && right_squared > 0.0) {
        return [Vector3::zeros(); 4];
    }
    let of_left = left * (-length / left_squared);
    let of_right = right * (-length / right_squared);
    // Where the tips' feet are along the edge, 0 at its first end and 1 at its second.
    let foot = |tip: usize| (corners[tip] - corners[0]).dot(&edge) / (length * length);
    let (s, t) = (foot(2), foot(3));
    let first = -(of_left * (1.0 - s) + of_right * (1.0 - t));
    let second = -(of_left * s + of_right * t);
    [first, second, of_left, of_right]
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_testing::random::Random;

    fn random_hinge(random: &mut Random) -> (Hinge, [Vector3<f64>; 4]) {
        let mut point = |x: f64, y: f64| Vector3::new(x, y, 0.0) + Vector3::from(random.vec3(-0.3, 0.3).0);
        let corners = [point(0.0, 0.0), point(1.0, 0.0), point(0.5, 1.0), point(0.5, -1.0)];
        (Hinge { vertices: [0, 1, 2, 3], rest_angle: 0.3, stiffness: 2.0 }, corners)
    }

    /// Force = -dE/dx, by central differences with step 1e-6: 1e-6 of the stiffness over the edge.
    /// No net force and no net moment, to rounding.
    #[test]
    fn forces_are_the_derivative_of_the_energy() {
        let mut random = Random(61);
        for _ in 0..100 {
            let (hinge, corners) = random_hinge(&mut random);
            let forces = hinge.forces(&corners);
            let step = 1e-6;
            for corner in 0..4 {
                for axis in 0..3 {
                    let at = |sign: f64| {
                        let mut moved = corners;
                        moved[corner][axis] += sign * step;
                        hinge.energy(&moved)
                    };
                    let difference = -(at(1.0) - at(-1.0)) / (2.0 * step);
                    assert!((difference - forces[corner][axis]).abs() < 2e-6, "{corners:?}");
                }
            }
            let net: Vector3<f64> = forces.iter().sum();
            let moment: Vector3<f64> = corners.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
            assert!(net.norm() < 1e-13 && moment.norm() < 1e-13, "{net} {moment}");
        }
    }

    /// A sheet rolled to a cylinder of curvature k has energy B k^2 / 2 an area: rectangles along a
    /// side, equilateral triangles in any direction (there with the curvature's second-order error,
    /// so a small one).
    #[test]
    fn cylinder_has_the_energy_of_the_bending_stiffness() {
        let stiffness = 0.7;
        let (curvature, edge) = (1e-3, 0.1);
        let roll = |x: &Vector3<f64>, direction: f64| {
            let s = x.x * direction.cos() + x.y * direction.sin();
            Vector3::new(x.x, x.y, 0.5 * curvature * s * s)
        };
        let energy = |mesh: &ClothMesh, inside: &dyn Fn(&Hinge) -> f64, direction: f64| -> f64 {
            let moved: Vec<_> = mesh.vertices().iter().map(|x| roll(x, direction)).collect();
            Hinge::all(mesh, stiffness)
                .iter()
                .map(|h| inside(h) * h.energy(&h.vertices.map(|v| moved[v])))
                .sum()
        };
        let (x, y) = (Vector3::x(), Vector3::y());
        let strip = ClothMesh::rectangle(Vector3::zeros(), x, 0.3 * y, [10, 2]).unwrap();
        // Nine of ten columns have their own row of hinges; the ends have none.
        let expected = 0.5 * stiffness * curvature * curvature * 0.3 * 0.9;
        assert!((energy(&strip, &|_| 1.0, 0.0) / expected - 1.0).abs() < 1e-5);

        // The disc's six sectors are equilateral triangles; edges within the inner hexagon count
        // whole.
        let up = 3.0_f64.sqrt() / 2.0;
        let mut vertices = Vec::new();
        let mut faces = Vec::new();
        let n = 12;
        for i in 0..=n {
            for j in 0..=n {
                vertices.push(edge * Vector3::new(i as f64 + 0.5 * j as f64, up * j as f64, 0.0));
            }
        }
        for i in 0..n {
            for j in 0..n {
                let [a, b, c, d] =
                    [i * (n + 1) + j, (i + 1) * (n + 1) + j, (i + 1) * (n + 1) + j + 1, i * (n + 1) + j + 1];
                faces.extend([[a, b, d], [b, c, d]]);
            }
        }
        let mesh = ClothMesh::new(vertices, faces).unwrap();
        // Three edges a vertex: those that start in a patch of the lattice, which has 2 faces a
        // vertex.
        let inside = |h: &Hinge| {
            let first = h.vertices[0].min(h.vertices[1]);
            let (i, j) = (first / (n + 1), first % (n + 1));
            f64::from(u8::from((2..n - 2).contains(&i) && (2..n - 2).contains(&j)))
        };
        let area = ((n - 4) * (n - 4)) as f64 * edge * edge * up;
        for direction in [0.0, 0.2, 0.7, 1.3] {
            let ratio = energy(&mesh, &inside, direction) / (0.5 * stiffness * curvature * curvature * area);
            assert!((ratio - 1.0).abs() < 1e-4, "{direction} {ratio}");
        }
    }
}
