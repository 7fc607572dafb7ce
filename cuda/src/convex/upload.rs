//! Problems of the host on the device, and solutions of the device on the host: for tests, and to
//! compare the two.

use pliant_coupling::convex::{ContactConstraint, ContactProblem, InitialGuess, Mobility, SolverInfo};

use super::memory::STENCIL;
use super::{ConvexError, DeviceConvexSolver, TRACE};
use crate::kernels::{
    CONVEX_NOT_STRONG, CONVEX_ON_NODE, ConvexContacts, ConvexReport, GridNodes, STENCIL_NODES,
};
use crate::layout::Span;
use crate::staging::Staging;
use crate::{Buffer, Commands, Device, DeviceError};

/// How far a weight may be from the B-spline's: a few roundings to f32 of the place within the
/// cell.
const WEIGHT_ROUNDING: f64 = 1e-6;

/// A problem of the host in device memory, rounded to f32.
#[derive(Debug)]
pub struct DeviceContactProblem {
    count: Buffer<u32>,
    base: Buffer<[i32; 3]>,
    offset: Buffer<[f32; 3]>,
    normal: Buffer<[f32; 3]>,
    body_velocity: Buffer<[f32; 3]>,
    gap: Buffer<f32>,
    stiffness: Buffer<f32>,
    friction: Buffer<f32>,
    lagged_normal_impulse: Buffer<f32>,
    tension: Buffer<f32>,
    dissipation: Buffer<f32>,
    stiction_tolerance: Buffer<f32>,
    body: Buffer<u32>,
    lever: Buffer<[f32; 3]>,
    /// the strongly coupled bodies.
    mobility: Mobility,
    grid: Buffer<[f32; 4]>,
    guess_impulses: Buffer<[f32; 3]>,
    /// Guessed velocity of each node \[m/s\]: where there is none, the free one.
    guess_velocities: Vec<[f64; 3]>,
    /// First rows of the stencils, and how many nodes there are: for a given numbering.
    rows: Vec<[u32; 9]>,
    /// Place of each contact in cells from the first node of its stencil.
    offsets: Vec<[f32; 3]>,
    nodes: usize,
}

impl DeviceContactProblem {
    /// Uploads a problem. Its contacts' base nodes are `base` of their first row, by which a
    /// numbering on the device finds the touched nodes; with a given numbering
    /// ([`DeviceConvexSolver::number`]) they do not matter.
    ///
    /// # Errors
    /// [`ConvexError::Mobility`], [`ConvexError::Shape`], [`ConvexError::Stencil`], and those of
    /// the device.
    pub fn upload(
        device: &Device,
        problem: &ContactProblem,
        guess: InitialGuess,
        base: impl Fn(u32) -> [i32; 3],
    ) -> Result<Self, ConvexError> {
        let nodes = problem.node_mass.len();
        if nodes != problem.node_free_velocity.len() {
            return Err(ConvexError::Shape { contact: 0 });
        }
        let contacts = &problem.contacts;
        let mut offsets = Vec::with_capacity(contacts.len());
        for (contact, c) in contacts.iter().enumerate() {
            if c.rows.iter().any(|row| *row as usize + 3 > nodes) {
                return Err(ConvexError::Shape { contact });
            }
            offsets.push(offset(c).ok_or(ConvexError::Stencil { contact })?);
        }
        let (body, lever) = attachments(problem)?;
        let (velocities, impulses) = match guess {
            InitialGuess::Free => (&[][..], &[][..]),
            InitialGuess::Impulses(impulses) => (&[][..], impulses),
            InitialGuess::Velocities(velocities) => (velocities, &[][..]),
            InitialGuess::Solution { velocities, impulses } => (velocities, impulses),
        };
        let each = |value: fn(&ContactConstraint) -> f64| -> Result<Buffer<f32>, DeviceError> {
            device.upload(&contacts.iter().map(|c| value(c) as f32).collect::<Vec<_>>())
        };
        let vectors = |value: fn(&ContactConstraint) -> [f64; 3]| -> Result<Buffer<[f32; 3]>, DeviceError> {
            device.upload(&contacts.iter().map(|c| value(c).map(|x| x as f32)).collect::<Vec<_>>())
        };
        let grid = problem.node_mass.iter().zip(&problem.node_free_velocity);
        Ok(Self {
            count: device.upload(&[contacts.len() as u32])?,
            base: device.upload(&contacts.iter().map(|c| base(c.rows[0])).collect::<Vec<_>>())?,
            offset: device.upload(&offsets)?,
            normal: vectors(|c| c.normal)?,
            body_velocity: vectors(|c| c.body_velocity)?,
            gap: each(|c| c.gap)?,
            stiffness: each(|c| c.stiffness)?,
            friction: each(|c| c.friction)?,
            lagged_normal_impulse: each(|c| c.lagged_normal_impulse)?,
            tension: each(|c| c.adhesion)?,
            dissipation: each(|c| c.dissipation)?,
            stiction_tolerance: each(|c| c.stiction_tolerance)?,
            body: device.upload(&body)?,
            lever: device.upload(&lever)?,
            mobility: problem.mobility.clone(),
            grid: device.upload(
                &grid.map(|(m, v)| [v[0] as f32, v[1] as f32, v[2] as f32, *m as f32]).collect::<Vec<_>>(),
            )?,
            guess_impulses: device
                .upload(&impulses.iter().map(|g| g.map(|x| x as f32)).collect::<Vec<_>>())?,
            guess_velocities: (0..nodes)
                .map(|node| {
                    let free = problem.node_free_velocity[node].map(|x| f64::from(x as f32));
                    let [x, y, z, _] = velocities.get(node).copied().unwrap_or(free);
                    [x, y, z]
                })
                .collect(),
            rows: contacts.iter().map(|c| c.rows).collect(),
            offsets,
            nodes,
        })
    }

    /// The contacts as the solver reads them.
    pub fn contacts(&self) -> ConvexContacts {
        ConvexContacts {
            count: self.count.span(),
            base: self.base.span(),
            offset: self.offset.span(),
            arm: Span::EMPTY,
            normal: self.normal.span(),
            body_velocity: self.body_velocity.span(),
            gap: self.gap.span(),
            stiffness: self.stiffness.span(),
            friction: self.friction.span(),
            lagged_normal_impulse: self.lagged_normal_impulse.span(),
            tension: self.tension.span(),
            dissipation: self.dissipation.span(),
            stiction_tolerance: self.stiction_tolerance.span(),
            body: self.body.span(),
            lever: self.lever.span(),
        }
    }

    /// Free velocities and masses of the grid's nodes, and after a solve their velocities.
    pub fn grid(&self) -> &Buffer<[f32; 4]> {
        &self.grid
    }

    /// Appends numbering and solve of this problem, whose nodes are in a grid of blocks; its own
    /// grid stays as it is, and the guessed velocities are those that the solver remembers.
    pub fn issue(&self, solver: &DeviceConvexSolver, commands: &mut Commands, grid: &GridNodes) {
        solver.issue(commands, &self.contacts(), grid, self.guess_impulses.span());
    }

    /// Appends the solve of this problem, numbered before.
    pub fn issue_solve(&self, solver: &DeviceConvexSolver, commands: &mut Commands) {
        let (grid, guess) = (self.grid.span(), self.guess_impulses.span());
        solver.issue_solve(commands, &self.contacts(), grid, Span::EMPTY, guess);
    }
}

/// What a solve gave at the touched nodes.
#[derive(Clone, Debug)]
pub struct NodeSolution {
    /// Where the touched nodes are in the grid.
    pub slots: Vec<u32>,
    /// Their velocities \[m/s\], world axes.
    pub velocities: Vec<[f64; 3]>,
    /// Sum of the contacts' impulses on each \[N s\].
    pub node_impulses: Vec<[f64; 3]>,
    /// Impulse of every contact on its particle \[N s\], world axes.
    pub impulses: Vec<[f64; 3]>,
    /// What happened.
    pub info: SolverInfo,
    /// The same and more, as the device wrote it.
    pub report: ConvexReport,
    /// Objective \[J\], residual, tolerance and scale \[sqrt(J)\] of the first iterates.
    pub trace: Vec<[f64; 4]>,
}

/// What a solve gave, in the CPU solver's form.
#[derive(Clone, Debug)]
pub struct DeviceSolution {
    /// Velocity of every node of the grid \[m/s\]; of touched nodes in f64, of the others the free
    /// one.
    pub velocities: Vec<[f64; 4]>,
    /// Impulse of every contact on its particle \[N s\], world axes.
    pub impulses: Vec<[f64; 3]>,
    /// Sum of the contacts' impulses on every node \[N s\].
    pub node_impulses: Vec<[f64; 4]>,
    /// How the velocities of the strongly coupled bodies changed: angular \[rad/s\], linear
    /// \[m/s\], world axes.
    pub body_velocity_changes: Vec<[f64; 6]>,
    /// What happened.
    pub info: SolverInfo,
    /// The same and more, as the device wrote it.
    pub report: ConvexReport,
    /// Objective \[J\], residual, tolerance and scale \[sqrt(J)\] of the first iterates.
    pub trace: Vec<[f64; 4]>,
}

/// Which contacts touch which nodes, as [`crate::kernels::ConvexIncidence`] has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostIncidence {
    /// The group of each contact: consecutive contacts with one stencil.
    pub contact_groups: Vec<u32>,
    /// First contact of each group, and the number of contacts.
    pub group_begin: Vec<u32>,
    /// The touched nodes of each group's stencil.
    pub group_nodes: Vec<u32>,
    /// First incidence of each touched node, and the number of incidences.
    pub node_begin: Vec<u32>,
    /// Places in `group_nodes` of each touched node, ascending.
    pub incidences: Vec<u32>,
    /// First entry of each touched node, and the number of entries.
    pub entry_begin: Vec<u32>,
    /// The contacts with a weight at each touched node, and that node's place in their stencils, as
    /// `27 contact + node of the stencil`, ascending.
    pub entries: Vec<u32>,
    /// Where each touched node lies in the grid.
    pub slots: Vec<u32>,
}

impl HostIncidence {
    /// Of contacts with these first nodes of the rows of their stencils and these places from the
    /// stencils' first nodes, in a grid of so many nodes.
    fn of(contacts: &[[u32; 9]], offsets: &[[f32; 3]], nodes: usize) -> Self {
        const UNTOUCHED: u32 = u32::MAX;
        let mut local = vec![UNTOUCHED; nodes];
        let mut it = Self::default();
        let mut last = None;
        for (contact, rows) in (0_u32..).zip(contacts) {
            if last != Some(rows) {
                last = Some(rows);
                it.group_begin.push(contact);
                for node in rows.iter().flat_map(|row| *row..*row + 3) {
                    let number = &mut local[node as usize];
                    if *number == UNTOUCHED {
                        *number = it.slots.len() as u32;
                        it.slots.push(node);
                    }
                    it.group_nodes.push(*number);
                }
            }
            it.contact_groups.push(it.group_begin.len() as u32 - 1);
        }
        it.group_begin.push(contacts.len() as u32);
        it.incidences = (0..it.group_nodes.len() as u32).collect();
        it.incidences.sort_by_key(|place| it.group_nodes[*place as usize]);
        it.node_begin = vec![0; it.slots.len() + 1];
        for node in &it.group_nodes {
            it.node_begin[*node as usize + 1] += 1;
        }
        for node in 0..it.slots.len() {
            it.node_begin[node + 1] += it.node_begin[node];
        }
        for node in 0..it.slots.len() {
            it.entry_begin.push(it.entries.len() as u32);
            for place in it.node_begin[node]..it.node_begin[node + 1] {
                let place = it.incidences[place as usize];
                let (group, s) = ((place / STENCIL_NODES) as usize, place % STENCIL_NODES);
                let contacts = it.group_begin[group]..it.group_begin[group + 1];
                let weighted = contacts.filter(|c| weight_at(&offsets[*c as usize], s) != 0.0);
                it.entries.extend(weighted.map(|c| c * STENCIL_NODES + s));
            }
        }
        it.entry_begin.push(it.entries.len() as u32);
        it
    }
}

impl DeviceConvexSolver {
    /// Takes over the numbering of a problem of the host, its guessed velocities, and the strongly
    /// coupled bodies in it.
    ///
    /// # Errors
    /// [`ConvexError::CapacityExceeded`] and those of the device.
    pub fn number(&mut self, problem: &DeviceContactProblem) -> Result<(), ConvexError> {
        let host = HostIncidence::of(&problem.rows, &problem.offsets, problem.nodes);
        let (contacts, nodes) = (host.contact_groups.len(), host.slots.len());
        if contacts > self.contact_capacity as usize || nodes > self.node_capacity as usize {
            return Err(self.capacity_exceeded());
        }
        let groups = host.group_begin.len() - 1;
        self.incidence.counts.upload(&[contacts as u32, groups as u32, nodes as u32, 0])?;
        self.incidence.contact_groups.upload(&host.contact_groups)?;
        self.incidence.group_begin.upload(&host.group_begin)?;
        self.incidence.group_nodes.upload(&host.group_nodes)?;
        self.incidence.node_begin.upload(&host.node_begin)?;
        self.incidence.incidences.upload(&host.incidences)?;
        self.incidence.entry_begin.upload(&host.entry_begin)?;
        self.incidence.entries.upload(&host.entries)?;
        let weights: Vec<_> = (host.entries.iter())
            .map(|entry| {
                let (contact, s) = (entry / STENCIL_NODES, entry % STENCIL_NODES);
                weight_at(&problem.offsets[contact as usize], s)
            })
            .collect();
        self.incidence.entry_weights.upload(&weights)?;
        self.incidence.slots.upload(&host.slots)?;
        let guess: Vec<_> = host.slots.iter().map(|node| problem.guess_velocities[*node as usize]).collect();
        self.guess_velocities.upload(&guess)?;
        let places: Vec<_> = (0..problem.mobility.bodies() as u32).map(Some).collect();
        let mut staging = Staging::new(&self.device)?;
        self.set_mobility(&mut staging, &problem.mobility, &places)?;
        Ok(staging.send()?)
    }

    /// The numbering of the last solve.
    ///
    /// # Errors
    /// [`ConvexError::CapacityExceeded`] where there was no room for it, and those of the device.
    pub fn download_incidence(&self) -> Result<HostIncidence, ConvexError> {
        let part = |buffer: &Buffer<u32>, length: usize| -> Result<Vec<u32>, DeviceError> {
            let mut values = vec![0; length];
            buffer.download_at(0, &mut values)?;
            Ok(values)
        };
        let counts = self.incidence.counts.download()?;
        let [contacts, groups, nodes] = [counts[0], counts[1], counts[2]].map(|count| count as usize);
        if counts[3] != 0 {
            return Err(self.capacity_exceeded());
        }
        if contacts == 0 {
            return Ok(HostIncidence {
                group_begin: vec![0],
                node_begin: vec![0],
                entry_begin: vec![0],
                ..HostIncidence::default()
            });
        }
        let entry_begin = part(&self.incidence.entry_begin, nodes + 1)?;
        Ok(HostIncidence {
            contact_groups: part(&self.incidence.contact_groups, contacts)?,
            group_begin: part(&self.incidence.group_begin, groups + 1)?,
            group_nodes: part(&self.incidence.group_nodes, STENCIL * groups)?,
            node_begin: part(&self.incidence.node_begin, nodes + 1)?,
            incidences: part(&self.incidence.incidences, STENCIL * groups)?,
            entries: part(&self.incidence.entries, entry_begin[nodes] as usize)?,
            entry_begin,
            slots: part(&self.incidence.slots, nodes)?,
        })
    }

    /// The solution of the last solve.
    ///
    /// # Errors
    /// [`ConvexError::CapacityExceeded`] where the problem was too large, and those of the device.
    pub fn download_nodes(&self) -> Result<NodeSolution, ConvexError> {
        let report = self.report()?;
        let info = self.info(&report)?;
        let nodes = report.nodes as usize;
        let mut slots = vec![0; nodes];
        let (mut velocities, mut node_impulses) = (vec![[0.0; 3]; nodes], vec![[0.0; 3]; nodes]);
        let mut impulses = vec![[0.0; 3]; report.contacts as usize];
        let iterates = if nodes == 0 { 0 } else { report.iterations as usize + 1 };
        let mut trace = vec![[0.0; 4]; TRACE.min(iterates)];
        self.incidence.slots.download_at(0, &mut slots)?;
        self.velocities.download_at(0, &mut velocities)?;
        self.node_impulses.download_at(0, &mut node_impulses)?;
        self.impulses.download_at(0, &mut impulses)?;
        self.trace.download_at(0, &mut trace)?;
        Ok(NodeSolution { slots, velocities, node_impulses, impulses, info, report, trace })
    }

    /// The solution of the last solve, of this problem with its own numbering.
    ///
    /// # Errors
    /// [`ConvexError::CapacityExceeded`] where the problem was too large, and those of the device.
    pub fn download(&self, problem: &DeviceContactProblem) -> Result<DeviceSolution, ConvexError> {
        let NodeSolution {
            slots,
            velocities: of_nodes,
            node_impulses: on_nodes,
            impulses,
            info,
            report,
            trace,
        } = self.download_nodes()?;
        let grid = problem.grid.download()?;
        let mut velocities: Vec<[f64; 4]> =
            grid.iter().map(|v| [f64::from(v[0]), f64::from(v[1]), f64::from(v[2]), 0.0]).collect();
        let mut node_impulses = vec![[0.0; 4]; grid.len()];
        for ((slot, v), g) in slots.iter().zip(&of_nodes).zip(&on_nodes) {
            velocities[*slot as usize] = [v[0], v[1], v[2], 0.0];
            node_impulses[*slot as usize] = [g[0], g[1], g[2], 0.0];
        }
        let body_velocity_changes = self.download_body_velocity_changes()?;
        Ok(DeviceSolution { velocities, impulses, node_impulses, body_velocity_changes, info, report, trace })
    }
}

/// Body and lever of each contact.
fn attachments(problem: &ContactProblem) -> Result<(Vec<u32>, Vec<[f32; 3]>), ConvexError> {
    let bodies = problem.mobility.bodies();
    let (mut body, mut lever) = (Vec::new(), Vec::new());
    for contact in 0..problem.contacts.len() {
        let attachment = problem.mobility.attachment(contact);
        let on = attachment.and_then(|attachment| attachment.body);
        if let Some(body) = on.filter(|on| *on as usize >= bodies) {
            return Err(ConvexError::Mobility { contact, body, bodies });
        }
        body.push(on.unwrap_or(CONVEX_NOT_STRONG));
        lever.push(attachment.map_or([0.0; 3], |attachment| attachment.lever.map(|x| x as f32)));
    }
    Ok((body, lever))
}

/// The particle's place in cells from the stencil's first node, of which a contact's weights are.
fn offset(contact: &ContactConstraint) -> Option<[f32; 3]> {
    let xy = &contact.weights_xy;
    let axes = [
        std::array::from_fn(|i| xy[3 * i] + xy[3 * i + 1] + xy[3 * i + 2]),
        std::array::from_fn(|j| xy[j] + xy[3 + j] + xy[6 + j]),
        contact.weights_z,
    ];
    let mut offset = [0.0_f32; 3];
    for (offset, weights) in offset.iter_mut().zip(&axes) {
        *offset = match weights.iter().position(|weight| *weight == 1.0) {
            Some(node) => CONVEX_ON_NODE as f32 + node as f32,
            // The B-spline's first and last weight differ by 1 - f.
            None => (1.0 + weights[2] - weights[0]) as f32,
        };
    }
    let weights = offset.map(|f| std::array::from_fn::<f64, 3, _>(|k| weight(f64::from(f), k)));
    for node in 0..STENCIL {
        let (row, k) = (node / 3, node % 3);
        let given = xy[row] * contact.weights_z[k];
        let found = weights[0][row / 3] * weights[1][row % 3] * weights[2][k];
        // A weight that is not a number is neither.
        if (given - found).is_nan() || (given - found).abs() > WEIGHT_ROUNDING {
            return None;
        }
    }
    Some(offset)
}

/// The weight of a contact with this place at node `s` of its stencil.
fn weight_at(offset: &[f32; 3], s: u32) -> f64 {
    let along = |axis: usize, k: u32| weight(f64::from(offset[axis]), k as usize);
    along(0, s / 9) * along(1, s / 3 % 3) * along(2, s % 3)
}

/// The weight of node `k` of three along an axis, as `kernels/convex.cuh` has it.
fn weight(offset: f64, k: usize) -> f64 {
    let on_node = offset - f64::from(CONVEX_ON_NODE);
    if on_node >= 0.0 {
        return f64::from(u8::from(on_node == k as f64));
    }
    let d = offset - k as f64;
    if k == 1 { 0.75 - d * d } else { 0.5 * (1.5 - d.abs()).powi(2) }
}
