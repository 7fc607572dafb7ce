//! Kinds of forces that a file switches off (`<flag>` of `<option>`).

use super::super::element::Element;
use super::super::error::ImportError;
use super::body::MjcfBody;
use super::contact::Shapes;
use pliant_rigid::multibody::Dof;
use pliant_rigid::simulation::{Equality, Tendon};

/// What is switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Off {
    /// Contact of the file's geoms with each other.
    contact: bool,
    equality: bool,
    /// Dry friction of joints and tendons.
    dry_friction: bool,
    limit: bool,
    spring: bool,
    damper: bool,
}

impl Off {
    /// Reads all flags; `constraint` is contact, equality, dry friction and limits.
    pub fn read(root: &Element) -> Result<Self, ImportError> {
        let mut off = Self::default();
        for flag in root.all("option").flat_map(|option| option.all("flag")) {
            let is_off = |name| -> Result<bool, ImportError> {
                Ok(flag.word(name, &["enable", "disable"])? == Some(1))
            };
            let constraint = is_off("constraint")?;
            off.contact |= constraint || is_off("contact")?;
            off.equality |= constraint || is_off("equality")?;
            off.dry_friction |= constraint || is_off("frictionloss")?;
            off.limit |= constraint || is_off("limit")?;
            off.spring |= is_off("spring")?;
            off.damper |= is_off("damper")?;
        }
        Ok(off)
    }

    /// Switches forces of joints off. Whether there were any to consider.
    pub fn joints(self, bodies: &mut [MjcfBody]) -> bool {
        let Self { dry_friction, limit, spring, damper, .. } = self;
        for joint in bodies.iter_mut().flat_map(|body| &mut body.joints) {
            let dof = &mut joint.dof;
            if dry_friction {
                dof.friction_loss = 0.0;
            }
            if limit {
                dof.limits = Dof::default().limits;
                dof.limit_compliance = None;
            }
            if spring {
                dof.stiffness = 0.0;
            }
            if damper {
                dof.damping = 0.0;
            }
        }
        dry_friction || limit || spring || damper
    }

    /// The same of tendons, equalities and contact. The geoms then touch bodies of other files only.
    pub fn others(self, tendons: &mut [Tendon], equalities: &mut Vec<Equality>, shapes: &mut Shapes) {
        for tendon in tendons {
            if self.equality {
                tendon.holds.clear();
            }
            if self.dry_friction {
                tendon.friction_loss = 0.0;
            }
            if self.limit {
                tendon.range = [f64::NEG_INFINITY, f64::INFINITY];
                tendon.limit_compliance = None;
            }
            if self.spring {
                tendon.stiffness = 0.0;
            }
            if self.damper {
                tendon.damping = 0.0;
            }
        }
        if self.equality {
            equalities.clear();
        }
        if self.contact {
            shapes.geometries.iter_mut().for_each(|geometry| geometry.mask = 0);
            shapes.pairs.clear();
        }
    }
}
