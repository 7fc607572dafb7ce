//! Triangle meshes from files: OBJ and STL.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use nalgebra::{Point3, Vector3};

use pliant_geometry::{ConvexHull, Shape};

/// Part of the hull's volume by which a mesh may differ from it and still count as convex.
const CONVEX: f64 = 1e-3;

/// Vertices and triangles of a mesh \[m\].
#[derive(Clone, Debug, Default)]
pub(super) struct MeshData {
    pub vertices: Vec<Point3<f64>>,
    pub triangles: Vec<[u32; 3]>,
}

impl MeshData {
    /// Reads a file by its extension. The error is the reason.
    pub fn read(path: &Path) -> Result<Self, String> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let mesh = match extension.as_str() {
            "obj" => read_obj(path)?,
            "stl" => read_stl(path)?,
            other => return Err(format!("files of type '{other}' are not read, only obj and stl")),
        };
        if mesh.triangles.is_empty() {
            return Err("it has no triangles".to_owned());
        }
        if let Some(i) = mesh.vertices.iter().position(|v| !v.coords.iter().all(|x| x.is_finite())) {
            return Err(format!("vertex {i} is not finite"));
        }
        Ok(mesh)
    }

    /// Each coordinate times a factor.
    pub fn scaled(mut self, scale: &Vector3<f64>) -> Self {
        self.vertices.iter_mut().for_each(|v| v.coords.component_mul_assign(scale));
        // An odd number of reflections turns the surface inside out.
        if scale.x * scale.y * scale.z < 0.0 {
            self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        self
    }

    /// The convex hull, and whether the mesh fills it. The error is the reason why there is none.
    pub fn hull(&self) -> Result<(Shape, bool), String> {
        let hull = ConvexHull::new(&self.vertices).map_err(|e| e.to_string())?;
        let volume = |vertices: &[Point3<f64>], triangles: &[[u32; 3]]| -> f64 {
            let corner = |i: u32| vertices[i as usize] - vertices[0];
            let tetrahedron = |t: &[u32; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2]))) / 6.0;
            triangles.iter().map(tetrahedron).sum()
        };
        let filled = volume(hull.mesh().vertices(), hull.mesh().triangles());
        let convex = self.triangles.is_empty()
            || (volume(&self.vertices, &self.triangles).abs() - filled).abs() <= CONVEX * filled;
        Ok((Shape::ConvexHull(hull), convex))
    }
}

fn read_obj(path: &Path) -> Result<MeshData, String> {
    let options = tobj::LoadOptions { triangulate: true, single_index: true, ..tobj::LoadOptions::default() };
    let file = File::open(path).map_err(|e| e.to_string())?;
    // Materials are for pictures.
    let no_materials = |_: &Path| Ok((Vec::new(), Default::default()));
    let (models, _) = tobj::load_obj_buf(&mut BufReader::new(file), &options, no_materials)
        .map_err(|e| format!("it is no OBJ: {e}"))?;
    let mut mesh = Welded::default();
    for model in models {
        let p = &model.mesh.positions;
        for triangle in model.mesh.indices.chunks_exact(3) {
            let corner = |i: u32| {
                let at = 3 * i as usize;
                p.get(at..at + 3).map(|x| [x[0], x[1], x[2]])
            };
            let corners = [corner(triangle[0]), corner(triangle[1]), corner(triangle[2])];
            let [Some(a), Some(b), Some(c)] = corners else {
                return Err("a triangle refers to a vertex that does not exist".to_owned());
            };
            mesh.add([a, b, c]);
        }
    }
    Ok(mesh.data)
}

fn read_stl(path: &Path) -> Result<MeshData, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let reader = stl_io::create_stl_reader(&mut BufReader::new(file)).map(|triangles| {
        triangles.map(|t| t.map(|t| t.vertices.map(|v| [v[0], v[1], v[2]]))).collect::<Result<Vec<_>, _>>()
    });
    let triangles = reader.and_then(|t| t).map_err(|e| format!("it is no STL: {e}"))?;
    let mut mesh = Welded::default();
    triangles.into_iter().for_each(|t| mesh.add(t));
    Ok(mesh.data)
}

/// A mesh whose vertices at the same place are one. The map is looked into, never gone through.
#[derive(Default)]
struct Welded {
    data: MeshData,
    numbers: HashMap<[u32; 3], u32>,
}

impl Welded {
    fn add(&mut self, corners: [[f32; 3]; 3]) {
        let data = &mut self.data;
        let triangle = corners.map(|corner| {
            // Zero has two bit patterns.
            let key = corner.map(|x| (x + 0.0).to_bits());
            *self.numbers.entry(key).or_insert_with(|| {
                data.vertices.push(Point3::from(corner.map(f64::from)));
                (data.vertices.len() - 1) as u32
            })
        });
        if triangle[0] != triangle[1] && triangle[1] != triangle[2] && triangle[2] != triangle[0] {
            data.triangles.push(triangle);
        }
    }
}
