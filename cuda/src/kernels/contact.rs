//! Contact between particles and bodies.

use super::{ConvexIncidence, ParticleRows};
use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// No contact, geometry, side or triangle.
    pub const CONTACT_NONE: u32 = u32::MAX;
    /// Threads of a block of the contact kernels, and particles of its tile.
    pub const CONTACT_THREADS: u32 = 256;
    /// Geometries that a particle can touch at once.
    pub const CONTACT_SLOTS: u32 = 8;
    /// Levels of a tree of triangles.
    pub const CONTACT_TREE_DEPTH: u32 = 40;
    /// Numbers that are summed for each body: angular impulse, linear impulse, work.
    pub const CONTACT_SUMS: u32 = 7;
}

shared_structs! {
    /// A geometry of a body, as contact sees it: constant while the bodies are.
    pub struct ContactGeometry {
        /// Kind of its shape: see `kernels/distance.cuh`.
        pub kind: u32,
        /// Number of its body.
        pub body: u32,
        /// Number of features: faces of a hull, triangles of a mesh.
        pub features: u32,
        /// 1 where particles can adhere, else 0.
        pub adhesive: u32,
        /// Box: half extents; sphere: radius; capsule and cylinder: radius, half length; ellipsoid: semi-axes; triangles: half of
        /// their bounding box [m].
        pub size: [f32; 3],
        /// Radius of a ball around the triangles, about the middle of their bounding box [m].
        pub radius: f32,
        /// Coulomb coefficient.
        pub friction: f32,
        /// Tensile stress of a bond [Pa].
        pub adhesion_stress: f32,
        /// Gap at which a bond breaks [m].
        pub adhesion_range: f32,
        /// First node of its tree of triangles.
        pub first_node: u32,
        /// First of its triangles.
        pub first_triangle: u32,
        /// First of its planes.
        pub first_plane: u32,
        /// Rotation from the shape's frame to the body's: w, x, y, z.
        pub rotation: [f64; 4],
        /// The shape's middle in the body's frame [m].
        pub translation: [f64; 3],
    }

    /// A node of a tree of triangles.
    pub struct ContactNode {
        /// Lowest corner of the box around its triangles [m].
        pub low: [f32; 3],
        /// Highest corner [m].
        pub high: [f32; 3],
        /// First triangle of a leaf; the right child of an inner node, whose left child follows it. Both count from the
        /// geometry's first.
        pub start: u32,
        /// Triangles of a leaf; 0 for an inner node.
        pub count: u32,
    }

    /// All geometries of all bodies. Frames have their origin in the middle of the shape.
    pub struct ContactShapes {
        /// Geometries, in the order of the bodies.
        pub geometries: Span<ContactGeometry>,
        /// Nodes of the trees.
        pub nodes: Span<ContactNode>,
        /// Corners a, b, c [m] and outward unit normal of each triangle, in the order of its tree.
        pub triangles: Span<[f32; 12]>,
        /// Sums of the normals of the triangles at edges ab, bc, ca, and angle-weighted sums of those at a, b, c.
        pub edge_normals: Span<[f32; 18]>,
        /// Feature of each triangle: its number in the mesh, its face of a hull.
        pub features: Span<u32>,
        /// Where each triangle of a mesh stands in `triangles`.
        pub slots: Span<u32>,
        /// Outward normal and offset [m] of each face of a hull.
        pub planes: Span<[f32; 4]>,
    }

    /// A body as contact sees it in a substep, world frame.
    pub struct ContactBody {
        /// The point that impulses on it in this substep are about [m].
        pub origin: [f64; 3],
        /// Where its origin is in this substep [m].
        pub translation: [f64; 3],
        /// Rotation from its frame to the world's: w, x, y, z.
        pub rotation: [f64; 4],
        /// Angular velocity [rad/s].
        pub angular: [f64; 3],
        /// Velocity of its origin [m/s].
        pub linear: [f64; 3],
    }

    /// How the point goes on that the impulses on a body are about, world frame, in a step.
    pub struct ContactReference {
        /// Its velocity at the start of the step [m/s].
        pub velocity: [f64; 3],
        /// Its acceleration without particles and contact [m/s^2].
        pub acceleration: [f64; 3],
        /// Mass of the body [kg]; infinite where impulses do not move the point.
        pub mass: f64,
        /// Length of a substep [s].
        pub delta: f64,
        /// Over the substeps so far, the sum of its way since the first times (cross product) the impulse [N m s].
        pub carried: [f64; 3],
        /// Substeps so far.
        pub substep: u32,
        /// Zero.
        pub unused: u32,
    }

    /// A geometry at its pose in this substep. Its middle is the sum of a cell and a fraction, so that what is relative to it is
    /// exact far from the world's origin.
    pub struct ContactPlaced {
        /// World to shape frame, by rows.
        pub inverse_rotation: [f32; 9],
        /// Cell of the grid in which its middle is.
        pub cell: [i32; 3],
        /// Its middle within that cell [cells].
        pub fraction: [f32; 3],
        /// Angular velocity, world frame [rad/s].
        pub angular: [f32; 3],
        /// Velocity of its middle, world frame [m/s].
        pub linear: [f32; 3],
        /// From the point that the body's impulses are about to its middle, world frame [m].
        pub lever: [f32; 3],
    }

    /// Where in a step contact is.
    pub struct ContactClock {
        /// Length of the substep [s].
        pub delta: f32,
        /// Number of the substep in its step. The exchange moves it on: a substep that is stopped before can be done again.
        pub substep: u32,
        /// 1 where the substep takes place: not beyond the limit of [`Kernel::ContactPlace`], nor stopped since.
        pub active: u32,
        /// Zero.
        pub unused: u32,
    }

    /// What contact keeps from substep to substep besides the memories.
    pub struct ContactState {
        /// Number of remembered contacts.
        pub memories: u32,
        /// Bits of the largest `pressed_out` among them, as f32.
        pub farthest: u32,
        /// The same of those that are being remembered.
        pub next_farthest: u32,
        /// The most contacts of a substep.
        pub most_contacts: u32,
        /// The most geometries that a particle touched.
        pub most_of_particle: u32,
        /// Contacts of particles in this substep.
        pub registered: u32,
        /// The most geometries that a particle touches in this substep, where they are more than [`CONTACT_SLOTS`]; else 0.
        pub crowd: u32,
        /// The most contacts of particles in a substep of the step.
        pub step_most_contacts: u32,
        /// Contacts of particles in all substeps of the step.
        pub step_contacts: u64,
    }

    /// A contact of the last substep.
    pub struct ContactMemory {
        /// The particle's id.
        pub particle: u32,
        /// Number of the geometry.
        pub geometry: u32,
        /// Feature through which the particle came.
        pub feature: u32,
        /// 1 where the particle was pressed onto an adhesive geometry and held since.
        pub bonded: u32,
        /// Impulse on the particle, world frame [N s].
        pub impulse: [f32; 3],
        /// Its normal part; negative only for a bond under tension.
        pub normal_impulse: f32,
        /// Signed distance of the particle's centre, from `feature` [m].
        pub distance: f32,
        /// How far outside the geometry the particle is although it is behind `feature` [m].
        pub pressed_out: f32,
        /// Zero.
        pub unused: [u32; 2],
    }

    /// What decides which pairs touch, and how stiffly.
    pub struct ContactRules {
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Gap below which a pair is registered at any velocity [m].
        pub margin: f32,
        /// Radius of every particle [m]; negative for half the edge of the cube of its volume.
        pub radius: f32,
        /// Stiffness of every contact [N/m]; 0 for `near_rigid` times mass over the square of the substep.
        pub stiffness: f32,
        /// See `stiffness`.
        pub near_rigid: f32,
        /// Hunt-Crossley dissipation [s/m].
        pub dissipation: f32,
        /// How far from a centroid of cloth the vertices of its face can be [m].
        pub vertex_reach: f32,
        /// Number of materials that are not cloth.
        pub cloth_from: u32,
        /// Zero.
        pub unused: u32,
    }

    /// The contacts of a substep, one element each: ordered by particle (in their order in memory), then geometry; after them those of
    /// nodes with walls of the grid.
    pub struct ContactArrays {
        /// Number of contacts; one element. More than there is room for where nodes with walls of the grid are: the solve refuses these.
        pub count: Span<u32>,
        /// The particle's id; [`CONTACT_NONE`] for a contact of a node with a wall of the grid.
        pub particle: Span<u32>,
        /// Number of the geometry.
        pub geometry: Span<u32>,
        /// Number of the body; the number of bodies for a wall of the grid.
        pub body: Span<u32>,
        /// Feature of the geometry.
        pub feature: Span<u32>,
        /// Lowest node of the particle's stencil.
        pub base: Span<[i32; 3]>,
        /// Position relative to that node [cells].
        pub offset: Span<[f32; 3]>,
        /// From the particle to where it touches [cells]; zero but for granular particles, empty where no material is granular.
        pub arm: Span<[f32; 3]>,
        /// From the body to the particle, world frame.
        pub normal: Span<[f32; 3]>,
        /// Velocity of the body there, world frame [m/s].
        pub body_velocity: Span<[f32; 3]>,
        /// Where it touches, relative to the point that the body's impulses are about, world frame [m].
        pub lever: Span<[f32; 3]>,
        /// Gap [m], negative when overlapping.
        pub gap: Span<f32>,
        /// Gap of the particle's centre: without its radius [m].
        pub distance: Span<f32>,
        /// How far outside the geometry the particle is although `distance` is negative [m].
        pub pressed_out: Span<f32>,
        /// Stiffness [N/m].
        pub stiffness: Span<f32>,
        /// Hunt-Crossley dissipation [s/m].
        pub dissipation: Span<f32>,
        /// Coulomb coefficient.
        pub friction: Span<f32>,
        /// Normal impulse that bounds the friction [N s].
        pub lagged_normal_impulse: Span<f32>,
        /// Largest tension of a contact that is bonded at the start of the substep [N]; 0 for one that is not.
        pub tension: Span<f32>,
        /// Impulse on the particle in the last substep, world frame [N s]; zero for a new pair.
        pub last_impulse: Span<[f32; 3]>,
    }

    /// What is remembered of the last substep's contacts.
    pub struct ContactMemories {
        /// The contacts, a particle's in a row.
        pub list: Span<ContactMemory>,
        /// For the id of each particle, the first of its contacts in `list`, if that is of this particle; else it has none.
        pub first: Span<u32>,
        /// One element.
        pub state: Span<ContactState>,
    }

    /// How bodies answer within a step: `pliant_coupling::AnsweringBodies`.
    pub struct ContactAnswering {
        /// Numbers of the bodies.
        pub bodies: Span<u32>,
        /// Their mobility by rows, six for each.
        pub mobility: Span<f64>,
        /// Their velocities at the start of the step, six numbers each [rad/s, m/s].
        pub start: Span<f64>,
        /// What they gain over the step without impulses of particles.
        pub gain: Span<f64>,
        /// What makes good the lag of their poses.
        pub lag: Span<f64>,
        /// Number of substeps, and the length of one [s].
        pub step: Span<[f64; 2]>,
    }

    /// What the solve of a substep found.
    pub struct ContactSolution {
        /// Impulse of each contact on its particle, world frame [N s].
        pub impulses: Span<[f64; 3]>,
        /// Velocity of each touched node [m/s].
        pub velocities: Span<[f64; 3]>,
        /// Rows of touched nodes: row r of node i is `nodes[r * node_stride + i]`.
        pub nodes: Span<f64>,
        /// What each body's velocity became less what contact saw, world frame about the body's impulses' point: angular [rad/s], linear
        /// [m/s]; empty where bodies do not answer.
        pub answers: Span<[f64; 6]>,
        /// Elements from one row of nodes to the next.
        pub node_stride: u32,
        /// Row with the mass that the solve moved [kg]; 0 for a node that a wall of the grid held.
        pub mass_row: u32,
        /// First of the three rows with the velocity before the solve [m/s].
        pub free_row: u32,
        /// Zero.
        pub unused: u32,
    }
}

kernel_parameters! {
    /// Probe: signed distances of points to one geometry.
    pub struct ProbeContactDistanceParameters = "probe_contact_distance" {
        /// The geometries.
        pub shapes: ContactShapes,
        /// Points relative to the shape's middle [m].
        pub points: Span<[f32; 3]>,
        /// Feature that each point came through; [`CONTACT_NONE`] for none.
        pub sides: Span<u32>,
        /// Signed distances [m].
        pub distances: Span<f32>,
        /// Outward unit normals.
        pub normals: Span<[f32; 3]>,
        /// Features.
        pub features: Span<u32>,
        /// Lower bounds of the distances [m].
        pub lower_bounds: Span<f32>,
        /// Number of the geometry.
        pub geometry: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Places the geometries for a substep.
    pub struct ContactPlaceParameters = "contact_place" {
        /// The geometries.
        pub shapes: ContactShapes,
        /// Bodies, substep by substep.
        pub bodies: Span<ContactBody>,
        /// Geometries at their poses.
        pub placed: Span<ContactPlaced>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// One element.
        pub state: Span<ContactState>,
        /// See `MPM_STATUS_LIMIT`; empty for no limit.
        pub limit: Span<u32>,
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Finds which particles touch which geometries.
    pub struct ContactFindParameters = "contact_find" {
        /// Particles.
        pub particles: ParticleRows,
        /// The geometries.
        pub shapes: ContactShapes,
        /// Geometries at their poses.
        pub placed: Span<ContactPlaced>,
        /// The last substep.
        pub memories: ContactMemories,
        /// One element.
        pub clock: Span<ContactClock>,
        /// Geometries of a particle, [`CONTACT_SLOTS`] rows of them.
        pub touched: Span<u32>,
        /// Each particle's number of geometries, and 256 times that of those before it in its tile.
        pub counts: Span<u32>,
        /// Contacts of each tile.
        pub tiles: Span<u32>,
        /// What decides.
        pub rules: ContactRules,
    }

    /// Writes the contacts.
    pub struct ContactFillParameters = "contact_fill" {
        /// Particles.
        pub particles: ParticleRows,
        /// The geometries.
        pub shapes: ContactShapes,
        /// Geometries at their poses.
        pub placed: Span<ContactPlaced>,
        /// The last substep.
        pub memories: ContactMemories,
        /// One element.
        pub clock: Span<ContactClock>,
        /// See [`Kernel::ContactFind`].
        pub touched: Span<u32>,
        /// See [`Kernel::ContactFind`].
        pub counts: Span<u32>,
        /// Contacts of the tiles before each one.
        pub tiles: Span<u32>,
        /// Contacts of all tiles; one element.
        pub total: Span<u32>,
        /// What decides.
        pub rules: ContactRules,
        /// For each material how far from the particle contact may act at most [m], zero but for granular ones, and the friction with bodies,
        /// negative where it is the body's; empty where no material is granular.
        pub grains: Span<[f32; 2]>,
        /// The contacts.
        pub contacts: ContactArrays,
        /// See `MPM_STATUS_LIMIT`: contacts for which there is no room stop the substep; where it is empty, they are left out.
        pub status: Span<u32>,
    }

    /// Remembers the contacts, and sums what they give each body.
    pub struct ContactExchangeParameters = "contact_exchange" {
        /// The contacts.
        pub contacts: ContactArrays,
        /// The geometries.
        pub shapes: ContactShapes,
        /// What becomes of them.
        pub memories: ContactMemories,
        /// What the solve found.
        pub solution: ContactSolution,
        /// Bodies, substep by substep.
        pub bodies: Span<ContactBody>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// Sums of each tile of contacts, then of nodes, for each body and the walls of the grid; zero at first.
        pub sums: Span<[f64; 7]>,
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Writes the velocities of the touched nodes to the grid, and gives bodies what the solve left over there.
    pub struct ContactExchangeNodesParameters = "contact_exchange_nodes" {
        /// The contacts.
        pub contacts: ContactArrays,
        /// Which touch which nodes.
        pub incidence: ConvexIncidence,
        /// What the solve found.
        pub solution: ContactSolution,
        /// Velocity [m/s] and mass [kg] of all nodes of the grid.
        pub nodes: Span<[f32; 4]>,
        /// Bodies, substep by substep.
        pub bodies: Span<ContactBody>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// See [`Kernel::ContactExchange`].
        pub sums: Span<[f64; 7]>,
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Number of bodies.
        pub body_count: u32,
        /// First tile of nodes.
        pub first_tile: u32,
    }

    /// Adds the tiles' sums to those of the step, moves the points on that the impulses are about, and ends the substep for contact.
    pub struct ContactSumBodiesParameters = "contact_sum_bodies" {
        /// See [`Kernel::ContactExchange`].
        pub sums: Span<[f64; 7]>,
        /// For each body and the walls of the grid: impulse on it, angular [N m s] then linear [N s]; work of the body on the particles [J].
        pub totals: Span<[f64; 7]>,
        /// Bodies, substep by substep, and once more: the next substep's points are written.
        pub bodies: Span<ContactBody>,
        /// How these go on, one a body.
        pub references: Span<ContactReference>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// One element.
        pub state: Span<ContactState>,
        /// Number of tiles.
        pub tiles: u32,
        /// First tile of nodes.
        pub first_tile: u32,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Moves the bodies that answer on to the next substep.
    pub struct ContactMoveBodiesParameters = "contact_move_bodies" {
        /// Which, and how.
        pub answering: ContactAnswering,
        /// See [`Kernel::ContactSumBodies`]: of the step so far.
        pub totals: Span<[f64; 7]>,
        /// Bodies, substep by substep, and once more: the next substep's are written.
        pub bodies: Span<ContactBody>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }
}
