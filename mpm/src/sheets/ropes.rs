//! Ropes on the fast path: positions, frames, spins and forces of all ropes, in f64 ([`crate::rope`]).
//!
//! Arrays have one entry for each vertex: that of the segment from it to the next, and that of the bend at
//! it. Where a rope has none, at its ends, the entry is zero and stays so.

use core::ops::Range;
use std::sync::Arc;

use nalgebra::Vector3;
use rayon::prelude::*;

use super::arrays::Vertices;
use super::pins::PinImpulse;
use super::quad::F32x4;
use super::rope_positions::RopePositions;
use crate::rope::rod::RestSegment;
use crate::rope::{
    Bend, BendForces, Rod, Rope, RopeInternals, RopeMaterial, RopeStability, RopeState, Segment, TwistPin,
};

/// Smallest number of vertices in a parallel job.
const GRAIN: usize = 64;

/// Figures of a vertex, the segment from it and the bend at it in a saved state.
const SAVED: usize = 15;

/// Largest error of the unit vectors of a saved state: far above rounding.
const NOT_UNIT: f64 = 1e-9;

/// A rope's part of the arrays.
#[derive(Clone, Debug)]
struct RopeSpan {
    vertices: Range<usize>,
    stability: RopeStability,
    /// What limits substeps now.
    state: RopeState,
}

/// At rest: the segment from a vertex to the next one, the bend at the vertex, and the vertex's mass.
#[derive(Clone, Copy, Debug)]
struct RestPoint {
    segment: Option<RestSegment>,
    bend: Option<Bend>,
    mass: f64,
}

/// What a segment gives its two vertices and neighbours in a substep.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    /// Impulse on the second vertex, opposite on the first \[N s\].
    couple: Vector3<f64>,
    /// Angle by which it was turned \[rad\].
    turn: f64,
}

/// The ropes of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ropes {
    /// As they were given.
    pub sources: Arc<[Rope]>,
    pub materials: Vec<RopeMaterial>,
    /// Ids of the vertices' particles.
    pub particles: Vec<Range<usize>>,
    spans: Vec<RopeSpan>,
    /// Number of their first vertex among those of all sheets and ropes.
    first: usize,
    rest: Vec<RestPoint>,
    pub(super) positions: RopePositions,
    segments: Vec<Segment>,
    twists: Vec<f64>,
    carried: Vec<Carried>,
    bends: Vec<BendForces>,
    /// Derivatives of the energy with respect to the segments' edges \[N\].
    pulls: Vec<Vector3<f64>>,
    torques: Vec<f64>,
    forces: Vec<F32x4>,
    /// With the numbers of their segments.
    twist_pins: Vec<(u32, TwistPin)>,
    /// Segments whose spin is prescribed in this substep \[rad/s\].
    held: Vec<(u32, f64)>,
}

impl Ropes {
    /// Checked ropes in a grid of spacing `grid_spacing` \[m\]; the first vertex has the number `first` and the
    /// particle `first_id`.
    pub(super) fn new(ropes: &[Rope], grid_spacing: f64, first: usize, first_id: usize) -> Self {
        let mut all = Self {
            sources: ropes.into(),
            materials: ropes.iter().map(|rope| rope.material).collect(),
            first,
            ..Self::default()
        };
        for rope in ropes {
            let start = all.rest.len();
            let (rod, frames) = Rod::new(rope);
            let state = rod.state(&frames);
            for (k, mass) in rod.masses.iter().enumerate() {
                let bend = k.checked_sub(1).and_then(|k| rod.bends.get(k)).copied();
                all.rest.push(RestPoint { segment: rod.segments.get(k).copied(), bend, mass: *mass });
                all.segments.push(frames.segments.get(k).copied().unwrap_or(Segment::NONE));
                all.twists.push(k.checked_sub(1).and_then(|k| frames.twists.get(k)).copied().unwrap_or(0.0));
            }
            let vertices = start..all.rest.len();
            all.particles.push(first_id + start..first_id + vertices.end);
            let pins = rope.twist_pins.iter().map(|pin| ((start + pin.segment()) as u32, pin.clone()));
            all.twist_pins.extend(pins);
            let stability = RopeStability::new(rope, grid_spacing);
            all.spans.push(RopeSpan { vertices, stability, state });
        }
        let cells = ropes.iter().flat_map(|rope| &rope.vertices).map(|x| x / grid_spacing);
        all.positions = RopePositions::new(cells.collect(), first);
        let count = all.rest.len();
        all.carried = vec![Carried::default(); count];
        all.bends = vec![BendForces::default(); count];
        all.pulls = vec![Vector3::zeros(); count];
        all.torques = vec![0.0; count];
        all.forces = vec![F32x4::ZERO; count];
        all.held.reserve(all.twist_pins.len());
        all
    }

    /// Number of ropes.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Numbers of a rope's vertices among those of all sheets and ropes.
    pub(super) fn vertices(&self, rope: usize) -> Option<Range<usize>> {
        let Range { start, end } = self.spans.get(rope)?.vertices.clone();
        Some(self.first + start..self.first + end)
    }

    /// What is inside a rope.
    pub(super) fn internals(&self, rope: usize) -> Option<RopeInternals> {
        let Range { start, end } = self.spans.get(rope)?.vertices.clone();
        let (segments, bends) = (&self.segments[start..end - 1], start + 1..end - 1);
        let rest = self.rest[start..end].iter().filter_map(|point| point.segment);
        let tension = rest.zip(segments).map(|(rest, segment)| rest.pull(segment).dot(&segment.tangent));
        Some(RopeInternals {
            tension: tension.collect(),
            tangent: segments.iter().map(|segment| segment.tangent).collect(),
            director: segments.iter().map(|segment| segment.director).collect(),
            twist: self.twists[bends.clone()].to_vec(),
            torque: self.bends[bends].iter().map(BendForces::twisting_moment).collect(),
        })
    }

    /// The rope of a particle.
    pub(super) fn rope_of(&self, id: usize) -> Option<usize> {
        self.particles.iter().position(|ids| ids.contains(&id))
    }

    /// Finds the spins that twist pins prescribe in the substep of `substep` from `time` on \[s\].
    pub(super) fn begin(&mut self, time: f64, substep: f64) {
        self.held.clear();
        let spin = |(segment, pin): &(u32, TwistPin)| Some((*segment, pin.spin(time, substep)?));
        self.held.extend(self.twist_pins.iter().filter_map(spin));
    }

    /// Turns the segments over `substep` \[s\], after their torques of a time of `kick` \[s\], and takes their
    /// frames to the vertices, whose velocities the spins change; `grid` has the grid's origin and spacing \[m\].
    pub(super) fn advance(
        &mut self,
        vertices: &mut Vertices,
        applied: &mut PinImpulse,
        [kick, substep]: [f64; 2],
        grid: (Vector3<f64>, f64),
    ) {
        if self.rest.is_empty() {
            return;
        }
        self.turn(applied, kick);
        self.positions.write(vertices);
        self.carry(substep, grid.1);
        self.find_twists();
        self.turn_back(vertices, applied, grid);
    }

    /// Impulses of the torques, and of the twist pins.
    fn turn(&mut self, applied: &mut PinImpulse, kick: f64) {
        for ((segment, torque), rest) in self.segments.iter_mut().zip(&self.torques).zip(&self.rest) {
            if let Some(rest) = &rest.segment {
                segment.spin += kick * torque / rest.inertia;
            }
        }
        for &(segment, spin) in &self.held {
            let (now, rest) = (&mut self.segments[segment as usize], &self.rest[segment as usize]);
            let Some(rest) = rest.segment else { continue };
            let before = now.spin - kick * self.torques[segment as usize] / rest.inertia;
            let impulse = rest.inertia * (spin - now.spin);
            applied.impulse.angular += now.tangent * impulse;
            // Torques act at the angles, in the middle of both spins.
            applied.work += impulse * 0.5 * (before + spin);
            now.spin = spin;
        }
    }

    /// Frames along the vertices, turned over `substep` \[s\].
    fn carry(&mut self, substep: f64, spacing: f64) {
        let (positions, rest) = (&self.positions, &self.rest);
        let segments = self.segments.par_iter_mut().zip(&mut self.carried).with_min_len(GRAIN).enumerate();
        segments.for_each(|(k, (segment, carried))| {
            let Some(rest) = &rest[k].segment else { return };
            let edge = positions.edge(k) * spacing;
            let turn = substep * segment.spin;
            let (next, left) = segment.carried(edge, rest.length, turn);
            *carried = Carried { couple: next.couple(&(rest.inertia * left)), turn };
            *segment = next;
        });
    }

    fn find_twists(&mut self) {
        let (rest, segments, carried) = (&self.rest, &self.segments, &self.carried);
        self.twists.par_iter_mut().enumerate().with_min_len(GRAIN).for_each(|(k, twist)| {
            if rest[k].bend.is_some() {
                let guess = *twist + carried[k].turn - carried[k - 1].turn;
                *twist = segments[k - 1].twist_to(&segments[k], guess);
            }
        });
    }

    /// Couples of the spins on the vertices; pins take those of held ones.
    fn turn_back(&self, vertices: &mut Vertices, applied: &mut PinImpulse, grid: (Vector3<f64>, f64)) {
        for k in 0..self.rest.len() {
            let before = k.checked_sub(1).map_or_else(Vector3::zeros, |k| self.carried[k].couple);
            let impulse = before - self.carried[k].couple;
            let vertex = self.first + k;
            let velocity = &mut vertices.velocities[vertex];
            if velocity.0[3] > 0.0 {
                for d in 0..3 {
                    velocity.0[d] += (impulse[d] * f64::from(velocity.0[3])) as f32;
                }
            } else if impulse != Vector3::zeros() {
                let velocity = velocity.vector();
                applied.add(&vertices.position(vertex, grid), &-impulse, &velocity);
            }
        }
    }

    /// Takes the frames to vertices that were put elsewhere, without turning them.
    pub(super) fn place(&mut self, vertices: &Vertices, spacing: f64) {
        self.positions.place(vertices);
        self.carry(0.0, spacing);
        self.find_twists();
    }

    /// Forces, torques and limits of the present state.
    pub(super) fn find_forces(&mut self) {
        let (rest, segments, twists) = (&self.rest, &self.segments, &self.twists);
        self.bends.par_iter_mut().enumerate().with_min_len(GRAIN).for_each(|(k, forces)| {
            if let Some(bend) = &rest[k].bend {
                *forces = bend.forces([&segments[k - 1], &segments[k]], twists[k]);
            }
        });
        let bends = &self.bends;
        let pulls = self.pulls.par_iter_mut().zip(&mut self.torques).enumerate().with_min_len(GRAIN);
        pulls.for_each(|(k, (pull, torque))| {
            if let Some(rest) = &rest[k].segment {
                let (own, next) = (&bends[k], &bends[k + 1]);
                *pull = rest.pull(&segments[k]) + own.on_edges[1] + next.on_edges[0];
                *torque = own.torques[1] + next.torques[0];
            }
        });
        let pulls = &self.pulls;
        self.forces.par_iter_mut().enumerate().with_min_len(GRAIN).for_each(|(k, force)| {
            let before = k.checked_sub(1).map_or_else(Vector3::zeros, |k| pulls[k]);
            let [x, y, z] = (pulls[k] - before).map(|f| f as f32).into();
            *force = F32x4([x, y, z, 0.0]);
        });
        for span in 0..self.spans.len() {
            self.spans[span].state = self.state(self.spans[span].vertices.clone());
        }
    }

    /// What limits the substeps of a rope.
    fn state(&self, vertices: Range<usize>) -> RopeState {
        let of = |k: usize| {
            let mut state = RopeState::NONE;
            if let Some(rest) = &self.rest[k].segment {
                let masses = [k, k + 1].map(|v| self.rest[v].mass);
                state = state.max(RopeState::of_segment(rest, &self.segments[k], masses));
            }
            if let Some(bend) = &self.rest[k].bend {
                let lengths = [k - 1, k].map(|s| self.segments[s].length);
                let masses = [k - 1, k, k + 1].map(|v| self.rest[v].mass);
                state = state.max(RopeState::of_bend(bend.length, &self.bends[k], lengths, masses));
            }
            state
        };
        // The larger of two figures does not depend on the order.
        vertices.into_par_iter().with_min_len(GRAIN).map(of).reduce(|| RopeState::NONE, RopeState::max)
    }

    /// Force on a vertex, by its number among those of all sheets and ropes \[N\].
    #[inline(always)]
    pub(super) fn force(&self, vertex: usize) -> F32x4 {
        let own = vertex.checked_sub(self.first).and_then(|k| self.forces.get(k));
        own.copied().unwrap_or(F32x4::ZERO)
    }

    /// Elastic energy \[J\].
    pub(super) fn elastic_energy(&self) -> f64 {
        let stretch =
            self.rest.iter().zip(&self.segments).filter_map(|(rest, now)| Some(rest.segment?.energy(now)));
        stretch.sum::<f64>() + self.bends.iter().map(|bend| bend.energy).sum::<f64>()
    }

    /// Angular momentum \[N m s\] and kinetic energy of the spins \[J\].
    pub(super) fn spin_totals(&self) -> (Vector3<f64>, f64) {
        let mut totals = (Vector3::zeros(), 0.0);
        for (rest, now) in self.rest.iter().zip(&self.segments) {
            if let Some(rest) = &rest.segment {
                totals.0 += now.tangent * (rest.inertia * now.spin);
                totals.1 += 0.5 * rest.inertia * now.spin * now.spin;
            }
        }
        totals
    }

    /// Power of the torques on the spins \[W\].
    pub(super) fn spin_power(&self) -> f64 {
        self.segments.iter().zip(&self.torques).map(|(now, torque)| now.spin * torque).sum()
    }

    /// Multiplies the spins of a rope by `kept`; returns the change of their momentum \[N m s\] and the loss of
    /// their energy \[J\].
    pub(super) fn damp(&mut self, rope: usize, kept: f64) -> (Vector3<f64>, f64) {
        let mut lost = (Vector3::zeros(), 0.0);
        let vertices = self.spans[rope].vertices.clone();
        for (rest, now) in self.rest[vertices.clone()].iter().zip(&mut self.segments[vertices]) {
            if let Some(rest) = &rest.segment {
                lost.0 += now.tangent * (rest.inertia * now.spin * (kept - 1.0));
                lost.1 += 0.5 * rest.inertia * now.spin * now.spin * (1.0 - kept * kept);
                now.spin *= kept;
            }
        }
        lost
    }

    /// Largest stable substep for particles that move at up to `max_speed` \[m/s\] \[s\].
    pub(super) fn largest_substep(&self, max_speed: f64) -> f64 {
        let of = |span: &RopeSpan| span.stability.largest_substep(&span.state, max_speed);
        self.spans.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// The same for ropes as they are at the start, at rest \[s\].
    pub(super) fn largest_substep_at_rest(&self) -> f64 {
        self.spans.iter().map(|span| span.stability.largest_substep_at_rest()).fold(f64::INFINITY, f64::min)
    }

    /// The state that is not in the particles.
    pub(super) fn saved(&self) -> impl Iterator<Item = f64> + '_ {
        self.segments.iter().zip(&self.twists).zip(&self.positions.cells).flat_map(|((segment, twist), x)| {
            let Segment { edge: e, tangent: t, length, director: d, spin } = segment;
            [e.x, e.y, e.z, t.x, t.y, t.z, d.x, d.y, d.z, *length, *spin, *twist, x.x, x.y, x.z]
        })
    }

    /// Number of figures of [`Self::saved`].
    pub(super) fn saved_len(&self) -> usize {
        SAVED * self.segments.len()
    }

    /// Whether figures are those of frames.
    pub(super) fn is_saved(figures: &[f64]) -> bool {
        figures.chunks(SAVED).all(|figures| {
            let Ok([_, _, _, tx, ty, tz, dx, dy, dz, length, ..]) = <[f64; SAVED]>::try_from(figures) else {
                return false;
            };
            let (t, d) = (Vector3::new(tx, ty, tz), Vector3::new(dx, dy, dz));
            let off = [t.norm() - 1.0, d.norm() - 1.0, t.dot(&d)];
            figures.iter().all(|x| x.is_finite()) && length > 0.0 && off.iter().all(|x| x.abs() < NOT_UNIT)
        })
    }

    /// Takes saved figures that [`Self::is_saved`].
    pub(super) fn restore(&mut self, figures: &[f64]) {
        let vertices = self.segments.iter_mut().zip(&mut self.twists).zip(&mut self.positions.cells);
        for (((segment, twist), cells), f) in vertices.zip(figures.chunks_exact(SAVED)) {
            let vector = |k: usize| Vector3::new(f[k], f[k + 1], f[k + 2]);
            let (edge, tangent, director) = (vector(0), vector(3), vector(6));
            *segment = Segment { edge, tangent, length: f[9], director, spin: f[10] };
            *twist = f[11];
            *cells = vector(12);
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.rest.capacity() * size_of::<RestPoint>()
            + self.segments.capacity() * size_of::<Segment>()
            + self.carried.capacity() * size_of::<Carried>()
            + self.bends.capacity() * size_of::<BendForces>()
            + (self.pulls.capacity() + self.positions.cells.capacity()) * size_of::<Vector3<f64>>()
            + (self.twists.capacity() + self.torques.capacity()) * size_of::<f64>()
            + self.forces.capacity() * size_of::<F32x4>()
    }
}
