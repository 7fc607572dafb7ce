//! Surfaces of soft bodies, reconstructed from their particles by splashsurf.
//!
//! The level set is the sum over the particles of their volume times a cubic spline (Löschner,
//! Böttcher, Jeske and Bender, "Weighted Laplacian smoothing for surface reconstruction of
//! particle-based fluids", 2023); its surface is triangulated by marching cubes. Particles that
//! have few neighbours, as spray and single grains, stay spheres.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::{
    GridDecompositionParameters, Parameters, SpatialDecomposition, SurfaceReconstruction, reconstruct_surface,
};

use super::cohesion::fillings;
use super::neighbors::Neighbors;
use super::ray::V3;
use super::sphere::RenderSphere;
use super::triangle::vertex_normals;

/// Radius of a particle over its spacing at rest: that of the spheres in frames.
const RADIUS_PER_SPACING: f32 = 0.6;

/// Reach of a particle's kernel over the spacing.
const SUPPORT: f32 = 2.0;

/// Level of the surface, of a level set that is 1 inside: with it the surface of a filled box is
/// half a spacing outside the outermost particles.
const LEVEL: f32 = 0.55;

/// Finest and coarsest edge of the cubes over the spacing; of grains.
const CUBES: [f32; 2] = [0.7, 0.9];
const CUBES_OF_DRAFTS: [f32; 2] = [1.0, 1.0];
const CUBES_OF_GRAINS: [f32; 2] = [0.5, 0.9];

/// Particles that give a vertex its colour in drafts are within this distance over the spacing: farther
/// than the middle of the longest edge that is filled.
const COLOR_REACH_OF_DRAFTS: f32 = 1.5;

/// Passes of smoothing, which take away the lattice of the particles; of grains, which stay seen.
const SMOOTHING: usize = 16;
const SMOOTHING_OF_GRAINS: usize = 4;

/// A particle with fewer neighbours within the reach of its kernel is drawn as a sphere; one of a heap
/// of grains.
const FEWEST_NEIGHBORS: usize = 3;
const FEWEST_NEIGHBORS_OF_GRAINS: usize = 6;

/// Radii beyond this factor of a body's median, either way, are not of its surface.
const UNEVEN: f32 = 1.6;

/// Most particle spacings along a side of what is reconstructed; a body that is spread farther has
/// diverged.
const MOST_SPACINGS: f32 = 20_000.0;

/// A surface with a colour at each vertex, between which it is interpolated. World frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RenderSurface {
    /// Vertices \[m\].
    pub positions: Vec<[f32; 3]>,
    /// sRGB colour of each vertex.
    pub colors: Vec<[u8; 3]>,
    /// Three vertex indices per triangle, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl RenderSurface {
    /// Unit normal at each vertex: the mean of those of the triangles around, weighted by area; zero
    /// without any.
    ///
    /// # Panics
    /// A triangle has a vertex that does not exist.
    pub fn normals(&self) -> Vec<[f32; 3]> {
        let points: Vec<V3> = self.positions.iter().map(|p| V3::from(*p)).collect();
        let normals = vertex_normals(&points, &self.triangles);
        // Of small triangles in metres the squares would vanish.
        normals.iter().map(|n| n.try_normalize(f32::MIN_POSITIVE).unwrap_or_default().into()).collect()
    }
}

/// Why a body has no surface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// The particles are spread too far for a grid.
    #[error("soft body {body}: no surface, its particles are {spacings} spacings apart")]
    Spread {
        /// Number of the body, as given.
        body: u32,
        /// Longest side of the box round its particles over their spacing.
        spacings: u64,
    },
    /// The reconstruction refuses.
    #[error("soft body {body}: no surface, {reason}")]
    Failed {
        /// Number of the body, as given.
        body: u32,
        /// What splashsurf says.
        reason: String,
    },
}

/// Soft bodies, ready to draw.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SoftBodies {
    /// The surface of each body that has one.
    pub surfaces: Vec<RenderSurface>,
    /// Particles that belong to no surface.
    pub spheres: Vec<RenderSphere>,
    /// Bodies without a surface; their particles are among the spheres.
    pub failures: Vec<SurfaceError>,
}

/// Surfaces of soft bodies. `bodies` has a number for each of `particles`: those with different
/// numbers do not merge. The radius of a particle is 0.6 of the spacing at rest. `detail` is the
/// length \[m\] that is just seen, as of a pixel: the triangles are that large, within 0.7 and 0.9
/// of the spacing. Where a body is stretched its surface stays whole. Particles without a finite
/// place or a radius are left out. The result does not depend on the number of threads.
pub fn soft_bodies(particles: &[RenderSphere], bodies: &[u32], detail: f32) -> SoftBodies {
    soft_bodies_and_grains(particles, bodies, &[], detail, false)
}

/// As [`soft_bodies`]; the bodies `granular` are heaps of grains: they keep their gaps, and more of
/// their unevenness. A `draft` takes less time: its triangles are of one spacing.
pub fn soft_bodies_and_grains(
    particles: &[RenderSphere],
    bodies: &[u32],
    granular: &[u32],
    detail: f32,
    draft: bool,
) -> SoftBodies {
    let mut drawn = SoftBodies::default();
    let mut members: Vec<(u32, usize)> = particles
        .iter()
        .zip(bodies)
        .enumerate()
        .filter(|(_, (ball, _))| is_drawn(ball))
        .map(|(at, (_, body))| (*body, at))
        .collect();
    members.sort_unstable();
    for group in members.chunk_by(|a, b| a.0 == b.0) {
        let balls: Vec<RenderSphere> = group.iter().map(|(_, at)| particles[*at]).collect();
        let body = group[0].0;
        Body::new(body, &balls, !granular.contains(&body), detail, draft).draw(&balls, &mut drawn);
    }
    drawn
}

fn is_drawn(ball: &RenderSphere) -> bool {
    ball.center.iter().all(|x| x.is_finite()) && ball.radius > 0.0 && ball.radius.is_finite()
}

/// A body, and how it is drawn.
struct Body {
    number: u32,
    /// Median radius, and spacing at rest \[m\].
    radius: f32,
    spacing: f32,
    cohesive: bool,
    detail: f32,
    draft: bool,
}

impl Body {
    fn new(number: u32, balls: &[RenderSphere], cohesive: bool, detail: f32, draft: bool) -> Self {
        let mut radii: Vec<f32> = balls.iter().map(|ball| ball.radius).collect();
        let middle = radii.len() / 2;
        let radius = *radii.select_nth_unstable_by(middle, f32::total_cmp).1;
        Self { number, radius, spacing: radius / RADIUS_PER_SPACING, cohesive, detail, draft }
    }

    fn draw(&self, balls: &[RenderSphere], drawn: &mut SoftBodies) {
        let reach = SUPPORT * self.spacing;
        let centers: Vec<[f32; 3]> = balls.iter().map(|ball| ball.center).collect();
        let filled = if self.cohesive { fillings(&centers, self.spacing, self.draft) } else { Vec::new() };
        let all = [centers, filled].concat();
        let neighbors = Neighbors::new(&all, reach);
        let fewest = if self.cohesive { FEWEST_NEIGHBORS } else { FEWEST_NEIGHBORS_OF_GRAINS };
        let joined: Vec<bool> =
            all.par_iter().map(|center| neighbors.has_at_least(center, fewest + 1)).collect();
        let (mut inside, mut samples) = (Vec::new(), Vec::new());
        for (ball, joined) in balls.iter().zip(&joined) {
            let is_even = ball.radius < self.radius * UNEVEN && ball.radius * UNEVEN > self.radius;
            if is_even && *joined {
                inside.push(*ball);
                samples.push(Vector3::from(ball.center));
            } else {
                drawn.spheres.push(*ball);
            }
        }
        if inside.is_empty() {
            return;
        }
        let filled = all.iter().zip(&joined).skip(balls.len()).filter(|(_, joined)| **joined);
        samples.extend(filled.map(|(center, _)| Vector3::from(*center)));
        match self.surface(&inside, &samples) {
            Ok(surface) => drawn.surfaces.push(surface),
            Err(error) => {
                drawn.spheres.extend(inside);
                drawn.failures.push(error);
            }
        }
    }

    /// The surface of particles that have neighbours, and of what fills them.
    fn surface(
        &self,
        balls: &[RenderSphere],
        samples: &[Vector3<f32>],
    ) -> Result<RenderSurface, SurfaceError> {
        let (body, spacing) = (self.number, self.spacing);
        let (low, high) =
            samples.iter().fold((samples[0], samples[0]), |(low, high), p| (low.inf(p), high.sup(p)));
        let side = (high - low).max() / spacing;
        if side.is_nan() || side > MOST_SPACINGS {
            return Err(SurfaceError::Spread { body, spacings: side as u64 });
        }
        let (cubes, smoothing) = match (self.draft, self.cohesive) {
            (true, true) => (CUBES_OF_DRAFTS, SMOOTHING),
            (false, true) => (CUBES, SMOOTHING),
            (true, false) => (CUBES_OF_DRAFTS, SMOOTHING_OF_GRAINS),
            (false, false) => (CUBES_OF_GRAINS, SMOOTHING_OF_GRAINS),
        };
        let cube = self.detail.clamp(cubes[0] * spacing, cubes[1] * spacing);
        let mut settings = Parameters::new(spacing / 2.0, SUPPORT * spacing, cube);
        settings.iso_surface_threshold = LEVEL;
        // Fused products would make the bytes depend on the processor.
        settings.enable_simd = false;
        settings.spatial_decomposition = SpatialDecomposition::UniformGrid(GridDecompositionParameters {
            subdomain_num_cubes_per_dim: 32,
            auto_disable: false,
        });
        // The library has assertions; none may end a run's pictures.
        let made: Result<SurfaceReconstruction<i64, f32>, String> =
            catch_unwind(AssertUnwindSafe(|| reconstruct_surface(samples, &settings)))
                .map_err(|_| "the reconstruction stopped".to_owned())
                .and_then(|made| made.map_err(|error| error.to_string()));
        let made = made.map_err(|reason| SurfaceError::Failed { body, reason })?;
        let (mut positions, triangles) = in_order(&made.mesh.vertices, &made.mesh.triangles);
        smooth(&mut positions, &triangles, smoothing);
        let reach = if self.draft { COLOR_REACH_OF_DRAFTS } else { SUPPORT };
        let colors = colors(&positions, balls, reach * spacing);
        Ok(RenderSurface { positions, colors, triangles })
    }
}

/// Vertices and triangles in an order that is the same whatever the threads did: by place.
fn in_order(vertices: &[Vector3<f32>], triangles: &[[usize; 3]]) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let key = |at: usize| <[f32; 3]>::from(vertices[at]).map(total_order);
    let mut order: Vec<([u32; 3], usize)> = (0..vertices.len()).map(|at| (key(at), at)).collect();
    order.sort_unstable();
    let mut place = vec![0; vertices.len()];
    for (to, (_, from)) in order.iter().enumerate() {
        place[*from] = to as u32;
    }
    let positions = order.iter().map(|(_, from)| vertices[*from].into()).collect();
    let turned = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|v| place[v]);
        // The least first, which keeps the side.
        if a <= b && a <= c {
            [a, b, c]
        } else if b <= c {
            [b, c, a]
        } else {
            [c, a, b]
        }
    };
    let mut sorted: Vec<[u32; 3]> = triangles.iter().map(turned).collect();
    sorted.sort_unstable();
    (positions, sorted)
}

/// A number that orders as the coordinate.
fn total_order(x: f32) -> u32 {
    let bits = x.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// Taubin's smoothing (1995), which does not shrink: each vertex towards the mean of its
/// neighbours, and then away from it.
fn smooth(positions: &mut [[f32; 3]], triangles: &[[u32; 3]], passes: usize) {
    const TOWARDS: f32 = 0.5;
    const AWAY: f32 = -0.53;
    for factor in [TOWARDS, AWAY].iter().cycle().take(2 * passes) {
        let mut sums = vec![([0.0_f32; 3], 0.0_f32); positions.len()];
        for [a, b, c] in triangles {
            // Each edge is in two triangles, once in each direction.
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let there = positions[*to as usize];
                let (sum, count) = &mut sums[*from as usize];
                (0..3).for_each(|axis| sum[axis] += there[axis]);
                *count += 1.0;
            }
        }
        for (position, (sum, count)) in positions.iter_mut().zip(&sums) {
            if *count > 0.0 {
                (0..3).for_each(|axis| position[axis] += factor * (sum[axis] / count - position[axis]));
            }
        }
    }
}

/// Colours of points: means of the particles within `reach`, weighted by (1 - (r / reach)^2)^2.
fn colors(positions: &[[f32; 3]], balls: &[RenderSphere], reach: f32) -> Vec<[u8; 3]> {
    let first = balls[0].color;
    if balls.iter().all(|ball| ball.color == first) {
        return vec![first; positions.len()];
    }
    let centers: Vec<[f32; 3]> = balls.iter().map(|ball| ball.center).collect();
    let neighbors = Neighbors::new(&centers, reach);
    let color = |position: &[f32; 3]| {
        let (mut sum, mut weights) = ([0.0; 3], 0.0);
        let (mut least, mut nearest) = (f32::INFINITY, 0);
        neighbors.visit(position, |at, squared| {
            if squared < least {
                (least, nearest) = (squared, at);
            }
            let weight = (1.0 - squared / (reach * reach)).max(0.0).powi(2);
            weights += weight;
            (0..3).for_each(|c| sum[c] += weight * f32::from(balls[at].color[c]));
            true
        });
        if weights > 1e-6 { sum.map(|s| (s / weights + 0.5) as u8) } else { balls[nearest].color }
    };
    positions.iter().map(color).collect()
}
