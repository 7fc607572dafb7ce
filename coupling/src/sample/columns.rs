//! Whether points are inside a closed mesh.

use nalgebra::Point3;

use pliant_io::mesh::MeshData;

/// A mesh binned by x and y, for winding numbers along rays to +z.
///
/// The half-open rule (an edge counts when exactly one end lies at or below the point's y) makes
/// neighbours agree on the edge they share, bit for bit, so a ray through an edge or a vertex still
/// crosses the surface once (Haines, "Point in polygon strategies", Graphics Gems IV, 1994, in each
/// triangle's projection).
pub(super) struct MeshColumns<'a> {
    mesh: &'a MeshData,
    low: Point3<f64>,
    /// Side of a bin \[m\].
    bin: [f64; 2],
    count: [usize; 2],
    /// Triangles whose projection may touch the bin.
    bins: Vec<Vec<u32>>,
}

impl<'a> MeshColumns<'a> {
    pub(super) fn new(mesh: &'a MeshData) -> Self {
        let start = (Point3::from([f64::INFINITY; 3]), Point3::from([f64::NEG_INFINITY; 3]));
        let (low, high) = mesh.vertices.iter().fold(start, |(low, high), v| (low.inf(v), high.sup(v)));
        // About one triangle a bin, at most a million bins.
        let side = (mesh.triangles.len() as f64).sqrt().ceil().clamp(1.0, 1000.0) as usize;
        let count = [side, side];
        let bin = [0, 1].map(|axis| ((high[axis] - low[axis]) / side as f64).max(f64::MIN_POSITIVE));
        let mut columns = Self { mesh, low, bin, count, bins: vec![Vec::new(); side * side] };
        for number in 0..mesh.triangles.len() {
            columns.insert(number);
        }
        columns
    }

    /// Bin along `axis` of coordinate `x`; outside coordinates go to the first or last bin.
    fn bin_of(&self, axis: usize, x: f64) -> usize {
        // The cast saturates, so far outside is the first or last bin too.
        (((x - self.low[axis]) / self.bin[axis]) as usize).min(self.count[axis] - 1)
    }

    fn insert(&mut self, number: usize) {
        let corners = self.mesh.triangles[number].map(|v| self.mesh.vertices[v as usize]);
        let range = [0, 1].map(|axis| {
            let low = corners.iter().map(|c| c[axis]).fold(f64::INFINITY, f64::min);
            let high = corners.iter().map(|c| c[axis]).fold(f64::NEG_INFINITY, f64::max);
            self.bin_of(axis, low)..=self.bin_of(axis, high)
        });
        for y in range[1].clone() {
            for x in range[0].clone() {
                self.bins[y * self.count[0] + x].push(number as u32);
            }
        }
    }

    /// Winding number of the surface about `p`: 1 inside, 0 outside.
    pub(super) fn winding_number(&self, p: &Point3<f64>) -> i32 {
        let bin = self.bin_of(1, p.y) * self.count[0] + self.bin_of(0, p.x);
        self.bins[bin].iter().map(|&number| self.crossing(number, p)).sum()
    }

    /// +1 where the ray from `p` to +z leaves through the triangle, -1 where it enters, 0 where it
    /// misses.
    fn crossing(&self, number: u32, p: &Point3<f64>) -> i32 {
        let corners = self.mesh.triangles[number as usize].map(|v| self.mesh.vertices[v as usize]);
        let turns = (0..3).map(|side| half_open_crossing(&corners[side], &corners[(side + 1) % 3], p)).sum();
        if turns != 0 && height_at(&corners, p) > p.z { turns } else { 0 }
    }
}

/// Crossing of the ray from (p.x, p.y) to +x with the edge a b, both projected on z = 0: +1
/// upwards, -1 downwards.
fn half_open_crossing(a: &Point3<f64>, b: &Point3<f64>, p: &Point3<f64>) -> i32 {
    let (bottom, top, direction) = match (a.y <= p.y, b.y <= p.y) {
        (true, false) => (a, b, 1),
        (false, true) => (b, a, -1),
        _ => return 0,
    };
    // The same expression whichever triangle asks, because the ends are ordered by height.
    let side = (top.x - bottom.x) * (p.y - bottom.y) - (p.x - bottom.x) * (top.y - bottom.y);
    if side > 0.0 { direction } else { 0 }
}

/// z of the triangle's plane above (p.x, p.y), kept within the triangle's own range of z: a steep
/// one amplifies rounding.
fn height_at(corners: &[Point3<f64>; 3], p: &Point3<f64>) -> f64 {
    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
    let offset = p - corners[0];
    let height = corners[0].z - (normal.x * offset.x + normal.y * offset.y) / normal.z;
    let low = corners.iter().map(|c| c.z).fold(f64::INFINITY, f64::min);
    let high = corners.iter().map(|c| c.z).fold(f64::NEG_INFINITY, f64::max);
    if height.is_nan() { high } else { height.clamp(low, high) }
}
