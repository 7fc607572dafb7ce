//! Neighbour search for boxes: uniform cells, each with a list of the boxes that overlap it.
//!
//! The triangles of cloth are similar in size, so that the lists are short and quickly built:
//! parry's hierarchy of boxes, rebuilt each time, took three times as long. For very different
//! sizes the result is the same, only slower.
//!
//! Sixteen boxes of a list are compared at once, rounded outwards to f32; those that meet so are
//! compared exactly.

use nalgebra::Vector3;
use pliant_numeric::simd::{Detected, InstructionSet, Kernel, LANES, Simd};

/// Side of a cell over the mean of the boxes' longest sides.
const CELL_PER_BOX: f64 = 1.5;

/// Most cells for each box.
const CELLS_PER_BOX: f64 = 4.0;

/// A box along the axes \[m\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundingBox {
    low: Vector3<f64>,
    high: Vector3<f64>,
}

impl BoundingBox {
    /// The box about some points, at least one.
    pub fn of(points: &[Vector3<f64>]) -> Self {
        let nothing = Vector3::repeat(f64::INFINITY);
        let start = Self { low: nothing, high: -nothing };
        points.iter().fold(start, |b, x| Self { low: b.low.inf(x), high: b.high.sup(x) })
    }

    /// The box that reaches farther by `margin` \[m\] on all sides.
    pub fn grown(&self, margin: f64) -> Self {
        Self { low: self.low.add_scalar(-margin), high: self.high.add_scalar(margin) }
    }

    /// The box about both.
    pub fn with(&self, other: &Self) -> Self {
        Self { low: self.low.inf(&other.low), high: self.high.sup(&other.high) }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}

/// Boxes by the cells that they overlap.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    level: Detected,
    boxes: Vec<Option<BoundingBox>>,
    low: Vector3<f64>,
    /// 1 / side of a cell \[1/m\].
    per_size: f64,
    counts: [usize; 3],
    /// The first and the last cell that each box overlaps, along each axis.
    spans: Vec<[[u32; 3]; 2]>,
    /// Start of each cell's list in `listed`, and the end of the last.
    starts: Vec<u32>,
    listed: Vec<u32>,
    /// Where the next box of each cell is listed.
    next: Vec<u32>,
    /// Lower and upper corners of the listed boxes from `low`, rounded outwards \[m\]; a vector more
    /// than there are.
    lows: [Vec<f32>; 3],
    highs: [Vec<f32>; 3],
}

impl Cells {
    /// No boxes.
    pub fn new() -> Self {
        Self {
            level: Detected::new(InstructionSet::detect()),
            boxes: Vec::new(),
            low: Vector3::zeros(),
            per_size: 1.0,
            counts: [1; 3],
            spans: Vec::new(),
            starts: vec![0; 2],
            listed: Vec::new(),
            next: Vec::new(),
            lows: Default::default(),
            highs: Default::default(),
        }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let lists = self.starts.capacity() + self.listed.capacity() + self.next.capacity();
        let corners = self.lows.iter().chain(&self.highs).map(Vec::capacity).sum::<usize>();
        self.boxes.capacity() * size_of::<Option<BoundingBox>>()
            + self.spans.capacity() * size_of::<[[u32; 3]; 2]>()
            + (lists + corners) * size_of::<u32>()
    }

    /// Takes other boxes, in the memory that is there.
    pub fn fill(&mut self, boxes: impl Iterator<Item = Option<BoundingBox>>) {
        self.boxes.clear();
        self.boxes.extend(boxes);
        let there = || self.boxes.iter().flatten();
        let all = there().copied().reduce(|a, b| a.with(&b)).unwrap_or(BoundingBox::of(&[Vector3::zeros()]));
        let extent = all.high - all.low;
        let most = (CELLS_PER_BOX * self.boxes.len() as f64).max(1.0);
        let sides: f64 = there().map(|b| (b.high - b.low).max()).sum();
        // Boxes without a size still need a cell.
        let mut size = (CELL_PER_BOX * sides / there().count().max(1) as f64).max(f64::MIN_POSITIVE);
        let mut counts = extent.map(|e| (e / size).floor() + 1.0);
        while counts.product() > most {
            // At least a tenth at a time, so that the loop ends.
            size *= (counts.product() / most).cbrt().max(1.1);
            counts = extent.map(|e| (e / size).floor() + 1.0);
        }
        // A size that is infinite or too small gives one cell: casts turn NaN to 0.
        (self.low, self.per_size) = (all.low, size.recip());
        self.counts = [0, 1, 2].map(|k| (counts[k] as usize).max(1));
        self.count();
        self.list();
    }

    /// Finds which cells each box overlaps, and how many boxes overlap each cell: where its list starts.
    fn count(&mut self) {
        let mut starts = std::mem::take(&mut self.starts);
        starts.clear();
        starts.resize(self.counts.iter().product::<usize>() + 1, 0);
        self.spans.clear();
        for bounds in &self.boxes {
            let span = bounds.as_ref().map_or([[0; 3]; 2], |b| [b.low, b.high].map(|x| self.cell(&x)));
            self.spans.push(span);
            if bounds.is_some() {
                self.reached(&span, |cell| starts[cell + 1] += 1);
            }
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        self.starts = starts;
    }

    /// Lists the boxes of each cell, with their rounded corners (counting sort).
    fn list(&mut self) {
        let [mut next, mut listed] = [&mut self.next, &mut self.listed].map(std::mem::take);
        let [mut lows, mut highs] = [&mut self.lows, &mut self.highs].map(std::mem::take);
        next.clone_from(&self.starts);
        let end = self.starts.last().map_or(0, |end| *end as usize);
        listed.resize(end, 0);
        for d in 0..3 {
            lows[d].resize(end + LANES, 0.0);
            highs[d].resize(end + LANES, 0.0);
            lows[d][end..].fill(f32::INFINITY);
            highs[d][end..].fill(f32::NEG_INFINITY);
        }
        for (number, bounds) in self.boxes.iter().enumerate() {
            let Some(bounds) = bounds else { continue };
            let low = [0, 1, 2].map(|d| rounded_down(bounds.low[d] - self.low[d]));
            let high = [0, 1, 2].map(|d| rounded_up(bounds.high[d] - self.low[d]));
            self.reached(&self.spans[number], |cell| {
                let at = next[cell] as usize;
                next[cell] += 1;
                listed[at] = number as u32;
                for d in 0..3 {
                    (lows[d][at], highs[d][at]) = (low[d], high[d]);
                }
            });
        }
        (self.next, self.listed, self.lows, self.highs) = (next, listed, lows, highs);
    }

    /// The cell of a point, along each axis; points outside belong to the cells at the edge.
    fn cell(&self, point: &Vector3<f64>) -> [u32; 3] {
        // The cast turns negative values to 0.
        [0, 1, 2].map(|k| (((point[k] - self.low[k]) * self.per_size) as u32).min(self.counts[k] as u32 - 1))
    }

    /// The cells from a first to a last one along each axis.
    #[inline(always)]
    fn reached(&self, [from, to]: &[[u32; 3]; 2], mut visit: impl FnMut(usize)) {
        for z in from[2]..=to[2] {
            for y in from[1]..=to[1] {
                for x in from[0]..=to[0] {
                    visit(self.number([x, y, z]));
                }
            }
        }
    }

    /// The number of a cell.
    #[inline(always)]
    fn number(&self, [x, y, z]: [u32; 3]) -> usize {
        (z as usize * self.counts[1] + y as usize) * self.counts[0] + x as usize
    }

    /// The numbers of the `wanted` boxes that overlap `bounds`, each once.
    pub fn near(&self, bounds: &BoundingBox, wanted: impl Fn(usize) -> bool, visit: impl FnMut(usize)) {
        self.level.run(Near { cells: self, bounds, wanted, visit });
    }
}

fn rounded_down(x: f64) -> f32 {
    (x as f32).next_down()
}

fn rounded_up(x: f64) -> f32 {
    (x as f32).next_up()
}

/// Looks for the boxes that overlap `bounds`.
struct Near<'a, W, F> {
    cells: &'a Cells,
    bounds: &'a BoundingBox,
    wanted: W,
    visit: F,
}

impl<W: Fn(usize) -> bool, F: FnMut(usize)> Kernel for Near<'_, W, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let (cells, bounds) = (self.cells, self.bounds);
        let low = [0, 1, 2].map(|d| S::splat(rounded_down(bounds.low[d] - cells.low[d])));
        let high = [0, 1, 2].map(|d| S::splat(rounded_up(bounds.high[d] - cells.low[d])));
        let (from, to) = (cells.cell(&bounds.low), cells.cell(&bounds.high));
        for z in from[2]..=to[2] {
            for y in from[1]..=to[1] {
                for x in from[0]..=to[0] {
                    let cell = cells.number([x, y, z]);
                    let (start, end) = (cells.starts[cell] as usize, cells.starts[cell + 1] as usize);
                    for first in (start..end).step_by(LANES) {
                        let meets = |d: usize| {
                            let (lows, highs) = (&cells.lows[d][first..], &cells.highs[d][first..]);
                            S::mask_and(
                                S::le(S::load_slice(lows), high[d]),
                                S::le(low[d], S::load_slice(highs)),
                            )
                        };
                        let met = S::mask_bits(S::mask_and(S::mask_and(meets(0), meets(1)), meets(2)));
                        let mut lanes = met & (u16::MAX >> (LANES - (end - first).min(LANES)));
                        while lanes != 0 {
                            let number = cells.listed[first + lanes.trailing_zeros() as usize] as usize;
                            lanes &= lanes - 1;
                            if !(self.wanted)(number) {
                                continue;
                            }
                            let Some(other) = &cells.boxes[number] else { continue };
                            // The overlap of two boxes begins at the upper one of their lower corners:
                            // that cell reports the pair.
                            let reports = cells.cell(&bounds.low.sup(&other.low)) == [x, y, z];
                            if reports && bounds.meets(other) {
                                (self.visit)(number);
                            }
                        }
                    }
                }
            }
        }
    }
}
