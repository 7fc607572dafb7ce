//! Registration of contacts: one for every particle-geometry pair that touches or can touch within
//! the substep.
//!
//! A pair is registered when its gap is below what the relative velocity covers in the substep plus
//! a margin, with the body's pose advanced to the substep: a particle cannot cross a plate between
//! two detections. What a pair was doing in the last substep is remembered (impulse, and the face
//! through which it came), so that the solver starts warm, friction lags by one substep, and the
//! normal of a thin plate does not flip. The face is remembered even when the particle was pressed
//! out at the far side, until it is back in front of the face and away, is beside the face's shadow
//! ([`Shape::surface_point_from`]), or its depth jumps by more than a cell.
//!
//! A pair that was pressed onto an adhesive geometry is bonded: it stays registered, at any
//! velocity, until a substep begins with a gap beyond the adhesion's range.

use nalgebra::{Point3, Vector3};
use pliant_mpm::material::Model;
use pliant_mpm::{BlockView, Mpm, ParticleExtent};
use pliant_rigid::contact_model::normal_impulse;
use pliant_rigid::{Bodies, Shape, SurfacePoint};
use rayon::prelude::*;

use crate::auto_or::AutoOr;
use crate::body_state::SubstepBodyState;
use crate::bounding_region::{BoundingRegion, LANES};
use crate::contact_cache::{CachedContact, ContactCache};
use crate::pair::ContactPair;
use crate::placed_geometry::PlacedGeometry;
use crate::redundant_centroids::{VERTEX_DISTANCE, is_centroid, planar_clearance};
use crate::settings::{ContactSettings, NEAR_RIGID_STIFFNESS_NUMBER};

/// Gap below which a pair is registered at any velocity, in grid spacings: what the free motion of
/// one substep may add to the approach that the velocities at its start do not show.
pub const DETECTION_MARGIN: f64 = 0.02;

/// How far from a granular particle its contact may act at most \[cells\]: the affine field is that
/// of a neighbourhood of about a cell, and with longer arms weights would be large and of both
/// signs.
pub const LONGEST_ARM: f64 = 0.5;

/// Contacts of one block, and the geometries near it.
#[derive(Clone, Debug, Default)]
struct BlockContactPairs {
    pairs: Vec<ContactPair>,
    near: Vec<NearbyGeometry>,
}

/// A geometry near a block.
#[derive(Clone, Debug)]
struct NearbyGeometry {
    geometry: usize,
    /// The farthest that a contact may be \[m\].
    reach: f64,
    /// Where it may be, for shapes of which that is told at a glance.
    bounding_region: Option<BoundingRegion>,
    /// Particles of the tile at hand that are there, by lane.
    lanes: u16,
}

/// Finds the contacts of a substep.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactDetector {
    /// The contacts, in the order of the particles.
    pub pairs: Vec<ContactPair>,
    pub contact_cache: ContactCache,
    placed: Vec<PlacedGeometry>,
    blocks: Vec<BlockContactPairs>,
    /// Largest radius of a particle \[m\].
    max_radius: f64,
}

impl ContactDetector {
    pub(crate) fn new(bodies: &Bodies, mpm: &Mpm, settings: &ContactSettings) -> Self {
        let radii = (0..mpm.block_count()).flat_map(|b| {
            let view = mpm.block(b);
            (0..view.len()).map(move |i| radius_of(view.extent(i).thickness, settings))
        });
        let placed = bodies
            .iter()
            .flat_map(|(id, body)| (0..body.geometries.len()).map(move |index| (id, index)))
            .map(|(body, index)| PlacedGeometry::new(bodies, body, index))
            .collect();
        let (max_radius, contact_cache) = (radii.fold(0.0, f64::max), ContactCache::new(mpm.len()));
        Self { placed, max_radius, contact_cache, ..Self::default() }
    }

    /// Registers the contacts of the substep of `substep` \[s\], for which bodies are where
    /// `substep_states` says, one a body.
    pub(crate) fn detect(
        &mut self,
        mpm: &Mpm,
        bodies: &Bodies,
        substep_states: &[SubstepBodyState],
        settings: &ContactSettings,
        substep: f64,
    ) {
        for placed in &mut self.placed {
            placed.place(bodies, substep_states);
        }
        if self.blocks.len() < mpm.block_count() {
            self.blocks.resize_with(mpm.block_count(), BlockContactPairs::default);
        }
        let search = ContactSearch {
            mpm,
            bodies,
            settings,
            placed: &self.placed,
            contact_cache: &self.contact_cache,
            substep,
            margin: DETECTION_MARGIN * mpm.grid_spacing(),
            max_radius: self.max_radius,
            max_speed: mpm.max_speed(),
        };
        let blocks = &mut self.blocks[..mpm.block_count()];
        blocks.par_iter_mut().enumerate().for_each(|(b, out)| search.block(&mpm.block(b), out));
        self.pairs.clear();
        for block in blocks {
            self.pairs.extend_from_slice(&block.pairs);
        }
    }

    /// Number of geometries.
    pub(crate) fn geometries(&self) -> usize {
        self.placed.len()
    }

    /// Distance within which particles of blocks are looked at, however slow they are \[m\].
    pub(crate) fn reach(&self, mpm: &Mpm) -> f64 {
        let range = self.placed.iter().map(|placed| placed.range).fold(0.0, f64::max);
        self.max_radius + DETECTION_MARGIN * mpm.grid_spacing() + range
    }
}

/// What a substep's search looks at.
struct ContactSearch<'a> {
    mpm: &'a Mpm,
    bodies: &'a Bodies,
    settings: &'a ContactSettings,
    placed: &'a [PlacedGeometry],
    contact_cache: &'a ContactCache,
    substep: f64,
    margin: f64,
    max_radius: f64,
    max_speed: f64,
}

impl ContactSearch<'_> {
    fn block(&self, view: &BlockView<'_>, out: &mut BlockContactPairs) {
        out.pairs.clear();
        self.find_near(view, &mut out.near);
        if out.near.is_empty() {
            return;
        }
        // Once for all particles: contacts come to a block one by one. Few particles touch three
        // geometries.
        out.pairs.reserve(view.len().next_power_of_two() * out.near.len().min(2));
        let mut extent_cache = ParticleExtentCache::default();
        for tile in 0..view.len().div_ceil(LANES) {
            let valid = u16::MAX >> (LANES - (view.len() - tile * LANES).min(LANES));
            let mut any = 0;
            for near in &mut out.near {
                near.lanes = valid
                    & near
                        .bounding_region
                        .as_ref()
                        .map_or(valid, |bounding_region| bounding_region.lanes(view.position_rows(tile)));
                any |= near.lanes;
            }
            while any != 0 {
                let lane = any.trailing_zeros();
                any &= any - 1;
                self.particle(
                    view,
                    tile * LANES + lane as usize,
                    lane,
                    &out.near,
                    &mut extent_cache,
                    &mut out.pairs,
                );
            }
        }
    }

    /// Lists the pairs of particle `i` of the block, in this lane of its tile.
    fn particle(
        &self,
        view: &BlockView<'_>,
        i: usize,
        lane: u32,
        near: &[NearbyGeometry],
        extent_cache: &mut ParticleExtentCache,
        pairs: &mut Vec<ContactPair>,
    ) {
        let position = view.position(i);
        for near in near.iter().filter(|near| near.lanes >> lane & 1 == 1) {
            let placed = &self.placed[near.geometry];
            let local = placed.local(&position);
            if self.shape(placed).lower_bound(&local) <= near.reach
                && !self.is_redundant_centroid(view, i, placed, &local)
            {
                pairs.extend(self.pair(view, i, position, near.geometry, &local, extent_cache));
            }
        }
    }

    /// Whether a centroid's vertices do for it.
    fn is_redundant_centroid(
        &self,
        view: &BlockView<'_>,
        i: usize,
        placed: &PlacedGeometry,
        local: &Point3<f64>,
    ) -> bool {
        let reach = VERTEX_DISTANCE * self.mpm.grid_spacing();
        placed.range == 0.0 && is_centroid(view, i) && planar_clearance(self.shape(placed), local) > reach
    }

    fn shape(&self, placed: &PlacedGeometry) -> &Shape {
        &self.bodies.body(placed.body).geometries[placed.index].shape
    }

    /// Lists the geometries that some particle of the block may touch, each with the distance
    /// within which.
    fn find_near(&self, view: &BlockView<'_>, near: &mut Vec<NearbyGeometry>) {
        near.clear();
        let h = self.mpm.grid_spacing();
        let around = |[low, high]: [[f64; 3]; 2]| {
            let [low, high] = [low, high].map(|corner| Vector3::from(corner) * h);
            (view.corner() + 0.5 * (low + high), 0.5 * (high - low))
        };
        // Most blocks are near nothing: their particles are not looked at.
        let rough = around(view.rough_bounds());
        let bounding_sphere = (&rough.0, rough.1.norm());
        let reach = self.reach_at_rest() + self.max_speed * self.substep;
        let mut exact = None;
        for (g, placed) in self.placed.iter().enumerate() {
            let is_beyond = match &placed.bounding_sphere {
                Some(other) => other.is_beyond(bounding_sphere, reach + placed.range, self.substep),
                None => self.reach_in(placed, rough).is_none(),
            };
            if is_beyond {
                continue;
            }
            let exact = *exact.get_or_insert_with(|| around(view.local_bounds()));
            if let Some(reach) = self.reach_in(placed, exact) {
                let to_shape = (&placed.inverse_rotation, placed.local(&view.corner()));
                let bounding_region = BoundingRegion::around(self.shape(placed), reach, to_shape, h);
                near.push(NearbyGeometry { geometry: g, reach, bounding_region, lanes: 0 });
            }
        }
    }

    /// The distance within which a particle at rest may touch a geometry that is, too, and to which
    /// nothing adheres \[m\].
    fn reach_at_rest(&self) -> f64 {
        self.max_radius + self.margin + self.contact_cache.farthest
    }

    /// The distance within which particles in a box of half-extents `half` around `center` (world,
    /// m) may touch a geometry \[m\]; `None` where none can be that near.
    fn reach_in(&self, placed: &PlacedGeometry, (center, half): (Point3<f64>, Vector3<f64>)) -> Option<f64> {
        let body_speed = placed.fastest_within((&center, half.norm()));
        let reach = self.reach_at_rest() + (body_speed + self.max_speed) * self.substep + placed.range;
        let within = placed.inverse_rotation.abs() * half;
        let lowest = self.shape(placed).lower_bound_around(&placed.local(&center), &within);
        (lowest <= reach).then_some(reach)
    }

    /// Nearest surface; for a pair that was already in contact, measured from the side it came
    /// from, and its memory.
    ///
    /// A depth that jumps by more than a cell is not of the same contact: the face is then seen
    /// through another part of the body. (A particle moves less than a cell in a substep.)
    fn follow(
        &self,
        shape: &Shape,
        local: &Point3<f64>,
        memory: Option<CachedContact>,
    ) -> (SurfacePoint, Option<CachedContact>) {
        let Some(memory) = memory else { return (shape.surface_point(local), None) };
        let surface = shape.surface_point_from(local, memory.feature);
        if surface.distance < 0.0 && surface.distance < memory.distance - self.mpm.grid_spacing() {
            return (shape.surface_point(local), None);
        }
        (surface, Some(memory))
    }

    /// The pair of particle `i` of the block and a geometry, if they touch or can touch.
    fn pair(
        &self,
        view: &BlockView<'_>,
        i: usize,
        position: Point3<f64>,
        geometry: usize,
        local: &Point3<f64>,
        extent_cache: &mut ParticleExtentCache,
    ) -> Option<ContactPair> {
        let (placed, substep) = (&self.placed[geometry], self.substep);
        let extent = extent_cache.of(view, i, self.mpm);
        let body_velocity = placed.velocity.at(&placed.origin, &position);
        let relative = view.velocity(i) - body_velocity;
        let shape = self.shape(placed);
        let (surface, memory) =
            self.follow(shape, local, self.contact_cache.find(view.id(i), geometry as u32));
        let radius = radius_of(extent.thickness, self.settings);
        let gap = surface.distance - radius;
        let touched = &self.bodies.body(placed.body).geometries[placed.index];
        let bond = touched.adhesion.filter(|a| memory.is_some_and(|m| m.bonded) && gap <= a.range);
        if bond.is_none() && gap > self.margin + relative.norm() * substep {
            return None;
        }
        let tension = bond.map_or(0.0, |a| a.stress * extent.area);
        let normal = placed.pose.rotation * surface.normal.into_inner();
        let h = self.mpm.grid_spacing();
        let reach = if extent_cache.is_granular { radius.min(LONGEST_ARM * h) } else { 0.0 };
        let touches = position - normal * reach;
        let body_velocity = if extent_cache.is_granular {
            placed.velocity.at(&placed.origin, &touches)
        } else {
            body_velocity
        };
        let mass = view.mass(i);
        let stiffness = match self.settings.stiffness {
            AutoOr::Auto => NEAR_RIGID_STIFFNESS_NUMBER * mass / (substep * substep),
            AutoOr::Value(stiffness) => stiffness,
        };
        let lagged_normal_impulse = match memory {
            // Adhesion presses the surfaces together; a tension takes from that.
            Some(memory) => (memory.normal_impulse + substep * tension).max(0.0),
            None => {
                // The compliant law at the velocity of the start, but no more than it takes to stop
                // the particle.
                let approach = normal.dot(&relative);
                let compliant = normal_impulse(approach, gap, stiffness, self.settings.dissipation, substep);
                compliant.min(mass * (-approach - gap / substep).max(0.0))
            }
        };
        let cells = view.local_position(i);
        let base = cells.map(|x| (x - 0.5).floor());
        let corner = view.corner_node();
        Some(ContactPair {
            particle: view.id(i),
            geometry: geometry as u32,
            body: placed.body,
            feature: surface.feature,
            base: [0, 1, 2].map(|d| corner[d].wrapping_add(base[d] as i32)),
            offset: [0, 1, 2].map(|d| cells[d] - base[d]),
            arm: (normal * (-reach / h)).into(),
            reach,
            position: touches,
            gap,
            distance: surface.distance,
            pressed_out: if surface.distance < 0.0 { shape.lower_bound(local).max(0.0) } else { 0.0 },
            normal,
            body_velocity,
            friction: extent_cache.wall_friction.unwrap_or(touched.material.dynamic_friction),
            stiffness,
            lagged_normal_impulse,
            adhesive: touched.adhesion.is_some(),
            tension,
            last_impulse: memory.map_or([0.0; 3], |m| m.impulse),
        })
    }
}

/// What particles stand for of a surface, kept for the next one: most of a block have the same
/// volume and material.
#[derive(Clone, Copy, Debug, Default)]
struct ParticleExtentCache {
    /// Volume \[m^3\] and material.
    of: (f64, usize),
    extent: ParticleExtent,
    /// Friction with bodies, where it is the material's.
    wall_friction: Option<f64>,
    /// Whether the material is granular.
    is_granular: bool,
}

impl ParticleExtentCache {
    fn of(&mut self, view: &BlockView<'_>, i: usize, mpm: &Mpm) -> ParticleExtent {
        let of = (view.volume(i), view.material(i));
        if of != self.of {
            // Sheets count on from the materials.
            let material = mpm.materials().get(of.1);
            let wall_friction = material.and_then(|m| m.model.wall_friction());
            let is_granular = material.is_some_and(|m| matches!(m.model, Model::Granular(_)));
            *self = Self { of, extent: view.extent(i), wall_friction, is_granular };
        }
        self.extent
    }
}

/// Radius at which a particle touches of which the surface is half a `thickness` away \[m\].
pub(crate) fn radius_of(thickness: f64, settings: &ContactSettings) -> f64 {
    settings.particle_radius.value().unwrap_or(0.5 * thickness)
}
