//! The key light's shadow: a depth map along the light, filtered wider the farther the blocker is.
//!
//! Percentage-closer soft shadows (Fernando, "Percentage-closer soft shadows", SIGGRAPH 2005
//! sketches).

use super::primitive::RenderScene;
use super::raster::{Buffer, rasterise};
use super::ray::V3;
use super::view::View;

/// Smallest side of the depth map, of drafts and stills, and largest [texels]; multiples of `BLOCK`.
/// Most of the time of a small draft went to a map that was finer than the picture.
const SMALLEST: [usize; 2] = [192, 512];
const LARGEST: usize = 1280;

/// Half of the angle under which the light is seen, as a slope: a large softbox.
const LIGHT_SLOPE: f32 = 0.055;

/// Widest filter over the side of the depth map.
const WIDEST: f32 = 0.025;

/// Side of the blocks whose nearest depth lets most samples skip the filter [texels].
const BLOCK: usize = 16;

/// Samples of the blocker search and of the filter, of drafts and stills.
const SEARCH: [usize; 2] = [6, 8];
const FILTER: [usize; 2] = [8, 12];

/// Depth along the light of the first surface.
pub(super) struct ShadowMap {
    view: View,
    /// Texels along each side.
    size: usize,
    /// Widest filter [texels].
    widest: f32,
    depth: Vec<f32>,
    /// Nearest depth within reach of the widest filter, for each block.
    nearest: Vec<f32>,
    search: Vec<[f32; 2]>,
    filter: Vec<[f32; 2]>,
}

impl ShadowMap {
    /// `light` points to the light; `center` and `radius` bound the scene; the picture has `height`
    /// samples.
    pub fn new(
        scene: &RenderScene,
        light: V3,
        (center, radius): (V3, f32),
        height: usize,
        draft: bool,
    ) -> Self {
        // The shadow of a large light is smooth: half of the picture's samples serve a draft.
        let texels = if draft { height / 2 } else { height };
        let size = texels.next_multiple_of(BLOCK).clamp(SMALLEST[usize::from(!draft)], LARGEST);
        let widest = WIDEST * size as f32;
        let view = View::orthographic(-light, center, radius * 1.02, size);
        let depth = rasterise(&view, &scene.primitives, Buffer::empty(&view)).depth;
        let nearest = nearest_blocks(&depth, size, widest);
        let [search, filter] = [SEARCH, FILTER].map(|samples| disc(samples[usize::from(!draft)]));
        Self { view, size, widest, depth, nearest, search, filter }
    }

    /// Part of the light that reaches a surface point, 0 to 1. `casts`: whether the surface is in
    /// the map itself, and so must be kept from its own shadow. `noise` in [0, 1) turns the filter.
    pub fn light_at(&self, point: &V3, normal: &V3, casts: bool, noise: f32) -> f32 {
        let texel = if casts { 1.0 / self.view.scale } else { 0.0 };
        let facing = -normal.dot(&self.view.forward);
        // Off the surface by a texel and a half.
        let (x, y, depth) = self.view.project(&(point + normal * (1.5 * texel)));
        if self.nearest_about(x, y) > depth {
            return 1.0;
        }
        let slope = ((1.0 - facing * facing).max(0.0).sqrt() / facing.max(0.3)).min(2.0);
        let turn = (noise * std::f32::consts::TAU).sin_cos();
        let (mut blockers, mut sum) = (0.0, 0.0);
        for sample in &self.search {
            let [dx, dy] = turned(sample, turn);
            let blocker = self.at(x + dx * self.widest, y + dy * self.widest);
            if blocker < depth - texel {
                blockers += 1.0;
                sum += blocker;
            }
        }
        if blockers == 0.0 {
            return 1.0;
        }
        let reach = ((depth - sum / blockers) * LIGHT_SLOPE * self.view.scale).clamp(1.5, self.widest);
        let mut lit = 0.0;
        // The surface itself rises by its slope across the filter.
        let bias = texel * (0.5 + 0.6 * reach * slope);
        for sample in &self.filter {
            let [dx, dy] = turned(sample, turn);
            lit += f32::from(u8::from(self.at(x + dx * reach, y + dy * reach) >= depth - bias));
        }
        lit / self.filter.len() as f32
    }

    /// Whether all the light reaches a point of a floor.
    pub fn is_lit(&self, point: &V3) -> bool {
        let (x, y, depth) = self.view.project(point);
        self.nearest_about(x, y) > depth
    }

    /// Nearest depth within reach of the widest filter about a texel.
    fn nearest_about(&self, x: f32, y: f32) -> f32 {
        let blocks = self.size / BLOCK;
        let block = |c: f32| (c.max(0.0) as usize / BLOCK).min(blocks - 1);
        self.nearest[block(y) * blocks + block(x)]
    }

    /// Depth at a texel; nothing shadows outside the map.
    fn at(&self, x: f32, y: f32) -> f32 {
        if x < 0.0 || y < 0.0 || x >= self.size as f32 || y >= self.size as f32 {
            return f32::INFINITY;
        }
        self.depth[y as usize * self.size + x as usize]
    }
}

/// Points spread evenly over the unit disc (Vogel 1979: golden-angle spiral).
fn disc(count: usize) -> Vec<[f32; 2]> {
    let point = |index: usize| {
        let (sin, cos) = (index as f32 * 2.399_963_2).sin_cos();
        let radius = ((index as f32 + 0.5) / count as f32).sqrt();
        [radius * cos, radius * sin]
    };
    (0..count).map(point).collect()
}

/// `point` turned by the angle of the given sine and cosine.
fn turned(point: &[f32; 2], (sin, cos): (f32, f32)) -> [f32; 2] {
    [cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]]
}

/// Nearest depth of each block and of the blocks that the widest filter reaches.
fn nearest_blocks(depth: &[f32], size: usize, widest: f32) -> Vec<f32> {
    let blocks = size / BLOCK;
    let mut own = vec![f32::INFINITY; blocks * blocks];
    for (row, texels) in depth.chunks(size).enumerate() {
        for (column, piece) in texels.chunks(BLOCK).enumerate() {
            let block = &mut own[row / BLOCK * blocks + column];
            *block = piece.iter().copied().fold(*block, f32::min);
        }
    }
    let reach = (widest as usize + 1).div_ceil(BLOCK);
    let spread = |index: usize| {
        let (row, column) = (index / blocks, index % blocks);
        let rows = row.saturating_sub(reach)..(row + reach + 1).min(blocks);
        let columns = column.saturating_sub(reach)..(column + reach + 1).min(blocks);
        rows.flat_map(|r| own[r * blocks + columns.start..r * blocks + columns.end].iter().copied())
            .fold(f32::INFINITY, f32::min)
    };
    (0..blocks * blocks).map(spread).collect()
}
