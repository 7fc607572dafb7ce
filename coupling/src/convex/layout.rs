//! How the solver lays out vectors, stencils and the constants of the contact models.

use pliant_rigid::contact_model::{NormalContactModel, RegularisedFriction};

/// A node's or a contact's vector, `[x, y, z, 0]`: one AVX register.
pub(super) type Vector = [f64; 4];

/// Contacts per [`ContactModelLanes`]: the width of an AVX-512 register.
pub(super) const LANES: usize = 8;

/// Consecutive contacts with the same 27 nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// First node of each row, in touched nodes.
    pub rows: [u32; 9],
    /// First contact.
    pub begin: u32,
    /// One past the last contact.
    pub end: u32,
}

/// The stencil weights of one contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub xy: [f64; 9],
    pub z: [f64; 3],
}

/// The constants of the contact model of [`LANES`] contacts; lanes past the last contact hold a
/// contact that does nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactModelLanes {
    pub normal: [[f64; LANES]; 3],
    /// `v_hat`.
    pub release: [f64; LANES],
    /// `a` of the model.
    pub linear: [f64; LANES],
    /// `b` of the model.
    pub quadratic: [f64; LANES],
    /// `mu gamma_n0`.
    pub friction_bound: [f64; LANES],
    /// `v_s`.
    pub stiction: [f64; LANES],
    /// `substep^2 k` of the tension, and `w_a`: zero without a bond.
    pub tension_slope: [f64; LANES],
    pub tension_range: [f64; LANES],
}

impl ContactModelLanes {
    pub const INACTIVE: Self = Self {
        normal: [[0.0; LANES]; 3],
        release: [0.0; LANES],
        linear: [0.0; LANES],
        quadratic: [0.0; LANES],
        friction_bound: [0.0; LANES],
        stiction: [1.0; LANES],
        tension_slope: [0.0; LANES],
        tension_range: [0.0; LANES],
    };

    /// The normal model of one lane.
    #[inline(always)]
    pub fn normal_model(&self, lane: usize) -> NormalContactModel {
        NormalContactModel {
            release_velocity: self.release[lane],
            linear: self.linear[lane],
            quadratic: self.quadratic[lane],
            tension_slope: self.tension_slope[lane],
            tension_range: self.tension_range[lane],
        }
    }

    /// The friction of one lane.
    #[inline(always)]
    pub fn friction(&self, lane: usize) -> RegularisedFriction {
        RegularisedFriction { bound: self.friction_bound[lane], regularisation: self.stiction[lane] }
    }
}
