//! Conditions on the grid at fixed planes.

use nalgebra::{Point3, Unit, Vector3};
use serde::{Deserialize, Serialize};

use crate::error::MpmError;

/// Condition on nodes at or behind a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BoundaryKind {
    /// Velocity zero.
    Sticky,
    /// No velocity into the plane; free along it and away from it.
    Slip,
    /// As slip, with Coulomb friction along the plane.
    Frictional {
        /// Coefficient of friction.
        friction: f64,
    },
}

/// A half-space condition on grid nodes: it acts on nodes at or behind the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary {
    /// A point of the plane \[m\].
    pub point: Point3<f64>,
    /// Unit normal into the domain.
    pub normal: Unit<Vector3<f64>>,
    /// The condition on the nodes.
    pub kind: BoundaryKind,
}

impl Boundary {
    /// Checks the boundary at `index` of its list.
    pub(crate) fn validate(&self, index: usize) -> Result<(), MpmError> {
        let fail = |field, value, unit, requirement| {
            Err(MpmError::Boundary { index, field, value, unit, requirement })
        };
        if let Some(&x) = self.point.iter().find(|x| !x.is_finite()) {
            return fail("point", x, "m", "must be finite");
        }
        let length = self.normal.norm();
        // Rounding of a normalised f64 vector, with slack for normals read from f32.
        if (length - 1.0).abs() > 1e-6 || length.is_nan() {
            return fail("normal", length, "long", "must be 1");
        }
        match self.kind {
            BoundaryKind::Frictional { friction } if !(friction.is_finite() && friction >= 0.0) => {
                fail("friction", friction, "[-]", "must be finite and not negative")
            }
            _ => Ok(()),
        }
    }

    /// Whether it acts on a grid node at `position` \[m\] of a grid of this spacing \[m\]: at or
    /// behind the plane.
    pub fn acts_on(&self, position: &Point3<f64>, grid_spacing: f64) -> bool {
        let node = (position / grid_spacing).coords.into();
        GridPlane::acts_at(GridPlane::new(self, grid_spacing).distance(node))
    }
}

/// A plane in grid coordinates, ready for the grid pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridPlane {
    normal: [f32; 3],
    normal64: [f64; 3],
    /// Cells from the origin along the normal.
    offset: f64,
    kind: BoundaryKind,
}

/// Slack in cells, so that a plane through nodes acts on those nodes.
const ON_PLANE: f64 = 1e-6;

impl GridPlane {
    pub(crate) fn new(boundary: &Boundary, grid_spacing: f64) -> Self {
        let n = boundary.normal.into_inner();
        Self {
            normal: [n.x as f32, n.y as f32, n.z as f32],
            normal64: [n.x, n.y, n.z],
            offset: n.dot(&boundary.point.coords) / grid_spacing,
            kind: boundary.kind,
        }
    }

    /// Signed distance of a node, cells.
    pub(crate) fn distance(&self, node: [f64; 3]) -> f64 {
        (0..3).map(|d| node[d] * self.normal64[d]).sum::<f64>() - self.offset
    }

    /// Largest decrease of the distance within a cube of this edge, from its lowest corner
    /// \[cells\].
    pub(crate) fn depth(&self, edge: f64) -> f64 {
        self.normal64.iter().map(|n| edge * (-n).max(0.0)).sum()
    }

    /// Whether the condition acts at this distance.
    pub(crate) fn acts_at(distance: f64) -> bool {
        distance <= ON_PLANE
    }

    /// Imposes the condition on a velocity \[m/s\].
    pub(crate) fn impose(&self, v: &mut [f32; 3]) {
        let n = self.normal;
        let normal_velocity = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
        match self.kind {
            BoundaryKind::Sticky => *v = [0.0; 3],
            _ if normal_velocity >= 0.0 => {}
            BoundaryKind::Slip => {
                for d in 0..3 {
                    v[d] -= normal_velocity * n[d];
                }
            }
            BoundaryKind::Frictional { friction } => {
                let tangential = [0, 1, 2].map(|d| v[d] - normal_velocity * n[d]);
                let speed = tangential.iter().map(|t| t * t).sum::<f32>().sqrt();
                let kept = (speed + friction as f32 * normal_velocity).max(0.0);
                let factor = if speed > 0.0 { kept / speed } else { 0.0 };
                *v = tangential.map(|t| factor * t);
            }
        }
    }
}
