//! Contact between particles and bodies.

use super::{ClothFaces, ParticleRows};
use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// No contact, geometry, side or triangle.
    pub const CONTACT_NONE: u32 = u32::MAX;
    /// Kinds of shapes: a half-space.
    pub const SHAPE_HALF_SPACE: u32 = 0;
    /// A box.
    pub const SHAPE_BOX: u32 = 1;
    /// A sphere.
    pub const SHAPE_SPHERE: u32 = 2;
    /// A capsule.
    pub const SHAPE_CAPSULE: u32 = 3;
    /// A cylinder.
    pub const SHAPE_CYLINDER: u32 = 4;
    /// An ellipsoid.
    pub const SHAPE_ELLIPSOID: u32 = 5;
    /// A convex hull.
    pub const SHAPE_HULL: u32 = 6;
    /// A triangle mesh or a height field.
    pub const SHAPE_MESH: u32 = 7;
    /// Contacts of a centroid of cloth with a geometry: they act at the vertices of its face.
    pub const CONTACT_FACE_CORNERS: u32 = 3;
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
    /// A geometry of a body for contact: constant while the bodies are.
    pub struct ContactGeometry {
        /// Kind of its shape: [`SHAPE_HALF_SPACE`] and those after it.
        pub kind: u32,
        /// Number of its body.
        pub body: u32,
        /// Number of features: faces of a hull, triangles of a mesh.
        pub features: u32,
        /// 1 where particles can adhere, else 0.
        pub adhesive: u32,
        /// Box: half extents; sphere: radius; capsule and cylinder: radius, half length; ellipsoid:
        /// semi-axes; triangles: half of their bounding box [m].
        pub size: [f32; 3],
        /// Radius of the bounding sphere of the triangles, about the middle of their bounding box
        /// [m].
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
        /// The shape's center in the body's frame [m].
        pub translation: [f64; 3],
    }

    /// A node of a tree of triangles.
    pub struct ContactNode {
        /// Lowest corner of the box around its triangles [m].
        pub low: [f32; 3],
        /// Highest corner [m].
        pub high: [f32; 3],
        /// First triangle of a leaf; the right child of an inner node, whose left child follows it.
        /// Both count from the geometry's first.
        pub start: u32,
        /// Triangles of a leaf; 0 for an inner node.
        pub count: u32,
    }

    /// All geometries of all bodies. Frames have their origin in the center of the shape.
    pub struct ContactShapes {
        /// Geometries, in the order of the bodies.
        pub geometries: Span<ContactGeometry>,
        /// Nodes of the trees.
        pub nodes: Span<ContactNode>,
        /// Corners a, b, c [m] and outward unit normal of each triangle, in the order of its tree.
        pub triangles: Span<[f32; 12]>,
        /// Sums of the normals of the triangles at edges ab, bc, ca, and angle-weighted sums of
        /// those at a, b, c.
        pub edge_normals: Span<[f32; 18]>,
        /// Feature of each triangle: its number in the mesh, its face of a hull.
        pub features: Span<u32>,
        /// Where each triangle of a mesh stands in `triangles`.
        pub slots: Span<u32>,
        /// Outward normal and offset [m] of each face of a hull.
        pub planes: Span<[f32; 4]>,
    }

    /// State of a body at the substep, world frame.
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

    /// A geometry at its pose in this substep. Its center is the sum of a cell and a fraction, so
    /// that what is relative to it is exact far from the world's origin.
    pub struct ContactPlacedGeometry {
        /// World to shape frame, by rows.
        pub inverse_rotation: [f32; 9],
        /// Cell of the grid in which its center is.
        pub cell: [i32; 3],
        /// Its center within that cell [cells].
        pub fraction: [f32; 3],
        /// Angular velocity, world frame [rad/s].
        pub angular: [f32; 3],
        /// Velocity of its center, world frame [m/s].
        pub linear: [f32; 3],
        /// From the point that the body's impulses are about to its center, world frame [m].
        pub lever: [f32; 3],
    }

    /// Where in a step contact is.
    pub struct ContactClock {
        /// Length of the substep [s].
        pub substep: f32,
        /// Number of the substep in its step. The exchange increments it, so that a substep that is
        /// stopped before can be repeated.
        pub substep_index: u32,
        /// 1 where the substep takes place: not beyond the limit of [`Kernel::ContactFind`], nor
        /// stopped since.
        pub active: u32,
        /// Substeps of the step: there are poses for so many.
        pub substeps: u32,
    }

    /// What contact keeps from substep to substep besides the contact cache.
    pub struct ContactState {
        /// Number of cached contacts.
        pub cached_contacts: u32,
        /// Bits of the largest `exit_distance` among them, as f32.
        pub max_exit_distance: u32,
        /// The same of those that are being cached.
        pub next_max_exit_distance: u32,
        /// The most contacts of a substep.
        pub most_contacts: u32,
        /// The most geometries that a particle touched.
        pub most_of_particle: u32,
        /// Contacts of particles in this substep.
        pub detected: u32,
        /// The most geometries that a particle touches in this substep, where they are more than
        /// [`CONTACT_SLOTS`]; else 0.
        pub max_geometries_per_particle: u32,
        /// The most contacts of particles in a substep of the step.
        pub step_most_contacts: u32,
        /// Contacts of particles in all substeps of the step.
        pub step_contacts: u64,
    }

    /// A contact of the last substep.
    pub struct DeviceCachedContact {
        /// The particle's id.
        pub particle: u32,
        /// Number of the geometry.
        pub geometry: u32,
        /// Feature through which the particle came.
        pub feature: u32,
        /// 1 where the particle was pressed onto an adhesive geometry and has stayed bonded.
        pub bonded: u32,
        /// Impulse on the particle, world frame [N s].
        pub impulse: [f32; 3],
        /// Its normal part; negative only for a bond under tension.
        pub normal_impulse: f32,
        /// Signed distance of the particle's centre, from `feature` [m].
        pub distance: f32,
        /// Exit distance: how far outside the geometry the particle is although it is behind
        /// `feature` [m].
        pub exit_distance: f32,
        /// Zero.
        pub unused: [u32; 2],
    }

    /// Rules that decide which pairs touch, and their stiffness.
    pub struct ContactRules {
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Gap below which a pair is detected at any velocity [m].
        pub margin: f32,
        /// Radius of every particle [m]; negative for half the edge of the cube of its volume.
        pub radius: f32,
        /// Stiffness of every contact [N/m]; 0 for `near_rigid` times mass over the square of the
        /// substep.
        pub stiffness: f32,
        /// See `stiffness`.
        pub near_rigid: f32,
        /// Hunt-Crossley dissipation [s/m].
        pub dissipation: f32,
        /// How far from a centroid of cloth the vertices of its face can be [m].
        pub vertex_reach: f32,
    }

    /// The contacts of a substep, one element each: ordered by particle (in their order in memory),
    /// then geometry, then, of a centroid of cloth, vertex of its face; after them those of nodes
    /// with grid boundary constraints.
    pub struct ContactArrays {
        /// Number of contacts; one element. May exceed the capacity where nodes with grid boundary
        /// constraints are: the solve refuses these.
        pub count: Span<u32>,
        /// The particle's id; [`CONTACT_NONE`] for a contact of a node with a grid boundary
        /// constraint.
        pub particle: Span<u32>,
        /// Number of the geometry.
        pub geometry: Span<u32>,
        /// Number of the body; the number of bodies for a grid boundary constraint.
        pub body: Span<u32>,
        /// Feature of the geometry.
        pub feature: Span<u32>,
        /// Lowest node of the stencil of the particle, or of the vertex.
        pub base: Span<[i32; 3]>,
        /// Its position relative to that node [cells].
        pub offset: Span<[f32; 3]>,
        /// From the particle to where it touches [cells]; zero but for granular particles, empty
        /// where no material is granular.
        pub arm: Span<[f32; 3]>,
        /// From the body to the particle, world frame.
        pub normal: Span<[f32; 3]>,
        /// Velocity of the body there, world frame [m/s].
        pub body_velocity: Span<[f32; 3]>,
        /// Where it touches, relative to the point that the body's impulses are about, world frame
        /// [m].
        pub lever: Span<[f32; 3]>,
        /// Gap [m], negative when overlapping.
        pub gap: Span<f32>,
        /// Gap of the particle's centre: without its radius [m].
        pub distance: Span<f32>,
        /// Exit distance: how far outside the geometry the particle is although `distance` is
        /// negative [m].
        pub exit_distance: Span<f32>,
        /// Stiffness [N/m].
        pub stiffness: Span<f32>,
        /// Hunt-Crossley dissipation [s/m].
        pub dissipation: Span<f32>,
        /// Coulomb coefficient.
        pub friction: Span<f32>,
        /// Normal impulse that bounds the friction [N s].
        pub lagged_normal_impulse: Span<f32>,
        /// Largest tension of a contact that is bonded at the start of the substep [N]; 0 for one
        /// that is not.
        pub tension: Span<f32>,
        /// Impulse on the particle in the last substep, world frame [N s]; zero for a new pair.
        pub last_impulse: Span<[f32; 3]>,
    }

    /// What places geometries where their bodies are.
    pub struct ContactPlacement {
        /// The geometries.
        pub shapes: ContactShapes,
        /// Bodies, substep by substep.
        pub bodies: Span<ContactBody>,
        /// Geometries at their poses.
        pub placed: Span<ContactPlacedGeometry>,
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// The contact cache: the last substep's contacts.
    pub struct DeviceContactCache {
        /// The contacts, a particle's in a row, and of these those with a geometry.
        pub list: Span<DeviceCachedContact>,
        /// For the id of each particle, the first of its contacts in `list`, if that is of this
        /// particle; else it has none.
        pub first: Span<u32>,
        /// One element.
        pub state: Span<ContactState>,
    }
}

kernel_parameters! {
    /// Probe: signed distances of points to one geometry.
    pub struct ProbeContactDistanceParameters = "probe_contact_distance" {
        /// The geometries.
        pub shapes: ContactShapes,
        /// Points relative to the shape's center [m].
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

    /// Places the geometries for the substep that a run begins with.
    pub struct ContactPlaceParameters = "contact_place" {
        /// What is placed.
        pub placement: ContactPlacement,
        /// One element.
        pub clock: Span<ContactClock>,
        /// One element.
        pub state: Span<ContactState>,
    }

    /// Finds which particles touch which geometries.
    pub struct ContactFindParameters = "contact_find" {
        /// Particles.
        pub particles: ParticleRows,
        /// Faces of cloth among them.
        pub faces: ClothFaces,
        /// The geometries.
        pub shapes: ContactShapes,
        /// Geometries at their poses.
        pub placed: Span<ContactPlacedGeometry>,
        /// The last substep.
        pub contact_cache: DeviceContactCache,
        /// One element.
        pub clock: Span<ContactClock>,
        /// Geometries of a particle, [`CONTACT_SLOTS`] rows of them.
        pub touched: Span<u32>,
        /// Each particle's number of geometries, and 256 times the number of contacts of those
        /// before it in its tile.
        pub counts: Span<u32>,
        /// Contacts of each tile; then of all tiles before it.
        pub tiles: Span<u32>,
        /// Contacts of all tiles; one element.
        pub total: Span<u32>,
        /// Tiles that are done; one element, zero at first, and left so.
        pub done: Span<u32>,
        /// See `MPM_STATUS_LIMIT`; empty for no limit.
        pub limit: Span<u32>,
        /// Rules of detection.
        pub rules: ContactRules,
    }

    /// Writes the contacts.
    pub struct ContactFillParameters = "contact_fill" {
        /// As for finding.
        pub find: ContactFindParameters,
        /// For each material the largest distance from the particle at which its contact acts [m],
        /// zero except for granular ones, and the friction with bodies, negative where it is the
        /// body's; empty where no material is granular.
        pub grains: Span<[f32; 2]>,
        /// The contacts.
        pub contacts: ContactArrays,
        /// See `MPM_STATUS_LIMIT`: contacts beyond the capacity stop the substep; where it is
        /// empty, they are left out.
        pub status: Span<u32>,
    }
}
