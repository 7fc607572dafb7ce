//! Forces that are written and plotted.

use std::collections::BTreeSet;

use super::Check;
use super::names::Names;
use crate::format::Scene;

impl Check {
    pub(super) fn plots(&mut self, scene: &Scene, names: &Names) {
        let output = &scene.output;
        for (at, name) in output.forces.iter().enumerate() {
            self.found(&format!("output.forces[{at}]"), names.body(name));
        }
        let mut taken = BTreeSet::new();
        for (at, figure) in output.plots.iter().enumerate() {
            let path = format!("output.plots[{at}]");
            self.unique(&path, "plot", &mut taken, &figure.name);
            self.file_name(&format!("{path}.name"), &figure.name);
            self.not_empty(&format!("{path}.panels"), figure.panels.is_empty(), "panel");
            for (at, panel) in figure.panels.iter().enumerate() {
                let path = format!("{path}.panels[{at}]");
                self.not_empty(&format!("{path}.curves"), panel.curves.is_empty(), "curve");
                for (at, curve) in panel.curves.iter().enumerate() {
                    let path = format!("{path}.curves[{at}]");
                    self.found(&format!("{path}.body"), names.body(&curve.body));
                    self.direction(&format!("{path}.direction"), &curve.direction);
                }
                for (at, line) in panel.lines.iter().enumerate() {
                    self.finite(&format!("{path}.lines[{at}].value"), &[line.value], "N or N m");
                }
                if let Some([least, most]) = panel.range {
                    self.finite(&format!("{path}.range"), &[least, most], "N or N m");
                    if least >= most {
                        let message =
                            format!("[{least}, {most}] N or N m must be a range, the lower end first");
                        self.problem(&format!("{path}.range"), message);
                    }
                }
            }
        }
    }

    fn not_empty(&mut self, path: &str, empty: bool, what: &str) {
        if empty {
            self.problem(path, format!("[] has no {what}: at least one is needed"));
        }
    }
}
