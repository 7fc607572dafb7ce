//! The pairs of geometries that may touch.

use nalgebra::{Isometry3, Vector3};

use super::error::QuasiError;
use super::layout::ObjectLayout;
use pliant_geometry::Shape;
use pliant_geometry::pairs::{PairKind, PlacedSolid, size_of};
use pliant_numeric::dual::Dual;
use pliant_numeric::linalg::{Mat3, Vec3};
use pliant_numeric::rotation::Pose;
use pliant_numeric::scalar::Real;
use pliant_rigid::collision::CollisionModel;

/// A geometry with contact.
#[derive(Clone, Debug)]
pub(super) struct PlacedShape {
    /// Its mover, and its pose there; in the world for static geometries.
    pub mover: Option<usize>,
    pub place: Isometry3<f64>,
    size: [f64; 3],
    /// Radius \[m\] of its bounding sphere about its frame's origin; `None` for a half-space.
    reach: Option<f64>,
}

/// Two geometries, in the order of the kind of their pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollisionPair {
    pub kind: PairKind,
    pub geometries: [usize; 2],
    /// mu.
    pub friction: f64,
    /// Distance at which the surfaces act \[m\].
    pub margin: f64,
}

/// All geometries (those without contact have no size), and the pairs of them that may touch.
pub(super) fn find(
    scene: &CollisionModel,
    layout: &ObjectLayout,
) -> Result<(Vec<PlacedShape>, Vec<CollisionPair>), QuasiError> {
    let geometries = scene.geometries();
    let shaped = geometries.iter().map(|g| {
        let (mover, place) = g.link.map_or((None, Isometry3::identity()), |link| layout.carried[link.0]);
        PlacedShape {
            mover,
            place: place * g.pose,
            size: size_of(&g.shape).unwrap_or_default(),
            reach: reach(&g.shape),
        }
    });
    let shaped: Vec<_> = shaped.collect();
    let mut pairs = Vec::new();
    for (i, first) in geometries.iter().enumerate() {
        for (j, second) in geometries.iter().enumerate().skip(i + 1) {
            let still = shaped[i].mover.is_none() && shaped[j].mover.is_none();
            if still || !scene.may_touch(i, j) {
                continue;
            }
            let Some((kind, swapped)) = PairKind::of(&first.shape, &second.shape) else {
                return Err(QuasiError::CollisionPair {
                    first_name: first.name.clone(),
                    first_shape: first.shape.name(),
                    second_name: second.name.clone(),
                    second_shape: second.shape.name(),
                });
            };
            let contact = scene.contact_material(i, j);
            let geometries = if swapped { [j, i] } else { [i, j] };
            let (friction, margin) = (contact.dynamic_friction, contact.margin);
            pairs.push(CollisionPair { kind, geometries, friction, margin });
        }
    }
    Ok((shaped, pairs))
}

fn reach(shape: &Shape) -> Option<f64> {
    shape.bounding_sphere().map(|(centre, radius)| centre.coords.norm() + radius)
}

/// Whether two geometries in the world are certainly farther apart than `margin` \[m\].
pub(super) fn apart(
    a: (&PlacedShape, &PlacedSolid<f64>),
    b: (&PlacedShape, &PlacedSolid<f64>),
    margin: f64,
) -> bool {
    let between = b.1.pose.position - a.1.pose.position;
    match (a.0.reach, b.0.reach) {
        (Some(p), Some(q)) => between.norm_squared() > (p + q + margin).powi(2),
        // Half-spaces come second.
        (Some(p), None) => -between.dot(b.1.pose.rotation.column(2)) > p + margin,
        _ => false,
    }
}

impl PlacedShape {
    /// In the world, where its mover's link is at `link`.
    pub fn solid(&self, link: &Isometry3<f64>) -> PlacedSolid<f64> {
        PlacedSolid { pose: Pose::from(link * self.place), size: self.size }
    }
}

/// The origin \[m\] of a link whose displacement are the six derivatives from `first` on (turn
/// about the origin, shift), or that stays.
pub(super) fn origin(link: &Vector3<f64>, first: Option<usize>) -> Vec3<Dual<12>> {
    let mut out = Vec3::<Dual<12>>::from(*link);
    if let Some(first) = first {
        for k in 0..3 {
            out.0[k].rates[first + 3 + k] = 1.0;
        }
    }
    out
}

/// A solid on such a link.
pub(super) fn moving(
    solid: &PlacedSolid<f64>,
    link: &Vector3<f64>,
    first: Option<usize>,
) -> PlacedSolid<Dual<12>> {
    let rotation = Mat3(solid.pose.rotation.0.map(|row| row.map(Dual::splat)));
    let pose = Pose { rotation, position: Vec3(solid.pose.position.0.map(Dual::splat)) };
    let mut out = PlacedSolid { pose, size: solid.size.map(Dual::splat) };
    let Some(first) = first else { return out };
    let lever = solid.pose.position - Vec3((*link).into());
    for k in 0..3 {
        let mut axis = Vec3([0.0; 3]);
        axis.0[k] = 1.0;
        let shift = axis.cross(lever);
        for r in 0..3 {
            out.pose.position.0[r].rates[first + k] = shift.0[r];
        }
        out.pose.position.0[k].rates[first + 3 + k] = 1.0;
        for c in 0..3 {
            let turned = axis.cross(solid.pose.rotation.column(c));
            for r in 0..3 {
                out.pose.rotation.0[r][c].rates[first + k] = turned.0[r];
            }
        }
    }
    out
}
