//! Figures that the solver of a scene leaves out.

use pliant_coupling::World;
use pliant_rigid::collision::ContactMaterial;
use pliant_rigid::simulation::{StepMaker, UnusedFigure, unused_figures};

use crate::format::{Rigid, Scene};

/// A line for each kind of figure that `maker` does not use, with the names of what has it. What
/// the import of a robot has said is not repeated.
pub(crate) fn warn_of_unused(scene: &Scene, world: &World, maker: StepMaker) -> Vec<String> {
    let simulation = world.bodies().simulation();
    let usual = [ContactMaterial::STIFFNESS, Rigid::default().stiffness];
    let usual = if scene.rigid.stiffness == usual[1] { &usual[..] } else { &usual[..1] };
    let unused = unused_figures(simulation.system(), simulation.source().scene(), maker, usual);
    let lines = unused.into_iter().filter_map(|mut unused| {
        let told = matches!(unused.figure, UnusedFigure::TurningFriction | UnusedFigure::Impedance);
        // Geometries of robots are `robot/link[number]`.
        unused.items.retain(|item| !(told && item.contains('/')));
        (!unused.items.is_empty()).then(|| unused.to_string())
    });
    lines.collect()
}
