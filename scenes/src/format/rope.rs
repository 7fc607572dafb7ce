//! Ropes and cables: their lines, materials and pins.

use nalgebra::{Point3, Vector3};
use pliant_coupling::AutoOr;
use pliant_mpm::cloth::{Pin, PinError};
use pliant_mpm::rope::line::LONGEST_SEGMENT;
use pliant_mpm::rope::{Rope, RopeMaterial, TwistPin, TwistPinError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cloth::PinKeyframe;
use super::common::Pose;
use crate::isometry::isometry;

/// A rope or cable: an elastic rod with stretch, bending and twist. Its friction on bodies is the
/// `friction` of their geometries, as for all particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RopeSpec {
    /// Name, for messages and paths; unique among ropes, cloths, soft bodies, bodies and robots.
    pub name: String,
    /// Its line at the start, in its own frame.
    pub shape: RopeShape,
    /// Parts of equal length, each with a vertex at both ends [-]. "auto" makes them half a grid spacing
    /// long, or twice the radius where that is longer, at most 4/3 of a spacing. They may be from 1/32 to 4/3 of a grid spacing,
    /// and no shorter than the radius.
    #[serde(default)]
    pub segments: AutoOr<u32>,
    /// Its frame in the world at the start.
    #[serde(default)]
    pub pose: Pose,
    /// Velocity at the start, world frame [m/s].
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Its material and cross-section.
    pub material: Cord,
    /// Whether the line at the start is its natural shape, as of a coiled cord. Else it is straight at
    /// rest, and bent where its line is not straight.
    #[serde(default)]
    pub naturally_curved: bool,
    /// Twist from the start to the end, even along the rope; at most half a turn for each inner vertex
    /// [rad].
    #[serde(default)]
    pub twist: f64,
    /// Rate alpha of mass-proportional damping: a force -alpha m v from outside the scene, on the spin of the
    /// segments too [1/s].
    #[serde(default)]
    pub mass_damping: f64,
    /// Vertices and ends that are held until a release time.
    #[serde(default)]
    pub pins: Vec<RopePin>,
    /// Colour in pictures and frames: red, green, blue, sRGB, 0 to 255 [-].
    #[serde(default = "hemp")]
    pub color: [u8; 3],
}

/// Lines of ropes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RopeShape {
    /// A straight line.
    Line {
        /// The start [m].
        from: [f64; 3],
        /// The end [m].
        to: [f64; 3],
    },
    /// Straight pieces between points; the vertices are at equal distances along them.
    Polyline {
        /// The points, at least two [m].
        points: Vec<[f64; 3]>,
    },
    /// A helix about the z axis of the rope's frame, from its middle plane's half below to half above; a
    /// coil or, without pitch, a ring or part of one.
    Helix {
        /// Radius of the coil [m].
        radius: f64,
        /// Rise in a turn [m].
        pitch: f64,
        /// Number of turns, positive against the clock seen from +z [-].
        turns: f64,
    },
}

/// Material and circular cross-section of a rope.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cord {
    /// Mass per rest volume [kg/m^3].
    pub density: f64,
    /// Radius of the cross-section, at most the grid spacing; also the distance at which the rope touches
    /// bodies [m].
    pub radius: f64,
    /// Young's modulus along the rope [Pa].
    pub youngs_modulus: f64,
    /// Poisson's ratio, in (-1, 0.5]; it gives the shear modulus where that is "auto" [-].
    #[serde(default = "rubber_like")]
    pub poissons_ratio: f64,
    /// Shear modulus, against twist [Pa]. "auto" is youngs_modulus / (2 (1 + poissons_ratio)).
    #[serde(default)]
    pub shear_modulus: AutoOr<f64>,
    /// Bending stiffness: moment over curvature [N m^2]. "auto" is that of a solid section, E pi r^4 / 4;
    /// strands that slide on each other are far softer.
    #[serde(default)]
    pub bending_stiffness: AutoOr<f64>,
    /// Twist stiffness: torque over twist per length [N m^2]. "auto" is that of a solid section, G pi r^4
    /// / 2.
    #[serde(default)]
    pub twist_stiffness: AutoOr<f64>,
    /// Fraction of the symmetric velocity gradient that a substep keeps, in [0, 1]; 1 is no damping [-].
    #[serde(default = "one")]
    pub damping: f64,
}

impl Cord {
    /// The material.
    pub(super) fn material(&self) -> RopeMaterial {
        let shear = self.youngs_modulus / (2.0 * (1.0 + self.poissons_ratio));
        RopeMaterial {
            density: self.density,
            radius: self.radius,
            youngs_modulus: self.youngs_modulus,
            shear_modulus: self.shear_modulus.value().unwrap_or(shear),
            bending_stiffness: self.bending_stiffness.value(),
            twist_stiffness: self.twist_stiffness.value(),
            damping: self.damping,
        }
    }
}

/// A vertex or an end of a rope, held until a release time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RopePin {
    /// Which vertex, or which end.
    pub at: RopePlace,
    /// Its path: linear between keyframes, at rest before the first and after the last. Without
    /// keyframes it does not move.
    #[serde(default)]
    pub keyframes: Vec<PinKeyframe>,
    /// How a clamped end is turned about the rope: linear between keyframes, at rest before the first and
    /// after the last. Without keyframes it is not turned.
    #[serde(default)]
    pub turns: Vec<TurnKeyframe>,
    /// Release time; null: never [s].
    #[serde(default)]
    pub release: Option<f64>,
}

/// A vertex or an end of a rope.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RopePlace {
    /// The first vertex.
    Start {
        /// Whether direction and turn of the first segment are held too: the next vertex is then held as
        /// well, and the rope bends and twists only beyond it [-].
        #[serde(default)]
        clamped: bool,
    },
    /// The last vertex.
    End {
        /// Whether direction and turn of the last segment are held too [-].
        #[serde(default)]
        clamped: bool,
    },
    /// A vertex by its number.
    Vertex {
        /// The number, from 0 [-].
        vertex: u32,
    },
    /// The vertex that is nearest to a point, which must be within half of a segment of it.
    Nearest {
        /// The point, in the rope's own frame [m].
        point: [f64; 3],
    },
}

/// Turn of a clamped end at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnKeyframe {
    /// Time since the start [s].
    pub time: f64,
    /// Angle about the rope's direction from its start to its end, against the clock seen from where it
    /// points; zero in the first keyframe [rad].
    pub angle: f64,
}

/// Why a rope was not built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RopeError {
    /// The rope is refused, in itself or for this grid.
    #[error("rope '{name}': {source}")]
    Rope {
        /// Name of the rope.
        name: String,
        /// Why.
        source: pliant_mpm::rope::RopeError,
    },
    /// The line has no length.
    #[error("rope '{name}': shape: is {length} m long, but must have a positive length")]
    NoLength {
        /// Name of the rope.
        name: String,
        /// Its length [m].
        length: f64,
    },
    /// A pin is refused.
    #[error("rope '{name}': pins[{pin}]: {source}")]
    Pin {
        /// Name of the rope.
        name: String,
        /// Index of the pin.
        pin: usize,
        /// Why.
        source: PinError,
    },
    /// The turn of an end is refused.
    #[error("rope '{name}': pins[{pin}].turns: {source}")]
    Turns {
        /// Name of the rope.
        name: String,
        /// Index of the pin.
        pin: usize,
        /// Why.
        source: TwistPinError,
    },
    /// No vertex is near the point of a pin.
    #[error(
        "rope '{name}': pins[{pin}].at.point: {point:?} m is {distance} m from the nearest vertex, {vertex}; must be within {limit} m, half of a segment"
    )]
    NotNear {
        /// Name of the rope.
        name: String,
        /// Index of the pin.
        pin: usize,
        /// The point (m, the rope's own frame).
        point: [f64; 3],
        /// The nearest vertex.
        vertex: usize,
        /// Its distance [m].
        distance: f64,
        /// The largest allowed [m].
        limit: f64,
    },
}

/// Straight pieces in which a helix is measured, for each turn.
const PIECES_PER_TURN: f64 = 720.0;

/// Most of these.
const MOST_PIECES: f64 = 1e6;

impl RopeShape {
    /// Length of the line \[m\].
    pub fn length(&self) -> f64 {
        match self {
            Self::Line { from, to } => (Vector3::from(*to) - Vector3::from(*from)).norm(),
            Self::Polyline { points } => {
                points.windows(2).map(|pair| (Vector3::from(pair[1]) - Vector3::from(pair[0])).norm()).sum()
            }
            Self::Helix { radius, pitch, turns } => {
                turns.abs() * (core::f64::consts::TAU * radius).hypot(*pitch)
            }
        }
    }

    /// The line as points, in the rope's own frame \[m\].
    fn line(&self) -> Vec<Vector3<f64>> {
        match self {
            Self::Line { from, to } => vec![(*from).into(), (*to).into()],
            Self::Polyline { points } => points.iter().map(|x| (*x).into()).collect(),
            Self::Helix { radius, pitch, turns } => {
                let pieces = (turns.abs() * PIECES_PER_TURN).ceil().clamp(1.0, MOST_PIECES);
                (0..=pieces as usize)
                    .map(|k| {
                        let turn = turns * k as f64 / pieces;
                        let (sin, cos) = (core::f64::consts::TAU * turn).sin_cos();
                        Vector3::new(radius * cos, radius * sin, pitch * (turn.abs() - 0.5 * turns.abs()))
                    })
                    .collect()
            }
        }
    }
}

/// `segments` + 1 points at equal distances along a line of points \[m\], the first and the last of which stay.
fn divided(line: &[Vector3<f64>], segments: usize) -> Vec<Vector3<f64>> {
    let lengths: Vec<f64> = line.windows(2).map(|pair| (pair[1] - pair[0]).norm()).collect();
    let whole: f64 = lengths.iter().sum();
    let (mut piece, mut before) = (0, 0.0);
    let mut points = Vec::with_capacity(segments + 1);
    for k in 0..=segments {
        let along = whole * k as f64 / segments as f64;
        while piece + 1 < lengths.len() && before + lengths[piece] < along {
            before += lengths[piece];
            piece += 1;
        }
        let part = if lengths[piece] > 0.0 { ((along - before) / lengths[piece]).min(1.0) } else { 0.0 };
        points.push(line[piece] + (line[piece + 1] - line[piece]) * part);
    }
    points
}

impl RopeSpec {
    /// Number of its segments in a grid of this spacing \[m\].
    pub fn segment_count(&self, grid_spacing: f64) -> f64 {
        match self.segments {
            AutoOr::Value(segments) => f64::from(segments),
            AutoOr::Auto => {
                let longest = LONGEST_SEGMENT * grid_spacing;
                let wanted = (0.5 * grid_spacing).max(2.0 * self.material.radius).min(longest);
                (self.shape.length() / wanted * (1.0 - 1e-9)).ceil().max(1.0)
            }
        }
    }

    /// Builds the rope in the world; `grid_spacing` is the scene's \[m\].
    ///
    /// # Errors
    /// [`RopeError`], with the rope's name: a line or a material that is not one of a rope for this grid, a
    /// pin without a vertex or on one that already has a pin.
    pub fn build(&self, grid_spacing: f64) -> Result<Rope, RopeError> {
        let name = || self.name.clone();
        let length = self.shape.length();
        if !(length > 0.0 && length.is_finite()) {
            return Err(RopeError::NoLength { name: name(), length });
        }
        let local = divided(&self.shape.line(), self.segment_count(grid_spacing) as usize);
        let pose = isometry(&self.pose);
        let mut rope = Rope {
            is_naturally_curved: self.naturally_curved,
            twist: self.twist,
            velocity: self.velocity.into(),
            ..Rope::new(
                local.iter().map(|x| (pose * Point3::from(*x)).coords).collect(),
                self.material.material(),
            )
        };
        for (at, pin) in self.pins.iter().enumerate() {
            self.hold(&mut rope, &local, (at, pin))?;
        }
        rope.check(grid_spacing).map_err(|source| RopeError::Rope { name: name(), source })?;
        Ok(rope)
    }

    /// Adds a pin.
    fn hold(
        &self,
        rope: &mut Rope,
        local: &[Vector3<f64>],
        (at, pin): (usize, &RopePin),
    ) -> Result<(), RopeError> {
        let name = || self.name.clone();
        let refused = |source| RopeError::Pin { name: name(), pin: at, source };
        let count = rope.vertices.len();
        let release = pin.release.unwrap_or(f64::INFINITY);
        let (vertices, segment) = match pin.at {
            RopePlace::Start { clamped } => (0..1 + usize::from(clamped), clamped.then_some(0)),
            RopePlace::End { clamped } => {
                (count - 1 - usize::from(clamped)..count, clamped.then_some(count - 2))
            }
            RopePlace::Vertex { vertex } => (vertex as usize..vertex as usize + 1, None),
            RopePlace::Nearest { point } => {
                let vertex = self.nearest(local, at, point)?;
                (vertex..vertex + 1, None)
            }
        };
        for vertex in vertices {
            let missing = refused(PinError::NoSuchVertex { vertex, count });
            let start = *rope.vertices.get(vertex).ok_or(missing)?;
            let keys = pin.keyframes.iter().map(|key| (key.time, start + Vector3::from(key.displacement)));
            let mut path: Vec<_> = keys.collect();
            if path.is_empty() {
                path.push((0.0, start));
            }
            rope.pins.push(Pin::new(vertex, path, release).map_err(refused)?);
        }
        Pin::check_all(&rope.pins, &rope.vertices).map_err(refused)?;
        if let Some(segment) = segment {
            let mut path: Vec<_> = pin.turns.iter().map(|key| (key.time, key.angle)).collect();
            if path.is_empty() {
                path.push((0.0, 0.0));
            }
            let refused = |source| RopeError::Turns { name: name(), pin: at, source };
            rope.twist_pins.push(TwistPin::new(segment, path, release).map_err(refused)?);
            TwistPin::check_all(&rope.twist_pins, count - 1).map_err(refused)?;
        }
        Ok(())
    }

    /// The vertex that is nearest to a point of pin number `pin`.
    fn nearest(&self, local: &[Vector3<f64>], pin: usize, point: [f64; 3]) -> Result<usize, RopeError> {
        let distances = local.iter().map(|x| (x - Vector3::from(point)).norm()).enumerate();
        let (vertex, distance) =
            distances.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best });
        let limit = 0.5 * self.shape.length() / (local.len() - 1) as f64;
        // A point half-way between two is near both, to rounding.
        if distance <= limit * (1.0 + 1e-9) {
            return Ok(vertex);
        }
        Err(RopeError::NotNear { name: self.name.clone(), pin, point, vertex, distance, limit })
    }
}

fn one() -> f64 {
    1.0
}

fn rubber_like() -> f64 {
    0.5
}

fn hemp() -> [u8; 3] {
    [176, 141, 87]
}
