//! Neighbour search for boxes: uniform cells, each with a list of the boxes that overlap it.
//!
//! The triangles of cloth are similar in size, so that the lists are short and quickly built:
//! parry's hierarchy of boxes, rebuilt each time, took three times as long. For very different
//! sizes the result is the same, only slower.

use nalgebra::Vector3;

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
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    boxes: Vec<Option<BoundingBox>>,
    low: Vector3<f64>,
    size: f64,
    counts: [usize; 3],
    /// Start of each cell's list in `listed`, and the end of the last.
    starts: Vec<u32>,
    listed: Vec<u32>,
    /// Where the next box of each cell is listed.
    next: Vec<u32>,
}

impl Cells {
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
        // An infinite size gives one cell: casts turn NaN to 0.
        (self.low, self.size) = (all.low, size);
        self.counts = [0, 1, 2].map(|k| (counts[k] as usize).max(1));
        self.list();
    }

    /// Counts each cell's boxes, then lists them (counting sort).
    fn list(&mut self) {
        let [mut starts, mut next, mut listed] =
            [&mut self.starts, &mut self.next, &mut self.listed].map(std::mem::take);
        starts.clear();
        starts.resize(self.counts.iter().product::<usize>() + 1, 0);
        for bounds in self.boxes.iter().flatten() {
            self.reached(bounds, |cell, _| starts[cell + 1] += 1);
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        next.clone_from(&starts);
        listed.clear();
        listed.resize(starts.last().map_or(0, |end| *end as usize), 0);
        for (number, bounds) in self.boxes.iter().enumerate() {
            if let Some(bounds) = bounds {
                self.reached(bounds, |cell, _| {
                    listed[next[cell] as usize] = number as u32;
                    next[cell] += 1;
                });
            }
        }
        (self.starts, self.next, self.listed) = (starts, next, listed);
    }

    /// The cell of a point, along each axis; points outside belong to the cells at the edge.
    fn cell(&self, point: &Vector3<f64>) -> [usize; 3] {
        // The cast turns negative values to 0.
        [0, 1, 2].map(|k| (((point[k] - self.low[k]) / self.size) as usize).min(self.counts[k] - 1))
    }

    /// The cells that a box overlaps.
    fn reached(&self, bounds: &BoundingBox, mut visit: impl FnMut(usize, [usize; 3])) {
        let (from, to) = (self.cell(&bounds.low), self.cell(&bounds.high));
        for z in from[2]..=to[2] {
            for y in from[1]..=to[1] {
                for x in from[0]..=to[0] {
                    visit((z * self.counts[1] + y) * self.counts[0] + x, [x, y, z]);
                }
            }
        }
    }

    /// The numbers of the boxes that overlap `bounds`, each once.
    pub fn near(&self, bounds: &BoundingBox, mut visit: impl FnMut(usize)) {
        self.reached(bounds, |cell, place| {
            for &number in &self.listed[self.starts[cell] as usize..self.starts[cell + 1] as usize] {
                let Some(other) = &self.boxes[number as usize] else { continue };
                // The overlap of two boxes begins at the upper one of their lower corners: that
                // cell reports the pair.
                if bounds.meets(other) && self.cell(&bounds.low.sup(&other.low)) == place {
                    visit(number as usize);
                }
            }
        });
    }
}
