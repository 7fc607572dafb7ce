//! Joints that start beyond their limits, or apart from their couplings.

use super::Bodies;
use crate::multibody::LinkId;
use crate::simulation::Equality;

/// A coordinate beyond a limit of its joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeyondLimit<'a> {
    /// The name of the link that the joint moves.
    pub link: &'a str,
    /// The coordinate \[rad, m\].
    pub position: f64,
    /// The limit that it is beyond \[rad, m\].
    pub limit: f64,
    /// Their unit.
    pub unit: &'static str,
    /// Whether the limit is compliant, so that it pushes the joint back the harder the farther it
    /// is; near-rigid ones return it at a bounded speed
    /// ([`LimitPotential`](crate::icf::potential::LimitPotential)).
    pub is_compliant: bool,
}

impl Bodies {
    /// The coordinates that are beyond their joints' limits.
    pub fn beyond_limits(&self) -> impl Iterator<Item = BeyondLimit<'_>> + '_ {
        let (model, state) = (&self.simulation.system().model, self.simulation.state());
        let links = model.links().iter().enumerate().filter(|(_, link)| !link.joint.has_quaternion());
        links.flat_map(move |(l, link)| {
            let coordinates = state.q[model.positions_of(LinkId(l))].iter().zip(&link.dofs).enumerate();
            coordinates.filter_map(move |(d, (&q, dof))| {
                let limit = q.clamp(dof.limits[0], dof.limits[1]);
                (limit != q).then(|| BeyondLimit {
                    link: &link.name,
                    position: q,
                    limit,
                    unit: link.joint.unit(d),
                    is_compliant: dof.limit_compliance.is_some(),
                })
            })
        })
    }

    /// The coordinates \[rad, m\] that near-rigid couplings do not have where they demand them: the
    /// driven link, its coordinate, the one demanded, and the unit. The first step closes the gap.
    pub fn apart_from_couplings(&self) -> impl Iterator<Item = (&str, f64, f64, &'static str)> + '_ {
        let (system, state) = (self.simulation.system(), self.simulation.state());
        let model = &system.model;
        let q = move |link: LinkId| state.q[model.positions_of(link).start];
        let rigid = system.equalities.iter().filter(|held| !matches!(held, Equality::Compliant { .. }));
        rigid.filter_map(move |held| held.demanded(q)).filter_map(move |(_, driven, demanded)| {
            let link = &model.links()[driven.0];
            // Rounding of a coupling's arithmetic is no gap.
            let gap = (q(driven) - demanded).abs() > 1e-9 * (1.0 + demanded.abs());
            gap.then(|| (&link.name[..], q(driven), demanded, link.joint.unit(0)))
        })
    }
}
