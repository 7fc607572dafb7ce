//! Figures of a system that a solver leaves out.

use core::fmt;

use super::equality::Equality;
use super::system::System;
use crate::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use crate::comfree::{ImpedanceCurve, RigidSolver};

/// What a solver does not use, though something has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnusedFigure {
    /// Compliance of limits of joints.
    LimitCompliance,
    /// Compliance of equalities.
    EqualityCompliance,
    /// Stiffness and dissipation of contact.
    Stiffness,
    /// A static coefficient of friction above the dynamic one.
    StaticFriction,
    /// A coefficient of restitution.
    Restitution,
    /// Torsional and rolling friction.
    TurningFriction,
    /// Impedance of contact.
    Impedance,
}

/// A figure that is not used, and all that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// What is not used.
    pub figure: UnusedFigure,
    /// Names of links (limits), of geometries (contact), or numbers of equalities.
    pub items: Vec<String>,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, instead) = match self.figure {
            UnusedFigure::LimitCompliance => {
                ("the compliance of the joint limits of", "the solver's own impedance acts")
            }
            UnusedFigure::EqualityCompliance => {
                ("the compliance of the equalities", "the solver's own impedance acts")
            }
            UnusedFigure::Stiffness => (
                "the contact stiffness and dissipation of",
                "the solver's gains act, for the mass in contact",
            ),
            UnusedFigure::StaticFriction => ("the static friction of", "the dynamic coefficient acts"),
            UnusedFigure::Restitution => ("the restitution of", "impacts rebound as their impedance does"),
            UnusedFigure::TurningFriction => {
                ("the torsional and rolling friction of", "only the closed-form solver has it")
            }
            UnusedFigure::Impedance => ("the impedance of", "stiffness and dissipation act"),
        };
        write!(f, "the solver does not use {what} ")?;
        let shown = self.items.len().min(MOST_NAMES);
        for (i, item) in self.items[..shown].iter().enumerate() {
            write!(f, "{}'{item}'", if i > 0 { ", " } else { "" })?;
        }
        if self.items.len() > shown {
            write!(f, " and {} more", self.items.len() - shown)?;
        }
        write!(f, ": {instead}")
    }
}

/// Most names of a line.
const MOST_NAMES: usize = 5;

/// What makes the steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepMaker {
    /// A [`Simulation`](super::Simulation) with this solver.
    Simulation(RigidSolver),
    /// A batch of worlds, here or on a device.
    Batch,
}

impl StepMaker {
    fn has(self, figure: UnusedFigure) -> bool {
        use UnusedFigure as F;
        match self {
            Self::Simulation(RigidSolver::Icf) => !matches!(figure, F::TurningFriction | F::Impedance),
            Self::Simulation(solver @ RigidSolver::ComFree(_)) => match figure {
                F::LimitCompliance | F::EqualityCompliance => !solver.is_published(),
                F::Stiffness | F::StaticFriction => false,
                F::Restitution | F::TurningFriction | F::Impedance => true,
            },
            Self::Batch => matches!(figure, F::TurningFriction | F::Impedance),
        }
    }
}

/// The figures of `system` and of the geometries of `scene` that `maker` does not use; those of
/// geometries that touch nothing do not count, nor stiffnesses \[N/m\] that are `usual`, which
/// nobody chose.
pub fn unused_figures(
    system: &System,
    scene: &CollisionModel,
    maker: StepMaker,
    usual: &[f64],
) -> Vec<Unused> {
    let mut unused = Vec::new();
    let mut add = |figure: UnusedFigure, items: Vec<String>| {
        if !items.is_empty() && !maker.has(figure) {
            unused.push(Unused { figure, items });
        }
    };
    let soft = |link: &&crate::multibody::Link| link.dofs.iter().any(|dof| dof.limit_compliance.is_some());
    let links = system.model.links().iter().filter(soft).map(|link| link.name.clone());
    add(UnusedFigure::LimitCompliance, links.collect());
    let held = system.equalities.iter().enumerate();
    let held = held.filter(|(_, held)| matches!(held, Equality::Compliant { .. }));
    add(UnusedFigure::EqualityCompliance, held.map(|(number, _)| number.to_string()).collect());
    let geometries = scene.geometries();
    let touches = |a: &usize| (0..geometries.len()).any(|b| scene.may_touch(*a, b));
    let touching: Vec<&CollisionGeometry> =
        (0..geometries.len()).filter(touches).map(|number| &geometries[number]).collect();
    let mut of_contact = |figure, has: &dyn Fn(&ContactMaterial) -> bool| {
        let items = touching.iter().filter(|g| has(&g.material)).map(|g| g.name.clone());
        // A pair's stiffness is that of two surfaces in series.
        let of_one = |m: &ContactMaterial| ContactMaterial { stiffness: 2.0 * m.stiffness, ..*m };
        let own = scene.own_contacts().filter(|(_, contact)| has(&of_one(contact)));
        let pairs = own.map(|([a, b], _)| format!("{} and {}", geometries[a].name, geometries[b].name));
        add(figure, items.chain(pairs).collect());
    };
    of_contact(UnusedFigure::Stiffness, &|m| {
        !usual.contains(&m.stiffness) || m.dissipation != ContactMaterial::DISSIPATION
    });
    of_contact(UnusedFigure::StaticFriction, &|m| m.static_friction > m.dynamic_friction);
    of_contact(UnusedFigure::Restitution, &|m| m.restitution > 0.0);
    of_contact(UnusedFigure::TurningFriction, &|m| m.torsional_friction > 0.0 || m.rolling_friction > 0.0);
    of_contact(UnusedFigure::Impedance, &|m| m.impedance != ImpedanceCurve::MUJOCO);
    unused
}
