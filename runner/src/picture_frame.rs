//! The particles, cloth and ropes of a frame, as the renderer takes them.

use std::collections::BTreeMap;
use std::ops::Range;

use pliant_io::ply::{Frame, FrameParticle};
use pliant_render::{Camera, RenderCloth, RenderSphere, RenderSurface, SoftBodies, soft_bodies_and_grains};
use pliant_scenes::format::{Material, Scene, SoftBodySpec};

/// Size of the triangles of surfaces \[pixels\].
const DETAIL: f64 = 1.5;

/// Distance of the spheres of which a rope is drawn, over its radius: the tube's outline is then within 1 % of
/// a straight one.
const TUBE_STEP: f32 = 0.25;

/// Most spheres in a segment of a rope.
const MOST_SPHERES: usize = 64;

/// A frame, ready to draw.
pub(crate) struct FrameContents {
    soft: SoftBodies,
    /// Positions and colours of all particles, where there is cloth, and its triangles.
    positions: Vec<[f32; 3]>,
    colors: Vec<[u8; 3]>,
    triangles: Vec<[u32; 3]>,
    back_colors: Vec<[u8; 3]>,
}

impl FrameContents {
    /// Soft bodies get surfaces as fine as pictures of `height` pixels show; those that
    /// [`body_numbers`] tells apart do not merge, and those of `granular` stay grainy. The last `ropes` kinds of
    /// particles are ropes, which are drawn as tubes.
    pub fn new(
        frame: Frame,
        ropes: usize,
        bodies: &[u32],
        granular: &[u32],
        camera: &Camera,
        height: u32,
        draft: bool,
    ) -> Self {
        let detail = (DETAIL * camera.pixel_size(height)) as f32;
        let mut all = balls(&frame);
        let mut tubes = Vec::new();
        for rope in rope_ranges(&frame.particles, ropes) {
            tubes.extend(tube(&all[rope.clone()]));
            all[rope].iter_mut().for_each(|ball| ball.radius = 0.0);
        }
        let mut soft = soft_bodies_and_grains(&all, bodies, granular, detail, draft);
        soft.spheres.append(&mut tubes);
        let Frame { particles, triangles, back_colors, .. } = frame;
        let of_cloth = |p: &FrameParticle| (p.position, p.color);
        let (positions, colors) =
            if triangles.is_empty() { Default::default() } else { particles.iter().map(of_cloth).unzip() };
        Self { soft, positions, colors, triangles, back_colors }
    }

    /// Particles without a surface.
    pub fn spheres(&self) -> &[RenderSphere] {
        &self.soft.spheres
    }

    /// Surfaces of soft bodies.
    pub fn surfaces(&self) -> &[RenderSurface] {
        &self.soft.surfaces
    }

    /// The cloth, which looks woven with the coordinates of its vertices in the material.
    pub fn cloth<'a>(&'a self, weave: &'a [[f32; 2]]) -> RenderCloth<'a> {
        let Self { positions, colors, triangles, back_colors, .. } = self;
        RenderCloth { positions, colors, triangles, back_colors, weave }
    }

    /// Whether there is cloth.
    pub fn has_cloth(&self) -> bool {
        !self.triangles.is_empty()
    }

    /// A caption; it says what is drawn otherwise than asked for.
    pub fn caption(&self, name: &str, time: f64) -> String {
        let caption = format!("{name}  t = {time:.2} s");
        let missing = self.soft.failures.len();
        let caption = if missing == 0 {
            caption
        } else {
            format!("{caption}  ({missing} soft bodies as particles: no surface)")
        };
        caption.trim_start().to_owned()
    }
}

/// The particles of a frame as spheres; those of cloth have no radius and are not drawn.
pub(crate) fn balls(frame: &Frame) -> Vec<RenderSphere> {
    let ball = |p: &FrameParticle| RenderSphere { center: p.position, radius: p.radius, color: p.color };
    frame.particles.iter().map(ball).collect()
}

/// The particles of each rope, from the last one on: ropes follow all others, each with a material of its own.
fn rope_ranges(particles: &[FrameParticle], ropes: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(ropes);
    let mut end = particles.len();
    while ranges.len() < ropes && end > 0 {
        let material = particles[end - 1].material;
        let start = particles[..end].iter().rposition(|p| p.material != material).map_or(0, |k| k + 1);
        ranges.push(start..end);
        end = start;
    }
    ranges
}

/// Spheres along a rope, so close that it looks like a tube.
fn tube(vertices: &[RenderSphere]) -> Vec<RenderSphere> {
    let mut spheres = Vec::with_capacity(vertices.len());
    for pair in vertices.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let way: [f32; 3] = std::array::from_fn(|d| b.center[d] - a.center[d]);
        let length = way.iter().map(|x| x * x).sum::<f32>().sqrt();
        // Casts saturate, also for a radius of zero and for what is not a number.
        let count = ((length / (TUBE_STEP * a.radius)).ceil() as usize).clamp(1, MOST_SPHERES);
        spheres.extend((0..count).map(|k| {
            let part = k as f32 / count as f32;
            RenderSphere { center: std::array::from_fn(|d| a.center[d] + part * way[d]), ..*a }
        }));
    }
    spheres.extend(vertices.last().copied());
    spheres
}

/// A number for each particle that tells soft bodies apart: from the number of particles of each in
/// their order, or, if it is not known, from materials, and from colours if those are of bodies.
pub(crate) fn body_numbers(
    particles: &[FrameParticle],
    soft_particles: &[usize],
    has_body_colors: bool,
) -> Vec<u32> {
    if soft_particles.is_empty() {
        return kind_numbers(particles, has_body_colors);
    }
    let bodies = soft_particles.iter().zip(0..).flat_map(|(&count, body)| std::iter::repeat_n(body, count));
    let mut numbers: Vec<u32> = bodies.take(particles.len()).collect();
    // What follows is cloth, which has no surface to be made.
    numbers.resize(particles.len(), soft_particles.len() as u32);
    numbers
}

/// The numbers that [`body_numbers`] gives to the heaps of grains of a scene, where it is known how
/// many particles each soft body has.
pub(crate) fn granular_bodies(scene: &Scene, soft_particles: &[usize]) -> Vec<u32> {
    let is_granular = |soft: &SoftBodySpec| {
        let material = soft.material.resolve(&scene.materials);
        matches!(material, Some(Material::DruckerPrager { .. } | Material::Granular { .. }))
    };
    let numbered = scene.soft.iter().take(soft_particles.len()).zip(0..);
    numbered.filter(|(soft, _)| is_granular(soft)).map(|(_, number)| number).collect()
}

/// Numbers of materials, or of materials and colours, in the order in which they come.
fn kind_numbers(particles: &[FrameParticle], with_colors: bool) -> Vec<u32> {
    let mut kinds = BTreeMap::new();
    let number = |p: &FrameParticle| {
        let next = kinds.len() as u32;
        *kinds.entry((p.material, if with_colors { p.color } else { [0; 3] })).or_insert(next)
    };
    particles.iter().map(number).collect()
}
