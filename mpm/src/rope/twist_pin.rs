//! Segments whose turn about the line is prescribed until a release time.

/// A segment that is turned about the line on a path in time.
///
/// The turn is that of the segment's frame about its tangent, beyond what parallel transport in time gives
/// (the frame of a segment whose tangent stays is turned by just this angle). With the two vertices of the
/// segment pinned, it is clamped.
#[derive(Clone, Debug, PartialEq)]
pub struct TwistPin {
    segment: usize,
    /// Times \[s\], rising, and angles \[rad\].
    path: Vec<(f64, f64)>,
    release: f64,
}

/// Why a twist pin is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TwistPinError {
    /// The segment does not exist.
    #[error("segment: {segment} is not one of the {count} segments")]
    NoSuchSegment {
        /// The index given.
        segment: usize,
        /// Number of segments.
        count: usize,
    },
    /// Two twist pins hold the same segment.
    #[error("segment: {segment} has two twist pins")]
    Twice {
        /// The segment.
        segment: usize,
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
}

impl TwistPin {
    /// Turns `segment` linearly between the points of `path`, (time in s, angle in rad), at rest before
    /// the first and after the last, until the time `release` (s; infinity for ever).
    ///
    /// # Errors
    /// No points, times that do not rise, or something that is not a number.
    pub fn new(segment: usize, path: Vec<(f64, f64)>, release: f64) -> Result<Self, TwistPinError> {
        if path.is_empty() {
            return Err(TwistPinError::NoPath);
        }
        for (index, (time, angle)) in path.iter().enumerate() {
            let rises = index == 0 || path[index - 1].0 < *time;
            if !(rises && time.is_finite() && angle.is_finite()) {
                return Err(TwistPinError::Path { index, time: *time });
            }
        }
        if release.is_nan() {
            return Err(TwistPinError::Release(release));
        }
        Ok(Self { segment, path, release })
    }

    /// Keeps `segment` from turning for ever.
    pub fn fixed(segment: usize) -> Self {
        Self { segment, path: vec![(0.0, 0.0)], release: f64::INFINITY }
    }

    /// The segment.
    pub fn segment(&self) -> usize {
        self.segment
    }

    /// Whether it holds in a substep that begins at `time` \[s\].
    pub fn holds(&self, time: f64) -> bool {
        time < self.release
    }

    /// The angle at `time` \[rad\].
    pub fn angle(&self, time: f64) -> f64 {
        let after = self.path.partition_point(|(t, _)| *t <= time);
        match (after.checked_sub(1).map(|k| self.path[k]), self.path.get(after)) {
            (Some((t0, a0)), Some((t1, a1))) => a0 + (a1 - a0) * ((time - t0) / (t1 - t0)),
            (Some((_, a)), None) | (None, Some(&(_, a))) => a,
            (None, None) => 0.0,
        }
    }

    /// Mean spin in a substep of `substep` from `time` on \[s\], if it holds then \[rad/s\].
    pub fn spin(&self, time: f64, substep: f64) -> Option<f64> {
        self.holds(time).then(|| (self.angle(time + substep) - self.angle(time)) / substep)
    }

    /// Checks the twist pins of a rope of `count` segments.
    ///
    /// # Errors
    /// A segment that does not exist or has two.
    pub fn check_all(pins: &[Self], count: usize) -> Result<(), TwistPinError> {
        for (k, Self { segment, .. }) in pins.iter().enumerate() {
            let segment = *segment;
            if segment >= count {
                return Err(TwistPinError::NoSuchSegment { segment, count });
            }
            if pins[..k].iter().any(|other| other.segment == segment) {
                return Err(TwistPinError::Twice { segment });
            }
        }
        Ok(())
    }
}
