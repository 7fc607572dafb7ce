//! A face's energy, stress and return mapping (Jiang, Gast and Teran 2017, sections 4 and 6).
//!
//! # Frames
//! A face at rest has a material frame of its own: e1 along its first edge, e2 in its plane, e3
//! along its normal, so that D = \[D1 D2 D3\] has its edges in the first two rows and D3 = e3 (no
//! unit; only its direction and relative length matter). Now the edges are d1, d2 \[m\] and the
//! director d3 (no unit), in the world frame, and F = d D^-1 has columns f1, f2 (the edges' part)
//! and f3 = d3.
//!
//! # QR
//! F = Q R by Gram-Schmidt: q1 along f1, q2 in the plane of f1 and f2, on f2's side, q3 = q1 x q2,
//! the normal of the face now. So Q is a rotation, r11 and r22 are never negative, and r33 = q3 .
//! d3 is negative where the director has gone through the face. A flip of a face within its own
//! plane is not detected: it opens on either side of a line.
//!
//! # Energy per rest volume
//! psi = mu |U - I|^2 + lambda/2 (r11 r22 - 1)^2 + K/3 (1 - r33)^3 \[r33 < 1\] + gamma/2 (r13^2 +
//! r23^2)
//!
//! with U the symmetric factor of the upper 2 x 2 of R: fixed corotated elasticity in the plane,
//! with lambda of plane stress (see [`crate::cloth`]), the normal response f' = -K (1 - r33)^2, and
//! shear against layers on the sheet.
//!
//! What presses back is r33 f' (Kirchhoff stress). By the cubic it is at most 4 K / 27, at r33 = 1/3, and nothing
//! in the end: a sheet that bears more collapses, and gives nothing back. So from r33 = 1/2 down, where it is K /
//! 8, it goes on with the slope over ln r33 that it has there,
//!
//! r33 f' = -K/8 (1 + L), L = -ln(2 r33); the energy is K/24 + K/8 (L + L^2 / 2).
//!
//! The stiffness over ln r33 is then nowhere more than the cubic's, K/4. Below r33 = 1/20 f' is
//! constant.
//!
//! # Stress
//! dR follows from Q^T dF R^-1, whose lower triangle is the rotation of Q, so tau = P F^T = Q S Q^T
//! with S the symmetric matrix that has the upper triangle of (d psi / d R) R^T. Solved for P =
//! \[p1 p2 p3\], with r = (r13, r23), P2 the plane's stress and R2 the upper 2 x 2 of R:
//!
//! Q^T \[p1 p2\] = \[P2; (gamma r33 - f') r^T R2^-T\], Q^T p3 = (gamma r13, gamma r23, f').
//!
//! # Return mapping
//! The traction on the sheet's plane is r33 p3, so Coulomb's law is gamma |r| <= c_F |f'|: beyond
//! it r is shortened. Apart (r33 > 1) r33 becomes 1 and r zero. Without shear stiffness
//! (the default) r is always zero: the director is along the normal, and layers slide with the
//! numerical friction of the grid.
//!
//! Faces of a crumpled sheet collapse and turn over. Two more rules keep the energy of such a face
//! from growing; both are ours:
//! - Where a face turns over in its plane, q3 and with it r33 change their sign from one substep to
//!   the next. r33 becomes |r33|: the director stays on the side of the normal, and the energy of
//!   the normal response is continuous. Otherwise it would jump.
//! - y = R2^-1 r, the director's part in the plane carried back to rest, is in the force that turns
//!   the face, (gamma r33 - f') y. With r kept it has no bound as the face collapses. r is shortened
//!   to |y| <= 1 and |f' y| <= K.
//!
//! All rules only take energy away.

use super::bending_friction::BendingFriction;
use super::tearing::Tearing;
use super::weave::Weave;
use crate::material::{Elastic, MaterialError, unless, unless_positive};
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Real;
use serde::{Deserialize, Serialize};

/// Material of a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClothMaterial {
    /// Mass per rest volume \[kg/m^3\]; times `thickness` it is that of an area.
    pub density: f64,
    /// Elasticity in the plane: `youngs_modulus` is that of a strip in tension.
    pub elastic: Elastic,
    /// Thickness \[m\]; the grid spacing in the published scenes.
    pub thickness: f64,
    /// Normal stiffness K \[Pa\], published 1e5 to 4e5.
    pub normal_stiffness: f64,
    /// Stiffness gamma against shear of layers on the sheet \[Pa\].
    #[serde(default)]
    pub shear_stiffness: f64,
    /// Coefficient c_F of that shear's friction cone (no unit); without `shear_stiffness` it has no
    /// effect.
    #[serde(default)]
    pub friction: f64,
    /// Bending stiffness [N m]: moment per width over curvature, see [`crate::cloth::bending`].
    #[serde(default)]
    pub bending_stiffness: f64,
    /// Friction within the fabric as it bends; none is an elastic one.
    #[serde(default)]
    pub bending_friction: Option<BendingFriction>,
    /// Part V of the symmetric velocity gradient that a substep keeps (no unit), C <- (V+1)/2 C +
    /// (V-1)/2 C^T: 1 is no damping; published values 0.8 (folding) and 0.2 (bagging).
    #[serde(default = "undamped")]
    pub damping: f64,
    /// Stiffness by direction of a woven fabric; none is an isotropic one. With it `elastic` and
    /// `bending_stiffness` are those along the warp.
    #[serde(default)]
    pub weave: Option<Weave>,
    /// How it tears; none never does.
    #[serde(default)]
    pub tearing: Option<Tearing>,
}

fn undamped() -> f64 {
    1.0
}

impl ClothMaterial {
    /// Elastic, without shear, bending and damping: density \[kg/m^3\], thickness \[m\], normal
    /// stiffness \[Pa\].
    pub fn new(density: f64, elastic: Elastic, thickness: f64, normal_stiffness: f64) -> Self {
        Self {
            density,
            elastic,
            thickness,
            normal_stiffness,
            shear_stiffness: 0.0,
            friction: 0.0,
            bending_stiffness: 0.0,
            bending_friction: None,
            damping: undamped(),
            weave: None,
            tearing: None,
        }
    }

    /// First Lame parameter of plane stress \[Pa\]: E nu / (1 - nu^2); C_12 of a woven fabric.
    pub fn plane_lambda(&self) -> f64 {
        let Elastic { youngs_modulus, poissons_ratio: nu } = self.elastic;
        match self.weave {
            None => youngs_modulus * nu / (1.0 - nu * nu),
            Some(weave) => weave.plane_stiffness(&self.elastic)[1],
        }
    }

    /// Shear modulus in the plane \[Pa\]; of a woven fabric that between warp and weft.
    pub fn plane_shear_modulus(&self) -> f64 {
        self.weave.map_or_else(|| self.elastic.shear_modulus(), |weave| weave.shear_modulus)
    }

    /// Stiffnesses in bending \[N m\]: along the warp, along the weft, against twist. The same
    /// without a weave.
    pub fn bending_stiffnesses(&self) -> [f64; 3] {
        match self.weave {
            None => [self.bending_stiffness; 3],
            Some(weave) => [self.bending_stiffness, weave.weft_bending_stiffness, weave.twist_stiffness],
        }
    }

    /// The largest of them, with that of friction before it slips \[N m\].
    pub fn largest_bending_stiffness(&self) -> f64 {
        let friction = self.bending_friction.map_or(0.0, |friction| friction.stiffness());
        self.bending_stiffnesses().into_iter().fold(0.0, f64::max) + friction
    }

    /// Speed of the fastest wave in the plane at small strain [m/s]: sqrt(E / ((1 - nu^2) rho)). In
    /// a woven fabric it runs along the stiffer yarns; with friction in shear this is a bound.
    pub fn wave_speed(&self) -> f64 {
        let isotropic = self.plane_lambda() + 2.0 * self.plane_shear_modulus();
        let stiffness = self.weave.map_or(isotropic, |weave| {
            let [warp, weft] = weave.yarn_stiffness(&self.elastic);
            isotropic + warp.max(weft) + weave.shear_friction.map_or(0.0, |friction| friction.modulus())
        });
        (stiffness / self.density).sqrt()
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// Names the first that is out of range or not a number, with its value and unit.
    pub fn validate(&self) -> Result<(), MaterialError> {
        self.out_of_range().next().map_or(Ok(()), Err)
    }

    /// All parameters that are out of range or not numbers.
    pub fn out_of_range(&self) -> impl Iterator<Item = MaterialError> {
        let not_negative = |field, value: f64, unit| {
            unless(value >= 0.0 && value.is_finite(), field, value, unit, "finite and not negative")
        };
        let v = self.damping;
        let others = [
            unless_positive("thickness", self.thickness, "m"),
            not_negative("normal_stiffness", self.normal_stiffness, "Pa"),
            not_negative("shear_stiffness", self.shear_stiffness, "Pa"),
            not_negative("friction", self.friction, ""),
            not_negative("bending_stiffness", self.bending_stiffness, "N m"),
            unless((0.0..=1.0).contains(&v), "damping", v, "", "in [0, 1]"),
        ];
        let density = unless_positive("density", self.density, "kg/m^3");
        let woven = self.weave.map(|weave| weave.out_of_range(&self.elastic));
        let isotropic = density.into_iter().chain(self.elastic.out_of_range());
        let friction = self.bending_friction.map(|friction| friction.out_of_range());
        let tearing = self.tearing.map(|tearing| tearing.out_of_range());
        let others = others.into_iter().chain(friction.into_iter().flatten().map(Some));
        let others = others.chain(tearing.into_iter().flatten()).flatten();
        isotropic.chain(others).chain(woven.into_iter().flatten())
    }
}

/// [`ClothMaterial`] as the kernels take it; the yarns of a woven fabric are apart
/// ([`YarnModel`](super::yarns::YarnModel)).
#[derive(Clone, Copy, Debug)]
pub struct ClothModel<T> {
    /// Shear modulus mu \[Pa\].
    pub mu: T,
    /// First Lame parameter of plane stress \[Pa\].
    pub lambda: T,
    /// Normal stiffness K \[Pa\].
    pub normal_stiffness: T,
    /// Shear stiffness gamma \[Pa\].
    pub shear_stiffness: T,
    /// Friction coefficient c_F (no unit).
    pub friction: T,
}

/// F = Q R, see the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Qr<T> {
    /// Columns of Q: orthonormal, right-handed, world frame.
    pub q: [Vec3<T>; 3],
    /// Upper triangle r11, r12, r22 of the plane (no unit).
    pub plane: [T; 3],
    /// r13, r23 (no unit).
    pub shear: [T; 2],
    /// r33 (no unit).
    pub normal: T,
}

/// Length below which a direction is zero: its square is still a normal f32.
pub(super) const TINY: f64 = 1e-18;

/// r33 below which the normal response no longer grows (no unit).
pub(super) const THINNEST: f64 = 0.05;

impl<T: Real> Qr<T> {
    /// QR of the columns of F (no unit). A face that has collapsed to a line or a point gives zeros
    /// for the lost directions, never NaN.
    #[inline(always)]
    pub fn new(f: &[Vec3<T>; 3]) -> Self {
        let tiny = T::splat(TINY);
        let one = T::splat(1.0);
        let r11 = f[0].fused_norm_squared().sqrt();
        let q1 = f[0] * (one / r11.max(tiny));
        let along = q1.fused_dot(f[1]);
        let rest = q1.scale_add(-along, f[1]);
        // Twice: the rest is then orthogonal to rounding also where f2 is almost along f1 (Giraud
        // et al. 2005).
        let again = q1.fused_dot(rest);
        let rest = q1.scale_add(-again, rest);
        let r22 = rest.fused_norm_squared().sqrt();
        let q2 = rest * (one / r22.max(tiny));
        let q3 = q1.cross(q2);
        Self {
            q: [q1, q2, q3],
            plane: [r11, along + again, r22],
            shear: [q1.fused_dot(f[2]), q2.fused_dot(f[2])],
            normal: q3.fused_dot(f[2]),
        }
    }

    /// Q R.
    #[inline(always)]
    pub fn product(&self) -> [Vec3<T>; 3] {
        let [r11, r12, r22] = self.plane;
        [self.q[0] * r11, self.q[0].scale_add(r12, self.q[1] * r22), self.director()]
    }

    /// R2^-1 r of a part r in the plane, by back substitution (no unit).
    #[inline(always)]
    fn carried_back(&self, [r13, r23]: [T; 2]) -> [T; 2] {
        let tiny = T::splat(TINY);
        let [r11, r12, r22] = self.plane;
        let y2 = r23 / r22.max(tiny);
        [(r13 - r12 * y2) / r11.max(tiny), y2]
    }

    /// The third column of Q R: the director (no unit, world frame).
    #[inline(always)]
    pub fn director(&self) -> Vec3<T> {
        let in_plane = self.q[0].scale_add(self.shear[0], self.q[1] * self.shear[1]);
        self.q[2].scale_add(self.normal, in_plane)
    }
}

impl<T: Real> ClothModel<T> {
    /// Rounds the parameters of a (valid) material to this precision.
    #[inline(always)]
    pub fn new(material: &ClothMaterial) -> Self {
        Self {
            mu: T::splat(material.plane_shear_modulus()),
            lambda: T::splat(material.plane_lambda()),
            normal_stiffness: T::splat(material.normal_stiffness),
            shear_stiffness: T::splat(material.shear_stiffness),
            friction: T::splat(material.friction),
        }
    }

    /// The state with r33 in \[0, 1\], shear within the friction cone, |y| <= 1 and |f' y| <= K.
    #[inline(always)]
    pub fn return_mapping(&self, trial: &Qr<T>) -> Qr<T> {
        let (zero, one) = (T::splat(0.0), T::splat(1.0));
        let apart = trial.normal.abs();
        let normal = apart.min(one);
        let pressure = self.pressure(normal);
        let [r13, r23] = trial.shear;
        let shear = self.shear_stiffness * r13.mul_add(r13, r23 * r23).sqrt();
        let limit = self.friction * pressure;
        let slips = limit.lt(shear);
        let kept = T::select(slips, limit / shear.max(T::splat(TINY)), one);
        let holds = zero.lt(self.shear_stiffness) & apart.le(one);
        let kept = T::select(holds, kept, zero);
        let [y1, y2] = trial.carried_back([r13 * kept, r23 * kept]);
        let excess = (pressure / self.normal_stiffness.max(T::splat(TINY))).max(one);
        let kept = kept / (excess * y1.mul_add(y1, y2 * y2).sqrt()).max(one);
        Qr { shear: [r13 * kept, r23 * kept], normal, ..*trial }
    }

    /// 1 - r33, at most 1/2; L of the [module](self), zero above r33 = 1/2; and r33, at least [`THINNEST`].
    #[inline(always)]
    fn pressed(&self, normal: T) -> (T, T, T) {
        let (zero, half) = (T::splat(0.0), T::splat(0.5));
        let r33 = normal.max(T::splat(THINNEST));
        let compression = (T::splat(1.0) - r33.max(half)).max(zero);
        let beyond = -(r33 + r33).min(T::splat(1.0)).ln();
        (compression, beyond, r33)
    }

    /// -f' of the normal response \[Pa\].
    #[inline(always)]
    fn pressure(&self, normal: T) -> T {
        let (one, eighth) = (T::splat(1.0), T::splat(0.125));
        let (compression, beyond, r33) = self.pressed(normal);
        let linear = eighth * (one + beyond) / r33;
        let is_thin = r33.lt(T::splat(0.5));
        self.normal_stiffness * T::select(is_thin, linear, compression * compression)
    }

    /// f of the normal response \[J/m^3\].
    #[inline(always)]
    fn pressing_energy(&self, normal: T) -> T {
        let (compression, beyond, _) = self.pressed(normal);
        let cubic = T::splat(1.0 / 3.0) * compression * compression * compression;
        let linear = T::splat(0.125) * beyond * (T::splat(0.5) * beyond + T::splat(1.0));
        let thinner = (T::splat(THINNEST) - normal).max(T::splat(0.0));
        self.normal_stiffness * (cubic + linear) + self.pressure(normal) * thinner
    }

    /// Energy per rest volume \[J/m^3\]; zero at rest.
    #[inline(always)]
    pub fn energy_density(&self, qr: &Qr<T>) -> T {
        let (one, half) = (T::splat(1.0), T::splat(0.5));
        let [r11, r12, r22] = qr.plane;
        let [c, s] = Polar::new(qr).rotation;
        // |R2 - rotation|^2 is |U - I|^2.
        let [a, b, d] = [r11 - c, r12 + s, r22 - c];
        let strain = a.mul_add(a, b.mul_add(b, d.mul_add(d, s * s)));
        let area = r11 * r22 - one;
        let normal = self.pressing_energy(qr.normal);
        let [r13, r23] = qr.shear;
        let shear = half * self.shear_stiffness * r13.mul_add(r13, r23 * r23);
        self.mu * strain + half * self.lambda * area * area + normal + shear
    }

    /// Biot stress of the plane \[Pa\]: T = 2 mu (U - I) + lambda (det U - 1) (tr U I - U), entries
    /// 11, 12, 22 in the material frame.
    #[inline(always)]
    pub fn biot(&self, polar: &Polar<T>) -> [T; 3] {
        let one = T::splat(1.0);
        let two_mu = self.mu + self.mu;
        let [u11, u12, u22] = polar.stretch;
        let area = self.lambda * (polar.area - one);
        let across = (two_mu - area) * u12;
        [two_mu.mul_add(u11 - one, area * u22), across, two_mu.mul_add(u22 - one, area * u11)]
    }

    /// First Piola-Kirchhoff stress P = d psi / d F by columns \[Pa\]: rows in the world frame,
    /// columns in the material frame.
    #[inline(always)]
    pub fn first_piola(&self, qr: &Qr<T>) -> [Vec3<T>; 3] {
        let polar = Polar::new(qr);
        self.first_piola_with(qr, &polar, self.biot(&polar))
    }

    /// The same with another Biot stress in the plane, for instance a mean over time: see
    /// [`Polar::stress`].
    #[inline(always)]
    pub fn first_piola_with(&self, qr: &Qr<T>, polar: &Polar<T>, biot: [T; 3]) -> [Vec3<T>; 3] {
        let normal = -self.pressure(qr.normal);
        let [r13, r23] = qr.shear;
        let [y1, y2] = qr.carried_back(qr.shear);
        let turning = self.shear_stiffness * qr.normal - normal;
        let [p1, p2] = polar.plane_piola(qr, biot);
        let across = qr.q[2];
        let [s13, s23] = [self.shear_stiffness * r13, self.shear_stiffness * r23];
        [
            across.scale_add(turning * y1, p1),
            across.scale_add(turning * y2, p2),
            across.scale_add(normal, qr.q[0].scale_add(s13, qr.q[1] * s23)),
        ]
    }
}

/// Polar decomposition of the plane's R: R2 = \[c -s; s c\] U with U symmetric.
#[derive(Clone, Copy, Debug)]
pub struct Polar<T> {
    /// Cosine and sine: the direction of (r11 + r22, -r12).
    pub rotation: [T; 2],
    /// U: 11, 12, 22 (no unit).
    pub stretch: [T; 3],
    /// det U (no unit).
    pub area: T,
}

impl<T: Real> Polar<T> {
    /// Polar decomposition of a face. A collapsed face gives zeros, never NaN.
    #[inline(always)]
    pub fn new(qr: &Qr<T>) -> Self {
        let [r11, r12, r22] = qr.plane;
        let (c, s) = (r11 + r22, -r12);
        let scale = T::splat(1.0) / c.mul_add(c, s * s).sqrt().max(T::splat(TINY));
        let [c, s] = [c * scale, s * scale];
        Self { rotation: [c, s], stretch: [c * r11, -s * r11, c * r22 - s * r12], area: r11 * r22 }
    }

    /// The plane's part of p1 and p2, see [`ClothModel::first_piola`], of a Biot stress \[Pa\].
    #[inline(always)]
    pub fn plane_piola(&self, qr: &Qr<T>, biot: [T; 3]) -> [Vec3<T>; 2] {
        let [p11, p21, p12, p22] = self.stress(biot);
        let [q1, q2, _] = qr.q;
        [q1.scale_add(p11, q2 * p21), q1.scale_add(p12, q2 * p22)]
    }

    /// The plane's P2 by columns, 11, 21, 12, 22 \[Pa\]: rotation (T + a e), e = \[0 1; -1 0\], of
    /// a Biot stress T.
    ///
    /// A stress has no moment where P2 R2^T is symmetric, that is where (T + a e) U is: a =
    /// -\[T, U\]_12 / tr U. It is zero for the T of this U; for a mean of others it conserves
    /// angular momentum.
    #[inline(always)]
    pub fn stress(&self, [t11, t12, t22]: [T; 3]) -> [T; 4] {
        let [c, s] = self.rotation;
        let [u11, u12, u22] = self.stretch;
        let commutator = (t11 - t22).mul_add(u12, t12 * (u22 - u11));
        let a = -commutator / (u11 + u22).max(T::splat(TINY));
        let (above, below) = (t12 + a, t12 - a);
        [c * t11 - s * below, s.mul_add(t11, c * below), c * above - s * t22, s.mul_add(above, c * t22)]
    }
}
