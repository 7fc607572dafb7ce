//! A rope as input of a grid: its vertices at the start, material and pins.

use nalgebra::Vector3;

use super::material::RopeMaterial;
use super::twist_pin::{TwistPin, TwistPinError};
use crate::cloth::{Pin, PinError};
use crate::material::MaterialError;

/// Longest segment, in grid spacings: every point of the rope is then within 2/3 of a spacing of a
/// vertex, as every point of a sheet is of a particle ([`crate::cloth::mesh::LONGEST_EDGE`]).
pub const LONGEST_SEGMENT: f64 = 4.0 / 3.0;

/// Shortest segment, in grid spacings, by the rounding of positions
/// ([`crate::cloth::mesh::SMALLEST_ALTITUDE`]).
pub const SHORTEST_SEGMENT: f64 = 1.0 / 32.0;

/// Sharpest angle between two segments at the start \[rad\]: 3/4 of half a turn. At half a turn the angle
/// has no direction.
pub const SHARPEST_ANGLE: f64 = 0.75 * core::f64::consts::PI;

/// Why a rope is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RopeError {
    /// A material parameter is out of range.
    #[error("material.{0}")]
    Material(#[from] MaterialError),
    /// Fewer than two vertices.
    #[error("points: {count} given, but a rope needs at least 2")]
    TooFew {
        /// Number of vertices.
        count: usize,
    },
    /// A vertex that is not finite.
    #[error("points[{vertex}]: ({}, {}, {}) m must be finite", .position.x, .position.y, .position.z)]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position \[m\].
        position: Vector3<f64>,
    },
    /// A segment longer than [`LONGEST_SEGMENT`] grid spacings, or shorter than [`SHORTEST_SEGMENT`] of
    /// them or than the radius.
    #[error(
        "segment {segment}: is {length} m long, but must be from {shortest} m ({SHORTEST_SEGMENT} grid spacings, and no less than the radius) to {longest} m (4/3 grid spacings)"
    )]
    Segment {
        /// Index of the segment.
        segment: usize,
        /// Its length \[m\].
        length: f64,
        /// The shortest allowed \[m\].
        shortest: f64,
        /// The longest allowed \[m\].
        longest: f64,
    },
    /// A sharper corner than [`SHARPEST_ANGLE`].
    #[error(
        "points[{vertex}]: the rope turns by {angle} rad there, but must by at most {SHARPEST_ANGLE} rad"
    )]
    Corner {
        /// Index of the vertex.
        vertex: usize,
        /// Angle between the segments \[rad\].
        angle: f64,
    },
    /// A radius above the grid spacing: contact would reach beyond the nodes of a vertex.
    #[error("material.radius: {radius} m must be at most the grid spacing, {grid_spacing} m")]
    Thick {
        /// Radius \[m\].
        radius: f64,
        /// Grid spacing \[m\].
        grid_spacing: f64,
    },
    /// The twist at the start is not finite, or more than half a turn at a vertex.
    #[error("twist: {twist} rad must be finite, and at most {largest} rad for this number of segments")]
    Twist {
        /// Value given \[rad\].
        twist: f64,
        /// The largest allowed \[rad\].
        largest: f64,
    },
    /// A pin is out of range.
    #[error("pins[{index}]: {source}")]
    Pin {
        /// Index of the pin, or of the second of two that disagree.
        index: usize,
        /// What is wrong.
        source: PinError,
    },
    /// A twist pin is out of range.
    #[error("twist_pins[{index}]: {source}")]
    TwistPin {
        /// Index of the twist pin, or of the second of two that disagree.
        index: usize,
        /// What is wrong.
        source: TwistPinError,
    },
}

/// A rope: unstretched at the start, with a velocity.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Its vertices at the start (m, world frame), one after the other.
    pub vertices: Vec<Vector3<f64>>,
    /// Its material.
    pub material: RopeMaterial,
    /// Whether the line at the start is its natural one; else it is straight at rest, and bent at the
    /// start where the line is not straight.
    pub is_naturally_curved: bool,
    /// Twist from the first segment to the last at the start, even along the rope \[rad\].
    pub twist: f64,
    /// Vertices that are held.
    pub pins: Vec<Pin>,
    /// Segments whose turn about the line is prescribed.
    pub twist_pins: Vec<TwistPin>,
    /// Velocity of all of it at the start, world frame \[m/s\].
    pub velocity: Vector3<f64>,
}

impl Rope {
    /// A rope that is straight at rest, without twist and pins, not moving.
    pub fn new(vertices: Vec<Vector3<f64>>, material: RopeMaterial) -> Self {
        Self {
            vertices,
            material,
            is_naturally_curved: false,
            twist: 0.0,
            pins: Vec::new(),
            twist_pins: Vec::new(),
            velocity: Vector3::zeros(),
        }
    }

    /// Points of a straight line in `segments` equal parts \[m\].
    pub fn line(from: Vector3<f64>, to: Vector3<f64>, segments: usize) -> Vec<Vector3<f64>> {
        let n = segments.max(1);
        (0..=n).map(|k| from + (to - from) * (k as f64 / n as f64)).collect()
    }

    /// Checks it against a grid of spacing `grid_spacing` \[m\].
    ///
    /// # Errors
    /// The first value that is out of range, see [`RopeError`].
    pub fn check(&self, grid_spacing: f64) -> Result<(), RopeError> {
        self.material.validate()?;
        let (radius, count) = (self.material.radius, self.vertices.len());
        if radius > grid_spacing {
            return Err(RopeError::Thick { radius, grid_spacing });
        }
        if count < 2 {
            return Err(RopeError::TooFew { count });
        }
        self.check_line(grid_spacing)?;
        let largest = core::f64::consts::PI * count.saturating_sub(2) as f64;
        if self.twist.is_nan() || self.twist.abs() > largest {
            return Err(RopeError::Twist { twist: self.twist, largest });
        }
        for index in 0..self.pins.len() {
            Pin::check_all(&self.pins[..=index], &self.vertices)
                .map_err(|source| RopeError::Pin { index, source })?;
        }
        for index in 0..self.twist_pins.len() {
            TwistPin::check_all(&self.twist_pins[..=index], count - 1)
                .map_err(|source| RopeError::TwistPin { index, source })?;
        }
        Ok(())
    }

    fn check_line(&self, grid_spacing: f64) -> Result<(), RopeError> {
        let finite = |x: &Vector3<f64>| x.iter().all(|c| c.is_finite());
        if let Some(vertex) = self.vertices.iter().position(|x| !finite(x)) {
            return Err(RopeError::NotFinite { vertex, position: self.vertices[vertex] });
        }
        let shortest = (SHORTEST_SEGMENT * grid_spacing).max(self.material.radius);
        let longest = LONGEST_SEGMENT * grid_spacing;
        // Lengths of equal parts are rounded.
        let slack = 1e-9;
        for (segment, length) in self.edges().map(|edge| edge.norm()).enumerate() {
            if !(length >= shortest * (1.0 - slack) && length <= longest * (1.0 + slack)) {
                return Err(RopeError::Segment { segment, length, shortest, longest });
            }
        }
        let edges: Vec<_> = self.edges().collect();
        for (k, pair) in edges.windows(2).enumerate() {
            let angle = pair[0].cross(&pair[1]).norm().atan2(pair[0].dot(&pair[1]));
            if angle > SHARPEST_ANGLE {
                return Err(RopeError::Corner { vertex: k + 1, angle });
            }
        }
        Ok(())
    }

    /// From each vertex to the next \[m\].
    pub fn edges(&self) -> impl Iterator<Item = Vector3<f64>> + '_ {
        self.vertices.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// Volumes of the vertices \[m^3\]: half of each segment for each end.
    pub fn volumes(&self) -> Vec<f64> {
        let mut volumes = vec![0.0; self.vertices.len()];
        for (segment, edge) in self.edges().enumerate() {
            let half = 0.5 * edge.norm() * self.material.area();
            volumes[segment] += half;
            volumes[segment + 1] += half;
        }
        volumes
    }
}
