//! Bodies whose velocities are unknowns of the contact problem too: strong coupling.
//!
//! Within the step the bodies' response to impulses is linear, `dV = W p`, with the spatial
//! velocities V and impulses p of all of them (each six numbers, angular part first, about the
//! body's origin) and their mobility W, symmetric and positive semidefinite. The objective gains
//! the kinetic energy of that response, `1/2 dV^T W^+ dV`, and the contact velocities become
//!
//! ```text
//! v_c = sum_i w_ic v_i - v_body - B_c dV,   B_c = [-[lever]_x, I]
//! ```
//!
//! With W = L L^T and dV = L y, the unknowns y have the energy `1/2 |y|^2`: any rank of W will do
//! (a finger on a slide has one, and the bodies of an arm share its joints), and the y join the
//! nodes' velocities as if they were those of nodes of mass one.

use super::layout::Vector;

/// The strongly coupled bodies. Without any, all bodies keep the velocities that the contacts
/// state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mobility {
    /// L, a row of `rank` numbers for each of the bodies' six components.
    factor: Vec<f64>,
    rank: usize,
    bodies: usize,
    attachments: Vec<Attachment>,
    // Of the factorisation:
    left: Vec<f64>,
    done: Vec<bool>,
}

/// Which body a contact is on, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// Index of the body among those of the [`Mobility`]; `None` for one that keeps its velocity.
    pub body: Option<u32>,
    /// From the body's origin to the contact, world axes \[m\].
    pub lever: [f64; 3],
}

/// An angular and a linear part: a velocity, or an impulse.
pub(super) type Spatial = [f64; 6];

/// Part of a diagonal entry of W that counts as rounding in its factor.
const NEGLIGIBLE: f64 = 1e-11;

impl Mobility {
    /// Forgets all bodies: they keep their velocities.
    pub fn clear(&mut self) {
        self.factor.clear();
        self.attachments.clear();
        (self.rank, self.bodies) = (0, 0);
    }

    /// Takes the mobility W of `bodies` bodies, `6 bodies` rows of as many numbers
    /// \[1/kg, 1/(kg m), 1/(kg m^2)\], and factorises it by Cholesky with pivots, as far as its
    /// rank goes. Parts that are not finite or not positive semidefinite are dropped.
    pub fn set(&mut self, bodies: usize, mobility: &[f64]) {
        let n = 6 * bodies;
        self.clear();
        self.bodies = bodies;
        self.left.clear();
        self.left.extend((0..n).map(|i| mobility[i * n + i]));
        self.done.clear();
        self.done.resize(n, false);
        // Columns of L one after another; turned into rows at the end.
        for _ in 0..n {
            let open = (0..n).filter(|&i| {
                let whole = mobility[i * n + i];
                !self.done[i] && self.left[i] > NEGLIGIBLE * whole && self.left[i].is_finite()
            });
            // Relative to the whole, since angular and linear entries have different units.
            let share = |i: usize| self.left[i] / mobility[i * n + i];
            let Some(pivot) = open.max_by(|&a, &b| share(a).total_cmp(&share(b))) else { break };
            self.done[pivot] = true;
            let root = self.left[pivot].sqrt();
            let start = self.factor.len();
            for i in 0..n {
                let known: f64 =
                    (0..self.rank).map(|k| self.factor[k * n + i] * self.factor[k * n + pivot]).sum();
                // Rows that are done hold only rounding errors.
                let value = if i == pivot {
                    root
                } else if self.done[i] {
                    0.0
                } else {
                    (mobility[i * n + pivot] - known) / root
                };
                self.factor.push(value);
            }
            for i in 0..n {
                self.left[i] -= self.factor[start + i] * self.factor[start + i];
            }
            self.rank += 1;
        }
        self.left.clear();
        self.left.extend_from_slice(&self.factor);
        for i in 0..n {
            for k in 0..self.rank {
                self.factor[i * self.rank + k] = self.left[k * n + i];
            }
        }
    }

    /// Sets the body of the next contact of the problem. Contacts without an attachment are on
    /// bodies that keep their velocity.
    pub fn attach(&mut self, attachment: Attachment) {
        self.attachments.push(attachment);
    }

    /// Reserves memory for the attachments of this number of contacts and a quarter more, because
    /// the number varies.
    pub fn reserve(&mut self, contacts: usize) {
        if self.attachments.capacity() < contacts {
            self.attachments.reserve(contacts + contacts / 4);
        }
    }

    /// Removes the attachments, before the contacts of another substep.
    pub fn detach(&mut self) {
        self.attachments.clear();
    }

    /// Velocity change of a contact point on its body where the bodies' velocities change by
    /// `body_velocity_changes` \[m/s\].
    pub fn velocity_change_at(&self, contact: usize, body_velocity_changes: &[[f64; 6]]) -> [f64; 3] {
        self.on(contact)
            .map_or([0.0; 3], |(body, lever)| point_velocity(&body_velocity_changes[body], &lever))
    }

    /// Number of bodies.
    pub fn bodies(&self) -> usize {
        self.bodies
    }

    /// Number of unknowns y.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// L with `W = L L^T`, by rows of [`Mobility::rank`] numbers, six rows for each body (roots of
    /// the units of W).
    pub fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// The attachment of a contact, if it has one.
    pub fn attachment(&self, contact: usize) -> Option<Attachment> {
        self.attachments.get(contact).copied()
    }

    /// Row `i` of L.
    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.factor[i * self.rank..(i + 1) * self.rank]
    }

    /// Vectors that hold the y, three to each.
    pub(super) fn vectors(&self) -> usize {
        self.rank.div_ceil(3)
    }

    /// Copies that of another problem; buffers are kept.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.factor.clone_from(&other.factor);
        self.attachments.clone_from(&other.attachments);
        (self.rank, self.bodies) = (other.rank, other.bodies);
    }

    /// Body and lever of a contact, if the body is strongly coupled.
    pub(super) fn on(&self, contact: usize) -> Option<(usize, [f64; 3])> {
        let attachment = self.attachments.get(contact)?;
        Some((attachment.body? as usize, attachment.lever))
    }

    /// Whether every number is finite, and every body exists.
    pub(super) fn is_valid(&self) -> bool {
        self.factor.iter().all(|x| x.is_finite())
            && self.attachments.iter().all(|a| {
                a.body.is_none_or(|body| (body as usize) < self.bodies)
                    && a.lever.iter().all(|x| x.is_finite())
            })
    }

    /// `dV = L y`.
    pub(super) fn velocities(&self, y: impl Fn(usize) -> f64, out: &mut Vec<Spatial>) {
        out.clear();
        out.extend((0..self.bodies).map(|b| {
            std::array::from_fn(|d| self.row(6 * b + d).iter().enumerate().map(|(j, l)| l * y(j)).sum())
        }));
    }

    /// Calls `add(j, value)` with every component of `L^T p`.
    pub(super) fn reduce(&self, impulses: &[Spatial], mut add: impl FnMut(usize, f64)) {
        for (b, impulse) in impulses.iter().enumerate() {
            for (d, p) in impulse.iter().enumerate() {
                for (j, l) in self.row(6 * b + d).iter().enumerate() {
                    add(j, l * p);
                }
            }
        }
    }

    /// Takes `B_c dV` from the velocity of every contact.
    pub(super) fn subtract_motion(&self, velocities: &[Spatial], out: &mut [Vector]) {
        for (c, out) in out.iter_mut().enumerate().take(self.attachments.len()) {
            if let Some((body, lever)) = self.on(c) {
                let v = point_velocity(&velocities[body], &lever);
                for a in 0..3 {
                    out[a] -= v[a];
                }
            }
        }
    }

    /// Adds bounds of the sizes of the terms in `L^T p` to the y, given the sizes of the contacts'
    /// impulses (their first components).
    pub(super) fn add_sizes(&self, sizes: &[Vector], impulses: &mut Vec<Spatial>, out: &mut [Vector]) {
        impulses.clear();
        impulses.resize(self.bodies, [0.0; 6]);
        for (c, size) in sizes.iter().enumerate().take(self.attachments.len()) {
            if let Some((body, lever)) = self.on(c) {
                let reach: f64 = lever.iter().map(|r| r.abs()).sum();
                for a in 0..3 {
                    impulses[body][a] += reach * size[0];
                    impulses[body][3 + a] += size[0];
                }
            }
        }
        for (b, impulse) in impulses.iter().enumerate() {
            for (d, size) in impulse.iter().enumerate() {
                for (j, l) in self.row(6 * b + d).iter().enumerate() {
                    out[j / 3][j % 3] += l.abs() * size;
                }
            }
        }
    }

    /// Sums the impulses on the bodies: opposite to those of the contacts on the particles.
    pub(super) fn collect(&self, impulses: &[Vector], out: &mut Vec<Spatial>) {
        out.clear();
        out.resize(self.bodies, [0.0; 6]);
        for (c, impulse) in impulses.iter().enumerate().take(self.attachments.len()) {
            if let Some((body, lever)) = self.on(c) {
                add_impulse(&mut out[body], &lever, &[-impulse[0], -impulse[1], -impulse[2]]);
            }
        }
    }
}

/// Velocity of the point of a body at a lever from its origin.
#[inline(always)]
pub(super) fn point_velocity(body: &Spatial, r: &[f64; 3]) -> [f64; 3] {
    let [wx, wy, wz, vx, vy, vz] = *body;
    [vx + wy * r[2] - wz * r[1], vy + wz * r[0] - wx * r[2], vz + wx * r[1] - wy * r[0]]
}

/// Adds an impulse that acts at a lever from the body's origin.
#[inline(always)]
pub(super) fn add_impulse(body: &mut Spatial, r: &[f64; 3], p: &[f64; 3]) {
    let angular = [r[1] * p[2] - r[2] * p[1], r[2] * p[0] - r[0] * p[2], r[0] * p[1] - r[1] * p[0]];
    for a in 0..3 {
        body[a] += angular[a];
        body[3 + a] += p[a];
    }
}
