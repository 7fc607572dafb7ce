//! The unknowns of the contact problem: the grid nodes that contact particles touch, numbered by
//! contact islands, along z.
//!
//! Contacts whose stencils share a node, directly or through others, are one contact island, and so
//! are all contacts on strongly coupled bodies. Nothing couples one island to another.

use core::cmp::Reverse;
use core::ops::Range;

use nalgebra::{Point3, Vector3};
use pliant_mpm::Mpm;
use pliant_mpm::bspline::quadratic_weights;

use crate::convex::{ContactConstraint, ContactProblem};
use crate::pair::ContactPair;
use crate::settings::ContactSettings;

/// Consecutive nodes along z, all of one island.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NodeRun {
    x: i32,
    y: i32,
    z: i32,
    /// One past the last.
    end: i32,
    /// Number of the first node.
    first: u32,
}

impl NodeRun {
    fn len(&self) -> u32 {
        (self.end - self.z) as u32
    }
}

/// Location of a numbered node on the grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodePlace {
    /// Lattice coordinates.
    pub node: [i32; 3],
    /// Node block, node within it.
    pub at: Option<(u32, u32)>,
}

/// Neighbouring pairs with one stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stencil {
    /// Its lowest node.
    base: [i32; 3],
    /// Whether one of the pairs is on a strongly coupled body.
    strongly_coupled: bool,
}

/// A part of the problem that shares no unknown with the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContactIsland {
    /// Its nodes, by number.
    pub nodes: Range<usize>,
    /// Its contacts in the problem: those of particles, then those of grid boundaries.
    pub contacts: Range<usize>,
    /// Whether it has the contacts on strongly coupled bodies. It is then the first one.
    pub strongly_coupled: bool,
    /// Its part of the groups sorted by island.
    groups: Range<usize>,
    /// Number of islands that begin before it.
    order_found: usize,
}

/// A group of neighbouring pairs with one stencil, as the problem has it.
#[derive(Clone, Debug)]
pub(crate) struct StencilGroup<'a> {
    /// The pairs, by index.
    pub pairs: Range<usize>,
    /// Contact of the first; those of the others follow.
    pub contact: usize,
    /// Numbers of the first nodes of the stencil's rows.
    pub rows: &'a [u32; 9],
}

/// Numbering of the touched nodes; kept while the contacts stay in their cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering {
    pub places: Vec<NodePlace>,
    /// In order of decreasing size, so that each workspace keeps its size; the one with strongly
    /// coupled bodies is before all others.
    pub islands: Vec<ContactIsland>,
    /// Distinct neighbouring stencils of the pairs, in their order: the groups.
    stencils: Vec<Stencil>,
    last_stencils: Vec<Stencil>,
    /// First pair of each group, and the number of pairs.
    begins: Vec<u32>,
    /// First contact of each group.
    contacts: Vec<u32>,
    /// Numbers of the nine rows of each group.
    rows: Vec<[u32; 9]>,
    /// The groups sorted by island.
    order: Vec<u32>,
    /// The columns of all stencils, as numbers that sort like their nodes; see [`column`].
    columns: Vec<u128>,
    /// In ascending order of their nodes.
    runs: Vec<NodeRun>,
    /// Union-find over the runs; at its end the island of each.
    parents: Vec<u32>,
    /// Next node and next group of each island while they are counted.
    next: Vec<[u32; 2]>,
    ranks: Vec<u32>,
    /// Version of the grid's blocks that `places` belongs to.
    grid: u64,
    /// Spacing \[m\] and origin (world frame, m) of the grid, which may move while the nodes keep
    /// their numbers.
    spacing: f64,
    origin: Vector3<f64>,
}

impl Numbering {
    /// Numbers the nodes that the pairs touch; `strongly_coupled` tells whether a pair's body is
    /// strongly coupled.
    pub(crate) fn update(
        &mut self,
        pairs: &[ContactPair],
        mpm: &Mpm,
        strongly_coupled: impl Fn(&ContactPair) -> bool,
    ) {
        core::mem::swap(&mut self.stencils, &mut self.last_stencils);
        (self.spacing, self.origin) = (mpm.grid_spacing(), mpm.grid_origin());
        self.group(pairs, strongly_coupled);
        if self.grid != mpm.grid_version() || self.stencils != self.last_stencils {
            self.grid = mpm.grid_version();
            self.find_runs();
            self.join();
            self.sort_islands();
            self.number();
            self.place(mpm);
        }
    }

    fn group(&mut self, pairs: &[ContactPair], strongly_coupled: impl Fn(&ContactPair) -> bool) {
        self.stencils.clear();
        self.begins.clear();
        for (n, pair) in (0u32..).zip(pairs) {
            match self.stencils.last_mut() {
                Some(stencil) if stencil.base == pair.base => {
                    stencil.strongly_coupled |= strongly_coupled(pair)
                }
                _ => {
                    self.stencils.push(Stencil { base: pair.base, strongly_coupled: strongly_coupled(pair) });
                    self.begins.push(n);
                }
            }
        }
        self.begins.push(pairs.len() as u32);
    }

    /// Merges the columns of all stencils into runs, where they share nodes, and finds the run of
    /// each.
    fn find_runs(&mut self) {
        self.columns.clear();
        self.rows.clear();
        self.rows.resize(self.stencils.len(), [0; 9]);
        for (group, Stencil { base: [x, y, z], .. }) in (0u32..).zip(&self.stencils) {
            for (r, row) in (0..9).zip(9 * group..) {
                let (x, y) = (x.wrapping_add(r / 3), y.wrapping_add(r % 3));
                self.columns.push(column(x, y, *z, row));
            }
        }
        self.columns.sort_unstable();
        self.runs.clear();
        for &packed in &self.columns {
            let ([x, y, z], row) = unpacked(packed);
            let end = z.wrapping_add(3);
            match self.runs.last_mut() {
                Some(run) if (x, y) == (run.x, run.y) && z < run.end => run.end = run.end.max(end),
                _ => self.runs.push(NodeRun { x, y, z, end, first: 0 }),
            }
            self.rows[row as usize / 9][row as usize % 9] = self.runs.len() as u32 - 1;
        }
    }

    /// Joins the runs of each stencil, and of all stencils on strongly coupled bodies.
    fn join(&mut self) {
        self.parents.clear();
        self.parents.extend(0..self.runs.len() as u32);
        let mut strongly_coupled = None;
        for (stencil, rows) in self.stencils.iter().zip(&self.rows) {
            for row in &rows[1..] {
                unite(&mut self.parents, rows[0], *row);
            }
            if stencil.strongly_coupled {
                unite(&mut self.parents, rows[0], *strongly_coupled.get_or_insert(rows[0]));
            }
        }
    }

    /// Lists the islands in their order, with their nodes and groups; `parents` then has the island
    /// of each run.
    fn sort_islands(&mut self) {
        self.islands.clear();
        for run in 0..self.runs.len() {
            // A root is the first run of its island.
            let parent = self.parents[run] as usize;
            let island = if parent == run {
                let order_found = self.islands.len();
                self.islands.push(ContactIsland { order_found, ..ContactIsland::default() });
                order_found as u32
            } else {
                self.parents[parent]
            };
            self.parents[run] = island;
            self.islands[island as usize].nodes.end += self.runs[run].len() as usize;
        }
        for (stencil, rows) in self.stencils.iter().zip(&self.rows) {
            let island = &mut self.islands[self.parents[rows[0] as usize] as usize];
            island.groups.end += 1;
            island.strongly_coupled |= stencil.strongly_coupled;
        }
        self.islands.sort_unstable_by_key(|r| (!r.strongly_coupled, Reverse(r.nodes.end), r.order_found));
        self.ranks.resize(self.islands.len(), 0);
        let (mut nodes, mut groups) = (0, 0);
        for (rank, island) in self.islands.iter_mut().enumerate() {
            self.ranks[island.order_found] = rank as u32;
            island.nodes = nodes..nodes + island.nodes.end;
            island.groups = groups..groups + island.groups.end;
            (nodes, groups) = (island.nodes.end, island.groups.end);
        }
        for island in &mut self.parents {
            *island = self.ranks[*island as usize];
        }
    }

    /// Numbers the nodes island by island, and sorts the groups by island.
    fn number(&mut self) {
        self.next.clear();
        self.next.extend(self.islands.iter().map(|r| [r.nodes.start as u32, r.groups.start as u32]));
        for (run, island) in self.runs.iter_mut().zip(&self.parents) {
            let next = &mut self.next[*island as usize][0];
            run.first = *next;
            *next += run.len();
        }
        self.order.resize(self.stencils.len(), 0);
        for (group, (stencil, rows)) in (0u32..).zip(self.stencils.iter().zip(&mut self.rows)) {
            let next = &mut self.next[self.parents[rows[0] as usize] as usize][1];
            self.order[*next as usize] = group;
            *next += 1;
            for row in rows {
                let run = &self.runs[*row as usize];
                *row = run.first + (stencil.base[2] - run.z) as u32;
            }
        }
    }

    /// World position of a numbered node \[m\].
    pub(crate) fn position(&self, place: &NodePlace) -> Point3<f64> {
        let [x, y, z] = place.node.map(f64::from);
        Point3::new(x, y, z) * self.spacing + self.origin
    }

    fn place(&mut self, mpm: &Mpm) {
        let nowhere = NodePlace { node: [0; 3], at: None };
        self.places.clear();
        self.places.resize(self.islands.last().map_or(0, |r| r.nodes.end), nowhere);
        for run in &self.runs {
            for (place, z) in self.places[run.first as usize..].iter_mut().zip(run.z..run.end) {
                let node = [run.x, run.y, z];
                let at = mpm.find_node(node).map(|(block, node)| (block as u32, node as u32));
                *place = NodePlace { node, at };
            }
        }
    }

    /// Writes the nodes of the problem: their masses and free velocities.
    pub(crate) fn write_nodes(&mut self, mpm: &Mpm, problem: &mut ContactProblem) {
        problem.node_mass.clear();
        problem.node_free_velocity.clear();
        for place in &self.places {
            let [x, y, z, mass] = node(place, mpm);
            problem.node_mass.push(f64::from(mass));
            problem.node_free_velocity.push([f64::from(x), f64::from(y), f64::from(z), 0.0]);
        }
        problem.contacts.clear();
        self.contacts.resize(self.stencils.len(), 0);
    }

    /// Adds the contacts of island number `island` to the problem.
    pub(crate) fn write_contacts(
        &mut self,
        island: usize,
        pairs: &[ContactPair],
        settings: &ContactSettings,
        problem: &mut ContactProblem,
    ) {
        for &group in &self.order[self.islands[island].groups.clone()] {
            let group = group as usize;
            self.contacts[group] = problem.contacts.len() as u32;
            let rows = self.rows[group];
            let pairs = &pairs[self.begins[group] as usize..self.begins[group + 1] as usize];
            problem.contacts.extend(pairs.iter().map(|pair| contact(pair, rows, settings)));
        }
    }

    /// The groups, in the order of the pairs.
    pub(crate) fn groups(&self) -> impl Iterator<Item = StencilGroup<'_>> {
        (0..self.stencils.len()).map(|group| self.of(group))
    }

    /// The groups of an island, in the order of its contacts.
    pub(crate) fn groups_of(&self, island: &ContactIsland) -> impl Iterator<Item = StencilGroup<'_>> {
        self.order[island.groups.clone()].iter().map(|&group| self.of(group as usize))
    }

    fn of(&self, group: usize) -> StencilGroup<'_> {
        let pairs = self.begins[group] as usize..self.begins[group + 1] as usize;
        StencilGroup { pairs, contact: self.contacts[group] as usize, rows: &self.rows[group] }
    }

    /// The numbers of all nodes in ascending order of their coordinates.
    pub(crate) fn ascending(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().flat_map(|run| run.first as usize..(run.first + run.len()) as usize)
    }
}

/// A column of three nodes along z and its index among the rows of all stencils, as one number:
/// coordinates first, the lowest one as 0.
fn column(x: i32, y: i32, z: i32, row: u32) -> u128 {
    let [x, y, z] = [x, y, z].map(|coordinate| u128::from(coordinate.cast_unsigned() ^ (1 << 31)));
    (((x << 32 | y) << 32) | z) << 32 | u128::from(row)
}

/// What [`column`] packed.
fn unpacked(column: u128) -> ([i32; 3], u32) {
    let part = |n: u32| (column >> (32 * n)) as u32;
    ([part(3), part(2), part(1)].map(|coordinate| (coordinate ^ (1 << 31)).cast_signed()), part(0))
}

/// Joins the trees of two entries; the smaller root becomes that of both.
fn unite(parents: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parents, a), find(parents, b));
    parents[a.max(b) as usize] = a.min(b);
}

/// The root of an entry, with its path halved on the way.
fn find(parents: &mut [u32], mut entry: u32) -> u32 {
    while parents[entry as usize] != entry {
        parents[entry as usize] = parents[parents[entry as usize] as usize];
        entry = parents[entry as usize];
    }
    entry
}

/// Weights along one direction that interpolate the velocity at a distance `arm` from the particle
/// with its affine field, and distribute an impulse that acts there: w_k (1 + 4 arm (k - offset)),
/// since the second moment of quadratic B-splines is 1/4 \[cells\].
fn weights_at(offset: f64, arm: f64) -> [f64; 3] {
    let weights = quadratic_weights(offset);
    core::array::from_fn(|k| weights[k] * (1.0 + 4.0 * arm * (k as f64 - offset)))
}

/// The contact of a pair. What touches a held vertex touches what holds it: no node, and the pin takes the
/// impulse up.
fn contact(pair: &ContactPair, rows: [u32; 9], settings: &ContactSettings) -> ContactConstraint {
    let [x, y, z] = match pair.held {
        Some(_) => [[0.0; 3]; 3],
        None => [0, 1, 2].map(|d| weights_at(pair.offset[d], pair.arm[d])),
    };
    ContactConstraint {
        rows,
        weights_xy: core::array::from_fn(|r| x[r / 3] * y[r % 3]),
        weights_z: z,
        normal: pair.normal.into(),
        body_velocity: (pair.body_velocity - pair.held.unwrap_or_default()).into(),
        gap: pair.gap,
        stiffness: pair.stiffness,
        dissipation: settings.dissipation,
        friction: pair.friction,
        stiction_tolerance: settings.stiction_tolerance,
        lagged_normal_impulse: pair.lagged_normal_impulse,
        adhesion: pair.tension,
    }
}

/// Velocity and mass of a numbered node; zero where the grid has none.
fn node(place: &NodePlace, mpm: &Mpm) -> [f32; 4] {
    place.at.map_or([0.0; 4], |(block, node)| mpm.nodes()[block as usize].nodes[node as usize])
}

#[cfg(test)]
mod tests {
    use super::weights_at;

    /// Quadratic B-splines times 1 + 4 arm (k - offset) are a partition of one about a point `arm`
    /// away: a linear field is interpolated exactly there, and an impulse has its moment there.
    /// Tolerance: rounding of sums of three.
    #[test]
    fn weights_act_at_the_arm() {
        for offset in [0.5, 0.73, 1.0, 1.31, 1.5] {
            for arm in [-0.5, -0.25, 0.0, 0.1, 0.5] {
                let weights = weights_at(offset, arm);
                let sum: f64 = weights.iter().sum();
                let place: f64 = weights.iter().enumerate().map(|(k, w)| w * k as f64).sum();
                assert!((sum - 1.0).abs() < 1e-14, "{offset} {arm}: {sum}");
                assert!((place - offset - arm).abs() < 1e-14, "{offset} {arm}: {place}");
            }
        }
    }
}
