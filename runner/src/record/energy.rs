//! The terms of the energy balance, with their names in tables and manifests.

use std::collections::BTreeMap;

use pliant_coupling::{BodyEnergy, EnergyBalance, EnergyDomain, EnergyGain, ParticleEnergy};

use super::manifest::Number;

/// Energy gain relative to the energy input above which a run warns \[-\].
pub const ENERGY_GAIN_WARNING: f64 = 0.05;

/// Every term and its name; none if it is not measured \[J\]. Work and losses are those since the
/// start, so that those of a step are the difference of two rows.
fn parts(balance: &EnergyBalance) -> [(&'static str, Option<f64>); 27] {
    let soft = |of: fn(&ParticleEnergy) -> Option<f64>| balance.particles.as_ref().and_then(of);
    let rigid = |of: fn(&BodyEnergy) -> Option<f64>| balance.bodies.as_ref().and_then(of);
    let gain = |of: fn(&EnergyGain) -> f64| balance.gain.as_ref().map(of);
    [
        ("work_bodies", soft(|p| Some(p.flows.bodies))),
        ("work_pins", soft(|p| Some(p.flows.pins))),
        ("lost_boundaries", soft(|p| p.flows.boundaries)),
        ("lost_contact_normal", soft(|p| p.flows.contact_normal)),
        ("lost_contact_friction", soft(|p| p.flows.contact_friction)),
        ("lost_plastic", soft(|p| p.flows.plastic)),
        ("lost_damping", soft(|p| p.flows.damping)),
        ("particles_imbalance", soft(|p| p.imbalance)),
        ("rigid_gravitational_energy", rigid(|b| Some(b.stored.gravitational))),
        ("rigid_spring_energy", rigid(|b| Some(b.stored.springs))),
        ("rigid_contact_energy", rigid(|b| b.flows.contact_after)),
        ("rigid_work_motors", rigid(|b| Some(b.flows.motors))),
        ("rigid_work_controllers", rigid(|b| Some(b.flows.controllers))),
        ("rigid_work_prescribed", rigid(|b| Some(b.flows.prescribed))),
        ("rigid_work_loads", rigid(|b| Some(b.flows.loads))),
        ("rigid_work_particles", rigid(|b| Some(b.flows.exchanged))),
        ("rigid_lost_contact_normal", rigid(|b| Some(b.flows.lost_in_contact()))),
        ("rigid_lost_contact_friction", rigid(|b| Some(b.flows.contact_friction))),
        ("rigid_lost_joint_damping", rigid(|b| Some(b.flows.joint_damping))),
        ("rigid_lost_joint_friction", rigid(|b| Some(b.flows.joint_friction))),
        ("rigid_lost_joint_limits", rigid(|b| Some(b.flows.joint_limits))),
        ("rigid_lost_constraints", rigid(|b| Some(b.flows.constraints))),
        ("rigid_imbalance", rigid(|b| Some(b.imbalance))),
        ("exchange_imbalance", balance.exchange),
        ("imbalance", balance.imbalance),
        ("energy_gained", gain(|g| g.gained)),
        ("energy_put_in", gain(|g| g.energy_input)),
    ]
}

/// The names as columns, each with a comma before it.
pub(crate) fn columns() -> String {
    parts(&EnergyBalance::default()).iter().map(|(name, _)| format!(",{name}")).collect()
}

/// The terms as cells, each with a comma before it; empty if not measured.
pub(crate) fn cells(balance: &EnergyBalance) -> String {
    let cell =
        |(_, part): &(_, Option<f64>)| part.map_or_else(|| ",".to_owned(), |part| format!(",{part:?}"));
    parts(balance).iter().map(cell).collect()
}

/// The measured terms of an energy balance, by the names of the columns of [`DIAGNOSTICS`] \[J\].
///
/// [`DIAGNOSTICS`]: super::DIAGNOSTICS
pub fn figures(balance: &EnergyBalance) -> BTreeMap<String, Number> {
    let measured = |(name, part): (&str, Option<f64>)| part.map(|part| (name.to_owned(), Number(part)));
    parts(balance).into_iter().filter_map(measured).collect()
}

/// The warning of a gain above the fraction `allowed` of the energy input; none where the gain is
/// less or was not measured.
pub fn warning(balance: &EnergyBalance, allowed: f64) -> Option<String> {
    let gain = balance.gain.as_ref()?;
    // NaN is above every bound.
    if gain.relative() <= allowed {
        return None;
    }
    let (created, part, input, allowed) =
        (gain.gained, 100.0 * gain.relative(), gain.energy_input, 100.0 * allowed);
    Some(match gain.domain {
        EnergyDomain::Exchange => format!(
            "energy: the scheme created {created:.3e} J between bodies and particles, {part:.1} % of the \
             {input:.3e} J that reached the particles (more than {allowed} %); use coupling strong or a \
             smaller dt; the motion of this run is not reliable"
        ),
        _ => format!(
            "energy: the scheme created {created:.3e} J, {part:.1} % of the {input:.3e} J of energy \
             input (more than {allowed} %); use a smaller dt; the motion of this run is not reliable"
        ),
    })
}
