//! Registration of contacts: one for every particle-geometry pair that touches or can touch within the substep.
//!
//! A pair is registered when its gap is below what the relative velocity covers in the substep plus a margin, with the
//! body's pose advanced to the substep: a particle cannot cross a plate between two detections. What a pair was doing in
//! the last substep is remembered (impulse, and the face through which it came), so that the solver starts warm, friction
//! lags by one substep, and the normal of a thin plate does not flip.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_mpm::{BlockView, Mpm};
use pliant_rigid::{Bodies, BodyId, Shape, SpatialVelocity, SurfacePoint};
use serde::{Deserialize, Serialize};

use crate::convex::normal_impulse;
use crate::settings::{ContactSettings, NEAR_RIGID_NUMBER, ParticleRadius, Stiffness};

/// Gap below which a pair is registered at any velocity, in grid spacings: what the free motion of one substep may add to
/// the approach that the velocities at its start do not show.
const MARGIN: f64 = 0.02;

/// A pair of a particle and a geometry near each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The particle: the order in which it was added.
    pub particle: u32,
    /// Number of the geometry among all bodies' geometries.
    pub geometry: u32,
    /// Its body.
    pub body: BodyId,
    /// Face of the geometry.
    pub feature: u32,
    /// Lowest node of the particle's stencil.
    pub base: [i32; 3],
    /// Position relative to that node [cells].
    pub offset: [f64; 3],
    /// Position, world frame [m].
    pub position: Point3<f64>,
    /// Gap [m], negative when overlapping.
    pub gap: f64,
    /// From the body to the particle, world frame.
    pub normal: Vector3<f64>,
    /// Velocity of the body there, world frame [m/s].
    pub body_velocity: Vector3<f64>,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Stiffness [N/m].
    pub stiffness: f64,
    /// Normal impulse that bounds the friction [N s].
    pub lagged_normal_impulse: f64,
    /// Impulse on the particle in the last substep, world frame; zero for a new pair [N s].
    pub last_impulse: [f64; 3],
}

/// What is remembered of a pair from one substep to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub particle: u32,
    pub geometry: u32,
    pub feature: u32,
    pub normal_impulse: f64,
    pub impulse: [f64; 3],
}

/// A geometry at the pose of this substep.
#[derive(Clone, Debug)]
struct Placed {
    body: BodyId,
    /// Index among the body's geometries.
    index: usize,
    pose: Isometry3<f64>,
    /// The body's origin at this substep.
    origin: Point3<f64>,
    velocity: SpatialVelocity,
}

/// Finds the contacts of a substep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    pub pairs: Vec<Pair>,
    placed: Vec<Placed>,
    near: Vec<usize>,
    memory: Vec<Memory>,
    /// For each particle, one more than the index of its first entry in `memory`; 0 for none.
    first_memory: Vec<u32>,
}

impl Registry {
    pub(crate) fn new(bodies: &Bodies, particles: usize) -> Self {
        let placed = bodies
            .iter()
            .flat_map(|(body, desc)| (0..desc.geometries.len()).map(move |index| (body, index)))
            .map(|(body, index)| Placed {
                body,
                index,
                pose: Isometry3::identity(),
                origin: Point3::origin(),
                velocity: SpatialVelocity::zero(),
            })
            .collect();
        Self { placed, first_memory: vec![0; particles], ..Self::default() }
    }

    /// Registers the contacts of the substep of `delta` [s] that starts `elapsed` [s] into the step.
    pub(crate) fn register(
        &mut self,
        mpm: &Mpm,
        bodies: &Bodies,
        settings: &ContactSettings,
        elapsed: f64,
        delta: f64,
    ) {
        self.pairs.clear();
        self.place(bodies, elapsed);
        let margin = MARGIN * mpm.grid_spacing();
        for b in 0..mpm.block_count() {
            let view = mpm.block(b);
            self.find_near(&view, bodies, mpm.max_speed(), margin, delta);
            if !self.near.is_empty() {
                self.register_block(&view, bodies, settings, margin, delta);
            }
        }
    }

    fn place(&mut self, bodies: &Bodies, elapsed: f64) {
        for placed in &mut self.placed {
            let pose = bodies.pose_after(placed.body, elapsed);
            placed.pose = pose * bodies.desc(placed.body).geometries[placed.index].pose;
            placed.origin = pose.translation.vector.into();
            placed.velocity = bodies.velocity(placed.body);
        }
    }

    /// Lists the geometries that some particle of the block may reach.
    fn find_near(&mut self, view: &BlockView<'_>, bodies: &Bodies, max_speed: f64, margin: f64, delta: f64) {
        self.near.clear();
        // Particles are at most 1.5 cells out of their block: see the reach of the transfers.
        let half_edge = 0.5 * view.edge() * (1.0 + 2.0 * 0.375);
        let center = view.corner() + Vector3::repeat(0.5 * view.edge());
        let radius = half_edge * 3.0_f64.sqrt();
        let touch = 0.5 * view.edge();
        for (g, placed) in self.placed.iter().enumerate() {
            let there = placed.velocity.at(&placed.origin, &center).norm()
                + placed.velocity.angular.norm() * radius
                + max_speed;
            let reach = radius + touch + margin + there * delta;
            let local = placed.pose.inverse_transform_point(&center);
            if shape_of(bodies, placed).lower_bound(&local) < reach {
                self.near.push(g);
            }
        }
    }

    fn register_block(
        &mut self,
        view: &BlockView<'_>,
        bodies: &Bodies,
        settings: &ContactSettings,
        margin: f64,
        delta: f64,
    ) {
        for i in 0..view.len() {
            let position = view.position(i);
            let radius = match settings.particle_radius {
                ParticleRadius::Auto => 0.5 * view.volume(i).cbrt(),
                ParticleRadius::Fixed(radius) => radius,
            };
            for n in 0..self.near.len() {
                let geometry = self.near[n];
                let placed = &self.placed[geometry];
                let shape = shape_of(bodies, placed);
                let local = placed.pose.inverse_transform_point(&position);
                let body_velocity = placed.velocity.at(&placed.origin, &position);
                let relative = view.velocity(i) - body_velocity;
                let reach = margin + relative.norm() * delta + radius;
                if shape.lower_bound(&local) > reach {
                    continue;
                }
                let memory = self.recall(view.id(i), geometry as u32);
                let surface = surface_point(shape, &local, memory);
                if surface.distance > reach {
                    continue;
                }
                let pair = self.pair(view, i, geometry, memory, surface, radius, relative, settings, delta);
                self.pairs.push(Pair {
                    position,
                    body_velocity,
                    friction: bodies.desc(pair.body).geometries[self.placed[geometry].index].friction,
                    ..pair
                });
            }
        }
    }

    /// The pair of particle `i` of the block and a geometry.
    fn pair(
        &self,
        view: &BlockView<'_>,
        i: usize,
        geometry: usize,
        memory: Option<Memory>,
        surface: SurfacePoint,
        radius: f64,
        relative: Vector3<f64>,
        settings: &ContactSettings,
        delta: f64,
    ) -> Pair {
        let placed = &self.placed[geometry];
        let normal = placed.pose.rotation * surface.normal.into_inner();
        let (gap, mass) = (surface.distance - radius, view.mass(i));
        let stiffness = match settings.stiffness {
            Stiffness::Auto => NEAR_RIGID_NUMBER * mass / (delta * delta),
            Stiffness::Fixed(stiffness) => stiffness,
        };
        let lagged_normal_impulse = match memory {
            Some(memory) => memory.normal_impulse,
            None => {
                // The compliant law at the velocity of the start, but no more than it takes to stop the particle.
                let approach = normal.dot(&relative);
                let compliant = normal_impulse(approach, gap, stiffness, settings.dissipation, delta);
                compliant.min(mass * (-approach - gap / delta).max(0.0))
            }
        };
        let local = view.local_position(i);
        let base = local.map(|x| (x - 0.5).floor());
        let corner = view.corner_node();
        Pair {
            particle: view.id(i),
            geometry: geometry as u32,
            body: placed.body,
            feature: surface.feature,
            base: [0, 1, 2].map(|d| corner[d].wrapping_add(base[d] as i32)),
            offset: [0, 1, 2].map(|d| local[d] - base[d]),
            position: Point3::origin(),
            gap,
            normal,
            body_velocity: Vector3::zeros(),
            friction: 0.0,
            stiffness,
            lagged_normal_impulse,
            last_impulse: memory.map_or([0.0; 3], |m| m.impulse),
        }
    }

    fn recall(&self, particle: u32, geometry: u32) -> Option<Memory> {
        let first = self.first_memory[particle as usize].checked_sub(1)? as usize;
        self.memory[first..]
            .iter()
            .take_while(|m| m.particle == particle)
            .find(|m| m.geometry == geometry)
            .copied()
    }

    /// Keeps the impulses (on the particles, world frame [N s]) of this substep's pairs for the next.
    pub(crate) fn remember(&mut self, impulses: &[[f64; 3]]) {
        for memory in &self.memory {
            self.first_memory[memory.particle as usize] = 0;
        }
        self.memory.clear();
        for (pair, impulse) in self.pairs.iter().zip(impulses) {
            let normal_impulse = pair.normal.dot(&Vector3::from(*impulse)).max(0.0);
            let first = &mut self.first_memory[pair.particle as usize];
            if *first == 0 {
                *first = self.memory.len() as u32 + 1;
            }
            self.memory.push(Memory {
                particle: pair.particle,
                geometry: pair.geometry,
                feature: pair.feature,
                normal_impulse,
                impulse: *impulse,
            });
        }
    }

    /// What is remembered, to save.
    pub(crate) fn memory(&self) -> &[Memory] {
        &self.memory
    }

    /// Takes a saved memory; false if it does not fit.
    pub(crate) fn restore(&mut self, memory: Vec<Memory>) -> bool {
        let fits = |m: &Memory| {
            (m.particle as usize) < self.first_memory.len() && (m.geometry as usize) < self.placed.len()
        };
        if !memory.iter().all(fits) {
            return false;
        }
        self.first_memory.fill(0);
        for (i, m) in memory.iter().enumerate().rev() {
            self.first_memory[m.particle as usize] = i as u32 + 1;
        }
        self.memory = memory;
        true
    }
}

fn shape_of<'a>(bodies: &'a Bodies, placed: &Placed) -> &'a Shape {
    &bodies.desc(placed.body).geometries[placed.index].shape
}

/// Nearest surface; for a pair that was already in contact, measured from the side it came from.
fn surface_point(shape: &Shape, local: &Point3<f64>, memory: Option<Memory>) -> SurfacePoint {
    match memory {
        Some(memory) => shape.surface_point_from(local, memory.feature),
        None => shape.surface_point(local),
    }
}
