//! A panel's outline: straight and curved pieces, each with the name of its seam, divided into
//! equal parts.

use nalgebra::Vector2;

/// Longest edge of a sheet, in spacings.
pub const LONGEST_EDGE: f64 = 1.9;

/// Shortest piece of an outline, in spacings: rounded to a whole number of parts, a piece of this
/// length still has one.
const SHORTEST_PIECE: f64 = 0.5;

/// Largest distance of a curve from the straight edge that replaces a part of it, in spacings. An
/// arc of one spacing that turns by a right angle is this far from its chord, so a refused curve is
/// more like a corner.
const LARGEST_SAGITTA: f64 = 0.25;

/// Largest distance of an outline's end from its start, in spacings: rounding of the input.
const CLOSED: f64 = 1e-6;

/// Why an outline is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OutlineError {
    /// The spacing is not a length.
    #[error("spacing: {0} m must be positive and finite")]
    Spacing(f64),
    /// An outline without pieces.
    #[error("outline: needs at least one piece")]
    Empty,
    /// A coordinate is NaN or infinite.
    #[error("piece '{piece}': its points must be finite")]
    NotFinite {
        /// Name of the piece.
        piece: String,
    },
    /// Two pieces have the same name, so that a seam would be ambiguous.
    #[error("piece '{piece}': the name is used by another piece")]
    Name {
        /// The name.
        piece: String,
    },
    /// The last piece does not end where the first begins.
    #[error("piece '{piece}': ends {gap} m from the start of the outline, which must be closed")]
    Open {
        /// Name of the last piece.
        piece: String,
        /// Distance from its end to the start of the outline \[m\].
        gap: f64,
    },
    /// A piece is shorter than half a spacing.
    #[error("piece '{piece}': is {length} m long, but must be at least {shortest} m (half a spacing)")]
    TooShort {
        /// Name of the piece.
        piece: String,
        /// Its length \[m\].
        length: f64,
        /// The shortest allowed \[m\].
        shortest: f64,
    },
    /// The number of parts asked for is zero or makes edges that are too long.
    #[error(
        "piece '{piece}': {parts} parts of {length} m are too few for a spacing of {spacing} m; an edge must be below {LONGEST_EDGE} spacings"
    )]
    TooFewParts {
        /// Name of the piece.
        piece: String,
        /// The parts asked for.
        parts: usize,
        /// Length of the piece \[m\].
        length: f64,
        /// The spacing \[m\].
        spacing: f64,
    },
    /// A curve turns too much within one part for a straight edge.
    #[error(
        "piece '{piece}': a part of the curve is {sagitta} m from its straight edge, but must be within {limit} m (a quarter of the spacing); the spacing is too coarse"
    )]
    TooCoarse {
        /// Name of the piece.
        piece: String,
        /// Distance from the middle of the part to that of its chord \[m\].
        sagitta: f64,
        /// The largest allowed \[m\].
        limit: f64,
    },
    /// Two pieces intersect, or one crosses itself.
    #[error("pieces '{first}' and '{second}': cross near ({}, {}) m", .near.x, .near.y)]
    Crossing {
        /// Name of the piece that comes first.
        first: String,
        /// Name of the other piece; the same if a piece crosses itself.
        second: String,
        /// Start of the first edge at fault \[m\].
        near: Vector2<f64>,
    },
    /// The inside is on the right of the outline.
    #[error("outline: runs clockwise (area {area} m^2); the panel must be on its left")]
    Clockwise {
        /// Area enclosed, counter-clockwise positive \[m^2\].
        area: f64,
    },
}

/// A closed curve in the plane of a pattern, counter-clockwise around the panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    start: Vector2<f64>,
    pieces: Vec<Piece>,
}

/// A cubic Bezier curve; quadratic curves are written as one, and lines, too, but are divided
/// without rounding.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    name: String,
    controls: [Vector2<f64>; 4],
    straight: bool,
    parts: Option<usize>,
}

/// An outline divided into straight edges.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelBoundary {
    /// Its vertices \[m\], counter-clockwise; edge k goes from vertex k to the next, the last one
    /// back to the first.
    pub points: Vec<Vector2<f64>>,
    /// The pieces in order.
    pub pieces: Vec<BoundaryPiece>,
}

/// The edges of one piece of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundaryPiece {
    /// Name of the piece.
    pub name: String,
    /// Its first vertex, which is the last of the piece before it.
    pub first: usize,
    /// Number of its edges.
    pub parts: usize,
}

impl Outline {
    /// An outline that starts at `start` \[m\], without pieces.
    pub fn starting_at(start: Vector2<f64>) -> Self {
        Self { start, pieces: Vec::new() }
    }

    /// Continues with a straight piece to `to` \[m\].
    #[must_use]
    pub fn line(self, name: &str, to: Vector2<f64>) -> Self {
        let from = self.end();
        self.push(name, [from + (to - from) / 3.0, from + (to - from) * (2.0 / 3.0)], to, true)
    }

    /// Continues with a quadratic Bezier curve with one control point to `to` \[m\].
    #[must_use]
    pub fn quadratic(self, name: &str, control: Vector2<f64>, to: Vector2<f64>) -> Self {
        let from = self.end();
        self.cubic(name, [from + (control - from) * (2.0 / 3.0), to + (control - to) * (2.0 / 3.0)], to)
    }

    /// Continues with a cubic Bezier curve with two control points to `to` \[m\].
    #[must_use]
    pub fn cubic(self, name: &str, controls: [Vector2<f64>; 2], to: Vector2<f64>) -> Self {
        self.push(name, controls, to, false)
    }

    fn push(mut self, name: &str, [b, c]: [Vector2<f64>; 2], to: Vector2<f64>, straight: bool) -> Self {
        let controls = [self.end(), b, c, to];
        self.pieces.push(Piece { name: name.to_owned(), controls, straight, parts: None });
        self
    }

    /// Divides the last piece into this many parts, independently of the spacing; by default length
    /// / spacing, rounded.
    #[must_use]
    pub fn parts(mut self, parts: usize) -> Self {
        if let Some(piece) = self.pieces.last_mut() {
            piece.parts = Some(parts);
        }
        self
    }

    fn end(&self) -> Vector2<f64> {
        self.pieces.last().map_or(self.start, |piece| piece.controls[3])
    }

    /// Area enclosed \[m^2\], positive counter-clockwise, exact up to rounding: 1/2 of the integral
    /// of x dy - y dx (Green).
    pub fn area(&self) -> f64 {
        self.pieces.iter().map(Piece::swept_area).sum()
    }

    /// Length of the piece of this name \[m\], or `None` if there is none.
    pub fn length(&self, piece: &str) -> Option<f64> {
        self.pieces.iter().find(|known| known.name == piece).map(|piece| piece.length(1.0))
    }

    /// Divides every piece into parts of equal length, as near to `spacing` \[m\] as a whole number
    /// allows.
    ///
    /// # Errors
    /// [`OutlineError`], with the name of the piece.
    pub fn divide(&self, spacing: f64) -> Result<PanelBoundary, OutlineError> {
        if !(spacing > 0.0 && spacing.is_finite()) {
            return Err(OutlineError::Spacing(spacing));
        }
        self.check_closed(spacing)?;
        let mut boundary = PanelBoundary { points: Vec::new(), pieces: Vec::new() };
        for piece in &self.pieces {
            let first = boundary.points.len();
            let points = piece.divide(spacing)?;
            boundary.pieces.push(BoundaryPiece { name: piece.name.clone(), first, parts: points.len() });
            boundary.points.extend(points);
        }
        boundary.check_simple()?;
        Ok(boundary)
    }

    /// Finite pieces of different names that end where they started.
    fn check_closed(&self, spacing: f64) -> Result<(), OutlineError> {
        let Some(last) = self.pieces.last() else { return Err(OutlineError::Empty) };
        for (at, piece) in self.pieces.iter().enumerate() {
            let name = piece.name.clone();
            if piece.controls.iter().any(|x| !(x.x.is_finite() && x.y.is_finite())) {
                return Err(OutlineError::NotFinite { piece: name });
            }
            if self.pieces[..at].iter().any(|other| other.name == name) {
                return Err(OutlineError::Name { piece: name });
            }
        }
        let gap = (last.controls[3] - self.start).norm();
        if gap > CLOSED * spacing {
            return Err(OutlineError::Open { piece: last.name.clone(), gap });
        }
        Ok(())
    }
}

/// Nodes and weights of Gauss and Legendre's rule with five points on [0, 1]: exact for polynomials
/// up to degree 9.
const GAUSS: [(f64, f64); 5] = [
    (0.046_910_077_030_668_004, 0.118_463_442_528_094_54),
    (0.230_765_344_947_158_45, 0.239_314_335_249_683_24),
    (0.5, 0.284_444_444_444_444_45),
    (0.769_234_655_052_841_6, 0.239_314_335_249_683_24),
    (0.953_089_922_969_332, 0.118_463_442_528_094_54),
];

/// Intervals of a curve, each measured with that rule.
const INTERVALS: usize = 16;

impl Piece {
    fn at(&self, t: f64) -> Vector2<f64> {
        let (s, [a, b, c, d]) = (1.0 - t, &self.controls);
        if self.straight {
            return a + (d - a) * t;
        }
        a * (s * s * s) + b * (3.0 * s * s * t) + c * (3.0 * s * t * t) + d * (t * t * t)
    }

    /// Derivative by t \[m\].
    fn tangent(&self, t: f64) -> Vector2<f64> {
        let (s, [a, b, c, d]) = (1.0 - t, &self.controls);
        (b - a) * (3.0 * s * s) + (c - b) * (6.0 * s * t) + (d - c) * (3.0 * t * t)
    }

    /// Length from the start to parameter `t` \[m\].
    fn length(&self, t: f64) -> f64 {
        if self.straight {
            return t * (self.controls[3] - self.controls[0]).norm();
        }
        let width = t / INTERVALS as f64;
        let speeds = (0..INTERVALS).flat_map(|k| {
            GAUSS.iter().map(move |(node, weight)| weight * self.tangent((k as f64 + node) * width).norm())
        });
        width * speeds.sum::<f64>()
    }

    /// 1/2 of the integral of x dy - y dx along the piece [m^2]: a polynomial of degree 5 in t.
    fn swept_area(&self) -> f64 {
        GAUSS.iter().map(|(t, weight)| 0.5 * weight * self.at(*t).perp(&self.tangent(*t))).sum()
    }

    /// The parameter at which the curve is `length` \[m\] long, by bisection, since a curve's
    /// length never falls.
    fn parameter(&self, length: f64) -> f64 {
        if self.straight {
            return length / self.length(1.0);
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..f64::MANTISSA_DIGITS {
            let middle = 0.5 * (low + high);
            if self.length(middle) < length { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// The starts of the parts.
    fn divide(&self, spacing: f64) -> Result<Vec<Vector2<f64>>, OutlineError> {
        let (piece, length) = (self.name.clone(), self.length(1.0));
        let shortest = SHORTEST_PIECE * spacing;
        if length < shortest {
            return Err(OutlineError::TooShort { piece, length, shortest });
        }
        let parts = self.parts.unwrap_or(((length / spacing).round() as usize).max(1));
        if parts == 0 || length / parts as f64 >= LONGEST_EDGE * spacing {
            return Err(OutlineError::TooFewParts { piece, parts, length, spacing });
        }
        // Twice as many points: every second one is the middle of a part.
        let half = |k: usize| match k {
            0 => self.controls[0],
            k if k == 2 * parts => self.controls[3],
            k => self.at(self.parameter(length * k as f64 / (2 * parts) as f64)),
        };
        let halves: Vec<_> = (0..=2 * parts).map(half).collect();
        let limit = LARGEST_SAGITTA * spacing;
        for part in halves.windows(3).step_by(2) {
            let sagitta = (part[1] - 0.5 * (part[0] + part[2])).norm();
            if sagitta > limit {
                return Err(OutlineError::TooCoarse { piece, sagitta, limit });
            }
        }
        Ok(halves.into_iter().step_by(2).take(parts).collect())
    }
}

impl PanelBoundary {
    /// Area enclosed by the straight edges \[m^2\], positive counter-clockwise.
    pub fn area(&self) -> f64 {
        (0..self.points.len()).map(|k| 0.5 * self.edge(k)[0].perp(&self.edge(k)[1])).sum()
    }

    /// Ends of edge `k` \[m\].
    pub fn edge(&self, k: usize) -> [Vector2<f64>; 2] {
        [self.points[k], self.points[(k + 1) % self.points.len()]]
    }

    /// Name of the piece that edge `k` belongs to.
    fn name(&self, k: usize) -> String {
        let piece = self.pieces.iter().find(|piece| (piece.first..piece.first + piece.parts).contains(&k));
        piece.map_or_else(String::new, |piece| piece.name.clone())
    }

    /// Distance from a point to the nearest edge \[m\], negative outside.
    pub fn depth(&self, x: Vector2<f64>) -> f64 {
        let (mut nearest, mut inside) = (f64::INFINITY, false);
        for k in 0..self.points.len() {
            let [a, b] = self.edge(k);
            let along = ((x - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
            nearest = nearest.min((x - a - along * (b - a)).norm());
            // A ray along +x crosses the boundary an odd number of times from inside.
            if (a.y > x.y) != (b.y > x.y) && x.x < a.x + (x.y - a.y) / (b.y - a.y) * (b.x - a.x) {
                inside = !inside;
            }
        }
        if inside { nearest } else { -nearest }
    }

    /// Checks that edges meet only in common vertices of neighbours, counter-clockwise.
    fn check_simple(&self) -> Result<(), OutlineError> {
        let count = self.points.len();
        for first in 0..count {
            for second in first + 1..count {
                let (e, f) = (self.edge(first), self.edge(second));
                let meet = if second == first + 1 {
                    turns_back(e[0], e[1], f[1])
                } else if first == 0 && second == count - 1 {
                    turns_back(f[0], f[1], e[1])
                } else {
                    meet(e, f)
                };
                if meet {
                    let (first, second) = (self.name(first), self.name(second));
                    return Err(OutlineError::Crossing { first, second, near: e[0] });
                }
            }
        }
        let area = self.area();
        if area <= 0.0 {
            return Err(OutlineError::Clockwise { area });
        }
        Ok(())
    }
}

/// Whether a path from a over b to c folds back on itself.
fn turns_back(a: Vector2<f64>, b: Vector2<f64>, c: Vector2<f64>) -> bool {
    let (e, f) = (b - a, c - b);
    // Below this sine the two edges are one within rounding.
    e.dot(&f) < 0.0 && e.perp(&f).abs() <= 1e-9 * e.norm() * f.norm()
}

/// Whether two edges have a point in common.
fn meet(e: [Vector2<f64>; 2], f: [Vector2<f64>; 2]) -> bool {
    let side = |[a, b]: [Vector2<f64>; 2], x: Vector2<f64>| (b - a).perp(&(x - a));
    let apart = |e: [Vector2<f64>; 2], f: [Vector2<f64>; 2]| side(e, f[0]) * side(e, f[1]) > 0.0;
    // On a line, both tests are zero; then the boxes around the edges decide.
    let overlap = |k: usize| {
        e[0][k].min(e[1][k]) <= f[0][k].max(f[1][k]) && f[0][k].min(f[1][k]) <= e[0][k].max(e[1][k])
    };
    !apart(e, f) && !apart(f, e) && overlap(0) && overlap(1)
}
