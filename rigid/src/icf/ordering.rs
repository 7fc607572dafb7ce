//! In which order trees are eliminated, and which blocks that fills in: minimum degree on the graph
//! of trees.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The lower triangle of the factor, by columns in elimination order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The tree that is eliminated at each place.
    pub tree_at: Vec<u32>,
    /// The place at which each tree is eliminated.
    pub place_of: Vec<u32>,
    /// First entry of each column in `rows`, and one past the last.
    pub starts: Vec<u32>,
    /// Places of the rows of each column, ascending; the first is the column itself.
    rows: Vec<u32>,
}

impl Pattern {
    /// Becomes equal to `other`, in its own buffers.
    pub fn copy_from(&mut self, other: &Self) {
        self.tree_at.clone_from(&other.tree_at);
        self.place_of.clone_from(&other.place_of);
        self.starts.clone_from(&other.starts);
        self.rows.clone_from(&other.rows);
    }

    /// Rows of a column, the diagonal first.
    pub fn rows(&self, column: usize) -> &[u32] {
        &self.rows[self.starts[column] as usize..self.starts[column + 1] as usize]
    }

    /// The number of the block in this row of this column, which is in the pattern.
    pub fn find(&self, row: usize, column: usize) -> usize {
        let rows = self.rows(column);
        let at = rows.partition_point(|&r| (r as usize) < row);
        debug_assert!(rows.get(at) == Some(&(row as u32)), "block ({row}, {column}) is not in the pattern");
        self.starts[column] as usize + at
    }
}

/// Buffers of the search for an order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordering {
    /// Of each tree those that it is coupled to and that are not eliminated before it, ascending.
    neighbours: Vec<Vec<u32>>,
    merged: Vec<u32>,
    /// Trees by their number of neighbours, least first. An entry stays when the number changes; it
    /// is stale then.
    queue: BinaryHeap<Reverse<(usize, u32)>>,
}

/// No place yet.
const UNPLACED: u32 = u32::MAX;

impl Ordering {
    /// Orders `trees` trees of which the pairs in `coupled_trees` (without repeats) are coupled,
    /// into `pattern`. Of trees with equally many neighbours the first goes first.
    pub fn order(&mut self, trees: usize, coupled_trees: &[(u32, u32)], pattern: &mut Pattern) {
        self.begin(trees, coupled_trees);
        pattern.tree_at.clear();
        pattern.place_of.clear();
        pattern.place_of.resize(trees, UNPLACED);
        while let Some(Reverse((degree, tree))) = self.queue.pop() {
            let t = tree as usize;
            if pattern.place_of[t] != UNPLACED || degree != self.neighbours[t].len() {
                continue;
            }
            pattern.place_of[t] = pattern.tree_at.len() as u32;
            pattern.tree_at.push(tree);
            self.eliminate(tree);
        }
        pattern.starts.clear();
        pattern.rows.clear();
        pattern.starts.push(0);
        for (place, &tree) in pattern.tree_at.iter().enumerate() {
            let first = pattern.rows.len();
            pattern.rows.push(place as u32);
            let below = &self.neighbours[tree as usize];
            pattern.rows.extend(below.iter().map(|&t| pattern.place_of[t as usize]));
            pattern.rows[first..].sort_unstable();
            pattern.starts.push(pattern.rows.len() as u32);
        }
    }

    fn begin(&mut self, trees: usize, coupled_trees: &[(u32, u32)]) {
        self.neighbours.iter_mut().for_each(Vec::clear);
        // Lists that are not needed now keep what they have grown to.
        let most = trees.max(self.neighbours.len());
        self.neighbours.resize(most, Vec::new());
        for &(a, b) in coupled_trees {
            self.neighbours[a as usize].push(b);
            self.neighbours[b as usize].push(a);
        }
        self.queue.clear();
        for (t, list) in self.neighbours[..trees].iter_mut().enumerate() {
            list.sort_unstable();
            self.queue.push(Reverse((list.len(), t as u32)));
        }
    }

    /// What the eliminated tree couples is coupled from now on. Its own list stays: those trees are
    /// below it in the factor.
    fn eliminate(&mut self, tree: u32) {
        let clique = core::mem::take(&mut self.neighbours[tree as usize]);
        for &a in &clique {
            let list = &mut self.neighbours[a as usize];
            merge(list, &clique, a, tree, &mut self.merged);
            if list.len() != self.merged.len() {
                self.queue.push(Reverse((self.merged.len(), a)));
            }
            list.clone_from(&self.merged);
        }
        self.neighbours[tree as usize] = clique;
    }
}

/// The union of two ascending lists, without two members.
fn merge(a: &[u32], b: &[u32], without: u32, nor: u32, union: &mut Vec<u32>) {
    union.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) | (None, Some(&x)) => x,
            (None, None) => break,
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        if next != without && next != nor {
            union.push(next);
        }
    }
}
