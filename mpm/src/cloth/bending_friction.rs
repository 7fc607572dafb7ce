//! Friction within a fabric that bends: its fibres and yarns rub on each other, so that it bends back
//! by less than it was bent (hysteresis), and keeps a crease.
//!
//! # Law
//! Beside the elastic moment of [`super::bending`] a face has the moment per width
//!
//! m = (M_0 / k_0) (kappa - kappa_s), |m| <= M_0,
//!
//! with its curvature tensor kappa and a tensor kappa_s, zero at the start, that follows kappa as far
//! as the bound demands: a spring in series with dry friction (Prandtl's element). |m| is the Frobenius
//! norm, and kappa_s moves along m, so the energy that slip takes is never negative.
//!
//! Bent along one direction a fabric has the moment B k +- M_0 as soon as the curvature has changed
//! by k_0 one way, by 2 k_0 after it turned: the law that Grosberg found (1966, "The mechanical
//! properties of woven fabrics, part II: The bending of woven fabrics"). The bending test of Kawabata's
//! evaluation system (KES-FB2) has B as the slope of its branches and 2 HB = 2 M_0 as their distance. A
//! cycle between curvatures -k and k takes 4 M_0 (k - k_0) per area. Left free, a sheet keeps a
//! curvature of at most M_0 / B.
//!
//! The element is the same in all directions, in a woven fabric as well. A face whose vertices are all
//! held does not bend and does not slip.

use super::bending::Hinge;
use super::mesh::ClothMesh;
use crate::material::{MaterialError, unless_positive};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// How a fabric rubs within itself as it bends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BendingFriction {
    /// Moment per width M_0 at which it slips \[N\]; half of the distance 2 HB of the branches in a
    /// bending test.
    pub moment: f64,
    /// Change of curvature k_0 by which this moment is reached \[1/m\].
    pub curvature: f64,
}

/// A symmetric tensor in a face's material frame: xx, yy, xy.
pub type InPlane = [f64; 3];

/// a : b.
fn contracted(a: &InPlane, b: &InPlane) -> f64 {
    a[0] * b[0] + a[1] * b[1] + 2.0 * a[2] * b[2]
}

impl BendingFriction {
    /// Bending stiffness before it slips, beside that of the material \[N m\].
    pub fn stiffness(&self) -> f64 {
        self.moment / self.curvature
    }

    /// Moment per width \[N\] at this curvature, slipped by `slipped` \[1/m\].
    pub fn moment(&self, curvature: &InPlane, slipped: &InPlane) -> InPlane {
        core::array::from_fn(|k| self.stiffness() * (curvature[k] - slipped[k]))
    }

    /// Energy stored per area \[J/m^2\].
    pub fn energy(&self, curvature: &InPlane, slipped: &InPlane) -> f64 {
        let moment = self.moment(curvature, slipped);
        0.5 * contracted(&moment, &moment) / self.stiffness()
    }

    /// Slips until the moment is within its bound; returns the energy lost per area, the moment times the
    /// slip \[J/m^2\]. The energy stored falls by half of the stiffness times the squared slip more: a step
    /// stores so much more than its forces, which are those of its start, do as work.
    pub fn slip(&self, curvature: &InPlane, slipped: &mut InPlane) -> f64 {
        let trial = self.moment(curvature, slipped);
        let squared = contracted(&trial, &trial);
        if squared <= self.moment * self.moment {
            return 0.0;
        }
        let size = squared.sqrt();
        let kept = self.moment / size;
        *slipped = core::array::from_fn(|k| curvature[k] - kept * (curvature[k] - slipped[k]));
        self.moment * (size - self.moment) / self.stiffness()
    }

    /// All figures that are out of range or not numbers.
    pub(super) fn out_of_range(&self) -> impl Iterator<Item = MaterialError> + use<> {
        [
            unless_positive("bending_friction.moment", self.moment, "N"),
            unless_positive("bending_friction.curvature", self.curvature, "1/m"),
        ]
        .into_iter()
        .flatten()
    }
}

/// A face with friction in bending.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionFace {
    /// Its law.
    pub law: BendingFriction,
    /// Its vertices.
    pub vertices: [usize; 3],
    /// Its edges that are hinges: their numbers, and n n^T of their normals n in the face's plane at
    /// rest; none at the boundary.
    pub edges: [Option<(usize, InPlane)>; 3],
    /// Area at rest \[m^2\].
    pub area: f64,
}

impl FrictionFace {
    /// The faces of a mesh, whose hinges are those of [`Hinge::all`] or [`Hinge::woven`].
    pub fn all(mesh: &ClothMesh, law: BendingFriction) -> Vec<Self> {
        let blank = |(face, vertices): (usize, &[usize; 3])| Self {
            law,
            vertices: *vertices,
            edges: [None; 3],
            area: mesh.area(face),
        };
        let mut all: Vec<_> = mesh.faces().iter().enumerate().map(blank).collect();
        let inner = mesh.edges().iter().filter_map(|edge| Some((edge, edge.other?.0)));
        for (hinge, (edge, other)) in inner.enumerate() {
            let [a, b] = edge.vertices.map(|v| mesh.vertices()[v]);
            let direction = (b - a).normalize();
            for face in [edge.face, other] {
                let normals = normals(mesh, face, &direction);
                if let Some(free) = all[face].edges.iter_mut().find(|place| place.is_none()) {
                    *free = Some((hinge, normals));
                }
            }
        }
        all
    }

    /// Its curvature tensor \[1/m\], from those across the hinges.
    pub fn curvature(&self, across: impl Fn(usize) -> f64) -> InPlane {
        let mut sum = [0.0; 3];
        for (hinge, normals) in self.edges.iter().flatten() {
            let across = across(*hinge);
            sum.iter_mut().zip(normals).for_each(|(sum, n)| *sum += across * n);
        }
        sum
    }

    /// Whether it bends: a face that is held as a whole does not.
    pub fn bends(&self, held: impl Fn(usize) -> bool) -> bool {
        !self.vertices.iter().all(|&vertex| held(vertex))
    }

    /// What its moment per width \[N\] does at one of its edges, times its area \[N m^2\]; see
    /// [`Hinge::moment_of_faces`].
    pub fn at_edge(&self, edge: usize, moment: &InPlane) -> f64 {
        self.edges[edge].as_ref().map_or(0.0, |(_, normals)| self.area * contracted(normals, moment))
    }
}

/// n n^T of the normal, in the plane of a face at rest, of an edge of this direction.
fn normals(mesh: &ClothMesh, face: usize, direction: &Vector3<f64>) -> InPlane {
    let [a, b, c] = mesh.corners(face);
    let first = (b - a).normalize();
    let second = (b - a).cross(&(c - a)).normalize().cross(&first);
    let [x, y] = [direction.dot(&second), -direction.dot(&first)];
    [x * x, y * y, x * y]
}

/// Whole sheets, serially.
pub(crate) mod serial {
    use super::{FrictionFace, Hinge, InPlane};
    use nalgebra::Vector3;

    /// The faces of a sheet and how far they have slipped.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Friction {
        pub faces: Vec<FrictionFace>,
        /// \[1/m\]
        pub slipped: Vec<InPlane>,
        /// Energy lost since the start \[J\].
        pub lost: f64,
    }

    impl Friction {
        pub(crate) fn new(faces: Vec<FrictionFace>) -> Self {
            Self { slipped: vec![[0.0; 3]; faces.len()], faces, lost: 0.0 }
        }

        /// Slips, with the vertices' positions \[m\] and whether they are held.
        pub(crate) fn slip(&mut self, hinges: &[Hinge], x: &[Vector3<f64>], held: &[bool]) {
            for (face, slipped) in self.faces.iter().zip(&mut self.slipped) {
                if face.bends(|v| held[v]) {
                    let curvature = face.curvature(|hinge| across(&hinges[hinge], x, held));
                    self.lost += face.area * face.law.slip(&curvature, slipped);
                }
            }
        }

        /// Energy stored \[J\].
        pub(crate) fn energy(&self, hinges: &[Hinge], x: &[Vector3<f64>], held: &[bool]) -> f64 {
            let bent = self.faces.iter().zip(&self.slipped).filter(|(face, _)| face.bends(|v| held[v]));
            let of = |(face, slipped): (&FrictionFace, &InPlane)| {
                let curvature = face.curvature(|hinge| across(&hinges[hinge], x, held));
                face.area * face.law.energy(&curvature, slipped)
            };
            bent.map(of).sum()
        }

        /// Its moments at the hinges \[N m\].
        pub(crate) fn moments(&self, hinges: &[Hinge], x: &[Vector3<f64>], held: &[bool]) -> Vec<f64> {
            let mut moments = vec![0.0; hinges.len()];
            for (face, slipped) in self.faces.iter().zip(&self.slipped) {
                if !face.bends(|v| held[v]) {
                    continue;
                }
                let curvature = face.curvature(|hinge| across(&hinges[hinge], x, held));
                let moment = face.law.moment(&curvature, slipped);
                for (edge, &(number, _)) in face.edges.iter().flatten().enumerate() {
                    let hinge = &hinges[number];
                    let held = hinge.vertices.map(|v| held[v]);
                    moments[number] += hinge.moment_of_faces(face.at_edge(edge, &moment), held);
                }
            }
            moments
        }
    }

    /// Curvature across a hinge \[1/m\].
    fn across(hinge: &Hinge, x: &[Vector3<f64>], held: &[bool]) -> f64 {
        hinge.curvature(&hinge.vertices.map(|v| x[v]), hinge.vertices.map(|v| held[v]))
    }
}

#[cfg(test)]
mod tests {
    use super::serial::Friction;
    use super::*;
    use crate::cloth::bending;
    use pliant_testing::random::Random;

    /// After a slip the moment is within its bound and along the moment before, the energy has fallen
    /// by what was told and the second order of the slip, and nothing slips again: for random curvatures, to rounding.
    #[test]
    fn slip_is_along_the_moment_and_takes_energy() {
        let mut random = Random(71);
        let mut slips = 0;
        for _ in 0..1000 {
            let mut size = || 10_f64.powf(2.0 * random.unit() - 1.0);
            let law = BendingFriction { moment: size(), curvature: size() };
            let scale = size() * law.curvature;
            let mut tensor = || random.vec3(-scale, scale).0;
            let (curvature, before) = (tensor(), tensor());
            let mut slipped = before;
            let lost = law.slip(&curvature, &mut slipped);
            let [trial, moment] = [before, slipped].map(|slipped| law.moment(&curvature, &slipped));
            let [size, kept] = [trial, moment].map(|m| contracted(&m, &m).sqrt());
            assert!(kept <= law.moment * (1.0 + 1e-12), "{kept} of {}", law.moment);
            let along = contracted(&trial, &moment) / (size * kept);
            assert!((along - 1.0).abs() < 1e-12, "{trial:?} {moment:?}");
            let [more, less] = [before, slipped].map(|slipped| law.energy(&curvature, &slipped));
            let way: InPlane = core::array::from_fn(|k| slipped[k] - before[k]);
            let fallen = lost + 0.5 * law.stiffness() * contracted(&way, &way);
            assert!(lost >= 0.0 && (more - less - fallen).abs() < 1e-12 * more, "{more} {less} {lost}");
            assert!(law.slip(&curvature, &mut slipped) < 1e-12 * more);
            slips += usize::from(lost > 0.0);
        }
        assert!((200..800).contains(&slips), "{slips} slips");
    }

    /// Without slip, force = -dE/dx by central differences with step 1e-6, to 1e-6 of the largest force;
    /// no net force and no net moment, to rounding. Some vertices are held.
    #[test]
    fn forces_are_the_derivative_of_the_energy() {
        let mut random = Random(72);
        let mesh = ClothMesh::rectangle(Vector3::zeros(), Vector3::x() * 0.4, Vector3::y() * 0.3, [4, 3]);
        let mesh = mesh.unwrap();
        let hinges = Hinge::all(&mesh, 0.0);
        let law = BendingFriction { moment: 0.3, curvature: 2.0 };
        for _ in 0..20 {
            let mut friction = Friction::new(FrictionFace::all(&mesh, law));
            friction.slipped.iter_mut().for_each(|slipped| *slipped = random.vec3(-9.0, 9.0).0);
            let x: Vec<_> =
                mesh.vertices().iter().map(|x| x + Vector3::from(random.vec3(-0.03, 0.03).0)).collect();
            let held: Vec<_> = x.iter().map(|_| random.unit() < 0.3).collect();
            let mut forces = vec![Vector3::zeros(); x.len()];
            let moments = friction.moments(&hinges, &x, &held);
            bending::serial::add_forces((&hinges, &moments), &x, &held, &mut forces);
            let scale = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
            let step = 1e-6;
            for (vertex, axis) in (0..x.len()).flat_map(|vertex| (0..3).map(move |axis| (vertex, axis))) {
                let at = |sign: f64| {
                    let mut moved = x.clone();
                    moved[vertex][axis] += sign * step;
                    friction.energy(&hinges, &moved, &held)
                };
                let difference = -(at(1.0) - at(-1.0)) / (2.0 * step);
                assert!((difference - forces[vertex][axis]).abs() < 1e-6 * scale, "{vertex} {axis}");
            }
            let net: Vector3<f64> = forces.iter().sum();
            let moment: Vector3<f64> = x.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
            assert!(net.norm() < 1e-12 * scale && moment.norm() < 1e-12 * scale, "{net} {moment}");
        }
    }
}
