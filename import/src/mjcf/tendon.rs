//! Tendons.

use nalgebra::Isometry3;

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning};
use super::body::{MjcfBody, range};
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::equality::scalar;
use super::links::JointRecord;
use super::softness::Softness;
use pliant_geometry::Shape;
use pliant_rigid::multibody::{Kinematics, LinkId, Model, State};
use pliant_rigid::simulation::{PathElement, Tendon, TendonHold, TendonPath, WrapSurface};

/// A tendon, and the range of the sum of its motors' forces.
pub(super) struct TendonRecord {
    pub tendon: Tendon,
    pub effort_range: Option<[f64; 2]>,
}

/// What names in a tendon mean.
struct Reader<'a> {
    compiler: &'a Compiler,
    bodies: &'a [MjcfBody],
    joints: &'a [JointRecord],
}

/// Reads `<tendon>`.
pub(super) fn read(
    root: &Element,
    defaults: &Defaults,
    (compiler, softness): (&Compiler, &Softness),
    model: &Model,
    bodies: &[MjcfBody],
    joints: &[JointRecord],
    state: &State,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Vec<TendonRecord>, ImportError> {
    let mut records: Vec<TendonRecord> = Vec::new();
    let reader = Reader { compiler, bodies, joints };
    // Springs without a rest length are at rest where the joints' springs are.
    let mut rest = state.clone();
    for joint in joints.iter().filter(|joint| joint.is_scalar()) {
        rest.q[model.positions_of(joint.link).start] = model.links()[joint.link.0].dofs[0].reference;
    }
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, &rest);
    let mut shown = Kinematics::new(model);
    shown.update(model, state);
    for (i, element) in root.all("tendon").flat_map(|tendon| &tendon.children).enumerate() {
        let mut resolved = defaults.resolve_as(element, "tendon")?;
        resolved.children.clone_from(&element.children);
        let name = element.text("name").map_or_else(|| format!("tendon{i}"), str::to_owned);
        if records.iter().any(|record| record.tendon.name == name) {
            return Err(element.fail_at("name", ImportProblem::Duplicate("tendon")));
        }
        let mut record = reader.tendon(&resolved, name, warnings)?;
        let tendon = &mut record.tendon;
        tendon.validate(model).map_err(|e| element.fail(e.into()))?;
        tendon.rest = match resolved.numbers("springlength", 1..=2)?.as_deref() {
            None | Some([-1.0] | [-1.0, -1.0]) => [tendon.length(model, &kinematics, &rest); 2],
            Some([length]) => [*length; 2],
            Some([low, high]) if low <= high => [*low, *high],
            Some(_) => return Err(resolved.bad("springlength", "one length, or two that do not fall")),
        };
        if tendon.range.iter().any(|limit| limit.is_finite()) {
            let mut moments = vec![0.0; model.velocities()];
            tendon.moment_arms(model, &shown, state, &mut moments);
            let compliance = softness.limit(&resolved, softness.mobility(&moments), 1.0)?;
            tendon.limit_compliance = Some(compliance);
        }
        records.push(record);
    }
    let configuration = Configuration { softness, model, state, shown: &shown };
    for element in root.all("equality").flat_map(|equality| equality.all("tendon")) {
        let resolved = defaults.resolve_as(element, "equality")?;
        let (held, hold) = configuration.hold(&resolved, &records)?;
        if resolved.flag("active", true)? {
            records[held].tendon.holds.push(hold);
        } else {
            warnings.push(element.warn("active", "left out: constraints cannot be activated during a run"));
        }
    }
    Ok(records)
}

/// The configuration of the file, to which equalities of tendons refer.
struct Configuration<'a> {
    softness: &'a Softness,
    model: &'a Model,
    state: &'a State,
    shown: &'a Kinematics,
}

impl Configuration<'_> {
    /// `l1 - l1_0 = p0 + p1 (l2 - l2_0) + ...` with the lengths in the configuration of the file;
    /// without a second tendon the first is held at `l1_0 + p0`. The number of the first, and how it
    /// is held.
    fn hold(&self, element: &Element, records: &[TendonRecord]) -> Result<(usize, TendonHold), ImportError> {
        let number = |attribute: &'static str| -> Result<usize, ImportError> {
            let name = element.required(attribute)?;
            let found = records.iter().position(|record| record.tendon.name == name);
            found.ok_or_else(|| element.fail_at(attribute, ImportProblem::Reference("tendon")))
        };
        let held = number("tendon1")?;
        let driver = element.text("tendon2").map(|_| number("tendon2")).transpose()?;
        if driver == Some(held) {
            return Err(element.bad("tendon2", "another tendon than tendon1"));
        }
        let mut mobility = 0.0;
        let mut length = |number: usize| {
            let tendon = &records[number].tendon;
            let mut moments = vec![0.0; self.model.velocities()];
            let length = tendon.moment_arms(self.model, self.shown, self.state, &mut moments);
            mobility += self.softness.mobility(&moments);
            length
        };
        let (own, origin) = (length(held), driver.map_or(0.0, &mut length));
        let polynomial = element.numbers("polycoef", 1..=5)?.unwrap_or_else(|| vec![0.0, 1.0]);
        let mut coefficients = [0.0; 5];
        coefficients.iter_mut().zip(&polynomial).for_each(|(own, given)| *own = *given);
        coefficients[0] += own;
        let compliance = self.softness.read(element, ["solref", "solimp"], mobility)?;
        Ok((held, TendonHold { driver, coefficients, origin, compliance }))
    }
}

impl Reader<'_> {
    fn tendon(
        &self,
        element: &Element,
        name: String,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<TendonRecord, ImportError> {
        let path = if element.tag == "fixed" { self.terms(element)? } else { self.way(element)? };
        let mut linear = |attribute: &'static str| -> Result<f64, ImportError> {
            let Some(numbers) = element.numbers(attribute, 1..=3)? else { return Ok(0.0) };
            if numbers[0] < 0.0 {
                return Err(element.bad(attribute, "finite and not negative"));
            }
            if numbers[1..].iter().any(|x| *x != 0.0) {
                warnings.push(element.warn(attribute, "approximated: only the linear coefficient is kept"));
            }
            Ok(numbers[0])
        };
        let (stiffness, damping) = (linear("stiffness")?, linear("damping")?);
        let limits = range(element, "range", "limited", self.compiler)?;
        let tendon = Tendon {
            range: limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
            stiffness,
            damping,
            friction_loss: element.not_negative("frictionloss")?.unwrap_or(0.0),
            ..Tendon::new(name, path)
        };
        let effort_range = range(element, "actuatorfrcrange", "actuatorfrclimited", self.compiler)?;
        Ok(TendonRecord { tendon, effort_range })
    }

    fn terms(&self, element: &Element) -> Result<TendonPath, ImportError> {
        let mut terms = Vec::new();
        for term in &element.children {
            let joint = scalar(self.joints, term, "joint")?;
            let Some(coefficient) = term.number("coef")? else {
                return Err(term.fail(ImportProblem::Missing("coef")));
            };
            terms.push((joint.link, coefficient));
        }
        if terms.is_empty() {
            return Err(element.fail(ImportProblem::Missing("joint")));
        }
        Ok(TendonPath::Joints(terms))
    }

    fn way(&self, element: &Element) -> Result<TendonPath, ImportError> {
        let mut elements = Vec::new();
        for part in &element.children {
            elements.push(match part.tag.as_str() {
                "site" => {
                    let (link, frame) = self.site(part, "site")?;
                    PathElement::Point { link, point: frame.translation.vector.into() }
                }
                "geom" => self.surface(part)?,
                _ => {
                    let Some(divisor) = part.number("divisor")? else {
                        return Err(part.fail(ImportProblem::Missing("divisor")));
                    };
                    PathElement::Pulley { divisor }
                }
            });
        }
        if elements.is_empty() {
            return Err(element.fail(ImportProblem::Missing("site")));
        }
        Ok(TendonPath::Spatial(elements))
    }

    fn surface(&self, part: &Element) -> Result<PathElement, ImportError> {
        let name = part.required("geom")?;
        let found = self
            .bodies
            .iter()
            .find_map(|body| body.geoms.iter().find(|geom| geom.name == name).map(|geom| (body, geom)));
        let Some((body, geom)) = found else {
            return Err(part.fail_at("geom", ImportProblem::Reference("geom")));
        };
        let (surface, radius) = match geom.primitive() {
            Some(&Shape::Sphere { radius }) => (WrapSurface::Sphere, radius),
            Some(&Shape::Cylinder { radius, .. }) => (WrapSurface::Cylinder, radius),
            _ => return Err(part.bad("geom", "a sphere or a cylinder")),
        };
        let side = match part.text("sidesite") {
            None => None,
            Some(_) => {
                let (link, frame) = self.site(part, "sidesite")?;
                Some((link, frame.translation.vector.into()))
            }
        };
        Ok(PathElement::Surface { link: body.link, pose: body.in_link * geom.pose, surface, radius, side })
    }

    fn site(
        &self,
        element: &Element,
        attribute: &'static str,
    ) -> Result<(Option<LinkId>, Isometry3<f64>), ImportError> {
        site(self.bodies, element, attribute)
    }
}

/// The site that an attribute names: its link, and its frame in that.
pub(super) fn site(
    bodies: &[MjcfBody],
    element: &Element,
    attribute: &'static str,
) -> Result<(Option<LinkId>, Isometry3<f64>), ImportError> {
    let name = element.required(attribute)?;
    let found = bodies.iter().find_map(|body| {
        let site = body.sites.iter().find(|site| site.name == name);
        site.map(|site| (body.link, body.in_link * site.frame))
    });
    found.ok_or_else(|| element.fail_at(attribute, ImportProblem::Reference("site")))
}
