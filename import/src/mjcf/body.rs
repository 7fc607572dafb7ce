//! Bodies, joints, geoms and sites of the file, with frames and defaults resolved.

use nalgebra::{Isometry3, Unit, Vector3};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning};
use super::asset::Assets;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::geom::Geom;
use super::inertial::{self, Inertial};
use super::pose::pose;
use pliant_rigid::multibody::{Dof, LinkId};
use pliant_rigid::{MassProperties, Site};

/// A body. Number 0 is the world.
#[derive(Clone, Debug)]
pub(super) struct MjcfBody {
    pub element: Element,
    pub name: String,
    /// Number of the parent; its own for the world.
    pub parent: usize,
    /// Its frame in the parent's, in the configuration of the file.
    pub pose: Isometry3<f64>,
    pub inertial: Option<Inertial>,
    pub joints: Vec<MjcfJoint>,
    pub geoms: Vec<Geom>,
    pub sites: Vec<MjcfSite>,
    /// Whether the user moves it.
    pub mocap: bool,
    pub gravity: bool,
    /// Share of its weight that is compensated, if that is a part.
    pub compensated: f64,
    /// Mass, centre of mass (body frame) and inertia about it (body axes), once compiled.
    pub mass: Option<(MassProperties, Vector3<f64>)>,
    /// The moving body that it is welded to; the world's number for static bodies.
    pub part: usize,
    /// Its link, and its frame in that of the link.
    pub link: Option<LinkId>,
    pub in_link: Isometry3<f64>,
}

/// A site.
#[derive(Clone, Debug)]
pub(super) struct MjcfSite {
    /// With its defaults, for its shape.
    pub element: Element,
    /// Empty if it has none.
    pub name: String,
    /// In the frame of the body.
    pub frame: Isometry3<f64>,
}

/// Degrees of freedom of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Freedom {
    Free,
    Ball,
    Slide(Unit<Vector3<f64>>),
    Hinge(Unit<Vector3<f64>>),
}

/// A joint.
#[derive(Clone, Debug)]
pub(super) struct MjcfJoint {
    pub element: Element,
    pub name: String,
    pub freedom: Freedom,
    /// Its position in the body \[m\].
    pub anchor: Vector3<f64>,
    /// Its coordinate in the configuration of the file \[rad, m\].
    pub reference: f64,
    pub dof: Dof,
    pub effort_range: Option<[f64; 2]>,
}

struct Reader<'a> {
    compiler: &'a Compiler,
    defaults: &'a Defaults,
    assets: &'a Assets,
    warnings: &'a mut Vec<ImportWarning>,
    bodies: Vec<MjcfBody>,
    named_sites: Vec<Element>,
}

/// Context of a reader.
#[derive(Clone)]
struct Context {
    body: usize,
    frame: Isometry3<f64>,
    childclass: Option<String>,
}

/// Reads the bodies, parents first.
pub(super) fn read(
    root: &Element,
    compiler: &Compiler,
    defaults: &Defaults,
    assets: &Assets,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Vec<MjcfBody>, ImportError> {
    let world = MjcfBody::new(root.clone(), "world".to_owned(), 0, Isometry3::identity());
    let mut reader =
        Reader { compiler, defaults, assets, warnings, bodies: vec![world], named_sites: Vec::new() };
    for world in root.all("worldbody") {
        reader.children(world, &Context { body: 0, frame: Isometry3::identity(), childclass: None })?;
    }
    unique(reader.bodies.iter().map(|b| (&b.element, b.name.as_str())), "a body")?;
    let joints = reader.bodies.iter().flat_map(|b| b.joints.iter().map(|j| (&j.element, j.name.as_str())));
    unique(joints, "a joint")?;
    let geoms = reader.bodies.iter().flat_map(|b| b.geoms.iter().map(|g| (&g.element, g.name.as_str())));
    unique(geoms, "a geom")?;
    unique(reader.named_sites.iter().map(|site| (site, site.text("name").unwrap_or_default())), "a site")?;
    Ok(reader.bodies)
}

fn unique<'a>(
    names: impl Iterator<Item = (&'a Element, &'a str)>,
    what: &'static str,
) -> Result<(), ImportError> {
    let mut substep_states = std::collections::BTreeSet::new();
    for (element, name) in names {
        if !substep_states.insert(name) {
            return Err(element.fail_at("name", ImportProblem::Duplicate(what)));
        }
    }
    Ok(())
}

impl MjcfBody {
    fn new(element: Element, name: String, parent: usize, pose: Isometry3<f64>) -> Self {
        Self {
            element,
            name,
            parent,
            pose,
            inertial: None,
            joints: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
            mocap: false,
            gravity: true,
            compensated: 0.0,
            mass: None,
            part: 0,
            link: None,
            in_link: Isometry3::identity(),
        }
    }
}

impl MjcfBody {
    /// The sites with a name, in the frame of the link.
    pub fn exported_sites(&self) -> impl Iterator<Item = Site> + '_ {
        let named = self.sites.iter().filter(|site| !site.name.is_empty());
        let exported = |site: &MjcfSite| Site {
            name: site.name.clone(),
            link: self.link,
            pose: self.in_link * site.frame,
        };
        named.map(exported)
    }
}

impl Reader<'_> {
    /// Reads the contents of a body or frame.
    fn children(&mut self, element: &Element, context: &Context) -> Result<(), ImportError> {
        let mut context = context.clone();
        if let Some(class) = element.text("childclass") {
            if !self.defaults.has(class) {
                return Err(element.fail_at("childclass", ImportProblem::Reference("default class")));
            }
            context.childclass = Some(class.to_owned());
        }
        let class = context.childclass.clone();
        for child in &element.children {
            match child.tag.as_str() {
                "body" => self.body(child, &context)?,
                "frame" => {
                    let frame = context.frame * pose(child, self.compiler)?;
                    self.children(child, &Context { frame, ..context.clone() })?;
                }
                "joint" => {
                    let resolved = self.defaults.resolve(child, class.as_deref())?;
                    self.joint(resolved, &context)?;
                }
                "freejoint" => self.joint(child.clone(), &context)?,
                "geom" => {
                    let resolved = self.defaults.resolve(child, class.as_deref())?;
                    let body = &self.bodies[context.body];
                    let name = format!("{}/geom{}", body.name, body.geoms.len());
                    let geom = Geom::read(resolved, name, &context.frame, self.compiler, self.assets)?;
                    self.bodies[context.body].geoms.push(geom);
                }
                "site" => {
                    let resolved = self.defaults.resolve(child, class.as_deref())?;
                    let name = child.text("name").unwrap_or_default().to_owned();
                    if !name.is_empty() {
                        self.named_sites.push(child.clone());
                    }
                    let frame = context.frame * pose(&resolved, self.compiler)?;
                    self.bodies[context.body].sites.push(MjcfSite { element: resolved, name, frame });
                }
                "inertial" => {
                    if self.bodies[context.body].inertial.is_some() {
                        return Err(child.fail(ImportProblem::Duplicate("an element")));
                    }
                    let inertial = inertial::read(child, self.compiler)?;
                    self.bodies[context.body].inertial = Some(inertial);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn body(&mut self, element: &Element, context: &Context) -> Result<(), ImportError> {
        let number = self.bodies.len();
        let name = element.text("name").map_or_else(|| format!("body{number}"), str::to_owned);
        let frame = context.frame * pose(element, self.compiler)?;
        let mut body = MjcfBody::new(element.clone(), name, context.body, frame);
        body.element.children.clear();
        body.mocap = element.flag("mocap", false)?;
        if body.mocap && context.body != 0 {
            let reason = "a mocap body that is not a child of the world".to_owned();
            return Err(element.fail_at("mocap", ImportProblem::Unsupported(reason)));
        }
        match element.number("gravcomp")? {
            None | Some(0.0) => {}
            Some(1.0) => body.gravity = false,
            Some(share) if share > 0.0 && share < 1.0 => body.compensated = share,
            Some(_) => self
                .warnings
                .push(element.warn("gravcomp", "left out: only 0 to 1 are supported; gravity acts fully")),
        }
        self.bodies.push(body);
        let inner =
            Context { body: number, frame: Isometry3::identity(), childclass: context.childclass.clone() };
        self.children(element, &inner)
    }

    fn joint(&mut self, element: Element, context: &Context) -> Result<(), ImportError> {
        let body = &self.bodies[context.body];
        if context.body == 0 {
            return Err(element.fail(ImportProblem::Unsupported("the world has no joints".to_owned())));
        }
        let fallback = format!("{}/joint{}", body.name, body.joints.len());
        let name = element.text("name").map_or(fallback, str::to_owned);
        let kind = match element.tag.as_str() {
            "freejoint" => 3,
            _ => element.word("type", &["hinge", "slide", "ball", "free"])?.unwrap_or(0),
        };
        let axis = context.frame.rotation * element.direction("axis")?.unwrap_or(Vector3::z_axis());
        let freedom = [Freedom::Hinge(axis), Freedom::Slide(axis), Freedom::Ball, Freedom::Free][kind];
        if freedom == Freedom::Free && body.parent != 0 {
            let reason = "a free joint on a body that is not a child of the world".to_owned();
            return Err(element.fail(ImportProblem::Unsupported(reason)));
        }
        if body.mocap {
            let reason = "a joint of a mocap body".to_owned();
            return Err(element.fail(ImportProblem::Unsupported(reason)));
        }
        let free = |joint: &MjcfJoint| joint.freedom == Freedom::Free;
        if !body.joints.is_empty() && (freedom == Freedom::Free || body.joints.iter().any(free)) {
            let reason = "a free joint beside other joints of the same body".to_owned();
            return Err(element.fail(ImportProblem::Unsupported(reason)));
        }
        let anchor = context.frame * nalgebra::Point3::from(element.vector("pos")?.unwrap_or_default());
        // Angles of hinges and ball joints only are in the file's unit.
        let unit = if kind == 1 { 1.0 } else { self.compiler.angle };
        let joint = MjcfJoint {
            dof: self.dof(&element, freedom, unit)?,
            reference: if kind <= 1 { element.number("ref")?.unwrap_or(0.0) * unit } else { 0.0 },
            effort_range: range(&element, "actuatorfrcrange", "actuatorfrclimited", self.compiler)?,
            name,
            freedom,
            anchor: anchor.coords,
            element,
        };
        self.bodies[context.body].joints.push(joint);
        Ok(())
    }

    /// Passive properties.
    fn dof(&mut self, element: &Element, freedom: Freedom, unit: f64) -> Result<Dof, ImportError> {
        let mut dof = Dof {
            damping: self.linear(element, "damping")?,
            armature: element.not_negative("armature")?.unwrap_or(0.0),
            friction_loss: element.not_negative("frictionloss")?.unwrap_or(0.0),
            stiffness: self.linear(element, "stiffness")?,
            reference: element.number("springref")?.unwrap_or(0.0) * unit,
            ..Dof::default()
        };
        match freedom {
            // Limited without a range, MuJoCo holds it where it is.
            Freedom::Ball => {
                let given = ["range", "limited"].into_iter().find(|name| element.text(name).is_some());
                if let Some(attribute) = given
                    && element.tristate("limited")?.unwrap_or(attribute == "range")
                {
                    self.warnings.push(element.warn(attribute, "left out: ball joints have no limits"));
                }
            }
            Freedom::Free => {}
            _ => {
                if let Some([low, high]) = range(element, "range", "limited", self.compiler)? {
                    dof.limits = [low * unit, high * unit];
                }
            }
        }
        if matches!(freedom, Freedom::Ball | Freedom::Free) {
            dof.reference = 0.0;
            if dof.stiffness > 0.0 {
                self.warnings.push(element.warn("stiffness", "left out: a spring needs a coordinate"));
                dof.stiffness = 0.0;
            }
        }
        Ok(dof)
    }

    /// A coefficient that is not negative; those of higher powers are left out.
    fn linear(&mut self, element: &Element, attribute: &'static str) -> Result<f64, ImportError> {
        let Some(numbers) = element.numbers(attribute, 1..=3)? else { return Ok(0.0) };
        if numbers[0] < 0.0 {
            return Err(element.bad(attribute, "finite and not negative"));
        }
        if numbers[1..].iter().any(|x| *x != 0.0) {
            self.warnings.push(element.warn(attribute, "approximated: only the linear coefficient is kept"));
        }
        Ok(numbers[0])
    }
}

/// A range, if it is given and not switched off.
pub(super) fn range(
    element: &Element,
    attribute: &'static str,
    switch: &'static str,
    compiler: &Compiler,
) -> Result<Option<[f64; 2]>, ImportError> {
    let range = element.array::<2>(attribute)?;
    let on = match element.tristate(switch)? {
        Some(on) => on,
        None if compiler.autolimits || range.is_none() => range.is_some(),
        // MuJoCo refuses what would be ignored.
        None => return Err(element.fail_at(attribute, ImportProblem::Missing(switch))),
    };
    match range {
        _ if !on => Ok(None),
        None => Err(element.fail(ImportProblem::Missing(attribute))),
        Some([low, high]) if low < high => Ok(Some([low, high])),
        Some(_) => Err(element.bad(attribute, "a lower and a greater upper limit")),
    }
}
