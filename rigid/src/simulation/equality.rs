//! Holonomic constraints between links: kinematic loops, welds, couplers.

use nalgebra::{Isometry3, Point3, Vector3};

use super::error::SimulationError;
use crate::compliance::Compliance;
use crate::multibody::{Kinematics, LinkId, Model, State};

/// A constraint: near-rigid, unless it is [`Compliant`](Self::Compliant) (see
/// `docs/book/src/theory/rigid.md`). Points and poses
/// are in the links' frames; a link that is `None` is the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Equality {
    /// Two points coincide.
    Ball {
        /// The links.
        links: [Option<LinkId>; 2],
        /// The points \[m\].
        points: [Point3<f64>; 2],
    },
    /// Two points keep a distance.
    Distance {
        /// The links.
        links: [Option<LinkId>; 2],
        /// The points \[m\].
        points: [Point3<f64>; 2],
        /// The distance \[m\].
        distance: f64,
    },
    /// Two frames coincide.
    Weld {
        /// The links.
        links: [Option<LinkId>; 2],
        /// The frames.
        frames: [Isometry3<f64>; 2],
    },
    /// One coordinate follows another: `q_driven = ratio q_driver + offset`.
    Coupler {
        /// Link whose joint drives; its first degree of freedom.
        driver: LinkId,
        /// Link whose joint is driven; its first degree of freedom.
        driven: LinkId,
        /// The ratio.
        ratio: f64,
        /// The offset \[rad, m\].
        offset: f64,
    },
    /// One coordinate follows a polynomial of another: `q_driven = sum_k c_k (q_driver - origin)^k`.
    /// A step has its slope at the state.
    Polynomial {
        /// Link whose joint drives; its first degree of freedom.
        driver: LinkId,
        /// Link whose joint is driven; its first degree of freedom.
        driven: LinkId,
        /// The coefficients c_k, from k = 0 \[rad, m\] on.
        coefficients: [f64; 5],
        /// Coordinate of the driver at which the polynomial is c_0 \[rad, m\].
        origin: f64,
    },
    /// Another constraint with a compliance. The residual that decides the impedance is the norm of
    /// those of its rows.
    Compliant {
        /// The compliance; A is that of rows in metres, and of rows of joints.
        compliance: Compliance,
        /// Inverse inertia A against the turning of a weld \[1/(kg m^2)\].
        turning: f64,
        /// Length \[m/rad\] by which the angle of a weld counts in the norm.
        lever: f64,
        /// The constraint.
        held: Box<Equality>,
    },
    /// Another constraint with a release time. Steps end there.
    Timed {
        /// Release time \[s\].
        release: f64,
        /// The constraint until then.
        held: Box<Equality>,
    },
}

/// Tolerance of the release time \[s\]: rounding of times.
const RELEASE_SLACK: f64 = 1e-9;

/// One row: its error \[m, rad\], and its dependence on the velocities of the links.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConstraintRow {
    pub error: f64,
    pub kind: RowKind,
    /// Its compliance, and the residual \[m, rad\] that decides the impedance; `None` if near-rigid.
    pub compliance: Option<(Compliance, f64)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum RowKind {
    /// Velocity of the second point against the first along a direction.
    Linear { links: [Option<LinkId>; 2], points: [Vector3<f64>; 2], direction: Vector3<f64> },
    /// Angular velocity of the second link against the first along a direction.
    Angular { links: [Option<LinkId>; 2], direction: Vector3<f64> },
    /// Rate of one degree of freedom less `ratio` times another's.
    Rates { driver: usize, driven: usize, ratio: f64 },
}

impl Equality {
    /// Of a coupling of two joints: the driver, the driven link, and the coordinate of the driven one
    /// \[rad, m\] that the coupling demands at the driver's coordinate `q`.
    pub fn demanded(&self, q: impl Fn(LinkId) -> f64) -> Option<(LinkId, LinkId, f64)> {
        match self {
            Self::Coupler { driver, driven, ratio, offset } => {
                Some((*driver, *driven, ratio * q(*driver) + offset))
            }
            Self::Polynomial { driver, driven, coefficients, origin } => {
                let x = q(*driver) - origin;
                Some((*driver, *driven, coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)))
            }
            Self::Compliant { held, .. } | Self::Timed { held, .. } => held.demanded(q),
            Self::Ball { .. } | Self::Distance { .. } | Self::Weld { .. } => None,
        }
    }

    /// The same constraint for links numbered from `first` on, whose world is at `base` of a link,
    /// or of the world.
    pub(crate) fn moved(self, first: usize, carrier: Option<LinkId>, base: &Isometry3<f64>) -> Self {
        let here =
            |links: [Option<LinkId>; 2]| links.map(|l| l.map_or(carrier, |l| Some(LinkId(first + l.0))));
        let point = |link: Option<LinkId>, p: Point3<f64>| if link.is_some() { p } else { base * p };
        let frame = |link: Option<LinkId>, f: Isometry3<f64>| if link.is_some() { f } else { base * f };
        let points = |l: [Option<LinkId>; 2], [a, b]: [Point3<f64>; 2]| [point(l[0], a), point(l[1], b)];
        match self {
            Self::Ball { links, points: p } => Self::Ball { links: here(links), points: points(links, p) },
            Self::Distance { links, points: p, distance } => {
                Self::Distance { links: here(links), points: points(links, p), distance }
            }
            Self::Weld { links, frames: [a, b] } => {
                Self::Weld { links: here(links), frames: [frame(links[0], a), frame(links[1], b)] }
            }
            Self::Coupler { driver, driven, ratio, offset } => {
                let (driver, driven) = (LinkId(first + driver.0), LinkId(first + driven.0));
                Self::Coupler { driver, driven, ratio, offset }
            }
            Self::Polynomial { driver, driven, coefficients, origin } => {
                let (driver, driven) = (LinkId(first + driver.0), LinkId(first + driven.0));
                Self::Polynomial { driver, driven, coefficients, origin }
            }
            Self::Compliant { compliance, turning, lever, held } => {
                let held = Box::new(held.moved(first, carrier, base));
                Self::Compliant { compliance, turning, lever, held }
            }
            Self::Timed { release, held } => {
                Self::Timed { release, held: Box::new(held.moved(first, carrier, base)) }
            }
        }
    }

    /// Its release time, if that is after `now` \[s\].
    pub(super) fn release_after(&self, now: f64) -> Option<f64> {
        match self {
            Self::Timed { release, held } => {
                let own = Some(*release).filter(|release| *release > now + RELEASE_SLACK);
                own.into_iter().chain(held.release_after(now)).min_by(f64::total_cmp)
            }
            Self::Compliant { held, .. } => held.release_after(now),
            _ => None,
        }
    }

    pub(super) fn validate(&self, model: &Model, index: usize) -> Result<(), SimulationError> {
        let fail = |field, value, unit, requirement| {
            Err(SimulationError::value(format!("equality {index}"), field, value, unit, requirement))
        };
        let known = |link: &LinkId| link.0 < model.links().len();
        let has_coordinate =
            |link: &LinkId| known(link) && matches!(model.links()[link.0].joint.positions(), 1..=3);
        match self {
            Self::Ball { links, .. } | Self::Distance { links, .. } | Self::Weld { links, .. } => {
                if let Some(link) = links.iter().flatten().find(|link| !known(link)) {
                    return fail("link", link.0 as f64, "", "a link of the model");
                }
                if links[0] == links[1] {
                    return fail(
                        "link",
                        links[0].map_or(-1.0, |l| l.0 as f64),
                        "",
                        "another than the second",
                    );
                }
                if let Self::Distance { distance, .. } = self
                    && !(distance.is_finite() && *distance > 0.0)
                {
                    return fail("distance", *distance, "m", "finite and positive");
                }
            }
            Self::Polynomial { driver, driven, coefficients, origin } => {
                if let Some(link) = [driver, driven].into_iter().find(|link| !has_coordinate(link)) {
                    return fail("link", link.0 as f64, "", "a link whose joint has a coordinate");
                }
                if driver == driven {
                    return fail("link", driver.0 as f64, "", "another than that which it drives");
                }
                if let Some(bad) = coefficients.iter().chain([origin]).find(|x| !x.is_finite()) {
                    return fail("coefficients or origin", *bad, "", "finite");
                }
            }
            Self::Coupler { driver, driven, ratio, offset } => {
                if let Some(link) = [driver, driven].into_iter().find(|link| !has_coordinate(link)) {
                    return fail("link", link.0 as f64, "", "a link whose joint has a coordinate");
                }
                if !(ratio.is_finite() && offset.is_finite()) {
                    return fail("ratio or offset", ratio + offset, "", "finite");
                }
            }
            Self::Compliant { compliance, turning, lever, held } => {
                if let Some((field, x, unit, requirement)) = compliance.fault() {
                    return fail(field, x, unit, requirement);
                }
                for (field, x) in [("turning", *turning), ("lever", *lever)] {
                    if !(x.is_finite() && x >= 0.0) {
                        return fail(field, x, "SI", "finite and not negative");
                    }
                }
                held.validate(model, index)?;
            }
            Self::Timed { release, held } => {
                if release.is_nan() {
                    return fail("release", *release, "s", "a time");
                }
                held.validate(model, index)?;
            }
        }
        Ok(())
    }

    /// The rows of the constraint at a state: the beginning of a step, or its end, at which
    /// constraints released there still hold.
    pub(super) fn rows(
        &self,
        model: &Model,
        kinematics: &Kinematics,
        state: &State,
        at_end: bool,
        out: &mut Vec<ConstraintRow>,
    ) {
        let pose = |link: &Option<LinkId>| link.map_or(Isometry3::identity(), |l| *kinematics.pose(l));
        let q = |link: &LinkId| state.q[model.positions_of(*link).start];
        let world = |links: &[Option<LinkId>; 2], points: &[Point3<f64>; 2]| {
            [(pose(&links[0]) * points[0]).coords, (pose(&links[1]) * points[1]).coords]
        };
        match self {
            Self::Ball { links, points } => point_rows(*links, world(links, points), out),
            Self::Distance { links, points, distance } => {
                let points = world(links, points);
                let offset = points[1] - points[0];
                // Coincident points have no direction; any one will do.
                let direction = offset.try_normalize(1e-12).unwrap_or(Vector3::x());
                let error = offset.dot(&direction) - distance;
                out.push(ConstraintRow {
                    error,
                    kind: RowKind::Linear { links: *links, points, direction },
                    compliance: None,
                });
            }
            Self::Weld { links, frames } => {
                let [a, b] = [pose(&links[0]) * frames[0], pose(&links[1]) * frames[1]];
                point_rows(*links, [a.translation.vector, b.translation.vector], out);
                let turned = (b.rotation * a.rotation.inverse()).scaled_axis();
                for d in 0..3 {
                    let direction = Vector3::ith(d, 1.0);
                    out.push(ConstraintRow {
                        error: turned[d],
                        kind: RowKind::Angular { links: *links, direction },
                        compliance: None,
                    });
                }
            }
            Self::Coupler { driver, driven, ratio, offset } => {
                let error = q(driven) - ratio * q(driver) - offset;
                out.push(rates_row(model, [*driver, *driven], *ratio, error));
            }
            Self::Polynomial { driver, driven, coefficients, origin } => {
                let [value, slope] = value_and_slope(coefficients, q(driver) - origin);
                out.push(rates_row(model, [*driver, *driven], slope, q(driven) - value));
            }
            Self::Compliant { compliance, turning, lever, held } => {
                let first = out.len();
                held.rows(model, kinematics, state, at_end, out);
                let rows = &mut out[first..];
                let is_turning = |row: &ConstraintRow| matches!(row.kind, RowKind::Angular { .. });
                let weight = |row: &ConstraintRow| if is_turning(row) { *lever } else { 1.0 };
                let distance = rows.iter().map(|row| (weight(row) * row.error).powi(2)).sum::<f64>().sqrt();
                for row in rows {
                    let mobility = if is_turning(row) { *turning } else { compliance.mobility };
                    row.compliance = Some((Compliance { mobility, ..*compliance }, distance));
                }
            }
            Self::Timed { release, held } => {
                let slack = if at_end { RELEASE_SLACK } else { -RELEASE_SLACK };
                if state.time < release + slack {
                    held.rows(model, kinematics, state, at_end, out);
                }
            }
        }
    }
}

fn point_rows(links: [Option<LinkId>; 2], points: [Vector3<f64>; 2], out: &mut Vec<ConstraintRow>) {
    let error = points[1] - points[0];
    for d in 0..3 {
        let direction = Vector3::ith(d, 1.0);
        out.push(ConstraintRow {
            error: error[d],
            kind: RowKind::Linear { links, points, direction },
            compliance: None,
        });
    }
}

/// The row of a driver and what it drives, at a ratio of their rates.
fn rates_row(model: &Model, [driver, driven]: [LinkId; 2], ratio: f64, error: f64) -> ConstraintRow {
    let (driver, driven) = (model.velocities_of(driver).start, model.velocities_of(driven).start);
    ConstraintRow { error, kind: RowKind::Rates { driver, driven, ratio }, compliance: None }
}

/// A polynomial and its derivative at `x`, by Horner's rule.
pub(super) fn value_and_slope(coefficients: &[f64], x: f64) -> [f64; 2] {
    coefficients.iter().rev().fold([0.0; 2], |[value, slope], c| [value * x + c, slope * x + value])
}
