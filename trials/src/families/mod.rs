//! The families of trials: each draws scenes of one kind, over the whole range that its kind has.

mod boosts;
mod cloth;
mod drops;
mod family;
mod friction;
mod grips;
mod held;
mod joints;
mod linkages;
mod mixed;
mod rigid;
mod ropes;
mod soft;
mod surfaces;
mod tools;
mod towers;

pub use family::Family;

/// All families.
pub const FAMILIES: &[Family] = &[
    drops::FAMILY,
    drops::SETTLING,
    boosts::FAMILY,
    friction::FAMILY,
    grips::FAMILY,
    soft::FREE,
    soft::REST,
    cloth::SHEETS,
    cloth::WRAPS,
    cloth::HIT_SHEETS,
    held::HUNG,
    held::BAGS,
    ropes::ROPES,
    ropes::CABLES,
    mixed::FAMILY,
    rigid::FREE,
    rigid::FLOOR,
    surfaces::FAMILY,
    tools::FAMILY,
    joints::FAMILY,
    linkages::LINKAGES,
    linkages::ROBOTS,
    towers::FAMILY,
];

/// The family of a name, or `None`.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}
