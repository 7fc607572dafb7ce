//! Sightings: which vertices of a cloth they are of.

use std::ops::Range;

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector2, Vector3};
use pliant_mpm::cloth::ClothMesh;

use super::error::AssembleError;
use super::{AssembledCloth, Assembly};
use crate::format::{ClothPoint, ClothShape, ClothSpec, Scene, Sighting, nearest_vertex};
use crate::isometry::isometry;

/// Vertices are at a key point if they are this much farther from it than the nearest \[m\]: the
/// front and the back of a garment.
const SAME_PLACE: f64 = 1e-6;
/// Shortest horizontal distance that gives a frame its direction \[m\].
const SHORTEST: f64 = 1e-3;

/// A sighting with the particles that it is of.
#[derive(Clone, Debug)]
pub struct SeenPoints {
    name: String,
    /// When \[s\].
    pub time: f64,
    origin: Vec<Place>,
    toward: Vec<Place>,
    from: Vec<Place>,
    height: Option<f64>,
}

/// A point of a cloth.
#[derive(Clone, Debug)]
enum Place {
    /// The mean of these particles.
    Mean(Vec<usize>),
    /// That one of these particles that is the farthest in a direction.
    Farthest(Range<usize>, Vector3<f64>),
}

impl Place {
    fn position(&self, positions: &[[f64; 3]]) -> Vector3<f64> {
        match self {
            Self::Mean(particles) => {
                let sum: Vector3<f64> = particles.iter().map(|&p| Vector3::from(positions[p])).sum();
                sum / particles.len() as f64
            }
            Self::Farthest(range, direction) => {
                let along = |p: &usize| direction.dot(&Vector3::from(positions[*p]));
                // Of several the first.
                let farthest = range.clone().reduce(|a, b| if along(&b) > along(&a) { b } else { a });
                farthest.map_or_else(Vector3::zeros, |p| Vector3::from(positions[p]))
            }
        }
    }
}

impl SeenPoints {
    /// The frame at these positions of all particles \[m\].
    ///
    /// # Errors
    /// A reason, where the points give no direction.
    pub fn frame(&self, positions: &[[f64; 3]]) -> Result<Isometry3<f64>, String> {
        let mean = |places: &[Place]| {
            let sum: Vector3<f64> = places.iter().map(|place| place.position(positions)).sum();
            sum / places.len() as f64
        };
        let mut origin = mean(&self.origin);
        let mut rotation = UnitQuaternion::identity();
        if !self.toward.is_empty() {
            let from = if self.from.is_empty() { origin } else { mean(&self.from) };
            let to = (mean(&self.toward) - from).xy();
            let distance = to.norm();
            if distance.is_nan() || distance < SHORTEST {
                return Err(format!(
                    "sighting '{}': `toward` is {distance:.2e} m from `from` horizontally; at least \
                     {SHORTEST} m are needed for a direction",
                    self.name
                ));
            }
            let x = to / distance;
            let axes = Matrix3::new(x.x, -x.y, 0.0, x.y, x.x, 0.0, 0.0, 0.0, 1.0);
            rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
        }
        origin.z = self.height.unwrap_or(origin.z);
        Ok(Isometry3::from_parts(Translation3::from(origin), rotation))
    }
}

/// The sightings of a scene, for particles in the order of its world: soft bodies, then the
/// vertices and centroids of each cloth.
///
/// # Errors
/// A key point or vertex that the cloth does not have.
pub fn sightings(scene: &Scene, assembly: &Assembly) -> Result<Vec<SeenPoints>, AssembleError> {
    let found = |(at, sighting): (usize, &Sighting)| {
        let path = format!("sightings[{at}]");
        let undefined =
            || AssembleError::Undefined { path: format!("{path}.cloth"), name: sighting.cloth.clone() };
        let number =
            scene.cloths.iter().position(|cloth| cloth.name == sighting.cloth).ok_or_else(undefined)?;
        let size =
            |cloth: &AssembledCloth| cloth.sheet.mesh.vertices().len() + cloth.sheet.mesh.faces().len();
        let soft: usize = assembly.soft.iter().map(|soft| soft.sample.positions.len()).sum();
        let first = soft + assembly.cloths[..number].iter().map(size).sum::<usize>();
        let (spec, mesh) = (&scene.cloths[number], &assembly.cloths[number].sheet.mesh);
        let places = |field: &str, points: &[ClothPoint]| {
            let place = |(k, point)| {
                let failed =
                    |reason| AssembleError::Sighting { path: format!("{path}.{field}[{k}]"), reason };
                place(spec, scene.grid_spacing.unwrap_or(1.0), mesh, first, point).map_err(failed)
            };
            points.iter().enumerate().map(place).collect::<Result<Vec<_>, _>>()
        };
        Ok(SeenPoints {
            name: sighting.name.clone(),
            time: sighting.time,
            origin: places("origin", &sighting.origin)?,
            toward: places("toward", &sighting.toward)?,
            from: places("from", &sighting.from)?,
            height: sighting.height,
        })
    };
    scene.sightings.iter().enumerate().map(found).collect()
}

fn place(
    spec: &ClothSpec,
    grid_spacing: f64,
    mesh: &ClothMesh,
    first: usize,
    point: &ClothPoint,
) -> Result<Place, String> {
    let count = mesh.vertices().len();
    let into = isometry(&spec.pose).inverse();
    let local = |vertex: &Vector3<f64>| (into * Point3::from(*vertex)).coords;
    match point {
        ClothPoint::Vertex { vertex } if (*vertex as usize) < count => {
            Ok(Place::Mean(vec![first + *vertex as usize]))
        }
        ClothPoint::Vertex { vertex } => {
            Err(format!("the cloth has {count} vertices, so no number {vertex}"))
        }
        ClothPoint::Nearest { point } => {
            let placed = isometry(&spec.pose) * Point3::from(*point);
            let (vertex, distance, limit) = nearest_vertex(mesh, &placed.coords);
            if distance > limit {
                return Err(format!(
                    "{point:?} m is {distance} m from the nearest vertex, {vertex}; must be within {limit} m, \
                     half of the longest edge there"
                ));
            }
            Ok(Place::Mean(vec![first + vertex]))
        }
        ClothPoint::KeyPoint { name } => {
            let known = key_points(&spec.shape, grid_spacing);
            let Some((_, point)) = known.iter().find(|(own, _)| own == name) else {
                let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(format!("the shape has no key point '{name}'; it has {names}"));
            };
            Ok(Place::Mean(at_least(mesh, first, |x| (local(x).xy() - point).norm())))
        }
        ClothPoint::Farthest { direction } => {
            Ok(Place::Farthest(first..first + count, Vector3::from(*direction)))
        }
    }
}

/// The particles of the vertices at which a distance is least.
fn at_least(mesh: &ClothMesh, first: usize, distance: impl Fn(&Vector3<f64>) -> f64) -> Vec<usize> {
    let least = mesh.vertices().iter().map(&distance).fold(f64::INFINITY, f64::min);
    let vertices = mesh.vertices().iter().enumerate();
    vertices.filter(|(_, x)| distance(x) <= least + SAME_PLACE).map(|(v, _)| first + v).collect()
}

/// Key points of a shape in the plane of its own frame \[m\].
fn key_points(shape: &ClothShape, grid_spacing: f64) -> Vec<(&'static str, Vector2<f64>)> {
    match shape {
        ClothShape::Rectangle { size, .. } | ClothShape::Pillow { size, .. } => {
            let at = |x: f64, y: f64| Vector2::new(x * size[0], y * size[1]);
            vec![
                ("lower-left", at(-0.5, -0.5)),
                ("lower-right", at(0.5, -0.5)),
                ("upper-right", at(0.5, 0.5)),
                ("upper-left", at(-0.5, 0.5)),
                ("center", at(0.0, 0.0)),
            ]
        }
        ClothShape::Disc { .. } => vec![("center", Vector2::zeros())],
        ClothShape::TShirt(measures) => measures.shirt(grid_spacing).key_points(),
        ClothShape::Trousers(measures) => measures.trousers(grid_spacing).key_points(),
        ClothShape::Sphere { .. } | ClothShape::Mesh { .. } => Vec::new(),
    }
}
