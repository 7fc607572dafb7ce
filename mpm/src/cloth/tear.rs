//! Tearing: a face that is pulled beyond its strength softens, lets go, and leaves a hole.
//!
//! # Law
//! Let T_1 be the largest principal Biot stress in the plane that the whole fabric would have
//! ([`super::model`], [`super::yarns`]), times thickness the force across a line per length of it \[N/m\],
//! and r the largest T_1 so far over the strength. Beyond r = 1 all stresses of the face, and its
//! energy, are those of the whole fabric times
//!
//! w = (r_f / r - 1) / (r_f - 1),
//!
//! so that in tension the stress falls along a straight line, from the strength to zero at r_f times the
//! stretch of the strength. There the face has torn: nothing is left of it but its particle.
//!
//! # Energy
//! A tear takes a fixed energy per length, whatever the size of the faces (the crack band of Bazant and
//! Oh 1983, "Crack band theory for fracture of concrete"): of a face whose width at rest along the
//! direction of T_1 is b, G / b an area. Softening takes the integral of psi (-dw), which with psi = psi_0
//! r^2 is psi_0 r_f. So r_f = G / (b t psi_0), t the thickness, psi_0 the energy per volume of the whole
//! face in its plane at r = 1, from its state as it begins to soften.
//!
//! A face with r_f <= 1 stores more than that before it begins to soften, and tears at once. Sheets
//! where that holds in tension along the warp or the weft are refused ([`TearingError`]): they would
//! take more energy than they should, the more the larger the faces.
//!
//! # What is left out
//! The strength is the same in all directions. Softening does not depend on time. A tear runs along
//! faces, and is as wide as they are.

use super::mesh::ClothMesh;
use super::model::{ClothMaterial, TINY};
use super::tearing::Tearing;
use pliant_numeric::scalar::Real;

/// Why a sheet cannot tear as it is asked to.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TearingError {
    /// Faces store more energy than a tear is to take.
    #[error(
        "tearing.energy: {energy} J/m must be more than {least} J/m, strength^2 x {edge} m / (2 E thickness) with the longest edge: a face of this size stores that much before it breaks; use a finer mesh"
    )]
    Brittle {
        /// That of the material \[J/m\].
        energy: f64,
        /// The least that the mesh can show \[J/m\].
        least: f64,
        /// Length of its longest edge \[m\].
        edge: f64,
    },
    /// Rounding would tear it.
    #[error(
        "tearing.strength: {strength} N/m must be at least {least} N/m, 1e-4 E thickness: positions are rounded to strains \
         of 1e-5"
    )]
    Weak {
        /// That of the material \[N/m\].
        strength: f64,
        /// The least that it may be \[N/m\].
        least: f64,
    },
    /// It holds gas.
    #[error("tearing: a sheet that holds gas cannot tear")]
    Gas,
}

impl TearingError {
    /// Checks how a sheet of this (valid) material is to tear against its mesh.
    ///
    /// # Errors
    /// [`TearingError::Weak`], [`TearingError::Brittle`].
    pub fn check(mesh: &ClothMesh, material: &ClothMaterial) -> Result<(), Self> {
        let Some(Tearing { strength, energy }) = material.tearing else { return Ok(()) };
        let along = |edge: &super::Edge| {
            let [a, b] = edge.vertices.map(|v| mesh.vertices()[v]);
            (b - a).norm()
        };
        let edge = mesh.edges().iter().map(along).fold(0.0, f64::max);
        let warp = material.elastic.youngs_modulus;
        let weft = material.weave.map_or(warp, |weave| weave.weft_youngs_modulus);
        let least = LEAST_STRAIN * warp.max(weft) * material.thickness;
        if strength < least {
            return Err(Self::Weak { strength, least });
        }
        let modulus = warp.min(weft);
        let least = strength.powi(2) * edge / (2.0 * modulus * material.thickness);
        if energy > least { Ok(()) } else { Err(Self::Brittle { energy, least, edge }) }
    }
}

/// Least strain at which a fabric may begin to tear (no unit): ten times that to which positions are
/// rounded in the smallest faces ([`super::mesh::SMALLEST_ALTITUDE`]).
const LEAST_STRAIN: f64 = 1e-4;

/// Largest r_f (no unit): beyond, stresses stay at the strength all the same.
const LARGEST_END: f64 = 1e30;

/// [`Tearing`] as the kernels take it.
#[derive(Clone, Copy, Debug)]
pub struct TearingModel<T> {
    /// Strength \[Pa\].
    pub strength: T,
    /// Energy per area of the tear, over the unit in which faces are measured \[J/m^3\].
    pub energy: T,
}

/// How far a face has torn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tear<T> {
    /// Largest stress so far over the strength r, at least 1 (no unit).
    pub reached: T,
    /// That at which it has torn r_f; 0 before it begins to soften (no unit).
    pub end: T,
}

impl<T: Real> Tear<T> {
    /// Of a whole face.
    #[inline(always)]
    pub fn none() -> Self {
        Self { reached: T::one(), end: T::zero() }
    }

    /// What is left of the face's stresses w: 1 where it is whole, exactly 0 where it has torn.
    #[inline(always)]
    pub fn left(&self) -> T {
        let one = T::one();
        let left = (self.end / self.reached - one) / (self.end - one).max(T::splat(TINY));
        // A face that tears at once has an end below what it has reached.
        let left = T::select(self.reached.lt(self.end), left.min(one), T::zero());
        T::select(one.lt(self.reached), left, one)
    }

    /// Energy per rest volume \[J/m^3\] that this takes from a face that had torn as far as `before`; the
    /// whole face has this `density` now. It is the fall of w times the mean of that density and the one at which
    /// the face began to soften further: forces of the start of a step do so much less work than the stored
    /// energy grows by.
    #[inline(always)]
    pub fn lost(&self, before: &Self, density: T) -> T {
        let part = before.reached / self.reached;
        let half = T::splat(0.5);
        (before.left() - self.left()) * density * part.mul_add(half * part, half)
    }
}

impl<T: Real> TearingModel<T> {
    /// Rounds that of a (valid) material to this precision, for faces that are measured in `unit` \[m\];
    /// none without.
    #[inline(always)]
    pub fn new(material: &ClothMaterial, unit: f64) -> Option<Self> {
        let tearing = material.tearing.as_ref()?;
        let [strength, energy] = [tearing.strength, tearing.energy].map(|x| x / material.thickness);
        Some(Self { strength: T::splat(strength), energy: T::splat(energy / unit) })
    }

    /// How far a face has torn under a Biot stress (11, 12, 22 in its material frame \[Pa\]) with this
    /// energy in the plane \[J/m^3\], both of the whole fabric; `inverse_edges` are those at rest, 11, 12,
    /// 22 \[1 / unit\].
    #[inline(always)]
    pub fn advance(
        &self,
        [t11, t12, t22]: [T; 3],
        density: T,
        inverse_edges: [T; 3],
        tear: Tear<T>,
    ) -> Tear<T> {
        let (zero, one, half) = (T::zero(), T::one(), T::splat(0.5));
        let (mean, deviation) = (half * (t11 + t22), half * (t11 - t22));
        let radius = deviation.mul_add(deviation, t12 * t12).sqrt();
        let load = (mean + radius) / self.strength;
        // The principal direction, from the half of the circle where it is not a difference.
        let first = zero.le(deviation);
        let direction =
            [T::select(first, radius + deviation, t12), T::select(first, t12, radius - deviation)];
        let energy = self.energy / width(direction, inverse_edges).max(T::splat(TINY));
        let begins = one.lt(load) & !zero.lt(tear.end);
        let end = energy * load * load / density.max(T::splat(TINY));
        Tear {
            reached: tear.reached.max(load),
            // Not zero, which is that of a face that does not soften yet.
            end: T::select(begins, end.max(T::splat(TINY)).min(T::splat(LARGEST_END)), tear.end),
        }
    }
}

/// Width of a face at rest along a direction of any length in its material frame \[unit\]; where the
/// direction is zero, along the first edge.
#[inline(always)]
fn width<T: Real>([x, y]: [T; 2], [m11, m12, m22]: [T; 3]) -> T {
    let (zero, one) = (T::zero(), T::one());
    let length = x.mul_add(x, y * y).sqrt();
    let is_known = T::splat(TINY).lt(length);
    let scale = one / length.max(T::splat(TINY));
    let (x, y) = (T::select(is_known, x * scale, one), T::select(is_known, y * scale, zero));
    // The edges at rest are the columns of the inverse.
    let first = x / m11;
    let second = (y - x * m12 / m11) / m22;
    first.max(second).max(zero) - first.min(second).min(zero)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloth::ClothModel;
    use crate::cloth::model::{Polar, Qr};
    use crate::material::Elastic;
    use nalgebra::{Matrix2, Vector2};
    use pliant_numeric::linalg::Vec3;
    use pliant_testing::random::Random;

    /// Width of a triangle with these edges (from one corner) along a direction.
    fn width_of(edges: [Vector2<f64>; 2], direction: Vector2<f64>) -> f64 {
        let along = [0.0, edges[0].dot(&direction), edges[1].dot(&direction)];
        along.iter().fold(f64::MIN, |a, b| a.max(*b)) - along.iter().fold(f64::MAX, |a, b| a.min(*b))
    }

    /// A face that is stretched steadily in any direction until it has torn takes G an area of its tear,
    /// which is its area over its width along the pull: G / (b t) a volume. Its stress never exceeds the
    /// strength and falls once it does. In f64 and random figures: to the second order of the stretch at
    /// which it softens.
    #[test]
    fn tearing_takes_its_energy() {
        let mut random = Random(91);
        for case in 0..200 {
            let mut size = |decades: f64| 10_f64.powf(decades * (random.unit() - 0.5));
            let (modulus, thickness, strain) = (1e5 * size(4.0), 1e-3 * size(2.0), 1e-3 * size(1.0));
            let edges = [Vector2::new(0.01 * size(1.0), 0.0), Vector2::new(0.0, 0.01 * size(1.0))];
            let edges = [edges[0], edges[1] + Vector2::x() * 0.01 * (random.unit() - 0.5)];
            let angle = core::f64::consts::TAU * random.unit();
            let direction = Vector2::new(angle.cos(), angle.sin());
            let width = width_of(edges, direction);
            // Softening ends at 1.5 to 20 times the stretch at the strength.
            let end = 1.5 + 18.5 * random.unit();
            let strength = modulus * strain * thickness;
            let energy = end * width * strength * strain / 2.0;
            let elastic = Elastic { youngs_modulus: modulus, poissons_ratio: 0.0 };
            let material = ClothMaterial {
                tearing: Some(Tearing { strength, energy }),
                ..ClothMaterial::new(300.0, elastic, thickness, 0.0)
            };
            let model = ClothModel::<f64>::new(&material);
            let law = TearingModel::<f64>::new(&material, 1.0).unwrap();
            let inverse = Matrix2::from_columns(&edges).try_inverse().unwrap();
            let inverse = [inverse.m11, inverse.m12, inverse.m22];
            let (mut tear, mut taken, mut most) = (Tear::none(), 0.0, 0.0_f64);
            let steps = 4000;
            for step in 0..=steps {
                let stretch = 1.02 * end * strain * f64::from(step) / f64::from(steps);
                let f = Matrix2::identity() + stretch * direction * direction.transpose();
                let column = |k: usize| Vec3([f[(0, k)], f[(1, k)], 0.0]);
                let qr = Qr::new(&[column(0), column(1), Vec3([0.0, 0.0, 1.0])]);
                let (biot, density) = (model.biot(&Polar::new(&qr)), model.energy_density(&qr));
                let before = tear;
                tear = law.advance(biot, density, inverse, tear);
                taken += tear.lost(&before, density);
                most = most.max(tear.left() * modulus * stretch * thickness / strength);
            }
            let asked = energy / (width * thickness);
            println!("case {case}: end {end:.2}, taken over asked {}, most {most}", taken / asked);
            assert_eq!(tear.left(), 0.0);
            assert!((taken / asked - 1.0).abs() < 0.01, "{taken} J/m^3, not {asked}");
            assert!((0.98..1.0 + 1e-9).contains(&most), "{most} of the strength");
        }
    }

    /// The least energy is that at which a face on its longest edge tears as soon as it softens.
    #[test]
    fn brittle_sheets_are_refused() {
        let mesh = ClothMesh::rectangle(
            nalgebra::Vector3::zeros(),
            nalgebra::Vector3::x() * 0.3,
            nalgebra::Vector3::y() * 0.4,
            [1, 1],
        )
        .unwrap();
        let elastic = Elastic { youngs_modulus: 1e6, poissons_ratio: 0.3 };
        let material = ClothMaterial::new(300.0, elastic, 1e-3, 0.0);
        // 100^2 x 0.5 / (2 x 1e3) = 2.5 J/m.
        let check = |energy| {
            let tearing = Some(Tearing { strength: 100.0, energy });
            TearingError::check(&mesh, &ClothMaterial { tearing, ..material })
        };
        assert_eq!(check(2.6), Ok(()));
        let refused = check(2.4).unwrap_err();
        assert!(matches!(refused, TearingError::Brittle { least, .. } if (least - 2.5).abs() < 1e-12));
        assert!(refused.to_string().contains("2.4 J/m must be more than 2.5 J/m"), "{refused}");
        // 1e-4 x 1e6 x 1e-3 = 0.1 N/m.
        let check = |strength| {
            let tearing = Some(Tearing { strength, energy: 1.0 });
            TearingError::check(&mesh, &ClothMaterial { tearing, ..material })
        };
        assert_eq!(check(0.11), Ok(()));
        assert!(check(0.09).unwrap_err().to_string().contains("0.09 N/m must be at least 0.1"));
    }

    /// With more energy than numbers can tell, a face that is pulled beyond its strength keeps that stress.
    #[test]
    fn endless_energy_keeps_the_strength() {
        let elastic = Elastic { youngs_modulus: 1e6, poissons_ratio: 0.0 };
        for energy in [1e20, 1e60, 1e300] {
            let tearing = Some(Tearing { strength: 10.0, energy });
            let material = ClothMaterial { tearing, ..ClothMaterial::new(300.0, elastic, 1e-3, 0.0) };
            let law = TearingModel::<f32>::new(&material, 0.01).unwrap();
            // 2 and 5 times the strength, 1e4 Pa.
            for (load, density) in [(2.0, 200.0), (5.0, 1250.0)] {
                let tear = law.advance([1e4 * load, 0.0, 0.0], density, [1.0, 0.0, 1.0], Tear::none());
                assert!(
                    tear.end.is_finite() && (tear.left() * load - 1.0).abs() < 1e-6,
                    "{energy}: {tear:?}"
                );
            }
        }
    }
}
