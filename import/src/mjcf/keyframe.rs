//! States that the file names.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};

use super::super::element::Element;
use super::super::error::{ImportError, ImportWarning};
use super::super::imported::Keyframe;
use super::actuator::{Kept, Motors};
use super::body::{Freedom, MjcfBody};
use super::links::JointRecord;
use super::pose::quaternion;
use pliant_rigid::multibody::{Model, State};

/// Reads `<keyframe>`. MuJoCo's positions of a free joint are place and quaternion, its velocities
/// linear in the world's axes and angular in the body's; those of a ball joint are in the body's
/// axes.
pub(super) fn read(
    root: &Element,
    model: &Model,
    bodies: &[MjcfBody],
    joints: &[JointRecord],
    reference: &State,
    motors: &Motors,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Vec<Keyframe>, ImportError> {
    let mut keyframes = Vec::new();
    for (i, element) in root.all("keyframe").flat_map(|keyframe| keyframe.all("key")).enumerate() {
        let mut state = reference.clone();
        state.time = element.number("time")?.unwrap_or(0.0);
        if let Some(q) = element.numbers("qpos", model.positions()..=model.positions())? {
            read_positions(element, model, joints, &q, &mut state)?;
        }
        if let Some(v) = element.numbers("qvel", model.velocities()..=model.velocities())? {
            read_velocities(model, joints, &v, &mut state);
        }
        let all = motors.kept.len();
        let control = element.numbers("ctrl", all..=all)?.unwrap_or_else(|| vec![0.0; all]);
        // Motors that were left out have no inputs.
        let of = |kind: Kept| -> Vec<f64> {
            let both = control.iter().zip(&motors.kept);
            both.filter(|(_, kept)| **kept == kind).map(|(control, _)| *control).collect()
        };
        let (of_actuators, of_drives) = (of(Kept::Actuator), of(Kept::Drive));
        let activation = activations(element, motors, warnings)?;
        let mocaps = mocaps(element, bodies)?;
        let name = element.text("name").map_or_else(|| format!("key{i}"), str::to_owned);
        keyframes.push(Keyframe {
            name,
            state,
            control: of_actuators,
            drive_control: of_drives,
            activation,
            mocaps,
        });
    }
    Ok(keyframes)
}

/// Poses of the mocap bodies; those of the file where the keyframe gives none.
fn mocaps(element: &Element, bodies: &[MjcfBody]) -> Result<Vec<Isometry3<f64>>, ImportError> {
    let mut poses: Vec<_> = bodies.iter().filter(|body| body.mocap).map(|body| body.pose).collect();
    let [places, turns] = [3 * poses.len(), 4 * poses.len()];
    if let Some(places) = element.numbers("mpos", places..=places)? {
        for (pose, x) in poses.iter_mut().zip(places.chunks_exact(3)) {
            pose.translation = Translation3::new(x[0], x[1], x[2]);
        }
    }
    if let Some(turns) = element.numbers("mquat", turns..=turns)? {
        for (pose, q) in poses.iter_mut().zip(turns.chunks_exact(4)) {
            pose.rotation = quaternion(element, "mquat", [q[0], q[1], q[2], q[3]])?;
        }
    }
    Ok(poses)
}

/// Activations of the drives that have one. MuJoCo counts those of motors that are left out, too.
fn activations(
    element: &Element,
    motors: &Motors,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Vec<f64>, ImportError> {
    let own: Vec<f64> = motors.drives.iter().filter(|d| d.has_activation()).map(|d| d.start).collect();
    let Some(given) = element.numbers("act", 0..=usize::MAX)? else { return Ok(own) };
    if given.len() == own.len() {
        return Ok(given);
    }
    if motors.kept.contains(&Kept::No) {
        warnings.push(element.warn("act", "left out: some are of motors that were left out"));
        return Ok(own);
    }
    Err(element.bad("act", &format!("{} finite numbers", own.len())))
}

fn read_positions(
    element: &Element,
    model: &Model,
    joints: &[JointRecord],
    mut from: &[f64],
    state: &mut State,
) -> Result<(), ImportError> {
    for joint in joints {
        let q = &mut state.q[model.positions_of(joint.link)];
        let (own, rest) = from.split_at(q.len());
        from = rest;
        let unit = |w, x, y, z| -> Result<[f64; 4], ImportError> {
            let r = quaternion(element, "qpos", [w, x, y, z])?;
            Ok([r.w, r.i, r.j, r.k])
        };
        match *own {
            [x, y, z, w, i, j, k] => {
                q[..4].copy_from_slice(&unit(w, i, j, k)?);
                q[4..].copy_from_slice(&[x, y, z]);
            }
            [w, i, j, k] => q.copy_from_slice(&unit(w, i, j, k)?),
            _ => q.copy_from_slice(own),
        }
    }
    Ok(())
}

fn read_velocities(model: &Model, joints: &[JointRecord], mut from: &[f64], state: &mut State) {
    for joint in joints {
        let q = &state.q[model.positions_of(joint.link)];
        let v = &mut state.v[model.velocities_of(joint.link)];
        let (own, rest) = from.split_at(v.len());
        from = rest;
        v.copy_from_slice(own);
        if matches!(joint.freedom, Freedom::Ball | Freedom::Free) {
            // Positions were normalised when they were read.
            let angular = if own.len() == 6 { &own[3..] } else { own };
            let turned = UnitQuaternion::new_unchecked(Quaternion::new(q[0], q[1], q[2], q[3]))
                * Vector3::from_column_slice(angular);
            v[..3].copy_from_slice(turned.as_slice());
            if own.len() == 6 {
                v[3..].copy_from_slice(&own[..3]);
            }
        }
    }
}
