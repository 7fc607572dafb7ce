//! A T-shirt: front and back, each cut on the fold, sewn at the shoulders and along sides and
//! sleeves.

use nalgebra::{Vector2, Vector3};

use super::outline::Outline;
use super::sew::{Panel, Seam, SeamDirection, SewError, Sewn, sew};
use super::triangulate::{PanelMesh, TriangulateError};

/// A T-shirt that lies flat in the xy plane, +y towards the neck, its front up (+z), its middle at
/// the origin.
///
/// ```text
///            neck_width
///          .------.
///      _--' \____/ '--_        front and back have the same outline
///   _-'                '-_     but for the depth of the neck
///  <    _              _  >
///   '._/ |            | \.'  sleeve_opening
///        | chest_width|
///        |____________|
/// ```
///
/// Sleeves and body are one piece of cloth. The upper edge goes straight from the neck to the cuff;
/// the cuff is at right angles to it, and the underarm is a curve that leaves the side upwards and
/// would be parallel to the upper edge if the body had no side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TShirt {
    /// Width of the body \[m\].
    pub chest_width: f64,
    /// Length from the neck's ends to the waist, along y \[m\].
    pub length: f64,
    /// How far a sleeve reaches beyond the body, along x \[m\].
    pub sleeve_length: f64,
    /// Width of a cuff, lying flat \[m\].
    pub sleeve_opening: f64,
    /// Distance along y from the ends of the neck down to the upper end of a cuff \[m\].
    pub sleeve_drop: f64,
    /// Width of the neck \[m\].
    pub neck_width: f64,
    /// Depth of the neck in front \[m\].
    pub front_neck_depth: f64,
    /// Depth of the neck in the back \[m\].
    pub back_neck_depth: f64,
    /// Distance between front and back, which lie at z = gap / 2 and -gap / 2; seams are at z = 0
    /// \[m\].
    pub gap: f64,
    /// Target length of edges \[m\].
    pub spacing: f64,
}

impl Default for TShirt {
    /// [`Self::for_grid`] with the spacing of the published scene, 1/128 m.
    fn default() -> Self {
        Self::for_grid(1.0 / 128.0)
    }
}

/// Why a shirt cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TShirtError {
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
    /// A panel cannot be cut.
    #[error("panel '{panel}': {source}")]
    Panel {
        /// Name of the panel.
        panel: &'static str,
        /// Why.
        source: TriangulateError,
    },
    /// The panels cannot be sewn.
    #[error(transparent)]
    Sew(#[from] SewError),
}

/// The panels in the order of [`Sewn::vertices`]; right is +x.
pub const PANELS: [&str; 4] = ["front right", "front left", "back right", "back left"];

/// Where the pieces of the outline's right half meet, and the two measures that place them \[m\].
struct RightHalf {
    half_width: f64,
    /// Coordinate y of the neck's ends.
    top: f64,
    neck: Vector2<f64>,
    upper_cuff: Vector2<f64>,
    lower_cuff: Vector2<f64>,
    armpit: Vector2<f64>,
    side: Vector2<f64>,
}

impl TShirt {
    /// A child's shirt with cap sleeves, of about 0.35 m^2 of cloth, with edges and a gap for a
    /// grid of this spacing h \[m\]: edges about 1.265 h, so that with h = 1/128 m there are about
    /// as many vertices and faces as in the published scene; gap 1.5 h, about the distance of
    /// layers in contact.
    pub fn for_grid(grid_spacing: f64) -> Self {
        Self {
            chest_width: 0.4,
            length: 0.44,
            sleeve_length: 0.04,
            sleeve_opening: 0.1,
            sleeve_drop: 0.055,
            neck_width: 0.15,
            front_neck_depth: 0.06,
            back_neck_depth: 0.02,
            gap: 1.5 * grid_spacing,
            spacing: 1.265 * grid_spacing,
        }
    }

    /// Right half of a panel's outline, around from the waist's middle: waist, side, underarm,
    /// cuff, shoulder, neck, fold.
    ///
    /// # Errors
    /// A measure that is not positive, or not compatible with others.
    pub fn half_outline(&self, neck_depth: f64) -> Result<Outline, TShirtError> {
        self.check(neck_depth)?;
        let at = Vector2::new;
        let RightHalf { half_width, top, neck, upper_cuff, lower_cuff, armpit, side } = self.right_half();
        let require = |field, value, requirement, holds| match holds {
            true => Ok(()),
            false => Err(TShirtError::Measure { field, value, requirement }),
        };
        require(
            "sleeve_opening",
            self.sleeve_opening,
            "must be less, so that the cuff is beyond the body",
            lower_cuff.x > half_width,
        )?;
        require(
            "length",
            self.length,
            "must be more, so that there is a side below the sleeve",
            side.y > -top,
        )?;
        let bottom = at(0.0, top - neck_depth);
        // The neck leaves the shoulder downwards and meets the fold at a right angle: controls of a
        // quarter of an ellipse.
        let round = 4.0 / 3.0 * (2f64.sqrt() - 1.0);
        let controls = [neck + round * at(0.0, -neck_depth), bottom + round * at(neck.x, 0.0)];
        Ok(Outline::starting_at(at(0.0, -top))
            .line("waist", at(half_width, -top))
            .line("side", side)
            .quadratic("underarm", armpit, lower_cuff)
            .line("cuff", upper_cuff)
            .line("shoulder", neck)
            .cubic("neck", controls, bottom)
            .line("fold", at(0.0, -top)))
    }

    /// The points at which the pieces of the right half's outline meet.
    fn right_half(&self) -> RightHalf {
        let at = Vector2::new;
        let (half_width, top) = (0.5 * self.chest_width, 0.5 * self.length);
        let neck = at(0.5 * self.neck_width, top);
        let upper_cuff = at(half_width + self.sleeve_length, top - self.sleeve_drop);
        let along = (upper_cuff - neck).normalize();
        let lower_cuff = upper_cuff + self.sleeve_opening * at(along.y, -along.x);
        // Where the line from the lower end of the cuff along the sleeve meets the line of the
        // side.
        let armpit = at(half_width, lower_cuff.y + (half_width - lower_cuff.x) * (along.y / along.x));
        let side = at(half_width, armpit.y - 0.5 * (lower_cuff - armpit).norm());
        RightHalf { half_width, top, neck, upper_cuff, lower_cuff, armpit, side }
    }

    /// The points by which one names a place on a shirt, in the plane of the pattern \[m\]: corners
    /// of its outline, and the middles of waist and neck. Right is +x, left its mirror image.
    pub fn key_points(&self) -> Vec<(&'static str, Vector2<f64>)> {
        let RightHalf { half_width, top, neck, upper_cuff, lower_cuff, side, .. } = self.right_half();
        let left = |x: Vector2<f64>| Vector2::new(-x.x, x.y);
        let hem = Vector2::new(half_width, -top);
        vec![
            ("hem-left", left(hem)),
            ("hem-middle", Vector2::new(0.0, -top)),
            ("hem-right", hem),
            ("side-left", left(side)),
            ("side-right", side),
            ("cuff-lower-left", left(lower_cuff)),
            ("cuff-lower-right", lower_cuff),
            ("cuff-upper-left", left(upper_cuff)),
            ("cuff-upper-right", upper_cuff),
            ("neck-left", left(neck)),
            ("neck-right", neck),
            ("neck-back", Vector2::new(0.0, top - self.back_neck_depth)),
        ]
    }

    /// Cuts and sews the shirt. The normals are outwards: up in front, down in the back.
    ///
    /// # Errors
    /// A measure that is not positive or not compatible with others, a spacing that is too coarse.
    pub fn sew(&self) -> Result<Sewn, TShirtError> {
        let cut = |panel, neck_depth| {
            let outline = self.half_outline(neck_depth)?;
            PanelMesh::fill(&outline, self.spacing).map_err(|source| TShirtError::Panel { panel, source })
        };
        let (front, back) = (cut("front", self.front_neck_depth)?, cut("back", self.back_neck_depth)?);
        let place = |side: f64, z: f64| move |x: Vector2<f64>| Vector3::new(side * x.x, x.y, z);
        let z = 0.5 * self.gap;
        let [front_right, front_left, back_right, back_left] = PANELS;
        let panels = [
            Panel::new(front_right, &front, place(1.0, z)),
            Panel::new(front_left, &front, place(-1.0, z)),
            Panel::new(back_right, &back, place(1.0, -z)),
            Panel::new(back_left, &back, place(-1.0, -z)),
        ];
        // All four are on top of each other in the pattern, so every seam has the same direction
        // along both.
        let seam = |a, b, piece| Seam::new((a, piece), (b, piece), SeamDirection::Same);
        let mut seams = vec![seam(front_right, front_left, "fold"), seam(back_right, back_left, "fold")];
        for piece in ["side", "underarm", "shoulder"] {
            seams.push(seam(front_right, back_right, piece));
            seams.push(seam(front_left, back_left, piece));
        }
        Ok(sew(&panels, &seams)?)
    }

    fn check(&self, neck_depth: f64) -> Result<(), TShirtError> {
        let positive = "must be positive and finite";
        for (field, value) in [
            ("chest_width", self.chest_width),
            ("length", self.length),
            ("sleeve_length", self.sleeve_length),
            ("sleeve_opening", self.sleeve_opening),
            ("neck_width", self.neck_width),
            ("front_neck_depth", self.front_neck_depth),
            ("back_neck_depth", self.back_neck_depth),
            ("gap", self.gap),
            ("spacing", self.spacing),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(TShirtError::Measure { field, value, requirement: positive });
            }
        }
        for (field, value, requirement, holds) in [
            (
                "sleeve_drop",
                self.sleeve_drop,
                "must be finite and not negative",
                self.sleeve_drop >= 0.0 && self.sleeve_drop.is_finite(),
            ),
            ("neck_width", self.neck_width, "must be below chest_width", self.neck_width < self.chest_width),
            (
                "back_neck_depth",
                self.back_neck_depth,
                "must be below front_neck_depth",
                self.back_neck_depth < self.front_neck_depth,
            ),
            ("front_neck_depth", neck_depth, "must be below length", neck_depth < self.length),
        ] {
            if !holds {
                return Err(TShirtError::Measure { field, value, requirement });
            }
        }
        Ok(())
    }
}
