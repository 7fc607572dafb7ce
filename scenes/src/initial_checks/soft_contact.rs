//! Contact that is too soft for the weight on it.

use pliant_coupling::World;
use pliant_rigid::multibody::LinkId;

use crate::format::{Gains, RigidSolver, Scene};

/// Largest depth to which a body may sink into its support without a warning, relative to the
/// radius of its bounding sphere.
const MAX_SINK_RATIO: f64 = 0.5;

/// Warns of bodies whose weight would press them into the stiffest body that they can touch by more
/// than [`MAX_SINK_RATIO`] of their size, `m g/k` on one contact of stiffness k: they would seem to
/// fall through it.
pub(crate) fn warn_of_soft_contacts(scene: &Scene, world: &World) -> Vec<String> {
    // In closed form the stiffness of contact follows from its frequency and the mass.
    if scene.rigid_solver == RigidSolver::Comfree
        && matches!(scene.rigid.comfree.gains, Gains::Physical { .. })
    {
        return Vec::new();
    }
    let simulation = world.bodies().simulation();
    let (model, touchable) = (&simulation.system().model, simulation.source().scene());
    let (gravity, geometries) = (world.gravity().norm(), touchable.geometries());
    let falls = |link: LinkId| model.tree_of(link).is_some() && model.links()[link.0].gravity;
    let mut warnings = Vec::new();
    for (_, body) in world.bodies().iter() {
        let Some(link) = body.link.filter(|link| falls(*link)) else { continue };
        let own = || (0..geometries.len()).filter(|&k| geometries[k].link == Some(link));
        let partners = own().flat_map(|a| (0..geometries.len()).map(move |b| (a, b)));
        let touching = partners.filter(|&(a, b)| touchable.may_touch(a, b));
        let stiffness = touching.map(|(a, b)| touchable.contact_material(a, b).stiffness);
        let stiffest = stiffness.fold(0.0, f64::max);
        let balls = own().filter_map(|k| geometries[k].shape.bounding_sphere());
        let size = balls.map(|(_, radius)| radius).fold(0.0, f64::max);
        let mass = model.links()[link.0].inertia.mass;
        let sinks = mass * gravity / stiffest;
        if stiffest > 0.0 && sinks > MAX_SINK_RATIO * size {
            warnings.push(format!(
                "body '{}' of {mass:.4} kg: its weight presses it {sinks:.3e} m into its support, \
                 at a body size of {size:.3e} m; the contact stiffness is {stiffest:.3e} N/m: use \
                 a larger rigid.stiffness, or a larger stiffness of the geometry",
                body.name
            ));
        }
    }
    warnings
}
