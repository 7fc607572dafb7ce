//! Islands: trees that touch or are constrained to each other, directly or through others.
//!
//! Nothing couples one such island to another, so each is solved independently: its solution does
//! not depend on the others, and its data stay in the cache during its passes, however many islands
//! there are.

use crate::icf::{ConvexProblem, Pool};

/// Numbers grouped by island, in their order within each.
#[derive(Clone, Debug, Default)]
struct Groups {
    /// Start of each in `items`, and the end.
    first: Vec<u32>,
    items: Vec<u32>,
}

impl Groups {
    /// Groups `0..keys.len()` by their islands.
    fn sort(&mut self, islands: usize, keys: &[u32]) {
        self.first.clear();
        self.first.resize(islands + 2, 0);
        for &key in keys {
            self.first[key as usize + 2] += 1;
        }
        for k in 2..islands + 2 {
            self.first[k] += self.first[k - 1];
        }
        self.items.clear();
        self.items.resize(keys.len(), 0);
        for (item, &key) in keys.iter().enumerate() {
            let next = &mut self.first[key as usize + 1];
            self.items[*next as usize] = item as u32;
            *next += 1;
        }
    }

    fn of(&self, island: usize) -> &[u32] {
        &self.items[self.first[island] as usize..self.first[island + 1] as usize]
    }
}

/// The trees and constraints of one island, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Island<'a> {
    pub trees: &'a [u32],
    pub contacts: &'a [u32],
    /// Rows of equalities.
    pub rows: &'a [u32],
    pub limits: &'a [u32],
    pub dry_joints: &'a [u32],
    pub motors: &'a [u32],
}

impl Island<'_> {
    /// Whether only motors act on it.
    pub fn is_free(&self) -> bool {
        let others = [self.contacts, self.rows, self.limits, self.dry_joints];
        others.iter().all(|items| items.is_empty())
    }
}

/// The islands of a step. Constraints without a tree are in the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// Of every tree a tree of the same island, itself if it is the first; later the number of the
    /// island.
    of_tree: Vec<u32>,
    keys: Vec<u32>,
    count: usize,
    trees: Groups,
    contacts: Groups,
    rows: Groups,
    limits: Groups,
    dry_joints: Groups,
    motors: Groups,
}

impl Islands {
    /// Finds the islands of a problem of `trees` trees.
    pub fn find(&mut self, problem: &ConvexProblem, trees: usize) {
        self.of_tree.clear();
        self.of_tree.extend(0..trees as u32);
        self.join(&problem.contacts);
        self.join(&problem.equalities);
        let mut next = 0;
        for tree in 0..trees {
            // The first of an island was numbered before the others.
            let first = self.of_tree[tree] as usize;
            self.of_tree[tree] = if first == tree {
                next += 1;
                next - 1
            } else {
                self.of_tree[first]
            };
        }
        let world = next;
        self.count = world as usize + 1;
        let (of_tree, keys, count) = (&self.of_tree, &mut self.keys, self.count);
        self.trees.sort(count, of_tree);
        let mut group = |groups: &mut Groups, items: &mut dyn Iterator<Item = Option<usize>>| {
            keys.clear();
            keys.extend(items.map(|tree| tree.map_or(world, |t| of_tree[t])));
            groups.sort(count, keys);
        };
        group(&mut self.contacts, &mut first_trees(&problem.contacts));
        group(&mut self.rows, &mut first_trees(&problem.equalities));
        group(&mut self.limits, &mut problem.limits.entries().map(|(_, _, tree, _)| Some(tree)));
        group(&mut self.dry_joints, &mut problem.dry_joints.entries().map(|(_, _, tree, _)| Some(tree)));
        group(&mut self.motors, &mut problem.actuators.entries().map(|(_, _, tree, _)| Some(tree)));
    }

    /// Joins the trees that constraints couple. Every tree then refers to the first of its island.
    fn join<L, const N: usize>(&mut self, pool: &Pool<L, N>) {
        let of_tree = &mut self.of_tree;
        for c in 0..pool.len() {
            if let [Some(a), Some(b)] = pool.sides_of(c) {
                let [a, b] = [a, b].map(|side| root(of_tree, side.tree));
                of_tree[a.max(b) as usize] = a.min(b);
            }
        }
        for tree in 0..of_tree.len() {
            of_tree[tree] = of_tree[of_tree[tree] as usize];
        }
    }

    /// Number of islands.
    pub fn len(&self) -> usize {
        self.count
    }

    /// One of them.
    pub fn at(&self, island: usize) -> Island<'_> {
        Island {
            trees: self.trees.of(island),
            contacts: self.contacts.of(island),
            rows: self.rows.of(island),
            limits: self.limits.of(island),
            dry_joints: self.dry_joints.of(island),
            motors: self.motors.of(island),
        }
    }
}

/// The first tree of the island of `tree`, with path halving.
pub(super) fn root(of_tree: &mut [u32], mut tree: u32) -> u32 {
    while of_tree[tree as usize] != tree {
        let next = of_tree[of_tree[tree as usize] as usize];
        of_tree[tree as usize] = next;
        tree = next;
    }
    tree
}

/// A tree of every constraint that has one.
fn first_trees<L, const N: usize>(pool: &Pool<L, N>) -> impl Iterator<Item = Option<usize>> + '_ {
    (0..pool.len()).map(|c| pool.sides_of(c).into_iter().flatten().next().map(|side| side.tree as usize))
}
