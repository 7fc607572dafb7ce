//! Shading of samples, and their averages over pixels.

use rayon::prelude::*;

use super::camera::Camera;
use super::color::SrgbBytes;
use super::occlusion::{Occlusion, normal_of, pixel_noise};
use super::pixels::Image;
use super::primitive::{Plane, RenderScene};
use super::raster::{Buffer, NOTHING, SUPERSAMPLING, floor_index};
use super::ray::{Ray, V3};
use super::shadow::ShadowMap;
use super::view::View;

/// Side of a cell of the floor's grid \[m\], and most of them one above the other at the camera's
/// target: where there would be more, cells are five times as wide.
const GRID: f32 = 0.1;
const MOST_CELLS: f32 = 20.0;

/// Samples of a pixel, a diagonal first.
const SAMPLES: [[usize; 2]; SUPERSAMPLING * SUPERSAMPLING] = [[0, 0], [1, 1], [1, 0], [0, 1]];

/// Linear light of the key, of the sky above and of the floor below; the key is warm, the sky cool.
const KEY: [f32; 3] = [0.86, 0.82, 0.76];
const SKY: [f32; 3] = [0.44, 0.47, 0.52];
const BOUNCE: [f32; 3] = [0.22, 0.21, 0.20];

/// Linear light of the background at the horizon and straight up.
const HORIZON: [f32; 3] = [0.90, 0.91, 0.93];
const ZENITH: [f32; 3] = [0.62, 0.71, 0.83];

/// Lighting of a scene.
pub(super) struct Lighting {
    /// Unit vector to the key light.
    pub direction: V3,
    pub shadow: ShadowMap,
    pub occlusion: Occlusion,
    pub floor: FloorView,
}

/// The visible range of floors, beyond which they fade into the background. It depends on the
/// camera, which is at rest, not on moving objects.
pub(super) struct FloorView {
    center: V3,
    /// Half the height of the picture at the camera's target.
    half_height: f32,
    /// Side of a cell of the grid \[m\].
    cell: f32,
}

impl FloorView {
    pub fn new(camera: &Camera) -> Self {
        let distance = nalgebra::distance(&camera.position, &camera.target);
        let half_height = (distance * (camera.vertical_fov / 2.0).tan()) as f32;
        let mut cell = GRID;
        while 2.0 * half_height > MOST_CELLS * cell && cell.is_finite() {
            cell *= 5.0;
        }
        Self { center: camera.target.coords.cast(), half_height, cell }
    }

    /// Fading of a point on a floor: 0 in the picture's middle, 1 far away.
    fn faded(&self, point: &V3, normal: &V3) -> f32 {
        let offset = point - self.center;
        let flat = offset - normal * offset.dot(normal);
        smooth_step(2.2, 7.0, flat.norm() / self.half_height)
    }
}

/// The picture of a `buffer`, with `inner` samples (1 to 4) for pixels within one surface. `bare` has
/// the pixels without the primitives, made by this function too: a pixel of it is taken where they
/// neither stand nor cast a shadow.
pub(super) fn shade(
    view: &View,
    buffer: &Buffer,
    scene: &RenderScene,
    lighting: &Lighting,
    inner: usize,
    bare: Option<&[u8]>,
) -> Image {
    let bytes = SrgbBytes::new();
    let (width, height) = (view.width / SUPERSAMPLING, view.height / SUPERSAMPLING);
    let mut pixels = vec![0; 3 * width * height];
    pixels.par_chunks_mut(3 * width).enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.chunks_mut(3).enumerate() {
            let at = |[a, b]: [usize; 2]| [x * SUPERSAMPLING + a, y * SUPERSAMPLING + b];
            let id = |sample: &[usize; 2]| {
                let [a, b] = at(*sample);
                buffer.primitive[b * view.width + a]
            };
            // Within one surface a diagonal of samples suffices; only edges need every sample.
            let plain = SAMPLES.iter().all(|sample| id(sample) == id(&SAMPLES[0]));
            let samples = if plain { &SAMPLES[..inner] } else { &SAMPLES[..] };
            let is_bare = |sample: &[usize; 2]| {
                let [a, b] = at(*sample);
                let place = b * view.width + a;
                let id = buffer.primitive[place];
                let lit = || lighting.shadow.is_lit(&view.point(a, b, buffer.depth[place]));
                id == NOTHING || floor_index(id).is_some() && lighting.occlusion.is_open(x, y) && lit()
            };
            if let Some(bare) = bare
                && samples.iter().all(is_bare)
            {
                let place = 3 * (y * width + x);
                pixel.copy_from_slice(&bare[place..place + 3]);
                continue;
            }
            let mut sum = [0.0; 3];
            for &sample in samples {
                let light = sample_light(view, buffer, scene, lighting, at(sample));
                // Compressed before the average: so that a highlight does not blur an edge.
                sum = std::array::from_fn(|c| sum[c] + compress(light[c]));
            }
            let count = samples.len() as f32;
            pixel.iter_mut().zip(sum).for_each(|(byte, s)| *byte = bytes.of(s / count));
        }
    });
    Image { width: width as u32, height: height as u32, pixels }
}

/// Linear up to 0.75, then bent so that 1.5 and above are white.
fn compress(value: f32) -> f32 {
    const KNEE: f32 = 0.75;
    if value <= KNEE {
        return value;
    }
    // A parabola that leaves the knee with slope 1 and arrives at 1 with slope 0, at KNEE + 2 (1 -
    // KNEE).
    let u = ((value - KNEE) / (2.0 * (1.0 - KNEE))).min(1.0);
    KNEE + (1.0 - KNEE) * u * (2.0 - u)
}

/// Linear light that reaches the camera in one sample.
fn sample_light(
    view: &View,
    buffer: &Buffer,
    scene: &RenderScene,
    lighting: &Lighting,
    at: [usize; 2],
) -> [f32; 3] {
    let ray = view.ray(at[0] as f32 + 0.5, at[1] as f32 + 0.5);
    let place = at[1] * view.width + at[0];
    let (id, t) = (buffer.primitive[place], buffer.depth[place]);
    if id == NOTHING {
        return background(&ray);
    }
    let point = ray.origin + ray.direction * t;
    let plane = floor_index(id).map(|floor| &scene.planes[floor]);
    let normal = normal_of(scene, id, &ray, t);
    let (albedo, gloss, faded) = match plane {
        None => {
            let primitive = &scene.primitives[id as usize];
            // A pixel's width on the surface.
            let width = 2.0 * t / view.scale / ray.direction.dot(&normal).abs().max(0.1);
            (scene.albedo(primitive, &ray, &point, width), primitive.gloss, 0.0)
        }
        Some(plane) => {
            let tone = checker(plane, &point, &ray, t / view.scale, lighting.floor.cell);
            (tone, 0.0, lighting.floor.faded(&point, &plane.normal))
        }
    };
    if faded >= 1.0 {
        return background(&ray);
    }
    let open = lighting.occlusion.at(at, t);
    let noise = pixel_noise(at[0], at[1]);
    // Floors cast no shadow.
    let shadowed = |facing: f32| {
        if facing > 0.0 {
            facing * lighting.shadow.light_at(&point, &normal, plane.is_none(), noise)
        } else {
            0.0
        }
    };
    let key = shadowed(normal.dot(&lighting.direction));
    let light = reflected(lighting, &ray, &normal, albedo, gloss, open, key);
    let behind = background(&ray);
    std::array::from_fn(|c| light[c] + (behind[c] - light[c]) * faded)
}

/// Lambert's law for key, sky and floor, and a Blinn-Phong highlight of the key; `key` is the part
/// of the key light that falls on the surface, `open` the part of the sky that does.
fn reflected(
    lighting: &Lighting,
    ray: &Ray,
    normal: &V3,
    albedo: [f32; 3],
    gloss: f32,
    open: f32,
    key: f32,
) -> [f32; 3] {
    let halfway = (lighting.direction - ray.direction).normalize();
    let highlight = gloss * key * normal.dot(&halfway).max(0.0).powi(48);
    let upward = 0.5 + 0.5 * normal.z;
    // Crevices are darker than their openness: their light has been reflected and absorbed more
    // often.
    let ambient = open * open.sqrt();
    std::array::from_fn(|c| {
        let around = (BOUNCE[c] + (SKY[c] - BOUNCE[c]) * upward) * ambient;
        albedo[c] * (KEY[c] * key * (0.6 + 0.4 * open) + around) + highlight
    })
}

fn background(ray: &Ray) -> [f32; 3] {
    let up = smooth_step(0.0, 0.9, ray.direction.z);
    std::array::from_fn(|c| HORIZON[c] + (ZENITH[c] - HORIZON[c]) * up)
}

fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Albedo of a floor: a faint checkerboard with fine lines, averaged over the sample's footprint so
/// that it never flickers; `footprint` is the width of the sample at its distance, across the ray
/// \[m\], `cell` the side of a cell \[m\].
fn checker(plane: &Plane, point: &V3, ray: &Ray, footprint: f32, cell: f32) -> [f32; 3] {
    let offset = point - plane.point;
    let grazing = ray.direction.dot(&plane.normal).abs().max(0.02);
    let width = 2.0 * footprint / grazing / cell;
    let coordinate = plane.axes.map(|axis| offset.dot(&axis) / cell);
    let parity = coordinate.map(|x| square_wave(x, width)).iter().product::<f32>();
    let line = coordinate.iter().map(|x| line_cover(*x, width)).fold(0.0, f32::max);
    let tone = 1.0 + 0.025 * parity - 0.13 * line;
    plane.albedo.map(|a| a * tone)
}

/// Largest whole number up to `x`; `f32::floor` is a call on the oldest x86-64, and this runs for
/// every sample.
fn floor(x: f32) -> f32 {
    let whole = x as i32 as f32;
    if whole > x { whole - 1.0 } else { whole }
}

/// +1 and -1 in turn with period 2, averaged over `width` about x (the integral of the wave is a
/// triangle wave).
fn square_wave(x: f32, width: f32) -> f32 {
    let width = width.max(1e-3);
    let triangle = |x: f32| (x - 2.0 * floor(x / 2.0) - 1.0).abs();
    ((triangle(x - width / 2.0) - triangle(x + width / 2.0)) / width).clamp(-1.0, 1.0)
}

/// Part of the footprint `width` about x that lies on a line of half width 0.012 at the integers.
fn line_cover(x: f32, width: f32) -> f32 {
    const HALF: f32 = 0.012;
    let width = width.max(1e-3);
    let apart = (x - floor(x + 0.5)).abs();
    let covered = (apart + width / 2.0).min(HALF) - (apart - width / 2.0).max(-HALF);
    (covered / width).clamp(0.0, 1.0)
}
