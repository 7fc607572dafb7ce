//! The robot models that come with Pliant: MJCF, one file each in `models/`.

use pliant_import::{ImportError, Imported, from_mjcf};

use crate::format::RobotModel;

/// The built-in models: name and MJCF.
const MODELS: [(RobotModel, &str, &str); 11] = [
    (RobotModel::Iiwa7, "iiwa7", include_str!("../models/iiwa7.xml")),
    (RobotModel::Panda, "panda", include_str!("../models/panda.xml")),
    (RobotModel::ParallelGripper, "parallel_gripper", include_str!("../models/parallel_gripper.xml")),
    (RobotModel::WideGripper, "wide_gripper", include_str!("../models/wide_gripper.xml")),
    (RobotModel::ClothGripper, "cloth_gripper", include_str!("../models/cloth_gripper.xml")),
    (RobotModel::BladeGripper, "blade_gripper", include_str!("../models/blade_gripper.xml")),
    (RobotModel::Gantry, "gantry", include_str!("../models/gantry.xml")),
    (RobotModel::OffsetGantry, "offset_gantry", include_str!("../models/offset_gantry.xml")),
    (RobotModel::AllegroHand, "allegro_hand", include_str!("../models/allegro_hand.xml")),
    (RobotModel::Humanoid, "humanoid", include_str!("../models/humanoid.xml")),
    (RobotModel::Quadruped, "quadruped", include_str!("../models/quadruped.xml")),
];

/// The built-in models with their names.
pub fn all() -> impl Iterator<Item = (RobotModel, &'static str)> {
    MODELS.iter().map(|(model, name, _)| (*model, *name))
}

/// Reads a built-in model. None of them has files of its own.
///
/// # Errors
/// Never for a released version: a test reads all of them.
pub fn import(model: RobotModel) -> Result<Imported, ImportError> {
    let text = MODELS.iter().find(|(known, ..)| *known == model).map_or("", |(_, _, text)| text);
    from_mjcf(text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: the models of the library are read without warnings, and have the same names in
    // scenes as here.
    #[test]
    fn built_in_models_are_read_without_warnings() {
        for (model, name) in all() {
            let imported = import(model).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(imported.warnings.is_empty(), "{name}: {:?}", imported.warnings);
            assert!(imported.system.model.velocities() > 0, "{name}");
            assert_eq!(serde_json::to_value(model).unwrap(), name);
        }
    }
}
