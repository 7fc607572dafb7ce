//! Cloth: sheets of triangles, their materials and pins.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use pliant_coupling::AutoOr;
use pliant_mpm::cloth::{
    ClothMaterial, ClothMesh, Gas, GasError, GasModel, MeshError, Pin, PinError, WeaveError,
};
use pliant_mpm::material::MaterialError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::Pose;
use super::fabric::Fabric;
use super::garment::{TShirtMeasures, TrousersMeasures};
use super::gas::ClothGas;
use crate::isometry::isometry;
use pliant_garment::{ClothFileError, TShirtError, TrousersError, load_cloth};

/// A sheet of cloth. Its friction on bodies is the `friction` of their geometries, as for all
/// particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothSpec {
    /// Name, for messages and paths; unique among cloths, soft bodies, bodies and robots.
    pub name: String,
    /// The sheet at rest, in its own frame.
    pub shape: ClothShape,
    /// Its frame in the world at the start.
    #[serde(default)]
    pub pose: Pose,
    /// Velocity at the start, world frame [m/s].
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Its material.
    pub material: Fabric,
    /// Rate alpha of mass-proportional damping: a force -alpha m v from outside the scene, by which
    /// motion decays and nothing changes at rest [1/s].
    #[serde(default)]
    pub mass_damping: f64,
    /// Gas within a closed cloth: one without open edges, in one part, normals outwards. Null: the
    /// pressure is the same on both sides.
    #[serde(default)]
    pub gas: Option<ClothGas>,
    /// Vertices and edges that are held until a release time.
    #[serde(default)]
    pub pins: Vec<ClothPin>,
    /// Colour in pictures and frames, of the side that normals point from: red, green, blue, sRGB,
    /// 0 to 255 [-].
    #[serde(default = "linen")]
    pub color: [u8; 3],
    /// Colour of the other side; null where it is the same [-].
    #[serde(default)]
    pub back_color: Option<[u8; 3]>,
}

/// Sheets, in the xy plane of their own frame; normals point to +z unless said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClothShape {
    /// A rectangle about the origin.
    Rectangle {
        /// Lengths of the sides along x and y [m].
        size: [f64; 2],
        /// Parts along x and y; each has two faces. Vertex (i, j) of them is number i (parts\[1\] +
        /// 1) + j [-].
        parts: [u32; 2],
    },
    /// A disc about the origin. Vertex 0 is its centre.
    Disc {
        /// Radius [m].
        radius: f64,
        /// Rings of faces; ring k has 6 k vertices [-].
        rings: u32,
    },
    /// Two rectangles about the origin, joined along all four sides; normals are outwards.
    Pillow {
        /// Lengths of the sides along x and y [m].
        size: [f64; 2],
        /// Parts along x and y, at least 2; each has two faces in front and two behind. In front,
        /// vertices are numbered as those of a rectangle; those behind that are not on the sides
        /// follow in the same order [-].
        parts: [u32; 2],
        /// Distance between front and back at the start, except at the sides [m]. "auto" is 1.5 times
        /// the grid spacing.
        #[serde(default)]
        gap: AutoOr<f64>,
    },
    /// A sphere about the origin; normals are outwards.
    Sphere {
        /// Radius [m].
        radius: f64,
        /// Parts of each edge of the icosahedron that is put onto the sphere: edges are about 1.2
        /// radius / parts long, and there are 20 parts^2 faces [-].
        parts: u32,
    },
    /// A T-shirt about the origin, lying flat, +y towards the neck, front up; normals are outwards.
    TShirt(TShirtMeasures),
    /// Trousers about the origin, lying flat, +y towards the waist, front up; normals are outwards.
    Trousers(TrousersMeasures),
    /// The triangles of a file, as they are; vertices at the same place are one.
    Mesh {
        /// OBJ, STL or PLY file; a relative path is relative to the scene file.
        file: PathBuf,
        /// Factor from the file's length unit to metres, so 0.001 for a file in millimetres [m].
        #[serde(default = "one")]
        scale: f64,
    },
}

/// A vertex, or the vertices of an edge, held until a release time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothPin {
    /// Which vertex, or which edge.
    pub at: PinPlace,
    /// Its path: linear between keyframes, at rest before the first and after the last. Without
    /// keyframes it does not move.
    #[serde(default)]
    pub keyframes: Vec<PinKeyframe>,
    /// Release time; null: never [s].
    #[serde(default)]
    pub release: Option<f64>,
}

/// A vertex or an edge of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PinPlace {
    /// A corner of a rectangle.
    Corner {
        /// Which one.
        corner: Corner,
    },
    /// A vertex by its number.
    Vertex {
        /// The number, from 0 [-].
        vertex: u32,
    },
    /// An edge of a rectangle: all of its vertices, on parallel paths.
    Edge {
        /// Which one.
        edge: Edge,
        /// Whether the sheet's slope is held too. Then the next row of vertices is held as well, and
        /// the sheet is clamped at that row: it bends only beyond it [-].
        #[serde(default)]
        clamped: bool,
    },
    /// The vertex that is nearest to a point, which must be within half of the longest edge there.
    Nearest {
        /// The point, in the cloth's own frame [m].
        point: [f64; 3],
    },
}

/// A corner of a rectangle in a view of its front (+z) with y up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Corner {
    /// At -x, -y.
    LowerLeft,
    /// At +x, -y.
    LowerRight,
    /// At +x, +y.
    UpperRight,
    /// At -x, +y.
    UpperLeft,
}

/// An edge of a rectangle in a view of its front (+z) with y up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    /// At -x.
    Left,
    /// At +x.
    Right,
    /// At -y.
    Lower,
    /// At +y.
    Upper,
}

/// Position of a held vertex at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinKeyframe {
    /// Time since the start [s].
    pub time: f64,
    /// Displacement from where the vertex is at the start, world frame; zero in the first keyframe
    /// [m].
    pub displacement: [f64; 3],
}

/// Automatic distance between front and back of a pillow, in grid spacings: that of a T-shirt's.
const PILLOW_GAP: f64 = 1.5;

/// Why a cloth was not built.
#[derive(Debug, thiserror::Error)]
pub enum ClothError {
    /// The T-shirt cannot be cut or sewn.
    #[error("cloth '{name}': shape: {source}")]
    TShirt {
        /// Name of the cloth.
        name: String,
        /// Why.
        source: Box<TShirtError>,
    },
    /// The trousers cannot be cut or sewn.
    #[error("cloth '{name}': shape: {source}")]
    Trousers {
        /// Name of the cloth.
        name: String,
        /// Why.
        source: Box<TrousersError>,
    },
    /// The mesh file holds no cloth.
    #[error("cloth '{name}': shape.file: {source}")]
    File {
        /// Name of the cloth.
        name: String,
        /// Why.
        source: Box<ClothFileError>,
    },
    /// The mesh is refused, in itself or for this grid.
    #[error("cloth '{name}': shape: {source}")]
    Mesh {
        /// Name of the cloth.
        name: String,
        /// Why.
        source: MeshError,
    },
    /// The material is refused.
    #[error("cloth '{name}': material.{source}")]
    Material {
        /// Name of the cloth.
        name: String,
        /// Why.
        source: MaterialError,
    },
    /// The sheet cannot be woven.
    #[error("cloth '{name}': material.{source}")]
    Weave {
        /// Name of the cloth.
        name: String,
        /// Why.
        source: WeaveError,
    },
    /// The sheet cannot hold its gas.
    #[error("cloth '{name}': {source}")]
    Gas {
        /// Name of the cloth.
        name: String,
        /// Why.
        source: GasError,
    },
    /// A pin is refused.
    #[error("cloth '{name}': pins[{pin}]: {source}")]
    Pin {
        /// Name of the cloth.
        name: String,
        /// Index of the pin.
        pin: usize,
        /// Why.
        source: PinError,
    },
    /// A pin refers to a corner or an edge of a sheet that is not a rectangle.
    #[error("cloth '{name}': pins[{pin}].at: only a rectangle has corners and edges")]
    NoCorner {
        /// Name of the cloth.
        name: String,
        /// Index of the pin.
        pin: usize,
    },
    /// No vertex is near the point of a pin.
    #[error(
        "cloth '{name}': pins[{pin}].at.point: {point:?} m is {distance} m from the nearest vertex, {vertex}; must be within {limit} m, half of the longest edge there"
    )]
    NotNear {
        /// Name of the cloth.
        name: String,
        /// Index of the pin.
        pin: usize,
        /// The point (m, the cloth's own frame).
        point: [f64; 3],
        /// The nearest vertex.
        vertex: usize,
        /// Its distance [m].
        distance: f64,
        /// The largest allowed [m].
        limit: f64,
    },
}

impl ClothSpec {
    /// Builds the cloth: its mesh at rest in the world [m], its material and its pins. Relative
    /// paths are relative to `base_dir`; `grid_spacing` is the scene's [m].
    ///
    /// # Errors
    /// [`ClothError`], with the cloth's name: a shape that is not a valid sheet for this grid, a
    /// material out of range, a face across the warp, a pin without a vertex or on one that already
    /// has a pin.
    pub fn build(
        &self,
        base_dir: &Path,
        grid_spacing: f64,
    ) -> Result<(ClothMesh, ClothMaterial, Vec<Pin>), ClothError> {
        let name = || self.name.clone();
        let mesh_error = |source| ClothError::Mesh { name: name(), source };
        let local = self.sheet(base_dir, grid_spacing)?;
        local.check_spacing(grid_spacing).map_err(mesh_error)?;
        let pose = isometry(&self.pose);
        let placed = local.vertices().iter().map(|x| pose * nalgebra::Point3::from(*x)).map(|x| x.coords);
        let mesh = ClothMesh::new(placed.collect(), local.faces().to_vec()).map_err(mesh_error)?;
        let mut material = self.material.on_grid(grid_spacing);
        material.validate().map_err(|source| ClothError::Material { name: name(), source })?;
        if let Some(weave) = &mut material.weave {
            weave.warp = (pose * Vector3::from(weave.warp)).into();
            weave.directions(&mesh).map_err(|source| ClothError::Weave { name: name(), source })?;
        }
        let mut pins = Vec::with_capacity(self.pins.len());
        for (at, pin) in self.pins.iter().enumerate() {
            let refused = |source| ClothError::Pin { name: name(), pin: at, source };
            for vertex in self.pinned(at, pin, &local)? {
                let count = mesh.vertices().len();
                let start =
                    *mesh.vertices().get(vertex).ok_or(refused(PinError::NoSuchVertex { vertex, count }))?;
                let mut path: Vec<_> = pin
                    .keyframes
                    .iter()
                    .map(|key| (key.time, start + Vector3::from(key.displacement)))
                    .collect();
                if path.is_empty() {
                    path.push((0.0, start));
                }
                pins.push(Pin::new(vertex, path, pin.release.unwrap_or(f64::INFINITY)).map_err(refused)?);
            }
            Pin::check_all(&pins, mesh.vertices()).map_err(refused)?;
        }
        Ok((mesh, material, pins))
    }

    /// Its gas, for the mesh and material that [`build`](Self::build) made.
    ///
    /// # Errors
    /// [`ClothError::Gas`]: a figure out of range, or a mesh that is not closed.
    pub fn gas_within(&self, mesh: &ClothMesh, material: &ClothMaterial) -> Result<Option<Gas>, ClothError> {
        let Some(gas) = self.gas.as_ref().map(ClothGas::gas) else { return Ok(None) };
        let refused = |source| ClothError::Gas { name: self.name.clone(), source };
        GasModel::new(&gas, mesh, material).map_err(refused)?;
        Ok(Some(gas))
    }

    /// The sheet in its own frame.
    fn sheet(&self, base_dir: &Path, grid_spacing: f64) -> Result<ClothMesh, ClothError> {
        let name = || self.name.clone();
        let made = match &self.shape {
            ClothShape::Rectangle { size: [x, y], parts } => ClothMesh::rectangle(
                Vector3::new(-0.5 * x, -0.5 * y, 0.0),
                Vector3::x() * *x,
                Vector3::y() * *y,
                parts.map(|count| count as usize),
            ),
            ClothShape::Disc { radius, rings } => {
                ClothMesh::disc(Vector3::zeros(), Vector3::z(), *radius, *rings as usize)
            }
            ClothShape::Pillow { size: [x, y], parts, gap } => ClothMesh::pillow(
                Vector3::new(-0.5 * x, -0.5 * y, 0.0),
                Vector3::x() * *x,
                Vector3::y() * *y,
                parts.map(|count| count as usize),
                gap.value().unwrap_or(PILLOW_GAP * grid_spacing),
            ),
            ClothShape::Sphere { radius, parts } => {
                ClothMesh::sphere(Vector3::zeros(), *radius, *parts as usize)
            }
            ClothShape::TShirt(measures) => {
                let sewn = measures.shirt(grid_spacing).sew();
                return sewn
                    .map(|sewn| sewn.mesh)
                    .map_err(|source| ClothError::TShirt { name: name(), source: Box::new(source) });
            }
            ClothShape::Trousers(measures) => {
                let sewn = measures.trousers(grid_spacing).sew();
                return sewn
                    .map(|sewn| sewn.mesh)
                    .map_err(|source| ClothError::Trousers { name: name(), source: Box::new(source) });
            }
            ClothShape::Mesh { file, scale } => {
                return load_cloth(base_dir.join(file), *scale)
                    .map_err(|source| ClothError::File { name: name(), source: Box::new(source) });
            }
        };
        made.map_err(|source| ClothError::Mesh { name: name(), source })
    }

    /// The vertices that pin number `at` holds, in the sheet's own frame.
    fn pinned(&self, at: usize, pin: &ClothPin, sheet: &ClothMesh) -> Result<Vec<usize>, ClothError> {
        match (pin.at, &self.shape) {
            (PinPlace::Corner { corner }, ClothShape::Rectangle { parts, .. }) => {
                let [m, n] = parts.map(|count| count as usize);
                Ok(vec![match corner {
                    Corner::LowerLeft => 0,
                    Corner::LowerRight => m * (n + 1),
                    Corner::UpperRight => m * (n + 1) + n,
                    Corner::UpperLeft => n,
                }])
            }
            (PinPlace::Edge { edge, clamped }, ClothShape::Rectangle { parts, .. }) => {
                let [m, n] = parts.map(|count| count as usize);
                // Rows from the edge inwards; a sheet of one part is held as a whole.
                let rows = 0..1 + usize::from(clamped);
                Ok(rows
                    .flat_map(|row| {
                        let count = if matches!(edge, Edge::Left | Edge::Right) { n } else { m };
                        (0..=count).map(move |k| match edge {
                            Edge::Left => row * (n + 1) + k,
                            Edge::Right => (m - row) * (n + 1) + k,
                            Edge::Lower => k * (n + 1) + row,
                            Edge::Upper => k * (n + 1) + n - row,
                        })
                    })
                    .collect())
            }
            (PinPlace::Corner { .. } | PinPlace::Edge { .. }, _) => {
                Err(ClothError::NoCorner { name: self.name.clone(), pin: at })
            }
            (PinPlace::Vertex { vertex }, _) => Ok(vec![vertex as usize]),
            (PinPlace::Nearest { point }, _) => {
                let (vertex, distance, limit) = nearest_vertex(sheet, &point.into());
                if distance <= limit {
                    return Ok(vec![vertex]);
                }
                let name = self.name.clone();
                Err(ClothError::NotNear { name, pin: at, point, vertex, distance, limit })
            }
        }
    }
}

/// The vertex that is nearest to a point, its distance, and how far it may be to be meant: half of
/// the longest edge there \[m\].
pub(crate) fn nearest_vertex(sheet: &ClothMesh, point: &Vector3<f64>) -> (usize, f64, f64) {
    // A mesh has vertices; of equally near ones the first is taken.
    let distances = sheet.vertices().iter().map(|y| (point - y).norm()).enumerate();
    let (vertex, distance) =
        distances.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best });
    let edges = sheet.faces_of(vertex).iter().flat_map(|&face| {
        let [a, b, c] = sheet.corners(face);
        [(b - a).norm(), (c - b).norm(), (a - c).norm()]
    });
    (vertex, distance, 0.5 * edges.fold(0.0, f64::max))
}

fn one() -> f64 {
    1.0
}

fn linen() -> [u8; 3] {
    [214, 205, 190]
}
