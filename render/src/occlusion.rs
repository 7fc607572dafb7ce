//! Screen-space ambient occlusion: openness of each pixel to the sky, over the hemisphere of its
//! normal (after Mittring, "Finding next gen: CryEngine 2", 2007), at pixel resolution, blurred
//! within surfaces.

use rayon::prelude::*;

use super::primitive::RenderScene;
use super::raster::{Buffer, NOTHING, SUPERSAMPLING, floor_index};
use super::ray::{Ray, V3};
use super::view::View;

/// Directions sampled a pixel, of drafts and stills.
const DIRECTIONS: [usize; 2] = [8, 12];

/// Side of the blocks that record anything but floor \[samples\].
const BLOCK: usize = 16;

/// How far the openness of a pixel spreads, by the blur and by its use for the pixels beside
/// \[samples\].
const SPREAD: f32 = (3 * SUPERSAMPLING) as f32;

/// Reach of the occlusion over the radius of the scene.
const REACH: f32 = 0.16;

/// Openness of pixels.
pub(super) struct Occlusion {
    width: usize,
    height: usize,
    /// 1: open, 0: closed.
    openness: Vec<f32>,
    /// Distance along the ray \[m\] at which it holds.
    depth: Vec<f32>,
    reach: f32,
}

/// Interleaved gradient noise (Jimenez, "Next generation post processing in Call of Duty", 2014),
/// in [0, 1).
pub(super) fn pixel_noise(x: usize, y: usize) -> f32 {
    (52.982_918 * (0.067_110_56 * x as f32 + 0.005_837_15 * y as f32).fract()).fract()
}

/// Normal that the sample with the given id sees.
pub(super) fn normal_of(scene: &RenderScene, id: u32, ray: &Ray, t: f32) -> V3 {
    match floor_index(id) {
        Some(floor) => scene.planes[floor].normal,
        None => scene.primitives[id as usize].shape.normal(ray, t),
    }
}

/// Evenly spread directions about +z with a cosine distribution; lengths grow quadratically to 1.
fn kernel(directions: usize) -> Vec<V3> {
    let direction = |i: usize| {
        let u = (i as f32 + 0.5) / directions as f32;
        let angle = i as f32 * 2.399_963_2;
        let (sin, cos) = angle.sin_cos();
        // A second low-discrepancy sequence, so that length and height are unrelated.
        let length = ((i as f32 * 0.618_034 + 0.37).fract()).powi(2) * 0.94 + 0.06;
        V3::new(u.sqrt() * cos, u.sqrt() * sin, (1.0 - u).sqrt()) * length
    };
    (0..directions).map(direction).collect()
}

/// Number of blocks above and to the left of each block corner that show a primitive.
struct Solids {
    columns: usize,
    rows: usize,
    sums: Vec<u32>,
}

impl Solids {
    fn new(view: &View, buffer: &Buffer) -> Self {
        let (columns, rows) = (view.width.div_ceil(BLOCK), view.height.div_ceil(BLOCK));
        let stride = columns + 1;
        let mut sums = vec![0; stride * (rows + 1)];
        for (y, row) in buffer.primitive.chunks(view.width).enumerate() {
            for (x, piece) in row.chunks(BLOCK).enumerate() {
                if piece.iter().any(|&id| id != NOTHING && floor_index(id).is_none()) {
                    sums[(y / BLOCK + 1) * stride + x + 1] = 1;
                }
            }
        }
        for y in 1..=rows {
            for x in 1..=columns {
                let before = sums[y * stride + x - 1] + sums[(y - 1) * stride + x];
                sums[y * stride + x] += before - sums[(y - 1) * stride + x - 1];
            }
        }
        Self { columns, rows, sums }
    }

    /// Whether a primitive may be visible within `reach` of `sample` along either axis \[samples\].
    fn near(&self, sample: [usize; 2], reach: f32) -> bool {
        let reach = reach as usize + 1;
        let low = sample.map(|s| s.saturating_sub(reach) / BLOCK);
        let high = [
            ((sample[0].saturating_add(reach)) / BLOCK + 1).min(self.columns),
            ((sample[1].saturating_add(reach)) / BLOCK + 1).min(self.rows),
        ];
        let sum = |x: usize, y: usize| self.sums[y * (self.columns + 1) + x];
        sum(high[0], high[1]) + sum(low[0], low[1]) > sum(low[0], high[1]) + sum(high[0], low[1])
    }
}

impl Occlusion {
    /// `radius` is that of the scene \[m\]. One pixel of `stride` x `stride` is looked at, 1 to 3;
    /// the blur fills the others.
    pub fn new(view: &View, buffer: &Buffer, scene: &RenderScene, radius: f32, stride: usize) -> Self {
        let (width, height) = (view.width / SUPERSAMPLING, view.height / SUPERSAMPLING);
        let reach = radius * REACH;
        let kernel = kernel(DIRECTIONS[usize::from(stride == 1)]);
        let solids = Solids::new(view, buffer);
        let mut depth = vec![f32::INFINITY; width * height];
        let mut raw = vec![1.0; width * height];
        let mut near_solids = vec![false; width * height];
        let rows = depth.par_chunks_mut(width).zip(raw.par_chunks_mut(width));
        let rows = rows.zip(near_solids.par_chunks_mut(width));
        rows.enumerate().for_each(|(y, ((depth, raw), near_solids))| {
            for x in 0..width {
                let (sample_x, sample_y) = (x * SUPERSAMPLING, y * SUPERSAMPLING);
                let place = sample_y * view.width + sample_x;
                if buffer.primitive[place] == NOTHING {
                    continue;
                }
                depth[x] = buffer.depth[place];
                // Floors do not cover one another.
                let reach_seen = reach * view.scale / depth[x];
                near_solids[x] = solids.near([sample_x, sample_y], reach_seen + SPREAD);
                let skipped = !x.is_multiple_of(stride) || !y.is_multiple_of(stride);
                if skipped || !near_solids[x] || !solids.near([sample_x, sample_y], reach_seen) {
                    continue;
                }
                let ray = view.ray(sample_x as f32 + 0.5, sample_y as f32 + 0.5);
                let normal = normal_of(scene, buffer.primitive[place], &ray, depth[x]);
                let point = ray.origin + ray.direction * depth[x];
                raw[x] = openness(view, buffer, &kernel, &point, &normal, reach, pixel_noise(x, y));
            }
        });
        let openness = blur(&raw, &depth, &near_solids, width, reach, stride);
        Self { width, height, openness, depth, reach }
    }

    /// Whether all samples of a pixel are open: it and those beside it.
    pub fn is_open(&self, x: usize, y: usize) -> bool {
        let columns = x.saturating_sub(1)..(x + 2).min(self.width);
        let mut rows = y.saturating_sub(1)..(y + 2).min(self.height);
        rows.all(|v| self.openness[v * self.width..][columns.clone()].iter().all(|open| *open == 1.0))
    }

    /// Openness at a sample \[samples\] of a surface at distance `depth` \[m\]: of the four pixels
    /// about it, those on the same surface.
    pub fn at(&self, sample: [usize; 2], depth: f32) -> f32 {
        let step = |s: usize, end: usize| {
            let pixel = s / SUPERSAMPLING;
            let side = if s.is_multiple_of(SUPERSAMPLING) {
                pixel.saturating_sub(1)
            } else {
                (pixel + 1).min(end - 1)
            };
            [pixel, side]
        };
        let (mut sum, mut weights) = (0.0, 0.0);
        for y in step(sample[1], self.height) {
            for x in step(sample[0], self.width) {
                let place = y * self.width + x;
                let weight = similarity(depth, self.depth[place], self.reach) + 1e-6;
                sum += weight * self.openness[place];
                weights += weight;
            }
        }
        sum / weights
    }
}

/// 1 for the same distance, falling to 0 over a part of the reach.
fn similarity(a: f32, b: f32, reach: f32) -> f32 {
    // The distance of empty samples is infinite, and so is its difference: weight 0.
    let apart = (a - b).abs() / (0.15 * reach);
    if apart.is_nan() { 0.0 } else { 1.0 / (1.0 + apart * apart) }
}

/// Fraction of the hemisphere about `normal` that no visible surface covers.
fn openness(
    view: &View,
    buffer: &Buffer,
    kernel: &[V3],
    point: &V3,
    normal: &V3,
    reach: f32,
    noise: f32,
) -> f32 {
    let side = if normal.z.abs() < 0.9 { V3::z() } else { V3::x() };
    let tangent = normal.cross(&side).normalize();
    let bitangent = normal.cross(&tangent);
    let (sin, cos) = (noise * std::f32::consts::TAU).sin_cos();
    let (a, b) = (tangent * cos + bitangent * sin, bitangent * cos - tangent * sin);
    let mut covered = 0.0;
    for direction in kernel {
        let probe = point + (a * direction.x + b * direction.y + normal * direction.z) * reach;
        let (x, y, ahead) = view.project(&probe);
        if ahead <= 0.0 || x < 0.0 || y < 0.0 || x >= view.width as f32 || y >= view.height as f32 {
            continue;
        }
        let seen = buffer.depth[y as usize * view.width + x as usize];
        let behind = (probe - view.origin).norm() - seen;
        if behind > 0.004 * reach {
            // A surface far in front of the probe is another object, not a neighbour.
            covered += (1.0 - (behind / (1.5 * reach) - 0.5).clamp(0.0, 1.0)).max(0.0);
        }
    }
    1.0 - covered / kernel.len() as f32
}

/// Averages 4 x 4 pixels on the same surface, those at multiples of `stride`, which removes the noise
/// of the turned directions.
fn blur(
    raw: &[f32],
    depth: &[f32],
    near_solids: &[bool],
    width: usize,
    reach: f32,
    stride: usize,
) -> Vec<f32> {
    let height = raw.len() / width;
    let mut smooth = vec![1.0; raw.len()];
    smooth.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        for (x, out) in row.iter_mut().enumerate() {
            if !near_solids[y * width + x] {
                continue;
            }
            let center = depth[y * width + x];
            // Open pixels alone give 1 exactly.
            let (mut sum, mut weights) = (0.0, 0.0);
            let first = |middle: usize| middle.saturating_sub(2).next_multiple_of(stride);
            for v in (first(y)..(y + 2).min(height)).step_by(stride) {
                for u in (first(x)..(x + 2).min(width)).step_by(stride) {
                    let weight = similarity(center, depth[v * width + u], reach);
                    sum += weight * raw[v * width + u];
                    weights += weight;
                }
            }
            *out = if weights > 1e-6 { sum / weights } else { 1.0 };
        }
    });
    smooth
}
