//! Trousers: front and back, each cut on the fold, sewn along sides and inner legs.

use nalgebra::{Vector2, Vector3};

use super::outline::Outline;
use super::sew::{Panel, Seam, SeamDirection, SewError, Sewn, sew};
use super::triangulate::{PanelMesh, TriangulateError};

/// Trousers that lie flat in the xy plane, +y towards the waist, their front up (+z), their middle
/// at the origin.
///
/// ```text
///    waist_width
///    .---------.
///    |         |
///   |     .     |      rise: from the waist down to the point between the legs
///   |    | |    |
///  |    |   |    |
///  '----'   '----'
///  leg_opening, and gap_between the legs' inner corners
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trousers {
    /// Width of the waist \[m\].
    pub waist_width: f64,
    /// Length from the waist to the hems, along y \[m\].
    pub length: f64,
    /// Length from the waist to the point between the legs, along y \[m\].
    pub rise: f64,
    /// Width of a leg's hem, lying flat \[m\].
    pub leg_opening: f64,
    /// Distance of the two hems from each other, along x \[m\].
    pub leg_distance: f64,
    /// Distance between front and back, which lie at z = gap / 2 and -gap / 2; seams are at z = 0
    /// \[m\].
    pub gap: f64,
    /// Target length of edges \[m\].
    pub spacing: f64,
}

impl Default for Trousers {
    /// [`Self::for_grid`] with a spacing of 1/128 m.
    fn default() -> Self {
        Self::for_grid(1.0 / 128.0)
    }
}

/// Why trousers cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrousersError {
    /// A measure is not positive, or not compatible with others.
    #[error("{field}: {value} m {requirement}")]
    Measure {
        /// Name of the measure.
        field: &'static str,
        /// Its value \[m\].
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// The panels cannot be cut.
    #[error(transparent)]
    Panel(#[from] TriangulateError),
    /// The panels cannot be sewn.
    #[error(transparent)]
    Sew(#[from] SewError),
}

/// The panels in the order of [`Sewn::vertices`]; right is +x.
pub const PANELS: [&str; 4] = ["front right", "front left", "back right", "back left"];

impl Trousers {
    /// A child's trousers, of about 0.27 m^2 of cloth, with edges and a gap for a grid of this
    /// spacing h \[m\]: edges of 1.265 h, a gap of 1.5 h, about the distance of layers in contact.
    pub fn for_grid(grid_spacing: f64) -> Self {
        Self {
            waist_width: 0.28,
            length: 0.5,
            rise: 0.18,
            leg_opening: 0.13,
            leg_distance: 0.06,
            gap: 1.5 * grid_spacing,
            spacing: 1.265 * grid_spacing,
        }
    }

    /// The points by which one names a place on trousers, in the plane of the pattern \[m\]:
    /// corners of the outline, the middle of the waist and the point between the legs. Right is +x,
    /// left its mirror image.
    pub fn key_points(&self) -> Vec<(&'static str, Vector2<f64>)> {
        let [crotch, inner, outer, waist, middle] = self.corners();
        let left = |x: Vector2<f64>| Vector2::new(-x.x, x.y);
        vec![
            ("hem-inner-left", left(inner)),
            ("hem-inner-right", inner),
            ("hem-outer-left", left(outer)),
            ("hem-outer-right", outer),
            ("waist-left", left(waist)),
            ("waist-right", waist),
            ("waist-middle", middle),
            ("crotch", crotch),
        ]
    }

    /// Corners of the right half, around from the point between the legs: inner and outer end of
    /// the hem, end and middle of the waist.
    fn corners(&self) -> [Vector2<f64>; 5] {
        let (top, inner) = (0.5 * self.length, 0.5 * self.leg_distance);
        [
            Vector2::new(0.0, top - self.rise),
            Vector2::new(inner, -top),
            Vector2::new(inner + self.leg_opening, -top),
            Vector2::new(0.5 * self.waist_width, top),
            Vector2::new(0.0, top),
        ]
    }

    /// Right half of a panel's outline, around from the point between the legs: inseam, hem, side,
    /// waist, fold.
    ///
    /// # Errors
    /// A measure that is not positive or not compatible with others.
    pub fn half_outline(&self) -> Result<Outline, TrousersError> {
        self.check()?;
        let [crotch, inner, outer, waist, middle] = self.corners();
        Ok(Outline::starting_at(crotch)
            .line("inseam", inner)
            .line("hem", outer)
            .line("side", waist)
            .line("waist", middle)
            .line("fold", crotch))
    }

    /// Cuts and sews the trousers. The normals are outwards: up in front, down in the back.
    ///
    /// # Errors
    /// A measure that is not positive or not compatible with others, a spacing that is too coarse.
    pub fn sew(&self) -> Result<Sewn, TrousersError> {
        let half = PanelMesh::fill(&self.half_outline()?, self.spacing)?;
        let place = |side: f64, z: f64| move |x: Vector2<f64>| Vector3::new(side * x.x, x.y, z);
        let z = 0.5 * self.gap;
        let [front_right, front_left, back_right, back_left] = PANELS;
        let panels = [
            Panel::new(front_right, &half, place(1.0, z)),
            Panel::new(front_left, &half, place(-1.0, z)),
            Panel::new(back_right, &half, place(1.0, -z)),
            Panel::new(back_left, &half, place(-1.0, -z)),
        ];
        // All four are on top of each other in the pattern, so every seam has the same direction
        // along both.
        let seam = |a, b, piece| Seam::new((a, piece), (b, piece), SeamDirection::Same);
        let mut seams = vec![seam(front_right, front_left, "fold"), seam(back_right, back_left, "fold")];
        for piece in ["side", "inseam"] {
            seams.push(seam(front_right, back_right, piece));
            seams.push(seam(front_left, back_left, piece));
        }
        Ok(sew(&panels, &seams)?)
    }

    fn check(&self) -> Result<(), TrousersError> {
        for (field, value) in [
            ("waist_width", self.waist_width),
            ("length", self.length),
            ("rise", self.rise),
            ("leg_opening", self.leg_opening),
            ("leg_distance", self.leg_distance),
            ("gap", self.gap),
            ("spacing", self.spacing),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                let requirement = "must be positive and finite";
                return Err(TrousersError::Measure { field, value, requirement });
            }
        }
        if self.rise >= self.length {
            let requirement = "must be below length, so that there are legs";
            return Err(TrousersError::Measure { field: "rise", value: self.rise, requirement });
        }
        Ok(())
    }
}
