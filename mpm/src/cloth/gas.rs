//! Gas in a closed sheet: a pressure on its faces.
//!
//! # Forces
//! A pressure p acts along the normal of a face in equal parts on its corners (a, b, c): p/6 (b - a) x
//! (c - a) on each. On a closed sheet these sum to no force and no moment, and the sum at a vertex is p
//! dV/dx, because the volume V = 1/6 sum of a . (b x c) is linear in each vertex. So the force is minus
//! the gradient of the gas's energy below, to rounding.
//!
//! # Laws
//! With V the enclosed volume and p the pressure above that around the sheet (gauge pressure):
//! - constant pressure: energy -p V, for a bag that is joined to a pump or a large tank;
//! - isothermal (Boyle's law): a fixed amount of gas, (p_a + p) V = (p_a + p_0) V_0, with the free
//!   energy F = -(p_a + p_0) V_0 ln(V / V_0) + p_a (V - V_0), whose second term is the work against the
//!   ambient pressure p_a (any text on thermodynamics).
//!
//! The isothermal law has no meaning for V <= 0, where a step could come to by its length. Below V_0 /
//! [`MOST_COMPRESSION`] the pressure therefore rises linearly, with the slope that it has there.
//!
//! # Largest substep
//! The pressure is that at the start of a substep. The second derivative of the energy is
//! -dp/dV g g^T less p H, with g and H the first and second derivatives of V. With masses m = rho t A
//! of the vertices, A a third of the area around each, the first term has the one frequency -dp/dV sum |g|^2 / m =
//! -dp/dV (area / (rho t)). The blocks of H are \[c - d\]x / 6 for an edge between faces with the other
//! corners c and d, so by Gershgorin's theorem its frequencies are at most |p| max of sum |c - d| / (6
//! m). To these squares comes that of a breathing membrane, 2 E / ((1 - nu) rho R^2) for a sphere of the
//! sheet's area, because a pressure that begins at once makes it breathe.
//!
//! A substep turns the sum of the three by at most [`LARGEST_PHASE`]. Explicit steps are stable to two
//! radians, which leaves room for stretch and for what a volume loses within a step. The bound is lower
//! because many substeps see this vibration: of phase x in a substep, its energy swings by 1 / (1 - x / 2).

use nalgebra::Vector3;

use super::mesh::ClothMesh;
use super::model::ClothMaterial;
use crate::material::{Elastic, MaterialError, unless, unless_positive};

/// Volume at which the gas is given over that below which its pressure rises linearly (no unit).
pub const MOST_COMPRESSION: f64 = 20.0;

/// Largest phase of the gas's fastest vibration in a substep \[rad\].
pub const LARGEST_PHASE: f64 = 0.35;

/// Volume over the area to the power 3/2 below which a sheet is flat: rounding of positions may then
/// decide which side is the inner one.
const FLAT: f64 = 1e-9;

/// Gas in a closed sheet. Gauge pressures are above that around the sheet, and below it where negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gas {
    /// Pressure that does not change with the volume.
    ConstantPressure {
        /// Gauge pressure \[Pa\].
        gauge_pressure: f64,
    },
    /// A fixed amount at constant temperature: absolute pressure times volume is constant.
    Isothermal {
        /// Gauge pressure at `volume` \[Pa\].
        gauge_pressure: f64,
        /// Absolute pressure around the sheet \[Pa\].
        ambient_pressure: f64,
        /// Volume at which the gas has `gauge_pressure`; that of the sheet at rest where absent
        /// \[m^3\].
        volume: Option<f64>,
    },
}

impl Gas {
    /// All figures that are out of range or not numbers.
    pub fn out_of_range(&self) -> impl Iterator<Item = MaterialError> {
        let figures = match *self {
            Self::ConstantPressure { gauge_pressure: p } => {
                [unless(p.is_finite(), "gauge_pressure", p, "Pa", "finite"), None, None]
            }
            Self::Isothermal { gauge_pressure: p, ambient_pressure: ambient, volume } => [
                unless(
                    p.is_finite() && (p > -ambient || ambient <= 0.0),
                    "gauge_pressure",
                    p,
                    "Pa",
                    "finite and above minus the ambient pressure: there is no less than a vacuum",
                ),
                unless_positive("ambient_pressure", ambient, "Pa"),
                volume.and_then(|volume| unless_positive("volume", volume, "m^3")),
            ],
        };
        figures.into_iter().flatten()
    }
}

/// Why a sheet cannot hold a gas.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GasError {
    /// A figure is out of range.
    #[error("gas.{0}")]
    Figure(#[from] MaterialError),
    /// The sheet has a boundary.
    #[error(
        "gas: the sheet is open: {open} of its {count} edges have only one face, the first between vertices {} and {}; gas needs a closed sheet",
        .edge[0], .edge[1]
    )]
    Open {
        /// Number of edges on a boundary.
        open: usize,
        /// Number of edges.
        count: usize,
        /// Vertices of the first of them.
        edge: [usize; 2],
    },
    /// The sheet has several parts, which would share one gas.
    #[error(
        "gas: the sheet has {parts} parts that share no edge; a gas is in one closed part, so make a cloth of each"
    )]
    Parts {
        /// Number of parts.
        parts: usize,
    },
    /// The sheet encloses nothing, or its normals point inwards.
    #[error(
        "gas: the sheet at rest encloses {volume} m^3, counted positive where normals point outwards; must be positive: turn the faces' orientation, or move its layers apart"
    )]
    NotAround {
        /// Volume \[m^3\].
        volume: f64,
    },
    /// The sheet at rest would compress the gas beyond the law's range.
    #[error(
        "gas.volume: {volume} m^3 is more than {MOST_COMPRESSION} times the {at_rest} m^3 of the sheet at rest, which would compress the gas beyond the law"
    )]
    TooMuch {
        /// Volume given \[m^3\].
        volume: f64,
        /// That of the sheet at rest \[m^3\].
        at_rest: f64,
    },
}

/// A [`Gas`] in a sheet: its law and what limits the substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GasModel {
    law: Law,
    /// Sum of |dV/dx|^2 / m at rest: area over mass per area \[m^4/kg\].
    breathing: f64,
    /// Largest sum of |c - d| / (6 m) at a vertex at rest \[m/kg\].
    turning: f64,
    /// Square of the frequency of a breathing membrane \[1/s^2\].
    membrane: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// Gauge pressure \[Pa\].
    Constant(f64),
    Isothermal {
        /// Absolute pressure around the sheet \[Pa\].
        ambient: f64,
        /// Absolute pressure of the gas at `volume` \[Pa\].
        pressure: f64,
        /// \[m^3\]
        volume: f64,
    },
}

impl GasModel {
    /// Gas in a sheet of valid material.
    ///
    /// # Errors
    /// A figure out of range; a sheet that is open, in several parts, or encloses no positive volume at
    /// rest; an amount that the sheet at rest compresses too much.
    pub fn new(gas: &Gas, mesh: &ClothMesh, material: &ClothMaterial) -> Result<Self, GasError> {
        if let Some(figure) = gas.out_of_range().next() {
            return Err(figure.into());
        }
        check_closed(mesh)?;
        let at_rest = enclosed_volume(mesh.faces(), mesh.vertices());
        let area: f64 = (0..mesh.faces().len()).map(|face| mesh.area(face)).sum();
        if at_rest.is_nan() || at_rest <= FLAT * area.powf(1.5) {
            return Err(GasError::NotAround { volume: at_rest });
        }
        let law = match *gas {
            Gas::ConstantPressure { gauge_pressure } => Law::Constant(gauge_pressure),
            Gas::Isothermal { gauge_pressure, ambient_pressure: ambient, volume } => {
                let volume = volume.unwrap_or(at_rest);
                if volume > MOST_COMPRESSION * at_rest {
                    return Err(GasError::TooMuch { volume, at_rest });
                }
                Law::Isothermal { ambient, pressure: ambient + gauge_pressure, volume }
            }
        };
        let per_area = material.density * material.thickness;
        let Elastic { youngs_modulus, poissons_ratio } = material.elastic;
        let biaxial = match &material.weave {
            None => 2.0 * youngs_modulus / ((1.0 - poissons_ratio) * material.density),
            Some(weave) => {
                let [c11, c12, c22] = weave.plane_stiffness(&material.elastic);
                (c11 + 2.0 * c12 + c22) / material.density
            }
        };
        Ok(Self {
            law,
            breathing: area / per_area,
            turning: turning(mesh) / per_area,
            membrane: biaxial * 4.0 * core::f64::consts::PI / area,
        })
    }

    /// Pressure above that around the sheet, for an enclosed `volume` \[m^3\] \[Pa\].
    pub fn gauge_pressure(&self, volume: f64) -> f64 {
        match self.law {
            Law::Constant(pressure) => pressure,
            Law::Isothermal { ambient, pressure, volume: reference } => {
                let ratio = volume / reference;
                let least = 1.0 / MOST_COMPRESSION;
                let relative = if ratio >= least { 1.0 / ratio } else { (2.0 - ratio / least) / least };
                pressure * relative - ambient
            }
        }
    }

    /// Energy for an enclosed `volume` \[m^3\]: of constant pressure zero at no volume, of an isothermal
    /// gas zero at the volume that it is given at \[J\].
    pub fn energy(&self, volume: f64) -> f64 {
        match self.law {
            Law::Constant(pressure) => -pressure * volume,
            Law::Isothermal { ambient, pressure, volume: reference } => {
                let ratio = volume / reference;
                let least = 1.0 / MOST_COMPRESSION;
                // Minus the integral of the relative pressure from 1.
                let work = if ratio >= least {
                    -ratio.ln()
                } else {
                    let below = ratio / least - 1.0;
                    -least.ln() - below + 0.5 * below * below
                };
                (pressure * work + ambient * (ratio - 1.0)) * reference
            }
        }
    }

    /// Largest substep at an enclosed `volume` \[m^3\], see the [module](self) \[s\].
    pub fn largest_substep(&self, volume: f64) -> f64 {
        let stiffness = match self.law {
            Law::Constant(_) => 0.0,
            Law::Isothermal { pressure, volume: reference, .. } => {
                let ratio = (volume / reference).max(1.0 / MOST_COMPRESSION);
                pressure / (reference * ratio * ratio)
            }
        };
        let squared =
            stiffness * self.breathing + self.gauge_pressure(volume).abs() * self.turning + self.membrane;
        LARGEST_PHASE / squared.sqrt()
    }
}

/// Volume within the faces of a closed surface, positive where normals point outwards, about the first
/// vertex: far from the origin nothing is lost \[m^3\].
pub fn enclosed_volume(faces: &[[usize; 3]], vertices: &[Vector3<f64>]) -> f64 {
    let Some(origin) = vertices.first() else { return 0.0 };
    let of = |corners: &[usize; 3]| {
        let [a, b, c] = corners.map(|vertex| vertices[vertex] - origin);
        a.dot(&b.cross(&c))
    };
    faces.iter().map(of).sum::<f64>() / 6.0
}

/// Area vector of a face over three: the force on each corner over the pressure \[m^2\].
pub fn corner_area([a, b, c]: [Vector3<f64>; 3]) -> Vector3<f64> {
    (b - a).cross(&(c - a)) / 6.0
}

/// One part without a boundary.
fn check_closed(mesh: &ClothMesh) -> Result<(), GasError> {
    let mut open = mesh.edges().iter().filter(|edge| edge.other.is_none());
    if let Some(first) = open.next() {
        let (open, count) = (1 + open.count(), mesh.edges().len());
        return Err(GasError::Open { open, count, edge: first.vertices });
    }
    let parts = parts(mesh);
    if parts == 1 { Ok(()) } else { Err(GasError::Parts { parts }) }
}

/// Number of parts that are connected over edges.
fn parts(mesh: &ClothMesh) -> usize {
    let count = mesh.faces().len();
    let mut neighbours = vec![Vec::with_capacity(3); count];
    for edge in mesh.edges() {
        if let Some((other, _)) = edge.other {
            neighbours[edge.face].push(other);
            neighbours[other].push(edge.face);
        }
    }
    let (mut seen, mut parts, mut ahead) = (vec![false; count], 0, Vec::new());
    for face in 0..count {
        if !core::mem::replace(&mut seen[face], true) {
            parts += 1;
            ahead.push(face);
        }
        while let Some(face) = ahead.pop() {
            for &next in &neighbours[face] {
                if !core::mem::replace(&mut seen[next], true) {
                    ahead.push(next);
                }
            }
        }
    }
    parts
}

/// Largest sum of |c - d| / (6 A) over the edges of a vertex, A a third of the area around it \[1/m\].
fn turning(mesh: &ClothMesh) -> f64 {
    let (mut sums, mut areas) = (vec![0.0; mesh.vertices().len()], vec![0.0; mesh.vertices().len()]);
    for (face, corners) in mesh.faces().iter().enumerate() {
        corners.iter().for_each(|&vertex| areas[vertex] += mesh.area(face) / 3.0);
    }
    for edge in mesh.edges() {
        if let Some((_, opposite)) = edge.other {
            let apart = (mesh.vertices()[edge.opposite] - mesh.vertices()[opposite]).norm();
            edge.vertices.iter().for_each(|&vertex| sums[vertex] += apart / 6.0);
        }
    }
    sums.iter().zip(&areas).map(|(sum, area)| sum / area).fold(0.0, f64::max)
}
