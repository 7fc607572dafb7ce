//! Finds the contacts of a scene.

use super::broad::BroadPhase;
use super::convex::{self, Scratch};
use super::manifold::LocalContact;
use super::pair::ConvexPair;
use super::scene::CollisionModel;
use super::{half_space, mesh};
use crate::multibody::LinkId;
use nalgebra::{Isometry3, Rotation3, Unit, Vector3};
use pliant_geometry::Shape;

/// A contact point of two geometries, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricContact {
    /// Number of the first geometry, smaller than the other.
    pub a: usize,
    /// Number of the second geometry.
    pub b: usize,
    /// Between the two surfaces \[m\]: on a's if that is much stiffer, on b's if that is, and
    /// halfway if they are equally stiff.
    pub point: Vector3<f64>,
    /// From a to b.
    pub normal: Unit<Vector3<f64>>,
    /// Signed distance \[m\], negative where they overlap.
    pub distance: f64,
    /// Name of the contact within its pair: the corners, edges or faces that touch.
    pub feature: u64,
}

/// Finds contacts. It holds buffers only: results depend only on the arguments, and after the first
/// calls nothing is allocated.
#[derive(Clone, Default)]
pub struct Detector {
    broad: BroadPhase,
    poses: Vec<Isometry3<f64>>,
    rotations: Vec<Rotation3<f64>>,
    scratch: Scratch,
    local: Vec<LocalContact>,
}

impl Detector {
    /// A detector with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts all contacts nearer than `margin` (m; negative: only overlaps deeper than that) and the
    /// margin of their pair's material together into `out`, in the order of the geometries' numbers and features. `poses_of_links` gives a link's
    /// frame in the world. A geometry whose pose is not finite touches nothing.
    pub fn detect(
        &mut self,
        scene: &CollisionModel,
        poses_of_links: impl Fn(LinkId) -> Isometry3<f64>,
        margin: f64,
        out: &mut Vec<GeometricContact>,
    ) {
        out.clear();
        self.poses.clear();
        self.rotations.clear();
        for g in scene.geometries() {
            let pose = g.link.map_or(g.pose, |link| poses_of_links(link) * g.pose);
            self.poses.push(pose);
            self.rotations.push(pose.rotation.to_rotation_matrix());
        }
        for &(a, b) in self.broad.pairs(scene, &self.poses, margin + scene.widest()) {
            let (a, b) = (a as usize, b as usize);
            self.local.clear();
            // The narrow phase works in the frame of the shape of lower rank.
            let rank = |k: usize| rank(&scene.geometries()[k].shape);
            let (first, second) = if rank(b) < rank(a) { (b, a) } else { (a, b) };
            let frame = &self.rotations[first];
            let apart = self.poses[second].translation.vector - self.poses[first].translation.vector;
            let pair = ConvexPair {
                a: scene.solid(first),
                b: scene.solid(second),
                rotation: frame.inverse() * self.rotations[second],
                translation: frame.inverse_transform_vector(&apart),
            };
            let margin = margin + scene.contact_margin(a, b);
            narrow(&pair, margin, &mut self.scratch, &mut self.local);
            self.local
                .sort_unstable_by(|x, y| x.feature.cmp(&y.feature).then(x.distance.total_cmp(&y.distance)));
            let material = |k: usize| &scene.geometries()[k].material;
            // Fraction of the distance from the first's surface to the second's: the softer one
            // yields more.
            let share = 1.0 / (1.0 + material(first).stiffness / material(second).stiffness);
            for c in &self.local {
                let point = c.point + c.normal.as_ref() * (c.distance * share);
                let normal = frame * c.normal;
                out.push(GeometricContact {
                    a,
                    b,
                    point: frame * point + self.poses[first].translation.vector,
                    normal: if first == a { normal } else { -normal },
                    distance: c.distance,
                    feature: c.feature,
                });
            }
        }
    }
}

/// Rank of a shape: the lower one of a pair is the first solid.
fn rank(shape: &Shape) -> u32 {
    match shape {
        Shape::HalfSpace => 0,
        Shape::Mesh(_) | Shape::HeightField(_) => 1,
        Shape::ConvexHull(_) => 2,
        Shape::Box { .. } => 3,
        Shape::Cylinder { .. } => 4,
        Shape::Ellipsoid { .. } => 5,
        Shape::Capsule { .. } => 6,
        Shape::Sphere { .. } => 7,
    }
}

/// Contacts of one pair, in the frame of the first.
fn narrow(pair: &ConvexPair<'_>, margin: f64, scratch: &mut Scratch, out: &mut Vec<LocalContact>) {
    match (pair.a.shape, pair.b.shape) {
        (Shape::HalfSpace, _) => half_space::contacts(pair, margin, &mut scratch.faces[0], out),
        (Shape::Mesh(_) | Shape::HeightField(_), _) => mesh::contacts(pair, margin, scratch, out),
        (shape, Shape::Sphere { radius }) => {
            let s = shape.surface_point(&pair.translation.into());
            if s.distance - radius < margin {
                let point = pair.translation - s.normal.as_ref() * s.distance;
                out.push(LocalContact { point, normal: s.normal, distance: s.distance - radius, feature: 0 });
            }
        }
        _ => convex::contacts(pair, margin, scratch, out),
    }
}
