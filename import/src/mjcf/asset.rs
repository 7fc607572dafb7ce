//! Meshes, height fields, colours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem};
use super::super::mesh;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::height_field;
use super::include::locate;
use super::pose::quaternion;
use pliant_geometry::Shape;
use pliant_io::mesh::{MeshData, load_mesh};

/// Assets, which geoms refer to by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Assets {
    /// Convex hulls, and whether the mesh fills its hull.
    pub hulls: BTreeMap<String, (Shape, bool)>,
    pub height_fields: BTreeMap<String, Shape>,
    pub colors: BTreeMap<String, [u8; 3]>,
    /// Mesh files that were read.
    pub files: Vec<PathBuf>,
}

impl Assets {
    pub fn read(
        root: &Element,
        directory: &Path,
        compiler: &Compiler,
        defaults: &Defaults,
    ) -> Result<Self, ImportError> {
        let mut assets = Self::default();
        for element in root.all("asset").flat_map(|asset| &asset.children) {
            let duplicate = |what| element.fail_at("name", ImportProblem::Duplicate(what));
            match element.tag.as_str() {
                "mesh" => {
                    let resolved = defaults.resolve(element, None)?;
                    let name = asset_name(&resolved)?;
                    let hull = hull(&resolved, directory, compiler, &mut assets.files)?;
                    if assets.hulls.insert(name, hull).is_some() {
                        return Err(duplicate("a mesh"));
                    }
                }
                "hfield" => {
                    let name = asset_name(element)?;
                    let field = height_field::read(element, directory, compiler, &mut assets.files)?;
                    if assets.height_fields.insert(name, field).is_some() {
                        return Err(duplicate("a height field"));
                    }
                }
                "material" => {
                    let resolved = defaults.resolve(element, None)?;
                    let color = color(&resolved)?.unwrap_or([255, 255, 255]);
                    if assets.colors.insert(resolved.required("name")?.to_owned(), color).is_some() {
                        return Err(duplicate("a material"));
                    }
                }
                _ => {}
            }
        }
        Ok(assets)
    }
}

/// Red, green, blue of an element's `rgba`.
pub(in super::super) fn color(element: &Element) -> Result<Option<[u8; 3]>, ImportError> {
    let byte = |x: f64| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    Ok(element.array::<4>("rgba")?.map(|[r, g, b, _]| [byte(r), byte(g), byte(b)]))
}

/// The name, or that of the file without its extension.
fn asset_name(element: &Element) -> Result<String, ImportError> {
    match (element.text("name"), element.text("file")) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, Some(file)) => {
            Ok(Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default())
        }
        (None, None) => Err(element.fail(ImportProblem::Missing("name"))),
    }
}

fn hull(
    element: &Element,
    directory: &Path,
    compiler: &Compiler,
    files: &mut Vec<PathBuf>,
) -> Result<(Shape, bool), ImportError> {
    let vertices = element.numbers("vertex", 12..=usize::MAX)?;
    let mut data = match (element.text("file"), vertices) {
        (Some(_), Some(_)) => return Err(element.bad("vertex", "left out where there is a file")),
        (None, None) => return Err(element.fail(ImportProblem::Missing("file or vertex"))),
        (Some(file), None) => {
            let name = Path::new(file);
            let name =
                if compiler.strip_path { Path::new(name.file_name().unwrap_or_default()) } else { name };
            let path = locate(element, &directory.join(&compiler.mesh_directory), name);
            let mesh = load_mesh(&path, 1.0)
                .map_err(|e| element.fail_at("file", ImportProblem::Mesh(e.to_string())))?;
            files.push(path);
            mesh
        }
        (None, Some(numbers)) => inline(element, &numbers)?,
    };
    let position = element.vector("refpos")?.unwrap_or_default();
    let rotation = match element.array::<4>("refquat")? {
        Some(q) => quaternion(element, "refquat", q)?,
        None => UnitQuaternion::identity(),
    };
    // The reference pose is that of the asset's frame in the file's, before scaling.
    let reference = Isometry3::from_parts(Translation3::from(position), rotation).inverse();
    data.vertices.iter_mut().for_each(|v| *v = reference * *v);
    if let Some(scale) = element.vector("scale")? {
        if scale.iter().any(|s| *s == 0.0) {
            return Err(element.bad("scale", "three factors, none of them 0"));
        }
        mesh::scale(&mut data, &scale);
    }
    let at = if element.text("file").is_some() { "file" } else { "vertex" };
    mesh::hull(&data).map_err(|e| element.fail_at(at, ImportProblem::Mesh(e.to_string())))
}

fn inline(element: &Element, numbers: &[f64]) -> Result<MeshData, ImportError> {
    if !numbers.len().is_multiple_of(3) {
        return Err(element.bad("vertex", "three numbers for every vertex"));
    }
    let vertices: Vec<_> = numbers.chunks_exact(3).map(|x| Point3::new(x[0], x[1], x[2])).collect();
    let faces = element.numbers("face", 3..=usize::MAX)?.unwrap_or_default();
    let known = |i: &f64| i.fract() == 0.0 && *i >= 0.0 && (*i as usize) < vertices.len();
    if !faces.len().is_multiple_of(3) || !faces.iter().all(known) {
        return Err(element.bad("face", "three numbers of vertices for every face"));
    }
    let triangles = faces.chunks_exact(3).map(|t| [t[0] as u32, t[1] as u32, t[2] as u32]).collect();
    Ok(MeshData { vertices, triangles })
}
