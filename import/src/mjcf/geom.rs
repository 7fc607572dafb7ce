//! Geoms: shapes, their masses and materials.

use std::rc::Rc;

use nalgebra::{Isometry3, Point3, Translation3, Unit, Vector3};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem};
use super::asset::{Assets, MeshAsset, opacity, paint};
use super::compiler::Compiler;
use super::pose::{pose, turn_z_to};
use super::shell;
use super::shown::Show;
use pliant_geometry::{Drawn, Shape};
use pliant_rigid::multibody::RigidInertia;

const TYPES: [&str; 9] =
    ["plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"];

/// What a geom consists of.
#[derive(Clone, Debug)]
enum GeomShape {
    Solid(Shape),
    Mesh(Rc<MeshAsset>),
    /// A mesh that could not be read: nothing if it is only seen.
    Unread(ImportError),
}

/// A geom.
#[derive(Clone, Debug)]
pub(super) struct Geom {
    pub element: Element,
    pub name: String,
    shape: GeomShape,
    /// Its frame in the body's.
    pub pose: Isometry3<f64>,
    pub group: i64,
    pub contype: u32,
    pub conaffinity: u32,
    pub color: [u8; 3],
    /// Whether pictures show it.
    pub show: Show,
}

impl Geom {
    /// Whether it is a mesh, whose frame MuJoCo moves.
    pub fn is_mesh(&self) -> bool {
        !matches!(self.shape, GeomShape::Solid(_))
    }

    /// Reads a geom whose defaults are resolved.
    pub fn read(
        element: Element,
        fallback: String,
        frame: &Isometry3<f64>,
        compiler: &Compiler,
        assets: &Assets,
    ) -> Result<Self, ImportError> {
        let kind = TYPES[element.word("type", &TYPES)?.unwrap_or(2)];
        if element.text("mesh").is_some() && kind != "mesh" {
            let reason = "a primitive fitted to a mesh; write the primitive".to_owned();
            return Err(element.fail_at("mesh", ImportProblem::Unsupported(reason)));
        }
        let mut local = pose(&element, compiler)?;
        let ends = element.array::<6>("fromto")?;
        let mut mesh = None;
        let shape = match kind {
            "mesh" => {
                let name = element.required("mesh")?;
                mesh = Some(match assets.meshes.get(name) {
                    Some(Ok(mesh)) => GeomShape::Mesh(mesh.clone()),
                    Some(Err(error)) => GeomShape::Unread(error.clone()),
                    None => return Err(element.fail_at("mesh", ImportProblem::Reference("mesh"))),
                });
                // In its place until its hull is needed.
                Shape::HalfSpace
            }
            "hfield" => {
                let name = element.required("hfield")?;
                let field = assets.height_fields.get(name);
                field
                    .ok_or_else(|| element.fail_at("hfield", ImportProblem::Reference("height field")))?
                    .clone()
            }
            "sdf" => {
                let reason = "shapes defined by a signed distance function".to_owned();
                return Err(element.fail_at("type", ImportProblem::Unsupported(reason)));
            }
            "plane" => Shape::HalfSpace,
            kind => primitive(&element, kind, ends.is_some())?,
        };
        let shape = match ends {
            Some(ends) => stretch(&element, shape, kind, &ends, &mut local)?,
            None => shape,
        };
        shape.validate().map_err(|e| element.fail_at("size", e.into()))?;
        let bits = |attribute| -> Result<u32, ImportError> {
            // Negative numbers are bit masks too.
            Ok(element.integer(attribute)?.map_or(1, |n| n as u32))
        };
        let (contype, conaffinity) = (bits("contype")?, bits("conaffinity")?);
        let painted = match element.text("material") {
            None => None,
            Some(name) => Some(
                assets
                    .materials
                    .get(name)
                    .ok_or_else(|| element.fail_at("material", ImportProblem::Reference("material")))?,
            ),
        };
        let group = element.integer("group")?.unwrap_or(0);
        Ok(Self {
            name: element.text("name").map_or(fallback, str::to_owned),
            shape: mesh.unwrap_or(GeomShape::Solid(shape)),
            pose: frame * local,
            group,
            contype,
            conaffinity,
            color: paint(&element, painted)?,
            show: Show::of(group, opacity(&element, painted)?),
            element,
        })
    }

    /// Whether it is a mesh that is only seen, of group 1 or 2: where a body has one, files by
    /// robosuite's convention have what touches in group 0.
    pub fn is_skin(&self) -> bool {
        let touches = self.contype != 0 || self.conaffinity != 0;
        !touches && self.group > 0 && self.show == Show::Always && matches!(self.shape, GeomShape::Mesh(_))
    }

    /// Its shape; `None` of a mesh.
    pub fn primitive(&self) -> Option<&Shape> {
        match &self.shape {
            GeomShape::Solid(shape) => Some(shape),
            GeomShape::Mesh(_) | GeomShape::Unread(_) => None,
        }
    }

    /// The solids that touch.
    pub fn solids(&self) -> Result<Vec<Shape>, ImportError> {
        match &self.shape {
            GeomShape::Solid(shape) => Ok(vec![shape.clone()]),
            GeomShape::Mesh(mesh) => mesh.solids(),
            GeomShape::Unread(error) => Err(error.clone()),
        }
    }

    /// What is seen of it, if it could be read.
    pub fn drawn(&self) -> Option<Drawn> {
        match &self.shape {
            GeomShape::Solid(shape) => Some(Drawn::Solid(shape.clone())),
            GeomShape::Mesh(mesh) => mesh.drawn(),
            GeomShape::Unread(_) => None,
        }
    }

    /// The surface of a mesh that its hull does not follow.
    pub fn hollow(&self) -> Option<Drawn> {
        match &self.shape {
            GeomShape::Mesh(mesh) => mesh.hollow(),
            GeomShape::Solid(_) | GeomShape::Unread(_) => None,
        }
    }

    /// Mass and inertia about the body's origin, in its axes; `None` without mass.
    pub fn mass(&self) -> Result<Option<RigidInertia>, ImportError> {
        let density = self.element.not_negative("density")?.unwrap_or(1000.0);
        let mass = self.element.not_negative("mass")?;
        // What weighs nothing needs no volume.
        if mass.unwrap_or(density) == 0.0 {
            return Ok(None);
        }
        let shell = self.element.flag("shellinertia", false)?;
        let (unit, center, inertia) = match &self.shape {
            GeomShape::Mesh(_) | GeomShape::Unread(_) if shell => {
                return Err(self.element.bad("shellinertia", "left out for a mesh: its asset has `inertia`"));
            }
            GeomShape::Mesh(mesh) => {
                let figures = mesh.mass()?;
                (figures.size, figures.center, figures.inertia)
            }
            GeomShape::Unread(error) => return Err(error.clone()),
            GeomShape::Solid(Shape::HalfSpace | Shape::HeightField(_)) => return Ok(None),
            GeomShape::Solid(shape) if shell => match shell::figures(shape) {
                Some((area, inertia)) => (area, Point3::origin(), inertia),
                None => return Err(self.element.bad("shellinertia", "false for this type")),
            },
            GeomShape::Solid(shape) => match shape.mass_properties(1.0) {
                Some(figures) => figures,
                None => return Ok(None),
            },
        };
        let mass = mass.unwrap_or(density * unit);
        let rotation = self.pose.rotation.to_rotation_matrix();
        let turned = rotation.matrix() * inertia * rotation.matrix().transpose();
        let center: Point3<f64> = self.pose * center;
        Ok((mass > 0.0).then(|| RigidInertia::at_center(mass, center.coords, turned * (mass / unit))))
    }
}

/// A shape from `size`; the one length that `fromto` gives is 1 until it is known.
fn primitive(element: &Element, kind: &str, fromto: bool) -> Result<Shape, ImportError> {
    let needed = match kind {
        "sphere" => 1,
        "capsule" | "cylinder" => 2 - usize::from(fromto),
        _ if fromto => 1,
        _ => 3,
    };
    let Some(size) = element.numbers("size", 1..=3)? else {
        return Err(element.fail(ImportProblem::Missing("size")));
    };
    if size.len() < needed || size[..needed].iter().any(|s| *s <= 0.0) {
        return Err(element.bad("size", &format!("{needed} positive lengths (m) for a {kind}")));
    }
    let at = |i: usize| if fromto { size[0] } else { size[i] };
    let last = if fromto { 1.0 } else { size[needed - 1] };
    Ok(match kind {
        "sphere" => Shape::Sphere { radius: size[0] },
        "capsule" => Shape::Capsule { radius: size[0], half_length: last },
        "cylinder" => Shape::Cylinder { radius: size[0], half_length: last },
        "ellipsoid" => Shape::Ellipsoid { semi_axes: Vector3::new(size[0], at(1), last) },
        _ => Shape::Box { half_extents: Vector3::new(size[0], at(1), last) },
    })
}

/// Puts a long shape between two points. Its z axis points from the second to the first.
fn stretch(
    element: &Element,
    shape: Shape,
    kind: &str,
    ends: &[f64; 6],
    local: &mut Isometry3<f64>,
) -> Result<Shape, ImportError> {
    let (from, to) = (Vector3::new(ends[0], ends[1], ends[2]), Vector3::new(ends[3], ends[4], ends[5]));
    let length = (from - to).norm();
    let Some(direction) = Unit::try_new(from - to, 1e-14) else {
        return Err(element.bad("fromto", "two different points (m)"));
    };
    *local = Isometry3::from_parts(Translation3::from((from + to) * 0.5), turn_z_to(&direction));
    let half = length / 2.0;
    Ok(match shape {
        Shape::Capsule { radius, .. } => Shape::Capsule { radius, half_length: half },
        Shape::Cylinder { radius, .. } => Shape::Cylinder { radius, half_length: half },
        Shape::Ellipsoid { semi_axes: a } => Shape::Ellipsoid { semi_axes: Vector3::new(a.x, a.y, half) },
        Shape::Box { half_extents: a } => Shape::Box { half_extents: Vector3::new(a.x, a.y, half) },
        _ => return Err(element.bad("fromto", &format!("left out for a {kind}"))),
    })
}
