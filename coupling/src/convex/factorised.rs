//! The Newton system by a block Cholesky factorisation within an envelope, over the touched nodes
//! in reverse Cuthill-McKee order. The order and the envelope are kept while the pattern of
//! contacts stays the same.

use multiversion::multiversion;

use super::active::Active;
use super::body_block::BodyBlock;
use super::kernels::SymmetricColumns;
use super::layout::{Group, Vector};
use super::mobility::point_velocity;
use super::prepared::Prepared;

/// Row `i` of the lower factor: the blocks of columns `first..=i`, as three scalar rows one after
/// another.
#[derive(Clone, Copy, Debug, Default)]
struct BlockRow {
    first: usize,
    offset: usize,
}

impl BlockRow {
    /// Scalars in one of the three rows of block row `i`.
    fn width(&self, i: usize) -> usize {
        3 * (i + 1 - self.first)
    }
}

/// Order, envelope and values of the factor.
#[derive(Clone, Debug, Default)]
pub(super) struct Factorisation {
    /// Pattern that order and envelope belong to.
    pattern: Vec<Group>,
    /// Position of each touched node in the elimination.
    position: Vec<u32>,
    rows: Vec<BlockRow>,
    values: Vec<f64>,
    solution: Vec<f64>,
    /// What couples each of the bodies' unknowns to the nodes, `E = -J^T G B L`, and `K^-1 E`: a
    /// column an unknown, in elimination order.
    columns: Vec<f64>,
    solved: Vec<f64>,
    // Of the ordering:
    start: Vec<u32>,
    membership: Vec<u32>,
    degree: Vec<u32>,
    queue: Vec<u32>,
    neighbours: Vec<u32>,
}

/// Nodes of a group's stencil.
fn stencil(group: &Group) -> [u32; 27] {
    std::array::from_fn(|i| group.rows[i / 3] + (i % 3) as u32)
}

impl Factorisation {
    /// Factorises `M + J^T G J`. The matrix is an arrow: K of the nodes, the bodies' block C, and E
    /// between them; the bodies' Schur complement `C - E^T K^-1 E` takes the place of C's factor in
    /// `bodies`.
    pub fn factorise(
        &mut self,
        prepared: &Prepared,
        active: &Active,
        hessians: &[SymmetricColumns],
        bodies: &mut BodyBlock,
    ) {
        let same = self.position.len() == prepared.nodes.len()
            && self.pattern.len() == prepared.groups.len()
            && self.pattern.iter().zip(&prepared.groups).all(|(a, b)| a.rows == b.rows);
        if !same {
            self.pattern.clone_from(&prepared.groups);
            self.order(prepared.nodes.len());
            self.envelope();
        }
        self.assemble(prepared, active, hessians);
        let rows = &self.rows;
        eliminate(rows, prepared_mass(&self.position, &prepared.mass, &mut self.solution), &mut self.values);
        self.couple(prepared, active, hessians);
        let (n, columns, solved) = (3 * self.position.len(), &self.columns, &self.solved);
        bodies.factorise(|i, j| dot(&columns[i * n..(i + 1) * n], &solved[j * n..(j + 1) * n]));
    }

    /// E and `K^-1 E`.
    fn couple(&mut self, prepared: &Prepared, active: &Active, hessians: &[SymmetricColumns]) {
        let (mobility, n) = (&prepared.mobility, 3 * self.position.len());
        self.columns.clear();
        self.columns.resize(n * mobility.rank(), 0.0);
        for group in &active.groups {
            let nodes = stencil(group);
            for &c in &active.contacts[group.begin as usize..group.end as usize] {
                let Some((body, lever)) = mobility.on(c as usize) else { continue };
                let (w, g) = (&prepared.weights[c as usize], &hessians[c as usize]);
                for j in 0..mobility.rank() {
                    let velocity = std::array::from_fn(|d| mobility.row(6 * body + d)[j]);
                    let v = point_velocity(&velocity, &lever);
                    let image: [f64; 3] =
                        std::array::from_fn(|a| -(0..3).map(|b| g[b][a] * v[b]).sum::<f64>());
                    for (s, &node) in nodes.iter().enumerate() {
                        // A node without mass never moves.
                        if prepared.mass[node as usize] > 0.0 {
                            let at = j * n + 3 * self.position[node as usize] as usize;
                            for a in 0..3 {
                                self.columns[at + a] += w.xy[s / 3] * w.z[s % 3] * image[a];
                            }
                        }
                    }
                }
            }
        }
        self.solved.clone_from(&self.columns);
        for column in self.solved.chunks_exact_mut(n.max(1)) {
            substitute(&self.rows, &self.values, column);
        }
    }

    /// Reverse Cuthill-McKee: breadth first from a node of least degree, neighbours by degree.
    fn order(&mut self, nodes: usize) {
        self.index_membership(nodes);
        const UNSEEN: u32 = u32::MAX;
        self.position.clear();
        self.position.resize(nodes, UNSEEN);
        self.queue.clear();
        let mut head = 0;
        while self.queue.len() < nodes {
            let mut seed = 0;
            let mut least = u32::MAX;
            for node in 0..nodes {
                if self.position[node] == UNSEEN && self.degree[node] < least {
                    (seed, least) = (node, self.degree[node]);
                }
            }
            self.position[seed] = 0;
            self.queue.push(seed as u32);
            while head < self.queue.len() {
                let node = self.queue[head] as usize;
                head += 1;
                self.neighbours.clear();
                for index in self.start[node]..self.start[node + 1] {
                    let group = &self.pattern[self.membership[index as usize] as usize];
                    for other in stencil(group) {
                        if self.position[other as usize] == UNSEEN {
                            self.position[other as usize] = 0;
                            self.neighbours.push(other);
                        }
                    }
                }
                let degree = &self.degree;
                self.neighbours.sort_unstable_by_key(|&other| (degree[other as usize], other));
                self.queue.extend_from_slice(&self.neighbours);
            }
        }
        for (place, &node) in self.queue.iter().rev().enumerate() {
            self.position[node as usize] = place as u32;
        }
    }

    /// Which groups hold each node; their number stands for the degree.
    fn index_membership(&mut self, nodes: usize) {
        self.degree.clear();
        self.degree.resize(nodes, 0);
        for node in self.pattern.iter().flat_map(stencil) {
            self.degree[node as usize] += 1;
        }
        self.start.clear();
        self.start.push(0);
        let mut total = 0;
        for degree in &self.degree {
            total += degree;
            self.start.push(total);
        }
        self.membership.clear();
        self.membership.resize(total as usize, 0);
        self.queue.clear();
        self.queue.extend_from_slice(&self.start[..nodes]);
        for (index, group) in (0u32..).zip(&self.pattern) {
            for node in stencil(group) {
                let place = &mut self.queue[node as usize];
                self.membership[*place as usize] = index;
                *place += 1;
            }
        }
    }

    fn envelope(&mut self) {
        self.rows.clear();
        self.rows.extend((0..self.position.len()).map(|first| BlockRow { first, offset: 0 }));
        for group in &self.pattern {
            let places = stencil(group).map(|node| self.position[node as usize] as usize);
            let first = places.iter().fold(usize::MAX, |least, &place| least.min(place));
            for place in places {
                let row = &mut self.rows[place];
                row.first = row.first.min(first);
            }
        }
        let mut offset = 0;
        for (i, row) in self.rows.iter_mut().enumerate() {
            row.offset = offset;
            offset += 3 * row.width(i);
        }
        self.values.clear();
        self.values.resize(offset, 0.0);
    }

    fn assemble(&mut self, prepared: &Prepared, active: &Active, hessians: &[SymmetricColumns]) {
        self.values.fill(0.0);
        for (node, &place) in self.position.iter().enumerate() {
            let i = place as usize;
            let row = self.rows[i];
            // A node without mass never moves: its row is the identity, and assembly leaves it out.
            let mass = prepared.mass[node];
            let diagonal = if mass > 0.0 { mass } else { 1.0 };
            for a in 0..3 {
                self.values[row.offset + a * row.width(i) + 3 * (i - row.first) + a] = diagonal;
            }
        }
        for group in &active.groups {
            let nodes = stencil(group);
            let places = nodes.map(|node| self.position[node as usize] as usize);
            let massive = nodes.map(|node| prepared.mass[node as usize] > 0.0);
            let members = &active.contacts[group.begin as usize..group.end as usize];
            for s in 0..27 {
                for t in 0..27 {
                    let (i, j) = (places[s], places[t]);
                    if j > i || !(massive[s] && massive[t]) {
                        continue;
                    }
                    let mut block = [[0.0; 4]; 3];
                    for &c in members {
                        let (w, g) = (&prepared.weights[c as usize], &hessians[c as usize]);
                        let weight = w.xy[s / 3] * w.z[s % 3] * w.xy[t / 3] * w.z[t % 3];
                        for a in 0..3 {
                            for b in 0..3 {
                                block[a][b] += weight * g[a][b];
                            }
                        }
                    }
                    let row = self.rows[i];
                    for a in 0..3 {
                        let at = row.offset + a * row.width(i) + 3 * (j - row.first);
                        for b in 0..3 {
                            self.values[at + b] += block[a][b];
                        }
                    }
                }
            }
        }
    }

    /// `out = -(M + J^T G J)^-1 gradient` with the last factorisation.
    pub fn solve_negated(&mut self, gradient: &[Vector], bodies: &mut BodyBlock, out: &mut [Vector]) {
        let (nodes, n) = (self.position.len(), 3 * self.position.len());
        self.solution.clear();
        self.solution.resize(n, 0.0);
        for (node, g) in gradient[..nodes].iter().enumerate() {
            let place = 3 * self.position[node] as usize;
            for a in 0..3 {
                self.solution[place + a] = -g[a];
            }
        }
        substitute(&self.rows, &self.values, &mut self.solution);
        let (of_nodes, of_bodies) = out.split_at_mut(nodes);
        let (g, columns, solved, solution) =
            (&gradient[nodes..], &self.columns, &self.solved, &mut self.solution);
        let free = &*solution;
        bodies.solve(
            |j| -g[j / 3][j % 3] - dot(&columns[j * n..(j + 1) * n], free),
            |j, value| of_bodies[j / 3][j % 3] = value,
        );
        for (j, column) in solved.chunks_exact(n.max(1)).enumerate() {
            let y = of_bodies[j / 3][j % 3];
            solution.iter_mut().zip(column).for_each(|(x, e)| *x -= y * e);
        }
        for (node, out) in of_nodes.iter_mut().enumerate() {
            let place = 3 * self.position[node] as usize;
            *out = [self.solution[place], self.solution[place + 1], self.solution[place + 2], 0.0];
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Masses in elimination order, the lower bound of the pivots.
fn prepared_mass<'a>(position: &[u32], mass: &[f64], buffer: &'a mut Vec<f64>) -> &'a [f64] {
    buffer.clear();
    buffer.resize(position.len(), 0.0);
    for (&place, &m) in position.iter().zip(mass) {
        buffer[place as usize] = if m > 0.0 { m } else { 1.0 };
    }
    buffer
}

/// The nine products of three rows with three rows.
#[inline(always)]
fn products(left: [&[f64]; 3], right: [&[f64]; 3]) -> [[f64; 3]; 3] {
    const WIDTH: usize = 8;
    let mut lanes = [[[0.0; WIDTH]; 3]; 3];
    let length = left[0].len();
    let whole = length - length % WIDTH;
    let mut at = 0;
    while at < whole {
        for a in 0..3 {
            for b in 0..3 {
                let (x, y) = (&left[a][at..at + WIDTH], &right[b][at..at + WIDTH]);
                for l in 0..WIDTH {
                    lanes[a][b][l] = x[l].mul_add(y[l], lanes[a][b][l]);
                }
            }
        }
        at += WIDTH;
    }
    // Through memory: see the kernels' `sum`.
    let lanes = std::hint::black_box(lanes);
    let mut sums = lanes.map(|row| row.map(|lanes| lanes.iter().sum::<f64>()));
    for k in whole..length {
        for a in 0..3 {
            for b in 0..3 {
                sums[a][b] = left[a][k].mul_add(right[b][k], sums[a][b]);
            }
        }
    }
    sums
}

/// Cholesky within the envelope, row by row. Pivots are held at the node's mass, their bound in
/// exact arithmetic.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn eliminate(rows: &[BlockRow], mass: &[f64], values: &mut [f64]) {
    for i in 0..rows.len() {
        let row = rows[i];
        let width = row.width(i);
        let (done, current) = values.split_at_mut(row.offset);
        let current = &mut current[..3 * width];
        for j in row.first..=i {
            let other = rows[j];
            let from = row.first.max(other.first);
            let length = 3 * (j - from);
            let column = 3 * (j - row.first);
            let mut block = [[0.0; 3]; 3];
            let at = 3 * (from - row.first);
            let left: [&[f64]; 3] =
                std::array::from_fn(|a| &current[a * width + at..a * width + at + length]);
            let sums = if j == i {
                products(left, left)
            } else {
                let (start, other_width) = (other.offset + 3 * (from - other.first), other.width(j));
                products(
                    left,
                    std::array::from_fn(|b| &done[start + b * other_width..start + b * other_width + length]),
                )
            };
            for a in 0..3 {
                for b in 0..3 {
                    block[a][b] = current[a * width + column + b] - sums[a][b];
                }
            }
            if j == i {
                for b in 0..3 {
                    for k in 0..b {
                        block[b][b] -= block[b][k] * block[b][k];
                    }
                    block[b][b] = block[b][b].max(mass[i]).sqrt();
                    for a in b + 1..3 {
                        for k in 0..b {
                            block[a][b] -= block[a][k] * block[b][k];
                        }
                        block[a][b] /= block[b][b];
                    }
                    for a in 0..b {
                        block[a][b] = 0.0;
                    }
                }
            } else {
                // X L_jj^T = block
                let diagonal = other.offset + 3 * (j - other.first);
                let other_width = other.width(j);
                let l = |a: usize, b: usize| done[diagonal + a * other_width + b];
                for a in 0..3 {
                    block[a][0] /= l(0, 0);
                    block[a][1] = (block[a][1] - block[a][0] * l(1, 0)) / l(1, 1);
                    block[a][2] = (block[a][2] - block[a][0] * l(2, 0) - block[a][1] * l(2, 1)) / l(2, 2);
                }
            }
            for a in 0..3 {
                current[a * width + column..a * width + column + 3].copy_from_slice(&block[a]);
            }
        }
    }
}

/// Solves with the factor and its transpose, in place.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn substitute(rows: &[BlockRow], values: &[f64], x: &mut [f64]) {
    let scalar_row = |s: usize| {
        let (i, a) = (s / 3, s % 3);
        let row = rows[i];
        let start = row.offset + a * row.width(i);
        let count = 3 * (i - row.first) + a;
        (3 * row.first, &values[start..=start + count])
    };
    for s in 0..3 * rows.len() {
        let (first, row) = scalar_row(s);
        let mut value = x[s];
        for (l, known) in row.iter().zip(&x[first..s]) {
            value -= l * known;
        }
        x[s] = value / row[s - first];
    }
    for s in (0..3 * rows.len()).rev() {
        let (first, row) = scalar_row(s);
        let value = x[s] / row[s - first];
        x[s] = value;
        for (l, target) in row.iter().zip(&mut x[first..s]) {
            *target -= l * value;
        }
    }
}
