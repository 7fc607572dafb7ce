//! Tendons: strings along joints or through space, with springs, dampers, limits and dry friction.

use nalgebra::{Isometry3, Point3, Vector3};

use super::super::error::SimulationError;
use super::wrap::{WrapSurface, touch};
use crate::compliance::{Compliance, LimitCompliance};
use crate::multibody::{Kinematics, LinkId, Model, State, for_each_axis};

/// A string. Units are those of a length in metres; for a [`TendonPath::Joints`] of angles rad
/// replaces m and N m replaces N.
#[derive(Clone, Debug, PartialEq)]
pub struct Tendon {
    /// Name.
    pub name: String,
    /// Its way.
    pub path: TendonPath,
    /// Shortest and longest length \[m\]; infinite without a limit.
    pub range: [f64; 2],
    /// Compliance of these limits; `None` for near-rigid ones.
    pub limit_compliance: Option<LimitCompliance>,
    /// Stiffness \[N/m\] beyond the `rest` lengths.
    pub stiffness: f64,
    /// Lengths between which the spring is slack \[m\].
    pub rest: [f64; 2],
    /// Viscous damping \[N s/m\].
    pub damping: f64,
    /// Dry friction: its largest force \[N\].
    pub friction_loss: f64,
    /// Lengths that it is held at.
    pub holds: Vec<TendonHold>,
}

/// A length follows a polynomial of another tendon's: `l = sum_k c_k (l_driver - origin)^k`. A step
/// has its slope at the state.
#[derive(Clone, Debug, PartialEq)]
pub struct TendonHold {
    /// Number of the other tendon; `None` for a length c_0.
    pub driver: Option<usize>,
    /// The coefficients c_k, from k = 0 \[m\] on.
    pub coefficients: [f64; 5],
    /// Length of the driver at which the polynomial is c_0 \[m\].
    pub origin: f64,
    /// The compliance.
    pub compliance: Compliance,
}

/// The way of a tendon.
#[derive(Clone, Debug, PartialEq)]
pub enum TendonPath {
    /// The length is a sum of coordinates of joints, each times a coefficient. It is the first
    /// coordinate of a joint without a quaternion.
    Joints(Vec<(LinkId, f64)>),
    /// A way through space. Each branch, between pulleys, begins and ends at a point; a surface is
    /// between two points.
    Spatial(Vec<PathElement>),
}

/// A part of a way through space. Places are in the frame of a link; `None` is the world.
#[derive(Clone, Debug, PartialEq)]
pub enum PathElement {
    /// The string passes a point.
    Point {
        /// The link.
        link: Option<LinkId>,
        /// The point \[m\].
        point: Point3<f64>,
    },
    /// The string lies on a surface if that is in its way.
    Surface {
        /// The link.
        link: Option<LinkId>,
        /// Its frame.
        pose: Isometry3<f64>,
        /// Its shape.
        surface: WrapSurface,
        /// Its radius \[m\].
        radius: f64,
        /// A point on the side on which the string passes; within the radius if it passes inside.
        side: Option<(Option<LinkId>, Point3<f64>)>,
    },
    /// A new branch begins, whose length counts by the inverse of this number.
    Pulley {
        /// The number.
        divisor: f64,
    },
}

/// Most trees that a tendon or drive may connect.
const TREES: usize = 2;

impl PathElement {
    fn link(&self) -> Option<LinkId> {
        match self {
            Self::Point { link, .. } | Self::Surface { link, .. } => *link,
            Self::Pulley { .. } => None,
        }
    }
}

impl Tendon {
    /// A tendon without forces and limits.
    pub fn new(name: impl Into<String>, path: TendonPath) -> Self {
        Self {
            name: name.into(),
            path,
            range: [f64::NEG_INFINITY, f64::INFINITY],
            limit_compliance: None,
            stiffness: 0.0,
            rest: [0.0; 2],
            damping: 0.0,
            friction_loss: 0.0,
            holds: Vec::new(),
        }
    }

    /// Its length at a state \[m\].
    pub fn length(&self, model: &Model, kinematics: &Kinematics, state: &State) -> f64 {
        self.measure(model, kinematics, state, |_, _, _| {}, |_, _| {})
    }

    /// Its length at a state \[m, rad\], and the rate of that \[m/s, rad/s\].
    pub fn motion(&self, model: &Model, kinematics: &Kinematics, state: &State) -> (f64, f64) {
        let (mut pulled, mut turned) = (0.0, 0.0);
        let length = self.measure(
            model,
            kinematics,
            state,
            |link, point, direction| pulled += kinematics.point_velocity(link, &point).dot(&direction),
            |n, coefficient| turned += coefficient * state.v[n],
        );
        (length, pulled + turned)
    }

    /// Its length at a state \[m\], and the change of that with each velocity in `jacobian`
    /// \[-, m/rad\].
    pub fn moment_arms(
        &self,
        model: &Model,
        kinematics: &Kinematics,
        state: &State,
        jacobian: &mut [f64],
    ) -> f64 {
        jacobian.fill(0.0);
        let sums = core::cell::RefCell::new(jacobian);
        self.measure(
            model,
            kinematics,
            state,
            |link, point, direction| {
                for_each_axis(model, kinematics, link, &point, |n, axis| {
                    sums.borrow_mut()[n] += axis.linear.dot(&direction);
                });
            },
            |n, coefficient| sums.borrow_mut()[n] += coefficient,
        )
    }

    /// Its length \[m\], and how that changes: `pull(link, point, direction)` with the velocity of a
    /// point (world frame) of a link along the direction, `turn(n, coefficient)` with the degree of
    /// freedom n. The places where it touches a surface move with that: the length of a geodesic
    /// does not change with them, to first order.
    pub(super) fn measure(
        &self,
        model: &Model,
        kinematics: &Kinematics,
        state: &State,
        mut pull: impl FnMut(LinkId, Vector3<f64>, Vector3<f64>),
        mut turn: impl FnMut(usize, f64),
    ) -> f64 {
        let elements = match &self.path {
            TendonPath::Joints(terms) => {
                return terms
                    .iter()
                    .map(|(link, coefficient)| {
                        turn(model.velocities_of(*link).start, *coefficient);
                        coefficient * state.q[model.positions_of(*link).start]
                    })
                    .sum();
            }
            TendonPath::Spatial(elements) => elements,
        };
        let pose = |link: Option<LinkId>| link.map_or(Isometry3::identity(), |l| *kinematics.pose(l));
        let (mut length, mut weight) = (0.0, 1.0);
        // The last point, and a surface after it.
        let mut last: Option<(Option<LinkId>, Vector3<f64>)> = None;
        let mut between = None;
        let mut segment =
            |from: (Option<LinkId>, Vector3<f64>), to: (Option<LinkId>, Vector3<f64>), w: f64| {
                let line = to.1 - from.1;
                let distance = line.norm();
                // Coincident points have no direction; any one will do.
                let direction = line.try_normalize(1e-14).unwrap_or(Vector3::x());
                for ((link, point), sign) in [(from, -w), (to, w)] {
                    if let Some(link) = link.filter(|_| from.0 != to.0) {
                        pull(link, point, direction * sign);
                    }
                }
                w * distance
            };
        for element in elements {
            match element {
                PathElement::Pulley { divisor } => {
                    (last, between) = (None, None);
                    weight = 1.0 / divisor;
                }
                PathElement::Surface { .. } => between = Some(element),
                PathElement::Point { link, point } => {
                    let here = (*link, (pose(*link) * point).coords);
                    if let Some(from) = last {
                        let touched = between.and_then(|element| match element {
                            PathElement::Surface { link, pose: frame, surface, radius, side } => {
                                let side = side.as_ref().map(|(l, point)| (pose(*l) * point).coords);
                                let frame = pose(*link) * frame;
                                Some((*link, touch(*surface, &frame, *radius, [from.1, here.1], side)?))
                            }
                            _ => None,
                        });
                        length += match touched {
                            Some((link, touch)) => {
                                segment(from, (link, touch.points[0]), weight)
                                    + weight * touch.length
                                    + segment((link, touch.points[1]), here, weight)
                            }
                            None => segment(from, here, weight),
                        };
                    }
                    (last, between) = (Some(here), None);
                }
            }
        }
        length
    }

    /// The trees that it may move, in the order of its way.
    pub(super) fn trees(&self, model: &Model) -> [Option<usize>; TREES] {
        let mut trees = [None; TREES];
        self.for_each_tree(model, |tree| add_tree(&mut trees, tree));
        trees
    }

    fn for_each_tree(&self, model: &Model, mut visit: impl FnMut(usize)) {
        let mut of =
            |link: Option<LinkId>| link.and_then(|l| model.tree_of(l)).into_iter().for_each(&mut visit);
        match &self.path {
            TendonPath::Joints(terms) => terms.iter().for_each(|(link, _)| of(Some(*link))),
            TendonPath::Spatial(elements) => elements.iter().for_each(|element| of(element.link())),
        }
    }

    /// Checks what it is held at, as one of `all` tendons.
    pub(crate) fn validate_holds(&self, model: &Model, all: &[Self]) -> Result<(), SimulationError> {
        let fail = |field, value, unit, requirement| {
            let item = format!("tendon '{}'", self.name);
            Err(SimulationError::value(item, field, value, unit, requirement))
        };
        for hold in &self.holds {
            if let Some(bad) = hold.coefficients.iter().chain([&hold.origin]).find(|x| !x.is_finite()) {
                return fail("coefficients or origin", *bad, "", "finite");
            }
            if let Some((field, x, unit, requirement)) = hold.compliance.fault() {
                return fail(field, x, unit, requirement);
            }
            let Some(number) = hold.driver else { continue };
            let Some(driver) = all.get(number).filter(|driver| driver.name != self.name) else {
                return fail("driver", number as f64, "", "another tendon of the system");
            };
            let mut trees = std::collections::BTreeSet::new();
            [self, driver].into_iter().for_each(|tendon| {
                tendon.for_each_tree(model, |tree| {
                    trees.insert(tree);
                });
            });
            if trees.len() > TREES {
                let count = trees.len() as f64;
                return fail("trees with those of its driver", count, "", "at most two mechanisms");
            }
        }
        Ok(())
    }

    /// How far the spring is beyond its rest at a length \[m\].
    pub(crate) fn stretch(&self, length: f64) -> f64 {
        length - length.clamp(self.rest[0], self.rest[1])
    }

    /// Energy of its spring at a length \[J\].
    pub(crate) fn energy(&self, length: f64) -> f64 {
        0.5 * self.stiffness * self.stretch(length).powi(2)
    }

    /// The same tendon for links and tendons numbered from `first` on, whose world is at `base` of a link, or of
    /// the world.
    pub(crate) fn moved(
        mut self,
        (first, first_tendon): (usize, usize),
        carrier: Option<LinkId>,
        base: &Isometry3<f64>,
    ) -> Self {
        self.holds.iter_mut().filter_map(|hold| hold.driver.as_mut()).for_each(|d| *d += first_tendon);
        let here = |link: Option<LinkId>| link.map_or(carrier, |l| Some(LinkId(first + l.0)));
        let at = |link: Option<LinkId>| if link.is_some() { Isometry3::identity() } else { *base };
        match &mut self.path {
            TendonPath::Joints(terms) => terms.iter_mut().for_each(|(link, _)| link.0 += first),
            TendonPath::Spatial(elements) => {
                for element in elements {
                    match element {
                        PathElement::Point { link, point } => {
                            *point = at(*link) * *point;
                            *link = here(*link);
                        }
                        PathElement::Surface { link, pose, side, .. } => {
                            *pose = at(*link) * *pose;
                            *link = here(*link);
                            if let Some((link, point)) = side {
                                *point = at(*link) * *point;
                                *link = here(*link);
                            }
                        }
                        PathElement::Pulley { .. } => {}
                    }
                }
            }
        }
        self
    }

    /// Checks that it fits the model and its values are in range.
    ///
    /// # Errors
    /// [`SimulationError::Value`] that names the tendon and the value.
    pub fn validate(&self, model: &Model) -> Result<(), SimulationError> {
        let fail = |field, value, unit, requirement| {
            let item = format!("tendon '{}'", self.name);
            Err(SimulationError::value(item, field, value, unit, requirement))
        };
        for (field, value) in
            [("stiffness", self.stiffness), ("damping", self.damping), ("friction loss", self.friction_loss)]
        {
            if !(value.is_finite() && value >= 0.0) {
                return fail(field, value, "SI", "finite and not negative");
            }
        }
        if !(self.rest[0] <= self.rest[1] && self.rest.iter().all(|x| x.is_finite())) {
            return fail("rest length", self.rest[1], "m", "finite and not below the first");
        }
        if self.range.iter().any(|x| x.is_nan()) || self.range[0] >= self.range[1] {
            return fail("range", self.range[1], "m", "above the lower limit");
        }
        if let Some((field, x, unit, requirement)) = self.limit_compliance.and_then(|c| c.fault()) {
            return fail(field, x, unit, requirement);
        }
        let known = |link: &LinkId| link.0 < model.links().len();
        match &self.path {
            TendonPath::Joints(terms) => {
                for (link, coefficient) in terms {
                    if !known(link) || !matches!(model.links()[link.0].joint.positions(), 1..=3) {
                        return fail("link", link.0 as f64, "", "a link whose joint has a coordinate");
                    }
                    if !coefficient.is_finite() {
                        return fail("coefficient", *coefficient, "", "finite");
                    }
                }
            }
            TendonPath::Spatial(elements) => validate_way(elements, model, fail)?,
        }
        let mut trees = std::collections::BTreeSet::new();
        self.for_each_tree(model, |tree| {
            trees.insert(tree);
        });
        if trees.len() > TREES {
            return fail("trees", trees.len() as f64, "", "at most two: mechanisms apart from each other");
        }
        Ok(())
    }
}

fn validate_way(
    elements: &[PathElement],
    model: &Model,
    fail: impl Fn(&'static str, f64, &'static str, &'static str) -> Result<(), SimulationError>,
) -> Result<(), SimulationError> {
    let known = |link: &Option<LinkId>| link.is_none_or(|l| l.0 < model.links().len());
    // Whether the branch has a point, and the last element is one.
    let mut after_point = false;
    let mut open = false;
    for (i, element) in elements.iter().enumerate() {
        let order = "points, surfaces between two points, and pulleys between branches";
        match element {
            PathElement::Point { link, point } => {
                if !known(link) || !point.iter().all(|x| x.is_finite()) {
                    return fail("path element", i as f64, "", "at a finite point of a link of the model");
                }
                (after_point, open) = (true, false);
            }
            PathElement::Surface { link, radius, side, .. } => {
                if !after_point || open {
                    return fail("path element", i as f64, "", order);
                }
                if !known(link) || side.as_ref().is_some_and(|(link, _)| !known(link)) {
                    return fail("path element", i as f64, "", "on a link of the model");
                }
                if !(radius.is_finite() && *radius > 0.0) {
                    return fail("radius", *radius, "m", "finite and positive");
                }
                open = true;
            }
            PathElement::Pulley { divisor } => {
                if open {
                    return fail("path element", i as f64, "", order);
                }
                if !(divisor.is_finite() && *divisor > 0.0) {
                    return fail("divisor", *divisor, "", "finite and positive");
                }
                after_point = false;
            }
        }
    }
    if open { fail("path element", elements.len() as f64, "", "a point after a surface") } else { Ok(()) }
}

/// Adds a tree unless it is there. Validation bounds their number.
pub(super) fn add_tree(trees: &mut [Option<usize>; TREES], tree: usize) {
    for slot in trees {
        match slot {
            Some(other) if *other == tree => return,
            Some(_) => {}
            None => {
                *slot = Some(tree);
                return;
            }
        }
    }
}
