//! Joints that a scene writes out.

use pliant_rigid::multibody::Dof;

use super::Check;
use crate::format::JointSpec;

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
        for (at, (turns, dof)) in joint.dofs().iter().enumerate() {
            // A list only where the joint has one figure for each degree of freedom.
            let at = match joint {
                JointSpec::Universal(_) | JointSpec::Planar(_) => format!("[{at}]"),
                _ if at == 0 => String::new(),
                _ => break,
            };
            self.dof(path, &at, *turns, dof);
        }
    }

    /// One degree of freedom; `at` is its index in the fields' lists, or empty.
    fn dof(&mut self, path: &str, at: &str, turns: bool, dof: &Dof) {
        let (effort, coordinate, inertia) = if turns { ("N m", "rad", "kg m^2") } else { ("N", "m", "kg") };
        // Viscous damping: N m s/rad, N s/m.
        let damping = if turns { "N m s/rad" } else { "N s/m" };
        let stiffness = format!("{effort}/{coordinate}");
        let field = |name: &str| format!("{path}.{name}{at}");
        self.non_negative(&field("damping"), dof.damping, damping);
        self.non_negative(&field("armature"), dof.armature, inertia);
        self.non_negative(&field("friction_loss"), dof.friction_loss, effort);
        self.non_negative(&field("stiffness"), dof.stiffness, &stiffness);
        self.number(&field("reference"), dof.reference, coordinate, "must be finite", true);
        // Without limits they are infinite.
        if dof.limits != Dof::default().limits {
            let [least, greatest] = dof.limits;
            self.finite(&field("limits"), &[least, greatest], coordinate);
            if least > greatest {
                let message =
                    format!("{least} {coordinate} must be at most the greatest, {greatest} {coordinate}");
                self.problem(&format!("{}[0]", field("limits")), message);
            }
        }
    }
}
