//! Points near a point.

/// Points in cells as long as the reach, sorted by cell.
pub(crate) struct Nearby {
    /// Cell and number of each point that has a place.
    cells: Vec<([i32; 3], u32)>,
    points: Vec<[f32; 3]>,
    reach: f32,
}

impl Nearby {
    /// Points \[m\], to be found within `reach` \[m\], greater than zero; those that are not finite are not.
    pub fn new(points: Vec<[f32; 3]>, reach: f32) -> Self {
        let is_placed = |point: &[f32; 3]| point.iter().all(|x| x.is_finite());
        let placed = (0..).zip(&points).filter(|(_, point)| is_placed(point));
        let mut cells: Vec<([i32; 3], u32)> =
            placed.map(|(number, point)| (cell(point, reach), number)).collect();
        cells.sort_unstable();
        Self { cells, points, reach }
    }

    /// Calls `found` with the number of each point within the reach, and the square of its distance
    /// \[m^2\].
    pub fn visit(&self, at: &[f32; 3], mut found: impl FnMut(usize, f32)) {
        let [x, y, z] = cell(at, self.reach);
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            // Cells along z follow each other.
            let row = [x.saturating_add(dx), y.saturating_add(dy)];
            let first = [row[0], row[1], z.saturating_sub(1)];
            let last = [row[0], row[1], z.saturating_add(1)];
            let begin = self.cells.partition_point(|(cell, _)| *cell < first);
            for (_, number) in self.cells[begin..].iter().take_while(|(cell, _)| *cell <= last) {
                let point = self.points[*number as usize];
                let squared: f32 = (0..3).map(|axis| (point[axis] - at[axis]).powi(2)).sum();
                if squared < self.reach * self.reach {
                    found(*number as usize, squared);
                }
            }
        }
    }
}

/// The cell of a point; places beyond the whole numbers share the outermost.
fn cell(point: &[f32; 3], reach: f32) -> [i32; 3] {
    point.map(|x| (x / reach).floor() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Law: what is found is what a search through all points finds, also on the borders of cells.
    #[test]
    fn all_points_within_the_reach_are_found() {
        let grid = |n: u32| f32::from(u16::try_from(n * 7919 % 1009).unwrap()) / 1009.0 - 0.5;
        let mut points: Vec<[f32; 3]> =
            (0..500).map(|n| [grid(n), grid(3 * n + 1), grid(5 * n + 2)]).collect();
        points.push([f32::NAN, 0.0, 0.0]);
        points.push([0.25, 0.0, -0.25]);
        let reach = 0.125;
        let nearby = Nearby::new(points.clone(), reach);
        for at in &points[..500] {
            let mut found = Vec::new();
            nearby.visit(at, |number, _| found.push(number));
            found.sort_unstable();
            let near = |p: &[f32; 3]| (0..3).map(|c| (p[c] - at[c]).powi(2)).sum::<f32>() < reach * reach;
            let expected: Vec<usize> = (0..points.len()).filter(|n| near(&points[*n])).collect();
            assert_eq!(found, expected);
        }
    }
}
