//! Contact detection: one contact candidate for every particle-geometry pair that touches or can
//! touch within the substep.
//!
//! A pair becomes a candidate when its gap is below the distance that the relative velocity covers
//! in the substep plus a margin, at the body's pose of the substep: a particle cannot cross a plate
//! between two detections. The contact cache keeps the impulse of a pair in the last substep and
//! the face through which the particle entered, for the warm start, for lagged friction, and so
//! that the normal of a thin plate does not flip. The face is kept even if the particle was pressed
//! out on the far side, until the particle is in front of the face and separated, is outside the
//! face's projection ([`Shape::surface_point_from`]), or its depth jumps by more than a cell.
//!
//! A pair that was pressed onto an adhesive geometry is bonded: it stays a candidate, at any
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

/// Gap below which a pair is a candidate at any velocity, in grid spacings: the approach that the
/// free motion of one substep may add to the velocities at its start.
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
    /// Largest distance of a contact \[m\].
    reach: f64,
    /// Bounding region of its contacts, for shapes that have one.
    bounding_region: Option<BoundingRegion>,
    /// Particles of the present tile within the region, by lane.
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

    /// Finds the contact candidates of a substep of `substep` \[s\]; `substep_states` has the state
    /// of each body.
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

    /// Distance within which particles of blocks are checked at any speed \[m\].
    pub(crate) fn reach(&self, mpm: &Mpm) -> f64 {
        let range = self.placed.iter().map(|placed| placed.range).fold(0.0, f64::max);
        self.max_radius + DETECTION_MARGIN * mpm.grid_spacing() + range
    }
}

/// The input of a substep's search.
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
                self.contacts(view, i, position, near.geometry, &local, extent_cache, pairs);
            }
        }
    }

    /// Whether the contacts of its vertices make a centroid's contact redundant.
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

    /// Lists the geometries that some particle of the block may touch, each with its largest
    /// contact distance.
    fn find_near(&self, view: &BlockView<'_>, near: &mut Vec<NearbyGeometry>) {
        near.clear();
        let h = self.mpm.grid_spacing();
        let around = |[low, high]: [[f64; 3]; 2]| {
            let [low, high] = [low, high].map(|corner| Vector3::from(corner) * h);
            (view.corner() + 0.5 * (low + high), 0.5 * (high - low))
        };
        // Most blocks are near no geometry: their particles are not checked.
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

    /// The distance within which a particle at rest may touch a static geometry without adhesion
    /// \[m\].
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

    /// Nearest surface point, and whether the cached contact is of it; for a pair that was in contact,
    /// the distance is measured from the face through which the particle entered.
    ///
    /// A depth that jumps by more than a cell is not of the same contact: another part of the body
    /// lies between particle and face. (A particle moves less than a cell in a substep.)
    fn follow(
        &self,
        shape: &Shape,
        local: &Point3<f64>,
        memory: Option<CachedContact>,
    ) -> (SurfacePoint, bool) {
        let Some(memory) = memory else { return (shape.surface_point(local), false) };
        let surface = shape.surface_point_from(local, memory.feature);
        if surface.distance < 0.0 && surface.distance < memory.distance - self.mpm.grid_spacing() {
            return (shape.surface_point(local), false);
        }
        (surface, true)
    }

    /// Adds the contacts of particle `i` of the block with a geometry, if they touch or can touch:
    /// one, or for the centroid of a face one at each of its vertices.
    fn contacts(
        &self,
        view: &BlockView<'_>,
        i: usize,
        position: Point3<f64>,
        geometry: usize,
        local: &Point3<f64>,
        extent_cache: &mut ParticleExtentCache,
        pairs: &mut Vec<ContactPair>,
    ) {
        let (placed, substep) = (&self.placed[geometry], self.substep);
        let extent = extent_cache.of(view, i, self.mpm);
        let relative = view.velocity(i) - placed.velocity.at(&placed.origin, &position);
        let shape = self.shape(placed);
        let memories = self.contact_cache.find(view.id(i), geometry as u32);
        let (surface, is_followed) = self.follow(shape, local, memories[0]);
        let radius = radius_of(extent.thickness, self.settings);
        let gap = surface.distance - radius;
        let touched = &self.bodies.body(placed.body).geometries[placed.index];
        let bonded = is_followed && memories.iter().flatten().any(|memory| memory.bonded);
        let bond = touched.adhesion.filter(|a| bonded && gap <= a.range);
        if bond.is_none() && gap > self.margin + relative.norm() * substep {
            return;
        }
        let corners = self.mpm.face_corners(view.id(i));
        let points = corners.as_ref().map_or(&[][..], |corners| &corners[..]);
        let share = 1.0 / points.len().max(1) as f64;
        let tension = share * bond.map_or(0.0, |a| a.stress * extent.area);
        let normal = placed.pose.rotation * surface.normal.into_inner();
        let h = self.mpm.grid_spacing();
        let reach = if extent_cache.is_granular { radius.min(LONGEST_ARM * h) } else { 0.0 };
        let mass = share * view.mass(i);
        let stiffness = match self.settings.stiffness {
            AutoOr::Auto => NEAR_RIGID_STIFFNESS_NUMBER * mass / (substep * substep),
            AutoOr::Value(stiffness) => share * stiffness,
        };
        let lagged_normal_impulse = |memory: Option<CachedContact>| match memory {
            // Adhesion presses the surfaces together; a tension takes from that.
            Some(memory) => (memory.normal_impulse + substep * tension).max(0.0),
            None => {
                // The impulse of the contact model at the initial velocity, but at most the impulse
                // that stops the particle.
                let approach = normal.dot(&relative);
                let compliant = normal_impulse(approach, gap, stiffness, self.settings.dissipation, substep);
                compliant.min(mass * (-approach - gap / substep).max(0.0))
            }
        };
        let pressed_out = if surface.distance < 0.0 { shape.lower_bound(local).max(0.0) } else { 0.0 };
        let particle = view.id(i);
        let pair = |of: &BlockView<'_>, i: usize, place: Point3<f64>, memory: Option<CachedContact>| {
            let cells = of.local_position(i);
            let base = cells.map(|x| (x - 0.5).floor());
            let corner = of.corner_node();
            let acts_at = place - normal * reach;
            ContactPair {
                particle,
                geometry: geometry as u32,
                body: placed.body,
                feature: surface.feature,
                base: [0, 1, 2].map(|d| corner[d].wrapping_add(base[d] as i32)),
                offset: [0, 1, 2].map(|d| cells[d] - base[d]),
                arm: (normal * (-reach / h)).into(),
                position: acts_at,
                particle_position: position,
                gap,
                distance: surface.distance,
                pressed_out,
                normal,
                body_velocity: placed.velocity.at(&placed.origin, &acts_at),
                held: self.mpm.held_velocity(of.id(i)),
                friction: extent_cache.wall_friction.unwrap_or(touched.material.dynamic_friction),
                stiffness,
                lagged_normal_impulse: lagged_normal_impulse(memory),
                adhesive: touched.adhesion.is_some(),
                tension,
                last_impulse: memory.map_or([0.0; 3], |m| m.impulse),
            }
        };
        let memories = memories.map(|memory| memory.filter(|_| is_followed));
        if points.is_empty() {
            pairs.push(pair(view, i, position, memories[0]));
        }
        for ((of, i), memory) in points.iter().zip(memories) {
            pairs.push(pair(of, *i, of.position(*i), memory));
        }
    }
}

/// Radius and friction of a particle, kept for the next one: most particles of a block have the
/// same volume and material.
#[derive(Clone, Copy, Debug, Default)]
struct ParticleExtentCache {
    /// Volume \[m^3\] and material.
    of: (f64, usize),
    extent: ParticleExtent,
    /// Wall friction, if the material sets it.
    wall_friction: Option<f64>,
    /// Whether the material is granular.
    is_granular: bool,
}

impl ParticleExtentCache {
    fn of(&mut self, view: &BlockView<'_>, i: usize, mpm: &Mpm) -> ParticleExtent {
        let of = (view.volume(i), view.material(i));
        if of != self.of {
            // Sheets are numbered after the materials.
            let material = mpm.materials().get(of.1);
            let wall_friction = material.and_then(|m| m.model.wall_friction());
            let is_granular = material.is_some_and(|m| matches!(m.model, Model::Granular(_)));
            *self = Self { of, extent: view.extent(i), wall_friction, is_granular };
        }
        self.extent
    }
}

/// Contact radius of a particle that represents a `thickness` \[m\].
pub(crate) fn radius_of(thickness: f64, settings: &ContactSettings) -> f64 {
    settings.particle_radius.value().unwrap_or(0.5 * thickness)
}
