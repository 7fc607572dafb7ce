//! The key light's shadow: a depth map along the light, filtered wider the farther the blocker is.
//!
//! Percentage-closer soft shadows (Fernando, "Percentage-closer soft shadows", SIGGRAPH 2005 sketches).

use super::primitive::{Scene, V3};
use super::raster::{View, rasterise};

/// Side of the depth map [texels].
const SIZE: usize = 1280;

/// Half of the angle under which the light is seen, as a slope: a large softbox.
const LIGHT_SLOPE: f32 = 0.055;

/// Widest filter [texels].
const WIDEST: f32 = 32.0;

/// Side of the blocks whose nearest depth lets most samples skip the filter [texels].
const BLOCK: usize = 16;

/// Samples of the blocker search and of the filter.
const SEARCH: usize = 8;
const FILTER: usize = 12;

/// Depth along the light of the first surface.
pub(super) struct ShadowMap {
    view: View,
    depth: Vec<f32>,
    /// Nearest depth within reach of the widest filter, for each block.
    nearest: Vec<f32>,
    search: [[f32; 2]; SEARCH],
    filter: [[f32; 2]; FILTER],
}

impl ShadowMap {
    /// `light` points to the light; `center` and `radius` bound the scene.
    pub fn new(scene: &Scene, light: V3, center: V3, radius: f32) -> Self {
        let view = View::orthographic(-light, center, radius * 1.02, SIZE);
        let depth = rasterise(&view, &scene.primitives).depth;
        let nearest = nearest_blocks(&depth);
        Self { view, depth, nearest, search: disc(), filter: disc() }
    }

    /// Part of the light that reaches a surface point, 0 to 1. `noise` in [0, 1) turns the filter.
    pub fn light_at(&self, point: &V3, normal: &V3, noise: f32) -> f32 {
        let texel = 1.0 / self.view.scale;
        let facing = -normal.dot(&self.view.forward);
        // Off the surface by a texel and a half, so that it does not shadow itself.
        let (x, y, depth) = self.view.project(&(point + normal * (1.5 * texel)));
        let block = |c: f32| (c.max(0.0) as usize / BLOCK).min(SIZE / BLOCK - 1);
        if self.nearest[block(y) * (SIZE / BLOCK) + block(x)] > depth {
            return 1.0;
        }
        let slope = ((1.0 - facing * facing).max(0.0).sqrt() / facing.max(0.3)).min(2.0);
        let turn = (noise * std::f32::consts::TAU).sin_cos();
        let (mut blockers, mut sum) = (0.0, 0.0);
        for sample in &self.search {
            let [dx, dy] = turned(sample, turn);
            let blocker = self.at(x + dx * WIDEST, y + dy * WIDEST);
            if blocker < depth - texel {
                blockers += 1.0;
                sum += blocker;
            }
        }
        if blockers == 0.0 {
            return 1.0;
        }
        let reach = ((depth - sum / blockers) * LIGHT_SLOPE * self.view.scale).clamp(1.5, WIDEST);
        let mut lit = 0.0;
        // The surface itself rises by its slope across the filter.
        let bias = texel * (0.5 + 0.6 * reach * slope);
        for sample in &self.filter {
            let [dx, dy] = turned(sample, turn);
            lit += f32::from(u8::from(self.at(x + dx * reach, y + dy * reach) >= depth - bias));
        }
        lit / FILTER as f32
    }

    /// Depth at a texel; nothing shadows outside the map.
    fn at(&self, x: f32, y: f32) -> f32 {
        if x < 0.0 || y < 0.0 || x >= SIZE as f32 || y >= SIZE as f32 {
            return f32::INFINITY;
        }
        self.depth[y as usize * SIZE + x as usize]
    }
}

/// Points spread evenly over the unit disc (Vogel 1979: golden-angle spiral).
fn disc<const N: usize>() -> [[f32; 2]; N] {
    std::array::from_fn(|index| {
        let (sin, cos) = (index as f32 * 2.399_963_2).sin_cos();
        let radius = ((index as f32 + 0.5) / N as f32).sqrt();
        [radius * cos, radius * sin]
    })
}

/// `point` turned by the angle of the given sine and cosine.
fn turned(point: &[f32; 2], (sin, cos): (f32, f32)) -> [f32; 2] {
    [cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]]
}

/// Nearest depth of each block and of the blocks that the widest filter reaches.
fn nearest_blocks(depth: &[f32]) -> Vec<f32> {
    let blocks = SIZE / BLOCK;
    let mut own = vec![f32::INFINITY; blocks * blocks];
    for (row, texels) in depth.chunks(SIZE).enumerate() {
        for (column, piece) in texels.chunks(BLOCK).enumerate() {
            let block = &mut own[row / BLOCK * blocks + column];
            *block = piece.iter().copied().fold(*block, f32::min);
        }
    }
    let reach = (WIDEST as usize).div_ceil(BLOCK);
    let spread = |index: usize| {
        let (row, column) = (index / blocks, index % blocks);
        let rows = row.saturating_sub(reach)..(row + reach + 1).min(blocks);
        let columns = column.saturating_sub(reach)..(column + reach + 1).min(blocks);
        rows.flat_map(|r| own[r * blocks + columns.start..r * blocks + columns.end].iter().copied())
            .fold(f32::INFINITY, f32::min)
    };
    (0..blocks * blocks).map(spread).collect()
}
