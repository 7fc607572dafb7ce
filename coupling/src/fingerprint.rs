//! What a saved state belongs to, so that another model's is refused.

use pliant_mpm::Mpm;
use pliant_rigid::multibody::Link;
use serde::{Deserialize, Serialize};

use crate::error::StateError;
use crate::world::World;

/// A world without its state: names and figures, each with its value in words. Gravity, friction,
/// gains, loads, masses and the figures of the solvers are not among them: they may change between
/// steps, and a state says nothing of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint(Vec<(String, String)>);

impl Fingerprint {
    /// That of a world.
    pub(crate) fn of(world: &World) -> Self {
        let mut items = Self(Vec::new());
        items.add("dt [s]", world.settings.dt);
        items.add("grid_spacing [m]", world.settings.grid_spacing);
        items.particles(&world.mpm);
        items.ropes(&world.mpm);
        items.bodies(world);
        items
    }

    fn add(&mut self, what: impl Into<String>, value: impl ToString) {
        self.0.push((what.into(), value.to_string()));
    }

    fn particles(&mut self, mpm: &Mpm) {
        self.add("the number of particles", mpm.len());
        self.add("the number of materials", mpm.materials().len());
        for (m, material) in mpm.materials().iter().enumerate() {
            self.add(format!("materials[{m}]"), format!("{material:?}"));
        }
        self.add("the number of sheets of cloth", mpm.sheets().len());
        for (s, sheet) in mpm.sheets().iter().enumerate() {
            self.add(format!("vertices of sheet {s}"), sheet.mesh.vertices().len());
            self.add(format!("faces of sheet {s}"), sheet.mesh.faces().len());
            if let Some(gas) = &sheet.gas {
                self.add(format!("gas of sheet {s}"), format!("{gas:?}"));
            }
            if let Some(friction) = &sheet.material.bending_friction {
                self.add(format!("bending friction of sheet {s}"), format!("{friction:?}"));
            }
            if let Some(tearing) = &sheet.material.tearing {
                self.add(format!("tearing of sheet {s}"), format!("{tearing:?}"));
            }
            if let Some(weave) = &sheet.material.weave {
                self.add(format!("weave of sheet {s}"), format!("{weave:?}"));
            }
        }
    }

    fn ropes(&mut self, mpm: &Mpm) {
        if !mpm.ropes().is_empty() {
            self.add("the number of ropes", mpm.ropes().len());
        }
        for (r, rope) in mpm.ropes().iter().enumerate() {
            self.add(format!("vertices of rope {r}"), rope.vertices.len());
            self.add(format!("material of rope {r}"), format!("{:?}", rope.material));
            self.add(format!("natural curvature of rope {r}"), rope.is_naturally_curved);
            self.add(format!("turned segments of rope {r}"), format!("{:?}", rope.twist_pins));
        }
    }

    fn bodies(&mut self, world: &World) {
        let system = world.bodies.simulation().system();
        let links = system.model.links();
        for (what, count) in [
            ("bodies", world.bodies.len()),
            ("links", links.len()),
            ("motors", system.actuators.len()),
            ("constraints", system.equalities.len()),
            ("tendons", system.tendons.len()),
            ("drives", system.drives.len()),
            ("states of controllers", system.external_states()),
        ] {
            self.add(format!("the number of {what}"), count);
        }
        for (id, body) in world.bodies.iter() {
            self.add(format!("the name of body {}", id.0), &body.name);
            self.add(format!("geometries of body '{}'", body.name), body.geometries.len());
        }
        let name = |link: &Link| format!("'{}' on a {} joint", link.name, link.joint.name());
        for (l, link) in links.iter().enumerate() {
            self.add(format!("link {l}"), name(link));
        }
        let strong: Vec<_> = world.strongly_coupled().map(|id| id.0).collect();
        self.add("the strongly coupled bodies", format!("{strong:?}"));
    }

    /// Refuses a state with another fingerprint; names the first difference.
    pub(crate) fn check(&self, found: &Self) -> Result<(), StateError> {
        let missing = || (String::new(), "absent".to_owned());
        for i in 0..self.0.len().max(found.0.len()) {
            let [here, there] = [self, found].map(|f| f.0.get(i).cloned().unwrap_or_else(missing));
            if here != there {
                let what = if here.0.is_empty() { there.0 } else { here.0 };
                return Err(StateError::Foreign { what, found: there.1, expected: here.1 });
            }
        }
        Ok(())
    }
}
