//! Visibility: primitives binned into screen tiles, rays cast within their screen rectangles.

use rayon::prelude::*;

use super::box_outline::BoxOutline;
use super::flat_triangle::FlatTriangle;
use super::primitive::{Plane, Primitive, Shape};
use super::ray::{Ray, V3};
use super::view::{Rect, View};

/// Samples along each side of a pixel.
pub(super) const SUPERSAMPLING: usize = 2;

/// Side of a tile \[samples\].
const TILE: usize = 64;

/// Nothing was hit.
pub(super) const NOTHING: u32 = u32::MAX;

/// Solids of which one is nearer by less than this part of the distance are at the same place, but
/// for rounding: the first is seen, not now the one and now the other.
const SAME: f32 = 2e-5;

/// Set in the id of a floor; the other bits are its index.
const FLOOR: u32 = 1 << 31;

/// Index of the floor with this id, if it is a floor's.
pub(super) fn floor_index(id: u32) -> Option<usize> {
    (id & FLOOR != 0 && id != NOTHING).then_some((id & !FLOOR) as usize)
}

/// The primitive of each sample, rows from the top.
#[derive(Clone)]
pub(super) struct Buffer {
    /// Distance along the ray \[m\]; infinite where there is nothing.
    pub depth: Vec<f32>,
    /// Index of the primitive, or the id of a floor, or `NOTHING`.
    pub primitive: Vec<u32>,
}

impl Buffer {
    /// A buffer that shows nothing.
    pub fn empty(view: &View) -> Self {
        let samples = view.width * view.height;
        Self { depth: vec![f32::INFINITY; samples], primitive: vec![NOTHING; samples] }
    }
}

/// Where a primitive may be visible, and how samples find it.
struct Place {
    rect: Rect,
    way: Way,
}

/// How a sample finds a primitive.
enum Way {
    /// In the picture.
    Flat(FlatTriangle),
    /// By its ray, from this eye in the frame of the solid, where the box about it is seen.
    Local(V3, BoxOutline),
    /// By its ray.
    Ray,
}

impl Place {
    fn new(view: &View, shape: &Shape) -> Option<Self> {
        let rect = view.bounds(shape)?;
        let way = match shape {
            Shape::Triangle { corners, .. } => FlatTriangle::new(view, corners).map_or(Way::Ray, Way::Flat),
            Shape::Posed { solid, rotation, center } if view.perspective => {
                let outline = BoxOutline::new(view, &solid.box_corners(rotation, center));
                outline
                    .map_or(Way::Ray, |outline| Way::Local(rotation.tr_mul(&(view.origin - center)), outline))
            }
            _ => Way::Ray,
        };
        Some(Self { rect, way })
    }
}

/// Finds the nearest primitive of every sample, in front of what `buffer` shows. Ties go to the first
/// primitive, and to primitives before floors, so the result does not depend on threads; solids tie
/// within [`SAME`].
pub(super) fn rasterise(view: &View, primitives: &[Primitive], mut buffer: Buffer) -> Buffer {
    let places: Vec<Option<Place>> = primitives.par_iter().map(|p| Place::new(view, &p.shape)).collect();
    let columns = view.width.div_ceil(TILE);
    let rows = view.height.div_ceil(TILE);
    let mut bins: Vec<Vec<u32>> = vec![Vec::new(); columns * rows];
    for (index, place) in places.iter().enumerate() {
        let Some(Place { rect, .. }) = place else { continue };
        for row in rect.y[0] / TILE..=(rect.y[1] - 1) / TILE {
            for column in rect.x[0] / TILE..=(rect.x[1] - 1) / TILE {
                bins[row * columns + column].push(index as u32);
            }
        }
    }
    // A row of tiles is one piece of the buffers, so threads never share one.
    let pieces = buffer
        .depth
        .par_chunks_mut(TILE * view.width)
        .zip(buffer.primitive.par_chunks_mut(TILE * view.width));
    pieces.enumerate().for_each(|(row, (depth, primitive))| {
        for column in 0..columns {
            let tile = Tile { view, primitives, places: &places, corner: [column * TILE, row * TILE] };
            tile.cast(&bins[row * columns + column], depth, primitive);
        }
    });
    buffer
}

/// A tile of the picture, and what may be seen in it.
struct Tile<'a> {
    view: &'a View,
    primitives: &'a [Primitive],
    places: &'a [Option<Place>],
    /// The first sample.
    corner: [usize; 2],
}

impl Tile<'_> {
    /// Casts the rays of the primitives `bin`; `depth` and `nearest` are its row of tiles.
    fn cast(&self, bin: &[u32], depth: &mut [f32], nearest: &mut [u32]) {
        let (view, corner) = (self.view, self.corner);
        let end = [(corner[0] + TILE).min(view.width), (corner[1] + TILE).min(view.height)];
        let mut rays = None;
        for &index in bin {
            let Some(Place { rect, way }) = &self.places[index as usize] else { continue };
            let shape = &self.primitives[index as usize].shape;
            let is_flat = matches!(way, Way::Flat(_));
            let rays = if is_flat { &[] } else { &rays.get_or_insert_with(|| self.rays(end))[..] };
            for y in rect.y[0].max(corner[1])..rect.y[1].min(end[1]) {
                let seen = match way {
                    Way::Local(_, outline) => outline.columns(y),
                    _ => [0, view.width],
                };
                let first = rect.x[0].max(corner[0]).max(seen[0]);
                for x in first..rect.x[1].min(end[0]).min(seen[1]) {
                    let ray = || &rays[(y - corner[1]) * (end[0] - corner[0]) + x - corner[0]];
                    let hit = match (way, shape) {
                        (Way::Flat(flat), _) => flat
                            .depth(view, x as f32 + 0.5, y as f32 + 0.5)
                            .map(|ahead| ahead * view.distance_per_depth(x, y)),
                        (Way::Local(eye, _), Shape::Posed { solid, rotation, .. }) => {
                            solid.intersect(eye, &rotation.tr_mul(&ray().direction))
                        }
                        _ => shape.intersect(ray()),
                    };
                    let place = (y - corner[1]) * view.width + x;
                    let margin = if nearest[place] & FLOOR == 0 && !is_flat { SAME } else { 0.0 };
                    if let Some(t) = hit
                        && (t < depth[place] * (1.0 - margin)
                            || t == depth[place] && nearest[place] & FLOOR != 0)
                    {
                        depth[place] = t;
                        nearest[place] = index;
                    }
                }
            }
        }
    }

    /// The rays of the tile, which ends at `end`.
    fn rays(&self, end: [usize; 2]) -> Vec<Ray> {
        let corner = self.corner;
        let mut rays = Vec::with_capacity(TILE * TILE);
        for y in corner[1]..end[1] {
            rays.extend((corner[0]..end[0]).map(|x| self.view.ray(x as f32 + 0.5, y as f32 + 0.5)));
        }
        rays
    }
}

/// The floors alone.
pub(super) fn floors(view: &View, planes: &[Plane]) -> Buffer {
    let mut buffer = Buffer::empty(view);
    let rows = buffer.depth.par_chunks_mut(view.width).zip(buffer.primitive.par_chunks_mut(view.width));
    rows.enumerate().for_each(|(y, (depth, primitive))| {
        for x in 0..view.width {
            let ray = view.ray(x as f32 + 0.5, y as f32 + 0.5);
            for (index, plane) in planes.iter().enumerate() {
                if let Some(t) = plane_distance(plane, &ray)
                    && t < depth[x]
                {
                    depth[x] = t;
                    primitive[x] = FLOOR | index as u32;
                }
            }
        }
    });
    buffer
}

/// Where the ray meets the upper side of a floor.
fn plane_distance(plane: &Plane, ray: &Ray) -> Option<f32> {
    let towards = -ray.direction.dot(&plane.normal);
    let height = (ray.origin - plane.point).dot(&plane.normal);
    (towards > 1e-6 && height > 0.0).then(|| height / towards)
}
