//! Points near a place.

/// Points sorted by the cells of a grid, to find those near a place.
pub struct Neighbors {
    /// Reach of a search \[m\].
    reach: f32,
    /// Cells to either side in which a search looks.
    rings: usize,
    low: [f32; 3],
    /// Number of cells along each axis; coarser cells hold the rest.
    cells: [usize; 3],
    /// Side of a cell along each axis \[m\].
    side: [f32; 3],
    /// Where each cell begins in `order`.
    starts: Vec<u32>,
    /// The numbers of the points, by their cells, and the points in this order.
    order: Vec<u32>,
    sorted: Vec<[f32; 3]>,
}

/// Most cells along an axis: 2 million cells take 8 MB.
const MOST: usize = 128;

impl Neighbors {
    /// Finite points, to be searched within `reach` \[m\].
    pub fn new(points: &[[f32; 3]], reach: f32) -> Self {
        Self::with_rings(points, reach, 1)
    }

    /// As [`new`](Self::new), with cells of the reach over `rings`: fewer points are looked at, in more
    /// cells.
    pub(crate) fn with_rings(points: &[[f32; 3]], reach: f32, rings: usize) -> Self {
        let least = reach / rings as f32;
        let mut low = [f32::INFINITY; 3];
        let mut high = [f32::NEG_INFINITY; 3];
        for point in points {
            low = std::array::from_fn(|axis| low[axis].min(point[axis]));
            high = std::array::from_fn(|axis| high[axis].max(point[axis]));
        }
        // The casts saturate.
        let cells = std::array::from_fn(|axis| (((high[axis] - low[axis]) / least) as usize).clamp(1, MOST));
        let side =
            std::array::from_fn(|axis| ((high[axis] - low[axis]) * 1.000_01 / cells[axis] as f32).max(least));
        let mut found = Self {
            reach,
            rings,
            low,
            cells,
            side,
            starts: Vec::new(),
            order: Vec::new(),
            sorted: Vec::new(),
        };
        let home: Vec<usize> = points.iter().map(|point| found.index(found.cell(point))).collect();
        let mut starts = vec![0; cells.iter().product::<usize>() + 1];
        home.iter().for_each(|&cell| starts[cell + 1] += 1);
        (1..starts.len()).for_each(|cell| starts[cell] += starts[cell - 1]);
        let mut next = starts.clone();
        found.order = vec![0; points.len()];
        for (point, &cell) in home.iter().enumerate() {
            found.order[next[cell] as usize] = point as u32;
            next[cell] += 1;
        }
        found.sorted = found.order.iter().map(|at| points[*at as usize]).collect();
        found.starts = starts;
        found
    }

    fn cell(&self, point: &[f32; 3]) -> [usize; 3] {
        std::array::from_fn(|axis| {
            (((point[axis] - self.low[axis]) / self.side[axis]) as usize).min(self.cells[axis] - 1)
        })
    }

    fn index(&self, cell: [usize; 3]) -> usize {
        (cell[2] * self.cells[1] + cell[1]) * self.cells[0] + cell[0]
    }

    /// Gives the points within reach of a place and their squared distances \[m^2\], in an order
    /// that depends on the points alone, until `visitor` returns false.
    pub fn visit(&self, place: &[f32; 3], mut visitor: impl FnMut(usize, f32) -> bool) {
        let middle = self.cell(place);
        let range = |axis: usize| {
            middle[axis].saturating_sub(self.rings)..=(middle[axis] + self.rings).min(self.cells[axis] - 1)
        };
        for z in range(2) {
            for y in range(1) {
                // Cells along x lie one after the other.
                let [first, last] = [*range(0).start(), *range(0).end()].map(|x| self.index([x, y, z]));
                let row = self.starts[first] as usize..self.starts[last + 1] as usize;
                for (point, &at) in self.sorted[row.clone()].iter().zip(&self.order[row]) {
                    let squared = (0..3).map(|axis| (point[axis] - place[axis]).powi(2)).sum::<f32>();
                    if squared <= self.reach * self.reach && !visitor(at as usize, squared) {
                        return;
                    }
                }
            }
        }
    }

    /// Whether at least `number` points are within reach of a place.
    pub fn has_at_least(&self, place: &[f32; 3], number: usize) -> bool {
        let mut count = 0;
        self.visit(place, |_, _| {
            count += 1;
            count < number
        });
        count >= number
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panics")]

    use super::*;

    /// Law: what is found is what a search through all points finds, also on the borders of cells.
    #[test]
    fn all_points_within_the_reach_are_found() {
        let grid = |n: u32| f32::from(u16::try_from(n * 7919 % 1009).unwrap()) / 1009.0 - 0.5;
        let mut points: Vec<[f32; 3]> =
            (0..500).map(|n| [grid(n), grid(3 * n + 1), grid(5 * n + 2)]).collect();
        points.push([0.25, 0.0, -0.25]);
        let reach = 0.125;
        let by_rings = [1, 2, 3].map(|rings| Neighbors::with_rings(&points, reach, rings));
        for (at, rings) in points[..500].iter().flat_map(|at| [(at, 1), (at, 2), (at, 3)]) {
            let neighbors = &by_rings[rings - 1];
            let mut found = Vec::new();
            neighbors.visit(at, |number, _| {
                found.push(number);
                true
            });
            found.sort_unstable();
            let near = |p: &[f32; 3]| (0..3).map(|c| (p[c] - at[c]).powi(2)).sum::<f32>() <= reach * reach;
            let expected: Vec<usize> = (0..points.len()).filter(|n| near(&points[*n])).collect();
            assert_eq!(found, expected);
        }
    }
}
