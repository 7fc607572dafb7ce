//! In which order trees are eliminated, and which blocks that fills in: minimum degree on the graph of trees.

use std::collections::BTreeSet;

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

/// Orders `trees` trees of which the pairs in `couples` (without repeats) are coupled. Of trees with equally many neighbours the first
/// goes first.
pub(super) fn order(trees: usize, couples: &[(u32, u32)]) -> Pattern {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); trees];
    for &(a, b) in couples {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    neighbours.iter_mut().for_each(|list| list.sort_unstable());
    let mut queue: BTreeSet<(usize, u32)> =
        neighbours.iter().enumerate().map(|(t, list)| (list.len(), t as u32)).collect();
    let mut pattern = Pattern { place_of: vec![0; trees], ..Pattern::default() };
    let mut below: Vec<Vec<u32>> = Vec::with_capacity(trees);
    while let Some((_, tree)) = queue.pop_first() {
        pattern.place_of[tree as usize] = pattern.tree_at.len() as u32;
        pattern.tree_at.push(tree);
        let clique = core::mem::take(&mut neighbours[tree as usize]);
        // What the eliminated tree couples is coupled from now on.
        for &a in &clique {
            let list = &mut neighbours[a as usize];
            queue.remove(&(list.len(), a));
            *list = merge(list, &clique, a, tree);
            queue.insert((list.len(), a));
        }
        below.push(clique);
    }
    pattern.starts.push(0);
    for (place, trees_below) in below.iter().enumerate() {
        let first = pattern.rows.len();
        pattern.rows.push(place as u32);
        pattern.rows.extend(trees_below.iter().map(|&t| pattern.place_of[t as usize]));
        pattern.rows[first..].sort_unstable();
        pattern.starts.push(pattern.rows.len() as u32);
    }
    pattern
}

/// The union of two ascending lists, without two members.
fn merge(a: &[u32], b: &[u32], without: u32, nor: u32) -> Vec<u32> {
    let mut union = Vec::with_capacity(a.len() + b.len());
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
    union
}
