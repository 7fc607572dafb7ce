//! Rigid zones: where impulses do not separate the layers, the vertices in contact move as one rigid
//! body, which cannot cross itself (Provot, "Collision and self-collision handling in cloth model
//! dedicated to design garments", 1997; Bridson, Fedkiw and Anderson, "Robust treatment of collisions,
//! contact and friction for cloth animation", 2002).

use nalgebra::{Matrix3, Rotation3, Vector3};

type V3 = Vector3<f64>;

/// Sets of vertices that move together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zones {
    /// The next vertex towards the representative of each vertex's zone.
    parents: Vec<u32>,
    /// Vertices in zones of two or more, by zone.
    members: Vec<(u32, u32)>,
}

/// Least moment of inertia of a zone, over the sum of its principal ones: points of a line have none
/// about it, and do not turn by rounding.
const LEAST_INERTIA: f64 = 1e-9;

/// The motion of a zone.
struct RigidMotion {
    center: V3,
    moved: V3,
    turned: V3,
}

impl Zones {
    /// Every vertex on its own.
    pub fn begin(&mut self, vertices: usize) {
        self.parents.clear();
        self.parents.extend(0..vertices as u32);
        self.members.clear();
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.parents.capacity() * size_of::<u32>() + self.members.capacity() * size_of::<(u32, u32)>()
    }

    /// Number of vertices that move with others.
    pub fn vertices(&self) -> usize {
        self.members.len()
    }

    /// The zones of two or more, by their vertices.
    pub fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone + '_> + '_ {
        self.members.chunk_by(|a, b| a.0 == b.0).map(|zone| zone.iter().map(|(_, v)| *v as usize))
    }

    fn find(&mut self, mut vertex: u32) -> u32 {
        while self.parents[vertex as usize] != vertex {
            let next = self.parents[self.parents[vertex as usize] as usize];
            self.parents[vertex as usize] = next;
            vertex = next;
        }
        vertex
    }

    /// Joins the zones of four vertices; whether they were several.
    pub fn join(&mut self, vertices: [u32; 4]) -> bool {
        let mut several = false;
        for vertex in vertices {
            let (a, b) = (self.find(vertices[0]), self.find(vertex));
            several |= a != b;
            self.parents[a.max(b) as usize] = a.min(b);
        }
        several
    }

    /// Whether four vertices move together.
    pub fn are_one(&self, vertices: &[u32; 4]) -> bool {
        let root = |mut vertex: u32| {
            while self.parents[vertex as usize] != vertex {
                vertex = self.parents[vertex as usize];
            }
            vertex
        };
        let first = root(vertices[0]);
        vertices.iter().all(|v| root(*v) == first)
    }

    /// Lists the members of the zones, to be called after vertices were joined.
    pub fn list(&mut self) {
        self.members.clear();
        for vertex in 0..self.parents.len() as u32 {
            let root = self.find(vertex);
            if root != vertex {
                self.members.push((root, vertex));
            }
        }
        // The representative has the smallest number: it is first.
        for at in 0..self.members.len() {
            let root = self.members[at].0;
            self.members.push((root, root));
        }
        self.members.sort_unstable();
        self.members.dedup();
    }

    /// Moves every zone rigidly from `starts`, with the momentum and angular momentum of its vertices'
    /// own motion to `ends`. One with a held vertex moves along with that.
    pub fn move_rigidly(&self, inverse_masses: &[f64], starts: &[V3], ends: &mut [V3]) {
        for zone in self.members.chunk_by(|a, b| a.0 == b.0) {
            let motion = of_displacements(zone, inverse_masses, starts, ends);
            let turn = Rotation3::new(motion.turned);
            for &(_, vertex) in zone.iter().filter(|(_, v)| inverse_masses[*v as usize] > 0.0) {
                let arm = starts[vertex as usize] - motion.center;
                ends[vertex as usize] = motion.center + motion.moved + turn * arm;
            }
        }
    }

    /// Gives every zone the velocities of a rigid body with its momentum and angular momentum.
    pub fn set_velocities(&self, inverse_masses: &[f64], positions: &[V3], velocities: &mut [V3]) {
        for zone in self.members.chunk_by(|a, b| a.0 == b.0) {
            let motion = of_velocities(zone, inverse_masses, positions, velocities);
            for &(_, vertex) in zone.iter().filter(|(_, v)| inverse_masses[*v as usize] > 0.0) {
                let arm = positions[vertex as usize] - motion.center;
                velocities[vertex as usize] = motion.moved + motion.turned.cross(&arm);
            }
        }
    }

    /// Turns every zone so that it has the angular momentum of its vertices' `own` positions and
    /// velocities, as far as it then has no more kinetic energy than these. Contact moves layers apart
    /// that slide on each other: at other places, the same velocities have another moment.
    pub fn keep_angular_momentum(
        &self,
        inverse_masses: &[f64],
        (own_positions, own_velocities): (&[V3], &[V3]),
        positions: &[V3],
        velocities: &mut [V3],
    ) {
        for zone in self.members.chunk_by(|a, b| a.0 == b.0) {
            // What holds a vertex takes up the moment ([`Self::moment_of_held`]).
            if zone.iter().any(|(_, v)| inverse_masses[*v as usize] == 0.0) {
                continue;
            }
            let own = PointMasses::new(zone, inverse_masses, own_positions, |v| own_velocities[v]);
            let now = PointMasses::new(zone, inverse_masses, positions, |v| velocities[v]);
            // About the world's origin both have the same momentum; about its own centre each.
            let missing = own.angular_momentum + own.mass * (own.center - now.center).cross(&now.velocity)
                - now.angular_momentum;
            let turned = now.turn_with(&missing);
            // Kinetic energy gained by a part s of the turn: s first + s^2 second.
            let (first, second) =
                (turned.dot(&now.angular_momentum), 0.5 * turned.dot(&(now.inertia * turned)));
            let allowed = own.kinetic - now.kinetic;
            let part = if first + second <= allowed.max(0.0) {
                1.0
            } else {
                let root = (first * first + 4.0 * second * allowed.max(0.0)).sqrt();
                ((root - first) / (2.0 * second)).clamp(0.0, 1.0)
            };
            for &(_, v) in zone {
                let arm = positions[v as usize] - now.center;
                velocities[v as usize] += part * turned.cross(&arm);
            }
        }
    }
}

impl Zones {
    /// Change of the angular momentum about the world's origin, of the free vertices of zones with a held
    /// vertex, from their `own` positions and velocities \[N m s\].
    pub fn moment_of_held(
        &self,
        inverse_masses: &[f64],
        (own_positions, own_velocities): (&[V3], &[V3]),
        positions: &[V3],
        velocities: &[V3],
    ) -> V3 {
        let is_held = |v: &usize| inverse_masses[*v] == 0.0;
        let change = |v: usize| {
            (positions[v].cross(&velocities[v]) - own_positions[v].cross(&own_velocities[v]))
                / inverse_masses[v]
        };
        let held = self.iter().filter(|zone| zone.clone().any(|v| is_held(&v)));
        held.flatten().filter(|v| !is_held(v)).map(change).sum()
    }
}

/// Points of a zone together.
struct PointMasses {
    mass: f64,
    center: V3,
    /// Velocity of the centre \[m/s\].
    velocity: V3,
    /// Angular momentum \[N m s\] and moments of inertia \[kg m^2\] about the centre.
    angular_momentum: V3,
    inertia: Matrix3<f64>,
    /// Kinetic energy \[J\].
    kinetic: f64,
}

impl PointMasses {
    /// Those of a zone, none of them held, with their velocities or other motion.
    fn new(
        zone: &[(u32, u32)],
        inverse_masses: &[f64],
        positions: &[V3],
        velocity_of: impl Fn(usize) -> V3,
    ) -> Self {
        let (mut mass, mut center, mut velocity) = (0.0, V3::zeros(), V3::zeros());
        for &(_, v) in zone {
            let (v, m) = (v as usize, 1.0 / inverse_masses[v as usize]);
            mass += m;
            center += m * positions[v];
            velocity += m * velocity_of(v);
        }
        (center, velocity) = (center / mass, velocity / mass);
        let mut points = Self {
            mass,
            center,
            velocity,
            angular_momentum: V3::zeros(),
            inertia: Matrix3::zeros(),
            kinetic: 0.0,
        };
        for &(_, v) in zone {
            let (v, m) = (v as usize, 1.0 / inverse_masses[v as usize]);
            let (arm, of) = (positions[v] - center, velocity_of(v));
            points.angular_momentum += m * arm.cross(&of);
            points.inertia +=
                m * (Matrix3::from_diagonal_element(arm.norm_squared()) - arm * arm.transpose());
            points.kinetic += 0.5 * m * of.norm_squared();
        }
        points
    }

    /// Angular velocity of the rigid body of these points that has an angular momentum \[rad/s\].
    fn turn_with(&self, angular_momentum: &V3) -> V3 {
        let inertia = self.inertia + Matrix3::from_diagonal_element(LEAST_INERTIA * self.inertia.trace());
        inertia.try_inverse().map_or_else(V3::zeros, |inverse| inverse * angular_momentum)
    }
}

fn of_displacements(zone: &[(u32, u32)], inverse_masses: &[f64], starts: &[V3], ends: &[V3]) -> RigidMotion {
    rigid_motion(zone, inverse_masses, starts, |v| ends[v] - starts[v])
}

fn of_velocities(zone: &[(u32, u32)], inverse_masses: &[f64], positions: &[V3], of: &[V3]) -> RigidMotion {
    rigid_motion(zone, inverse_masses, positions, |v| of[v])
}

/// The rigid motion with the momentum and angular momentum of the points' motions.
fn rigid_motion(
    zone: &[(u32, u32)],
    inverse_masses: &[f64],
    positions: &[V3],
    motion: impl Fn(usize) -> V3,
) -> RigidMotion {
    if let Some(&(_, held)) = zone.iter().find(|(_, v)| inverse_masses[*v as usize] == 0.0) {
        let held = held as usize;
        return RigidMotion { center: positions[held], moved: motion(held), turned: V3::zeros() };
    }
    let points = PointMasses::new(zone, inverse_masses, positions, motion);
    let turned = points.turn_with(&points.angular_momentum);
    RigidMotion { center: points.center, moved: points.velocity, turned }
}
