//! Meshes, height fields, materials.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};

use super::super::decompose::{self, Parts};
use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};
use super::super::mesh;
use super::super::mesh_mass::{MassRule, MeshMass};
use super::super::options::LoadOptions;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::height_field;
use super::include::locate;
use super::pose::quaternion;
use super::texture::Textures;
use pliant_geometry::{Drawn, Shape, SurfaceMesh};
use pliant_io::mesh::{MeshData, load_mesh};

/// Assets, which geoms refer to by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Assets {
    /// Meshes, and what is wrong with those that cannot be read.
    pub meshes: BTreeMap<String, Result<Rc<MeshAsset>, ImportError>>,
    pub height_fields: BTreeMap<String, Shape>,
    pub materials: BTreeMap<String, Material>,
    /// Files that were read.
    pub files: Vec<PathBuf>,
}

/// A mesh.
#[derive(Clone, Debug)]
pub(super) struct MeshAsset {
    element: Element,
    data: MeshData,
    rule: MassRule,
    options: LoadOptions,
    /// Its faces, if it has some.
    surface: Option<Arc<SurfaceMesh>>,
    /// Its convex hull and whether the mesh fills it, once it was needed.
    hull: OnceCell<Result<(Shape, bool), ImportError>>,
    /// The solids that touch, once they were needed.
    parts: OnceCell<Result<Parts, ImportError>>,
}

impl MeshAsset {
    /// A fault of the mesh.
    fn fail(&self, reason: String) -> ImportError {
        let at = if self.element.text("file").is_some() { "file" } else { "vertex" };
        self.element.fail_at(at, ImportProblem::Mesh(reason))
    }

    fn hull(&self) -> Result<&(Shape, bool), ImportError> {
        let hull = || mesh::hull(&self.data).map_err(|e| self.fail(e.to_string()));
        self.hull.get_or_init(hull).as_ref().map_err(Clone::clone)
    }

    /// The solids that touch: the convex hull, or those into which the mesh is decomposed.
    pub fn solids(&self) -> Result<Vec<Shape>, ImportError> {
        let parts = self.parts.get_or_init(|| self.parts()).as_ref();
        parts.map(|parts| parts.solids.clone()).map_err(Clone::clone)
    }

    fn parts(&self) -> Result<Parts, ImportError> {
        let (hull, convex) = self.hull()?;
        let whole = || Parts { solids: vec![hull.clone()], notes: Vec::new() };
        if *convex {
            return Ok(whole());
        }
        let name = asset_name(&self.element)?;
        let parts = decompose::convex_parts(&name, &self.data, &self.options).map_err(|e| self.fail(e))?;
        Ok(parts.unwrap_or_else(whole))
    }

    /// What is seen of it; nothing of points that span no volume.
    pub fn drawn(&self) -> Option<Drawn> {
        let hull = || self.hull().ok().map(|(hull, _)| Drawn::Solid(hull.clone()));
        self.surface.clone().map(Drawn::Surface).or_else(hull)
    }

    /// Its surface, if that is not its hull's.
    pub fn hollow(&self) -> Option<Drawn> {
        let convex = self.hull().is_ok_and(|(_, convex)| *convex);
        self.surface.clone().filter(|_| !convex).map(Drawn::Surface)
    }

    /// Its figures at unit density.
    pub fn mass(&self) -> Result<MeshMass, ImportError> {
        let figures = if self.rule == MassRule::Convex || self.data.triangles.is_empty() {
            let (hull, _) = self.hull()?;
            let (vertices, triangles) = hull.triangles(8);
            let rule = if self.rule == MassRule::Convex { MassRule::Exact } else { self.rule };
            MeshMass::of(&vertices, &triangles, rule)
        } else {
            MeshMass::of(&self.data.vertices, &self.data.triangles, self.rule)
        };
        figures.map_err(|reason| {
            let given = self.element.text("inertia").is_some();
            if given {
                self.element.fail_at("inertia", ImportProblem::Mesh(reason))
            } else {
                self.fail(reason)
            }
        })
    }
}

/// A material: its colour, and the mean of its texture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Material {
    color: Option<[f64; 4]>,
    texture: Option<[u8; 3]>,
}

impl Assets {
    pub fn read(
        root: &Element,
        directory: &Path,
        compiler: &Compiler,
        defaults: &Defaults,
        options: &LoadOptions,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<Self, ImportError> {
        let mut assets = Self::default();
        let mut textures = Textures::new(root, directory, compiler.strip_path);
        for element in root.all("asset").flat_map(|asset| &asset.children) {
            let duplicate = |what| element.fail_at("name", ImportProblem::Duplicate(what));
            match element.tag.as_str() {
                "mesh" => {
                    let resolved = defaults.resolve(element, None)?;
                    let name = asset_name(&resolved)?;
                    let mesh = read_mesh(&resolved, directory, compiler, options, &mut assets.files);
                    // A mesh that is only seen may be left out; what needs it fails later.
                    if let Err(error) = &mesh {
                        if !matches!(*error.problem, ImportProblem::Mesh(_)) {
                            return Err(error.clone());
                        }
                        let action = format!("left out where it is only seen: {}", error.problem);
                        warnings.push(resolved.warn(&error.attribute, action).of(WarningKind::Pictures));
                    }
                    if assets.meshes.insert(name, mesh.map(Rc::new)).is_some() {
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
                    let material = Material {
                        color: resolved.array::<4>("rgba")?,
                        texture: textures.of_material(&resolved, warnings)?,
                    };
                    if assets.materials.insert(resolved.required("name")?.to_owned(), material).is_some() {
                        return Err(duplicate("a material"));
                    }
                }
                _ => {}
            }
        }
        assets.files.append(&mut textures.files);
        Ok(assets)
    }

    /// What a user may want to know of the meshes that were decomposed.
    pub fn notes(&self) -> Vec<String> {
        let meshes = self.meshes.values().filter_map(|mesh| mesh.as_ref().ok());
        let parts = meshes.filter_map(|mesh| mesh.parts.get()?.as_ref().ok());
        parts.flat_map(|parts| parts.notes.iter().cloned()).collect()
    }
}

/// Red, green, blue of an element's `rgba`.
pub(in super::super) fn color(element: &Element) -> Result<Option<[u8; 3]>, ImportError> {
    Ok(element.array::<4>("rgba")?.map(|[r, g, b, _]| bytes([r, g, b])))
}

fn bytes(color: [f64; 3]) -> [u8; 3] {
    color.map(|x| (x.clamp(0.0, 1.0) * 255.0).round() as u8)
}

/// The opacity of a geom, from 0 to 1: its own or its material's.
pub(super) fn opacity(element: &Element, material: Option<&Material>) -> Result<f64, ImportError> {
    let own = element.array::<4>("rgba")?;
    Ok(own.or(material.and_then(|m| m.color)).map_or(1.0, |[.., opacity]| opacity))
}

/// The colour of a geom: its own or its material's, times the mean of the texture.
pub(super) fn paint(element: &Element, material: Option<&Material>) -> Result<[u8; 3], ImportError> {
    let own = element.array::<4>("rgba")?.map(|[r, g, b, _]| [r, g, b]);
    let Some(material) = material else { return Ok(own.map_or([128; 3], bytes)) };
    let of_material = material.color.map(|[r, g, b, _]| [r, g, b]);
    let mut color = own.or(of_material).unwrap_or([1.0; 3]);
    if let Some(texture) = material.texture {
        (0..3).for_each(|k| color[k] *= f64::from(texture[k]) / 255.0);
    }
    Ok(bytes(color))
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

fn read_mesh(
    element: &Element,
    directory: &Path,
    compiler: &Compiler,
    options: &LoadOptions,
    files: &mut Vec<PathBuf>,
) -> Result<MeshAsset, ImportError> {
    const RULES: [MassRule; 4] = [MassRule::Convex, MassRule::Exact, MassRule::Legacy, MassRule::Shell];
    let rule = element.word("inertia", &["convex", "exact", "legacy", "shell"])?;
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
    let surface = match data.triangles.is_empty() {
        true => None,
        false => {
            let surface = SurfaceMesh::new(data.vertices.clone(), data.triangles.clone());
            Some(Arc::new(surface.map_err(|e| element.fail_at("scale", ImportProblem::Mesh(e.to_string())))?))
        }
    };
    Ok(MeshAsset {
        element: Element { children: Vec::new(), ..element.clone() },
        data,
        rule: rule.map_or(MassRule::Legacy, |rule| RULES[rule]),
        options: options.clone(),
        surface,
        hull: OnceCell::new(),
        parts: OnceCell::new(),
    })
}

fn inline(element: &Element, numbers: &[f64]) -> Result<MeshData, ImportError> {
    if !numbers.len().is_multiple_of(3) {
        return Err(element.bad("vertex", "three numbers for every vertex"));
    }
    // MuJoCo keeps vertices in single precision.
    let vertices: Vec<_> =
        numbers.as_chunks::<3>().0.iter().map(|x| x.map(|x| f64::from(x as f32))).collect();
    if !vertices.iter().flatten().all(|x| x.is_finite()) {
        return Err(element.bad("vertex", "numbers that single precision can hold"));
    }
    let vertices: Vec<Point3<f64>> = vertices.into_iter().map(Point3::from).collect();
    let faces = element.numbers("face", 3..=usize::MAX)?.unwrap_or_default();
    let known = |i: &f64| i.fract() == 0.0 && *i >= 0.0 && (*i as usize) < vertices.len();
    if !faces.len().is_multiple_of(3) || !faces.iter().all(known) {
        return Err(element.bad("face", "three numbers of vertices for every face"));
    }
    let triangles = faces.chunks_exact(3).map(|t| [t[0] as u32, t[1] as u32, t[2] as u32]).collect();
    Ok(MeshData { vertices, triangles })
}
