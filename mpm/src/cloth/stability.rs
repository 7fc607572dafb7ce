//! The largest substep of a sheet, and the mean of its in-plane stress over substeps longer than
//! its waves allow.
//!
//! # Two kinds of stiffness
//! The stiffness across the sheet acts through the grid. The stiffness in its plane is that of a
//! mesh of finite elements, whose waves are three times as fast for the published sheets. A substep
//! that is stable for the former is too long for the latter; but steps of the mesh alone cost
//! little. So within a substep the mesh takes n steps of its own
//! over a time T, from where it is and *from rest*: y(0) = x, y'(0) = 0, M y'' = f(y) + M g, held
//! vertices staying, by leapfrog. The grid then gets
//!
//! f_T = sum_k w_k f(y_k) = 2 M (y(T) - x) / T^2 - M g, w_0 = 1 / n, w_k = 2 (n - k) / n^2,
//!
//! the force's mean over \[-T, T\] with weights that fall to zero at the ends. For a linear force
//! of frequency w it is f sin^2(w T / 2) / (w T / 2)^2: the substep x_{n+1} - 2 x_n + x_{n-1} = T^2
//! f_T / M then reproduces the motion exactly, and w T never exceeds the limit of stability
//! (Gautschi 1961; Hochbruck and Lubich 1999; with leapfrog inside these are leapfrog-Chebyshev
//! methods: Gilbert and Joly 2008; Carle, Hochbruck and Sturm 2020). Because it starts from rest,
//! it does not depend on the motion of the whole sheet. The grid damps velocities, which only helps
//! stability. A sheet that hangs at rest under gravity stays in the equilibrium of its mesh; under
//! other loads that vary within w T of a wave it yields more, by (w T / 2)^2 / sin^2(w T / 2):
//! shorter substeps resolve such loads.
//!
//! Not the forces are averaged but the Biot stresses, which are applied at x (see
//! [`Polar::stress`](super::model::Polar::stress)): to first order this is the same, and both
//! momenta are conserved to rounding. Forces of gas ([`super::gas`]) do not change within the steps
//! of the mesh: an inflated sheet at rest stays in its equilibrium too. The mesh's masses are those
//! of the vertices with a third of each adjacent centroid, because of the vertex-face constraints.
//! T is [`PERIODS`] times the length of the last substep; at the start nothing is averaged.

use super::model::ClothMaterial;
use super::sheet::Sheet;
use nalgebra::{Matrix3, SymmetricEigen, Vector3};

/// Courant number c of [`Stability::largest_substep`].
pub const COURANT_NUMBER: f64 = 0.7;

/// Largest phase of the mesh's fastest vibration in one of its own steps \[rad\]. Leapfrog allows 2
/// near rest; stretched by 1.3 in both directions, a fixed corotated sheet carries waves up to 1.3
/// times as fast.
pub const MESH_ANGLE: f64 = 1.4;

/// Largest travel of a wave in the plane in a substep \[h\]. Beyond, the mean stresses alone do not
/// keep a sheet stable: noise of 2 % of the waves' speed grew from 3.0 h on where edges are h long,
/// and a sheet that hung by two corners came apart at 3.2 h.
pub const MAX_WAVE_TRAVEL: f64 = 2.0;

/// Most steps of the mesh in a substep.
///
/// The mean stress of a vibration of phase w T has sin^2(w T / 2) / (w T / 2)^2 of its stiffness, which
/// is none at 2 pi: what strain of that shape there is stays, and grows. Four steps of [`MESH_ANGLE`]
/// are 5.6. Strips that hung by an end with edges of 0.5, 0.7 and 1 h were then off by up to 2 % of their
/// elongation with 10 rectangles, and up to 0.4 % with 20; with up to eight steps by 11 to 65 %.
pub const MAX_MESH_SUBSTEPS: usize = 4;

/// Most steps of the mesh in a substep that is longer than the largest.
pub const MOST_MESH_SUBSTEPS: usize = 16;

/// Ratio of the mesh's time T to the substep: with 1 the fastest vibrations are at the limit of
/// stability, with this value at (2 / 1.1)^2 / 4 = 0.83 of it.
pub const PERIODS: f64 = 1.1;

/// How much faster than at rest waves may be within the margins of the limits: those of a sheet that is
/// stretched by about 1.5 in one direction. Faster ones shorten the substep. Noise on 60 sheets that were
/// stretched at random by up to 4 did not grow with 1.95 in the plane either.
pub const SPEED_MARGIN: f64 = 1.5;

/// How far faces are stretched in their plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Largest principal stretch (no unit).
    pub length: f64,
    /// Largest area over that at rest (no unit).
    pub area: f64,
}

impl Stretch {
    /// At rest.
    pub const NONE: Self = Self { length: 1.0, area: 1.0 };

    /// The larger figures of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { length: self.length.max(other.length), area: self.area.max(other.area) }
    }

    /// From squares.
    pub(crate) fn of_squares([length, area]: [f64; 2]) -> Self {
        Self { length: length.sqrt(), area: area.sqrt() }
    }
}

/// How far a sheet is stretched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SheetStretch {
    /// The most of single faces, on which the frequencies of the mesh depend.
    pub faces: Stretch,
    /// The most of the root mean squares over the faces around a vertex, of those without a pin, on
    /// which the grid's waves depend: a node moves all faces within 1.5 spacings, and single ones
    /// that are stretched farther, as at a pin, carry no wave of their own.
    pub vertices: Stretch,
}

impl SheetStretch {
    /// At rest.
    pub const NONE: Self = Self::uniform(Stretch::NONE);

    /// Of a sheet whose faces are all stretched like this.
    pub const fn uniform(stretch: Stretch) -> Self {
        Self { faces: stretch, vertices: stretch }
    }
}

/// What limits the substeps of a sheet in a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stability {
    grid_spacing: f64,
    /// Speed of waves in the plane \[m/s\].
    plane: f64,
    /// Part of the square of that speed at rest that is not of lambda: 2 mu, and the yarns of a woven
    /// fabric, over that with lambda (no unit).
    shear_part: f64,
    /// Speed of waves across a sheet under tension \[m/s\].
    tension: f64,
    /// Speed of waves of the normal response, a bound, or the one whose error counts \[m/s\].
    normal: f64,
    /// Largest substep for bending \[s\].
    bending: f64,
    /// Bound on the frequencies of the mesh \[rad/s\].
    vibration: f64,
}

impl Stability {
    /// Limits of a (valid) sheet in a grid of spacing `grid_spacing` \[m\].
    pub fn new(sheet: &Sheet, grid_spacing: f64) -> Self {
        let material = &sheet.material;
        let per_bending = material.density * material.thickness / material.largest_bending_stiffness();
        let wave = grid_spacing / core::f64::consts::PI;
        let plane = material.wave_speed();
        let [normal, shear] = [material.normal_stiffness, material.shear_stiffness];
        let turning = 2.0 * (shear + 4.0 / 27.0 * normal);
        Self {
            grid_spacing,
            plane,
            shear_part: 1.0 - material.plane_lambda() / (material.density * plane * plane),
            tension: 0.0,
            normal: (normal.max(turning) / material.density).sqrt(),
            bending: per_bending.sqrt() * wave * wave,
            vibration: fastest_vibration(sheet),
        }
    }

    /// The limits of a sheet (given at rest) that is stretched. Of a fixed corotated sheet with
    /// principal stretches of at most s and areas of at most a times those at rest, around a vertex or,
    /// for the mesh, of a face:
    /// - waves in the plane have squared speeds c^2 of at most (2 mu s^2 + lambda a^2) / rho: as a wave
    ///   of direction n, now, has the direction M = F^T n / |F^T n| at rest, |F^T n| <= s, the second
    ///   derivative of the energy for a (x) M is at most 2 mu + lambda |cof(F) M|^2, and |cof(F) M|
    ///   |F^T n| = a;
    /// - waves across have c^2 = s P / rho <= (2 mu s (s - 1) + lambda a (a - 1)) / rho, P the tension;
    /// - of the mesh the squared frequencies grow at most as the second derivative in any direction
    ///   over that of a wave at rest, (2 mu + lambda (s^2 + |2 a - 1|)) / (2 mu + lambda);
    /// - angles between faces, and so the frequencies of bending, grow as s.
    ///
    /// Yarns of a woven fabric and their friction count like 2 mu: their second derivatives are at most
    /// their stiffness.
    ///
    /// The constants leave a margin of [`SPEED_MARGIN`] for all but tension, which sheets at rest have
    /// not. A negative lambda takes from no bound.
    #[must_use]
    pub fn stretched(&self, stretch: &SheetStretch) -> Self {
        let [(s, a), (longest, largest)] =
            [stretch.vertices, stretch.faces].map(|of| (of.length.max(1.0), of.area.max(1.0)));
        let (shear, volume) = (self.shear_part, (1.0 - self.shear_part).max(0.0));
        let beyond = |ratio: f64| (ratio / SPEED_MARGIN).max(1.0);
        let of_area = (1.0 - self.shear_part).abs() * (largest - 1.0);
        let mesh = shear.min(1.0) + volume * (longest * longest + largest) + of_area;
        Self {
            plane: self.plane * beyond((shear * s * s + volume * a * a).sqrt()),
            tension: self.plane * (shear * s * (s - 1.0) + volume * a * (a - 1.0)).sqrt(),
            bending: self.bending / beyond(s),
            vibration: self.vibration * beyond(mesh.sqrt()),
            ..*self
        }
    }

    /// Whether no face's stretch changes the limits, but for tension.
    pub(crate) fn keeps(&self, stretch: &Stretch) -> bool {
        let stretched = self.stretched(&SheetStretch::uniform(*stretch));
        Self { tension: self.tension, ..stretched } == *self && stretched.tension <= self.normal
    }

    /// Largest substep \[s\] for particles that move at up to `max_speed` [m/s]: the smallest of
    /// - c h / (c_n + `max_speed`), with c = 0.7 and rho c_n^2 the larger of K and 2 (gamma + 4 K / 27),
    ///   for the normal response, see below;
    /// - the same for the waves across a sheet under tension;
    /// - the same for the waves in the plane, or, if larger, the limit of the mesh's own steps:
    ///   [`MAX_WAVE_TRAVEL`] of these waves, and no more than [`MAX_MESH_SUBSTEPS`];
    /// - sqrt(rho t / B) (h / pi)^2, in which the phase of the grid's shortest bending wave changes
    ///   by one radian; B is the largest of the stiffnesses of a woven fabric.
    ///
    /// Measured on free sheets whose edges are 0.1 to 1.4 h long, without mean stresses: near rest
    /// energy first grows without bound at 1.0 to 1.25 h / c_s in the plane, between 0.6 and 0.8
    /// where it is stretched by 1.5, and at 3.5 to 8 radians of bending, from fine to coarse. The
    /// size of the faces hardly matters, because the grid carries no shorter waves than its own. So c
    /// leaves a margin for cloth stretched by up to about 1.3; farther, see [`Self::stretched`].
    ///
    /// The normal response. A velocity with the gradient G changes a director by (G dt) d3, and turns the
    /// normal of its face. By a gradient across the sheet of a velocity across it, the second derivative of the
    /// energy is r33^2 psi'' = 2 K (1 - r33) r33^2, at most 8 K / 27, and over ln r33 at most K / 4. By those
    /// that turn the director from the normal it is gamma r33^2 + |r33 f'| times the square of the sum of two
    /// entries of G: down to r33 = 1/2 at most 2 (gamma + 4 K / 27), below at most gamma / 2 + 0.83 K, to a
    /// thousandth no more than the larger of K and the former. Quadratic B-splines w have sum_i (dw_i / dx)^2 /
    /// w_i = 4 / h^2 wherever a particle is. So no frequency exceeds 2 / h times the root of these over rho
    /// (Irons and Treharne 1971), and leapfrog is stable up to h over that root, 1.84 h sqrt(rho / K) for the
    /// first.
    /// At 0.7 h sqrt(rho / K) a free sheet that is let go springs open with an energy that is off by up to
    /// 1.6 % from r33 = 0.95 and 10 % from 0.05 on, and by a fourth of that in half of the substep; at the
    /// limit of stability it would be twice as much as it had.
    pub fn largest_substep(&self, max_speed: f64) -> f64 {
        let within = |way: f64, speed: f64| way * self.grid_spacing / (speed + max_speed);
        let by_mesh = MAX_MESH_SUBSTEPS as f64 * MESH_ANGLE / (PERIODS * self.vibration);
        let in_plane =
            within(COURANT_NUMBER, self.plane).max(within(MAX_WAVE_TRAVEL, self.plane).min(by_mesh));
        let across = self.normal.max(self.tension);
        within(COURANT_NUMBER, across).min(in_plane).min(self.bending)
    }

    /// Steps that the mesh takes in a substep of `substep` \[s\], and their length \[s\]; a single
    /// one if the grid resolves its waves.
    pub fn mesh_substeps(&self, substep: f64) -> (usize, f64) {
        if substep * self.plane <= COURANT_NUMBER * self.grid_spacing {
            return (1, substep);
        }
        // Rounding must not add a step.
        let steps = (PERIODS * substep * self.vibration / MESH_ANGLE - 1e-9).ceil();
        let steps = steps.clamp(1.0, MOST_MESH_SUBSTEPS as f64);
        (steps as usize, PERIODS * substep / steps)
    }
}

/// Weights w_k of the stresses at the `steps` steps of the mesh.
pub fn weight(step: usize, steps: usize) -> f64 {
    let n = steps as f64;
    if step == 0 { 1.0 / n } else { 2.0 * (n - step as f64) / (n * n) }
}

/// Inverse mass of a mesh vertex, which includes a third of its centroids, relative to that of the
/// vertex particle: the particle has a quarter of each of its faces, and so has the centroid.
pub const MOBILITY: f64 = 0.75;

/// Bound on the frequencies of a sheet's mesh at rest [rad/s]: no frequency of a mesh exceeds the
/// highest frequency of its single elements (Irons and Treharne 1971).
fn fastest_vibration(sheet: &Sheet) -> f64 {
    let faces = 0..sheet.mesh.faces().len();
    // Checked sheets have them.
    let warps = sheet.warps().ok().flatten();
    let warp = |face: usize| warps.as_ref().map(|warps| warps[face]);
    faces.map(|face| squared_frequency(sheet, face, warp(face))).fold(0.0, f64::max).sqrt()
}

/// Square of the highest frequency of a face with a third of its mass at each corner: 3 / rho times
/// the largest eigenvalue of B^T D B, with D the plane's stiffness and B from corners to strains,
/// which is that of L^T B B^T L for D = L L^T. `warp` has the direction of the warp in the face, if
/// the fabric is woven.
fn squared_frequency(sheet: &Sheet, face: usize, warp: Option<[f64; 2]>) -> f64 {
    let ClothMaterial { density, elastic, weave, .. } = sheet.material;
    let (lambda, mu) = (sheet.material.plane_lambda(), sheet.material.plane_shear_modulus());
    let inverse = sheet.rest_face(face).inverse_edges;
    // Gradients of the corners' shape functions; rows of the inverse belong to the second and the
    // third.
    let (b, c) = (inverse.row(0).transpose(), inverse.row(1).transpose());
    let gradients = [-(b + c), b, c];
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for g in gradients {
        xx += g.x * g.x;
        yy += g.y * g.y;
        xy += g.x * g.y;
    }
    // B B^T for strains (xx, yy, 2 xy).
    let strains = Matrix3::new(xx, 0.0, xy, 0.0, yy, xy, xy, xy, xx + yy);
    let mut stiffness =
        Matrix3::new(lambda + 2.0 * mu, lambda, 0.0, lambda, lambda + 2.0 * mu, 0.0, 0.0, 0.0, mu);
    if let (Some(weave), Some([c, s])) = (weave, warp) {
        // The strain along a yarn of direction (x, y) is (x^2, y^2, x y) . (xx, yy, 2 xy).
        for (yarn, [x, y]) in weave.yarn_stiffness(&elastic).into_iter().zip([[c, s], [-s, c]]) {
            let along = Vector3::new(x * x, y * y, x * y);
            stiffness += along * along.transpose() * yarn;
        }
        if let Some(friction) = weave.shear_friction {
            let shear = Vector3::new(-2.0 * c * s, 2.0 * c * s, c * c - s * s);
            stiffness += shear * shear.transpose() * friction.modulus();
        }
    }
    let largest = stiffness.cholesky().map_or(0.0, |cholesky| {
        let l = cholesky.l();
        SymmetricEigen::new(l.transpose() * strains * l).eigenvalues.max()
    });
    3.0 / density * largest
}
