//! The collision model.

use super::bounds::local_bounds;
use super::error::CollisionError;
use super::filter::Filter;
use super::geometry::{CollisionGeometry, PairMaterial};
use super::material::ContactMaterial;
use super::solid::{ShapeTables, ShapeWithTables};
use crate::multibody::{LinkId, Model};
use crate::out_of_range::OutOfRange;
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
    /// Pairs of geometries with a contact of their own, smaller first, sorted.
    pairs: Vec<([usize; 2], ContactMaterial)>,
    /// Largest margin of a contact \[m\].
    widest: f64,
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
        let mut scene = Self { geometries, tables, bounds, filter, pairs: Vec::new(), widest: 0.0 };
        scene.widest = scene.widest_margin();
        Ok(scene)
    }

    /// The same with `pairs` of geometries that have a contact of their own, and that touch even if
    /// groups, excluded links or a joint between them forbid it. Of several for one pair the last
    /// counts.
    ///
    /// # Errors
    /// Numbers and figures that are out of range, and shapes whose contact is not supported.
    pub fn with_pairs(mut self, pairs: &[PairMaterial]) -> Result<Self, CollisionError> {
        for (number, pair) in pairs.iter().enumerate() {
            let [first, second] = pair.geometries;
            let geometries = self.geometries.len();
            if first == second || first.max(second) >= geometries {
                return Err(CollisionError::NoPair { pair: number, first, second, geometries });
            }
            check_material(first, &self.geometries[first].name, &pair.contact)?;
            let key = [first.min(second), first.max(second)];
            match self.pairs.binary_search_by(|known| known.0.cmp(&key)) {
                Ok(at) => self.pairs[at].1 = pair.contact,
                Err(at) => self.pairs.insert(at, (key, pair.contact)),
            }
        }
        self.filter.allow(self.pairs.iter().map(|(key, _)| *key).collect());
        check_pairs(&self.geometries, &self.filter)?;
        self.widest = self.widest_margin();
        Ok(self)
    }

    fn widest_margin(&self) -> f64 {
        let margins = || self.geometries.iter().map(|g| g.material.margin);
        let widest = margins().fold(0.0, f64::max);
        let of_pairs = self.pairs.iter().map(|(_, contact)| contact.margin);
        of_pairs.fold(2.0 * widest, f64::max)
    }

    /// Compliance and friction of the contact of geometries `a` and `b`.
    pub fn contact_material(&self, a: usize, b: usize) -> ContactMaterial {
        self.own_contact(a, b)
            .copied()
            .unwrap_or_else(|| self.geometries[a].material.combine(&self.geometries[b].material))
    }

    /// Gives geometries one coefficient of friction, finite and not negative, at rest and in motion.
    /// Contacts of pairs stay.
    pub(crate) fn set_friction(&mut self, geometries: core::ops::Range<usize>, coefficient: f64) {
        for geometry in &mut self.geometries[geometries] {
            geometry.material.static_friction = coefficient;
            geometry.material.dynamic_friction = coefficient;
        }
    }

    /// The pairs of geometries that have a contact of their own, smaller number first, in order.
    pub fn own_contacts(&self) -> impl Iterator<Item = ([usize; 2], &ContactMaterial)> {
        self.pairs.iter().map(|(numbers, contact)| (*numbers, contact))
    }

    /// The contact of a pair that has one of its own.
    pub fn own_contact(&self, a: usize, b: usize) -> Option<&ContactMaterial> {
        let key = [a.min(b), a.max(b)];
        let found = self.pairs.binary_search_by(|known| known.0.cmp(&key)).ok()?;
        Some(&self.pairs[found].1)
    }

    /// Distance \[m\] at which geometries `a` and `b` begin to act on each other.
    pub(super) fn contact_margin(&self, a: usize, b: usize) -> f64 {
        if self.widest == 0.0 { 0.0 } else { self.contact_material(a, b).margin }
    }

    /// The largest of all of these.
    pub(super) fn widest(&self) -> f64 {
        self.widest
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
    check_material(geometry, &g.name, &g.material)
}

fn check_material(geometry: usize, name: &str, material: &ContactMaterial) -> Result<(), CollisionError> {
    material.out_of_range().next().map_or(Ok(()), |f| {
        let OutOfRange { field, value, unit, requirement } = f;
        Err(CollisionError::Value { geometry, name: name.to_owned(), field, value, unit, requirement })
    })
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
