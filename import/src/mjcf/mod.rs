//! MJCF.
//!
//! The conventions are those of MuJoCo's documentation (XML reference and Modeling chapters,
//! <https://mujoco.readthedocs.io>); details that it leaves open were checked with MuJoCo itself.

mod actuator;
mod asset;
mod body;
mod compiler;
mod contact;
mod contact_figures;
mod contact_pair;
mod defaults;
mod equality;
mod felt_inertia;
mod flags;
mod geom;
mod height_field;
mod include;
mod inertia;
mod inertial;
mod keyframe;
mod law;
mod links;
mod pose;
mod replicate;
mod sensor;
mod shell;
mod shown;
mod softness;
mod springs;
mod table;
mod tendon;
mod texture;

use std::path::Path;

use super::element::Element;
use super::error::{ImportError, ImportProblem};
use super::imported::{Imported, ImportedJoint};
use super::options::LoadOptions;
use super::support;
use pliant_rigid::simulation::System;

pub(super) use asset::color;
pub(super) use contact_figures::{DISSIPATION, STIFFNESS};
pub(super) use pose::turn_z_to;
pub(super) use table::TABLE;

/// Reads a document.
pub(super) fn read(root: Element, directory: &Path, options: &LoadOptions) -> Result<Imported, ImportError> {
    let (mut root, mut files) = include::expand(root, directory)?;
    let mut warnings = Vec::new();
    if let Some((name, _)) = root.attributes.iter().find(|(name, _)| name != "model") {
        return Err(root.fail_at(name, ImportProblem::UnknownAttribute));
    }
    let compiler = compiler::Compiler::read(&root)?;
    let replicated = replicate::expand(&mut root, &compiler)?;
    support::check(&root, TABLE, false, &mut warnings)?;
    let option = compiler::Options::read(&root)?;
    let defaults = defaults::Defaults::read(&root)?;
    let assets = asset::Assets::read(&root, directory, &compiler, &defaults, options, &mut warnings)?;
    files.extend(assets.files.iter().cloned());
    let mut bodies = body::read(&root, &compiler, &defaults, &assets, &mut warnings)?;
    inertia::compile(&mut bodies, &compiler)?;
    let (mut model, mut joints) = links::build(&mut bodies, option.gravity, &mut warnings)?;
    let state = links::reference_state(&model, &bodies, &joints);
    if springs::resolve(&mut bodies, &model, &joints, &state, &mut warnings)? {
        // With the same warnings as before.
        (model, joints) = links::build(&mut bodies, option.gravity, &mut Vec::new())?;
    }
    let softness = softness::Softness::new(&model, &state, &option);
    softness.joints(&mut bodies, &model, &joints)?;
    (model, joints) = links::build(&mut bodies, option.gravity, &mut Vec::new())?;
    // The records of the joints keep their limits: ranges of motors may be inherited from them.
    let off = flags::Off::read(&root)?;
    if off.joints(&mut bodies) {
        (model, _) = links::build(&mut bodies, option.gravity, &mut Vec::new())?;
    }
    let mut shapes =
        contact::read(&root, &bodies, &defaults, &compiler, option.gravity.norm(), &mut warnings)?;
    let equalities =
        equality::read(&root, &defaults, &softness, &model, &bodies, &joints, &state, &mut warnings)?;
    let tendons = tendon::read(
        &root,
        &defaults,
        (&compiler, &softness),
        &model,
        &bodies,
        &joints,
        &state,
        &mut warnings,
    )?;
    let context = actuator::MotorContext {
        compiler: &compiler,
        model: &model,
        bodies: &bodies,
        joints: &joints,
        tendons: &tendons,
        state: &state,
    };
    let motors = actuator::read(&root, &defaults, &context, &mut warnings)?;
    let keyframes = keyframe::read(&root, &model, &bodies, &joints, &state, &motors, &mut warnings)?;
    let measured = sensor::SensorContext {
        bodies: &bodies,
        joints: &joints,
        tendons: &tendons,
        motors: &motors,
        replicated,
    };
    let sensors = sensor::read(&root, &measured, &mut warnings)?;
    let mut system = System::new(model);
    system.actuators = motors.actuators;
    system.equalities = equalities;
    system.tendons = tendons.into_iter().map(|record| record.tendon).collect();
    system.drives = motors.drives;
    off.others(&mut system.tendons, &mut system.equalities, &mut shapes);
    system.validate().map_err(|e| root.fail(e.into()))?;
    let mut imported = Imported {
        name: root.text("model").unwrap_or_default().to_owned(),
        system,
        geometries: shapes.geometries,
        excluded: shapes.excluded,
        pairs: shapes.pairs,
        visuals: shapes.visuals,
        hidden: shapes.hidden,
        sites: bodies.iter().flat_map(body::MjcfBody::exported_sites).collect(),
        mocaps: links::mocaps(&bodies),
        sensors,
        state,
        keyframes,
        joints: joints.iter().map(links::JointRecord::exported).collect(),
        inputs: motors.inputs,
        time_step: option.time_step,
        hints: option.hints,
        warnings,
        notes: assets.notes(),
        files,
    };
    // The initial input of every motor is 0, in the file's units and within its range.
    let zeros = vec![0.0; imported.inputs.len()];
    imported.set_control(&zeros);
    Ok(imported)
}

impl links::JointRecord {
    fn exported(&self) -> ImportedJoint {
        ImportedJoint {
            name: self.name.clone(),
            link: self.link,
            effort_limit: self.effort_range.map(|[low, high]| low.abs().max(high.abs())),
            velocity_limit: None,
        }
    }
}
