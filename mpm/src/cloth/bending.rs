//! Bending: a quadratic energy of the curvature of every face, which is found from the angles at its
//! edges.
//!
//! # Curvature
//! An edge of length l between faces of areas A_1 and A_2 is bent by an angle theta beyond that at
//! rest. Spread over both faces this is a curvature a = l theta / (A_1 + A_2) \[1/m\] across the edge,
//! and a face has the curvature tensor
//!
//! kappa = sum over its edges of a n n^T,
//!
//! with n the edge's normal in the face's plane at rest: the mean over the face of the change of its
//! normal, by the divergence theorem, where the normal at an edge is that between its faces, nearer to
//! the larger one (Onate and Cervera 1993, "Derivation of thin plate bending elements with one degree
//! of freedom per node", with the edge's normal halfway; Gingold, Secord, Han, Grinspun and Zorin 2004,
//! "A discrete model for inelastic deformation of thin shells", for large angles). An edge of the
//! boundary counts as not bent.
//!
//! # Energy
//! E = 1/2 B sum over faces of A |kappa|^2, so that the moment per width is B kappa: a plate without
//! Poisson's ratio in bending. A strip of any width, with free edges, then has bending stiffness B
//! (moment per width over curvature). The moment at an edge is B A (n . kappa n) of both faces, so a
//! uniform moment is in equilibrium at every inner vertex of every mesh. Where uniform curvature is in
//! reach, as on rectangles along their sides, the stiffness of the mesh is B exactly. On irregular
//! meshes it is larger: by about 3 % where vertices are moved at random by up to 0.15 of an edge, and 8
//! % at 0.25.
//!
//! Without the products of different edges of a face this is the energy of Grinspun, Hirani, Desbrun
//! and Schroeder (2003), "Discrete shells". That alone is not enough: with it a strip of rectangles
//! bends and twists at once, because its diagonals are bent by twist only, and is softer by a fifth,
//! at every refinement.
//!
//! # Woven fabrics
//! Stiffness by direction puts kappa : D : kappa in place of B |kappa|^2, with D that of
//! [`super::weave`]. The moment at an edge is then A (n n^T : D : kappa) of both faces: products of
//! two edges have n n^T : D : n' n'^T in place of B (n . n')^2, and that of an edge with itself is
//! no longer B.
//!
//! # Friction
//! A fabric's own friction adds moments that depend on how it was bent
//! ([`super::bending_friction`]).
//!
//! # Clamps
//! A face whose three vertices are held does not bend: A = 0 for it, and all of the angle at its
//! edges is that of the other face. So a sheet is clamped at the border of its held faces.
//!
//! # Gradient of the angle
//! Moving a wing's tip along its normal rotates that face by the displacement over the altitude, and
//! the edge's ends get the opposite in the ratio of the lever arms (Bridson, Marino and Fedkiw 2003;
//! Tamstorf and Grinspun 2013).

use super::mesh::ClothMesh;
use nalgebra::Vector3;

/// An edge between two faces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// The edge's ends, then the tip of the face on its left, then that of the other face.
    pub vertices: [usize; 4],
    /// Angle at rest \[rad\].
    pub rest_angle: f64,
    /// Length of the edge at rest \[m\]; 0 where it is cut ([`Hinge::cut`]).
    pub length: f64,
    /// Areas of the two faces at rest \[m^2\].
    pub areas: [f64; 2],
    /// n n^T : D : n n^T / B of each of its faces (no unit); 1 where the fabric is isotropic.
    pub couplings: [f64; 2],
    /// For each of its faces, the hinges at that face's other edges.
    pub neighbours: [[Neighbour; 2]; 2],
    /// Bending stiffness B \[N m\]; the largest of a woven fabric.
    pub stiffness: f64,
}

/// Another hinge of the same face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its number; that of the hinge itself where the face's edge is one of the boundary.
    pub hinge: usize,
    /// (n . n')^2 of the normals of the two edges, or n n^T : D : n' n'^T / B (no unit); zero at
    /// the boundary.
    pub coupling: f64,
}

impl Hinge {
    /// The hinges of a mesh whose sheet has a bending stiffness B \[N m\].
    pub fn all(mesh: &ClothMesh, bending_stiffness: f64) -> Vec<Self> {
        // Normals in one plane have the angle of their edges; that of an edge and itself is exactly
        // 1.
        Self::with(mesh, bending_stiffness, |_, [a, b]| if a == b { 1.0 } else { a.dot(&b).powi(2) })
    }

    /// The hinges at the edges of each face.
    pub fn of_faces(mesh: &ClothMesh) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new(); mesh.faces().len()];
        let inner = mesh.edges().iter().filter_map(|edge| Some([edge.face, edge.other?.0]));
        for (hinge, faces) in inner.enumerate() {
            faces.iter().for_each(|face| all[*face].push(hinge));
        }
        all
    }

    /// Cuts the sheet's bending at the edge: one of its faces has torn. It has no curvature and no moment
    /// any more.
    pub fn cut(&mut self) {
        self.length = 0.0;
    }

    /// The hinges of a woven fabric that has these bending stiffnesses along the warp, along the
    /// weft and against twist \[N m\], not all zero, and the warp's direction in the material frame
    /// of each face.
    pub fn woven(mesh: &ClothMesh, stiffnesses: [f64; 3], warps: &[[f64; 2]]) -> Vec<Self> {
        let largest = stiffnesses.into_iter().fold(0.0, f64::max);
        let [of_warp, of_weft, of_twist] = stiffnesses.map(|stiffness| stiffness / largest);
        Self::with(mesh, largest, |face, edges| {
            let [a, b, c] = mesh.corners(face);
            let first = (b - a).normalize();
            let second = (b - a).cross(&(c - a)).normalize().cross(&first);
            let [c, s] = warps[face];
            let (warp, weft) = (first * c + second * s, second * c - first * s);
            // The edge's normal along the warp is its direction along the weft, and the other way
            // round.
            let [x, y] = edges.map(|edge| [edge.dot(&weft), -edge.dot(&warp)]);
            let [aa, bb] = [0, 1].map(|k| (x[k] * y[k]).powi(2));
            of_warp * aa + of_weft * bb + 2.0 * of_twist * x[0] * y[0] * x[1] * y[1]
        })
    }

    /// The hinges of a mesh of this stiffness \[N m\]; `coupling` has n n^T : D : n' n'^T / B of
    /// two edges of a face with these directions.
    fn with(
        mesh: &ClothMesh,
        stiffness: f64,
        coupling: impl Fn(usize, [Vector3<f64>; 2]) -> f64,
    ) -> Vec<Self> {
        // Of each face its edges that are hinges: number of the hinge and direction (no unit).
        let mut of_faces = vec![[None; 3]; mesh.faces().len()];
        let inner = || mesh.edges().iter().filter_map(|edge| Some((edge, edge.other?)));
        let along = |[a, b]: [usize; 2]| mesh.vertices()[b] - mesh.vertices()[a];
        for (number, (edge, (other, _))) in inner().enumerate() {
            for face in [edge.face, other] {
                let of_face: &mut [Option<(usize, Vector3<f64>)>; 3] = &mut of_faces[face];
                if let Some(free) = of_face.iter_mut().find(|place| place.is_none()) {
                    *free = Some((number, along(edge.vertices).normalize()));
                }
            }
        }
        let hinge = |(number, (edge, (other, tip))): (usize, (&super::Edge, (usize, usize)))| {
            let direction = along(edge.vertices).normalize();
            let neighbours = [edge.face, other].map(|face| {
                let mut found = [Neighbour { hinge: number, coupling: 0.0 }; 2];
                let others = of_faces[face].iter().flatten().filter(|(hinge, _)| *hinge != number);
                for (place, &(hinge, along)) in found.iter_mut().zip(others) {
                    *place = Neighbour { hinge, coupling: coupling(face, [along, direction]) };
                }
                found
            });
            let [a, b] = edge.vertices;
            let vertices = [a, b, edge.opposite, tip];
            Self {
                vertices,
                rest_angle: angle(&vertices.map(|v| mesh.vertices()[v])),
                length: along(edge.vertices).norm(),
                areas: [edge.face, other].map(|face| mesh.area(face)),
                couplings: [edge.face, other].map(|face| coupling(face, [direction; 2])),
                neighbours,
                stiffness,
            }
        };
        inner().enumerate().map(hinge).collect()
    }

    /// The areas of its faces that bend, that is of those whose vertices are not all held \[m^2\].
    fn bending_areas(&self, [a, b, left, right]: [bool; 4]) -> [f64; 2] {
        let of = |area: f64, tip: bool| if a && b && tip { 0.0 } else { area };
        [of(self.areas[0], left), of(self.areas[1], right)]
    }

    /// Curvature across the edge over its angle \[1/m\]; zero between held faces.
    fn curvature_per_angle(&self, held: [bool; 4]) -> f64 {
        let [left, right] = self.bending_areas(held);
        if left + right > 0.0 { self.length / (left + right) } else { 0.0 }
    }

    /// Curvature a across the edge \[1/m\], beyond that at rest; corners \[m\], and whether they are
    /// held, in the order of `vertices`.
    pub fn curvature(&self, corners: &[Vector3<f64>; 4], held: [bool; 4]) -> f64 {
        self.curvature_per_angle(held) * self.angle_from_rest(corners)
    }

    /// Moment that the faces set against the edge's angle \[N m\], of the curvatures of all hinges
    /// \[1/m\].
    pub fn moment(&self, own: f64, curvature: impl Fn(usize) -> f64, held: [bool; 4]) -> f64 {
        let [left, right] = self.bending_areas(held);
        let of = |area: f64, face: usize| {
            let alone = self.couplings[face] * own;
            area * self.neighbours[face]
                .iter()
                .fold(alone, |sum, n| n.coupling.mul_add(curvature(n.hinge), sum))
        };
        let across = of(left, 0) + of(right, 1);
        self.stiffness * self.curvature_per_angle(held) * across
    }

    /// The same of what moments of its faces do at it, a sum of A (n . m n) over the faces with areas A,
    /// normals n and moments per width m \[N m^2\].
    pub fn moment_of_faces(&self, sum: f64, held: [bool; 4]) -> f64 {
        self.curvature_per_angle(held) * sum
    }

    /// Its share of the energy, of its moment \[J\].
    pub fn energy(&self, corners: &[Vector3<f64>; 4], moment: f64) -> f64 {
        0.5 * moment * self.angle_from_rest(corners)
    }

    /// Difference of the angle from that at rest \[rad\], within (-pi, pi]; corners \[m\] in the
    /// order of `vertices`.
    fn angle_from_rest(&self, corners: &[Vector3<f64>; 4]) -> f64 {
        let bend = angle(corners) - self.rest_angle;
        bend - core::f64::consts::TAU * (bend / core::f64::consts::TAU).round()
    }
}

/// Forces (N, world frame) on a hinge's four vertices, of its moment \[N m\].
pub fn forces(corners: &[Vector3<f64>; 4], moment: f64) -> [Vector3<f64>; 4] {
    angle_gradient(corners).map(|g| -moment * g)
}

/// Whole sheets, serially.
pub(crate) mod serial {
    use super::{Hinge, forces};
    use nalgebra::Vector3;

    /// Moments of all hinges \[N m\] with the vertices' positions \[m\] and whether they are held.
    fn moments(hinges: &[Hinge], x: &[Vector3<f64>], held: &[bool]) -> Vec<f64> {
        let of = |h: &Hinge| h.curvature(&h.vertices.map(|v| x[v]), h.vertices.map(|v| held[v]));
        let curvatures: Vec<f64> = hinges.iter().map(of).collect();
        let moment =
            |(h, own): (&Hinge, &f64)| h.moment(*own, |other| curvatures[other], h.vertices.map(|v| held[v]));
        hinges.iter().zip(&curvatures).map(moment).collect()
    }

    /// Energy \[J\].
    pub(crate) fn energy(hinges: &[Hinge], x: &[Vector3<f64>], held: &[bool]) -> f64 {
        let moments = moments(hinges, x, held);
        hinges.iter().zip(moments).map(|(h, m)| h.energy(&h.vertices.map(|v| x[v]), m)).sum()
    }

    /// Adds the forces on the vertices \[N\], with those of other moments at the hinges \[N m\].
    pub(crate) fn add_forces(
        (hinges, others): (&[Hinge], &[f64]),
        x: &[Vector3<f64>],
        held: &[bool],
        all: &mut [Vector3<f64>],
    ) {
        for ((hinge, moment), other) in hinges.iter().zip(moments(hinges, x, held)).zip(others) {
            let moment = moment + other;
            for (&vertex, force) in hinge.vertices.iter().zip(forces(&hinge.vertices.map(|v| x[v]), moment)) {
                all[vertex] += force;
            }
        }
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

    /// Vertices of a mesh, moved at random, some of them held.
    fn crumpled(random: &mut Random, mesh: &ClothMesh) -> (Vec<Vector3<f64>>, Vec<bool>) {
        let moved = mesh.vertices().iter().map(|x| x + Vector3::from(random.vec3(-0.03, 0.03).0)).collect();
        let held = mesh.vertices().iter().map(|_| random.unit() < 0.3).collect();
        (moved, held)
    }

    /// Force = -dE/dx, by central differences with step 1e-6: 1e-6 of the largest force. No net force
    /// and no net moment, to rounding. Some faces are held, so that their edges are clamps.
    #[test]
    fn forces_are_the_derivative_of_the_energy() {
        let mut random = Random(61);
        let mesh = ClothMesh::rectangle(Vector3::zeros(), Vector3::x() * 0.4, Vector3::y() * 0.3, [4, 3]);
        let mesh = mesh.unwrap();
        let hinges = Hinge::all(&mesh, 2.0);
        for _ in 0..20 {
            let (x, held) = crumpled(&mut random, &mesh);
            let mut forces = vec![Vector3::zeros(); x.len()];
            serial::add_forces((&hinges, &vec![0.0; hinges.len()]), &x, &held, &mut forces);
            let scale = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
            let step = 1e-6;
            for vertex in 0..x.len() {
                for axis in 0..3 {
                    let at = |sign: f64| {
                        let mut moved = x.clone();
                        moved[vertex][axis] += sign * step;
                        serial::energy(&hinges, &moved, &held)
                    };
                    let difference = -(at(1.0) - at(-1.0)) / (2.0 * step);
                    assert!((difference - forces[vertex][axis]).abs() < 1e-6 * scale, "{vertex} {axis}");
                }
            }
            let net: Vector3<f64> = forces.iter().sum();
            let moment: Vector3<f64> = x.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
            assert!(net.norm() < 1e-12 * scale && moment.norm() < 1e-12 * scale, "{net} {moment}");
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
            let hinges = Hinge::all(mesh, stiffness);
            let corners = |h: &Hinge| h.vertices.map(|v| moved[v]);
            let curvature = |h: &Hinge| h.curvature(&corners(h), [false; 4]);
            let of = |h: &Hinge| {
                let moment = h.moment(curvature(h), |other| curvature(&hinges[other]), [false; 4]);
                inside(h) * h.energy(&corners(h), moment)
            };
            hinges.iter().map(of).sum()
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

    /// A patch of rectangles with random diagonals, bent along a side: moments are uniform, so the
    /// forces on inner vertices are zero to rounding (patch test), for every mesh whose vertices see
    /// only whole faces. The old energy, without the products of edges, leaves some.
    #[test]
    fn uniform_bending_is_in_equilibrium() {
        let mut random = Random(62);
        let (parts, curvature) = (8, 1e-4);
        for _ in 0..10 {
            let n = parts + 1;
            let at = |i: usize, j: usize| i * n + j;
            let vertices =
                (0..n * n).map(|k| Vector3::new((k / n) as f64, 0.7 * (k % n) as f64, 0.0)).collect();
            let mut faces = Vec::new();
            for (i, j) in (0..parts * parts).map(|k| (k / parts, k % parts)) {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                let one_way = random.unit() < 0.5;
                faces.extend(if one_way { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
            }
            let mesh = ClothMesh::new(vertices, faces).unwrap();
            let bent: Vec<_> =
                mesh.vertices().iter().map(|x| x + Vector3::z() * (0.5 * curvature * x.x * x.x)).collect();
            let mut forces = vec![Vector3::zeros(); bent.len()];
            let hinges = Hinge::all(&mesh, 1.0);
            let held = vec![false; bent.len()];
            serial::add_forces((&hinges, &vec![0.0; hinges.len()]), &bent, &held, &mut forces);
            let scale = forces.iter().map(|f| f.z.abs()).fold(0.0, f64::max);
            for (i, j) in (2..parts - 1).flat_map(|i| (2..parts - 1).map(move |j| (i, j))) {
                // Angles are linear in the curvature up to its square.
                assert!(forces[at(i, j)].z.abs() < 1e-6 * scale, "{i} {j} {}", forces[at(i, j)].z / scale);
            }
        }
    }
}
