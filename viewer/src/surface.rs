//! The surfaces of the soft bodies of a frame as the page gets them: a header and arrays,
//! little-endian, every array aligned to 4 bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | `PLVS` |
//! | 4..8 | version of the layout, 1 |
//! | 8..12 | number of the frame |
//! | 12..16 | vertices, V |
//! | 16..20 | triangles, T |
//! | 20..24 | particles that belong to no surface, L |
//! | 24..28 | which optional arrays follow: 1 J, 2 plastic strain, 4 stress norm |
//! | 28..32 | bodies that have no surface, F |
//! | 32..40 | time \[s\], f64 |
//! | 40..44 | length of the text \[bytes\], M |
//! | 44..64 | 0 |
//!
//! Then: positions \[m\] f32 x 3V; normals i16 x 4V (x, y, z, 0; 32767 is 1); speeds \[m/s\] f32 x V;
//! J \[-\], plastic strain \[-\], stress norm \[Pa\], each f32 x V if it is there; colours u8 x 4V (red,
//! green, blue, 255; sRGB); materials u32 x V; triangles u32 x 3T, counterclockwise from outside;
//! numbers of the particles without a surface u32 x L; why the first of the bodies without a surface
//! has none, UTF-8 x M.
//!
//! Values at a vertex are means of the particles of its body around it, weighted by nearness.

use std::collections::BTreeMap;

use pliant_io::ply::{Frame, FrameParticle};
use pliant_render::{Neighbors, RenderSphere, RenderSurface, SoftBodies, soft_bodies_and_grains};
use pliant_runner::recording::Recording;

use crate::bytes::{colours, count, floats, words};
use crate::error::ViewerError;

/// First bytes of the surfaces of a frame.
pub const SURFACE_MAGIC: [u8; 4] = *b"PLVS";
/// Version of the layout.
pub const SURFACE_VERSION: u32 = 1;
/// Length of the header \[bytes\].
pub const SURFACE_HEADER: usize = 64;

/// Most particles of a frame whose surfaces are made. A million took 3.5 s and 0.3 GB on two busy cores.
pub const MOST_PARTICLES: usize = 4_000_000;

/// Up to this many particles triangles are as fine as their spacing allows.
const MOST_FINE: usize = 60_000;

/// Reach of the means over a particle's radius: two spacings, as for the colours of pictures.
const REACH: f32 = 2.0 / 0.6;

/// A frame, and what of its run is needed for its surfaces.
pub(crate) struct SurfaceInput {
    /// Number of the frame.
    pub frame: usize,
    /// Its time \[s\].
    pub time: f64,
    /// Its particles.
    pub content: Frame,
    /// A number for each particle that tells soft bodies apart.
    pub bodies: Vec<u32>,
    /// Those of the numbers that are of heaps of grains.
    pub granular: Vec<u32>,
}

impl SurfaceInput {
    /// Reads a frame of a run.
    ///
    /// # Errors
    /// [`ViewerError`]: there is no such frame, or its file is missing or damaged.
    pub fn read(recording: &Recording, frame: usize) -> Result<Self, ViewerError> {
        let content = recording.frame(frame)?;
        let bodies = recording.body_numbers(&content);
        let time = recording.frames().get(frame).map_or(0.0, |row| row.time);
        Ok(Self { frame, time, content, bodies, granular: recording.granular_bodies() })
    }
}

/// The surfaces, encoded; none if they are not wanted any more, which is asked before each body.
///
/// # Errors
/// [`ViewerError::TooMany`]: the frame has more particles than surfaces are made of.
pub(crate) fn encode(
    input: &SurfaceInput,
    is_wanted: impl Fn() -> bool,
) -> Result<Option<Vec<u8>>, ViewerError> {
    let particles = &input.content.particles;
    let (frame, what, limit) = (input.frame, "particles for a surface", MOST_PARTICLES);
    if particles.len() > limit {
        return Err(ViewerError::TooMany { frame, what, count: particles.len(), limit });
    }
    let detail = if particles.len() > MOST_FINE { f32::INFINITY } else { 0.0 };
    let mut made = Made::default();
    for (body, members) in bodies(input) {
        if !is_wanted() {
            return Ok(None);
        }
        made.add(input, body, &members, detail);
    }
    made.lone.sort_unstable();
    made.encoded(input).map(Some)
}

/// Numbers of the particles of each soft body; those of cloth have no radius and are in none.
fn bodies(input: &SurfaceInput) -> BTreeMap<u32, Vec<u32>> {
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for ((number, particle), body) in (0_u32..).zip(&input.content.particles).zip(&input.bodies) {
        if particle.radius > 0.0 {
            found.entry(*body).or_default().push(number);
        }
    }
    found
}

/// Surfaces, one after the other.
#[derive(Default)]
struct Made {
    surface: RenderSurface,
    normals: Vec<[f32; 3]>,
    values: Vec<[f32; 4]>,
    materials: Vec<u32>,
    lone: Vec<u32>,
    failures: Vec<String>,
}

impl Made {
    /// Adds the surface of the body that has the particles `members`.
    fn add(&mut self, input: &SurfaceInput, body: u32, members: &[u32], detail: f32) {
        let particles = &input.content.particles;
        let of = |number: &u32| &particles[*number as usize];
        let balls: Vec<RenderSphere> = members
            .iter()
            .map(of)
            .map(|p| RenderSphere { center: p.position, radius: p.radius, color: p.color })
            .collect();
        let SoftBodies { surfaces, spheres, failures } =
            soft_bodies_and_grains(&balls, &vec![body; balls.len()], &input.granular, detail, false);
        self.failures.extend(failures.iter().map(ToString::to_string));
        if surfaces.is_empty() {
            self.lone.extend(members);
            return;
        }
        self.lone.extend(lone(&balls, members, &spheres));
        let (Some(first), Some(radius)) = (members.first().map(of), median_radius(&balls)) else { return };
        for surface in surfaces {
            let base = self.surface.positions.len() as u32;
            self.normals.extend(surface.normals());
            let RenderSurface { positions, colors, triangles } = surface;
            self.values.extend(values(particles, members, &positions, REACH * radius));
            self.materials.resize(self.materials.len() + positions.len(), u32::from(first.material));
            self.surface.triangles.extend(triangles.iter().map(|corners| corners.map(|c| base + c)));
            self.surface.positions.extend(positions);
            self.surface.colors.extend(colors);
        }
    }

    fn encoded(&self, input: &SurfaceInput) -> Result<Vec<u8>, ViewerError> {
        let Self { surface, normals, values, materials, lone, failures } = self;
        let number = |what, n| count(input.frame, what, n);
        let fields = input.content.fields;
        let flags =
            u32::from(fields.j) | u32::from(fields.plastic_strain) << 1 | u32::from(fields.stress_norm) << 2;
        let text = failures.first().map_or(&[][..], String::as_bytes);
        let mut out = Vec::with_capacity(SURFACE_HEADER + 48 * normals.len() + 12 * surface.triangles.len());
        out.extend_from_slice(&SURFACE_MAGIC);
        words(&mut out, [SURFACE_VERSION, number("frames before it", input.frame)?]);
        words(&mut out, [number("vertices", normals.len())?, number("triangles", surface.triangles.len())?]);
        words(&mut out, [number("particles", lone.len())?, flags, number("bodies", failures.len())?]);
        out.extend_from_slice(&input.time.to_le_bytes());
        words(&mut out, [number("bytes of text", text.len())?]);
        out.resize(SURFACE_HEADER, 0);
        floats(&mut out, surface.positions.iter().flatten().copied());
        for part in normals.iter().flat_map(|[x, y, z]| [*x, *y, *z, 0.0]) {
            out.extend_from_slice(&((part * 32767.0) as i16).to_le_bytes());
        }
        let present = [true, fields.j, fields.plastic_strain, fields.stress_norm];
        for field in (0..4).filter(|field| present[*field]) {
            floats(&mut out, values.iter().map(|value| value[field]));
        }
        colours(&mut out, surface.colors.iter().copied());
        words(&mut out, materials.iter().copied());
        words(&mut out, surface.triangles.iter().flatten().copied());
        words(&mut out, lone.iter().copied());
        out.extend_from_slice(text);
        Ok(out)
    }
}

/// Numbers of the particles that `spheres` were made of: some of `balls`, in their order.
fn lone(balls: &[RenderSphere], members: &[u32], spheres: &[RenderSphere]) -> Vec<u32> {
    let mut left = spheres.iter().peekable();
    let is_next = |ball: &RenderSphere| left.next_if(|sphere| *sphere == ball).is_some();
    let is_lone: Vec<bool> = balls.iter().map(is_next).collect();
    members.iter().zip(is_lone).filter_map(|(number, lone)| lone.then_some(*number)).collect()
}

fn median_radius(balls: &[RenderSphere]) -> Option<f32> {
    let mut radii: Vec<f32> = balls.iter().map(|ball| ball.radius).collect();
    let middle = radii.len() / 2;
    (!radii.is_empty()).then(|| *radii.select_nth_unstable_by(middle, f32::total_cmp).1)
}

/// Speed \[m/s\], J \[-\], plastic strain \[-\] and stress norm \[Pa\] at points: means of the particles
/// `members` within `reach` \[m\], weighted by (1 - (r / reach)^2)^2; not a number without any.
fn values(particles: &[FrameParticle], members: &[u32], points: &[[f32; 3]], reach: f32) -> Vec<[f32; 4]> {
    let is_placed = |number: &&u32| particles[**number as usize].position.iter().all(|x| x.is_finite());
    let members: Vec<u32> = members.iter().filter(is_placed).copied().collect();
    let places: Vec<[f32; 3]> = members.iter().map(|n| particles[*n as usize].position).collect();
    let neighbors = Neighbors::new(&places, reach);
    let at = |point: &[f32; 3]| {
        let (mut sums, mut weights) = ([0.0_f64; 4], 0.0_f64);
        neighbors.visit(point, |member, squared| {
            let p = &particles[members[member] as usize];
            let weight = (1.0 - f64::from(squared / (reach * reach))).powi(2);
            let speed = p.velocity.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            let there = [speed, f64::from(p.j), f64::from(p.plastic_strain), f64::from(p.stress_norm)];
            (0..4).for_each(|field| sums[field] += weight * there[field]);
            weights += weight;
            true
        });
        sums.map(|sum| (sum / weights) as f32)
    };
    points.iter().map(at).collect()
}
