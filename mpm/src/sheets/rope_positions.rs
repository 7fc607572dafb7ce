//! Positions of the vertices of ropes in f64.
//!
//! The transfers move particles in f32, which moves the two ends of a segment by
//! different distances in every substep, and so strains it. A cable is so stiff along its line that this
//! strain, new in every substep, heats it: in a random trial a rope of 0.7 GPa that flew straight on, nothing
//! touching it, gained 3 % of its energy in 4 thousand substeps. So the vertices of ropes are moved in f64
//! too, by the same velocities, and the particles get these positions, rounded.

use nalgebra::Vector3;

use super::arrays::Vertices;

/// Distance beyond which a particle is no longer a rounding away, but was put elsewhere \[cells\].
const ELSEWHERE: f64 = 1e-5;

/// The same where nothing has moved: the spacing of f32 within a block \[cells\].
const ROUNDING: f64 = 5e-7;

/// Positions of the vertices of all ropes.
#[derive(Clone, Debug, Default)]
pub(super) struct RopePositions {
    /// Number of the first vertex among those of all sheets and ropes.
    first: usize,
    /// From the grid's origin \[cells\].
    pub cells: Vec<Vector3<f64>>,
}

impl RopePositions {
    /// At these places from the grid's origin \[cells\]; the first vertex has the number `first`.
    pub fn new(cells: Vec<Vector3<f64>>, first: usize) -> Self {
        Self { first, cells }
    }

    /// From the vertex of entry `k` to the next one \[cells\].
    #[inline(always)]
    pub fn edge(&self, k: usize) -> Vector3<f64> {
        self.cells[k + 1] - self.cells[k]
    }

    /// Where the vertex of entry `k` is, in a grid with this origin and spacing \[m\].
    pub fn place_of(&self, k: usize, (origin, spacing): (Vector3<f64>, f64)) -> Vector3<f64> {
        self.cells[k] * spacing + origin
    }

    /// Moves the vertices as G2P moved their particles: by their velocities in `step` (substep over grid
    /// spacing) \[s/m\], less the motion of the grid \[cells\].
    pub fn follow(&mut self, vertices: &Vertices, of_grid: Vector3<f64>, step: f64) {
        for (k, cells) in self.cells.iter_mut().enumerate() {
            let moved = vertices.velocities[self.first + k].vector() * step - of_grid;
            *cells = near(*cells + moved, particle(vertices, self.first + k), ELSEWHERE);
        }
    }

    /// Takes vertices that were put elsewhere.
    pub fn place(&mut self, vertices: &Vertices) {
        for (k, cells) in self.cells.iter_mut().enumerate() {
            *cells = near(*cells, particle(vertices, self.first + k), ROUNDING);
        }
    }

    /// A pin holds a vertex, by its number among those of all sheets and ropes, at `cells` from the grid's
    /// origin \[cells\].
    pub fn hold(&mut self, vertex: usize, cells: Vector3<f64>) {
        if let Some(own) = vertex.checked_sub(self.first).and_then(|k| self.cells.get_mut(k)) {
            *own = cells;
        }
    }

    /// Puts the vertices where they are in f64, rounded.
    pub fn write(&self, vertices: &mut Vertices) {
        for (k, cells) in self.cells.iter().enumerate() {
            (0..3).for_each(|d| vertices.put_along(self.first + k, d, cells[d]));
        }
    }
}

/// Where a vertex's particle is, from the grid's origin \[cells\].
fn particle(vertices: &Vertices, vertex: usize) -> Vector3<f64> {
    vertices.cells(vertex)
}

/// The position in f64, unless the particle is farther from it than `limit` \[cells\].
fn near(exact: Vector3<f64>, particle: Vector3<f64>, limit: f64) -> Vector3<f64> {
    // False where either is not a number.
    if (exact - particle).amax() <= limit { exact } else { particle }
}
