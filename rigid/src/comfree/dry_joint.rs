//! Dry friction of joints within a step.

/// Dry friction of a joint within a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DryJoint {
    pub bound: f64,
    pub gain: f64,
    pub is_sliding: bool,
}
