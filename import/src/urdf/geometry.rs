//! Shapes of links.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nalgebra::{Isometry3, Translation3, Vector3};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};
use super::super::imported::Visual;
use super::super::mesh;
use super::super::mjcf::{DISSIPATION, STIFFNESS, color, turn_z_to};
use super::super::options::Repair;
use super::Reader;
use super::tree::Tree;
use pliant_geometry::Shape;
use pliant_io::mesh::load_mesh;
use pliant_rigid::collision::{CollisionGeometry, ContactMaterial};

/// Friction, which the format does not have.
const FRICTION: f64 = 0.5;
const GREY: [u8; 3] = [128, 128, 128];

impl Reader<'_> {
    /// The geometries that touch and those that are only drawn.
    pub(super) fn shapes(
        &mut self,
        tree: &Tree<'_>,
    ) -> Result<(Vec<CollisionGeometry>, Vec<Visual>), ImportError> {
        let mut named = BTreeMap::new();
        for material in self.root.all("material") {
            let painted = material.one("color")?.map_or(Ok(None), color)?;
            named.insert(material.required("name")?.to_owned(), painted.unwrap_or(GREY));
        }
        let (mut geometries, mut visuals) = (Vec::new(), Vec::new());
        let material = ContactMaterial {
            stiffness: STIFFNESS,
            dissipation: DISSIPATION,
            static_friction: FRICTION,
            dynamic_friction: FRICTION,
            ..ContactMaterial::with_friction(FRICTION)
        };
        for (&link, location) in tree.links.iter().zip(self.links.clone()) {
            let Some((id, in_link)) = location else { continue };
            let name_of = |element: &Element, kind: &str, i: usize| {
                let fallback = || format!("{}/{kind}{i}", link.text("name").unwrap_or_default());
                element.text("name").map_or_else(fallback, str::to_owned)
            };
            let mut colors = Vec::new();
            for (i, visual) in link.all("visual").enumerate() {
                let color = paint(visual, &named)?;
                colors.push(color);
                let pose = in_link * super::origin(visual)?;
                if let Some((shape, _)) = self.shape(visual, true)? {
                    let name = name_of(visual, "visual", i);
                    visuals.push(Visual { name, link: Some(id), pose, shape, color });
                }
            }
            for (i, collision) in link.all("collision").enumerate() {
                let pose = in_link * super::origin(collision)?;
                let read = match self.shape(collision, false) {
                    Err(error) if error.repair == Some(Repair::Shapes) && self.leaves_out_shapes() => {
                        let action = format!("repaired: left out: {}", error.problem);
                        self.warnings.push(ImportWarning {
                            kind: WarningKind::Repaired,
                            location: error.location,
                            attribute: error.attribute,
                            value: error.value,
                            action,
                        });
                        None
                    }
                    read => read?,
                };
                if let Some((shape, turned)) = read {
                    let pose = pose * turned;
                    geometries.push(CollisionGeometry {
                        name: name_of(collision, "collision", i),
                        link: Some(id),
                        pose,
                        shape,
                        material,
                        group: 1,
                        mask: 1,
                        color: colors.get(i).copied().unwrap_or(GREY),
                    });
                }
            }
        }
        Ok((geometries, visuals))
    }

    fn leaves_out_shapes(&self) -> bool {
        self.options.repairs.contains(&Repair::Shapes)
    }

    /// The shape of a visual or collision element, and its frame in that of the element; `None` for
    /// a visual that cannot be read.
    fn shape(
        &mut self,
        element: &Element,
        visual: bool,
    ) -> Result<Option<(Shape, Isometry3<f64>)>, ImportError> {
        let Some(geometry) = element.one("geometry")? else {
            return Err(element.fail(ImportProblem::Missing("geometry")));
        };
        let Some(kind) = geometry.children.first() else {
            return Err(geometry.fail(ImportProblem::Missing("box, cylinder, capsule, sphere or mesh")));
        };
        let read = match kind.tag.as_str() {
            "mesh" => return Ok(self.mesh(kind, visual)?.map(|shape| (shape, Isometry3::identity()))),
            "plane" if !visual => return Ok(Some(plane(kind)?)),
            "plane" => Err(kind.fail(ImportProblem::Unsupported("planes are not drawn".to_owned()))),
            _ => primitive(kind, geometry),
        };
        match read {
            Ok(shape) => Ok(Some((shape, Isometry3::identity()))),
            Err(error) if visual => {
                let action = format!("left out: {}", error.problem);
                self.warnings.push(kind.warn(&error.attribute, action).of(WarningKind::Pictures));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn mesh(&mut self, element: &Element, visual: bool) -> Result<Option<Shape>, ImportError> {
        let name = element.required("filename")?;
        let scale = element.vector("scale")?.unwrap_or(Vector3::repeat(1.0));
        if scale.iter().any(|s| *s == 0.0) {
            return Err(element.bad("scale", "three factors, none of them 0"));
        }
        let path = self.resolve(name);
        let hull = load_mesh(&path, 1.0).map_err(|e| e.to_string()).and_then(|mut data| {
            mesh::scale(&mut data, &scale);
            mesh::hull(&data).map_err(|e| format!("{}: {e}", path.display()))
        });
        match hull {
            Ok((shape, convex)) => {
                self.files.push(path);
                if !convex && !visual {
                    let action = "approximated by its convex hull, which has a larger volume";
                    self.warnings.push(element.warn("filename", action));
                }
                Ok(Some(shape))
            }
            Err(reason) if visual => {
                let action = format!("left out: {reason}");
                self.warnings.push(element.warn("filename", action).of(WarningKind::Pictures));
                Ok(None)
            }
            Err(reason) => Err(element.fail_at("filename", ImportProblem::Mesh(reason)).or(Repair::Shapes)),
        }
    }

    /// Path of a mesh. A package is searched in the directory of the file and its parents:
    /// `package://arm/mesh.stl` is the first existing one of `<directory>/arm/mesh.stl`,
    /// `<directory>/mesh.stl` (the directory is the package itself), and so on.
    fn resolve(&self, name: &str) -> PathBuf {
        let Some(inner) = name.strip_prefix("package://").or_else(|| name.strip_prefix("model://")) else {
            return self.directory.join(name.strip_prefix("file://").unwrap_or(name));
        };
        let within = inner.split_once('/').map_or(inner, |(_, rest)| rest);
        let mut above = Some(self.directory);
        while let Some(directory) = above {
            for candidate in [directory.join(inner), directory.join(within)] {
                if candidate.exists() {
                    return candidate;
                }
            }
            above = directory.parent();
        }
        self.directory.join(inner)
    }
}

/// A solid that the format has, with the lengths of the file.
fn primitive(kind: &Element, geometry: &Element) -> Result<Shape, ImportError> {
    let length = |attribute: &'static str| -> Result<f64, ImportError> {
        kind.required(attribute)?;
        match kind.number(attribute)? {
            Some(x) if x > 0.0 => Ok(x),
            _ => Err(kind.bad(attribute, "positive (m)").or(Repair::Shapes)),
        }
    };
    Ok(match kind.tag.as_str() {
        "box" => {
            kind.required("size")?;
            match kind.vector("size")? {
                Some(size) if size.iter().all(|s| *s > 0.0) => Shape::Box { half_extents: size / 2.0 },
                _ => return Err(kind.bad("size", "three positive lengths (m)").or(Repair::Shapes)),
            }
        }
        "cylinder" => Shape::Cylinder { radius: length("radius")?, half_length: length("length")? / 2.0 },
        "capsule" => Shape::Capsule { radius: length("radius")?, half_length: length("length")? / 2.0 },
        "sphere" => Shape::Sphere { radius: length("radius")? },
        _ => {
            let unknown = ImportProblem::UnknownElement(geometry.tag.clone());
            return Err(kind.fail(unknown).or(Repair::Shapes));
        }
    })
}

/// The half space behind a plane through the origin, and its frame: z along the normal.
fn plane(kind: &Element) -> Result<(Shape, Isometry3<f64>), ImportError> {
    let normal = kind.direction("normal")?.unwrap_or(Vector3::z_axis());
    Ok((Shape::HalfSpace, Isometry3::from_parts(Translation3::identity(), turn_z_to(&normal))))
}

fn paint(visual: &Element, named: &BTreeMap<String, [u8; 3]>) -> Result<[u8; 3], ImportError> {
    let Some(material) = visual.one("material")? else { return Ok(GREY) };
    if let Some(own) = material.one("color")? {
        return Ok(color(own)?.unwrap_or(GREY));
    }
    // A name may be defined on another link; it is a colour only.
    Ok(material.text("name").and_then(|name| named.get(name)).copied().unwrap_or(GREY))
}
