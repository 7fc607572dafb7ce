//! The collision model.

use super::bounds::local_bounds;
use super::error::CollisionError;
use super::filter::Filter;
use super::geometry::CollisionGeometry;
use super::solid::{ShapeTables, ShapeWithTables};
use crate::multibody::{LinkId, Model};
use crate::spatial::is_pose;
use nalgebra::Point3;
use pliant_geometry::Shape;

/// Geometries, in the order in which they were given, and the pairs that are excluded.
#[derive(Clone, Debug)]
pub struct CollisionModel {
    geometries: Vec<CollisionGeometry>,
    tables: Vec<ShapeTables>,
    /// Corners of a box around each shape, in its frame \[m\]; infinite for a half-space.
    bounds: Vec<[Point3<f64>; 2]>,
    filter: Filter,
}

impl CollisionModel {
    /// Geometries on the links of `model`. Left out are pairs
    /// - on one link, on links welded together, both fixed to the world;
    /// - of links joined by one joint, with what is welded to either, unless one of them belongs to
    ///   the world (but a link never touches its own parent link, moving or not);
    /// - of the links `excluded`;
    /// - where one's group is not in the other's mask.
    ///
    /// # Errors
    /// Shapes, poses and materials that are out of range, links that do not exist, and pairs that
    /// may touch but are not supported: a mesh or height field with another, and two half-spaces.
    pub fn new(
        geometries: Vec<CollisionGeometry>,
        model: &Model,
        excluded: &[(LinkId, LinkId)],
    ) -> Result<Self, CollisionError> {
        let links = model.links().len();
        for (geometry, g) in geometries.iter().enumerate() {
            validate(geometry, g)?;
            if let Some(link) = g.link.filter(|l| l.0 >= links) {
                let what = format!("geometry {geometry} '{}'", g.name);
                return Err(CollisionError::NoLink { what, link: link.0, links });
            }
        }
        if let Some(link) = excluded.iter().flat_map(|(a, b)| [a, b]).find(|l| l.0 >= links) {
            let what = "excluded pair".to_owned();
            return Err(CollisionError::NoLink { what, link: link.0, links });
        }
        let filter = Filter::new(&geometries, model, excluded);
        check_pairs(&geometries, &filter)?;
        let table = |(geometry, g): (usize, &CollisionGeometry)| {
            ShapeTables::new(&g.shape).map_err(|source| CollisionError::Shape {
                geometry,
                name: g.name.clone(),
                source,
            })
        };
        let tables = geometries.iter().enumerate().map(table).collect::<Result<Vec<_>, _>>()?;
        let bounds = geometries.iter().map(|g| local_bounds(&g.shape)).collect();
        Ok(Self { geometries, tables, bounds, filter })
    }

    /// The geometries, by number.
    pub fn geometries(&self) -> &[CollisionGeometry] {
        &self.geometries
    }

    /// Whether geometries `a` and `b` may touch.
    pub fn may_touch(&self, a: usize, b: usize) -> bool {
        self.filter.allows(a, b)
    }

    /// Corners of the box around a shape, in its frame \[m\].
    pub(super) fn bounds(&self, geometry: usize) -> &[Point3<f64>; 2] {
        &self.bounds[geometry]
    }

    /// Half of the smallest extent of a shape along its axes \[m\], infinite for a half-space.
    pub(crate) fn half_thickness(&self, geometry: usize) -> f64 {
        let [low, high] = self.bounds(geometry);
        let extents = (high - low).map(|extent| 0.5 * extent);
        if extents.iter().all(|extent| extent.is_finite()) { extents.min() } else { f64::INFINITY }
    }

    /// A shape with its tables.
    pub(super) fn solid(&self, geometry: usize) -> ShapeWithTables<'_> {
        ShapeWithTables { shape: &self.geometries[geometry].shape, tables: &self.tables[geometry] }
    }
}

fn validate(geometry: usize, g: &CollisionGeometry) -> Result<(), CollisionError> {
    let name = || g.name.clone();
    g.shape.validate().map_err(|source| CollisionError::Shape { geometry, name: name(), source })?;
    let value = |field, value, unit, requirement| {
        Err(CollisionError::Value { geometry, name: name(), field, value, unit, requirement })
    };
    if !is_pose(&g.pose) {
        return value("pose", f64::NAN, "m", "a finite position and a unit quaternion");
    }
    g.material.out_of_range().next().map_or(Ok(()), |f| value(f.field, f.value, f.unit, f.requirement))
}

/// Refuses pairs that may touch but are not supported.
fn check_pairs(geometries: &[CollisionGeometry], filter: &Filter) -> Result<(), CollisionError> {
    let kinds: [fn(&Shape) -> bool; 2] = [
        |shape| matches!(shape, Shape::Mesh(_) | Shape::HeightField(_)),
        |shape| matches!(shape, Shape::HalfSpace),
    ];
    for kind in kinds {
        let of_kind: Vec<usize> = (0..geometries.len()).filter(|i| kind(&geometries[*i].shape)).collect();
        for (k, &first) in of_kind.iter().enumerate() {
            if let Some(&second) = of_kind[k + 1..].iter().find(|b| filter.allows(first, **b)) {
                let (a, b) = (&geometries[first], &geometries[second]);
                return Err(CollisionError::UnsupportedPair {
                    first,
                    first_name: a.name.clone(),
                    first_shape: a.shape.name(),
                    second,
                    second_name: b.name.clone(),
                    second_shape: b.shape.name(),
                });
            }
        }
    }
    Ok(())
}
