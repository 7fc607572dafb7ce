//! The unknowns of the contact problem: the grid nodes that contact particles touch, numbered along z.

use nalgebra::Point3;
use pliant_mpm::Mpm;
use pliant_mpm::bspline::quadratic_weights;

use crate::convex::{Contact, ContactProblem};
use crate::register::Pair;
use crate::settings::ContactSettings;

/// Consecutive nodes along z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    x: i32,
    y: i32,
    z: i32,
    /// One past the last.
    end: i32,
    /// Number of the first node.
    first: u32,
}

/// Where a numbered node lives on the grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodePlace {
    /// Lattice coordinates.
    pub node: [i32; 3],
    /// Node block, node within it.
    pub at: Option<(u32, u32)>,
    /// World position [m].
    pub position: Point3<f64>,
}

/// Numbering of the touched nodes; kept while the contacts stay in their cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering {
    pub places: Vec<NodePlace>,
    /// Distinct neighbouring stencil bases of the pairs, in their order.
    bases: Vec<[i32; 3]>,
    /// Numbers of the nine rows of each of those.
    rows: Vec<[u32; 9]>,
    runs: Vec<Run>,
    last_bases: Vec<[i32; 3]>,
    /// Version of the grid's blocks that `places` belongs to.
    grid: u64,
}

impl Numbering {
    /// Numbers the nodes that the pairs touch.
    pub(crate) fn update(&mut self, pairs: &[Pair], mpm: &Mpm) {
        core::mem::swap(&mut self.bases, &mut self.last_bases);
        self.bases.clear();
        self.bases.extend(pairs.iter().map(|p| p.base));
        self.bases.dedup();
        if self.grid != mpm.grid_version() || self.bases != self.last_bases {
            self.grid = mpm.grid_version();
            self.find_runs();
            self.number();
            self.place(mpm);
        }
    }

    /// Merges the columns of all stencils into runs.
    fn find_runs(&mut self) {
        self.runs.clear();
        for &[x, y, z] in &self.bases {
            for i in 0..3 {
                for j in 0..3 {
                    let (x, y, end) = (x.wrapping_add(i), y.wrapping_add(j), z.wrapping_add(3));
                    self.runs.push(Run { x, y, z, end, first: 0 });
                }
            }
        }
        self.runs.sort_unstable();
        self.runs.dedup_by(|next, run| {
            let joined = (next.x, next.y) == (run.x, run.y) && next.z <= run.end;
            if joined {
                run.end = run.end.max(next.end);
            }
            joined
        });
    }

    fn number(&mut self) {
        let mut count = 0;
        for run in &mut self.runs {
            run.first = count;
            count += (run.end - run.z) as u32;
        }
        self.rows.clear();
        for &[x, y, z] in &self.bases {
            let mut rows = [0; 9];
            for (r, row) in rows.iter_mut().enumerate() {
                let column = (x.wrapping_add(r as i32 / 3), y.wrapping_add(r as i32 % 3));
                // The last run of the column that starts at or below z.
                let after = self.runs.partition_point(|run| (run.x, run.y, run.z) <= (column.0, column.1, z));
                let run = &self.runs[after.saturating_sub(1)];
                *row = run.first + (z - run.z) as u32;
            }
            self.rows.push(rows);
        }
    }

    fn place(&mut self, mpm: &Mpm) {
        let h = mpm.grid_spacing();
        self.places.clear();
        for run in &self.runs {
            for z in run.z..run.end {
                let node = [run.x, run.y, z];
                let at = mpm.find_node(node).map(|(block, node)| (block as u32, node as u32));
                let position = Point3::new(f64::from(run.x), f64::from(run.y), f64::from(z)) * h;
                self.places.push(NodePlace { node, at, position });
            }
        }
    }

    /// Writes the convex problem of these pairs.
    pub(crate) fn fill(
        &self,
        pairs: &[Pair],
        mpm: &Mpm,
        settings: &ContactSettings,
        delta: f64,
        problem: &mut ContactProblem,
    ) {
        problem.substep = delta;
        problem.node_mass.clear();
        problem.node_free_velocity.clear();
        for place in &self.places {
            let [x, y, z, mass] = self.node(place, mpm);
            problem.node_mass.push(f64::from(mass));
            problem.node_free_velocity.push([f64::from(x), f64::from(y), f64::from(z), 0.0]);
        }
        problem.contacts.clear();
        let mut group = 0;
        for (n, pair) in pairs.iter().enumerate() {
            if n > 0 && pair.base != pairs[n - 1].base {
                group += 1;
            }
            let [x, y, z] = pair.offset.map(quadratic_weights);
            problem.contacts.push(Contact {
                rows: self.rows[group],
                weights_xy: core::array::from_fn(|r| x[r / 3] * y[r % 3]),
                weights_z: z,
                normal: pair.normal.into(),
                body_velocity: pair.body_velocity.into(),
                gap: pair.gap,
                stiffness: pair.stiffness,
                dissipation: settings.dissipation,
                friction: pair.friction,
                stiction_tolerance: settings.stiction_tolerance,
                lagged_normal_impulse: pair.lagged_normal_impulse,
                adhesion: pair.tension,
            });
        }
    }

    /// Numbers of the first nodes of the rows of the pairs' stencils.
    pub(crate) fn rows(&self) -> &[[u32; 9]] {
        &self.rows
    }

    /// Velocity and mass of a numbered node; zero where the grid has none.
    pub(crate) fn node(&self, place: &NodePlace, mpm: &Mpm) -> [f32; 4] {
        place.at.map_or([0.0; 4], |(block, node)| mpm.nodes()[block as usize].nodes[node as usize])
    }
}
