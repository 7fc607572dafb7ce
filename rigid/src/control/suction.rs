//! Suction cups.

use nalgebra::{Isometry3, Point3, Unit, Vector3};

use super::{add_force, check_finite, check_link, check_positive, fail};
use crate::multibody::{ForceVector, Kinematics, LinkId, Model, State};
use crate::simulation::{ExternalSystem, SimulationError};
use pliant_geometry::{Shape, SurfacePoint};

/// The opening of a cup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cup {
    /// The link it is on.
    pub link: LinkId,
    /// Centre of the opening, link's frame \[m\].
    pub point: Point3<f64>,
    /// Direction of the opening, link's frame.
    pub axis: Unit<Vector3<f64>>,
}

/// A body that cups can pull.
#[derive(Clone, Debug)]
pub struct SuctionTarget {
    /// The link.
    pub link: LinkId,
    /// Frame of the shape in the link's \[m\].
    pub pose: Isometry3<f64>,
    /// The solid.
    pub shape: Shape,
}

/// Force of a cup on a surface as a function of distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuctionForceModel {
    /// Force F_m at contact \[N\], the largest.
    pub max_force: f64,
    /// Distance d_h at which it is half of that \[m\].
    pub half_distance: f64,
    /// Distance r from which on it is zero \[m\].
    pub range: f64,
}

/// The last part of the range over which the force fades out.
const FADE: f64 = 0.2;

impl SuctionForceModel {
    /// Force \[N\] on a surface at `distance` \[m\] straight before the opening:
    ///
    /// `F = F_m / (1 + max(d, 0)/d_h) S((r - d)/(0.2 r))`, `S(x) = x^2 (3 - 2 x)` between 0 and 1.
    ///
    /// Far from contact it is inversely proportional to distance, `F_m d_h/d` (the vacuum gripper
    /// of Kurtz and Castro 2025, section VII-D). Two regularisations: it reaches its largest value
    /// with a finite slope, instead of a pole cut off with a kink by `min(F_m, F_m d_h/d)`; and S
    /// lets it fade over the last fifth of the range instead of dropping.
    pub fn force(&self, distance: f64) -> f64 {
        let x = ((self.range - distance) / (FADE * self.range)).clamp(0.0, 1.0);
        self.max_force / (1.0 + distance.max(0.0) / self.half_distance) * x * x * (3.0 - 2.0 * x)
    }

    fn validate(&self) -> Result<(), SimulationError> {
        check_positive("suction", "max force", self.max_force, "N")?;
        check_positive("suction", "half distance", self.half_distance, "m")?;
        check_positive("suction", "range", self.range, "m")
    }
}

/// Suction cups. Each pulls the nearest of the targets: at signed distance d of the opening's
/// centre from the target's surface, with outward normal n, the target gets the force `F(d)
/// max(-n . axis, 0) n` at the surface and the cup the opposite, on one line. F is the
/// [`SuctionForceModel`]; the factor is the opening's area projected on the surface, so a cup does
/// not pull a surface behind it.
///
/// The force grows as the distance falls, so it does not resist motion and an implicit step treats
/// it explicitly; contact between cup and target stops the motion. It jumps when another target
/// becomes the nearest, and when the pump is switched.
#[derive(Clone, Debug)]
pub struct Suction {
    cups: Vec<Cup>,
    targets: Vec<SuctionTarget>,
    law: SuctionForceModel,
    on: Vec<[f64; 2]>,
}

impl Suction {
    /// Cups that pull targets in the intervals of time `on` \[s\], each a half-open interval.
    ///
    /// # Errors
    /// A link that does not exist, a value that is not finite or not positive, intervals that end
    /// before they begin or overlap.
    pub fn new(
        model: &Model,
        cups: Vec<Cup>,
        targets: Vec<SuctionTarget>,
        law: SuctionForceModel,
        on: Vec<[f64; 2]>,
    ) -> Result<Self, SimulationError> {
        law.validate()?;
        for (i, cup) in cups.iter().enumerate() {
            let item = format!("suction cup {i}");
            check_link(model, &item, cup.link)?;
            check_finite(&item, "point", cup.point.coords.as_slice(), "m")?;
            check_finite(&item, "axis", cup.axis.as_slice(), "")?;
        }
        for (i, target) in targets.iter().enumerate() {
            let item = format!("suction target {i}");
            check_link(model, &item, target.link)?;
            check_finite(&item, "position", target.pose.translation.vector.as_slice(), "m")?;
            check_finite(&item, "rotation", target.pose.rotation.coords.as_slice(), "")?;
            if let Err(crate::GeometryError::Size { field, value, .. }) = target.shape.validate() {
                return fail(item, field, value, "m", "finite and positive");
            }
        }
        let mut last = f64::NEG_INFINITY;
        for &[start, end] in &on {
            if start.is_nan() || start < last {
                return fail("suction", "start", start, "s", "after the interval before");
            }
            if end.is_nan() || end <= start {
                return fail("suction", "end", end, "s", "after the start");
            }
            last = end;
        }
        Ok(Self { cups, targets, law, on })
    }

    /// Whether the pump runs at time `t` \[s\].
    pub fn is_on(&self, t: f64) -> bool {
        self.on.iter().any(|&[start, end]| (start..end).contains(&t))
    }

    /// The target nearest to each cup within the range: its number, its force (N, world frame) and
    /// its point of action \[m\]. For pictures and tests; the steps use the same formula.
    pub fn pulls<'a>(
        &'a self,
        kinematics: &'a Kinematics,
        t: f64,
    ) -> impl Iterator<Item = Option<(usize, Vector3<f64>, Vector3<f64>)>> + 'a {
        let on = self.is_on(t);
        self.cups.iter().map(move |cup| if on { self.pull(kinematics, cup) } else { None })
    }

    fn pull(&self, kinematics: &Kinematics, cup: &Cup) -> Option<(usize, Vector3<f64>, Vector3<f64>)> {
        let pose = kinematics.pose(cup.link);
        let (point, axis) = (pose * cup.point, pose * cup.axis.into_inner());
        let mut nearest: Option<(usize, SurfacePoint)> = None;
        for (i, target) in self.targets.iter().enumerate() {
            let within = nearest.map_or(self.law.range, |(_, surface)| surface.distance);
            let local = (kinematics.pose(target.link) * target.pose).inverse_transform_point(&point);
            if target.shape.lower_bound(&local) >= within {
                continue;
            }
            let surface = target.shape.surface_point(&local);
            if surface.distance < within {
                nearest = Some((i, surface));
            }
        }
        let (i, surface) = nearest?;
        let target = &self.targets[i];
        let normal =
            kinematics.pose(target.link).rotation * (target.pose.rotation * surface.normal.into_inner());
        let force = self.law.force(surface.distance) * (-normal.dot(&axis)).max(0.0);
        Some((i, normal * force, point.coords - normal * surface.distance))
    }
}

impl ExternalSystem for Suction {
    fn add_forces(
        &self,
        model: &Model,
        kinematics: &Kinematics,
        state: &State,
        _: &[f64],
        forces: &mut [f64],
    ) {
        for (cup, pull) in self.cups.iter().zip(self.pulls(kinematics, state.time)) {
            let Some((target, force, point)) = pull else { continue };
            let on_target = ForceVector::new(Vector3::zeros(), force);
            add_force(model, kinematics, self.targets[target].link, &point, &on_target, forces);
            add_force(model, kinematics, cup.link, &point, &-on_target, forces);
        }
    }

    fn next_event(&self, t: f64) -> Option<f64> {
        self.on.iter().flatten().copied().find(|&time| time > t && time.is_finite())
    }
}
