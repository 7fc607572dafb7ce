//! Joints that a scene writes out.

use super::Check;
use crate::format::{JointSpec, Passive};

impl Check {
    pub(super) fn joint(&mut self, path: &str, joint: &JointSpec) {
        match joint {
            JointSpec::Free {} | JointSpec::Fixed {} | JointSpec::Ball(_) => {}
            JointSpec::Revolute(axis) | JointSpec::Prismatic(axis) => {
                self.direction(&format!("{path}.axis"), &axis.axis);
            }
            JointSpec::Universal(universal) => {
                let [a, b] = &universal.axes;
                self.direction(&format!("{path}.axes[0]"), a);
                self.direction(&format!("{path}.axes[1]"), b);
                let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
                let norm = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
                // Below a thousandth of a radian the joint is practically locked about one
                // direction.
                if norm(a) * norm(b) > 0.0 && norm(&cross) < 1e-3 * norm(a) * norm(b) {
                    self.problem(&format!("{path}.axes"), format!("{a:?} and {b:?} must not be parallel"));
                }
            }
            JointSpec::Planar(planar) => {
                self.orientation(&format!("{path}.orientation"), &planar.orientation)
            }
        }
        if let Some(position) = joint.position() {
            self.finite(&format!("{path}.position"), &position, "m");
        }
        let passives = joint.passives();
        for (at, passive) in passives.iter().enumerate() {
            // A list only if the joint has one value for each degree of freedom.
            let at = match joint {
                JointSpec::Universal(_) | JointSpec::Planar(_) => format!("[{at}]"),
                _ if at == 0 => String::new(),
                _ => break,
            };
            self.passive(path, &at, passive);
        }
    }

    /// One degree of freedom; `at` is its index in the fields' lists, or empty.
    fn passive(&mut self, path: &str, at: &str, passive: &Passive) {
        let (effort, coordinate, inertia) =
            if passive.turns { ("N m", "rad", "kg m^2") } else { ("N", "m", "kg") };
        // Viscous damping: N m s/rad, N s/m.
        let damping = if passive.turns { "N m s/rad" } else { "N s/m" };
        let stiffness = format!("{effort}/{coordinate}");
        let field = |name: &str| format!("{path}.{name}{at}");
        self.non_negative(&field("damping"), passive.damping, damping);
        self.non_negative(&field("armature"), passive.armature, inertia);
        self.non_negative(&field("friction_loss"), passive.friction_loss, effort);
        self.non_negative(&field("stiffness"), passive.stiffness, &stiffness);
        self.number(&field("reference"), passive.reference, coordinate, "must be finite", true);
        if let Some([least, greatest]) = passive.limits {
            self.finite(&field("limits"), &[least, greatest], coordinate);
            if least > greatest {
                let message =
                    format!("{least} {coordinate} must be at most the greatest, {greatest} {coordinate}");
                self.problem(&format!("{}[0]", field("limits")), message);
            }
        }
    }
}
