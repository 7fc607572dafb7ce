//! `joints.csv`: positions, velocities, efforts and reactions of all joints at every frame.

use std::collections::BTreeMap;
use std::path::Path;

use nalgebra::{Quaternion, UnitQuaternion};
use pliant_coupling::World;
use pliant_io::digest::{DigestError, FileDigest};
use pliant_io::files::IoError;
use pliant_rigid::multibody::{JointKind, LinkId, Model};
use pliant_scenes::scenario::Scenario;

use super::csv_table;
use super::table::{Opening, Table, quoted};
use super::wrench::{Wrench, WrenchColumns, wrench_cells};

/// Name of the table with one row per frame and degree of freedom.
pub const JOINTS: &str = "joints.csv";

const HEADER: &str = "time,joint,link,kind,dof,unit,position,velocity,effort,fx,fy,fz,tx,ty,tz";

/// Whether a joint has rows: all but free ones, which hold nothing, and prescribed ones, which are
/// no joints of a mechanism.
fn is_listed(kind: &JointKind) -> bool {
    !matches!(kind, JointKind::Free | JointKind::Prescribed(_))
}

/// Whether a world has joints with rows.
pub fn any(world: &World) -> bool {
    let model = &world.bodies().simulation().system().model;
    model.links().iter().any(|link| is_listed(&link.joint))
}

/// The table of a run.
pub struct JointTable {
    table: Table,
    efforts: Vec<Option<f64>>,
}

impl JointTable {
    /// Begins or continues the table; none for a world without joints.
    pub fn open(directory: &Path, opening: Opening, world: &World) -> Result<Option<Self>, DigestError> {
        if !any(world) {
            return Ok(None);
        }
        Ok(Some(Self { table: opening.table(directory, JOINTS, HEADER)?, efforts: Vec::new() }))
    }

    /// The rows of a frame: positions and velocities at its time, efforts and reactions of the last
    /// step of the rigid bodies. Of the scenario only buffers change.
    pub fn frame(&mut self, scenario: &mut Scenario) -> Result<(), IoError> {
        let Scenario { world, joint_names, .. } = scenario;
        let time = world.time();
        let simulation = world.bodies().simulation();
        simulation.drive_efforts(&mut self.efforts);
        // A joint has none before the first step.
        let reactions = simulation.joint_reactions();
        let (model, state) = (&simulation.system().model, simulation.state());
        for (l, link) in model.links().iter().enumerate().filter(|(_, link)| is_listed(&link.joint)) {
            let reaction = reactions.get(l).map(|f| Wrench { force: f.linear, torque: f.angular });
            let (name, kind) = (quoted(&link.name), link.joint.name());
            let joint = joint_names.get(&LinkId(l)).map_or_else(|| name.clone(), |name| quoted(name));
            let wrench = wrench_cells(reaction);
            let velocities = model.velocities_of(LinkId(l));
            if velocities.is_empty() {
                self.table.line(&format!("{time:?},{joint},{name},{kind},,,,,{wrench}"))?;
            }
            for (dof, n) in velocities.enumerate() {
                let (position, velocity) = (position(model, LinkId(l), dof, &state.q), state.v[n]);
                let effort = self.efforts.get(n).copied().flatten();
                let effort = effort.map(|effort| format!("{effort:?}")).unwrap_or_default();
                let unit = link.joint.unit(dof);
                self.table.line(&format!(
                    "{time:?},{joint},{name},{kind},{dof},{unit},{position:?},{velocity:?},{effort}{wrench}"
                ))?;
            }
        }
        Ok(())
    }

    /// Writes every row to disk, and the table's length and digest into `files`.
    pub fn sync(&mut self, files: &mut BTreeMap<String, FileDigest>) -> Result<(), IoError> {
        self.table.sync(files)
    }
}

/// Position of a degree of freedom \[rad, m\]: of a ball joint the component of the rotation vector.
fn position(model: &Model, link: LinkId, dof: usize, q: &[f64]) -> f64 {
    let q = &q[model.positions_of(link)];
    match model.links()[link.0].joint {
        JointKind::Ball => {
            let turn = UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3]));
            turn.scaled_axis()[dof]
        }
        _ => q[dof],
    }
}

/// A row of `joints.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct JointRow {
    /// Time \[s\].
    pub time: f64,
    /// Name of the joint in the scene; that of its link if the scene has none.
    pub joint: String,
    /// Name of the link that the joint holds.
    pub link: String,
    /// Number of the degree of freedom; none for a fixed joint.
    pub dof: Option<usize>,
    /// Position \[rad, m\]; none for a fixed joint.
    pub position: Option<f64>,
    /// Velocity \[rad/s, m/s\]; none for a fixed joint.
    pub velocity: Option<f64>,
    /// Torque or force of motors and controllers \[N m, N\]; none where there are none, and at the
    /// start.
    pub effort: Option<f64>,
    /// Wrench of the joint on its link, about the origin of the link, world frame; none at the
    /// start.
    pub reaction: Option<Wrench>,
}

/// Reads `joints.csv` of a run directory.
///
/// # Errors
/// The file is missing or a row is malformed.
pub fn read_joints(directory: &Path) -> Result<Vec<JointRow>, IoError> {
    let table = csv_table::read(directory, JOINTS)?;
    let [time, joint, link, dof, position, velocity, effort] =
        table.columns(["time", "joint", "link", "dof", "position", "velocity", "effort"])?;
    let wrench = WrenchColumns::of(&table, ["fx", "fy", "fz", "tx", "ty", "tz"])?;
    let row = |row: csv_table::CsvRow| {
        Ok(JointRow {
            time: row.value(time)?,
            joint: row.text(joint).to_owned(),
            link: row.text(link).to_owned(),
            dof: row.optional(dof)?,
            position: row.optional(position)?,
            velocity: row.optional(velocity)?,
            effort: row.optional(effort)?,
            reaction: wrench.read_measured(&row)?,
        })
    };
    table.rows().map(row).collect()
}
