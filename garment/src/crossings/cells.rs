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
pub(super) struct BoundingBox {
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

    fn with(&self, other: &Self) -> Self {
        Self { low: self.low.inf(&other.low), high: self.high.sup(&other.high) }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}

/// Boxes by the cells that they overlap.
pub(super) struct Cells {
    boxes: Vec<Option<BoundingBox>>,
    low: Vector3<f64>,
    size: f64,
    counts: [usize; 3],
    /// Start of each cell's list in `listed`, and the end of the last.
    starts: Vec<u32>,
    listed: Vec<u32>,
}

impl Cells {
    pub fn new(boxes: Vec<Option<BoundingBox>>) -> Self {
        let there = || boxes.iter().flatten();
        let all = there().copied().reduce(|a, b| a.with(&b)).unwrap_or(BoundingBox::of(&[Vector3::zeros()]));
        let extent = all.high - all.low;
        let most = (CELLS_PER_BOX * boxes.len() as f64).max(1.0);
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
        let counts = [0, 1, 2].map(|k| (counts[k] as usize).max(1));
        let cells: usize = counts.iter().product();
        let mut cells =
            Self { low: all.low, size, counts, starts: vec![0; cells + 1], listed: Vec::new(), boxes };
        cells.fill();
        cells
    }

    /// Counts each cell's boxes, then lists them (counting sort).
    fn fill(&mut self) {
        let mut starts = std::mem::take(&mut self.starts);
        for bounds in self.boxes.iter().flatten() {
            self.reached(bounds, |cell, _| starts[cell + 1] += 1);
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let mut listed = vec![0; starts.last().map_or(0, |end| *end as usize)];
        for (number, bounds) in self.boxes.iter().enumerate() {
            if let Some(bounds) = bounds {
                self.reached(bounds, |cell, _| {
                    listed[next[cell] as usize] = number as u32;
                    next[cell] += 1;
                });
            }
        }
        (self.starts, self.listed) = (starts, listed);
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
