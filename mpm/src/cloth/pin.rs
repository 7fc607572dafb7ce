//! Vertices that are held along a path until a release time.

use nalgebra::Vector3;

/// Largest distance of a pin from its vertex at the start \[m\]: the rounding of positions in
/// files.
pub const PIN_TOLERANCE: f64 = 1e-6;

/// A vertex whose position is prescribed until it is released.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    vertex: usize,
    /// Times \[s\], rising, and positions \[m\].
    path: Vec<(f64, Vector3<f64>)>,
    release: f64,
}

/// Why a pin is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PinError {
    /// The vertex does not exist.
    #[error("vertex: {vertex} is not one of the {count} vertices")]
    NoSuchVertex {
        /// The index given.
        vertex: usize,
        /// Number of vertices.
        count: usize,
    },
    /// Two pins hold the same vertex.
    #[error("vertex: {vertex} has two pins")]
    Twice {
        /// The vertex.
        vertex: usize,
    },
    /// A path without points.
    #[error("path: needs at least one point")]
    NoPath,
    /// A path's times do not rise, or a number of it is not finite.
    #[error("path[{index}]: at {time} s; times must rise, and all numbers be finite")]
    Path {
        /// Index of the point.
        index: usize,
        /// Its time \[s\].
        time: f64,
    },
    /// The release time is not a number.
    #[error("release: {0} s must be a number")]
    Release(f64),
    /// The sheet does not exist.
    #[error("sheet: {sheet} is not one of the {count} sheets")]
    NoSuchSheet {
        /// The index given.
        sheet: usize,
        /// Number of sheets.
        count: usize,
    },
    /// The time to move within is not positive.
    #[error("within: {0} s must be finite and positive")]
    Within(f64),
    /// The path does not begin at the vertex.
    #[error("path[0]: is {distance} m from vertex {vertex}; must begin there, within {PIN_TOLERANCE} m")]
    Apart {
        /// The vertex.
        vertex: usize,
        /// Distance at the start \[m\].
        distance: f64,
    },
}

impl Pin {
    /// Holds `vertex` on straight lines between the points of `path`, (time in s, position in m,
    /// world frame), constant before the first and after the last, until the time `release` (s;
    /// infinity for ever).
    ///
    /// # Errors
    /// No points, times that do not rise, or something that is not a number.
    pub fn new(vertex: usize, path: Vec<(f64, Vector3<f64>)>, release: f64) -> Result<Self, PinError> {
        if path.is_empty() {
            return Err(PinError::NoPath);
        }
        for (index, (time, x)) in path.iter().enumerate() {
            let rises = index == 0 || path[index - 1].0 < *time;
            if !(rises && time.is_finite() && x.iter().all(|c| c.is_finite())) {
                return Err(PinError::Path { index, time: *time });
            }
        }
        if release.is_nan() {
            return Err(PinError::Release(release));
        }
        Ok(Self { vertex, path, release })
    }

    /// Holds `vertex` at `position` \[m\] for ever.
    ///
    /// # Errors
    /// A position that is not finite.
    pub fn fixed(vertex: usize, position: Vector3<f64>) -> Result<Self, PinError> {
        Self::new(vertex, vec![(0.0, position)], f64::INFINITY)
    }

    /// Releases it at `time` \[s\], unless it is released before.
    #[must_use]
    pub fn released_at(self, time: f64) -> Self {
        Self { release: self.release.min(time), ..self }
    }

    /// Times \[s\] and positions \[m\] of its path.
    pub fn path(&self) -> &[(f64, Vector3<f64>)] {
        &self.path
    }

    /// When it is released \[s\]; infinity for never.
    pub fn release(&self) -> f64 {
        self.release
    }

    /// The vertex.
    pub fn vertex(&self) -> usize {
        self.vertex
    }

    /// Whether it holds in a substep that begins at `time` \[s\].
    pub fn holds(&self, time: f64) -> bool {
        time < self.release
    }

    /// Where the vertex is at `time` \[m\].
    pub fn position(&self, time: f64) -> Vector3<f64> {
        let after = self.path.partition_point(|(t, _)| *t <= time);
        match (after.checked_sub(1).map(|k| self.path[k]), self.path.get(after)) {
            (Some((t0, x0)), Some((t1, x1))) => x0 + (x1 - x0) * ((time - t0) / (t1 - t0)),
            (Some((_, x)), None) | (None, Some(&(_, x))) => x,
            (None, None) => Vector3::zeros(),
        }
    }

    /// Checks pins against a mesh's vertices \[m\] at time zero.
    ///
    /// # Errors
    /// A vertex that does not exist, has two pins, or is not at the start of its pin's path.
    pub fn check_all(pins: &[Self], vertices: &[Vector3<f64>]) -> Result<(), PinError> {
        for (k, pin) in pins.iter().enumerate() {
            let (vertex, count) = (pin.vertex, vertices.len());
            let rest = vertices.get(vertex).ok_or(PinError::NoSuchVertex { vertex, count })?;
            if pins[..k].iter().any(|other| other.vertex == vertex) {
                return Err(PinError::Twice { vertex });
            }
            let distance = (pin.position(0.0) - rest).norm();
            if distance > PIN_TOLERANCE && pin.holds(0.0) {
                return Err(PinError::Apart { vertex, distance });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear between the points, constant outside, and the refused paths.
    #[test]
    fn path_and_errors() {
        let x = Vector3::x();
        let pin = Pin::new(2, vec![(1.0, x), (3.0, 2.0 * x)], 4.0).unwrap();
        for (time, expected) in [(0.0, 1.0), (1.0, 1.0), (1.5, 1.25), (3.0, 2.0), (9.0, 2.0)] {
            assert!((pin.position(time) - expected * x).norm() < 1e-15, "{time}");
        }
        assert!(pin.holds(3.9) && !pin.holds(4.0));
        let vertices = [Vector3::zeros(), x];
        let missing = PinError::NoSuchVertex { vertex: 2, count: 2 };
        assert_eq!(Pin::check_all(&[pin], &vertices), Err(missing));
        let fixed = |v: usize, at: Vector3<f64>| Pin::fixed(v, at).unwrap();
        assert_eq!(Pin::check_all(&[fixed(0, 0.0 * x), fixed(1, x)], &vertices), Ok(()));
        let twice = [fixed(1, x), fixed(1, x)];
        assert_eq!(Pin::check_all(&twice, &vertices), Err(PinError::Twice { vertex: 1 }));
        let apart = PinError::Apart { vertex: 1, distance: 1.0 };
        assert_eq!(Pin::check_all(&[fixed(1, 2.0 * x)], &vertices), Err(apart));
        assert_eq!(Pin::new(0, vec![], 1.0), Err(PinError::NoPath));
        let still = Pin::new(0, vec![(0.0, x), (0.0, x)], 1.0);
        assert_eq!(still, Err(PinError::Path { index: 1, time: 0.0 }));
        assert!(matches!(Pin::new(0, vec![(0.0, x)], f64::NAN), Err(PinError::Release(_))));
    }
}
