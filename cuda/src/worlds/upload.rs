//! Data that all worlds share, for the kernels.

use pliant_batch::{FlatBatch, FlatBody, FlatPose};
use pliant_rigid::comfree::ImpedanceCurve;

use crate::kernels::{
    WORLDS_BODY_NUMBERS, WORLDS_CURVE_NUMBERS, WORLDS_DOF_NUMBERS, WORLDS_POINT_NUMBERS, WORLDS_POSE_NUMBERS,
    WORLDS_SETTINGS_NUMBERS, WorldsBody, WorldsDof, WorldsGeometry, WorldsMotor, WorldsPair, WorldsTree,
};

/// Whole numbers and structures, and the real numbers.
#[derive(Debug)]
pub(super) struct Upload {
    pub bodies: Vec<WorldsBody>,
    pub trees: Vec<WorldsTree>,
    pub geometries: Vec<WorldsGeometry>,
    pub pairs: Vec<WorldsPair>,
    pub motors: Vec<WorldsMotor>,
    pub dofs: Vec<WorldsDof>,
    pub entries: Vec<[u32; 2]>,
    pub constants: Vec<f64>,
    /// Degrees of freedom of the largest tree.
    pub largest: u32,
}

/// Numbers of a step of each body: pose, velocity and acceleration, inertia, force.
const BODY_ROWS: [u32; 4] = [WORLDS_POSE_NUMBERS, 12, 10, 6];

/// First rows of the numbers of a step, in the order of `WorldsPlan`, and how many there are.
#[derive(Debug)]
pub(super) struct Rows {
    pub poses: u32,
    pub motions: u32,
    pub inertias: u32,
    pub forces: u32,
    pub axes: u32,
    pub bare: u32,
    pub blocks: u32,
    pub momenta: u32,
    pub smooth: u32,
    pub loads: u32,
    pub saturated: u32,
    pub scratch: u32,
    /// Of the contacts: columns, and how many rows there are.
    pub columns: u32,
    pub contacts: u32,
}

impl Rows {
    pub(super) fn new(flat: &FlatBatch, largest: u32) -> Self {
        let (bodies, dofs, blocks) = (flat.bodies.len() as u32, flat.velocities as u32, flat.blocks() as u32);
        let mut next = 0;
        let mut take = |count: u32| {
            next += count;
            next - count
        };
        let [poses, motions, inertias, forces] = BODY_ROWS.map(|numbers| take(numbers * bodies));
        let axes = take(6 * dofs);
        let [bare, factors] = [blocks; 2].map(&mut take);
        let [momenta, smooth, loads] = [dofs; 3].map(&mut take);
        let saturated = take(2 * flat.motors.len() as u32);
        let scratch = take(0);
        let columns = WORLDS_POINT_NUMBERS * flat.points() as u32;
        Self {
            poses,
            motions,
            inertias,
            forces,
            axes,
            bare,
            blocks: factors,
            momenta,
            smooth,
            loads,
            saturated,
            scratch,
            columns,
            contacts: columns + 3 * largest * flat.pairs.len() as u32,
        }
    }
}

/// First numbers of the parts of the constants.
#[derive(Debug)]
pub(super) struct Constants {
    pub bodies: u32,
    pub geometries: u32,
    pub pairs: u32,
    pub motors: u32,
    pub dofs: u32,
    pub facets: u32,
}

impl Constants {
    pub(super) fn new(flat: &FlatBatch) -> Self {
        let mut next = WORLDS_SETTINGS_NUMBERS;
        let mut take = |numbers: u32, count: usize| {
            next += numbers * count as u32;
            next - numbers * count as u32
        };
        Self {
            bodies: take(WORLDS_BODY_NUMBERS, flat.bodies.len()),
            geometries: take(WORLDS_POSE_NUMBERS, flat.geometries.len()),
            pairs: take(WORLDS_CURVE_NUMBERS, flat.pairs.len()),
            motors: take(1, flat.motors.len()),
            dofs: take(WORLDS_DOF_NUMBERS, flat.dofs.len()),
            facets: take(2, flat.facets.len()),
        }
    }
}

fn curve(curve: &ImpedanceCurve) -> [f64; WORLDS_CURVE_NUMBERS as usize] {
    [curve.minimum, curve.maximum, curve.width, curve.midpoint, curve.power]
}

fn pose(pose: &FlatPose) -> impl Iterator<Item = f64> {
    pose.rotation.into_iter().chain(pose.origin)
}

/// The numbers of a body in the order of `WORLDS_BODY_*`.
fn body_numbers(flat: &FlatBatch, body: &FlatBody) -> Vec<f64> {
    let mut numbers: Vec<f64> = pose(&body.frame).collect();
    numbers.extend(body.axis);
    numbers.push(body.mass);
    numbers.extend(body.center);
    numbers.extend(body.inertia);
    numbers.push(body.weight.0);
    numbers.extend(body.weight.1);
    numbers.extend(flat.trees[body.tree as usize].floating.unwrap_or_default());
    numbers
}

fn constants(flat: &FlatBatch) -> Vec<f64> {
    let [kappa, delta] = flat.rates;
    // The published impedance belongs to four facets.
    let mut numbers = vec![flat.dt, kappa, delta, 4.0 / flat.facets.len() as f64];
    numbers.extend(curve(&flat.joints));
    numbers.extend(flat.bodies.iter().flat_map(|body| body_numbers(flat, body)));
    numbers.extend(flat.geometries.iter().flat_map(|geometry| pose(&geometry.pose)));
    numbers.extend(flat.pairs.iter().flat_map(|pair| curve(&pair.impedance)));
    numbers.extend(flat.motors.iter().map(|motor| motor.target_rate));
    for dof in &flat.dofs {
        let f = &dof.figures;
        let [low, high] = f.limits;
        numbers.extend([f.damping, f.stiffness, f.reference, f.armature, f.friction_loss, low, high]);
    }
    numbers.extend(flat.facets.iter().flatten());
    numbers
}

/// For each degree of freedom, the pairs that it moves one of whose bodies, and not both: what
/// moves both alike is not seen by their contact.
fn entries(flat: &FlatBatch) -> Vec<Vec<[u32; 2]>> {
    let mut entries = vec![Vec::new(); flat.velocities];
    for (p, pair) in flat.pairs.iter().enumerate() {
        let chains = pair.geometries.map(|g| {
            let body = flat.geometries[g as usize].body;
            flat.bodies
                .get(body as usize)
                .map_or(&[][..], |body| &flat.chains[body.first_chain as usize..][..body.chain as usize])
        });
        for (side, chain) in (0..2).zip(chains) {
            let other = chains[1 - side as usize];
            for entry in chain.iter().filter(|entry| !other.contains(entry)) {
                entries[entry[0] as usize].push([p as u32, side]);
            }
        }
    }
    entries
}

impl Upload {
    pub(super) fn new(flat: &FlatBatch) -> Self {
        let body = |body: &FlatBody| WorldsBody {
            joint: body.joint,
            parent: body.parent,
            first_position: body.first_position,
            first_velocity: body.first_velocity,
            dofs: body.dofs,
            tree: body.tree,
            first_chain: body.first_chain,
            chain: body.chain,
        };
        let mut listed: Vec<[u32; 2]> = Vec::new();
        let mut dofs = Vec::with_capacity(flat.velocities);
        for (dof, entries) in flat.dofs.iter().zip(entries(flat)) {
            let first_entry = listed.len() as u32;
            listed.extend(entries);
            let end_entry = listed.len() as u32;
            let (position, tree, diagonal) = (dof.position, dof.tree, dof.diagonal);
            dofs.push(WorldsDof { position, tree, diagonal, first_entry, end_entry });
        }
        let tree = |tree: &pliant_batch::FlatTree| WorldsTree {
            first_body: tree.first_body,
            bodies: tree.bodies,
            first_velocity: tree.first_velocity,
            size: tree.size,
            block: tree.block,
            floating: u32::from(tree.floating.is_some()),
        };
        let motor = |motor: &pliant_batch::FlatMotor| WorldsMotor {
            dof: motor.dof,
            position: motor.position,
            order: motor.order,
            tree: flat.dofs[motor.dof as usize].tree,
        };
        let pair = |pair: &pliant_batch::FlatPair| WorldsPair {
            kind: pair.kind,
            geometries: pair.geometries,
            first_point: pair.first_point,
            larger_friction: pair.larger_friction,
        };
        let geometries = flat.geometries.iter().map(|g| WorldsGeometry { body: g.body, shape: g.shape });
        Self {
            bodies: flat.bodies.iter().map(body).collect(),
            trees: flat.trees.iter().map(tree).collect(),
            geometries: geometries.collect(),
            pairs: flat.pairs.iter().map(pair).collect(),
            motors: flat.motors.iter().map(motor).collect(),
            dofs,
            entries: listed,
            constants: constants(flat),
            largest: flat.trees.iter().map(|tree| tree.size).max().unwrap_or(0),
        }
    }
}
