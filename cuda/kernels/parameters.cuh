// Generated from cuda/src/kernels/ by the test `parameters_header_is_current`; do not edit.
#pragma once

#include "prelude.cuh"

// Threads of a block of the scan kernels.
constexpr uint32_t SCAN_THREADS = 256;
// Elements that a block scans.
constexpr uint32_t SCAN_TILE = 2048;
// Words of a scan's progress: blocks that have started.
constexpr uint32_t SCAN_STARTED = 0;
// Blocks that have ended.
constexpr uint32_t SCAN_ENDED = 1;
// Number of the run, modulo 2^30 in the tiles' words.
constexpr uint32_t SCAN_RUN = 2;
// Number of words.
constexpr uint32_t SCAN_PROGRESS = 3;
// Threads of a block of the sort kernels.
constexpr uint32_t SORT_THREADS = 256;
// Keys that a block sorts.
constexpr uint32_t SORT_TILE = 2048;
// Bits of the key that a pass sorts by.
constexpr uint32_t SORT_BITS = 8;
// Values of those bits.
constexpr uint32_t SORT_DIGITS = 256;
// Threads of a block of the reductions.
constexpr uint32_t REDUCE_THREADS = 256;
// Elements that a block reduces.
constexpr uint32_t REDUCE_TILE = 2048;
// Words of a grid barrier's memory.
constexpr uint32_t GRID_BARRIER_WORDS = 1;
// Threads of a block of the staging kernels.
constexpr uint32_t STAGING_THREADS = 256;
// Most threads of a block of a probe.
constexpr uint32_t PROBE_THREADS = 256;
// Results of `probe_number` for a pair.
constexpr uint32_t NUMBER_RESULTS = 17;
// First rows of `ParticleRows`: position, cells from the corner of the particle's block, rounded.
constexpr uint32_t ROW_POSITION = 0;
// Velocity [m/s].
constexpr uint32_t ROW_VELOCITY = 3;
// Affine velocity field C by rows [1/s].
constexpr uint32_t ROW_AFFINE = 6;
// Deformation gradient by rows [-]. A particle of cloth has instead of its columns the force
// on a vertex [N], the axial vector of the skew part of a face's stress times volume [J], and
// the face's director [-].
constexpr uint32_t ROW_GRADIENT = 15;
// History variable of the constitutive model.
constexpr uint32_t ROW_HISTORY = 24;
// Mass [kg].
constexpr uint32_t ROW_MASS = 25;
// Rest volume [m^3].
constexpr uint32_t ROW_VOLUME = 26;
// Kirchhoff stress times rest volume [J] as xx, yy, zz, xy, xz, yz.
constexpr uint32_t ROW_STRESS = 27;
// Twice the distance from the particle to the surface that it stands for [m].
constexpr uint32_t ROW_THICKNESS = 33;
// What rounding left of the position [cells]: the particle is at their sum.
constexpr uint32_t ROW_POSITION_LOW = 34;
// Number of rows.
constexpr uint32_t MPM_ROWS = 37;
// Nodes of a stencil.
constexpr uint32_t STENCIL_NODES = 27;
// Nodes along an edge of a node block, and cells along an edge of a particle block.
constexpr int32_t BLOCK_EDGE = 4;
// Bits of a coordinate in the key of a block or node.
constexpr uint32_t KEY_BITS = 21;
// Nodes of a node block, and cells of a particle block.
constexpr uint32_t MPM_BLOCK_NODES = 64;
// Blocks around a block, itself included.
constexpr uint32_t MPM_NEIGHBOURS = 27;
// Nodes of a scratchpad: what the particles of a block reach between two sorts.
constexpr uint32_t MPM_SCRATCHPAD_NODES = 1000;
// Threads of a block of the particles' passes to the grid, and back, of a sort's kernels and
// of the balance's closing.
constexpr uint32_t P2G_THREADS = 256;
// See `P2G_THREADS`: with atomic additions.
constexpr uint32_t P2G_ATOMIC_THREADS = 128;
// See `P2G_THREADS`.
constexpr uint32_t G2P_THREADS = 128;
// See `P2G_THREADS`.
constexpr uint32_t MPM_SORT_THREADS = 256;
// See `P2G_THREADS`.
constexpr uint32_t MPM_BALANCE_THREADS = 256;
// See `P2G_THREADS`: of the particles' totals.
constexpr uint32_t MPM_TOTAL_THREADS = 256;
// Particles whose totals one block of threads sums.
constexpr uint32_t MPM_TOTAL_TILE = 1024;
// Entries of the particles' totals: mass; first moment; linear and angular momentum; kinetic
// and elastic energy.
constexpr uint32_t MPM_TOTALS = 13;
// Entries of an balance of momentum: mass; impulse of gravity, linear and angular; impulse of
// the boundary conditions, linear and angular; work; number of nodes with mass. The first and
// the last are of one substep, the others sums.
constexpr uint32_t MPM_BALANCE = 15;
// Entries that a node block has: the sums; the last substep's, which joins them when it can no
// longer be stopped and repeated; that substep's number.
constexpr uint32_t MPM_BALANCE_ROW = 31;
// A particle that moves more cells than this in a substep and leaves its scratchpad is lost.
constexpr uint32_t MPM_LOST_CELLS = 2;
// Blocks along an axis from the origin, exclusive.
constexpr uint32_t MPM_KEY_LIMIT = 1048575;
// Words of the status: how many substeps of the step may run, 2^32 - 1 for all.
constexpr uint32_t MPM_STATUS_LIMIT = 0;
// Flags that say why not all of them.
constexpr uint32_t MPM_STATUS_FLAGS = 1;
// 2^32 - 1 less the lost particle's id.
constexpr uint32_t MPM_STATUS_LOST = 2;
// Bits of the square of the largest speed after the last substep [m^2/s^2], as f32.
constexpr uint32_t MPM_STATUS_SPEED = 3;
// Of the capacity that was exceeded, what is needed, as far as it was counted.
constexpr uint32_t MPM_STATUS_NEEDED = 4;
// What the capacity was.
constexpr uint32_t MPM_STATUS_CAPACITY = 5;
// Number of words.
constexpr uint32_t MPM_STATUS_WORDS = 6;
// Flag: a particle left its scratchpad, and a sort is due.
constexpr uint32_t MPM_DRIFTED = 1;
// Flag: a particle is lost.
constexpr uint32_t MPM_LOST = 2;
// Flag: more particle blocks than the capacity.
constexpr uint32_t MPM_TOO_MANY_PARTICLE_BLOCKS = 4;
// Flag: more node blocks than the capacity.
constexpr uint32_t MPM_TOO_MANY_NODE_BLOCKS = 8;
// Flag: a block is too far from the origin.
constexpr uint32_t MPM_OUT_OF_RANGE = 16;
// Flag: more contacts than their arrays hold.
constexpr uint32_t CONTACT_TOO_MANY = 32;
// Flag: a particle touches more geometries than are followed.
constexpr uint32_t CONTACT_TOO_MANY_GEOMETRIES = 64;
// Flag: more contacts than the solver's capacity.
constexpr uint32_t CONVEX_TOO_MANY_CONTACTS = 128;
// Flag: more touched nodes than the solver's capacity.
constexpr uint32_t CONVEX_TOO_MANY_NODES = 256;
// Flag: a contact touches a node that the grid does not have.
constexpr uint32_t CONVEX_MISSING_NODE = 512;
// Flag: numbers of a contact solve are not finite.
constexpr uint32_t CONVEX_FAILED = 1024;
// Model of a material: fixed corotated elasticity.
constexpr uint32_t MPM_FIXED_COROTATED = 0;
// Neo-Hookean elasticity.
constexpr uint32_t MPM_NEO_HOOKEAN = 1;
// Linear corotated elasticity.
constexpr uint32_t MPM_LINEAR_COROTATED = 2;
// Von Mises plasticity.
constexpr uint32_t MPM_VON_MISES = 3;
// Drucker-Prager plasticity.
constexpr uint32_t MPM_DRUCKER_PRAGER = 4;
// Granular flow, whose particles keep subgrid motion: mpm/src/detail.rs.
constexpr uint32_t MPM_GRANULAR = 5;
// The least principal stretch of the models with Hencky strain [-].
constexpr double MPM_SMALLEST_STRETCH = 0.05;
// Ratio of volumes below which ln J of neo-Hookean elasticity goes on as its tangent [-].
constexpr double MPM_EXTENSION_VOLUME_RATIO = 0.1;
// Numbers of a particle's subgrid motion: velocity [m/s], then affine field by rows [1/s].
constexpr uint32_t MPM_SUBGRID_ROWS = 12;
// Boundary condition of a plane: sticky.
constexpr uint32_t MPM_STICKY = 0;
// Slip without friction.
constexpr uint32_t MPM_SLIP = 1;
// Slip with friction.
constexpr uint32_t MPM_FRICTIONAL = 2;
// Threads of a block that advances cloth.
constexpr uint32_t CLOTH_THREADS = 128;
// Threads of the block that lets pins act on the grid: a warp for each sweep over them.
constexpr uint32_t CLOTH_PIN_THREADS = 256;
// Of a vertex without a pin.
constexpr uint32_t CLOTH_NO_PIN = 4294967295;
// Sums over the pins: impulse [N s], its moment about the world's origin [N m s], work [J].
constexpr uint32_t CLOTH_PIN_SUMS = 7;
// f64 entries of a pin: velocity [m/s]; mobility of what it reaches of the grid [1/kg]; first
// node of its stencil; mean of its velocity and that before [m/s]; `CLOTH_PIN_SUMS` of its vertex.
constexpr uint32_t CLOTH_PIN_ROW = 17;
// Most steps that a mesh takes in a substep.
constexpr uint32_t CLOTH_MESH_STEPS = 16;
// No contact, geometry, side or triangle.
constexpr uint32_t CONTACT_NONE = 4294967295;
// Kinds of shapes: a half-space.
constexpr uint32_t SHAPE_HALF_SPACE = 0;
// A box.
constexpr uint32_t SHAPE_BOX = 1;
// A sphere.
constexpr uint32_t SHAPE_SPHERE = 2;
// A capsule.
constexpr uint32_t SHAPE_CAPSULE = 3;
// A cylinder.
constexpr uint32_t SHAPE_CYLINDER = 4;
// An ellipsoid.
constexpr uint32_t SHAPE_ELLIPSOID = 5;
// A convex hull.
constexpr uint32_t SHAPE_HULL = 6;
// A triangle mesh or a height field.
constexpr uint32_t SHAPE_MESH = 7;
// Contacts of a centroid of cloth with a geometry: they act at the vertices of its face.
constexpr uint32_t CONTACT_FACE_CORNERS = 3;
// Threads of a block of the contact kernels, and particles of its tile.
constexpr uint32_t CONTACT_THREADS = 256;
// Geometries that a particle can touch at once.
constexpr uint32_t CONTACT_SLOTS = 8;
// Levels of a tree of triangles.
constexpr uint32_t CONTACT_TREE_DEPTH = 40;
// Numbers that are summed for each body: angular impulse, linear impulse, work.
constexpr uint32_t CONTACT_SUMS = 7;
// Threads of a block of the convex contact solve.
constexpr uint32_t CONVEX_THREADS = 256;
// Tiles of 32 touched nodes or contacts up to which one block does the whole solve.
constexpr uint32_t CONVEX_SMALL = 32;
// Tiles of a block in a larger solve.
constexpr uint32_t CONVEX_TILES = 4;
// Sums that one pass forms at most.
constexpr uint32_t CONVEX_SUMS = 8;
// f64 rows of a touched node: see `kernels/convex.cuh`.
constexpr uint32_t CONVEX_NODE_ROWS = 20;
// f64 rows of a contact.
constexpr uint32_t CONVEX_CONTACT_ROWS = 30;
// Rows of an unknown of the strongly coupled bodies: see `kernels/convex_bodies.cuh`.
constexpr uint32_t CONVEX_BODY_ROWS = 14;
// Sums over the contacts of a strongly coupled body: the lower triangle of a 6 x 6 matrix at
// most.
constexpr uint32_t CONVEX_BODY_SUMS = 21;
// Place of a body that is not strongly coupled among those that are.
constexpr uint32_t CONVEX_NOT_STRONG = 4294967295;
// Rows of a touched node in a linear system.
constexpr uint32_t CONVEX_SYSTEM_ROWS = 25;
// Mark of a node that a sticky boundary holds: the solve does not move it.
constexpr uint32_t CONVEX_FIXED = 4294967295;
// Along an axis with an offset of this or more all weight is on the node of number offset - 8:
// a contact of a node.
constexpr uint32_t CONVEX_ON_NODE = 8;
// Start of a solve: the free velocities.
constexpr uint32_t CONVEX_GUESS_FREE = 0;
// Start of a solve: between the free velocities and what the guessed impulses do.
constexpr uint32_t CONVEX_GUESS_IMPULSES = 1;
// Start of a solve: between the free velocities and the guessed ones.
constexpr uint32_t CONVEX_GUESS_VELOCITIES = 2;
// Start of a solve: the better of the guessed velocities and what the guessed impulses do.
constexpr uint32_t CONVEX_GUESS_SOLUTION = 3;
// Direction of a step: Newton's method with conjugate gradients.
constexpr uint32_t CONVEX_NEWTON_CG = 0;
// Direction of a step: the true diagonal blocks.
constexpr uint32_t CONVEX_BLOCK = 1;
// Direction of a step: the lumped diagonal blocks.
constexpr uint32_t CONVEX_LUMPED_BLOCK = 2;
// End of a solve: there are no contacts.
constexpr uint32_t CONVEX_NO_CONTACTS = 0;
// End of a solve: the tolerance is reached.
constexpr uint32_t CONVEX_CONVERGED = 1;
// End of a solve: the gradient is below its rounding.
constexpr uint32_t CONVEX_STAGNATED = 2;
// End of a solve: too many iterations.
constexpr uint32_t CONVEX_ITERATION_LIMIT = 3;
// End of a solve: a number is not finite.
constexpr uint32_t CONVEX_NOT_FINITE = 4;
// End of a solve, before it began: more contacts or touched nodes than the capacity, or a node
// that the grid lacks.
constexpr uint32_t CONVEX_CAPACITY_EXCEEDED = 5;
// Threads of a block of the kernels of boundary constraints, and constraints whose impulses
// are summed by one of its blocks.
constexpr uint32_t BOUNDARY_THREADS = 128;
// Numbers that are summed for the boundary constraints: angular impulse, linear impulse.
constexpr uint32_t BOUNDARY_SUMS = 6;
// Threads of a block of the worlds' kernels, all of them on the same tree, pair or degree of
// freedom.
constexpr uint32_t WORLDS_THREADS = 128;
// In place of an index: none, or the world.
constexpr uint32_t WORLDS_NONE = 4294967295;
// A revolute joint.
constexpr uint32_t WORLDS_REVOLUTE = 0;
// A prismatic joint.
constexpr uint32_t WORLDS_PRISMATIC = 1;
// A ball joint.
constexpr uint32_t WORLDS_BALL = 2;
// A free joint.
constexpr uint32_t WORLDS_FREE = 3;
// A half-space.
constexpr uint32_t WORLDS_HALF_SPACE = 0;
// A sphere.
constexpr uint32_t WORLDS_SPHERE = 1;
// A capsule.
constexpr uint32_t WORLDS_CAPSULE = 2;
// A box.
constexpr uint32_t WORLDS_BOX = 3;
// Kinds of pairs: a sphere and a half-space.
constexpr uint32_t PAIR_SPHERE_HALF_SPACE = 0;
// A sphere and a sphere.
constexpr uint32_t PAIR_SPHERE_SPHERE = 1;
// A sphere and a capsule.
constexpr uint32_t PAIR_SPHERE_CAPSULE = 2;
// A sphere and a box.
constexpr uint32_t PAIR_SPHERE_BOX = 3;
// A capsule and a half-space.
constexpr uint32_t PAIR_CAPSULE_HALF_SPACE = 4;
// A capsule and a capsule.
constexpr uint32_t PAIR_CAPSULE_CAPSULE = 5;
// A capsule and a box.
constexpr uint32_t PAIR_CAPSULE_BOX = 6;
// A box and a half-space.
constexpr uint32_t PAIR_BOX_HALF_SPACE = 7;
// A box and a box.
constexpr uint32_t PAIR_BOX_BOX = 8;
// A motor whose target is a rate.
constexpr uint32_t WORLDS_RATE = 1;
// Most points of contact of a pair.
constexpr uint32_t WORLDS_MOST_POINTS = 12;
// From this bit on, which points of a pair have a moment.
constexpr uint32_t WORLDS_TURNING = 16;
// Numbers of a point of contact: where it is (m), impulse (N s) and moment (N m s).
constexpr uint32_t WORLDS_POINT_NUMBERS = 9;
// Numbers of the settings: step (s), kappa (1/s^2), delta (1/s), weight of a facet, impedance
// of joints.
constexpr uint32_t WORLDS_SETTINGS_NUMBERS = 9;
// Numbers of an impedance: minimum, maximum, width (m), midpoint, power.
constexpr uint32_t WORLDS_CURVE_NUMBERS = 5;
// Numbers of a body: first its frame (rotation by rows, origin).
constexpr uint32_t WORLDS_BODY_NUMBERS = 38;
// Axis of its joint.
constexpr uint32_t WORLDS_BODY_AXIS = 12;
// Mass (kg).
constexpr uint32_t WORLDS_BODY_MASS = 15;
// Centre of mass (m).
constexpr uint32_t WORLDS_BODY_CENTER = 16;
// Inertia about it: xx, xy, xz, yy, yz, zz (kg m^2).
constexpr uint32_t WORLDS_BODY_INERTIA = 19;
// Mass on which gravity acts (kg), and its centre times that (kg m).
constexpr uint32_t WORLDS_BODY_WEIGHT = 25;
// Inverse inertia of a free-floating body, by rows.
constexpr uint32_t WORLDS_BODY_INVERSE = 29;
// Numbers of a pose: rotation by rows, origin (m).
constexpr uint32_t WORLDS_POSE_NUMBERS = 12;
// Numbers of a degree of freedom: damping, stiffness, reference, armature, dry friction, least
// and greatest position.
constexpr uint32_t WORLDS_DOF_NUMBERS = 7;

// Some bits of a key, by which a pass sorts.
struct SortDigit {
    // The lowest of the bits.
    uint32_t shift;
    // The bits once shifted: 2^bits - 1.
    uint32_t mask;
};
PLIANT_CHECK_LAYOUT(SortDigit, 0x24f19006ead4e1deull, FIELD(shift), FIELD(mask))

// A piece of a staged image, and where it belongs.
struct StagingPiece {
    // Address in device memory, which the host has checked.
    uint64_t address;
    // First word in the image.
    uint32_t first;
    // Words of four bytes.
    uint32_t words;
};
PLIANT_CHECK_LAYOUT(StagingPiece, 0x97b1d92f91b0e899ull, FIELD(address), FIELD(first),
    FIELD(words))

// The grid: a node block of 4x4x4 nodes has 64 nodes in a row, z fastest.
struct GridNodes {
    // Velocity x, y, z [m/s] and mass [kg] of each node; nodes of zero mass are all zero.
    Span<Array<float, 4>> nodes;
    // Key of each node block; its first node is at 4 times the key.
    Span<Array<int32_t, 3>> keys;
    // The table that finds a node block by its key: `find_key` of `kernels/mpm.cuh`. Its
    // length is a power of two.
    Span<uint64_t> table_keys;
    // Slot of the node block at each place of the table.
    Span<uint32_t> table_slots;
};
PLIANT_CHECK_LAYOUT(GridNodes, 0x68af701817e1776cull, FIELD(nodes), FIELD(keys),
    FIELD(table_keys), FIELD(table_slots))

// Particles in device memory, sorted by cell at the start of a step. Row r of particle i is
// `rows[r * stride + i]`. All rows are in the world frame; `ROW_POSITION` and the constants
// after it name them.
struct ParticleRows {
    // `MPM_ROWS` rows.
    Span<float> rows;
    // The order in which each was added.
    Span<uint32_t> ids;
    // Index of each one's material; those of cloth count on from the others.
    Span<uint32_t> materials;
    // Slot of each one's block.
    Span<uint32_t> blocks;
    // Key of each block; its corner is at 4 times the key [cells].
    Span<Array<int32_t, 3>> block_keys;
    // Number of particles.
    uint32_t count;
    // Elements from one row to the next.
    uint32_t stride;
};
PLIANT_CHECK_LAYOUT(ParticleRows, 0x5e81557f11de9bfbull, FIELD(rows), FIELD(ids),
    FIELD(materials), FIELD(blocks), FIELD(block_keys), FIELD(count), FIELD(stride))

// What may change from step to step.
struct MpmSettings {
    // Substep times gravity, world frame [m/s].
    Array<double, 3> gravity_step;
    // Grid spacing h [m].
    double grid_spacing_f64;
    // Substep [s].
    double substep_f64;
    // Grid spacing h [m].
    float grid_spacing;
    // Substep [s].
    float substep;
    // Fraction of the subgrid motion that granular particles keep after a substep.
    float subgrid_retention;
    // Time over which internal forces act in the first substep [s]
    // (`pliant_mpm::LastSubstep::kick`).
    float first_kick;
    // Number of the first substep, counted from the start.
    uint64_t first_number;
};
PLIANT_CHECK_LAYOUT(MpmSettings, 0x6bcfbd6b070c6b83ull, FIELD(gravity_step),
    FIELD(grid_spacing_f64), FIELD(substep_f64), FIELD(grid_spacing), FIELD(substep),
    FIELD(subgrid_retention), FIELD(first_kick), FIELD(first_number))

// A material.
struct MpmMaterial {
    // Which model: `MPM_FIXED_COROTATED` and those after it.
    uint32_t model;
    // Shear modulus [Pa].
    float mu;
    // First Lame parameter [Pa].
    float lambda;
    // Von Mises: largest |dev e|; Drucker-Prager: slope of the cone, -|dev e| / tr e on it
    // [-].
    float yield_strain;
    // Granular flow, the cone of slow flow: sqrt(3)/2 m, with m = sqrt(J2)/p in simple shear
    // [-].
    float slow_ratio;
    // m (3 - m^2)/2 of that cone: how far its section is from a circle (0) towards a triangle
    // (1).
    float slow_triangularity;
    // As `slow_ratio`, of fast flow.
    float fast_ratio;
    // As `slow_triangularity`, of fast flow.
    float fast_triangularity;
    // Granular flow: the stress that relaxes at I = I_0, over substep and root of the pressure
    // [sqrt(Pa)/s].
    float relaxation;
};
PLIANT_CHECK_LAYOUT(MpmMaterial, 0xc2089bcd72a77e8aull, FIELD(model), FIELD(mu), FIELD(lambda),
    FIELD(yield_strain), FIELD(slow_ratio), FIELD(slow_triangularity), FIELD(fast_ratio),
    FIELD(fast_triangularity), FIELD(relaxation))

// A boundary condition.
struct MpmPlane {
    // Unit normal into the domain.
    Array<double, 3> normal_f64;
    // Cells from the origin along the normal.
    double offset;
    // Unit normal into the domain.
    Array<float, 3> normal;
    // Coefficient of friction.
    float friction;
    // Which condition: `MPM_STICKY` and those after it.
    uint32_t kind;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmPlane, 0xd355044bbfcc0155ull, FIELD(normal_f64), FIELD(offset),
    FIELD(normal), FIELD(friction), FIELD(kind), FIELD(unused))

// The material of a sheet.
struct ClothSheetMaterial {
    // Shear modulus [Pa].
    float mu;
    // First Lame parameter of plane stress [Pa].
    float lambda;
    // Normal stiffness [Pa].
    float normal_stiffness;
    // Shear stiffness [Pa].
    float shear_stiffness;
    // Coefficient of that shear's friction [-].
    float friction;
    // Part of the symmetric velocity gradient that a substep keeps [-].
    float damping;
};
PLIANT_CHECK_LAYOUT(ClothSheetMaterial, 0xbad571fa6bfdc6fcull, FIELD(mu), FIELD(lambda),
    FIELD(normal_stiffness), FIELD(shear_stiffness), FIELD(friction), FIELD(damping))

// The steps of a sheet's mesh within a substep of the present length.
struct ClothMeshSteps {
    // How many, at least one.
    uint32_t steps;
    // The most of any sheet.
    uint32_t most;
    // Their length over the grid spacing [cells per m/s].
    float step;
    // Their length times the part of a particle's inverse mass that a vertex of the mesh has
    // [s].
    float impulse_step;
    // Their length times gravity [m/s].
    Array<float, 3> gravity_velocity_step;
    // Zero.
    uint32_t unused;
    // Weight of the stresses at each step [-].
    Array<float, 16> weights;
};
PLIANT_CHECK_LAYOUT(ClothMeshSteps, 0x1e45f4339cb400bbull, FIELD(steps), FIELD(most), FIELD(step),
    FIELD(impulse_step), FIELD(gravity_velocity_step), FIELD(unused), FIELD(weights))

// A face at rest.
struct ClothFace {
    // Numbers of its vertices.
    Array<uint32_t, 3> corners;
    // Its sheet.
    uint32_t sheet;
    // Inverse of the edges: 11, 12, 22 [1/cell].
    Array<float, 3> inverse_edges;
    // Area times thickness [m^3].
    float volume;
    // Mass of the centroid [kg].
    float mass;
    // Zero.
    Array<uint32_t, 3> unused;
};
PLIANT_CHECK_LAYOUT(ClothFace, 0x56c9e5dc7669cb82ull, FIELD(corners), FIELD(sheet),
    FIELD(inverse_edges), FIELD(volume), FIELD(mass), FIELD(unused))

// An edge between two faces.
struct ClothHinge {
    // Numbers of the edge's ends and of the two faces' tips.
    Array<uint32_t, 4> vertices;
    // The hinges at the other edges of its two faces, two each; its own number where an edge is
    // one of the boundary.
    Array<uint32_t, 4> neighbours;
    // Couplings to them.
    Array<double, 4> couplings;
    // Angle at rest [rad].
    double rest_angle;
    // Length of the edge at rest [m].
    double length;
    // Areas of the two faces at rest [m^2].
    Array<double, 2> areas;
    // Bending stiffness B [N m].
    double stiffness;
};
PLIANT_CHECK_LAYOUT(ClothHinge, 0xdf7b06bfd7ae895aull, FIELD(vertices), FIELD(neighbours),
    FIELD(couplings), FIELD(rest_angle), FIELD(length), FIELD(areas), FIELD(stiffness))

// A pin in a substep.
struct PinTarget {
    // Where its vertex is at the substep's end, world frame [m].
    Array<double, 3> position;
    // One while it holds, zero after its release.
    uint32_t holds;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(PinTarget, 0x5ec28d6982c3be70ull, FIELD(position), FIELD(holds),
    FIELD(unused))

// The meshes of all sheets. Elements are the vertices and then the faces, each in the order of
// the sheets; corners of faces are numbered three times the face and the corner, those of
// hinges go on from there with four times the hinge and the place.
struct ClothTables {
    // Index of each element's particle; as of the last sort.
    Span<uint32_t> places;
    // Of each vertex, 1 / mass [1/kg].
    Span<float> inverse_masses;
    // Of each vertex, its sheet.
    Span<uint32_t> sheets_of_vertices;
    // Where the list of each vertex begins, and the end of the last.
    Span<uint32_t> around_first;
    // Lists of the corners that each vertex is: of faces, then of hinges.
    Span<uint32_t> around;
    // Faces.
    Span<ClothFace> faces;
    // Hinges.
    Span<ClothHinge> hinges;
    // Materials of the sheets.
    Span<ClothSheetMaterial> sheets;
};
PLIANT_CHECK_LAYOUT(ClothTables, 0x7485f5cc82e27f90ull, FIELD(places), FIELD(inverse_masses),
    FIELD(sheets_of_vertices), FIELD(around_first), FIELD(around), FIELD(faces), FIELD(hinges),
    FIELD(sheets))

// What contact needs of the meshes: the vertices of faces, from the ids of their centroids.
// Empty without cloth.
struct ClothFaces {
    // Number among the elements of each particle of cloth, in the order of their ids, which are
    // the last of all.
    Span<uint32_t> elements;
    // See `ClothTables`.
    Span<uint32_t> places;
    // Faces.
    Span<ClothFace> faces;
};
PLIANT_CHECK_LAYOUT(ClothFaces, 0x6fe9b5011a8db9b2ull, FIELD(elements), FIELD(places),
    FIELD(faces))

// Pins. Empty without any.
struct ClothPins {
    // Number of each one's vertex.
    Span<uint32_t> vertices;
    // Of each vertex, its pin; `CLOTH_NO_PIN` without.
    Span<uint32_t> of_vertices;
    // All pins in the step's first substep, then all in the second, and so on.
    Span<PinTarget> targets;
    // `CLOTH_PIN_ROW` entries a pin.
    Span<double> rows;
    // Impulse and work of the pins on the grid in this substep; `CLOTH_PIN_SUMS` entries.
    Span<double> of_grid;
    // The same over the step; `CLOTH_PIN_SUMS` entries.
    Span<double> total;
};
PLIANT_CHECK_LAYOUT(ClothPins, 0x6898ddf8272eecaaull, FIELD(vertices), FIELD(of_vertices),
    FIELD(targets), FIELD(rows), FIELD(of_grid), FIELD(total))

// A geometry of a body for contact: constant while the bodies are.
struct ContactGeometry {
    // Kind of its shape: `SHAPE_HALF_SPACE` and those after it.
    uint32_t kind;
    // Number of its body.
    uint32_t body;
    // Number of features: faces of a hull, triangles of a mesh.
    uint32_t features;
    // 1 where particles can adhere, else 0.
    uint32_t adhesive;
    // Box: half extents; sphere: radius; capsule and cylinder: radius, half length; ellipsoid:
    // semi-axes; triangles: half of their bounding box [m].
    Array<float, 3> size;
    // Radius of the bounding sphere of the triangles, about the middle of their bounding box
    // [m].
    float radius;
    // Coulomb coefficient.
    float friction;
    // Tensile stress of a bond [Pa].
    float adhesion_stress;
    // Gap at which a bond breaks [m].
    float adhesion_range;
    // First node of its tree of triangles.
    uint32_t first_node;
    // First of its triangles.
    uint32_t first_triangle;
    // First of its planes.
    uint32_t first_plane;
    // Rotation from the shape's frame to the body's: w, x, y, z.
    Array<double, 4> rotation;
    // The shape's center in the body's frame [m].
    Array<double, 3> translation;
};
PLIANT_CHECK_LAYOUT(ContactGeometry, 0x0a3f56ca9187ef8full, FIELD(kind), FIELD(body),
    FIELD(features), FIELD(adhesive), FIELD(size), FIELD(radius), FIELD(friction),
    FIELD(adhesion_stress), FIELD(adhesion_range), FIELD(first_node), FIELD(first_triangle),
    FIELD(first_plane), FIELD(rotation), FIELD(translation))

// A node of a tree of triangles.
struct ContactNode {
    // Lowest corner of the box around its triangles [m].
    Array<float, 3> low;
    // Highest corner [m].
    Array<float, 3> high;
    // First triangle of a leaf; the right child of an inner node, whose left child follows it.
    // Both count from the geometry's first.
    uint32_t start;
    // Triangles of a leaf; 0 for an inner node.
    uint32_t count;
};
PLIANT_CHECK_LAYOUT(ContactNode, 0xb75292f80ce98074ull, FIELD(low), FIELD(high), FIELD(start),
    FIELD(count))

// All geometries of all bodies. Frames have their origin in the center of the shape.
struct ContactShapes {
    // Geometries, in the order of the bodies.
    Span<ContactGeometry> geometries;
    // Nodes of the trees.
    Span<ContactNode> nodes;
    // Corners a, b, c [m] and outward unit normal of each triangle, in the order of its tree.
    Span<Array<float, 12>> triangles;
    // Sums of the normals of the triangles at edges ab, bc, ca, and angle-weighted sums of
    // those at a, b, c.
    Span<Array<float, 18>> edge_normals;
    // Feature of each triangle: its number in the mesh, its face of a hull.
    Span<uint32_t> features;
    // Where each triangle of a mesh stands in `triangles`.
    Span<uint32_t> slots;
    // Outward normal and offset [m] of each face of a hull.
    Span<Array<float, 4>> planes;
};
PLIANT_CHECK_LAYOUT(ContactShapes, 0x6156fb17fcde3db2ull, FIELD(geometries), FIELD(nodes),
    FIELD(triangles), FIELD(edge_normals), FIELD(features), FIELD(slots), FIELD(planes))

// State of a body at the substep, world frame.
struct ContactBody {
    // The point that impulses on it in this substep are about [m].
    Array<double, 3> origin;
    // Where its origin is in this substep [m].
    Array<double, 3> translation;
    // Rotation from its frame to the world's: w, x, y, z.
    Array<double, 4> rotation;
    // Angular velocity [rad/s].
    Array<double, 3> angular;
    // Velocity of its origin [m/s].
    Array<double, 3> linear;
};
PLIANT_CHECK_LAYOUT(ContactBody, 0x9893c19f2a04e6e3ull, FIELD(origin), FIELD(translation),
    FIELD(rotation), FIELD(angular), FIELD(linear))

// A geometry at its pose in this substep. Its center is the sum of a cell and a fraction, so
// that what is relative to it is exact far from the world's origin.
struct ContactPlacedGeometry {
    // World to shape frame, by rows.
    Array<float, 9> inverse_rotation;
    // Cell of the grid in which its center is.
    Array<int32_t, 3> cell;
    // Its center within that cell [cells].
    Array<float, 3> fraction;
    // Angular velocity, world frame [rad/s].
    Array<float, 3> angular;
    // Velocity of its center, world frame [m/s].
    Array<float, 3> linear;
    // From the point that the body's impulses are about to its center, world frame [m].
    Array<float, 3> lever;
};
PLIANT_CHECK_LAYOUT(ContactPlacedGeometry, 0xf9a4d98f2e80924aull, FIELD(inverse_rotation),
    FIELD(cell), FIELD(fraction), FIELD(angular), FIELD(linear), FIELD(lever))

// Where in a step contact is.
struct ContactClock {
    // Length of the substep [s].
    float substep;
    // Number of the substep in its step. The exchange increments it, so that a substep that is
    // stopped before can be repeated.
    uint32_t substep_index;
    // 1 where the substep takes place: not beyond the limit of `Kernel::ContactFind`, nor
    // stopped since.
    uint32_t active;
    // Substeps of the step: there are poses for so many.
    uint32_t substeps;
};
PLIANT_CHECK_LAYOUT(ContactClock, 0xfd0309d87b0535adull, FIELD(substep), FIELD(substep_index),
    FIELD(active), FIELD(substeps))

// What contact keeps from substep to substep besides the contact cache.
struct ContactState {
    // Number of cached contacts.
    uint32_t cached_contacts;
    // Bits of the largest `exit_distance` among them, as f32.
    uint32_t max_exit_distance;
    // The same of those that are being cached.
    uint32_t next_max_exit_distance;
    // The most contacts of a substep.
    uint32_t most_contacts;
    // The most geometries that a particle touched.
    uint32_t most_of_particle;
    // Contacts of particles in this substep.
    uint32_t detected;
    // The most geometries that a particle touches in this substep, where they are more than
    // `CONTACT_SLOTS`; else 0.
    uint32_t max_geometries_per_particle;
    // The most contacts of particles in a substep of the step.
    uint32_t step_most_contacts;
    // Contacts of particles in all substeps of the step.
    uint64_t step_contacts;
};
PLIANT_CHECK_LAYOUT(ContactState, 0xfbf88282816ab6e9ull, FIELD(cached_contacts),
    FIELD(max_exit_distance), FIELD(next_max_exit_distance), FIELD(most_contacts),
    FIELD(most_of_particle), FIELD(detected), FIELD(max_geometries_per_particle),
    FIELD(step_most_contacts), FIELD(step_contacts))

// A contact of the last substep.
struct DeviceCachedContact {
    // The particle's id.
    uint32_t particle;
    // Number of the geometry.
    uint32_t geometry;
    // Feature through which the particle came.
    uint32_t feature;
    // 1 where the particle was pressed onto an adhesive geometry and has stayed bonded.
    uint32_t bonded;
    // Impulse on the particle, world frame [N s].
    Array<float, 3> impulse;
    // Its normal part; negative only for a bond under tension.
    float normal_impulse;
    // Signed distance of the particle's centre, from `feature` [m].
    float distance;
    // Exit distance: how far outside the geometry the particle is although it is behind
    // `feature` [m].
    float exit_distance;
    // Zero.
    Array<uint32_t, 2> unused;
};
PLIANT_CHECK_LAYOUT(DeviceCachedContact, 0x06b75a35d8cfbc44ull, FIELD(particle), FIELD(geometry),
    FIELD(feature), FIELD(bonded), FIELD(impulse), FIELD(normal_impulse), FIELD(distance),
    FIELD(exit_distance), FIELD(unused))

// Rules that decide which pairs touch, and their stiffness.
struct ContactRules {
    // Grid spacing [m].
    double grid_spacing;
    // Gap below which a pair is detected at any velocity [m].
    float margin;
    // Radius of every particle [m]; negative for half the edge of the cube of its volume.
    float radius;
    // Stiffness of every contact [N/m]; 0 for `near_rigid` times mass over the square of the
    // substep.
    float stiffness;
    // See `stiffness`.
    float near_rigid;
    // Hunt-Crossley dissipation [s/m].
    float dissipation;
    // How far from a centroid of cloth the vertices of its face can be [m].
    float vertex_reach;
};
PLIANT_CHECK_LAYOUT(ContactRules, 0x816d98d68db6fd62ull, FIELD(grid_spacing), FIELD(margin),
    FIELD(radius), FIELD(stiffness), FIELD(near_rigid), FIELD(dissipation), FIELD(vertex_reach))

// The contacts of a substep, one element each: ordered by particle (in their order in memory),
// then geometry, then, of a centroid of cloth, vertex of its face; after them those of nodes
// with grid boundary constraints.
struct ContactArrays {
    // Number of contacts; one element. May exceed the capacity where nodes with grid boundary
    // constraints are: the solve refuses these.
    Span<uint32_t> count;
    // The particle's id; `CONTACT_NONE` for a contact of a node with a grid boundary
    // constraint.
    Span<uint32_t> particle;
    // Number of the geometry.
    Span<uint32_t> geometry;
    // Number of the body; the number of bodies for a grid boundary constraint.
    Span<uint32_t> body;
    // Feature of the geometry.
    Span<uint32_t> feature;
    // Lowest node of the stencil of the particle, or of the vertex.
    Span<Array<int32_t, 3>> base;
    // Its position relative to that node [cells].
    Span<Array<float, 3>> offset;
    // From the particle to where it touches [cells]; zero but for granular particles, empty
    // where no material is granular.
    Span<Array<float, 3>> arm;
    // From the body to the particle, world frame.
    Span<Array<float, 3>> normal;
    // Velocity of the body there, world frame [m/s].
    Span<Array<float, 3>> body_velocity;
    // Where it touches, relative to the point that the body's impulses are about, world frame
    // [m].
    Span<Array<float, 3>> lever;
    // Gap [m], negative when overlapping.
    Span<float> gap;
    // Gap of the particle's centre: without its radius [m].
    Span<float> distance;
    // Exit distance: how far outside the geometry the particle is although `distance` is
    // negative [m].
    Span<float> exit_distance;
    // Stiffness [N/m].
    Span<float> stiffness;
    // Hunt-Crossley dissipation [s/m].
    Span<float> dissipation;
    // Coulomb coefficient.
    Span<float> friction;
    // Normal impulse that bounds the friction [N s].
    Span<float> lagged_normal_impulse;
    // Largest tension of a contact that is bonded at the start of the substep [N]; 0 for one
    // that is not.
    Span<float> tension;
    // Impulse on the particle in the last substep, world frame [N s]; zero for a new pair.
    Span<Array<float, 3>> last_impulse;
};
PLIANT_CHECK_LAYOUT(ContactArrays, 0x16919e7603907403ull, FIELD(count), FIELD(particle),
    FIELD(geometry), FIELD(body), FIELD(feature), FIELD(base), FIELD(offset), FIELD(arm),
    FIELD(normal), FIELD(body_velocity), FIELD(lever), FIELD(gap), FIELD(distance),
    FIELD(exit_distance), FIELD(stiffness), FIELD(dissipation), FIELD(friction),
    FIELD(lagged_normal_impulse), FIELD(tension), FIELD(last_impulse))

// What places geometries where their bodies are.
struct ContactPlacement {
    // The geometries.
    ContactShapes shapes;
    // Bodies, substep by substep.
    Span<ContactBody> bodies;
    // Geometries at their poses.
    Span<ContactPlacedGeometry> placed;
    // Grid spacing [m].
    double grid_spacing;
    // Number of bodies.
    uint32_t body_count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ContactPlacement, 0x54dfb0d5d53c7fe5ull, FIELD(shapes), FIELD(bodies),
    FIELD(placed), FIELD(grid_spacing), FIELD(body_count), FIELD(unused))

// The contact cache: the last substep's contacts.
struct DeviceContactCache {
    // The contacts, a particle's in a row, and of these those with a geometry.
    Span<DeviceCachedContact> list;
    // For the id of each particle, the first of its contacts in `list`, if that is of this
    // particle; else it has none.
    Span<uint32_t> first;
    // One element.
    Span<ContactState> state;
};
PLIANT_CHECK_LAYOUT(DeviceContactCache, 0x5c68470f36789174ull, FIELD(list), FIELD(first),
    FIELD(state))

// Path of a body's reference point for impulses in a step, world frame.
struct ContactReference {
    // Its velocity at the start of the step [m/s].
    Array<double, 3> velocity;
    // Its acceleration without particles and contact [m/s^2].
    Array<double, 3> acceleration;
    // Mass of the body [kg]; infinite where impulses do not move the point.
    double mass;
    // Length of a substep [s].
    double substep;
    // Over the substeps so far, the sum of the cross products of its displacement since the
    // first and the impulse [N m s].
    Array<double, 3> moment_of_travel;
    // Substeps so far.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ContactReference, 0x39ab59bfae8e62a5ull, FIELD(velocity), FIELD(acceleration),
    FIELD(mass), FIELD(substep), FIELD(moment_of_travel), FIELD(substep_index), FIELD(unused))

// Strongly coupled bodies of a step: `pliant_coupling::StronglyCoupledBodies`.
struct ContactStrongBodies {
    // Numbers of the bodies.
    Span<uint32_t> bodies;
    // Their mobility by rows, six for each.
    Span<double> mobility;
    // Their velocities at the start of the step, six numbers each [rad/s, m/s].
    Span<double> start;
    // Change of velocity over the step without impulses of particles.
    Span<double> gain;
    // Correction of the lag of their poses.
    Span<double> lag;
    // Number of substeps, and the length of one [s].
    Span<Array<double, 2>> step;
};
PLIANT_CHECK_LAYOUT(ContactStrongBodies, 0x0a75be5d95f9883aull, FIELD(bodies), FIELD(mobility),
    FIELD(start), FIELD(gain), FIELD(lag), FIELD(step))

// The solution of a substep's contact problem.
struct ContactSolution {
    // Impulse of each contact on its particle, world frame [N s].
    Span<Array<double, 3>> impulses;
    // Velocity of each touched node [m/s].
    Span<Array<double, 3>> velocities;
    // Rows of touched nodes: row r of node i is `nodes[r * node_stride + i]`.
    Span<double> nodes;
    // Change of each body's velocity from the state at the substep, world frame about the
    // reference point: angular [rad/s], linear [m/s]; empty where no body is strongly coupled.
    Span<Array<double, 6>> body_velocity_changes;
    // Elements from one row of nodes to the next.
    uint32_t node_stride;
    // Row with the mass that the solve moved [kg]; 0 for a node that a grid boundary
    // constraint held.
    uint32_t mass_row;
    // First of the three rows with the velocity before the solve [m/s].
    uint32_t free_row;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ContactSolution, 0x4364b33316786914ull, FIELD(impulses), FIELD(velocities),
    FIELD(nodes), FIELD(body_velocity_changes), FIELD(node_stride), FIELD(mass_row),
    FIELD(free_row), FIELD(unused))

// The contacts of a substep as the convex solve reads them, an element each; `count[0]` of
// them are there. Contacts with the same base node that follow one another are worked on
// together; any order is right.
struct ConvexContacts {
    // Number of contacts; one element.
    Span<uint32_t> count;
    // First node of the stencil, in nodes of the grid.
    Span<Array<int32_t, 3>> base;
    // The particle's place in cells from that node, in [0.5, 1.5]; or along an axis
    // `CONVEX_ON_NODE` and more.
    Span<Array<float, 3>> offset;
    // From the particle to where the contact acts [cells]; empty where all act at their
    // particles.
    Span<Array<float, 3>> arm;
    // Unit normal, outward from the body, world axes.
    Span<Array<float, 3>> normal;
    // The body's velocity at the contact point, world axes [m/s].
    Span<Array<float, 3>> body_velocity;
    // Signed distance [m], negative when overlapping.
    Span<float> gap;
    // Stiffness [N/m].
    Span<float> stiffness;
    // Coefficient of friction.
    Span<float> friction;
    // What bounds friction; of a bonded contact with the tension's impulse added.
    Span<float> lagged_normal_impulse;
    // Largest tension of a bonded contact [N], 0 without a bond.
    Span<float> tension;
    // Hunt-Crossley dissipation [s/m]; empty where the setting holds for all.
    Span<float> dissipation;
    // Stiction tolerance [m/s]; empty where the setting holds for all.
    Span<float> stiction_tolerance;
    // Number of the body; only read where bodies are strongly coupled.
    Span<uint32_t> body;
    // From the point that the body's velocity and impulses are about, world axes [m]; only
    // read where bodies are strongly coupled.
    Span<Array<float, 3>> lever;
};
PLIANT_CHECK_LAYOUT(ConvexContacts, 0x2b993083218cb5a6ull, FIELD(count), FIELD(base),
    FIELD(offset), FIELD(arm), FIELD(normal), FIELD(body_velocity), FIELD(gap), FIELD(stiffness),
    FIELD(friction), FIELD(lagged_normal_impulse), FIELD(tension), FIELD(dissipation),
    FIELD(stiction_tolerance), FIELD(body), FIELD(lever))

// The strongly coupled bodies, and the memory for their part of it.
struct ConvexBodies {
    // How many bodies are strongly coupled, and the number of their unknowns: the rank of
    // their mobility W = L L^T.
    Span<uint32_t> counts;
    // For each body its place among the strongly coupled ones, or `CONVEX_NOT_STRONG`.
    Span<uint32_t> places;
    // L by rows, six for each strongly coupled body.
    Span<double> factor;
    // What the velocity of each body changed by: angular [rad/s], linear [m/s]; zero where it
    // is weakly coupled.
    Span<Array<double, 6>> body_velocity_changes;
    // Memory of the unknowns, row by row.
    Span<double> rows;
    // Changes of the strongly coupled bodies' velocities: at the iterate, then along a
    // direction.
    Span<double> velocities;
    // Sums over each tile of contacts for each strongly coupled body; those of bodies that a
    // tile does not have are zero.
    Span<double> tile_sums;
    // The same over all tiles.
    Span<double> sums;
    // The bodies' sums times L.
    Span<double> images;
    // The bodies' block of the Newton system, then its Cholesky factor.
    Span<double> matrix;
    // The factor's inverse.
    Span<double> inverse;
    // Length of a row of unknowns: 6 for each body there is room for.
    uint32_t capacity;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ConvexBodies, 0xd13657afa2e77b6bull, FIELD(counts), FIELD(places),
    FIELD(factor), FIELD(body_velocity_changes), FIELD(rows), FIELD(velocities), FIELD(tile_sums),
    FIELD(sums), FIELD(images), FIELD(matrix), FIELD(inverse), FIELD(capacity), FIELD(unused))

// Which contacts touch which nodes.
struct ConvexIncidence {
    // Number of contacts, of groups, of touched nodes; and zero, or the flags of the capacity
    // that was exceeded.
    Span<uint32_t> counts;
    // The group of each contact: consecutive contacts with one stencil.
    Span<uint32_t> contact_groups;
    // First contact of each group, and the number of contacts.
    Span<uint32_t> group_begin;
    // The touched nodes of each group's stencil, at `27 group + (3 i + j) 3 + k`.
    Span<uint32_t> group_nodes;
    // First incidence of each touched node, and the number of incidences.
    Span<uint32_t> node_begin;
    // Places in `group_nodes` of each touched node, ascending.
    Span<uint32_t> incidences;
    // First entry of each touched node, and the number of entries.
    Span<uint32_t> entry_begin;
    // Entries of each touched node, `27 contact + node of the stencil`, ascending: its contacts
    // with a weight there.
    Span<uint32_t> entries;
    // The weight of each entry.
    Span<double> entry_weights;
    // Where each touched node lies in the grid.
    Span<uint32_t> slots;
};
PLIANT_CHECK_LAYOUT(ConvexIncidence, 0x7716c59a019520c7ull, FIELD(counts), FIELD(contact_groups),
    FIELD(group_begin), FIELD(group_nodes), FIELD(node_begin), FIELD(incidences),
    FIELD(entry_begin), FIELD(entries), FIELD(entry_weights), FIELD(slots))

// Settings of a convex solve, in device memory so that they can change between runs of a
// recording.
struct ConvexSettings {
    // Length of the substep [s].
    double substep;
    // Hunt-Crossley dissipation [s/m] of contacts without their own.
    double dissipation;
    // Stiction tolerance [m/s] of contacts without their own.
    double stiction_tolerance;
    // Relative tolerance of the residual.
    double relative_tolerance;
    // Absolute tolerance of the residual [sqrt(J)].
    double absolute_tolerance;
    // Most outer iterations.
    uint32_t max_iterations;
    // Most products of one linear system.
    uint32_t max_inner_iterations;
    // Where to start: `CONVEX_GUESS_FREE` and so on.
    uint32_t guess;
    // How a step is directed: `CONVEX_NEWTON_CG` and so on.
    uint32_t direction;
};
PLIANT_CHECK_LAYOUT(ConvexSettings, 0x2d5532a17387f7a7ull, FIELD(substep), FIELD(dissipation),
    FIELD(stiction_tolerance), FIELD(relative_tolerance), FIELD(absolute_tolerance),
    FIELD(max_iterations), FIELD(max_inner_iterations), FIELD(guess), FIELD(direction))

// Report of a convex solve.
struct ConvexReport {
    // Residual at the end [sqrt(J)].
    double residual;
    // Tolerance that it had to be below [sqrt(J)].
    double tolerance;
    // Objective at the end [J].
    double objective;
    // Why it ended: `CONVEX_CONVERGED` and so on.
    uint32_t stop;
    // Outer iterations.
    uint32_t iterations;
    // Products with the Hessian.
    uint32_t inner_iterations;
    // Evaluations of the objective's derivative along a direction.
    uint32_t line_search_iterations;
    // Number of contacts.
    uint32_t contacts;
    // Number of groups of contacts.
    uint32_t groups;
    // Number of touched nodes.
    uint32_t nodes;
    // Linear systems that were solved in double precision.
    uint32_t double_systems;
    // Linear systems that even double precision did not solve as far as asked.
    uint32_t unresolved_systems;
    // Barriers of all blocks: none where one block does the whole solve.
    uint32_t grid_barriers;
};
PLIANT_CHECK_LAYOUT(ConvexReport, 0xf0e3af8e195c0ebfull, FIELD(residual), FIELD(tolerance),
    FIELD(objective), FIELD(stop), FIELD(iterations), FIELD(inner_iterations),
    FIELD(line_search_iterations), FIELD(contacts), FIELD(groups), FIELD(nodes),
    FIELD(double_systems), FIELD(unresolved_systems), FIELD(grid_barriers))

// Totals of the solves of a step, those without contacts not counted.
struct ConvexTotals {
    // Worst ratio of a solve's residual to its tolerance, of those whose tolerance is not
    // zero.
    double residual;
    // Contacts of all solves, those of nodes with grid boundary constraints among them.
    uint64_t contacts;
    // Outer iterations of all solves.
    uint64_t iterations;
    // Products with the Hessian in all solves.
    uint64_t inner_iterations;
    // Linear systems that even double precision did not solve as far as asked, in all solves.
    uint64_t unresolved_systems;
    // Number of solves.
    uint32_t solves;
    // Contacts of a solve at most.
    uint32_t most_contacts;
    // Outer iterations of a solve at most.
    uint32_t most_iterations;
    // Solves that did not converge.
    uint32_t not_converged;
};
PLIANT_CHECK_LAYOUT(ConvexTotals, 0x77015eee13809fc2ull, FIELD(residual), FIELD(contacts),
    FIELD(iterations), FIELD(inner_iterations), FIELD(unresolved_systems), FIELD(solves),
    FIELD(most_contacts), FIELD(most_iterations), FIELD(not_converged))

// A contact of a node with a grid boundary constraint.
struct BoundaryContact {
    // Number of the boundary condition.
    uint32_t plane;
    // Where the node lies in the grid.
    uint32_t slot;
};
PLIANT_CHECK_LAYOUT(BoundaryContact, 0xceee698b1c1c543full, FIELD(plane), FIELD(slot))

// A link that moves against its parent, with all that is welded to it.
struct WorldsBody {
    // Kind of its joint.
    uint32_t joint;
    // Body that the joint is on, or `WORLDS_NONE`.
    uint32_t parent;
    // First of its positions.
    uint32_t first_position;
    // First of its degrees of freedom.
    uint32_t first_velocity;
    // How many it has.
    uint32_t dofs;
    // Number of its tree.
    uint32_t tree;
    // First of its entries among the chains.
    uint32_t first_chain;
    // Degrees of freedom that move it.
    uint32_t chain;
};
PLIANT_CHECK_LAYOUT(WorldsBody, 0xf0d14439a75b39b1ull, FIELD(joint), FIELD(parent),
    FIELD(first_position), FIELD(first_velocity), FIELD(dofs), FIELD(tree), FIELD(first_chain),
    FIELD(chain))

// Bodies whose degrees of freedom share a block of the mass matrix.
struct WorldsTree {
    // Its first body.
    uint32_t first_body;
    // How many.
    uint32_t bodies;
    // First of its degrees of freedom.
    uint32_t first_velocity;
    // How many.
    uint32_t size;
    // First number of its block.
    uint32_t block;
    // Whether it is a free-floating body.
    uint32_t floating;
};
PLIANT_CHECK_LAYOUT(WorldsTree, 0xbff4060a88f0e277ull, FIELD(first_body), FIELD(bodies),
    FIELD(first_velocity), FIELD(size), FIELD(block), FIELD(floating))

// A shape.
struct WorldsGeometry {
    // Its body, or `WORLDS_NONE`.
    uint32_t body;
    // Its kind.
    uint32_t shape;
};
PLIANT_CHECK_LAYOUT(WorldsGeometry, 0xee503999f1ab5d33ull, FIELD(body), FIELD(shape))

// Two geometries that may touch.
struct WorldsPair {
    // Its kind: `PAIR_SPHERE_HALF_SPACE` and those after it.
    uint32_t kind;
    // The geometries, in this order.
    Array<uint32_t, 2> geometries;
    // Number of its first point of contact.
    uint32_t first_point;
    // 1 if friction is the larger of both geometries', 0 if it is their harmonic mean.
    uint32_t larger_friction;
};
PLIANT_CHECK_LAYOUT(WorldsPair, 0xbffd7e2d12b3d5b1ull, FIELD(kind), FIELD(geometries),
    FIELD(first_point), FIELD(larger_friction))

// A motor.
struct WorldsMotor {
    // Its degree of freedom.
    uint32_t dof;
    // Position that it acts on, or `WORLDS_NONE`.
    uint32_t position;
    // What its target means: 0 effort, 1 rate, 2 position.
    uint32_t order;
    // The tree of its degree of freedom.
    uint32_t tree;
};
PLIANT_CHECK_LAYOUT(WorldsMotor, 0x80613ef9db8d4d87ull, FIELD(dof), FIELD(position), FIELD(order),
    FIELD(tree))

// A degree of freedom.
struct WorldsDof {
    // Its position, or `WORLDS_NONE`.
    uint32_t position;
    // Its tree.
    uint32_t tree;
    // Number of its diagonal entry within all blocks.
    uint32_t diagonal;
    // First of the contacts that it takes part in, among the entries.
    uint32_t first_entry;
    // End of them.
    uint32_t end_entry;
};
PLIANT_CHECK_LAYOUT(WorldsDof, 0x82997e2847b2ce80ull, FIELD(position), FIELD(tree),
    FIELD(diagonal), FIELD(first_entry), FIELD(end_entry))

// Data that all worlds share, and integers.
struct WorldsPlan {
    // Bodies, by trees, parents first.
    Span<WorldsBody> bodies;
    // Trees.
    Span<WorldsTree> trees;
    // Degrees of freedom that move each body: number, and number within the tree.
    Span<Array<uint32_t, 2>> chains;
    // Shapes.
    Span<WorldsGeometry> geometries;
    // Pairs of them.
    Span<WorldsPair> pairs;
    // Motors.
    Span<WorldsMotor> motors;
    // Degrees of freedom.
    Span<WorldsDof> dofs;
    // Pairs that each degree of freedom moves one body of, ascending: the pair, and 1 where it
    // is the second body.
    Span<Array<uint32_t, 2>> entries;
    // For each world, 1 where it has stopped.
    Span<uint32_t> stopped;
    // For each world, steps since it was put into its state.
    Span<uint32_t> steps;
    // Steps since targets were uploaded, and number of the last of their rows.
    Span<uint32_t> clock;
    // For each pair and world, which of its points touch, and from `WORLDS_TURNING` on which
    // of them have a moment.
    Span<uint32_t> touching;
    // Number of worlds.
    uint32_t worlds;
    // Number of facets.
    uint32_t facets;
    // Row of the first velocity of a state.
    uint32_t velocities;
    // Degrees of freedom of the largest tree.
    uint32_t largest;
    // Rows of parameters: gravity.
    uint32_t gravity;
    // Factor of each body's mass.
    uint32_t mass;
    // Three sizes of each geometry.
    uint32_t sizes;
    // Three of each geometry.
    uint32_t friction;
    // Three of each motor.
    uint32_t motor_figures;
    // Rows of numbers of a step. Rotation and origin of each body.
    uint32_t poses;
    // Velocity of each body, and acceleration at zero joint accelerations.
    uint32_t motions;
    // Inertia of each body with all it carries; of one that nothing holds, inverse mass,
    // centre and inverse inertia.
    uint32_t inertias;
    // The force on it.
    uint32_t forces;
    // Axis of each degree of freedom.
    uint32_t axes;
    // Lower triangles of the mass matrix.
    uint32_t bare;
    // Those with what is implicit, then their factors.
    uint32_t blocks;
    // Of each degree of freedom: momentum.
    uint32_t momenta;
    // Velocity without contact, then with it.
    uint32_t smooth;
    // Impulse.
    uint32_t loads;
    // Of each motor, 1 where it is at its limit, and the effort there.
    uint32_t saturated;
    // Rows of contacts: first the points', then from here columns of each pair.
    uint32_t columns;
    // Constants: of the bodies.
    uint32_t body_numbers;
    // Of the geometries: poses.
    uint32_t geometry_numbers;
    // Of the pairs: impedances.
    uint32_t pair_numbers;
    // Of the motors: rates of their targets.
    uint32_t motor_numbers;
    // Of the degrees of freedom.
    uint32_t dof_numbers;
    // Of the facets: two each.
    uint32_t facet_numbers;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(WorldsPlan, 0xc64d109663f95e3eull, FIELD(bodies), FIELD(trees), FIELD(chains),
    FIELD(geometries), FIELD(pairs), FIELD(motors), FIELD(dofs), FIELD(entries), FIELD(stopped),
    FIELD(steps), FIELD(clock), FIELD(touching), FIELD(worlds), FIELD(facets), FIELD(velocities),
    FIELD(largest), FIELD(gravity), FIELD(mass), FIELD(sizes), FIELD(friction),
    FIELD(motor_figures), FIELD(poses), FIELD(motions), FIELD(inertias), FIELD(forces),
    FIELD(axes), FIELD(bare), FIELD(blocks), FIELD(momenta), FIELD(smooth), FIELD(loads),
    FIELD(saturated), FIELD(columns), FIELD(body_numbers), FIELD(geometry_numbers),
    FIELD(pair_numbers), FIELD(motor_numbers), FIELD(dof_numbers), FIELD(facet_numbers),
    FIELD(unused))

// Worlds in single precision. Of all but the constants a row is a number of all worlds.
struct WorldsF32 {
    // Data that all share.
    WorldsPlan plan;
    // Its real constants; the settings come first.
    Span<float> constants;
    // Positions, then velocities.
    Span<float> states;
    // Targets of the motors, as many rows for each step that they were uploaded for.
    Span<float> targets;
    // Parameters of each world.
    Span<float> parameters;
    // Numbers of a step.
    Span<float> scratch;
    // Points of contact, and the columns of pairs.
    Span<float> contacts;
};
PLIANT_CHECK_LAYOUT(WorldsF32, 0x5fd61a2881c7ac1eull, FIELD(plan), FIELD(constants),
    FIELD(states), FIELD(targets), FIELD(parameters), FIELD(scratch), FIELD(contacts))

// Worlds in double precision.
struct WorldsF64 {
    // See `WorldsF32`.
    WorldsPlan plan;
    // See `WorldsF32`.
    Span<double> constants;
    // See `WorldsF32`.
    Span<double> states;
    // See `WorldsF32`.
    Span<double> targets;
    // See `WorldsF32`.
    Span<double> parameters;
    // See `WorldsF32`.
    Span<double> scratch;
    // See `WorldsF32`.
    Span<double> contacts;
};
PLIANT_CHECK_LAYOUT(WorldsF64, 0xa7ce5200d08e286bull, FIELD(plan), FIELD(constants),
    FIELD(states), FIELD(targets), FIELD(parameters), FIELD(scratch), FIELD(contacts))

// Exclusive prefix sums, a block a tile of `SCAN_TILE` elements.
struct ScanParameters {
    // Numbers to add up.
    Span<uint32_t> input;
    // Sum of the numbers before each one; may be `input`.
    Span<uint32_t> output;
    // What each tile has published: see `kernels/scan.cu`. Zero before the first run.
    Span<uint64_t> states;
    // `SCAN_PROGRESS` words, zero before the first run, left ready for the next.
    Span<uint32_t> progress;
    // The sum of everything; one element.
    Span<uint32_t> total;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ScanParameters, 0x6db9dd1d7fb1b5e7ull, FIELD(input), FIELD(output),
    FIELD(states), FIELD(progress), FIELD(total), FIELD(count), FIELD(unused))

// Counts how often each digit occurs in each tile of keys.
struct SortCountDigitsParameters {
    // Keys.
    Span<uint32_t> keys;
    // Occurrences at `digit * tiles + tile`.
    Span<uint32_t> counts;
    // Number of keys.
    uint32_t count;
    // Number of tiles.
    uint32_t tiles;
    // What to sort by.
    SortDigit digit;
};
PLIANT_CHECK_LAYOUT(SortCountDigitsParameters, 0x45e372b66ab85e4bull, FIELD(keys), FIELD(counts),
    FIELD(count), FIELD(tiles), FIELD(digit))

// Moves keys and values to where their digit belongs, keys of equal digits in the order they
// had.
struct SortScatterParameters {
    // Keys.
    Span<uint32_t> keys;
    // A value for each key.
    Span<uint32_t> values;
    // Keys in the order of their digits.
    Span<uint32_t> sorted_keys;
    // Their values.
    Span<uint32_t> sorted_values;
    // Exclusive prefix sums of the counts of `Kernel::SortCountDigits`.
    Span<uint32_t> offsets;
    // Number of keys.
    uint32_t count;
    // Number of tiles.
    uint32_t tiles;
    // What to sort by.
    SortDigit digit;
};
PLIANT_CHECK_LAYOUT(SortScatterParameters, 0xbed78b3aa0a55ad2ull, FIELD(keys), FIELD(values),
    FIELD(sorted_keys), FIELD(sorted_values), FIELD(offsets), FIELD(count), FIELD(tiles),
    FIELD(digit))

// Sums of tiles of `REDUCE_TILE` f32 elements, in f64.
struct SumTilesF32Parameters {
    // Numbers to add up.
    Span<float> input;
    // Sum of each tile.
    Span<double> tile_sums;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(SumTilesF32Parameters, 0x9ea9038e463990ecull, FIELD(input), FIELD(tile_sums),
    FIELD(count), FIELD(unused))

// Sums of tiles of `REDUCE_TILE` f64 elements.
struct SumTilesF64Parameters {
    // Numbers to add up.
    Span<double> input;
    // Sum of each tile.
    Span<double> tile_sums;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(SumTilesF64Parameters, 0x96657dd518838913ull, FIELD(input), FIELD(tile_sums),
    FIELD(count), FIELD(unused))

// The sum of the tiles' sums, by a single block.
struct SumOfTilesParameters {
    // Sum of each tile.
    Span<double> tile_sums;
    // The sum of all; one element.
    Span<double> total;
    // Number of tiles.
    uint32_t tiles;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(SumOfTilesParameters, 0x18f4ded0116a799eull, FIELD(tile_sums), FIELD(total),
    FIELD(tiles), FIELD(unused))

// Maxima of tiles of `REDUCE_TILE` f32 elements; NaN where there is one.
struct MaxTilesF32Parameters {
    // Numbers to compare.
    Span<float> input;
    // Maximum of each tile.
    Span<double> tile_maxima;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MaxTilesF32Parameters, 0xa1aa9a17cc625bbaull, FIELD(input),
    FIELD(tile_maxima), FIELD(count), FIELD(unused))

// Maxima of tiles of `REDUCE_TILE` f64 elements; NaN where there is one.
struct MaxTilesF64Parameters {
    // Numbers to compare.
    Span<double> input;
    // Maximum of each tile.
    Span<double> tile_maxima;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MaxTilesF64Parameters, 0x0ce4cd1f93d743f5ull, FIELD(input),
    FIELD(tile_maxima), FIELD(count), FIELD(unused))

// The maximum of the tiles' maxima, by a single block; minus infinity of none.
struct MaxOfTilesParameters {
    // Maximum of each tile.
    Span<double> tile_maxima;
    // The maximum of all; one element.
    Span<double> maximum;
    // Number of tiles.
    uint32_t tiles;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MaxOfTilesParameters, 0xcbe1612bdaba9126ull, FIELD(tile_maxima),
    FIELD(maximum), FIELD(tiles), FIELD(unused))

// Copies the pieces of an image to where they belong.
struct StagingScatterParameters {
    // Pieces; only the first of them count.
    Span<StagingPiece> pieces;
    // Number of pieces to scatter, then to gather.
    Span<uint32_t> counts;
    // The image.
    Span<uint32_t> image;
};
PLIANT_CHECK_LAYOUT(StagingScatterParameters, 0xe777930d1bed5c28ull, FIELD(pieces), FIELD(counts),
    FIELD(image))

// Copies pieces of device memory into an image.
struct StagingGatherParameters {
    // Pieces; only the first of them count.
    Span<StagingPiece> pieces;
    // Number of pieces to scatter, then to gather.
    Span<uint32_t> counts;
    // The image.
    Span<uint32_t> image;
};
PLIANT_CHECK_LAYOUT(StagingGatherParameters, 0x23ec73a460992263ull, FIELD(pieces), FIELD(counts),
    FIELD(image))

// Probe: one operation of a warp on the lanes of a mask. Lanes outside it write nothing.
struct ProbeWarpParameters {
    // A value for each thread.
    Span<uint32_t> input;
    // What the operation gives each thread.
    Span<uint32_t> output;
    // Which operation: see `kernels/probe.cu`.
    uint32_t operation;
    // Lanes that take part.
    uint32_t mask;
    // Lane, distance or lane mask of a shuffle.
    uint32_t parameter;
    // Width of a shuffle.
    uint32_t width;
};
PLIANT_CHECK_LAYOUT(ProbeWarpParameters, 0xb748a9e6d75506e0ull, FIELD(input), FIELD(output),
    FIELD(operation), FIELD(mask), FIELD(parameter), FIELD(width))

// Probe: shuffles f64 values along the warp, by exclusive or.
struct ProbeShuffleF64Parameters {
    // A value for each thread.
    Span<double> input;
    // The value of lane `lane ^ lane_mask`.
    Span<double> output;
    // The lanes' difference.
    uint32_t lane_mask;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ProbeShuffleF64Parameters, 0x6b21a65fb0c9ba06ull, FIELD(input), FIELD(output),
    FIELD(lane_mask), FIELD(unused))

// Probe: every thread applies each atomic operation to cells that all threads share.
struct ProbeAtomicsParameters {
    // An operand for each thread.
    Span<uint32_t> operands;
    // u32 cells: add, subtract, minimum, maximum, and, or, exclusive or, exchange,
    // compare-and-swap count.
    Span<uint32_t> words;
    // i32 cells: add, minimum, maximum.
    Span<int32_t> integers;
    // u64 cells: add, minimum, maximum, exchange, compare-and-swap count.
    Span<uint64_t> longs;
    // f32 cells: add, exchange.
    Span<float> floats;
    // f64 cells: add, the same through compare-and-swap.
    Span<double> doubles;
    // What each thread found before it added 1 to the last u32 cell.
    Span<uint32_t> tickets;
    // Number of operands.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ProbeAtomicsParameters, 0xe6c058b4bc167fedull, FIELD(operands), FIELD(words),
    FIELD(integers), FIELD(longs), FIELD(floats), FIELD(doubles), FIELD(tickets), FIELD(count),
    FIELD(unused))

// Probe: each block turns its values by one place through shared memory, and counts with
// barriers.
struct ProbeBlockParameters {
    // A value for each thread.
    Span<uint32_t> input;
    // The value of the next thread in the block, by static shared memory.
    Span<uint32_t> next;
    // The value of the thread before in the block, by dynamic shared memory.
    Span<uint32_t> previous;
    // For each thread, how many values in the block are odd, whether all are, whether any is.
    Span<Array<uint32_t, 3>> votes;
};
PLIANT_CHECK_LAYOUT(ProbeBlockParameters, 0xb2acad3f9d8f5f57ull, FIELD(input), FIELD(next),
    FIELD(previous), FIELD(votes))

// Probe: blocks exchange values across barriers of the whole grid.
struct ProbeGridParameters {
    // Memory of the barrier, zero at first: `GRID_BARRIER_WORDS` words.
    Span<uint32_t> barrier;
    // A value a block, in two halves that take turns.
    Span<uint32_t> values;
    // Number of rounds; in each, a block's value becomes the sum of its two neighbours'.
    uint32_t rounds;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ProbeGridParameters, 0xbab6c64b14f9eb5bull, FIELD(barrier), FIELD(values),
    FIELD(rounds), FIELD(unused))

// Probe: threads race for cells, so that the result shows the order they ran in.
struct ProbeRacesParameters {
    // The thread that wrote last; one element.
    Span<uint32_t> last;
    // A sum of f32 in the order of the threads; one element.
    Span<float> sum;
};
PLIANT_CHECK_LAYOUT(ProbeRacesParameters, 0xfa968c10966ed394ull, FIELD(last), FIELD(sum))

// Probe: bits and roots, a thread a value.
struct ProbeArithmeticParameters {
    // Values.
    Span<uint32_t> input;
    // For each value, its set bits, lowest set bit from 1, leading zeros, and bits reversed.
    Span<Array<uint32_t, 4>> bits;
    // For each value, the reciprocal root of 1 + the value, in f32 and in f64.
    Span<Array<double, 2>> roots;
};
PLIANT_CHECK_LAYOUT(ProbeArithmeticParameters, 0x987f49c21f41d10eull, FIELD(input), FIELD(bits),
    FIELD(roots))

// Probe: the numbers of the worlds, a thread a pair.
struct ProbeNumberParameters {
    // Pairs of numbers.
    Span<Array<double, 2>> input;
    // For each pair a, b in double precision: see `kernels/probe.cu`.
    Span<Array<double, 17>> doubles;
    // The same in single precision, of a and b rounded.
    Span<Array<float, 17>> singles;
};
PLIANT_CHECK_LAYOUT(ProbeNumberParameters, 0x730edba02c46d7a9ull, FIELD(input), FIELD(doubles),
    FIELD(singles))

// Probe, emulated only: breaks one rule, so that a test can see it reported.
struct ProbeMisuseParameters {
    // Memory to miss.
    Span<uint32_t> cells;
    // Which rule: see `kernels/misuse.cu`.
    uint32_t rule;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ProbeMisuseParameters, 0x89a4b304649dece2ull, FIELD(cells), FIELD(rule),
    FIELD(unused))

// Sorts particles, 1: each one's block, into the table.
struct MpmSortClassifyParameters {
    // Particles.
    ParticleRows particles;
    // Table of particle blocks: keys, zero at first.
    Span<uint64_t> table_keys;
    // For each place, 2^32 - 1 less its first particle; zero at first.
    Span<uint32_t> table_first;
    // Each particle's place in the table.
    Span<uint32_t> places;
    // Each particle's cell in its block.
    Span<uint32_t> cells;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Capacity for blocks.
    uint32_t capacity;
};
PLIANT_CHECK_LAYOUT(MpmSortClassifyParameters, 0x6bdcf74d41a6c440ull, FIELD(particles),
    FIELD(table_keys), FIELD(table_first), FIELD(places), FIELD(cells), FIELD(status),
    FIELD(substep_index), FIELD(capacity))

// Clears the node blocks for a sort, unless it is not to run; then the last sort's stay.
struct MpmSortClearParameters {
    // Particle blocks around each node block.
    Span<uint32_t> particles_of_nodes;
    // Table of node blocks.
    Span<uint64_t> table_keys;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSortClearParameters, 0xada1de8c85b9679bull, FIELD(particles_of_nodes),
    FIELD(table_keys), FIELD(status), FIELD(substep_index), FIELD(unused))

// Sorts particles, 2: marks the first of each block.
struct MpmSortMarkFirstParameters {
    // Each particle's place in the table.
    Span<uint32_t> places;
    // For each place, 2^32 - 1 less its first particle.
    Span<uint32_t> table_first;
    // One for the first particle of a block, zero for others.
    Span<uint32_t> is_first;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSortMarkFirstParameters, 0x0439ae7efb1dea65ull, FIELD(places),
    FIELD(table_first), FIELD(is_first), FIELD(status), FIELD(substep_index), FIELD(unused))

// Sorts particles, 3: numbers the blocks.
struct MpmSortNumberBlocksParameters {
    // Particles.
    ParticleRows particles;
    // Whether a particle is the first of its block.
    Span<uint32_t> is_first;
    // How many blocks have their first particle before each one.
    Span<uint32_t> numbers;
    // Each particle's place in the table.
    Span<uint32_t> places;
    // Number of the block at each place.
    Span<uint32_t> table_numbers;
    // Key of each block.
    Span<Array<int32_t, 3>> new_keys;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSortNumberBlocksParameters, 0xc5063d9579a4ce21ull, FIELD(particles),
    FIELD(is_first), FIELD(numbers), FIELD(places), FIELD(table_numbers), FIELD(new_keys),
    FIELD(status), FIELD(substep_index), FIELD(unused))

// Sorts particles, 4: what to sort by.
struct MpmSortMakeKeysParameters {
    // Each particle's place in the table.
    Span<uint32_t> places;
    // Each particle's cell.
    Span<uint32_t> cells;
    // Number of the block at each place.
    Span<uint32_t> table_numbers;
    // Block and cell of each particle.
    Span<uint32_t> keys;
    // Each particle's index.
    Span<uint32_t> order;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSortMakeKeysParameters, 0x87ae65372fd3b49cull, FIELD(places), FIELD(cells),
    FIELD(table_numbers), FIELD(keys), FIELD(order), FIELD(status), FIELD(substep_index),
    FIELD(unused))

// Sorts particles, 5: gathers them in their new order.
struct MpmSortGatherParameters {
    // Particles.
    ParticleRows particles;
    // Block and cell of each, sorted.
    Span<uint32_t> keys;
    // Where each one was.
    Span<uint32_t> order;
    // Key of each block.
    Span<Array<int32_t, 3>> new_keys;
    // First particle of each block, and the end of the last.
    Span<uint32_t> block_starts;
    // Rows in the new order.
    Span<float> spare_rows;
    // Ids in the new order.
    Span<uint32_t> spare_ids;
    // Materials in the new order.
    Span<uint32_t> spare_materials;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSortGatherParameters, 0xa26f0dcf68c17b5bull, FIELD(particles), FIELD(keys),
    FIELD(order), FIELD(new_keys), FIELD(block_starts), FIELD(spare_rows), FIELD(spare_ids),
    FIELD(spare_materials), FIELD(status), FIELD(substep_index), FIELD(unused))

// Sorts particles, 6: puts them back.
struct MpmSortStoreParameters {
    // Particles.
    ParticleRows particles;
    // Block and cell of each, sorted.
    Span<uint32_t> keys;
    // Key of each block.
    Span<Array<int32_t, 3>> new_keys;
    // Rows in the new order.
    Span<float> spare_rows;
    // Ids in the new order.
    Span<uint32_t> spare_ids;
    // Materials in the new order.
    Span<uint32_t> spare_materials;
    // Number among the elements of cloth of each of the last particles that were added; empty
    // without cloth.
    Span<uint32_t> cloth_elements;
    // Index of each element's particle.
    Span<uint32_t> cloth_places;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSortStoreParameters, 0x2f9d2e895a20ae4bull, FIELD(particles), FIELD(keys),
    FIELD(new_keys), FIELD(spare_rows), FIELD(spare_ids), FIELD(spare_materials),
    FIELD(cloth_elements), FIELD(cloth_places), FIELD(status), FIELD(substep_index),
    FIELD(unused))

// Finds node blocks, 1: for each particle block and neighbour, the first pair that names the
// same node block.
struct MpmSortFindOwnersParameters {
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // Key of each particle block.
    Span<Array<int32_t, 3>> block_keys;
    // Table of particle blocks.
    Span<uint64_t> table_keys;
    // Number of the block at each place.
    Span<uint32_t> table_numbers;
    // That pair: 27 times the particle block and the neighbour.
    Span<uint32_t> owners;
    // One where it is the pair itself, zero elsewhere and beyond the last block.
    Span<uint32_t> is_owner;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSortFindOwnersParameters, 0x9bbd13dc84d64446ull, FIELD(block_count),
    FIELD(block_keys), FIELD(table_keys), FIELD(table_numbers), FIELD(owners), FIELD(is_owner),
    FIELD(status), FIELD(substep_index), FIELD(unused))

// Finds node blocks, 2: gives them their slots.
struct MpmSortPlaceNodesParameters {
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // Key of each particle block.
    Span<Array<int32_t, 3>> block_keys;
    // The pair that gives each its slot.
    Span<uint32_t> owners;
    // Slots of the pairs that do.
    Span<uint32_t> slots;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
    // Particle blocks around each node block, plus one; zero at first.
    Span<uint32_t> particles_of_nodes;
    // Keys and table of node blocks, the table's keys zero at first.
    GridNodes grid;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSortPlaceNodesParameters, 0x3708781f768f78b8ull, FIELD(block_count),
    FIELD(block_keys), FIELD(owners), FIELD(slots), FIELD(nodes_of_particles),
    FIELD(particles_of_nodes), FIELD(grid), FIELD(status), FIELD(substep_index), FIELD(unused))

// Particles to grid, a block of threads a particle block, into its scratchpad.
struct MpmParticlesToGridParameters {
    // Particles.
    ParticleRows particles;
    // One element.
    Span<MpmSettings> settings;
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // First particle of each block, and the end of the last.
    Span<uint32_t> block_starts;
    // Momentum [N s] and mass [kg] of `MPM_SCRATCHPAD_NODES` nodes a particle block.
    Span<Array<float, 4>> scratchpads;
    // Bounds of the stencil box in each scratchpad that is filled: lowest node, then the end.
    Span<Array<int32_t, 6>> stencil_boxes;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The materials, where granular particles alone are transferred, without forces; else
    // empty.
    Span<MpmMaterial> granular_of;
    // The substep in the step.
    uint32_t substep_index;
    // Number of materials that are not cloth; 2^32 - 1 without cloth.
    uint32_t cloth_from;
};
PLIANT_CHECK_LAYOUT(MpmParticlesToGridParameters, 0xd7223c985bd59cd5ull, FIELD(particles),
    FIELD(settings), FIELD(block_count), FIELD(block_starts), FIELD(scratchpads),
    FIELD(stencil_boxes), FIELD(status), FIELD(granular_of), FIELD(substep_index),
    FIELD(cloth_from))

// Particles to grid by atomic additions, a block of threads a particle block.
struct MpmAtomicToGridParameters {
    // As without atomics; the scratchpads are not used.
    MpmParticlesToGridParameters transfer;
    // Momentum [N s] and mass [kg] of each node; zero at first.
    Span<Array<float, 4>> nodes;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
};
PLIANT_CHECK_LAYOUT(MpmAtomicToGridParameters, 0x215c674a9e949836ull, FIELD(transfer),
    FIELD(nodes), FIELD(nodes_of_particles))

// The grid pass: momenta from the scratchpads, or from the nodes themselves without
// scratchpads; free motion, boundary conditions, balance.
struct MpmGridParameters {
    // The grid.
    GridNodes grid;
    // One element.
    Span<MpmSettings> settings;
    // Number of node blocks; one element.
    Span<uint32_t> node_count;
    // Particle blocks around each node block, plus one; zero for none.
    Span<uint32_t> particles_of_nodes;
    // The scratchpads.
    Span<Array<float, 4>> scratchpads;
    // Their stencil boxes.
    Span<Array<int32_t, 6>> stencil_boxes;
    // Boundary conditions.
    Span<MpmPlane> planes;
    // Balance of each node block: `MPM_BALANCE_ROW` entries. Empty for the nodes' velocities
    // alone, without gravity and boundary conditions.
    Span<double> balances;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmGridParameters, 0x9a38bc818a6ed0ceull, FIELD(grid), FIELD(settings),
    FIELD(node_count), FIELD(particles_of_nodes), FIELD(scratchpads), FIELD(stencil_boxes),
    FIELD(planes), FIELD(balances), FIELD(status), FIELD(substep_index), FIELD(unused))

// Adds the node blocks' balances to the step's, and clears them; by a single block.
struct MpmSumBalanceParameters {
    // Number of node blocks; one element.
    Span<uint32_t> node_count;
    // Balance of each node block: `MPM_BALANCE_ROW` entries.
    Span<double> balances;
    // The step's; `MPM_BALANCE` elements.
    Span<double> total;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes next. Nothing happens where one before it has been stopped; what
    // it left itself when it was tried is not counted.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmSumBalanceParameters, 0x84d956873fe60350ull, FIELD(node_count),
    FIELD(balances), FIELD(total), FIELD(status), FIELD(substep_index), FIELD(unused))

// Sums the particles' totals by tiles of `MPM_TOTAL_TILE`.
struct MpmTotalTilesParameters {
    // Particles.
    ParticleRows particles;
    // Materials.
    Span<MpmMaterial> materials;
    // `MPM_TOTALS` entries a tile.
    Span<double> tile_sums;
    // Grid spacing h [m].
    double grid_spacing;
};
PLIANT_CHECK_LAYOUT(MpmTotalTilesParameters, 0xc3d468e214ac7c3aull, FIELD(particles),
    FIELD(materials), FIELD(tile_sums), FIELD(grid_spacing))

// Sums the tiles' totals; by a single block with a warp for each entry.
struct MpmTotalsParameters {
    // `MPM_TOTALS` entries a tile.
    Span<double> tile_sums;
    // `MPM_TOTALS` elements.
    Span<double> totals;
    // Number of tiles.
    uint32_t tiles;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmTotalsParameters, 0x8e0a0abf2de106b7ull, FIELD(tile_sums), FIELD(totals),
    FIELD(tiles), FIELD(unused))

// Grid to particles, motion, return mapping and stress.
struct MpmGridToParticlesParameters {
    // Particles.
    ParticleRows particles;
    // The grid.
    GridNodes grid;
    // One element.
    Span<MpmSettings> settings;
    // Materials.
    Span<MpmMaterial> materials;
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // First particle of each block, and the end of the last.
    Span<uint32_t> block_starts;
    // Stencil boxes.
    Span<Array<int32_t, 6>> stencil_boxes;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
    // The subgrid motion of each granular particle in this substep: `MPM_SUBGRID_ROWS` rows
    // as those of the particles. Empty where none is kept.
    Span<float> subgrid_motions;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(MpmGridToParticlesParameters, 0xbfd35d1d2c88a201ull, FIELD(particles),
    FIELD(grid), FIELD(settings), FIELD(materials), FIELD(block_count), FIELD(block_starts),
    FIELD(stencil_boxes), FIELD(nodes_of_particles), FIELD(subgrid_motions), FIELD(status),
    FIELD(substep_index), FIELD(unused))

// Finds the subgrid motion of granular particles from what they alone gave the grid, before
// the substep that adds it back.
struct MpmFindSubgridMotionParameters {
    // As for the transfer to the particles, which are not changed.
    MpmGridToParticlesParameters transfer;
};
PLIANT_CHECK_LAYOUT(MpmFindSubgridMotionParameters, 0x767c4528973775b3ull, FIELD(transfer))

// Imposes the pins on the grid: sum_i w_ip v_i = v_pin, by Gauss-Seidel; by a single block.
struct ClothHoldGridParameters {
    // Particles.
    ParticleRows particles;
    // The grid.
    GridNodes grid;
    // One element.
    Span<MpmSettings> settings;
    // Meshes.
    ClothTables tables;
    // Pins.
    ClothPins pins;
    // Node of the grid at each place of each pin's stencil: `STENCIL_NODES` a pin.
    Span<uint32_t> reach;
    // Its weight; zero where it has no mass.
    Span<double> weights;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
    // See `MPM_STATUS_LIMIT`(super::MPM_STATUS_LIMIT).
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep_index;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ClothHoldGridParameters, 0xfb05138080b4459bull, FIELD(particles), FIELD(grid),
    FIELD(settings), FIELD(tables), FIELD(pins), FIELD(reach), FIELD(weights),
    FIELD(nodes_of_particles), FIELD(status), FIELD(substep_index), FIELD(unused))

// The part of a substep that only sheets need, after the transfer to the particles: pins,
// vertex-face constraint, steps of the mesh, stress, forces. Cooperative.
struct ClothAdvanceParameters {
    // Particles.
    ParticleRows particles;
    // One element.
    Span<MpmSettings> settings;
    // Meshes.
    ClothTables tables;
    // Pins.
    ClothPins pins;
    // Of each vertex, the corner of its block [cells].
    Span<Array<int32_t, 3>> corners;
    // Of each vertex, its position from there [cells], and zero.
    Span<Array<float, 4>> locals;
    // Of each vertex, its velocity [m/s], and 1 / mass [1/kg]; 0 where a pin holds it.
    Span<Array<float, 4>> velocities;
    // Steps of each sheet's mesh.
    Span<ClothMeshSteps> mesh;
    // Of each vertex, its displacement in the mesh's steps [cells], and zero.
    Span<Array<float, 4>> displacements;
    // Of each vertex, its velocity in the mesh's steps [m/s], and zero.
    Span<Array<float, 4>> mesh_velocities;
    // Of each face, the mean of its Biot stresses so far: 11, 12, 22 [Pa], and zero.
    Span<Array<float, 4>> biot;
    // Of each face, its centroid's velocity [m/s], and zero.
    Span<Array<float, 4>> face_velocities;
    // Of each face, the impulse on its vertices in a sweep of the vertex-face constraint [N
    // s], and zero.
    Span<Array<float, 4>> impulses;
    // Forces on the corners of faces and hinges [N], and zero.
    Span<Array<float, 4>> forces;
    // Memory of the barrier; `GRID_BARRIER_WORDS`(super::GRID_BARRIER_WORDS) words.
    Span<uint32_t> barrier;
    // See `MPM_STATUS_LIMIT`(super::MPM_STATUS_LIMIT).
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep_index;
    // Number of materials that are not cloth.
    uint32_t cloth_from;
};
PLIANT_CHECK_LAYOUT(ClothAdvanceParameters, 0x6074fde3aef5da15ull, FIELD(particles),
    FIELD(settings), FIELD(tables), FIELD(pins), FIELD(corners), FIELD(locals), FIELD(velocities),
    FIELD(mesh), FIELD(displacements), FIELD(mesh_velocities), FIELD(biot),
    FIELD(face_velocities), FIELD(impulses), FIELD(forces), FIELD(barrier), FIELD(status),
    FIELD(substep_index), FIELD(cloth_from))

// Sums the energies of faces and hinges by tiles of `MPM_TOTAL_TILE`(super::MPM_TOTAL_TILE),
// as further tiles of the particles' totals.
struct ClothEnergyParameters {
    // Particles.
    ParticleRows particles;
    // Meshes.
    ClothTables tables;
    // Velocities of the vertices [m/s], and their inverse masses [1/kg], zero where a pin holds
    // them.
    Span<Array<float, 4>> velocities;
    // `MPM_TOTALS`(super::MPM_TOTALS) entries a tile.
    Span<double> tile_sums;
    // Grid spacing h [m].
    double grid_spacing;
};
PLIANT_CHECK_LAYOUT(ClothEnergyParameters, 0xc860113cb813a45eull, FIELD(particles), FIELD(tables),
    FIELD(velocities), FIELD(tile_sums), FIELD(grid_spacing))

// Probe: finds node blocks by their keys.
struct ProbeFindNodesParameters {
    // The grid.
    GridNodes grid;
    // Keys.
    Span<Array<int32_t, 3>> keys;
    // Slot of each one's block; 2^32 - 1 where there is none.
    Span<uint32_t> slots;
};
PLIANT_CHECK_LAYOUT(ProbeFindNodesParameters, 0xb48344cacd67cac2ull, FIELD(grid), FIELD(keys),
    FIELD(slots))

// Probe: a material's response to trial deformation gradients.
struct ProbeConstitutiveParameters {
    // Materials.
    Span<MpmMaterial> materials;
    // Deformation gradients by rows, and the history.
    Span<Array<float, 10>> trials;
    // Deformation gradient by rows, history, Kirchhoff stress [Pa] as xx, yy, zz, xy, xz, yz.
    Span<Array<float, 16>> responses;
    // Which material.
    uint32_t material;
    // Substep [s].
    float substep;
};
PLIANT_CHECK_LAYOUT(ProbeConstitutiveParameters, 0x0dd4d09526e2d62aull, FIELD(materials),
    FIELD(trials), FIELD(responses), FIELD(material), FIELD(substep))

// Probe: signed distances of points to one geometry.
struct ProbeContactDistanceParameters {
    // The geometries.
    ContactShapes shapes;
    // Points relative to the shape's center [m].
    Span<Array<float, 3>> points;
    // Feature that each point came through; `CONTACT_NONE` for none.
    Span<uint32_t> sides;
    // Signed distances [m].
    Span<float> distances;
    // Outward unit normals.
    Span<Array<float, 3>> normals;
    // Features.
    Span<uint32_t> features;
    // Lower bounds of the distances [m].
    Span<float> lower_bounds;
    // Number of the geometry.
    uint32_t geometry;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ProbeContactDistanceParameters, 0xe636571410296da7ull, FIELD(shapes),
    FIELD(points), FIELD(sides), FIELD(distances), FIELD(normals), FIELD(features),
    FIELD(lower_bounds), FIELD(geometry), FIELD(unused))

// Places the geometries for the substep that a run begins with.
struct ContactPlaceParameters {
    // What is placed.
    ContactPlacement placement;
    // One element.
    Span<ContactClock> clock;
    // One element.
    Span<ContactState> state;
};
PLIANT_CHECK_LAYOUT(ContactPlaceParameters, 0xa4cf7f2496144852ull, FIELD(placement), FIELD(clock),
    FIELD(state))

// Finds which particles touch which geometries.
struct ContactFindParameters {
    // Particles.
    ParticleRows particles;
    // Faces of cloth among them.
    ClothFaces faces;
    // The geometries.
    ContactShapes shapes;
    // Geometries at their poses.
    Span<ContactPlacedGeometry> placed;
    // The last substep.
    DeviceContactCache contact_cache;
    // One element.
    Span<ContactClock> clock;
    // Geometries of a particle, `CONTACT_SLOTS` rows of them.
    Span<uint32_t> touched;
    // Each particle's number of geometries, and 256 times the number of contacts of those
    // before it in its tile.
    Span<uint32_t> counts;
    // Contacts of each tile; then of all tiles before it.
    Span<uint32_t> tiles;
    // Contacts of all tiles; one element.
    Span<uint32_t> total;
    // Tiles that are done; one element, zero at first, and left so.
    Span<uint32_t> done;
    // See `MPM_STATUS_LIMIT`; empty for no limit.
    Span<uint32_t> limit;
    // Rules of detection.
    ContactRules rules;
};
PLIANT_CHECK_LAYOUT(ContactFindParameters, 0x512cbcfe4c2abe68ull, FIELD(particles), FIELD(faces),
    FIELD(shapes), FIELD(placed), FIELD(contact_cache), FIELD(clock), FIELD(touched),
    FIELD(counts), FIELD(tiles), FIELD(total), FIELD(done), FIELD(limit), FIELD(rules))

// Writes the contacts.
struct ContactFillParameters {
    // As for finding.
    ContactFindParameters find;
    // For each material the largest distance from the particle at which its contact acts [m],
    // zero except for granular ones, and the friction with bodies, negative where it is the
    // body's; empty where no material is granular.
    Span<Array<float, 2>> grains;
    // The contacts.
    ContactArrays contacts;
    // See `MPM_STATUS_LIMIT`: contacts beyond the capacity stop the substep; where it is
    // empty, they are left out.
    Span<uint32_t> status;
};
PLIANT_CHECK_LAYOUT(ContactFillParameters, 0xd27a4795d4e90cdcull, FIELD(find), FIELD(grains),
    FIELD(contacts), FIELD(status))

// Caches the contacts, writes the velocities of the touched nodes to the grid, and sums what both
// give each body: the contacts their impulses, the nodes what the solve left over there.
struct ContactExchangeParameters {
    // The contacts.
    ContactArrays contacts;
    // The geometries.
    ContactShapes shapes;
    // Which touch which nodes.
    ConvexIncidence incidence;
    // Velocity [m/s] and mass [kg] of all nodes of the grid.
    Span<Array<float, 4>> nodes;
    // The cache that they are written to.
    DeviceContactCache contact_cache;
    // The solution.
    ContactSolution solution;
    // Bodies, substep by substep.
    Span<ContactBody> bodies;
    // One element.
    Span<ContactClock> clock;
    // Sums of each tile of contacts, then of nodes, for each body and the grid boundary
    // constraints.
    Span<Array<double, 7>> sums;
    // Grid spacing [m].
    double grid_spacing;
    // Number of bodies.
    uint32_t body_count;
    // First tile of nodes.
    uint32_t first_tile;
};
PLIANT_CHECK_LAYOUT(ContactExchangeParameters, 0xe6da19a725f0642bull, FIELD(contacts),
    FIELD(shapes), FIELD(incidence), FIELD(nodes), FIELD(contact_cache), FIELD(solution),
    FIELD(bodies), FIELD(clock), FIELD(sums), FIELD(grid_spacing), FIELD(body_count),
    FIELD(first_tile))

// Adds the tiles' sums to those of the step, moves the reference points of the impulses, places
// the geometries for the next substep, and ends this one for contact.
struct ContactSumBodiesParameters {
    // See `Kernel::ContactExchange`.
    Span<Array<double, 7>> sums;
    // For each body and the grid boundary constraints: impulse on it, angular [N m s] then
    // linear [N s]; work of the body on the particles [J].
    Span<Array<double, 7>> totals;
    // Bodies, substep by substep, and once more: the next substep's points are written.
    Span<ContactBody> bodies;
    // What is placed.
    ContactPlacement placement;
    // Paths of the reference points, one a body.
    Span<ContactReference> references;
    // One element.
    Span<ContactClock> clock;
    // One element.
    Span<ContactState> state;
    // Number of tiles.
    uint32_t tiles;
    // First tile of nodes.
    uint32_t first_tile;
    // Number of bodies.
    uint32_t body_count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ContactSumBodiesParameters, 0x74d43f6b1be39286ull, FIELD(sums), FIELD(totals),
    FIELD(bodies), FIELD(placement), FIELD(references), FIELD(clock), FIELD(state), FIELD(tiles),
    FIELD(first_tile), FIELD(body_count), FIELD(unused))

// Moves the strongly coupled bodies to the next substep, and places their geometries.
struct ContactMoveBodiesParameters {
    // The bodies.
    ContactStrongBodies strongly_coupled;
    // See `Kernel::ContactSumBodies`: of the step so far.
    Span<Array<double, 7>> totals;
    // Bodies, substep by substep, and once more: the next substep's are written.
    Span<ContactBody> bodies;
    // What is placed.
    ContactPlacement placement;
    // One element.
    Span<ContactClock> clock;
    // Number of bodies.
    uint32_t body_count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(ContactMoveBodiesParameters, 0x0ce89b0d597ec751ull, FIELD(strongly_coupled),
    FIELD(totals), FIELD(bodies), FIELD(placement), FIELD(clock), FIELD(body_count),
    FIELD(unused))

// Appends the contacts of touched nodes with boundary conditions to those of the particles, by
// persistent blocks.
struct BoundaryAddParameters {
    // The contacts.
    ContactArrays contacts;
    // Free velocities and masses.
    GridNodes grid;
    // Boundary conditions.
    Span<MpmPlane> planes;
    // One element.
    Span<ContactClock> clock;
    // One element; gets the most contacts.
    Span<ContactState> state;
    // Slot of each of the 27 nodes of each contact that no contact with the same stencil comes
    // before, if a boundary condition acts on it; `CONTACT_NONE`(super::CONTACT_NONE) for
    // others.
    Span<uint32_t> places;
    // For each node of the grid, zero at first; in the end
    // `CONVEX_FIXED`(super::CONVEX_FIXED) for those that a sticky boundary holds.
    Span<uint32_t> marks;
    // The contacts that are appended, in their order.
    Span<BoundaryContact> constraints;
    // Number of contacts before them; one element.
    Span<uint32_t> first;
    // A sum for each block.
    Span<uint32_t> block_sums;
    // Memory of the barrier: `GRID_BARRIER_WORDS`(super::GRID_BARRIER_WORDS) words.
    Span<uint32_t> barrier;
    // Grid spacing [m].
    double grid_spacing;
    // Number of bodies.
    uint32_t body_count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(BoundaryAddParameters, 0x3ef3f715f365173aull, FIELD(contacts), FIELD(grid),
    FIELD(planes), FIELD(clock), FIELD(state), FIELD(places), FIELD(marks), FIELD(constraints),
    FIELD(first), FIELD(block_sums), FIELD(barrier), FIELD(grid_spacing), FIELD(body_count),
    FIELD(unused))

// Guesses the impulses of the boundary constraints.
struct BoundaryGuessParameters {
    // The contacts; those of boundary constraints get their `last_impulse`.
    ContactArrays contacts;
    // Which touch which nodes.
    ConvexIncidence incidence;
    // Free velocity [m/s] and mass [kg] of all nodes of the grid.
    Span<Array<float, 4>> nodes;
    // Boundary conditions.
    Span<MpmPlane> planes;
    // One element.
    Span<ContactClock> clock;
    // See `Kernel::BoundaryAdd`(super::Kernel::BoundaryAdd).
    Span<BoundaryContact> constraints;
    // Number of contacts before them; one element.
    Span<uint32_t> first;
};
PLIANT_CHECK_LAYOUT(BoundaryGuessParameters, 0xb08ea5a76bb4037dull, FIELD(contacts),
    FIELD(incidence), FIELD(nodes), FIELD(planes), FIELD(clock), FIELD(constraints), FIELD(first))

// Removes the rest of the velocities into the boundaries from the grid, and adds friction; by
// persistent blocks.
struct BoundaryImposeParameters {
    // The contacts.
    ContactArrays contacts;
    // Whether they fitted the capacity.
    ConvexIncidence incidence;
    // Impulse of each contact in the solve [N s].
    Span<Array<double, 3>> impulses;
    // Velocity [m/s] and mass [kg] of all nodes of the grid.
    Span<Array<float, 4>> nodes;
    // Boundary conditions.
    Span<MpmPlane> planes;
    // Coefficient of friction of each.
    Span<double> friction;
    // One element.
    Span<ContactClock> clock;
    // See `Kernel::BoundaryAdd`(super::Kernel::BoundaryAdd).
    Span<BoundaryContact> constraints;
    // Number of contacts before them; one element.
    Span<uint32_t> first;
    // Impulse on the boundaries of each tile of `BOUNDARY_THREADS` of them.
    Span<Array<double, 6>> sums;
    // See `Kernel::ContactSumBodies`(super::Kernel::ContactSumBodies).
    Span<Array<double, 7>> totals;
    // Memory of the barrier: `GRID_BARRIER_WORDS`(super::GRID_BARRIER_WORDS) words.
    Span<uint32_t> barrier;
    // Grid spacing [m].
    double grid_spacing;
    // Number of bodies.
    uint32_t body_count;
    // Zero.
    uint32_t unused;
};
PLIANT_CHECK_LAYOUT(BoundaryImposeParameters, 0x5c8b25ad5e196e03ull, FIELD(contacts),
    FIELD(incidence), FIELD(impulses), FIELD(nodes), FIELD(planes), FIELD(friction), FIELD(clock),
    FIELD(constraints), FIELD(first), FIELD(sums), FIELD(totals), FIELD(barrier),
    FIELD(grid_spacing), FIELD(body_count), FIELD(unused))

// Numbers the nodes that contacts touch, by persistent blocks.
struct ConvexNumberParameters {
    // The contacts; count, base nodes and offsets are read.
    ConvexContacts contacts;
    // Where their nodes are.
    GridNodes grid;
    // Which nodes they touch: the result.
    ConvexIncidence incidence;
    // Two tables of touched nodes that take turns, each a power of two long: the nodes' keys,
    // 0 where free. The one that is not written holds the nodes of the last solve.
    Span<uint64_t> table_keys;
    // The first place in `group_nodes` of the nodes of the table that is written.
    Span<uint32_t> table_first;
    // Numbers of the tables' nodes.
    Span<uint32_t> table_numbers;
    // Which table the last solve's nodes are in, and how much of it is used less one; zero of
    // nothing.
    Span<uint32_t> table_state;
    // Velocity of each touched node after the last solve, by its numbers [m/s].
    Span<Array<double, 3>> velocities;
    // The same by the new numbers, or the free velocity where the last solve did not have the
    // node.
    Span<Array<double, 3>> guess_velocities;
    // Incidences of each touched node.
    Span<uint32_t> node_counts;
    // A sum for each block.
    Span<uint32_t> block_sums;
    // Memory of the barrier: `GRID_BARRIER_WORDS` words.
    Span<uint32_t> barrier;
    // Whether the substep takes place; empty where there is no step.
    Span<ContactClock> clock;
    // Stops the substep: see `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // Capacity for contacts.
    uint32_t contact_capacity;
    // Capacity for touched nodes.
    uint32_t node_capacity;
};
PLIANT_CHECK_LAYOUT(ConvexNumberParameters, 0x00e5641df3cf3ebbull, FIELD(contacts), FIELD(grid),
    FIELD(incidence), FIELD(table_keys), FIELD(table_first), FIELD(table_numbers),
    FIELD(table_state), FIELD(velocities), FIELD(guess_velocities), FIELD(node_counts),
    FIELD(block_sums), FIELD(barrier), FIELD(clock), FIELD(status), FIELD(contact_capacity),
    FIELD(node_capacity))

// The whole convex contact solve, by persistent blocks.
struct ConvexSolveParameters {
    // The contacts.
    ConvexContacts contacts;
    // Which nodes they touch.
    ConvexIncidence incidence;
    // Settings; one element.
    Span<ConvexSettings> settings;
    // Free velocity [m/s] and mass [kg] of the grid's nodes; touched nodes get their new
    // velocity.
    Span<Array<float, 4>> grid;
    // `CONVEX_FIXED` for each of them that a sticky boundary holds; empty where none does.
    Span<uint32_t> fixed_nodes;
    // Guessed velocities of the touched nodes [m/s].
    Span<Array<double, 3>> guess_velocities;
    // Guessed impulses of the contacts on the particles [N s]; may be short.
    Span<Array<float, 3>> guess_impulses;
    // Velocity of each touched node [m/s].
    Span<Array<double, 3>> velocities;
    // Impulse of the contacts on each touched node [N s].
    Span<Array<double, 3>> node_impulses;
    // Impulse of each contact on its particle [N s].
    Span<Array<double, 3>> impulses;
    // The report; one element.
    Span<ConvexReport> report;
    // Objective, residual, tolerance and scale of the first iterates.
    Span<Array<double, 4>> trace;
    // Mass that the solve moves and free velocity of each touched node, row by row: zero mass of
    // a node that a sticky boundary holds.
    Span<double> moved_nodes;
    // Memory of touched nodes, row by row within each tile of 32.
    Span<double> node_rows;
    // Memory of contacts, likewise.
    Span<double> contact_rows;
    // The linear system in single precision: rows of the nodes, likewise.
    Span<float> single_rows;
    // Hessians of the contacts.
    Span<float> single_hessians;
    // Scaled directions of the nodes.
    Span<Array<float, 4>> single_directions;
    // Images of the contacts, at two places that take turns.
    Span<Array<float, 4>> single_images;
    // In double precision: rows of the nodes.
    Span<double> double_rows;
    // Nodes that the contacts of a block touch, but for its own: 27 for each contact at most.
    Span<uint32_t> fringe_nodes;
    // Sums over tiles of 32 nodes, over the bodies' warps, and over tiles of contacts; twice
    // `CONVEX_SUMS` rows.
    Span<double> tile_sums;
    // Memory of the barrier: `GRID_BARRIER_WORDS` words.
    Span<uint32_t> barrier;
    // Totals of the solves of the step; one element.
    Span<ConvexTotals> totals;
    // Whether the substep takes place; empty where there is no step.
    Span<ContactClock> clock;
    // Stops the substep: see `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // Length of a row of contacts.
    uint32_t contact_capacity;
    // Length of a row of touched nodes.
    uint32_t node_capacity;
};
PLIANT_CHECK_LAYOUT(ConvexSolveParameters, 0xf526019f3fabfa59ull, FIELD(contacts),
    FIELD(incidence), FIELD(settings), FIELD(grid), FIELD(fixed_nodes), FIELD(guess_velocities),
    FIELD(guess_impulses), FIELD(velocities), FIELD(node_impulses), FIELD(impulses),
    FIELD(report), FIELD(trace), FIELD(moved_nodes), FIELD(node_rows), FIELD(contact_rows),
    FIELD(single_rows), FIELD(single_hessians), FIELD(single_directions), FIELD(single_images),
    FIELD(double_rows), FIELD(fringe_nodes), FIELD(tile_sums), FIELD(barrier), FIELD(totals),
    FIELD(clock), FIELD(status), FIELD(contact_capacity), FIELD(node_capacity))

// The same with strongly coupled bodies.
struct ConvexSolveBodiesParameters {
    // The solve.
    ConvexSolveParameters solve;
    // The bodies.
    ConvexBodies bodies;
};
PLIANT_CHECK_LAYOUT(ConvexSolveBodiesParameters, 0xf4e9cd42a4d02dbfull, FIELD(solve),
    FIELD(bodies))

// Poses, inertias, forces, mass matrices and their factors, and the velocities without
// contact: a thread a tree and world.
struct WorldsSmoothF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsSmoothF32Parameters, 0x52fa05a5a9009c00ull, FIELD(worlds))

// See `WorldsSmoothF32Parameters`.
struct WorldsSmoothF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsSmoothF64Parameters, 0xb6eb85680b8d122full, FIELD(worlds))

// Where pairs touch, and the impulses there: a thread a pair and world.
struct WorldsContactF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsContactF32Parameters, 0x246b67d29948f0daull, FIELD(worlds))

// See `WorldsContactF32Parameters`.
struct WorldsContactF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsContactF64Parameters, 0x74f48b6d286d90ddull, FIELD(worlds))

// What the contacts' impulses add to each degree of freedom: a thread for it and a world.
struct WorldsGatherF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsGatherF32Parameters, 0xa162c24ff06ced8bull, FIELD(worlds))

// See `WorldsGatherF32Parameters`.
struct WorldsGatherF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsGatherF64Parameters, 0x7d4e0f9689138ad8ull, FIELD(worlds))

// Joint limits, dry friction and the velocities with contact; stops worlds that diverge: a
// thread a tree and world.
struct WorldsCorrectF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsCorrectF32Parameters, 0xcf17ec0c77b247b0ull, FIELD(worlds))

// See `WorldsCorrectF32Parameters`.
struct WorldsCorrectF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsCorrectF64Parameters, 0xf2da40bc1126e89full, FIELD(worlds))

// The motion of the step, of worlds that have not stopped: a thread a tree and world.
struct WorldsAdvanceF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsAdvanceF32Parameters, 0xeb03d6c1936f1e84ull, FIELD(worlds))

// See `WorldsAdvanceF32Parameters`.
struct WorldsAdvanceF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
PLIANT_CHECK_LAYOUT(WorldsAdvanceF64Parameters, 0xf8ab6ea840afdfa3ull, FIELD(worlds))
