//! Shapes of links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::{Isometry3, Translation3, Vector3};

use super::super::decompose::{self, Parts};
use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};
use super::super::imported::Visual;
use super::super::mesh;
use super::super::mjcf::{DISSIPATION, STIFFNESS, color, turn_z_to};
use super::super::options::Repair;
use super::Reader;
use super::origin::origin;
use super::tree::Tree;
use pliant_geometry::{Drawn, Shape, SurfaceMesh};
use pliant_io::mesh::{MeshPart, load_mesh, load_mesh_parts};
use pliant_rigid::collision::{CollisionGeometry, ContactMaterial};

/// Friction, which the format does not have.
const FRICTION: f64 = 0.5;
const GREY: [u8; 3] = [128, 128, 128];

/// What is seen, and the colour that its mesh gives.
type SeenPart = (Drawn, Option<[u8; 3]>);

/// Geometries that touch, the numbers of those that are not shown, and what is only seen.
type LinkShapes = (Vec<CollisionGeometry>, BTreeSet<usize>, Vec<Visual>);

impl Reader<'_> {
    /// The geometries that touch, which of them pictures leave out, and those that are only drawn.
    /// A link that has something to be seen is seen as that; of others, what touches is seen.
    pub(super) fn shapes(&mut self, tree: &Tree<'_>) -> Result<LinkShapes, ImportError> {
        let mut named = BTreeMap::new();
        for material in self.root.all("material") {
            let painted = material.one("color")?.map_or(Ok(None), color)?;
            named.insert(material.required("name")?.to_owned(), painted.unwrap_or(GREY));
        }
        let (mut geometries, mut hidden, mut visuals) = (Vec::new(), BTreeSet::new(), Vec::new());
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
            let before = visuals.len();
            for (i, visual) in link.all("visual").enumerate() {
                let painted = paint(visual, &named)?;
                let pose = in_link * origin(visual)?;
                let seen = self.drawn(visual)?;
                // What a mesh says of a part's colour goes before the material of the URDF.
                let of = |own: Option<[u8; 3]>| own.or(painted).unwrap_or(GREY);
                colors.push(of(seen.first().and_then(|part| part.1)));
                let name = name_of(visual, "visual", i);
                for (part, (shape, own)) in seen.into_iter().enumerate() {
                    let (name, color) = (mesh::part_name(&name, part), of(own));
                    visuals.push(Visual { name, link: Some(id), pose, shape, color });
                }
            }
            for (i, collision) in link.all("collision").enumerate() {
                let pose = in_link * origin(collision)?;
                let read = match self.solids(collision) {
                    Err(error) if error.repair == Some(Repair::Shapes) && self.leaves_out_shapes() => {
                        let action = format!("repaired: left out: {}", error.problem);
                        self.warnings.push(ImportWarning {
                            kind: WarningKind::Repaired,
                            location: error.location,
                            attribute: error.attribute,
                            value: error.value,
                            action,
                        });
                        Vec::new()
                    }
                    read => read?,
                };
                let name = name_of(collision, "collision", i);
                for (part, (shape, turned)) in read.into_iter().enumerate() {
                    let pose = pose * turned;
                    if visuals.len() > before {
                        hidden.insert(geometries.len());
                    }
                    geometries.push(CollisionGeometry {
                        name: mesh::part_name(&name, part),
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
        Ok((geometries, hidden, visuals))
    }

    fn leaves_out_shapes(&self) -> bool {
        self.options.repairs.contains(&Repair::Shapes)
    }

    /// What is seen of a visual: parts, each with the colour that its mesh gives; none of a mesh
    /// that cannot be read.
    fn drawn(&mut self, element: &Element) -> Result<Vec<SeenPart>, ImportError> {
        let kind = kind_of(element)?;
        if kind.tag != "mesh" {
            return match primitive(kind) {
                Ok(solid) => Ok(vec![(Drawn::Solid(solid), None)]),
                Err(error) => {
                    let action = format!("left out: {}", error.problem);
                    self.warnings.push(kind.warn(&error.attribute, action).of(WarningKind::Pictures));
                    Ok(Vec::new())
                }
            };
        }
        let (path, scale) = self.named(kind)?;
        let surface = |mut part: MeshPart| {
            mesh::scale(&mut part.mesh, &scale);
            let surface = SurfaceMesh::new(part.mesh.vertices, part.mesh.triangles);
            surface.map(|surface| (Drawn::Surface(Arc::new(surface)), part.color)).map_err(|e| e.to_string())
        };
        let read = load_mesh_parts(&path, 1.0).map_err(|e| e.to_string()).and_then(|read| {
            let parts: Result<Vec<_>, String> = read.parts.into_iter().map(surface).collect();
            Ok((parts?, read.files))
        });
        match read {
            Ok((parts, files)) => {
                self.files.extend(files);
                Ok(parts)
            }
            Err(reason) => {
                let action = format!("left out: {reason}");
                self.warnings.push(kind.warn("filename", action).of(WarningKind::Pictures));
                Ok(Vec::new())
            }
        }
    }

    /// The solids of a collision element, each with its frame in that of the element.
    fn solids(&mut self, element: &Element) -> Result<Vec<(Shape, Isometry3<f64>)>, ImportError> {
        let kind = kind_of(element)?;
        match kind.tag.as_str() {
            "mesh" => {}
            "plane" => return Ok(vec![plane(kind)?]),
            _ => return Ok(vec![(primitive(kind)?, Isometry3::identity())]),
        }
        let (path, scale) = self.named(kind)?;
        let solids = load_mesh(&path, 1.0).map_err(|e| e.to_string()).and_then(|mut data| {
            mesh::scale(&mut data, &scale);
            let (hull, convex) = mesh::hull(&data).map_err(|e| format!("{}: {e}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let parts = if convex { None } else { decompose::convex_parts(&name, &data, self.options)? };
            let faithful = convex || parts.as_ref().is_some_and(|parts| parts.solids.len() > 1);
            let whole = || Parts { solids: vec![hull], notes: Vec::new() };
            Ok((faithful, parts.unwrap_or_else(whole)))
        });
        let (faithful, Parts { solids, notes }) = solids.map_err(|reason: String| {
            kind.fail_at("filename", ImportProblem::Mesh(reason)).or(Repair::Shapes)
        })?;
        self.files.push(path);
        self.notes.extend(notes);
        if !faithful {
            let action = "approximated by its convex hull, which has a larger volume";
            self.warnings.push(kind.warn("filename", action).of(WarningKind::Contact));
        }
        Ok(solids.into_iter().map(|solid| (solid, Isometry3::identity())).collect())
    }

    /// The file and the scale of a mesh.
    fn named(&self, element: &Element) -> Result<(PathBuf, Vector3<f64>), ImportError> {
        let name = element.required("filename")?;
        let scale = element.vector("scale")?.unwrap_or(Vector3::repeat(1.0));
        if scale.iter().any(|s| *s == 0.0) {
            return Err(element.bad("scale", "three factors, none of them 0"));
        }
        Ok((self.resolve(name), scale))
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

/// The half space behind a plane through the origin, and its frame: z along the normal.
fn plane(kind: &Element) -> Result<(Shape, Isometry3<f64>), ImportError> {
    let normal = kind.direction("normal")?.unwrap_or(Vector3::z_axis());
    Ok((Shape::HalfSpace, Isometry3::from_parts(Translation3::identity(), turn_z_to(&normal))))
}

/// The colour that the file gives a visual.
fn paint(visual: &Element, named: &BTreeMap<String, [u8; 3]>) -> Result<Option<[u8; 3]>, ImportError> {
    let Some(material) = visual.one("material")? else { return Ok(None) };
    if let Some(own) = material.one("color")? {
        return color(own);
    }
    // A name may be defined on another link; it is a colour only.
    Ok(material.text("name").and_then(|name| named.get(name)).copied())
}

/// The element in `<geometry>`.
fn kind_of(element: &Element) -> Result<&Element, ImportError> {
    let Some(geometry) = element.one("geometry")? else {
        return Err(element.fail(ImportProblem::Missing("geometry")));
    };
    geometry
        .children
        .first()
        .ok_or_else(|| geometry.fail(ImportProblem::Missing("box, cylinder, capsule, sphere or mesh")))
}

/// A box, cylinder, capsule or sphere.
fn primitive(kind: &Element) -> Result<Shape, ImportError> {
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
            let unknown = ImportProblem::UnknownElement("geometry".to_owned());
            return Err(kind.fail(unknown).or(Repair::Shapes));
        }
    })
}
