//! Constraints between bodies and between joints.

use nalgebra::{Isometry3, Point3, Translation3};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning};
use super::body::MjcfBody;
use super::contact::body_named;
use super::defaults::Defaults;
use super::links::JointRecord;
use super::pose::quaternion;
use super::softness::Softness;
use pliant_rigid::multibody::{Kinematics, Model, State};
use pliant_rigid::simulation::Equality;

struct Reader<'a> {
    softness: &'a Softness,
    model: &'a Model,
    bodies: &'a [MjcfBody],
    joints: &'a [JointRecord],
    /// Pose of every body in the world, in the configuration that the file shows.
    poses: Vec<Isometry3<f64>>,
}

/// A side of a constraint: body, and a frame in it.
type Side = (usize, Isometry3<f64>);

/// Reads `<equality>`.
pub(super) fn read(
    root: &Element,
    defaults: &Defaults,
    softness: &Softness,
    model: &Model,
    bodies: &[MjcfBody],
    joints: &[JointRecord],
    state: &State,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Vec<Equality>, ImportError> {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let pose = |body: &MjcfBody| body.link.map_or(body.in_link, |link| kinematics.pose(link) * body.in_link);
    let reader = Reader { softness, model, bodies, joints, poses: bodies.iter().map(pose).collect() };
    let mut equalities = Vec::new();
    for element in root.all("equality").flat_map(|equality| &equality.children) {
        if !matches!(element.tag.as_str(), "connect" | "weld" | "joint") {
            continue;
        }
        let resolved = defaults.resolve_as(element, "equality")?;
        let equality = match element.tag.as_str() {
            "connect" => reader.connect(&resolved)?,
            "weld" => reader.weld(&resolved)?,
            _ => reader.couple(&resolved)?,
        };
        if resolved.flag("active", true)? {
            equalities.push(equality);
        } else {
            warnings.push(element.warn("active", "left out: constraints cannot be activated during a run"));
        }
    }
    Ok(equalities)
}

impl Reader<'_> {
    fn connect(&self, element: &Element) -> Result<Equality, ImportError> {
        if let Some([first, second]) = self.sites(element)? {
            let points = [&first, &second].map(|side| self.in_link(side).translation.vector.into());
            let held = Equality::Ball { links: [first.0, second.0].map(|b| self.bodies[b].link), points };
            return self.between(element, [first.0, second.0], 1.0, held);
        }
        let [a, b] = self.pair(element)?;
        let Some(anchor) = element.vector("anchor")? else {
            return Err(element.fail(ImportProblem::Missing("anchor")));
        };
        let first: Isometry3<f64> = Translation3::from(anchor).into();
        let second = self.poses[b].inverse() * self.poses[a] * first;
        let point = |body, frame| Point3::from(self.in_link(&(body, frame)).translation.vector);
        let points = [point(a, first), point(b, second)];
        let held = Equality::Ball { links: [self.bodies[a].link, self.bodies[b].link], points };
        self.between(element, [a, b], 1.0, held)
    }

    fn weld(&self, element: &Element) -> Result<Equality, ImportError> {
        let torque = element.number("torquescale")?.unwrap_or(1.0);
        if torque <= 0.0 {
            return Err(element.bad("torquescale", "positive"));
        }
        if let Some([first, second]) = self.sites(element)? {
            let frames = [self.in_link(&first), self.in_link(&second)];
            let links = [first.0, second.0].map(|b| self.bodies[b].link);
            return self.between(element, [first.0, second.0], torque, Equality::Weld { links, frames });
        }
        let [a, b] = self.pair(element)?;
        // A point of the second body; where `relpose` is given that is its place in the first.
        let anchor: Isometry3<f64> = Translation3::from(element.vector("anchor")?.unwrap_or_default()).into();
        let relative = match element.array::<7>("relpose")? {
            // Without a rotation the configuration that the file shows counts.
            Some([x, y, z, w, i, j, k]) if [w, i, j, k] != [0.0; 4] => {
                let rotation = quaternion(element, "relpose", [w, i, j, k])?;
                Isometry3::from_parts(Translation3::new(x, y, z), rotation)
            }
            _ => self.poses[a].inverse() * self.poses[b] * anchor,
        };
        let frames = [self.in_link(&(a, relative)), self.in_link(&(b, anchor))];
        let held = Equality::Weld { links: [self.bodies[a].link, self.bodies[b].link], frames };
        self.between(element, [a, b], torque, held)
    }

    /// `q1 - ref1 = p0 + p1 (q2 - ref2) + ...`; without a second joint the first is held at `ref1 +
    /// p0`.
    fn couple(&self, element: &Element) -> Result<Equality, ImportError> {
        let driven = scalar(self.joints, element, "joint1")?;
        let polynomial = element.numbers("polycoef", 1..=5)?.unwrap_or_else(|| vec![0.0, 1.0]);
        let p = |i: usize| polynomial.get(i).copied().unwrap_or(0.0);
        let driver = match element.text("joint2") {
            Some(_) => scalar(self.joints, element, "joint2")?,
            None => driven,
        };
        let is_curved = polynomial.iter().skip(2).any(|c| *c != 0.0);
        let held = if driver.link == driven.link {
            if element.text("joint2").is_some() {
                return Err(element.bad("joint2", "another joint than joint1"));
            }
            let offset = driven.reference + p(0);
            Equality::Coupler { driver: driver.link, driven: driven.link, ratio: 0.0, offset }
        } else if is_curved {
            let coefficients = [driven.reference + p(0), p(1), p(2), p(3), p(4)];
            let origin = driver.reference;
            Equality::Polynomial { driver: driver.link, driven: driven.link, coefficients, origin }
        } else {
            let offset = driven.reference + p(0) - p(1) * driver.reference;
            Equality::Coupler { driver: driver.link, driven: driven.link, ratio: p(1), offset }
        };
        let of = |link| self.softness.of_joint(self.model, link);
        let other = if driver.link == driven.link { 0.0 } else { of(driver.link) };
        let compliance = self.softness.read(element, ["solref", "solimp"], of(driven.link) + other)?;
        Ok(Equality::Compliant { compliance, turning: 0.0, lever: 0.0, held: Box::new(held) })
    }

    /// A constraint between bodies, with its compliance. MuJoCo's residual of a weld's turning is
    /// the sine of half the angle, times `torque` \[m\].
    fn between(
        &self,
        element: &Element,
        sides: [usize; 2],
        torque: f64,
        held: Equality,
    ) -> Result<Equality, ImportError> {
        let [a, b] = sides.map(|body| self.softness.of_body(self.model, &self.bodies[body]));
        let compliance = self.softness.read(element, ["solref", "solimp"], a[0] + b[0])?;
        let lever = 0.5 * torque;
        let turning = (a[1] + b[1]) / (lever * lever);
        Ok(Equality::Compliant { compliance, turning, lever, held: Box::new(held) })
    }

    fn pair(&self, element: &Element) -> Result<[usize; 2], ImportError> {
        let a = body_named(self.bodies, element, "body1")?;
        let b = if element.text("body2").is_some() { body_named(self.bodies, element, "body2")? } else { 0 };
        if a == b {
            return Err(element.bad("body2", "another body than body1"));
        }
        Ok([a, b])
    }

    fn sites(&self, element: &Element) -> Result<Option<[Side; 2]>, ImportError> {
        let site = |attribute: &'static str| -> Result<Side, ImportError> {
            let name = element.required(attribute)?;
            let mut all = self.bodies.iter().enumerate();
            all.find_map(|(b, body)| {
                body.sites.iter().find(|site| site.name == name).map(|site| (b, site.frame))
            })
            .ok_or_else(|| element.fail_at(attribute, ImportProblem::Reference("site")))
        };
        match (element.text("site1"), element.text("site2")) {
            (None, None) => Ok(None),
            _ => {
                let sides = [site("site1")?, site("site2")?];
                if sides[0].0 == sides[1].0 {
                    return Err(element.bad("site2", "on another body than site1"));
                }
                Ok(Some(sides))
            }
        }
    }

    /// A frame of a body, in that of its link.
    fn in_link(&self, (body, frame): &Side) -> Isometry3<f64> {
        self.bodies[*body].in_link * frame
    }
}

/// The joint with one coordinate that an attribute names.
pub(super) fn scalar<'a>(
    joints: &'a [JointRecord],
    element: &Element,
    attribute: &'static str,
) -> Result<&'a JointRecord, ImportError> {
    let name = element.required(attribute)?;
    match joints.iter().find(|joint| joint.name == name) {
        None => Err(element.fail_at(attribute, ImportProblem::Reference("joint"))),
        Some(joint) if !joint.is_scalar() => Err(element.bad(attribute, "a hinge or a slide")),
        Some(joint) => Ok(joint),
    }
}
