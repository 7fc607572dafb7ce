//! Parameters that may differ between worlds besides state and control.

use super::error::BatchError;
use super::plan::{Plan, ShapeClass};
use pliant_rigid::multibody::LinkId;

/// A parameter of a world. Geometries are numbered as in the collision scene, motors as in the
/// system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A component of gravity \[m/s^2\], world frame.
    Gravity(usize),
    /// Factor of mass and inertia of a link with all that is welded to it.
    Mass(LinkId),
    /// A size of a geometry \[m\]: radius 0 and half length 1 of a capsule, radius 0 of a sphere,
    /// half extents 0 to 2 of a box.
    ShapeClass(usize, usize),
    /// Coefficient of sliding friction of a geometry.
    Friction(usize),
    /// Length of torsional friction of a geometry \[m\].
    TorsionalFriction(usize),
    /// Length of rolling friction of a geometry \[m\].
    RollingFriction(usize),
    /// Stiffness of a motor \[N m/rad, N/m\].
    MotorStiffness(usize),
    /// Damping of a motor \[N m s/rad, N s/m\].
    MotorDamping(usize),
    /// Largest effort of a motor \[N m, N\].
    MotorLimit(usize),
}

impl Parameter {
    /// Its row.
    pub(super) fn row(self, plan: &Plan) -> Result<usize, BatchError> {
        let l = &plan.layout;
        let within = |field, i: usize, count: usize, first: usize, requirement| {
            if i < count {
                Ok(first)
            } else {
                Err(BatchError::value(format!("{self:?}"), field, i as f64, "", requirement))
            }
        };
        let geometry = |g, at| {
            within("geometry", g, plan.geometries.len(), l.friction + 3 * g + at, "a geometry of the scene")
        };
        let motor =
            |m, at| within("motor", m, plan.motors.len(), l.motors + 3 * m + at, "a motor of the system");
        match self {
            Self::Gravity(d) => within("component", d, 3, l.gravity + d, "0, 1 or 2"),
            Self::Mass(LinkId(link)) => {
                let body = plan.links.get(link).and_then(|(body, _)| *body);
                let body = body.ok_or_else(|| {
                    let requirement = "a link that can move";
                    BatchError::value(format!("{self:?}"), "link", link as f64, "", requirement)
                })?;
                Ok(l.mass + body)
            }
            Self::ShapeClass(g, axis) => {
                geometry(g, 0)?;
                let count = match plan.geometries[g].shape {
                    ShapeClass::HalfSpace => 0,
                    ShapeClass::Radius => 1,
                    ShapeClass::RadiusAndLength => 2,
                    ShapeClass::Extents => 3,
                };
                within("axis", axis, count, l.sizes + 3 * g + axis, "a size that the shape has")
            }
            Self::Friction(g) => geometry(g, 0),
            Self::TorsionalFriction(g) => geometry(g, 1),
            Self::RollingFriction(g) => geometry(g, 2),
            Self::MotorStiffness(m) => motor(m, 0),
            Self::MotorDamping(m) => motor(m, 1),
            Self::MotorLimit(m) => motor(m, 2),
        }
    }

    /// Whether a value is in its range.
    pub(super) fn check(self, value: f64) -> Result<(), BatchError> {
        let (fine, unit, requirement) = match self {
            Self::Gravity(_) => (value.is_finite(), "m/s^2", "finite"),
            Self::Mass(_) => (value.is_finite() && value > 0.0, "", "finite and positive"),
            Self::ShapeClass(..) => (value.is_finite() && value > 0.0, "m", "finite and positive"),
            Self::Friction(_) => (value.is_finite() && value >= 0.0, "", "finite and not negative"),
            Self::TorsionalFriction(_) | Self::RollingFriction(_) => {
                (value.is_finite() && value >= 0.0, "m", "finite and not negative")
            }
            Self::MotorStiffness(_) | Self::MotorDamping(_) => {
                (value.is_finite() && value >= 0.0, "SI", "finite and not negative")
            }
            // An infinite limit means no limit.
            Self::MotorLimit(_) => (value >= 0.0, "N m or N", "not negative"),
        };
        if fine {
            Ok(())
        } else {
            Err(BatchError::value(format!("{self:?}"), "value", value, unit, requirement))
        }
    }
}
