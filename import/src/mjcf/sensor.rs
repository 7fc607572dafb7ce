//! Sensors. What each measures is in the table of `pliant_rigid` (`Quantity`); here its names are
//! resolved. A sensor does not change the motion, so that what cannot be measured is left out with
//! a warning.

use nalgebra::{Isometry3, Translation3, Vector3};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};
use super::actuator::Motors;
use super::body::{Freedom, MjcfBody, MjcfSite};
use super::links::JointRecord;
use super::tendon::TendonRecord;
use pliant_rigid::{Quantity, Sensor, SensorFrame, SensorObject, Source, Subject, TouchZone};

/// What names in a sensor mean.
pub(super) struct SensorContext<'a> {
    pub bodies: &'a [MjcfBody],
    pub joints: &'a [JointRecord],
    pub tendons: &'a [TendonRecord],
    pub motors: &'a Motors,
    /// Whether the file has copies, whose sensors are not copied.
    pub replicated: bool,
}

/// Why a sensor is not read.
enum Failure {
    /// It is left out, for this reason.
    Left(&'static str),
    Error(ImportError),
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::Error(error)
    }
}

const PRINCIPAL: &str = "left out: the axes of a body of type `body` are the principal ones; use `xbody`";

/// Reads `<sensor>`.
pub(super) fn read(
    root: &Element,
    context: &SensorContext<'_>,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Vec<Sensor>, ImportError> {
    let mut sensors: Vec<Sensor> = Vec::new();
    for (i, element) in root.all("sensor").flat_map(|sensor| &sensor.children).enumerate() {
        // The others were left out with a warning.
        let Some(quantity) = Quantity::named(&element.tag) else { continue };
        let name = element.text("name").map_or_else(|| format!("{}{i}", element.tag), str::to_owned);
        if sensors.iter().any(|sensor| sensor.name == name) {
            return Err(element.fail_at("name", ImportProblem::Duplicate("sensor")));
        }
        let cutoff = element.not_negative("cutoff")?.filter(|cutoff| *cutoff > 0.0);
        let parts = context.object(element, quantity).and_then(|object| {
            let reference = context.reference(element, quantity)?;
            Ok((object, reference))
        });
        match parts {
            Ok((object, reference)) => {
                let cutoff = cutoff.unwrap_or(f64::INFINITY);
                sensors.push(Sensor { name, quantity, object, reference, cutoff });
            }
            Err(Failure::Left(why)) => warnings.push(element.warn("", why).of(WarningKind::Extension)),
            Err(Failure::Error(error)) if context.replicated && is_reference(&error) => {
                let why = "left out: it names what is not there, or is copied";
                warnings.push(element.warn("", why).of(WarningKind::Extension));
            }
            Err(Failure::Error(error)) => return Err(error),
        }
    }
    Ok(sensors)
}

fn is_reference(error: &ImportError) -> bool {
    matches!(*error.problem, ImportProblem::Reference(_))
}

impl SensorContext<'_> {
    fn object(&self, element: &Element, quantity: Quantity) -> Result<SensorObject, Failure> {
        let row = quantity.row();
        Ok(match row.subject {
            Subject::None => SensorObject::None,
            Subject::Site => {
                let (frame, site) = self.site(element, "site")?;
                if row.source == Source::Reactions && frame.link.is_none() {
                    return Err(Failure::Left("left out: nothing carries the world"));
                }
                match quantity {
                    Quantity::Touch => SensorObject::Zone(frame, zone(&site.element)?),
                    _ => SensorObject::Frame(frame),
                }
            }
            Subject::Frame => {
                let axes = matches!(
                    quantity,
                    Quantity::FrameRotation | Quantity::FrameX | Quantity::FrameY | Quantity::FrameZ
                );
                SensorObject::Frame(self.frame(element, ["objtype", "objname"], axes)?)
            }
            Subject::Joint => SensorObject::Joint(self.joint(element, false)?),
            Subject::Ball => SensorObject::Joint(self.joint(element, true)?),
            Subject::Tendon => {
                let name = element.required("tendon")?;
                let found = self.tendons.iter().position(|record| record.tendon.name == name);
                SensorObject::Tendon(found.ok_or_else(|| missing(element, "tendon", "tendon"))?)
            }
            Subject::Actuator => {
                let name = element.required("actuator")?;
                let found = self.motors.measured.iter().find(|(known, _)| known == name);
                match found.ok_or_else(|| missing(element, "actuator", "actuator"))?.1 {
                    Some(object) => object,
                    None => return Err(Failure::Left("left out: its actuator is left out")),
                }
            }
            Subject::Subtree => {
                let body = self.body(element, "body")?;
                match body.link {
                    Some(link) => SensorObject::Subtree(link),
                    None => return Err(Failure::Left("left out: of the world as a whole")),
                }
            }
        })
    }

    /// The frame that a frame is measured against.
    fn reference(&self, element: &Element, quantity: Quantity) -> Result<Option<SensorFrame>, Failure> {
        match (element.text("reftype"), element.text("refname")) {
            _ if quantity.row().subject != Subject::Frame => Ok(None),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(element.fail(ImportProblem::Missing("reftype")).into()),
            (Some(_), _) => self.frame(element, ["reftype", "refname"], true).map(Some),
        }
    }

    fn site(
        &self,
        element: &Element,
        attribute: &'static str,
    ) -> Result<(SensorFrame, &MjcfSite), ImportError> {
        let name = element.required(attribute)?;
        let mut all = self.bodies.iter().flat_map(|body| body.sites.iter().map(move |site| (body, site)));
        let found = all.find(|(_, site)| site.name == name);
        let (body, site) = found.ok_or_else(|| missing(element, attribute, "site"))?;
        Ok((SensorFrame { link: body.link, pose: body.in_link * site.frame }, site))
    }

    fn body(&self, element: &Element, attribute: &'static str) -> Result<&MjcfBody, ImportError> {
        let name = element.required(attribute)?;
        let found = self.bodies.iter().find(|body| body.name == name);
        found.ok_or_else(|| missing(element, attribute, "body"))
    }

    fn joint(&self, element: &Element, ball: bool) -> Result<pliant_rigid::multibody::LinkId, ImportError> {
        let name = element.required("joint")?;
        let found = self.joints.iter().find(|joint| joint.name == name);
        let joint = found.ok_or_else(|| missing(element, "joint", "joint"))?;
        match ball {
            true if joint.freedom != Freedom::Ball => Err(element.bad("joint", "that of a ball joint")),
            false if !joint.is_scalar() => Err(element.bad("joint", "that of a hinge or slide joint")),
            _ => Ok(joint.link),
        }
    }

    /// A frame by the type and name of what has it. `axes` says whether its axes count.
    fn frame(
        &self,
        element: &Element,
        [kind, attribute]: [&'static str; 2],
        axes: bool,
    ) -> Result<SensorFrame, Failure> {
        let words = ["body", "xbody", "geom", "site", "camera"];
        let Some(word) = element.word(kind, &words)? else {
            return Err(element.fail(ImportProblem::Missing(kind)).into());
        };
        let on = |body: &MjcfBody, frame: Isometry3<f64>| SensorFrame {
            link: body.link,
            pose: body.in_link * frame,
        };
        match words[word] {
            "body" if axes => Err(Failure::Left(PRINCIPAL)),
            "body" => {
                let body = self.body(element, attribute)?;
                let center = body.mass.as_ref().map_or_else(Vector3::zeros, |(_, center)| *center);
                Ok(on(body, Translation3::from(center).into()))
            }
            "xbody" => Ok(on(self.body(element, attribute)?, Isometry3::identity())),
            "site" => Ok(self.site(element, attribute)?.0),
            "geom" => {
                let name = element.required(attribute)?;
                let mut all = self.bodies.iter().flat_map(|body| body.geoms.iter().map(move |g| (body, g)));
                let found = all.find(|(_, geom)| geom.name == name);
                let (body, geom) = found.ok_or_else(|| missing(element, attribute, "geom"))?;
                match geom.is_mesh() {
                    true => Err(Failure::Left("left out: the frame of a mesh is that of its inertia")),
                    false => Ok(on(body, geom.pose)),
                }
            }
            _ => Err(Failure::Left("left out: cameras are")),
        }
    }
}

fn missing(element: &Element, attribute: &'static str, what: &'static str) -> ImportError {
    element.fail_at(attribute, ImportProblem::Reference(what))
}

/// The shape of a site, whose defaults are resolved.
fn zone(site: &Element) -> Result<TouchZone, ImportError> {
    let kinds = ["sphere", "capsule", "ellipsoid", "cylinder", "box"];
    let kind = kinds[site.word("type", &kinds)?.unwrap_or(0)];
    // MuJoCo's default where the file gives fewer numbers.
    let mut size = [0.005; 3];
    if let Some(given) = site.numbers("size", 1..=3)? {
        size.iter_mut().zip(given).for_each(|(size, given)| *size = given);
    }
    let used = if kind == "sphere" { 1 } else { [2, 3][usize::from(kind == "ellipsoid" || kind == "box")] };
    if size[..used].iter().any(|x| *x <= 0.0) {
        return Err(site.bad("size", "positive"));
    }
    let [a, b, _] = size;
    Ok(match kind {
        "capsule" => TouchZone::Capsule(a, b),
        "ellipsoid" => TouchZone::Ellipsoid(size.into()),
        "cylinder" => TouchZone::Cylinder(a, b),
        "box" => TouchZone::Box(size.into()),
        _ => TouchZone::Sphere(a),
    })
}
