// Generated from cuda/src/kernels/ by the test `parameters_header_is_current`; do not edit.
#pragma once

#include "prelude.cuh"

// Threads of a block of the scan kernels.
constexpr uint32_t SCAN_THREADS = 256;
// Elements that a block scans.
constexpr uint32_t SCAN_TILE = 2048;
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
constexpr uint32_t GRID_BARRIER_WORDS = 2;
// Most threads of a block of a probe.
constexpr uint32_t PROBE_THREADS = 256;
// Rows of `ParticleRows`.
constexpr uint32_t MPM_ROWS = 34;
// Nodes of a node block, and cells of a particle block.
constexpr uint32_t MPM_BLOCK_NODES = 64;
// Blocks around a block, itself included.
constexpr uint32_t MPM_NEIGHBOURS = 27;
// Nodes of a window: what the particles of a block reach between two sorts.
constexpr uint32_t MPM_WINDOW_NODES = 1000;
// Threads of a block of the particles' passes to the grid, and back, of a sort's kernels and of the account's closing.
constexpr uint32_t P2G_THREADS = 64;
// See `P2G_THREADS`.
constexpr uint32_t G2P_THREADS = 128;
// See `P2G_THREADS`.
constexpr uint32_t MPM_SORT_THREADS = 256;
// See `P2G_THREADS`.
constexpr uint32_t MPM_CLOSE_THREADS = 256;
// See `P2G_THREADS`: of the particles' totals.
constexpr uint32_t MPM_TOTAL_THREADS = 256;
// Particles whose totals one block of threads sums.
constexpr uint32_t MPM_TOTAL_TILE = 1024;
// Entries of the particles' totals: mass; first moment; linear and angular momentum; kinetic and elastic energy.
constexpr uint32_t MPM_TOTALS = 12;
// Entries of an account of momentum: mass; impulse of gravity, linear and angular; impulse of the boundary conditions, linear and
// angular; work; number of nodes with mass. The first and the last are of one substep, the others sums.
constexpr uint32_t MPM_ACCOUNT = 15;
// Entries that a node block has: the sums; the last substep's, which is not among them as long as it can be stopped and done again; that
// substep's number.
constexpr uint32_t MPM_ACCOUNT_ROW = 31;
// A particle that moves more cells than this in a substep and leaves its window is lost.
constexpr uint32_t MPM_LOST_CELLS = 2;
// Blocks along an axis from the origin, exclusive.
constexpr uint32_t MPM_KEY_LIMIT = 1048575;
// Words of the status: how many substeps of the step may run, 2^32 - 1 for all.
constexpr uint32_t MPM_STATUS_LIMIT = 0;
// Why not all of them.
constexpr uint32_t MPM_STATUS_FLAGS = 1;
// 2^32 - 1 less the lost particle's id.
constexpr uint32_t MPM_STATUS_LOST = 2;
// Bits of the square of the largest speed after the last substep [m^2/s^2], as f32.
constexpr uint32_t MPM_STATUS_SPEED = 3;
// Of what there was not enough room for, how much is needed, as far as it was counted.
constexpr uint32_t MPM_STATUS_NEEDED = 4;
// What there was room for.
constexpr uint32_t MPM_STATUS_CAPACITY = 5;
// Number of words.
constexpr uint32_t MPM_STATUS_WORDS = 6;
// Flag: a particle left its window, and a sort is due.
constexpr uint32_t MPM_DRIFTED = 1;
// Flag: a particle is lost.
constexpr uint32_t MPM_LOST = 2;
// Flag: more particle blocks than there is room for.
constexpr uint32_t MPM_TOO_MANY_PARTICLE_BLOCKS = 4;
// Flag: more node blocks than there is room for.
constexpr uint32_t MPM_TOO_MANY_NODE_BLOCKS = 8;
// Flag: a block is too far from the origin.
constexpr uint32_t MPM_OUT_OF_RANGE = 16;
// Flag: more contacts than their arrays hold.
constexpr uint32_t CONTACT_TOO_MANY = 32;
// Flag: a particle touches more geometries than are followed.
constexpr uint32_t CONTACT_CROWDED = 64;
// Flag: more contacts than the solver has room for.
constexpr uint32_t CONVEX_TOO_MANY_CONTACTS = 128;
// Flag: more touched nodes than the solver has room for.
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
// Granular flow, whose particles keep motion that the grid cannot hold: the detail of mpm/src/detail.rs.
constexpr uint32_t MPM_GRANULAR = 5;
// Numbers of a particle's detail: velocity [m/s], then affine field by rows [1/s].
constexpr uint32_t MPM_DETAIL_ROWS = 12;
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
// Nodes that a pin reaches.
constexpr uint32_t CLOTH_REACH = 27;
// Of a vertex without a pin.
constexpr uint32_t CLOTH_NO_PIN = 4294967295;
// Sums of what pins do: impulse [N s], its moment about the world's origin [N m s], work [J].
constexpr uint32_t CLOTH_PIN_SUMS = 7;
// f64 entries of a pin: velocity [m/s]; mobility of what it reaches of the grid [1/kg]; first node of its stencil; `CLOTH_PIN_SUMS`
// of its vertex.
constexpr uint32_t CLOTH_PIN_ROW = 14;
// Most steps that a mesh takes in a substep.
constexpr uint32_t CLOTH_MESH_STEPS = 16;
// No contact, geometry, side or triangle.
constexpr uint32_t CONTACT_NONE = 4294967295;
// Threads of a block of the contact kernels, and particles of its tile.
constexpr uint32_t CONTACT_THREADS = 256;
// Geometries that a particle can touch at once.
constexpr uint32_t CONTACT_SLOTS = 8;
// Levels of a tree of triangles.
constexpr uint32_t CONTACT_TREE_DEPTH = 40;
// Numbers that are summed for each body: angular impulse, linear impulse, work.
constexpr uint32_t CONTACT_SUMS = 7;
// Threads of a block of the convex contact solve, and elements whose sum is formed by one of its blocks.
constexpr uint32_t CONVEX_THREADS = 128;
// Sums that one pass forms at most.
constexpr uint32_t CONVEX_SUMS = 8;
// f64 rows of a touched node: see `kernels/convex.cuh`.
constexpr uint32_t CONVEX_NODE_ROWS = 20;
// f64 rows of a contact.
constexpr uint32_t CONVEX_CONTACT_ROWS = 30;
// Rows of an unknown of the bodies that answer: see `kernels/convex_bodies.cuh`.
constexpr uint32_t CONVEX_BODY_ROWS = 10;
// Sums over the contacts of an answering body: the lower triangle of a 6 x 6 matrix at most.
constexpr uint32_t CONVEX_BODY_SUMS = 21;
// Place of a body that does not answer among those that do.
constexpr uint32_t CONVEX_NO_ANSWER = 4294967295;
// Rows of a touched node in a linear system.
constexpr uint32_t CONVEX_SYSTEM_ROWS = 19;
// Row of a touched node with the mass that the solve moves: zero of a node that a wall holds.
constexpr uint32_t CONVEX_MASS_ROW = 0;
// First of the three rows of a touched node with its velocity before the solve.
constexpr uint32_t CONVEX_FREE_ROW = 2;
// Mark of a node that a wall holds: the solve does not move it.
constexpr uint32_t CONVEX_HELD = 4294967295;
// Along an axis with an offset of this or more all weight is on the node of number offset - 8: a contact of a node.
constexpr uint32_t CONVEX_ON_NODE = 8;
// Start of a solve: the free velocities.
constexpr uint32_t CONVEX_GUESS_FREE = 0;
// Start of a solve: between the free velocities and what the guessed impulses do.
constexpr uint32_t CONVEX_GUESS_IMPULSES = 1;
// Start of a solve: between the free velocities and the guessed ones.
constexpr uint32_t CONVEX_GUESS_VELOCITIES = 2;
// Start of a solve: the better of the guessed velocities and what the guessed impulses do.
constexpr uint32_t CONVEX_GUESS_SOLUTION = 3;
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
// End of a solve, before it began: more contacts or touched nodes than there is room for, or a node that the grid lacks.
constexpr uint32_t CONVEX_NO_ROOM = 5;
// Threads of a block of the walls' kernels, and walls whose impulses are summed by one of its blocks.
constexpr uint32_t WALLS_THREADS = 128;
// Numbers that are summed for the walls: angular impulse, linear impulse.
constexpr uint32_t WALLS_SUMS = 6;
// Threads of a block of the worlds' kernels, all of them on the same tree, pair or degree of freedom.
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
// A motor whose target is a rate.
constexpr uint32_t WORLDS_RATE = 1;
// Most points of contact of a pair.
constexpr uint32_t WORLDS_MOST_POINTS = 12;
// From this bit on, which points of a pair have a moment.
constexpr uint32_t WORLDS_TURNING = 16;
// Numbers of a point of contact: where it is (m), impulse (N s) and moment (N m s).
constexpr uint32_t WORLDS_POINT_NUMBERS = 9;
// Numbers of the settings: step (s), kappa (1/s^2), delta (1/s), weight of a facet, impedance of joints.
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
// Inverse inertia of a body that nothing holds, by rows.
constexpr uint32_t WORLDS_BODY_INVERSE = 29;
// Numbers of a pose: rotation by rows, origin (m).
constexpr uint32_t WORLDS_POSE_NUMBERS = 12;
// Numbers of a degree of freedom: damping, stiffness, reference, armature, dry friction, least and greatest position.
constexpr uint32_t WORLDS_DOF_NUMBERS = 7;

// Some bits of a key, by which a pass sorts.
struct SortDigit {
    // The lowest of the bits.
    uint32_t shift;
    // The bits once shifted: 2^bits - 1.
    uint32_t mask;
};
static_assert(sizeof(SortDigit) == 8 && alignof(SortDigit) == 4, "SortDigit");
static_assert(PLIANT_OFFSET(SortDigit, shift) == 0, "SortDigit::shift");
static_assert(PLIANT_OFFSET(SortDigit, mask) == 4, "SortDigit::mask");

// The grid: a node block of 4x4x4 nodes has 64 nodes in a row, z fastest.
struct GridNodes {
    // Velocity x, y, z [m/s] and mass [kg] of each node; nodes of zero mass are all zero.
    Span<Array<float, 4>> nodes;
    // Key of each node block; its first node is at 4 times the key.
    Span<Array<int32_t, 3>> keys;
    // The table that finds a node block by its key: `find_key` of `kernels/mpm.cuh`. Its length is a power of two.
    Span<uint64_t> table_keys;
    // Slot of the node block at each place of the table.
    Span<uint32_t> table_slots;
};
static_assert(sizeof(GridNodes) == 64 && alignof(GridNodes) == 8, "GridNodes");
static_assert(PLIANT_OFFSET(GridNodes, nodes) == 0, "GridNodes::nodes");
static_assert(PLIANT_OFFSET(GridNodes, keys) == 16, "GridNodes::keys");
static_assert(PLIANT_OFFSET(GridNodes, table_keys) == 32, "GridNodes::table_keys");
static_assert(PLIANT_OFFSET(GridNodes, table_slots) == 48, "GridNodes::table_slots");

// Particles in device memory, sorted by cell at the start of a step. Row r of particle i is `rows[r * stride + i]`.
//
// Rows 0..3: position, cells from the corner of its block of 4x4x4 cells; 3..6: velocity [m/s]; 6..15: affine field C by rows [1/s];
// 15..24: deformation gradient by rows; 24: the model's history; 25: mass [kg]; 26: rest volume [m^3]; 27..33: Kirchhoff stress times
// rest volume [J] as xx, yy, zz, xy, xz, yz; 33: twice the distance from the particle to the surface that it stands for [m]. All in the world
// frame. A particle of cloth has in place of the gradient's columns the force on a vertex [N], the axial vector of the skew part of
// a face's stress times volume [J], and the face's director.
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
static_assert(sizeof(ParticleRows) == 88 && alignof(ParticleRows) == 8, "ParticleRows");
static_assert(PLIANT_OFFSET(ParticleRows, rows) == 0, "ParticleRows::rows");
static_assert(PLIANT_OFFSET(ParticleRows, ids) == 16, "ParticleRows::ids");
static_assert(PLIANT_OFFSET(ParticleRows, materials) == 32, "ParticleRows::materials");
static_assert(PLIANT_OFFSET(ParticleRows, blocks) == 48, "ParticleRows::blocks");
static_assert(PLIANT_OFFSET(ParticleRows, block_keys) == 64, "ParticleRows::block_keys");
static_assert(PLIANT_OFFSET(ParticleRows, count) == 80, "ParticleRows::count");
static_assert(PLIANT_OFFSET(ParticleRows, stride) == 84, "ParticleRows::stride");

// What may change from step to step.
struct MpmSettings {
    // Substep times gravity, world frame [m/s].
    Array<double, 3> gravity_step;
    // Grid spacing h [m].
    double grid_spacing_f64;
    // Substep [s].
    double delta_f64;
    // Grid spacing h [m].
    float grid_spacing;
    // Substep [s].
    float delta;
    // Fraction of the detail that granular particles get back after a substep.
    float kept_detail;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSettings) == 56 && alignof(MpmSettings) == 8, "MpmSettings");
static_assert(PLIANT_OFFSET(MpmSettings, gravity_step) == 0, "MpmSettings::gravity_step");
static_assert(PLIANT_OFFSET(MpmSettings, grid_spacing_f64) == 24, "MpmSettings::grid_spacing_f64");
static_assert(PLIANT_OFFSET(MpmSettings, delta_f64) == 32, "MpmSettings::delta_f64");
static_assert(PLIANT_OFFSET(MpmSettings, grid_spacing) == 40, "MpmSettings::grid_spacing");
static_assert(PLIANT_OFFSET(MpmSettings, delta) == 44, "MpmSettings::delta");
static_assert(PLIANT_OFFSET(MpmSettings, kept_detail) == 48, "MpmSettings::kept_detail");
static_assert(PLIANT_OFFSET(MpmSettings, unused) == 52, "MpmSettings::unused");

// A material.
struct MpmMaterial {
    // Which model: `MPM_FIXED_COROTATED` and those after it.
    uint32_t model;
    // Shear modulus [Pa].
    float mu;
    // First Lame parameter [Pa].
    float lambda;
    // Von Mises: largest |dev e|; Drucker-Prager: slope of the cone, -|dev e| / tr e on it (no unit).
    float yield_strain;
    // Granular flow, the cone of slow flow: sqrt(3)/2 m, with m = sqrt(J2)/p in simple shear (no unit).
    float slow_ratio;
    // m (3 - m^2)/2 of that cone: how far its section is from a circle (0) towards a triangle (1).
    float slow_triangularity;
    // As `slow_ratio`, of fast flow.
    float fast_ratio;
    // As `slow_triangularity`, of fast flow.
    float fast_triangularity;
    // Granular flow: the stress that relaxes at I = I_0, over substep and root of the pressure [sqrt(Pa)/s].
    float relaxation;
};
static_assert(sizeof(MpmMaterial) == 36 && alignof(MpmMaterial) == 4, "MpmMaterial");
static_assert(PLIANT_OFFSET(MpmMaterial, model) == 0, "MpmMaterial::model");
static_assert(PLIANT_OFFSET(MpmMaterial, mu) == 4, "MpmMaterial::mu");
static_assert(PLIANT_OFFSET(MpmMaterial, lambda) == 8, "MpmMaterial::lambda");
static_assert(PLIANT_OFFSET(MpmMaterial, yield_strain) == 12, "MpmMaterial::yield_strain");
static_assert(PLIANT_OFFSET(MpmMaterial, slow_ratio) == 16, "MpmMaterial::slow_ratio");
static_assert(PLIANT_OFFSET(MpmMaterial, slow_triangularity) == 20, "MpmMaterial::slow_triangularity");
static_assert(PLIANT_OFFSET(MpmMaterial, fast_ratio) == 24, "MpmMaterial::fast_ratio");
static_assert(PLIANT_OFFSET(MpmMaterial, fast_triangularity) == 28, "MpmMaterial::fast_triangularity");
static_assert(PLIANT_OFFSET(MpmMaterial, relaxation) == 32, "MpmMaterial::relaxation");

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
static_assert(sizeof(MpmPlane) == 56 && alignof(MpmPlane) == 8, "MpmPlane");
static_assert(PLIANT_OFFSET(MpmPlane, normal_f64) == 0, "MpmPlane::normal_f64");
static_assert(PLIANT_OFFSET(MpmPlane, offset) == 24, "MpmPlane::offset");
static_assert(PLIANT_OFFSET(MpmPlane, normal) == 32, "MpmPlane::normal");
static_assert(PLIANT_OFFSET(MpmPlane, friction) == 44, "MpmPlane::friction");
static_assert(PLIANT_OFFSET(MpmPlane, kind) == 48, "MpmPlane::kind");
static_assert(PLIANT_OFFSET(MpmPlane, unused) == 52, "MpmPlane::unused");

// What a sheet is made of.
struct ClothSheet {
    // Shear modulus [Pa].
    float mu;
    // First Lame parameter of plane stress [Pa].
    float lambda;
    // Normal stiffness [Pa].
    float normal_stiffness;
    // Shear stiffness [Pa].
    float shear_stiffness;
    // Coefficient of that shear's friction (no unit).
    float friction;
    // Part of the symmetric velocity gradient that a substep keeps (no unit).
    float damping;
};
static_assert(sizeof(ClothSheet) == 24 && alignof(ClothSheet) == 4, "ClothSheet");
static_assert(PLIANT_OFFSET(ClothSheet, mu) == 0, "ClothSheet::mu");
static_assert(PLIANT_OFFSET(ClothSheet, lambda) == 4, "ClothSheet::lambda");
static_assert(PLIANT_OFFSET(ClothSheet, normal_stiffness) == 8, "ClothSheet::normal_stiffness");
static_assert(PLIANT_OFFSET(ClothSheet, shear_stiffness) == 12, "ClothSheet::shear_stiffness");
static_assert(PLIANT_OFFSET(ClothSheet, friction) == 16, "ClothSheet::friction");
static_assert(PLIANT_OFFSET(ClothSheet, damping) == 20, "ClothSheet::damping");

// The steps that a sheet's mesh takes by itself in a substep of the present length.
struct ClothMeshSteps {
    // How many, at least one.
    uint32_t steps;
    // The most that any sheet takes.
    uint32_t most;
    // Their length over the grid spacing [cells per m/s].
    float step;
    // Their length times the part of a particle's inverse mass that a vertex of the mesh has [s].
    float kick;
    // Their length times gravity [m/s].
    Array<float, 3> fall;
    // Zero.
    uint32_t unused;
    // Weight of the stresses at each (no unit).
    Array<float, 16> weights;
};
static_assert(sizeof(ClothMeshSteps) == 96 && alignof(ClothMeshSteps) == 4, "ClothMeshSteps");
static_assert(PLIANT_OFFSET(ClothMeshSteps, steps) == 0, "ClothMeshSteps::steps");
static_assert(PLIANT_OFFSET(ClothMeshSteps, most) == 4, "ClothMeshSteps::most");
static_assert(PLIANT_OFFSET(ClothMeshSteps, step) == 8, "ClothMeshSteps::step");
static_assert(PLIANT_OFFSET(ClothMeshSteps, kick) == 12, "ClothMeshSteps::kick");
static_assert(PLIANT_OFFSET(ClothMeshSteps, fall) == 16, "ClothMeshSteps::fall");
static_assert(PLIANT_OFFSET(ClothMeshSteps, unused) == 28, "ClothMeshSteps::unused");
static_assert(PLIANT_OFFSET(ClothMeshSteps, weights) == 32, "ClothMeshSteps::weights");

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
static_assert(sizeof(ClothFace) == 48 && alignof(ClothFace) == 4, "ClothFace");
static_assert(PLIANT_OFFSET(ClothFace, corners) == 0, "ClothFace::corners");
static_assert(PLIANT_OFFSET(ClothFace, sheet) == 12, "ClothFace::sheet");
static_assert(PLIANT_OFFSET(ClothFace, inverse_edges) == 16, "ClothFace::inverse_edges");
static_assert(PLIANT_OFFSET(ClothFace, volume) == 28, "ClothFace::volume");
static_assert(PLIANT_OFFSET(ClothFace, mass) == 32, "ClothFace::mass");
static_assert(PLIANT_OFFSET(ClothFace, unused) == 36, "ClothFace::unused");

// An edge between two faces.
struct ClothHinge {
    // Numbers of the edge's ends and of the two faces' tips.
    Array<uint32_t, 4> vertices;
    // Angle at rest [rad].
    double rest_angle;
    // Moment per angle [N m].
    double stiffness;
};
static_assert(sizeof(ClothHinge) == 32 && alignof(ClothHinge) == 8, "ClothHinge");
static_assert(PLIANT_OFFSET(ClothHinge, vertices) == 0, "ClothHinge::vertices");
static_assert(PLIANT_OFFSET(ClothHinge, rest_angle) == 16, "ClothHinge::rest_angle");
static_assert(PLIANT_OFFSET(ClothHinge, stiffness) == 24, "ClothHinge::stiffness");

// A pin in a substep.
struct ClothTarget {
    // Where its vertex is at the substep's end, world frame [m].
    Array<double, 3> position;
    // One where it holds, zero where it has let go.
    uint32_t holds;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ClothTarget) == 32 && alignof(ClothTarget) == 8, "ClothTarget");
static_assert(PLIANT_OFFSET(ClothTarget, position) == 0, "ClothTarget::position");
static_assert(PLIANT_OFFSET(ClothTarget, holds) == 24, "ClothTarget::holds");
static_assert(PLIANT_OFFSET(ClothTarget, unused) == 28, "ClothTarget::unused");

// The meshes of all sheets. Elements are the vertices and then the faces, each in the order of the sheets; corners of faces are numbered
// three times the face and the corner, those of hinges go on from there with four times the hinge and the place.
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
    // What the sheets are made of.
    Span<ClothSheet> sheets;
};
static_assert(sizeof(ClothTables) == 128 && alignof(ClothTables) == 8, "ClothTables");
static_assert(PLIANT_OFFSET(ClothTables, places) == 0, "ClothTables::places");
static_assert(PLIANT_OFFSET(ClothTables, inverse_masses) == 16, "ClothTables::inverse_masses");
static_assert(PLIANT_OFFSET(ClothTables, sheets_of_vertices) == 32, "ClothTables::sheets_of_vertices");
static_assert(PLIANT_OFFSET(ClothTables, around_first) == 48, "ClothTables::around_first");
static_assert(PLIANT_OFFSET(ClothTables, around) == 64, "ClothTables::around");
static_assert(PLIANT_OFFSET(ClothTables, faces) == 80, "ClothTables::faces");
static_assert(PLIANT_OFFSET(ClothTables, hinges) == 96, "ClothTables::hinges");
static_assert(PLIANT_OFFSET(ClothTables, sheets) == 112, "ClothTables::sheets");

// Pins. Empty without any.
struct ClothPins {
    // Number of each one's vertex.
    Span<uint32_t> vertices;
    // Of each vertex, its pin; `CLOTH_NO_PIN` without.
    Span<uint32_t> of_vertices;
    // All pins in the step's first substep, then all in the second, and so on.
    Span<ClothTarget> targets;
    // `CLOTH_PIN_ROW` entries a pin.
    Span<double> rows;
    // What the pins did to the grid in this substep; `CLOTH_PIN_SUMS` entries.
    Span<double> of_grid;
    // What they did in the step; `CLOTH_PIN_SUMS` entries.
    Span<double> total;
};
static_assert(sizeof(ClothPins) == 96 && alignof(ClothPins) == 8, "ClothPins");
static_assert(PLIANT_OFFSET(ClothPins, vertices) == 0, "ClothPins::vertices");
static_assert(PLIANT_OFFSET(ClothPins, of_vertices) == 16, "ClothPins::of_vertices");
static_assert(PLIANT_OFFSET(ClothPins, targets) == 32, "ClothPins::targets");
static_assert(PLIANT_OFFSET(ClothPins, rows) == 48, "ClothPins::rows");
static_assert(PLIANT_OFFSET(ClothPins, of_grid) == 64, "ClothPins::of_grid");
static_assert(PLIANT_OFFSET(ClothPins, total) == 80, "ClothPins::total");

// A geometry of a body, as contact sees it: constant while the bodies are.
struct ContactGeometry {
    // Kind of its shape: see `kernels/distance.cuh`.
    uint32_t kind;
    // Number of its body.
    uint32_t body;
    // Number of features: faces of a hull, triangles of a mesh.
    uint32_t features;
    // 1 where particles can adhere, else 0.
    uint32_t adhesive;
    // Box: half extents; sphere: radius; capsule and cylinder: radius, half length; ellipsoid: semi-axes; triangles: half of
    // their bounding box [m].
    Array<float, 3> size;
    // Radius of a ball around the triangles, about the middle of their bounding box [m].
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
    // The shape's middle in the body's frame [m].
    Array<double, 3> translation;
};
static_assert(sizeof(ContactGeometry) == 112 && alignof(ContactGeometry) == 8, "ContactGeometry");
static_assert(PLIANT_OFFSET(ContactGeometry, kind) == 0, "ContactGeometry::kind");
static_assert(PLIANT_OFFSET(ContactGeometry, body) == 4, "ContactGeometry::body");
static_assert(PLIANT_OFFSET(ContactGeometry, features) == 8, "ContactGeometry::features");
static_assert(PLIANT_OFFSET(ContactGeometry, adhesive) == 12, "ContactGeometry::adhesive");
static_assert(PLIANT_OFFSET(ContactGeometry, size) == 16, "ContactGeometry::size");
static_assert(PLIANT_OFFSET(ContactGeometry, radius) == 28, "ContactGeometry::radius");
static_assert(PLIANT_OFFSET(ContactGeometry, friction) == 32, "ContactGeometry::friction");
static_assert(PLIANT_OFFSET(ContactGeometry, adhesion_stress) == 36, "ContactGeometry::adhesion_stress");
static_assert(PLIANT_OFFSET(ContactGeometry, adhesion_range) == 40, "ContactGeometry::adhesion_range");
static_assert(PLIANT_OFFSET(ContactGeometry, first_node) == 44, "ContactGeometry::first_node");
static_assert(PLIANT_OFFSET(ContactGeometry, first_triangle) == 48, "ContactGeometry::first_triangle");
static_assert(PLIANT_OFFSET(ContactGeometry, first_plane) == 52, "ContactGeometry::first_plane");
static_assert(PLIANT_OFFSET(ContactGeometry, rotation) == 56, "ContactGeometry::rotation");
static_assert(PLIANT_OFFSET(ContactGeometry, translation) == 88, "ContactGeometry::translation");

// A node of a tree of triangles.
struct ContactNode {
    // Lowest corner of the box around its triangles [m].
    Array<float, 3> low;
    // Highest corner [m].
    Array<float, 3> high;
    // First triangle of a leaf; the right child of an inner node, whose left child follows it. Both count from the
    // geometry's first.
    uint32_t start;
    // Triangles of a leaf; 0 for an inner node.
    uint32_t count;
};
static_assert(sizeof(ContactNode) == 32 && alignof(ContactNode) == 4, "ContactNode");
static_assert(PLIANT_OFFSET(ContactNode, low) == 0, "ContactNode::low");
static_assert(PLIANT_OFFSET(ContactNode, high) == 12, "ContactNode::high");
static_assert(PLIANT_OFFSET(ContactNode, start) == 24, "ContactNode::start");
static_assert(PLIANT_OFFSET(ContactNode, count) == 28, "ContactNode::count");

// All geometries of all bodies. Frames have their origin in the middle of the shape.
struct ContactShapes {
    // Geometries, in the order of the bodies.
    Span<ContactGeometry> geometries;
    // Nodes of the trees.
    Span<ContactNode> nodes;
    // Corners a, b, c [m] and outward unit normal of each triangle, in the order of its tree.
    Span<Array<float, 12>> triangles;
    // Sums of the normals of the triangles at edges ab, bc, ca, and angle-weighted sums of those at a, b, c.
    Span<Array<float, 18>> edge_normals;
    // Feature of each triangle: its number in the mesh, its face of a hull.
    Span<uint32_t> features;
    // Where each triangle of a mesh stands in `triangles`.
    Span<uint32_t> slots;
    // Outward normal and offset [m] of each face of a hull.
    Span<Array<float, 4>> planes;
};
static_assert(sizeof(ContactShapes) == 112 && alignof(ContactShapes) == 8, "ContactShapes");
static_assert(PLIANT_OFFSET(ContactShapes, geometries) == 0, "ContactShapes::geometries");
static_assert(PLIANT_OFFSET(ContactShapes, nodes) == 16, "ContactShapes::nodes");
static_assert(PLIANT_OFFSET(ContactShapes, triangles) == 32, "ContactShapes::triangles");
static_assert(PLIANT_OFFSET(ContactShapes, edge_normals) == 48, "ContactShapes::edge_normals");
static_assert(PLIANT_OFFSET(ContactShapes, features) == 64, "ContactShapes::features");
static_assert(PLIANT_OFFSET(ContactShapes, slots) == 80, "ContactShapes::slots");
static_assert(PLIANT_OFFSET(ContactShapes, planes) == 96, "ContactShapes::planes");

// A body as contact sees it in a substep, world frame.
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
static_assert(sizeof(ContactBody) == 128 && alignof(ContactBody) == 8, "ContactBody");
static_assert(PLIANT_OFFSET(ContactBody, origin) == 0, "ContactBody::origin");
static_assert(PLIANT_OFFSET(ContactBody, translation) == 24, "ContactBody::translation");
static_assert(PLIANT_OFFSET(ContactBody, rotation) == 48, "ContactBody::rotation");
static_assert(PLIANT_OFFSET(ContactBody, angular) == 80, "ContactBody::angular");
static_assert(PLIANT_OFFSET(ContactBody, linear) == 104, "ContactBody::linear");

// How the point goes on that the impulses on a body are about, world frame, in a step.
struct ContactReference {
    // Its velocity at the start of the step [m/s].
    Array<double, 3> velocity;
    // Its acceleration without particles and contact [m/s^2].
    Array<double, 3> acceleration;
    // Mass of the body [kg]; infinite where impulses do not move the point.
    double mass;
    // Length of a substep [s].
    double delta;
    // Over the substeps so far, the sum of its way since the first times (cross product) the impulse [N m s].
    Array<double, 3> carried;
    // Substeps so far.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ContactReference) == 96 && alignof(ContactReference) == 8, "ContactReference");
static_assert(PLIANT_OFFSET(ContactReference, velocity) == 0, "ContactReference::velocity");
static_assert(PLIANT_OFFSET(ContactReference, acceleration) == 24, "ContactReference::acceleration");
static_assert(PLIANT_OFFSET(ContactReference, mass) == 48, "ContactReference::mass");
static_assert(PLIANT_OFFSET(ContactReference, delta) == 56, "ContactReference::delta");
static_assert(PLIANT_OFFSET(ContactReference, carried) == 64, "ContactReference::carried");
static_assert(PLIANT_OFFSET(ContactReference, substep) == 88, "ContactReference::substep");
static_assert(PLIANT_OFFSET(ContactReference, unused) == 92, "ContactReference::unused");

// A geometry at its pose in this substep. Its middle is the sum of a cell and a fraction, so that what is relative to it is
// exact far from the world's origin.
struct ContactPlaced {
    // World to shape frame, by rows.
    Array<float, 9> inverse_rotation;
    // Cell of the grid in which its middle is.
    Array<int32_t, 3> cell;
    // Its middle within that cell [cells].
    Array<float, 3> fraction;
    // Angular velocity, world frame [rad/s].
    Array<float, 3> angular;
    // Velocity of its middle, world frame [m/s].
    Array<float, 3> linear;
    // From the point that the body's impulses are about to its middle, world frame [m].
    Array<float, 3> lever;
};
static_assert(sizeof(ContactPlaced) == 96 && alignof(ContactPlaced) == 4, "ContactPlaced");
static_assert(PLIANT_OFFSET(ContactPlaced, inverse_rotation) == 0, "ContactPlaced::inverse_rotation");
static_assert(PLIANT_OFFSET(ContactPlaced, cell) == 36, "ContactPlaced::cell");
static_assert(PLIANT_OFFSET(ContactPlaced, fraction) == 48, "ContactPlaced::fraction");
static_assert(PLIANT_OFFSET(ContactPlaced, angular) == 60, "ContactPlaced::angular");
static_assert(PLIANT_OFFSET(ContactPlaced, linear) == 72, "ContactPlaced::linear");
static_assert(PLIANT_OFFSET(ContactPlaced, lever) == 84, "ContactPlaced::lever");

// Where in a step contact is.
struct ContactClock {
    // Length of the substep [s].
    float delta;
    // Number of the substep in its step. The exchange moves it on: a substep that is stopped before can be done again.
    uint32_t substep;
    // 1 where the substep takes place: not beyond the limit of `Kernel::ContactPlace`, nor stopped since.
    uint32_t active;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ContactClock) == 16 && alignof(ContactClock) == 4, "ContactClock");
static_assert(PLIANT_OFFSET(ContactClock, delta) == 0, "ContactClock::delta");
static_assert(PLIANT_OFFSET(ContactClock, substep) == 4, "ContactClock::substep");
static_assert(PLIANT_OFFSET(ContactClock, active) == 8, "ContactClock::active");
static_assert(PLIANT_OFFSET(ContactClock, unused) == 12, "ContactClock::unused");

// What contact keeps from substep to substep besides the memories.
struct ContactState {
    // Number of remembered contacts.
    uint32_t memories;
    // Bits of the largest `pressed_out` among them, as f32.
    uint32_t farthest;
    // The same of those that are being remembered.
    uint32_t next_farthest;
    // The most contacts of a substep.
    uint32_t most_contacts;
    // The most geometries that a particle touched.
    uint32_t most_of_particle;
    // Contacts of particles in this substep.
    uint32_t registered;
    // The most geometries that a particle touches in this substep, where they are more than `CONTACT_SLOTS`; else 0.
    uint32_t crowd;
    // The most contacts of particles in a substep of the step.
    uint32_t step_most_contacts;
    // Contacts of particles in all substeps of the step.
    uint64_t step_contacts;
};
static_assert(sizeof(ContactState) == 40 && alignof(ContactState) == 8, "ContactState");
static_assert(PLIANT_OFFSET(ContactState, memories) == 0, "ContactState::memories");
static_assert(PLIANT_OFFSET(ContactState, farthest) == 4, "ContactState::farthest");
static_assert(PLIANT_OFFSET(ContactState, next_farthest) == 8, "ContactState::next_farthest");
static_assert(PLIANT_OFFSET(ContactState, most_contacts) == 12, "ContactState::most_contacts");
static_assert(PLIANT_OFFSET(ContactState, most_of_particle) == 16, "ContactState::most_of_particle");
static_assert(PLIANT_OFFSET(ContactState, registered) == 20, "ContactState::registered");
static_assert(PLIANT_OFFSET(ContactState, crowd) == 24, "ContactState::crowd");
static_assert(PLIANT_OFFSET(ContactState, step_most_contacts) == 28, "ContactState::step_most_contacts");
static_assert(PLIANT_OFFSET(ContactState, step_contacts) == 32, "ContactState::step_contacts");

// A contact of the last substep.
struct ContactMemory {
    // The particle's id.
    uint32_t particle;
    // Number of the geometry.
    uint32_t geometry;
    // Feature through which the particle came.
    uint32_t feature;
    // 1 where the particle was pressed onto an adhesive geometry and held since.
    uint32_t bonded;
    // Impulse on the particle, world frame [N s].
    Array<float, 3> impulse;
    // Its normal part; negative only for a bond under tension.
    float normal_impulse;
    // Signed distance of the particle's centre, from `feature` [m].
    float distance;
    // How far outside the geometry the particle is although it is behind `feature` [m].
    float pressed_out;
    // Zero.
    Array<uint32_t, 2> unused;
};
static_assert(sizeof(ContactMemory) == 48 && alignof(ContactMemory) == 4, "ContactMemory");
static_assert(PLIANT_OFFSET(ContactMemory, particle) == 0, "ContactMemory::particle");
static_assert(PLIANT_OFFSET(ContactMemory, geometry) == 4, "ContactMemory::geometry");
static_assert(PLIANT_OFFSET(ContactMemory, feature) == 8, "ContactMemory::feature");
static_assert(PLIANT_OFFSET(ContactMemory, bonded) == 12, "ContactMemory::bonded");
static_assert(PLIANT_OFFSET(ContactMemory, impulse) == 16, "ContactMemory::impulse");
static_assert(PLIANT_OFFSET(ContactMemory, normal_impulse) == 28, "ContactMemory::normal_impulse");
static_assert(PLIANT_OFFSET(ContactMemory, distance) == 32, "ContactMemory::distance");
static_assert(PLIANT_OFFSET(ContactMemory, pressed_out) == 36, "ContactMemory::pressed_out");
static_assert(PLIANT_OFFSET(ContactMemory, unused) == 40, "ContactMemory::unused");

// What decides which pairs touch, and how stiffly.
struct ContactRules {
    // Grid spacing [m].
    double grid_spacing;
    // Gap below which a pair is registered at any velocity [m].
    float margin;
    // Radius of every particle [m]; negative for half the edge of the cube of its volume.
    float radius;
    // Stiffness of every contact [N/m]; 0 for `near_rigid` times mass over the square of the substep.
    float stiffness;
    // See `stiffness`.
    float near_rigid;
    // Hunt-Crossley dissipation [s/m].
    float dissipation;
    // How far from a centroid of cloth the vertices of its face can be [m].
    float vertex_reach;
    // Number of materials that are not cloth.
    uint32_t cloth_from;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ContactRules) == 40 && alignof(ContactRules) == 8, "ContactRules");
static_assert(PLIANT_OFFSET(ContactRules, grid_spacing) == 0, "ContactRules::grid_spacing");
static_assert(PLIANT_OFFSET(ContactRules, margin) == 8, "ContactRules::margin");
static_assert(PLIANT_OFFSET(ContactRules, radius) == 12, "ContactRules::radius");
static_assert(PLIANT_OFFSET(ContactRules, stiffness) == 16, "ContactRules::stiffness");
static_assert(PLIANT_OFFSET(ContactRules, near_rigid) == 20, "ContactRules::near_rigid");
static_assert(PLIANT_OFFSET(ContactRules, dissipation) == 24, "ContactRules::dissipation");
static_assert(PLIANT_OFFSET(ContactRules, vertex_reach) == 28, "ContactRules::vertex_reach");
static_assert(PLIANT_OFFSET(ContactRules, cloth_from) == 32, "ContactRules::cloth_from");
static_assert(PLIANT_OFFSET(ContactRules, unused) == 36, "ContactRules::unused");

// The contacts of a substep, one element each: ordered by particle (in their order in memory), then geometry; after them those of
// nodes with walls of the grid.
struct ContactArrays {
    // Number of contacts; one element. More than there is room for where nodes with walls of the grid are: the solve refuses these.
    Span<uint32_t> count;
    // The particle's id; `CONTACT_NONE` for a contact of a node with a wall of the grid.
    Span<uint32_t> particle;
    // Number of the geometry.
    Span<uint32_t> geometry;
    // Number of the body; the number of bodies for a wall of the grid.
    Span<uint32_t> body;
    // Feature of the geometry.
    Span<uint32_t> feature;
    // Lowest node of the particle's stencil.
    Span<Array<int32_t, 3>> base;
    // Position relative to that node [cells].
    Span<Array<float, 3>> offset;
    // From the particle to where it touches [cells]; zero but for granular particles, empty where no material is granular.
    Span<Array<float, 3>> arm;
    // From the body to the particle, world frame.
    Span<Array<float, 3>> normal;
    // Velocity of the body there, world frame [m/s].
    Span<Array<float, 3>> body_velocity;
    // Where it touches, relative to the point that the body's impulses are about, world frame [m].
    Span<Array<float, 3>> lever;
    // Gap [m], negative when overlapping.
    Span<float> gap;
    // Gap of the particle's centre: without its radius [m].
    Span<float> distance;
    // How far outside the geometry the particle is although `distance` is negative [m].
    Span<float> pressed_out;
    // Stiffness [N/m].
    Span<float> stiffness;
    // Hunt-Crossley dissipation [s/m].
    Span<float> dissipation;
    // Coulomb coefficient.
    Span<float> friction;
    // Normal impulse that bounds the friction [N s].
    Span<float> lagged_normal_impulse;
    // Largest tension of a contact that is bonded at the start of the substep [N]; 0 for one that is not.
    Span<float> tension;
    // Impulse on the particle in the last substep, world frame [N s]; zero for a new pair.
    Span<Array<float, 3>> last_impulse;
};
static_assert(sizeof(ContactArrays) == 320 && alignof(ContactArrays) == 8, "ContactArrays");
static_assert(PLIANT_OFFSET(ContactArrays, count) == 0, "ContactArrays::count");
static_assert(PLIANT_OFFSET(ContactArrays, particle) == 16, "ContactArrays::particle");
static_assert(PLIANT_OFFSET(ContactArrays, geometry) == 32, "ContactArrays::geometry");
static_assert(PLIANT_OFFSET(ContactArrays, body) == 48, "ContactArrays::body");
static_assert(PLIANT_OFFSET(ContactArrays, feature) == 64, "ContactArrays::feature");
static_assert(PLIANT_OFFSET(ContactArrays, base) == 80, "ContactArrays::base");
static_assert(PLIANT_OFFSET(ContactArrays, offset) == 96, "ContactArrays::offset");
static_assert(PLIANT_OFFSET(ContactArrays, arm) == 112, "ContactArrays::arm");
static_assert(PLIANT_OFFSET(ContactArrays, normal) == 128, "ContactArrays::normal");
static_assert(PLIANT_OFFSET(ContactArrays, body_velocity) == 144, "ContactArrays::body_velocity");
static_assert(PLIANT_OFFSET(ContactArrays, lever) == 160, "ContactArrays::lever");
static_assert(PLIANT_OFFSET(ContactArrays, gap) == 176, "ContactArrays::gap");
static_assert(PLIANT_OFFSET(ContactArrays, distance) == 192, "ContactArrays::distance");
static_assert(PLIANT_OFFSET(ContactArrays, pressed_out) == 208, "ContactArrays::pressed_out");
static_assert(PLIANT_OFFSET(ContactArrays, stiffness) == 224, "ContactArrays::stiffness");
static_assert(PLIANT_OFFSET(ContactArrays, dissipation) == 240, "ContactArrays::dissipation");
static_assert(PLIANT_OFFSET(ContactArrays, friction) == 256, "ContactArrays::friction");
static_assert(PLIANT_OFFSET(ContactArrays, lagged_normal_impulse) == 272, "ContactArrays::lagged_normal_impulse");
static_assert(PLIANT_OFFSET(ContactArrays, tension) == 288, "ContactArrays::tension");
static_assert(PLIANT_OFFSET(ContactArrays, last_impulse) == 304, "ContactArrays::last_impulse");

// What is remembered of the last substep's contacts.
struct ContactMemories {
    // The contacts, a particle's in a row.
    Span<ContactMemory> list;
    // For the id of each particle, the first of its contacts in `list`, if that is of this particle; else it has none.
    Span<uint32_t> first;
    // One element.
    Span<ContactState> state;
};
static_assert(sizeof(ContactMemories) == 48 && alignof(ContactMemories) == 8, "ContactMemories");
static_assert(PLIANT_OFFSET(ContactMemories, list) == 0, "ContactMemories::list");
static_assert(PLIANT_OFFSET(ContactMemories, first) == 16, "ContactMemories::first");
static_assert(PLIANT_OFFSET(ContactMemories, state) == 32, "ContactMemories::state");

// How bodies answer within a step: `pliant_coupling::AnsweringBodies`.
struct ContactAnswering {
    // Numbers of the bodies.
    Span<uint32_t> bodies;
    // Their mobility by rows, six for each.
    Span<double> mobility;
    // Their velocities at the start of the step, six numbers each [rad/s, m/s].
    Span<double> start;
    // What they gain over the step without impulses of particles.
    Span<double> gain;
    // What makes good the lag of their poses.
    Span<double> lag;
    // Number of substeps, and the length of one [s].
    Span<Array<double, 2>> step;
};
static_assert(sizeof(ContactAnswering) == 96 && alignof(ContactAnswering) == 8, "ContactAnswering");
static_assert(PLIANT_OFFSET(ContactAnswering, bodies) == 0, "ContactAnswering::bodies");
static_assert(PLIANT_OFFSET(ContactAnswering, mobility) == 16, "ContactAnswering::mobility");
static_assert(PLIANT_OFFSET(ContactAnswering, start) == 32, "ContactAnswering::start");
static_assert(PLIANT_OFFSET(ContactAnswering, gain) == 48, "ContactAnswering::gain");
static_assert(PLIANT_OFFSET(ContactAnswering, lag) == 64, "ContactAnswering::lag");
static_assert(PLIANT_OFFSET(ContactAnswering, step) == 80, "ContactAnswering::step");

// What the solve of a substep found.
struct ContactSolution {
    // Impulse of each contact on its particle, world frame [N s].
    Span<Array<double, 3>> impulses;
    // Velocity of each touched node [m/s].
    Span<Array<double, 3>> velocities;
    // Rows of touched nodes: row r of node i is `nodes[r * node_stride + i]`.
    Span<double> nodes;
    // What each body's velocity became less what contact saw, world frame about the body's impulses' point: angular [rad/s], linear
    // [m/s]; empty where bodies do not answer.
    Span<Array<double, 6>> answers;
    // Elements from one row of nodes to the next.
    uint32_t node_stride;
    // Row with the mass that the solve moved [kg]; 0 for a node that a wall of the grid held.
    uint32_t mass_row;
    // First of the three rows with the velocity before the solve [m/s].
    uint32_t free_row;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ContactSolution) == 80 && alignof(ContactSolution) == 8, "ContactSolution");
static_assert(PLIANT_OFFSET(ContactSolution, impulses) == 0, "ContactSolution::impulses");
static_assert(PLIANT_OFFSET(ContactSolution, velocities) == 16, "ContactSolution::velocities");
static_assert(PLIANT_OFFSET(ContactSolution, nodes) == 32, "ContactSolution::nodes");
static_assert(PLIANT_OFFSET(ContactSolution, answers) == 48, "ContactSolution::answers");
static_assert(PLIANT_OFFSET(ContactSolution, node_stride) == 64, "ContactSolution::node_stride");
static_assert(PLIANT_OFFSET(ContactSolution, mass_row) == 68, "ContactSolution::mass_row");
static_assert(PLIANT_OFFSET(ContactSolution, free_row) == 72, "ContactSolution::free_row");
static_assert(PLIANT_OFFSET(ContactSolution, unused) == 76, "ContactSolution::unused");

// The contacts of a substep as the convex solve reads them, an element each; `count[0]` of them are there. Contacts
// with the same base node that follow one another are worked on together; any order is right.
struct ConvexContacts {
    // Number of contacts; one element.
    Span<uint32_t> count;
    // First node of the stencil, in nodes of the grid.
    Span<Array<int32_t, 3>> base;
    // The particle's place in cells from that node, in [0.5, 1.5]; or along an axis `CONVEX_ON_NODE` and more.
    Span<Array<float, 3>> offset;
    // From the particle to where the contact acts [cells]; empty where all act at their particles.
    Span<Array<float, 3>> arm;
    // Unit normal, outward from the body, world axes.
    Span<Array<float, 3>> normal;
    // The body's velocity at the contact point, world axes, in m/s.
    Span<Array<float, 3>> body_velocity;
    // Signed distance in m, negative when overlapping.
    Span<float> gap;
    // In N/m.
    Span<float> stiffness;
    // Coefficient of friction.
    Span<float> friction;
    // In N s, what bounds friction; of a bonded contact with the tension's impulse added.
    Span<float> lagged_normal_impulse;
    // Largest tension of a bonded contact in N, 0 without a bond.
    Span<float> tension;
    // Hunt-Crossley dissipation in s/m; empty where the setting holds for all.
    Span<float> dissipation;
    // Stiction tolerance in m/s; empty where the setting holds for all.
    Span<float> stiction_tolerance;
    // Number of the body; only read where bodies answer.
    Span<uint32_t> body;
    // From the point that the body's velocity and impulses are about, world axes, in m; only read where bodies answer.
    Span<Array<float, 3>> lever;
};
static_assert(sizeof(ConvexContacts) == 240 && alignof(ConvexContacts) == 8, "ConvexContacts");
static_assert(PLIANT_OFFSET(ConvexContacts, count) == 0, "ConvexContacts::count");
static_assert(PLIANT_OFFSET(ConvexContacts, base) == 16, "ConvexContacts::base");
static_assert(PLIANT_OFFSET(ConvexContacts, offset) == 32, "ConvexContacts::offset");
static_assert(PLIANT_OFFSET(ConvexContacts, arm) == 48, "ConvexContacts::arm");
static_assert(PLIANT_OFFSET(ConvexContacts, normal) == 64, "ConvexContacts::normal");
static_assert(PLIANT_OFFSET(ConvexContacts, body_velocity) == 80, "ConvexContacts::body_velocity");
static_assert(PLIANT_OFFSET(ConvexContacts, gap) == 96, "ConvexContacts::gap");
static_assert(PLIANT_OFFSET(ConvexContacts, stiffness) == 112, "ConvexContacts::stiffness");
static_assert(PLIANT_OFFSET(ConvexContacts, friction) == 128, "ConvexContacts::friction");
static_assert(PLIANT_OFFSET(ConvexContacts, lagged_normal_impulse) == 144, "ConvexContacts::lagged_normal_impulse");
static_assert(PLIANT_OFFSET(ConvexContacts, tension) == 160, "ConvexContacts::tension");
static_assert(PLIANT_OFFSET(ConvexContacts, dissipation) == 176, "ConvexContacts::dissipation");
static_assert(PLIANT_OFFSET(ConvexContacts, stiction_tolerance) == 192, "ConvexContacts::stiction_tolerance");
static_assert(PLIANT_OFFSET(ConvexContacts, body) == 208, "ConvexContacts::body");
static_assert(PLIANT_OFFSET(ConvexContacts, lever) == 224, "ConvexContacts::lever");

// The bodies that answer within the solve, and the memory for their part of it.
struct ConvexBodies {
    // How many answer, and the number of their unknowns: the rank of their mobility W = L L^T.
    Span<uint32_t> counts;
    // For each body its place among those that answer, or `CONVEX_NO_ANSWER`.
    Span<uint32_t> places;
    // L by rows, six for each body that answers.
    Span<double> factor;
    // What the velocity of each body changed by: angular in rad/s, linear in m/s; zero where it does not answer.
    Span<Array<double, 6>> answers;
    // Memory of the unknowns, row by row.
    Span<double> rows;
    // Changes of the answering bodies' velocities: at the iterate, then along a direction.
    Span<double> velocities;
    // Sums over each tile of contacts for each answering body; those of bodies that a tile does not have are zero.
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
static_assert(sizeof(ConvexBodies) == 184 && alignof(ConvexBodies) == 8, "ConvexBodies");
static_assert(PLIANT_OFFSET(ConvexBodies, counts) == 0, "ConvexBodies::counts");
static_assert(PLIANT_OFFSET(ConvexBodies, places) == 16, "ConvexBodies::places");
static_assert(PLIANT_OFFSET(ConvexBodies, factor) == 32, "ConvexBodies::factor");
static_assert(PLIANT_OFFSET(ConvexBodies, answers) == 48, "ConvexBodies::answers");
static_assert(PLIANT_OFFSET(ConvexBodies, rows) == 64, "ConvexBodies::rows");
static_assert(PLIANT_OFFSET(ConvexBodies, velocities) == 80, "ConvexBodies::velocities");
static_assert(PLIANT_OFFSET(ConvexBodies, tile_sums) == 96, "ConvexBodies::tile_sums");
static_assert(PLIANT_OFFSET(ConvexBodies, sums) == 112, "ConvexBodies::sums");
static_assert(PLIANT_OFFSET(ConvexBodies, images) == 128, "ConvexBodies::images");
static_assert(PLIANT_OFFSET(ConvexBodies, matrix) == 144, "ConvexBodies::matrix");
static_assert(PLIANT_OFFSET(ConvexBodies, inverse) == 160, "ConvexBodies::inverse");
static_assert(PLIANT_OFFSET(ConvexBodies, capacity) == 176, "ConvexBodies::capacity");
static_assert(PLIANT_OFFSET(ConvexBodies, unused) == 180, "ConvexBodies::unused");

// Which contacts touch which nodes.
struct ConvexIncidence {
    // Number of contacts, of groups, of touched nodes; and zero, or the flags of what there was no room for.
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
    // Where each touched node lies in the grid.
    Span<uint32_t> slots;
};
static_assert(sizeof(ConvexIncidence) == 112 && alignof(ConvexIncidence) == 8, "ConvexIncidence");
static_assert(PLIANT_OFFSET(ConvexIncidence, counts) == 0, "ConvexIncidence::counts");
static_assert(PLIANT_OFFSET(ConvexIncidence, contact_groups) == 16, "ConvexIncidence::contact_groups");
static_assert(PLIANT_OFFSET(ConvexIncidence, group_begin) == 32, "ConvexIncidence::group_begin");
static_assert(PLIANT_OFFSET(ConvexIncidence, group_nodes) == 48, "ConvexIncidence::group_nodes");
static_assert(PLIANT_OFFSET(ConvexIncidence, node_begin) == 64, "ConvexIncidence::node_begin");
static_assert(PLIANT_OFFSET(ConvexIncidence, incidences) == 80, "ConvexIncidence::incidences");
static_assert(PLIANT_OFFSET(ConvexIncidence, slots) == 96, "ConvexIncidence::slots");

// Settings of a convex solve, in device memory so that they can change between runs of a recording.
struct ConvexSettings {
    // Length of the substep in s.
    double substep;
    // Hunt-Crossley dissipation in s/m of contacts without their own.
    double dissipation;
    // Stiction tolerance in m/s of contacts without their own.
    double stiction_tolerance;
    // Relative tolerance of the residual.
    double relative_tolerance;
    // Absolute tolerance of the residual in sqrt(J).
    double absolute_tolerance;
    // Most outer iterations.
    uint32_t max_iterations;
    // Most products of one linear system.
    uint32_t max_inner_iterations;
    // Where to start: `CONVEX_GUESS_FREE` and so on.
    uint32_t guess;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ConvexSettings) == 56 && alignof(ConvexSettings) == 8, "ConvexSettings");
static_assert(PLIANT_OFFSET(ConvexSettings, substep) == 0, "ConvexSettings::substep");
static_assert(PLIANT_OFFSET(ConvexSettings, dissipation) == 8, "ConvexSettings::dissipation");
static_assert(PLIANT_OFFSET(ConvexSettings, stiction_tolerance) == 16, "ConvexSettings::stiction_tolerance");
static_assert(PLIANT_OFFSET(ConvexSettings, relative_tolerance) == 24, "ConvexSettings::relative_tolerance");
static_assert(PLIANT_OFFSET(ConvexSettings, absolute_tolerance) == 32, "ConvexSettings::absolute_tolerance");
static_assert(PLIANT_OFFSET(ConvexSettings, max_iterations) == 40, "ConvexSettings::max_iterations");
static_assert(PLIANT_OFFSET(ConvexSettings, max_inner_iterations) == 44, "ConvexSettings::max_inner_iterations");
static_assert(PLIANT_OFFSET(ConvexSettings, guess) == 48, "ConvexSettings::guess");
static_assert(PLIANT_OFFSET(ConvexSettings, unused) == 52, "ConvexSettings::unused");

// What a convex solve did.
struct ConvexReport {
    // Residual at the end in sqrt(J).
    double residual;
    // What it had to be below in sqrt(J).
    double tolerance;
    // Objective at the end in J.
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
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ConvexReport) == 64 && alignof(ConvexReport) == 8, "ConvexReport");
static_assert(PLIANT_OFFSET(ConvexReport, residual) == 0, "ConvexReport::residual");
static_assert(PLIANT_OFFSET(ConvexReport, tolerance) == 8, "ConvexReport::tolerance");
static_assert(PLIANT_OFFSET(ConvexReport, objective) == 16, "ConvexReport::objective");
static_assert(PLIANT_OFFSET(ConvexReport, stop) == 24, "ConvexReport::stop");
static_assert(PLIANT_OFFSET(ConvexReport, iterations) == 28, "ConvexReport::iterations");
static_assert(PLIANT_OFFSET(ConvexReport, inner_iterations) == 32, "ConvexReport::inner_iterations");
static_assert(PLIANT_OFFSET(ConvexReport, line_search_iterations) == 36, "ConvexReport::line_search_iterations");
static_assert(PLIANT_OFFSET(ConvexReport, contacts) == 40, "ConvexReport::contacts");
static_assert(PLIANT_OFFSET(ConvexReport, groups) == 44, "ConvexReport::groups");
static_assert(PLIANT_OFFSET(ConvexReport, nodes) == 48, "ConvexReport::nodes");
static_assert(PLIANT_OFFSET(ConvexReport, double_systems) == 52, "ConvexReport::double_systems");
static_assert(PLIANT_OFFSET(ConvexReport, unresolved_systems) == 56, "ConvexReport::unresolved_systems");
static_assert(PLIANT_OFFSET(ConvexReport, unused) == 60, "ConvexReport::unused");

// What the solves of a step did, those without contacts not counted.
struct ConvexTotals {
    // Worst ratio of a solve's residual to its tolerance, of those whose tolerance is not zero.
    double residual;
    // Contacts of all solves, those of nodes with walls of the grid among them.
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
static_assert(sizeof(ConvexTotals) == 56 && alignof(ConvexTotals) == 8, "ConvexTotals");
static_assert(PLIANT_OFFSET(ConvexTotals, residual) == 0, "ConvexTotals::residual");
static_assert(PLIANT_OFFSET(ConvexTotals, contacts) == 8, "ConvexTotals::contacts");
static_assert(PLIANT_OFFSET(ConvexTotals, iterations) == 16, "ConvexTotals::iterations");
static_assert(PLIANT_OFFSET(ConvexTotals, inner_iterations) == 24, "ConvexTotals::inner_iterations");
static_assert(PLIANT_OFFSET(ConvexTotals, unresolved_systems) == 32, "ConvexTotals::unresolved_systems");
static_assert(PLIANT_OFFSET(ConvexTotals, solves) == 40, "ConvexTotals::solves");
static_assert(PLIANT_OFFSET(ConvexTotals, most_contacts) == 44, "ConvexTotals::most_contacts");
static_assert(PLIANT_OFFSET(ConvexTotals, most_iterations) == 48, "ConvexTotals::most_iterations");
static_assert(PLIANT_OFFSET(ConvexTotals, not_converged) == 52, "ConvexTotals::not_converged");

// A contact of a node with a wall of the grid.
struct ContactWall {
    // Number of the boundary condition.
    uint32_t plane;
    // Where the node lies in the grid.
    uint32_t slot;
};
static_assert(sizeof(ContactWall) == 8 && alignof(ContactWall) == 4, "ContactWall");
static_assert(PLIANT_OFFSET(ContactWall, plane) == 0, "ContactWall::plane");
static_assert(PLIANT_OFFSET(ContactWall, slot) == 4, "ContactWall::slot");

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
static_assert(sizeof(WorldsBody) == 32 && alignof(WorldsBody) == 4, "WorldsBody");
static_assert(PLIANT_OFFSET(WorldsBody, joint) == 0, "WorldsBody::joint");
static_assert(PLIANT_OFFSET(WorldsBody, parent) == 4, "WorldsBody::parent");
static_assert(PLIANT_OFFSET(WorldsBody, first_position) == 8, "WorldsBody::first_position");
static_assert(PLIANT_OFFSET(WorldsBody, first_velocity) == 12, "WorldsBody::first_velocity");
static_assert(PLIANT_OFFSET(WorldsBody, dofs) == 16, "WorldsBody::dofs");
static_assert(PLIANT_OFFSET(WorldsBody, tree) == 20, "WorldsBody::tree");
static_assert(PLIANT_OFFSET(WorldsBody, first_chain) == 24, "WorldsBody::first_chain");
static_assert(PLIANT_OFFSET(WorldsBody, chain) == 28, "WorldsBody::chain");

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
    // Whether it is a body that nothing holds.
    uint32_t floating;
};
static_assert(sizeof(WorldsTree) == 24 && alignof(WorldsTree) == 4, "WorldsTree");
static_assert(PLIANT_OFFSET(WorldsTree, first_body) == 0, "WorldsTree::first_body");
static_assert(PLIANT_OFFSET(WorldsTree, bodies) == 4, "WorldsTree::bodies");
static_assert(PLIANT_OFFSET(WorldsTree, first_velocity) == 8, "WorldsTree::first_velocity");
static_assert(PLIANT_OFFSET(WorldsTree, size) == 12, "WorldsTree::size");
static_assert(PLIANT_OFFSET(WorldsTree, block) == 16, "WorldsTree::block");
static_assert(PLIANT_OFFSET(WorldsTree, floating) == 20, "WorldsTree::floating");

// A shape.
struct WorldsGeometry {
    // Its body, or `WORLDS_NONE`.
    uint32_t body;
    // Its kind.
    uint32_t shape;
};
static_assert(sizeof(WorldsGeometry) == 8 && alignof(WorldsGeometry) == 4, "WorldsGeometry");
static_assert(PLIANT_OFFSET(WorldsGeometry, body) == 0, "WorldsGeometry::body");
static_assert(PLIANT_OFFSET(WorldsGeometry, shape) == 4, "WorldsGeometry::shape");

// Two geometries that may touch.
struct WorldsPair {
    // Its kind, as `pliant_batch::FlatPair` numbers them.
    uint32_t kind;
    // The geometries, in this order.
    Array<uint32_t, 2> geometries;
    // Number of its first point of contact.
    uint32_t first_point;
};
static_assert(sizeof(WorldsPair) == 16 && alignof(WorldsPair) == 4, "WorldsPair");
static_assert(PLIANT_OFFSET(WorldsPair, kind) == 0, "WorldsPair::kind");
static_assert(PLIANT_OFFSET(WorldsPair, geometries) == 4, "WorldsPair::geometries");
static_assert(PLIANT_OFFSET(WorldsPair, first_point) == 12, "WorldsPair::first_point");

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
static_assert(sizeof(WorldsMotor) == 16 && alignof(WorldsMotor) == 4, "WorldsMotor");
static_assert(PLIANT_OFFSET(WorldsMotor, dof) == 0, "WorldsMotor::dof");
static_assert(PLIANT_OFFSET(WorldsMotor, position) == 4, "WorldsMotor::position");
static_assert(PLIANT_OFFSET(WorldsMotor, order) == 8, "WorldsMotor::order");
static_assert(PLIANT_OFFSET(WorldsMotor, tree) == 12, "WorldsMotor::tree");

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
static_assert(sizeof(WorldsDof) == 20 && alignof(WorldsDof) == 4, "WorldsDof");
static_assert(PLIANT_OFFSET(WorldsDof, position) == 0, "WorldsDof::position");
static_assert(PLIANT_OFFSET(WorldsDof, tree) == 4, "WorldsDof::tree");
static_assert(PLIANT_OFFSET(WorldsDof, diagonal) == 8, "WorldsDof::diagonal");
static_assert(PLIANT_OFFSET(WorldsDof, first_entry) == 12, "WorldsDof::first_entry");
static_assert(PLIANT_OFFSET(WorldsDof, end_entry) == 16, "WorldsDof::end_entry");

// What is the same in all worlds, and what is whole numbers.
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
    // Pairs that each degree of freedom moves one body of, ascending: the pair, and 1 where it is the second body.
    Span<Array<uint32_t, 2>> entries;
    // For each world, 1 where it has stopped.
    Span<uint32_t> stopped;
    // For each world, steps since it was put into its state.
    Span<uint32_t> steps;
    // Steps since targets were uploaded, and number of the last of their rows.
    Span<uint32_t> clock;
    // For each pair and world, which of its points touch, and from `WORLDS_TURNING` on which of them have a moment.
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
    // Inertia of each body with all it carries; of one that nothing holds, inverse mass, centre and inverse inertia.
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
static_assert(sizeof(WorldsPlan) == 304 && alignof(WorldsPlan) == 8, "WorldsPlan");
static_assert(PLIANT_OFFSET(WorldsPlan, bodies) == 0, "WorldsPlan::bodies");
static_assert(PLIANT_OFFSET(WorldsPlan, trees) == 16, "WorldsPlan::trees");
static_assert(PLIANT_OFFSET(WorldsPlan, chains) == 32, "WorldsPlan::chains");
static_assert(PLIANT_OFFSET(WorldsPlan, geometries) == 48, "WorldsPlan::geometries");
static_assert(PLIANT_OFFSET(WorldsPlan, pairs) == 64, "WorldsPlan::pairs");
static_assert(PLIANT_OFFSET(WorldsPlan, motors) == 80, "WorldsPlan::motors");
static_assert(PLIANT_OFFSET(WorldsPlan, dofs) == 96, "WorldsPlan::dofs");
static_assert(PLIANT_OFFSET(WorldsPlan, entries) == 112, "WorldsPlan::entries");
static_assert(PLIANT_OFFSET(WorldsPlan, stopped) == 128, "WorldsPlan::stopped");
static_assert(PLIANT_OFFSET(WorldsPlan, steps) == 144, "WorldsPlan::steps");
static_assert(PLIANT_OFFSET(WorldsPlan, clock) == 160, "WorldsPlan::clock");
static_assert(PLIANT_OFFSET(WorldsPlan, touching) == 176, "WorldsPlan::touching");
static_assert(PLIANT_OFFSET(WorldsPlan, worlds) == 192, "WorldsPlan::worlds");
static_assert(PLIANT_OFFSET(WorldsPlan, facets) == 196, "WorldsPlan::facets");
static_assert(PLIANT_OFFSET(WorldsPlan, velocities) == 200, "WorldsPlan::velocities");
static_assert(PLIANT_OFFSET(WorldsPlan, largest) == 204, "WorldsPlan::largest");
static_assert(PLIANT_OFFSET(WorldsPlan, gravity) == 208, "WorldsPlan::gravity");
static_assert(PLIANT_OFFSET(WorldsPlan, mass) == 212, "WorldsPlan::mass");
static_assert(PLIANT_OFFSET(WorldsPlan, sizes) == 216, "WorldsPlan::sizes");
static_assert(PLIANT_OFFSET(WorldsPlan, friction) == 220, "WorldsPlan::friction");
static_assert(PLIANT_OFFSET(WorldsPlan, motor_figures) == 224, "WorldsPlan::motor_figures");
static_assert(PLIANT_OFFSET(WorldsPlan, poses) == 228, "WorldsPlan::poses");
static_assert(PLIANT_OFFSET(WorldsPlan, motions) == 232, "WorldsPlan::motions");
static_assert(PLIANT_OFFSET(WorldsPlan, inertias) == 236, "WorldsPlan::inertias");
static_assert(PLIANT_OFFSET(WorldsPlan, forces) == 240, "WorldsPlan::forces");
static_assert(PLIANT_OFFSET(WorldsPlan, axes) == 244, "WorldsPlan::axes");
static_assert(PLIANT_OFFSET(WorldsPlan, bare) == 248, "WorldsPlan::bare");
static_assert(PLIANT_OFFSET(WorldsPlan, blocks) == 252, "WorldsPlan::blocks");
static_assert(PLIANT_OFFSET(WorldsPlan, momenta) == 256, "WorldsPlan::momenta");
static_assert(PLIANT_OFFSET(WorldsPlan, smooth) == 260, "WorldsPlan::smooth");
static_assert(PLIANT_OFFSET(WorldsPlan, loads) == 264, "WorldsPlan::loads");
static_assert(PLIANT_OFFSET(WorldsPlan, saturated) == 268, "WorldsPlan::saturated");
static_assert(PLIANT_OFFSET(WorldsPlan, columns) == 272, "WorldsPlan::columns");
static_assert(PLIANT_OFFSET(WorldsPlan, body_numbers) == 276, "WorldsPlan::body_numbers");
static_assert(PLIANT_OFFSET(WorldsPlan, geometry_numbers) == 280, "WorldsPlan::geometry_numbers");
static_assert(PLIANT_OFFSET(WorldsPlan, pair_numbers) == 284, "WorldsPlan::pair_numbers");
static_assert(PLIANT_OFFSET(WorldsPlan, motor_numbers) == 288, "WorldsPlan::motor_numbers");
static_assert(PLIANT_OFFSET(WorldsPlan, dof_numbers) == 292, "WorldsPlan::dof_numbers");
static_assert(PLIANT_OFFSET(WorldsPlan, facet_numbers) == 296, "WorldsPlan::facet_numbers");
static_assert(PLIANT_OFFSET(WorldsPlan, unused) == 300, "WorldsPlan::unused");

// Worlds in single precision. Of all but the constants a row is a number of all worlds.
struct WorldsF32 {
    // What is the same in all.
    WorldsPlan plan;
    // Its real numbers; the settings come first.
    Span<float> constants;
    // Positions, then velocities.
    Span<float> states;
    // Targets of the motors, as many rows for each step that they were uploaded for.
    Span<float> targets;
    // What may differ from world to world.
    Span<float> parameters;
    // Numbers of a step.
    Span<float> scratch;
    // Points of contact, and the columns of pairs.
    Span<float> contacts;
};
static_assert(sizeof(WorldsF32) == 400 && alignof(WorldsF32) == 8, "WorldsF32");
static_assert(PLIANT_OFFSET(WorldsF32, plan) == 0, "WorldsF32::plan");
static_assert(PLIANT_OFFSET(WorldsF32, constants) == 304, "WorldsF32::constants");
static_assert(PLIANT_OFFSET(WorldsF32, states) == 320, "WorldsF32::states");
static_assert(PLIANT_OFFSET(WorldsF32, targets) == 336, "WorldsF32::targets");
static_assert(PLIANT_OFFSET(WorldsF32, parameters) == 352, "WorldsF32::parameters");
static_assert(PLIANT_OFFSET(WorldsF32, scratch) == 368, "WorldsF32::scratch");
static_assert(PLIANT_OFFSET(WorldsF32, contacts) == 384, "WorldsF32::contacts");

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
static_assert(sizeof(WorldsF64) == 400 && alignof(WorldsF64) == 8, "WorldsF64");
static_assert(PLIANT_OFFSET(WorldsF64, plan) == 0, "WorldsF64::plan");
static_assert(PLIANT_OFFSET(WorldsF64, constants) == 304, "WorldsF64::constants");
static_assert(PLIANT_OFFSET(WorldsF64, states) == 320, "WorldsF64::states");
static_assert(PLIANT_OFFSET(WorldsF64, targets) == 336, "WorldsF64::targets");
static_assert(PLIANT_OFFSET(WorldsF64, parameters) == 352, "WorldsF64::parameters");
static_assert(PLIANT_OFFSET(WorldsF64, scratch) == 368, "WorldsF64::scratch");
static_assert(PLIANT_OFFSET(WorldsF64, contacts) == 384, "WorldsF64::contacts");

// Exclusive prefix sums within tiles of `SCAN_TILE` elements, and the sum of each tile.
struct ScanTilesParameters {
    // Numbers to add up.
    Span<uint32_t> input;
    // Sum of the numbers before each one in its tile; may be `input`.
    Span<uint32_t> output;
    // Sum of each tile.
    Span<uint32_t> tile_sums;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ScanTilesParameters) == 56 && alignof(ScanTilesParameters) == 8, "ScanTilesParameters");
static_assert(PLIANT_OFFSET(ScanTilesParameters, input) == 0, "ScanTilesParameters::input");
static_assert(PLIANT_OFFSET(ScanTilesParameters, output) == 16, "ScanTilesParameters::output");
static_assert(PLIANT_OFFSET(ScanTilesParameters, tile_sums) == 32, "ScanTilesParameters::tile_sums");
static_assert(PLIANT_OFFSET(ScanTilesParameters, count) == 48, "ScanTilesParameters::count");
static_assert(PLIANT_OFFSET(ScanTilesParameters, unused) == 52, "ScanTilesParameters::unused");

// Exclusive prefix sums of the tiles' sums, in place, by a single block.
struct ScanTileSumsParameters {
    // Sum of each tile; becomes the sum of all tiles before it.
    Span<uint32_t> tile_sums;
    // The sum of everything; one element.
    Span<uint32_t> total;
    // Number of tiles.
    uint32_t tiles;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ScanTileSumsParameters) == 40 && alignof(ScanTileSumsParameters) == 8, "ScanTileSumsParameters");
static_assert(PLIANT_OFFSET(ScanTileSumsParameters, tile_sums) == 0, "ScanTileSumsParameters::tile_sums");
static_assert(PLIANT_OFFSET(ScanTileSumsParameters, total) == 16, "ScanTileSumsParameters::total");
static_assert(PLIANT_OFFSET(ScanTileSumsParameters, tiles) == 32, "ScanTileSumsParameters::tiles");
static_assert(PLIANT_OFFSET(ScanTileSumsParameters, unused) == 36, "ScanTileSumsParameters::unused");

// Adds to each element what lies before its tile.
struct ScanAddOffsetsParameters {
    // Prefix sums within tiles; become those of the whole.
    Span<uint32_t> output;
    // Sum of all tiles before each.
    Span<uint32_t> tile_offsets;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ScanAddOffsetsParameters) == 40 && alignof(ScanAddOffsetsParameters) == 8, "ScanAddOffsetsParameters");
static_assert(PLIANT_OFFSET(ScanAddOffsetsParameters, output) == 0, "ScanAddOffsetsParameters::output");
static_assert(PLIANT_OFFSET(ScanAddOffsetsParameters, tile_offsets) == 16, "ScanAddOffsetsParameters::tile_offsets");
static_assert(PLIANT_OFFSET(ScanAddOffsetsParameters, count) == 32, "ScanAddOffsetsParameters::count");
static_assert(PLIANT_OFFSET(ScanAddOffsetsParameters, unused) == 36, "ScanAddOffsetsParameters::unused");

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
static_assert(sizeof(SortCountDigitsParameters) == 48 && alignof(SortCountDigitsParameters) == 8, "SortCountDigitsParameters");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, keys) == 0, "SortCountDigitsParameters::keys");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, counts) == 16, "SortCountDigitsParameters::counts");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, count) == 32, "SortCountDigitsParameters::count");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, tiles) == 36, "SortCountDigitsParameters::tiles");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, digit) == 40, "SortCountDigitsParameters::digit");

// Moves keys and values to where their digit belongs, keys of equal digits in the order they had.
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
static_assert(sizeof(SortScatterParameters) == 96 && alignof(SortScatterParameters) == 8, "SortScatterParameters");
static_assert(PLIANT_OFFSET(SortScatterParameters, keys) == 0, "SortScatterParameters::keys");
static_assert(PLIANT_OFFSET(SortScatterParameters, values) == 16, "SortScatterParameters::values");
static_assert(PLIANT_OFFSET(SortScatterParameters, sorted_keys) == 32, "SortScatterParameters::sorted_keys");
static_assert(PLIANT_OFFSET(SortScatterParameters, sorted_values) == 48, "SortScatterParameters::sorted_values");
static_assert(PLIANT_OFFSET(SortScatterParameters, offsets) == 64, "SortScatterParameters::offsets");
static_assert(PLIANT_OFFSET(SortScatterParameters, count) == 80, "SortScatterParameters::count");
static_assert(PLIANT_OFFSET(SortScatterParameters, tiles) == 84, "SortScatterParameters::tiles");
static_assert(PLIANT_OFFSET(SortScatterParameters, digit) == 88, "SortScatterParameters::digit");

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
static_assert(sizeof(SumTilesF32Parameters) == 40 && alignof(SumTilesF32Parameters) == 8, "SumTilesF32Parameters");
static_assert(PLIANT_OFFSET(SumTilesF32Parameters, input) == 0, "SumTilesF32Parameters::input");
static_assert(PLIANT_OFFSET(SumTilesF32Parameters, tile_sums) == 16, "SumTilesF32Parameters::tile_sums");
static_assert(PLIANT_OFFSET(SumTilesF32Parameters, count) == 32, "SumTilesF32Parameters::count");
static_assert(PLIANT_OFFSET(SumTilesF32Parameters, unused) == 36, "SumTilesF32Parameters::unused");

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
static_assert(sizeof(SumTilesF64Parameters) == 40 && alignof(SumTilesF64Parameters) == 8, "SumTilesF64Parameters");
static_assert(PLIANT_OFFSET(SumTilesF64Parameters, input) == 0, "SumTilesF64Parameters::input");
static_assert(PLIANT_OFFSET(SumTilesF64Parameters, tile_sums) == 16, "SumTilesF64Parameters::tile_sums");
static_assert(PLIANT_OFFSET(SumTilesF64Parameters, count) == 32, "SumTilesF64Parameters::count");
static_assert(PLIANT_OFFSET(SumTilesF64Parameters, unused) == 36, "SumTilesF64Parameters::unused");

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
static_assert(sizeof(SumOfTilesParameters) == 40 && alignof(SumOfTilesParameters) == 8, "SumOfTilesParameters");
static_assert(PLIANT_OFFSET(SumOfTilesParameters, tile_sums) == 0, "SumOfTilesParameters::tile_sums");
static_assert(PLIANT_OFFSET(SumOfTilesParameters, total) == 16, "SumOfTilesParameters::total");
static_assert(PLIANT_OFFSET(SumOfTilesParameters, tiles) == 32, "SumOfTilesParameters::tiles");
static_assert(PLIANT_OFFSET(SumOfTilesParameters, unused) == 36, "SumOfTilesParameters::unused");

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
static_assert(sizeof(MaxTilesF32Parameters) == 40 && alignof(MaxTilesF32Parameters) == 8, "MaxTilesF32Parameters");
static_assert(PLIANT_OFFSET(MaxTilesF32Parameters, input) == 0, "MaxTilesF32Parameters::input");
static_assert(PLIANT_OFFSET(MaxTilesF32Parameters, tile_maxima) == 16, "MaxTilesF32Parameters::tile_maxima");
static_assert(PLIANT_OFFSET(MaxTilesF32Parameters, count) == 32, "MaxTilesF32Parameters::count");
static_assert(PLIANT_OFFSET(MaxTilesF32Parameters, unused) == 36, "MaxTilesF32Parameters::unused");

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
static_assert(sizeof(MaxTilesF64Parameters) == 40 && alignof(MaxTilesF64Parameters) == 8, "MaxTilesF64Parameters");
static_assert(PLIANT_OFFSET(MaxTilesF64Parameters, input) == 0, "MaxTilesF64Parameters::input");
static_assert(PLIANT_OFFSET(MaxTilesF64Parameters, tile_maxima) == 16, "MaxTilesF64Parameters::tile_maxima");
static_assert(PLIANT_OFFSET(MaxTilesF64Parameters, count) == 32, "MaxTilesF64Parameters::count");
static_assert(PLIANT_OFFSET(MaxTilesF64Parameters, unused) == 36, "MaxTilesF64Parameters::unused");

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
static_assert(sizeof(MaxOfTilesParameters) == 40 && alignof(MaxOfTilesParameters) == 8, "MaxOfTilesParameters");
static_assert(PLIANT_OFFSET(MaxOfTilesParameters, tile_maxima) == 0, "MaxOfTilesParameters::tile_maxima");
static_assert(PLIANT_OFFSET(MaxOfTilesParameters, maximum) == 16, "MaxOfTilesParameters::maximum");
static_assert(PLIANT_OFFSET(MaxOfTilesParameters, tiles) == 32, "MaxOfTilesParameters::tiles");
static_assert(PLIANT_OFFSET(MaxOfTilesParameters, unused) == 36, "MaxOfTilesParameters::unused");

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
static_assert(sizeof(ProbeWarpParameters) == 48 && alignof(ProbeWarpParameters) == 8, "ProbeWarpParameters");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, input) == 0, "ProbeWarpParameters::input");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, output) == 16, "ProbeWarpParameters::output");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, operation) == 32, "ProbeWarpParameters::operation");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, mask) == 36, "ProbeWarpParameters::mask");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, parameter) == 40, "ProbeWarpParameters::parameter");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, width) == 44, "ProbeWarpParameters::width");

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
static_assert(sizeof(ProbeShuffleF64Parameters) == 40 && alignof(ProbeShuffleF64Parameters) == 8, "ProbeShuffleF64Parameters");
static_assert(PLIANT_OFFSET(ProbeShuffleF64Parameters, input) == 0, "ProbeShuffleF64Parameters::input");
static_assert(PLIANT_OFFSET(ProbeShuffleF64Parameters, output) == 16, "ProbeShuffleF64Parameters::output");
static_assert(PLIANT_OFFSET(ProbeShuffleF64Parameters, lane_mask) == 32, "ProbeShuffleF64Parameters::lane_mask");
static_assert(PLIANT_OFFSET(ProbeShuffleF64Parameters, unused) == 36, "ProbeShuffleF64Parameters::unused");

// Probe: every thread applies each atomic operation to cells that all threads share.
struct ProbeAtomicsParameters {
    // An operand for each thread.
    Span<uint32_t> operands;
    // u32 cells: add, subtract, minimum, maximum, and, or, exclusive or, exchange, compare-and-swap count.
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
static_assert(sizeof(ProbeAtomicsParameters) == 120 && alignof(ProbeAtomicsParameters) == 8, "ProbeAtomicsParameters");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, operands) == 0, "ProbeAtomicsParameters::operands");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, words) == 16, "ProbeAtomicsParameters::words");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, integers) == 32, "ProbeAtomicsParameters::integers");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, longs) == 48, "ProbeAtomicsParameters::longs");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, floats) == 64, "ProbeAtomicsParameters::floats");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, doubles) == 80, "ProbeAtomicsParameters::doubles");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, tickets) == 96, "ProbeAtomicsParameters::tickets");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, count) == 112, "ProbeAtomicsParameters::count");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, unused) == 116, "ProbeAtomicsParameters::unused");

// Probe: each block turns its values by one place through shared memory, and counts with barriers.
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
static_assert(sizeof(ProbeBlockParameters) == 64 && alignof(ProbeBlockParameters) == 8, "ProbeBlockParameters");
static_assert(PLIANT_OFFSET(ProbeBlockParameters, input) == 0, "ProbeBlockParameters::input");
static_assert(PLIANT_OFFSET(ProbeBlockParameters, next) == 16, "ProbeBlockParameters::next");
static_assert(PLIANT_OFFSET(ProbeBlockParameters, previous) == 32, "ProbeBlockParameters::previous");
static_assert(PLIANT_OFFSET(ProbeBlockParameters, votes) == 48, "ProbeBlockParameters::votes");

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
static_assert(sizeof(ProbeGridParameters) == 40 && alignof(ProbeGridParameters) == 8, "ProbeGridParameters");
static_assert(PLIANT_OFFSET(ProbeGridParameters, barrier) == 0, "ProbeGridParameters::barrier");
static_assert(PLIANT_OFFSET(ProbeGridParameters, values) == 16, "ProbeGridParameters::values");
static_assert(PLIANT_OFFSET(ProbeGridParameters, rounds) == 32, "ProbeGridParameters::rounds");
static_assert(PLIANT_OFFSET(ProbeGridParameters, unused) == 36, "ProbeGridParameters::unused");

// Probe: threads race for cells, so that the result tells the order they ran in.
struct ProbeRacesParameters {
    // The thread that wrote last; one element.
    Span<uint32_t> last;
    // A sum of f32 in the order of the threads; one element.
    Span<float> sum;
};
static_assert(sizeof(ProbeRacesParameters) == 32 && alignof(ProbeRacesParameters) == 8, "ProbeRacesParameters");
static_assert(PLIANT_OFFSET(ProbeRacesParameters, last) == 0, "ProbeRacesParameters::last");
static_assert(PLIANT_OFFSET(ProbeRacesParameters, sum) == 16, "ProbeRacesParameters::sum");

// Probe: bits and roots, a thread a value.
struct ProbeArithmeticParameters {
    // Values.
    Span<uint32_t> input;
    // For each value, its set bits, lowest set bit from 1, leading zeros, and bits reversed.
    Span<Array<uint32_t, 4>> bits;
    // For each value, the reciprocal root of 1 + the value, in f32 and in f64.
    Span<Array<double, 2>> roots;
};
static_assert(sizeof(ProbeArithmeticParameters) == 48 && alignof(ProbeArithmeticParameters) == 8, "ProbeArithmeticParameters");
static_assert(PLIANT_OFFSET(ProbeArithmeticParameters, input) == 0, "ProbeArithmeticParameters::input");
static_assert(PLIANT_OFFSET(ProbeArithmeticParameters, bits) == 16, "ProbeArithmeticParameters::bits");
static_assert(PLIANT_OFFSET(ProbeArithmeticParameters, roots) == 32, "ProbeArithmeticParameters::roots");

// Probe, emulated only: breaks one rule, so that a test can see it told.
struct ProbeMisuseParameters {
    // Memory to miss.
    Span<uint32_t> cells;
    // Which rule: see `kernels/misuse.cu`.
    uint32_t rule;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ProbeMisuseParameters) == 24 && alignof(ProbeMisuseParameters) == 8, "ProbeMisuseParameters");
static_assert(PLIANT_OFFSET(ProbeMisuseParameters, cells) == 0, "ProbeMisuseParameters::cells");
static_assert(PLIANT_OFFSET(ProbeMisuseParameters, rule) == 16, "ProbeMisuseParameters::rule");
static_assert(PLIANT_OFFSET(ProbeMisuseParameters, unused) == 20, "ProbeMisuseParameters::unused");

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
    uint32_t substep;
    // Blocks that there is room for.
    uint32_t capacity;
};
static_assert(sizeof(MpmSortClassifyParameters) == 176 && alignof(MpmSortClassifyParameters) == 8, "MpmSortClassifyParameters");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, particles) == 0, "MpmSortClassifyParameters::particles");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, table_keys) == 88, "MpmSortClassifyParameters::table_keys");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, table_first) == 104, "MpmSortClassifyParameters::table_first");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, places) == 120, "MpmSortClassifyParameters::places");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, cells) == 136, "MpmSortClassifyParameters::cells");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, status) == 152, "MpmSortClassifyParameters::status");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, substep) == 168, "MpmSortClassifyParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, capacity) == 172, "MpmSortClassifyParameters::capacity");

// Clears what a sort writes anew of the node blocks; unless it is not to run, when the last one's stays.
struct MpmSortClearParameters {
    // Particle blocks around each node block.
    Span<uint32_t> particles_of_nodes;
    // Table of node blocks.
    Span<uint64_t> table_keys;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortClearParameters) == 56 && alignof(MpmSortClearParameters) == 8, "MpmSortClearParameters");
static_assert(PLIANT_OFFSET(MpmSortClearParameters, particles_of_nodes) == 0, "MpmSortClearParameters::particles_of_nodes");
static_assert(PLIANT_OFFSET(MpmSortClearParameters, table_keys) == 16, "MpmSortClearParameters::table_keys");
static_assert(PLIANT_OFFSET(MpmSortClearParameters, status) == 32, "MpmSortClearParameters::status");
static_assert(PLIANT_OFFSET(MpmSortClearParameters, substep) == 48, "MpmSortClearParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortClearParameters, unused) == 52, "MpmSortClearParameters::unused");

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
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortMarkFirstParameters) == 72 && alignof(MpmSortMarkFirstParameters) == 8, "MpmSortMarkFirstParameters");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, places) == 0, "MpmSortMarkFirstParameters::places");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, table_first) == 16, "MpmSortMarkFirstParameters::table_first");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, is_first) == 32, "MpmSortMarkFirstParameters::is_first");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, status) == 48, "MpmSortMarkFirstParameters::status");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, substep) == 64, "MpmSortMarkFirstParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, unused) == 68, "MpmSortMarkFirstParameters::unused");

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
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortNumberBlocksParameters) == 192 && alignof(MpmSortNumberBlocksParameters) == 8, "MpmSortNumberBlocksParameters");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, particles) == 0, "MpmSortNumberBlocksParameters::particles");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, is_first) == 88, "MpmSortNumberBlocksParameters::is_first");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, numbers) == 104, "MpmSortNumberBlocksParameters::numbers");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, places) == 120, "MpmSortNumberBlocksParameters::places");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, table_numbers) == 136, "MpmSortNumberBlocksParameters::table_numbers");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, new_keys) == 152, "MpmSortNumberBlocksParameters::new_keys");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, status) == 168, "MpmSortNumberBlocksParameters::status");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, substep) == 184, "MpmSortNumberBlocksParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, unused) == 188, "MpmSortNumberBlocksParameters::unused");

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
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortMakeKeysParameters) == 104 && alignof(MpmSortMakeKeysParameters) == 8, "MpmSortMakeKeysParameters");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, places) == 0, "MpmSortMakeKeysParameters::places");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, cells) == 16, "MpmSortMakeKeysParameters::cells");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, table_numbers) == 32, "MpmSortMakeKeysParameters::table_numbers");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, keys) == 48, "MpmSortMakeKeysParameters::keys");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, order) == 64, "MpmSortMakeKeysParameters::order");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, status) == 80, "MpmSortMakeKeysParameters::status");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, substep) == 96, "MpmSortMakeKeysParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, unused) == 100, "MpmSortMakeKeysParameters::unused");

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
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortGatherParameters) == 224 && alignof(MpmSortGatherParameters) == 8, "MpmSortGatherParameters");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, particles) == 0, "MpmSortGatherParameters::particles");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, keys) == 88, "MpmSortGatherParameters::keys");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, order) == 104, "MpmSortGatherParameters::order");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, new_keys) == 120, "MpmSortGatherParameters::new_keys");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, block_starts) == 136, "MpmSortGatherParameters::block_starts");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, spare_rows) == 152, "MpmSortGatherParameters::spare_rows");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, spare_ids) == 168, "MpmSortGatherParameters::spare_ids");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, spare_materials) == 184, "MpmSortGatherParameters::spare_materials");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, status) == 200, "MpmSortGatherParameters::status");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, substep) == 216, "MpmSortGatherParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, unused) == 220, "MpmSortGatherParameters::unused");

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
    // Number among the elements of cloth of each of the last particles that were added; empty without cloth.
    Span<uint32_t> cloth_elements;
    // Index of each element's particle.
    Span<uint32_t> cloth_places;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortStoreParameters) == 224 && alignof(MpmSortStoreParameters) == 8, "MpmSortStoreParameters");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, particles) == 0, "MpmSortStoreParameters::particles");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, keys) == 88, "MpmSortStoreParameters::keys");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, new_keys) == 104, "MpmSortStoreParameters::new_keys");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, spare_rows) == 120, "MpmSortStoreParameters::spare_rows");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, spare_ids) == 136, "MpmSortStoreParameters::spare_ids");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, spare_materials) == 152, "MpmSortStoreParameters::spare_materials");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, cloth_elements) == 168, "MpmSortStoreParameters::cloth_elements");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, cloth_places) == 184, "MpmSortStoreParameters::cloth_places");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, status) == 200, "MpmSortStoreParameters::status");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, substep) == 216, "MpmSortStoreParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, unused) == 220, "MpmSortStoreParameters::unused");

// Finds node blocks, 1: for each particle block and neighbour, the first pair that names the same node block.
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
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortFindOwnersParameters) == 120 && alignof(MpmSortFindOwnersParameters) == 8, "MpmSortFindOwnersParameters");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, block_count) == 0, "MpmSortFindOwnersParameters::block_count");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, block_keys) == 16, "MpmSortFindOwnersParameters::block_keys");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, table_keys) == 32, "MpmSortFindOwnersParameters::table_keys");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, table_numbers) == 48, "MpmSortFindOwnersParameters::table_numbers");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, owners) == 64, "MpmSortFindOwnersParameters::owners");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, is_owner) == 80, "MpmSortFindOwnersParameters::is_owner");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, status) == 96, "MpmSortFindOwnersParameters::status");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, substep) == 112, "MpmSortFindOwnersParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, unused) == 116, "MpmSortFindOwnersParameters::unused");

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
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortPlaceNodesParameters) == 184 && alignof(MpmSortPlaceNodesParameters) == 8, "MpmSortPlaceNodesParameters");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, block_count) == 0, "MpmSortPlaceNodesParameters::block_count");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, block_keys) == 16, "MpmSortPlaceNodesParameters::block_keys");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, owners) == 32, "MpmSortPlaceNodesParameters::owners");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, slots) == 48, "MpmSortPlaceNodesParameters::slots");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, nodes_of_particles) == 64, "MpmSortPlaceNodesParameters::nodes_of_particles");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, particles_of_nodes) == 80, "MpmSortPlaceNodesParameters::particles_of_nodes");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, grid) == 96, "MpmSortPlaceNodesParameters::grid");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, status) == 160, "MpmSortPlaceNodesParameters::status");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, substep) == 176, "MpmSortPlaceNodesParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, unused) == 180, "MpmSortPlaceNodesParameters::unused");

// Particles to grid, a block of threads a particle block, into its window.
struct MpmParticlesToGridParameters {
    // Particles.
    ParticleRows particles;
    // One element.
    Span<MpmSettings> settings;
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // First particle of each block, and the end of the last.
    Span<uint32_t> block_starts;
    // Momentum [N s] and mass [kg] of `MPM_WINDOW_NODES` nodes a particle block.
    Span<Array<float, 4>> windows;
    // Bounds of the box in each window that is filled: lowest node, then the end.
    Span<Array<int32_t, 6>> boxes;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The materials, where granular particles alone are transferred, without forces; else empty.
    Span<MpmMaterial> granular_of;
    // The substep in the step.
    uint32_t substep;
    // Number of materials that are not cloth; 2^32 - 1 without cloth.
    uint32_t cloth_from;
};
static_assert(sizeof(MpmParticlesToGridParameters) == 208 && alignof(MpmParticlesToGridParameters) == 8, "MpmParticlesToGridParameters");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, particles) == 0, "MpmParticlesToGridParameters::particles");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, settings) == 88, "MpmParticlesToGridParameters::settings");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, block_count) == 104, "MpmParticlesToGridParameters::block_count");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, block_starts) == 120, "MpmParticlesToGridParameters::block_starts");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, windows) == 136, "MpmParticlesToGridParameters::windows");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, boxes) == 152, "MpmParticlesToGridParameters::boxes");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, status) == 168, "MpmParticlesToGridParameters::status");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, granular_of) == 184, "MpmParticlesToGridParameters::granular_of");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, substep) == 200, "MpmParticlesToGridParameters::substep");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, cloth_from) == 204, "MpmParticlesToGridParameters::cloth_from");

// Particles to grid by atomic additions, a block of threads a particle block.
struct MpmAtomicToGridParameters {
    // As without atomics; the windows are not used.
    MpmParticlesToGridParameters transfer;
    // Momentum [N s] and mass [kg] of each node; zero at first.
    Span<Array<float, 4>> nodes;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
};
static_assert(sizeof(MpmAtomicToGridParameters) == 240 && alignof(MpmAtomicToGridParameters) == 8, "MpmAtomicToGridParameters");
static_assert(PLIANT_OFFSET(MpmAtomicToGridParameters, transfer) == 0, "MpmAtomicToGridParameters::transfer");
static_assert(PLIANT_OFFSET(MpmAtomicToGridParameters, nodes) == 208, "MpmAtomicToGridParameters::nodes");
static_assert(PLIANT_OFFSET(MpmAtomicToGridParameters, nodes_of_particles) == 224, "MpmAtomicToGridParameters::nodes_of_particles");

// The grid pass: momenta from the windows, or from the nodes themselves where there are no windows; free motion, boundary conditions, account.
struct MpmGridParameters {
    // The grid.
    GridNodes grid;
    // One element.
    Span<MpmSettings> settings;
    // Number of node blocks; one element.
    Span<uint32_t> node_count;
    // Particle blocks around each node block, plus one; zero for none.
    Span<uint32_t> particles_of_nodes;
    // The windows.
    Span<Array<float, 4>> windows;
    // Their boxes.
    Span<Array<int32_t, 6>> boxes;
    // Boundary conditions.
    Span<MpmPlane> planes;
    // Account of each node block: `MPM_ACCOUNT_ROW` entries. Empty for the nodes' velocities alone, without gravity and boundary
    // conditions.
    Span<double> accounts;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmGridParameters) == 200 && alignof(MpmGridParameters) == 8, "MpmGridParameters");
static_assert(PLIANT_OFFSET(MpmGridParameters, grid) == 0, "MpmGridParameters::grid");
static_assert(PLIANT_OFFSET(MpmGridParameters, settings) == 64, "MpmGridParameters::settings");
static_assert(PLIANT_OFFSET(MpmGridParameters, node_count) == 80, "MpmGridParameters::node_count");
static_assert(PLIANT_OFFSET(MpmGridParameters, particles_of_nodes) == 96, "MpmGridParameters::particles_of_nodes");
static_assert(PLIANT_OFFSET(MpmGridParameters, windows) == 112, "MpmGridParameters::windows");
static_assert(PLIANT_OFFSET(MpmGridParameters, boxes) == 128, "MpmGridParameters::boxes");
static_assert(PLIANT_OFFSET(MpmGridParameters, planes) == 144, "MpmGridParameters::planes");
static_assert(PLIANT_OFFSET(MpmGridParameters, accounts) == 160, "MpmGridParameters::accounts");
static_assert(PLIANT_OFFSET(MpmGridParameters, status) == 176, "MpmGridParameters::status");
static_assert(PLIANT_OFFSET(MpmGridParameters, substep) == 192, "MpmGridParameters::substep");
static_assert(PLIANT_OFFSET(MpmGridParameters, unused) == 196, "MpmGridParameters::unused");

// Adds the node blocks' accounts to the step's, and clears them; by a single block.
struct MpmCloseAccountParameters {
    // Number of node blocks; one element.
    Span<uint32_t> node_count;
    // Account of each node block: `MPM_ACCOUNT_ROW` entries.
    Span<double> accounts;
    // The step's; `MPM_ACCOUNT` elements.
    Span<double> total;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes next. Nothing happens where one before it has been stopped; what it left itself, when it was tried, is
    // left out.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmCloseAccountParameters) == 72 && alignof(MpmCloseAccountParameters) == 8, "MpmCloseAccountParameters");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, node_count) == 0, "MpmCloseAccountParameters::node_count");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, accounts) == 16, "MpmCloseAccountParameters::accounts");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, total) == 32, "MpmCloseAccountParameters::total");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, status) == 48, "MpmCloseAccountParameters::status");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, substep) == 64, "MpmCloseAccountParameters::substep");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, unused) == 68, "MpmCloseAccountParameters::unused");

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
static_assert(sizeof(MpmTotalTilesParameters) == 128 && alignof(MpmTotalTilesParameters) == 8, "MpmTotalTilesParameters");
static_assert(PLIANT_OFFSET(MpmTotalTilesParameters, particles) == 0, "MpmTotalTilesParameters::particles");
static_assert(PLIANT_OFFSET(MpmTotalTilesParameters, materials) == 88, "MpmTotalTilesParameters::materials");
static_assert(PLIANT_OFFSET(MpmTotalTilesParameters, tile_sums) == 104, "MpmTotalTilesParameters::tile_sums");
static_assert(PLIANT_OFFSET(MpmTotalTilesParameters, grid_spacing) == 120, "MpmTotalTilesParameters::grid_spacing");

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
static_assert(sizeof(MpmTotalsParameters) == 40 && alignof(MpmTotalsParameters) == 8, "MpmTotalsParameters");
static_assert(PLIANT_OFFSET(MpmTotalsParameters, tile_sums) == 0, "MpmTotalsParameters::tile_sums");
static_assert(PLIANT_OFFSET(MpmTotalsParameters, totals) == 16, "MpmTotalsParameters::totals");
static_assert(PLIANT_OFFSET(MpmTotalsParameters, tiles) == 32, "MpmTotalsParameters::tiles");
static_assert(PLIANT_OFFSET(MpmTotalsParameters, unused) == 36, "MpmTotalsParameters::unused");

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
    // Boxes of the windows.
    Span<Array<int32_t, 6>> boxes;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
    // The detail of each granular particle in this substep: `MPM_DETAIL_ROWS` rows as those of the particles. Empty where none is kept.
    Span<float> details;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmGridToParticlesParameters) == 288 && alignof(MpmGridToParticlesParameters) == 8, "MpmGridToParticlesParameters");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, particles) == 0, "MpmGridToParticlesParameters::particles");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, grid) == 88, "MpmGridToParticlesParameters::grid");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, settings) == 152, "MpmGridToParticlesParameters::settings");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, materials) == 168, "MpmGridToParticlesParameters::materials");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, block_count) == 184, "MpmGridToParticlesParameters::block_count");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, block_starts) == 200, "MpmGridToParticlesParameters::block_starts");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, boxes) == 216, "MpmGridToParticlesParameters::boxes");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, nodes_of_particles) == 232, "MpmGridToParticlesParameters::nodes_of_particles");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, details) == 248, "MpmGridToParticlesParameters::details");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, status) == 264, "MpmGridToParticlesParameters::status");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, substep) == 280, "MpmGridToParticlesParameters::substep");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, unused) == 284, "MpmGridToParticlesParameters::unused");

// Finds the detail of granular particles from what they alone gave the grid, before the substep that gives it back.
struct MpmFindDetailsParameters {
    // As for the transfer to the particles, which are not changed.
    MpmGridToParticlesParameters transfer;
};
static_assert(sizeof(MpmFindDetailsParameters) == 288 && alignof(MpmFindDetailsParameters) == 8, "MpmFindDetailsParameters");
static_assert(PLIANT_OFFSET(MpmFindDetailsParameters, transfer) == 0, "MpmFindDetailsParameters::transfer");

// Lets the pins act on the grid: sum_i w_ip v_i = v_pin, by Gauss-Seidel; by a single block.
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
    // Node of the grid at each place of each pin's stencil: `CLOTH_REACH` a pin.
    Span<uint32_t> reach;
    // Its weight; zero where it has no mass.
    Span<double> weights;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
    // See `MPM_STATUS_LIMIT`(super::MPM_STATUS_LIMIT).
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ClothHoldGridParameters) == 464 && alignof(ClothHoldGridParameters) == 8, "ClothHoldGridParameters");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, particles) == 0, "ClothHoldGridParameters::particles");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, grid) == 88, "ClothHoldGridParameters::grid");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, settings) == 152, "ClothHoldGridParameters::settings");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, tables) == 168, "ClothHoldGridParameters::tables");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, pins) == 296, "ClothHoldGridParameters::pins");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, reach) == 392, "ClothHoldGridParameters::reach");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, weights) == 408, "ClothHoldGridParameters::weights");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, nodes_of_particles) == 424, "ClothHoldGridParameters::nodes_of_particles");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, status) == 440, "ClothHoldGridParameters::status");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, substep) == 456, "ClothHoldGridParameters::substep");
static_assert(PLIANT_OFFSET(ClothHoldGridParameters, unused) == 460, "ClothHoldGridParameters::unused");

// All that only sheets do in a substep, after the transfer to the particles: pins, the tie of faces and vertices, steps of the mesh, stress,
// forces. Cooperative.
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
    // Of each vertex, its position from there [cells], and nothing.
    Span<Array<float, 4>> locals;
    // Of each vertex, its velocity [m/s], and 1 / mass [1/kg]; 0 where a pin holds it.
    Span<Array<float, 4>> velocities;
    // Steps of each sheet's mesh.
    Span<ClothMeshSteps> mesh;
    // Of each vertex, how far it is in the mesh's steps from where the substep left it [cells], and nothing.
    Span<Array<float, 4>> ways;
    // Of each vertex, its velocity in the mesh's steps [m/s], and nothing.
    Span<Array<float, 4>> mesh_velocities;
    // Of each face, the mean of its Biot stresses so far: 11, 12, 22 [Pa], and nothing.
    Span<Array<float, 4>> biot;
    // Of each face, its centroid's velocity [m/s], and nothing.
    Span<Array<float, 4>> face_velocities;
    // Of each face, the impulse on its vertices in a sweep of the tie [N s], and nothing.
    Span<Array<float, 4>> impulses;
    // Forces on the corners of faces and hinges [N], and nothing.
    Span<Array<float, 4>> forces;
    // Memory of the barrier; `GRID_BARRIER_WORDS`(super::GRID_BARRIER_WORDS) words.
    Span<uint32_t> barrier;
    // See `MPM_STATUS_LIMIT`(super::MPM_STATUS_LIMIT).
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep;
    // Number of materials that are not cloth.
    uint32_t cloth_from;
};
static_assert(sizeof(ClothAdvanceParameters) == 528 && alignof(ClothAdvanceParameters) == 8, "ClothAdvanceParameters");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, particles) == 0, "ClothAdvanceParameters::particles");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, settings) == 88, "ClothAdvanceParameters::settings");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, tables) == 104, "ClothAdvanceParameters::tables");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, pins) == 232, "ClothAdvanceParameters::pins");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, corners) == 328, "ClothAdvanceParameters::corners");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, locals) == 344, "ClothAdvanceParameters::locals");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, velocities) == 360, "ClothAdvanceParameters::velocities");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, mesh) == 376, "ClothAdvanceParameters::mesh");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, ways) == 392, "ClothAdvanceParameters::ways");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, mesh_velocities) == 408, "ClothAdvanceParameters::mesh_velocities");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, biot) == 424, "ClothAdvanceParameters::biot");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, face_velocities) == 440, "ClothAdvanceParameters::face_velocities");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, impulses) == 456, "ClothAdvanceParameters::impulses");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, forces) == 472, "ClothAdvanceParameters::forces");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, barrier) == 488, "ClothAdvanceParameters::barrier");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, status) == 504, "ClothAdvanceParameters::status");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, substep) == 520, "ClothAdvanceParameters::substep");
static_assert(PLIANT_OFFSET(ClothAdvanceParameters, cloth_from) == 524, "ClothAdvanceParameters::cloth_from");

// Sums the energies of faces and hinges by tiles of `MPM_TOTAL_TILE`(super::MPM_TOTAL_TILE), as further tiles of the particles' totals.
struct ClothEnergyParameters {
    // Particles.
    ParticleRows particles;
    // Meshes.
    ClothTables tables;
    // `MPM_TOTALS`(super::MPM_TOTALS) entries a tile.
    Span<double> tile_sums;
    // Grid spacing h [m].
    double grid_spacing;
};
static_assert(sizeof(ClothEnergyParameters) == 240 && alignof(ClothEnergyParameters) == 8, "ClothEnergyParameters");
static_assert(PLIANT_OFFSET(ClothEnergyParameters, particles) == 0, "ClothEnergyParameters::particles");
static_assert(PLIANT_OFFSET(ClothEnergyParameters, tables) == 88, "ClothEnergyParameters::tables");
static_assert(PLIANT_OFFSET(ClothEnergyParameters, tile_sums) == 216, "ClothEnergyParameters::tile_sums");
static_assert(PLIANT_OFFSET(ClothEnergyParameters, grid_spacing) == 232, "ClothEnergyParameters::grid_spacing");

// Probe: finds node blocks by their keys.
struct ProbeFindNodesParameters {
    // The grid.
    GridNodes grid;
    // Keys.
    Span<Array<int32_t, 3>> keys;
    // Slot of each one's block; 2^32 - 1 where there is none.
    Span<uint32_t> slots;
};
static_assert(sizeof(ProbeFindNodesParameters) == 96 && alignof(ProbeFindNodesParameters) == 8, "ProbeFindNodesParameters");
static_assert(PLIANT_OFFSET(ProbeFindNodesParameters, grid) == 0, "ProbeFindNodesParameters::grid");
static_assert(PLIANT_OFFSET(ProbeFindNodesParameters, keys) == 64, "ProbeFindNodesParameters::keys");
static_assert(PLIANT_OFFSET(ProbeFindNodesParameters, slots) == 80, "ProbeFindNodesParameters::slots");

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
    float delta;
};
static_assert(sizeof(ProbeConstitutiveParameters) == 56 && alignof(ProbeConstitutiveParameters) == 8, "ProbeConstitutiveParameters");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, materials) == 0, "ProbeConstitutiveParameters::materials");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, trials) == 16, "ProbeConstitutiveParameters::trials");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, responses) == 32, "ProbeConstitutiveParameters::responses");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, material) == 48, "ProbeConstitutiveParameters::material");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, delta) == 52, "ProbeConstitutiveParameters::delta");

// Probe: signed distances of points to one geometry.
struct ProbeContactDistanceParameters {
    // The geometries.
    ContactShapes shapes;
    // Points relative to the shape's middle [m].
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
static_assert(sizeof(ProbeContactDistanceParameters) == 216 && alignof(ProbeContactDistanceParameters) == 8, "ProbeContactDistanceParameters");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, shapes) == 0, "ProbeContactDistanceParameters::shapes");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, points) == 112, "ProbeContactDistanceParameters::points");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, sides) == 128, "ProbeContactDistanceParameters::sides");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, distances) == 144, "ProbeContactDistanceParameters::distances");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, normals) == 160, "ProbeContactDistanceParameters::normals");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, features) == 176, "ProbeContactDistanceParameters::features");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, lower_bounds) == 192, "ProbeContactDistanceParameters::lower_bounds");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, geometry) == 208, "ProbeContactDistanceParameters::geometry");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, unused) == 212, "ProbeContactDistanceParameters::unused");

// Places the geometries for a substep.
struct ContactPlaceParameters {
    // The geometries.
    ContactShapes shapes;
    // Bodies, substep by substep.
    Span<ContactBody> bodies;
    // Geometries at their poses.
    Span<ContactPlaced> placed;
    // One element.
    Span<ContactClock> clock;
    // One element.
    Span<ContactState> state;
    // See `MPM_STATUS_LIMIT`; empty for no limit.
    Span<uint32_t> limit;
    // Grid spacing [m].
    double grid_spacing;
    // Number of bodies.
    uint32_t body_count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ContactPlaceParameters) == 208 && alignof(ContactPlaceParameters) == 8, "ContactPlaceParameters");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, shapes) == 0, "ContactPlaceParameters::shapes");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, bodies) == 112, "ContactPlaceParameters::bodies");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, placed) == 128, "ContactPlaceParameters::placed");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, clock) == 144, "ContactPlaceParameters::clock");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, state) == 160, "ContactPlaceParameters::state");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, limit) == 176, "ContactPlaceParameters::limit");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, grid_spacing) == 192, "ContactPlaceParameters::grid_spacing");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, body_count) == 200, "ContactPlaceParameters::body_count");
static_assert(PLIANT_OFFSET(ContactPlaceParameters, unused) == 204, "ContactPlaceParameters::unused");

// Finds which particles touch which geometries.
struct ContactFindParameters {
    // Particles.
    ParticleRows particles;
    // The geometries.
    ContactShapes shapes;
    // Geometries at their poses.
    Span<ContactPlaced> placed;
    // The last substep.
    ContactMemories memories;
    // One element.
    Span<ContactClock> clock;
    // Geometries of a particle, `CONTACT_SLOTS` rows of them.
    Span<uint32_t> touched;
    // Each particle's number of geometries, and 256 times that of those before it in its tile.
    Span<uint32_t> counts;
    // Contacts of each tile.
    Span<uint32_t> tiles;
    // What decides.
    ContactRules rules;
};
static_assert(sizeof(ContactFindParameters) == 368 && alignof(ContactFindParameters) == 8, "ContactFindParameters");
static_assert(PLIANT_OFFSET(ContactFindParameters, particles) == 0, "ContactFindParameters::particles");
static_assert(PLIANT_OFFSET(ContactFindParameters, shapes) == 88, "ContactFindParameters::shapes");
static_assert(PLIANT_OFFSET(ContactFindParameters, placed) == 200, "ContactFindParameters::placed");
static_assert(PLIANT_OFFSET(ContactFindParameters, memories) == 216, "ContactFindParameters::memories");
static_assert(PLIANT_OFFSET(ContactFindParameters, clock) == 264, "ContactFindParameters::clock");
static_assert(PLIANT_OFFSET(ContactFindParameters, touched) == 280, "ContactFindParameters::touched");
static_assert(PLIANT_OFFSET(ContactFindParameters, counts) == 296, "ContactFindParameters::counts");
static_assert(PLIANT_OFFSET(ContactFindParameters, tiles) == 312, "ContactFindParameters::tiles");
static_assert(PLIANT_OFFSET(ContactFindParameters, rules) == 328, "ContactFindParameters::rules");

// Writes the contacts.
struct ContactFillParameters {
    // Particles.
    ParticleRows particles;
    // The geometries.
    ContactShapes shapes;
    // Geometries at their poses.
    Span<ContactPlaced> placed;
    // The last substep.
    ContactMemories memories;
    // One element.
    Span<ContactClock> clock;
    // See `Kernel::ContactFind`.
    Span<uint32_t> touched;
    // See `Kernel::ContactFind`.
    Span<uint32_t> counts;
    // Contacts of the tiles before each one.
    Span<uint32_t> tiles;
    // Contacts of all tiles; one element.
    Span<uint32_t> total;
    // What decides.
    ContactRules rules;
    // For each material how far from the particle contact may act at most [m], zero but for granular ones, and the friction with bodies,
    // negative where it is the body's; empty where no material is granular.
    Span<Array<float, 2>> grains;
    // The contacts.
    ContactArrays contacts;
    // See `MPM_STATUS_LIMIT`: contacts for which there is no room stop the substep; where it is empty, they are left out.
    Span<uint32_t> status;
};
static_assert(sizeof(ContactFillParameters) == 736 && alignof(ContactFillParameters) == 8, "ContactFillParameters");
static_assert(PLIANT_OFFSET(ContactFillParameters, particles) == 0, "ContactFillParameters::particles");
static_assert(PLIANT_OFFSET(ContactFillParameters, shapes) == 88, "ContactFillParameters::shapes");
static_assert(PLIANT_OFFSET(ContactFillParameters, placed) == 200, "ContactFillParameters::placed");
static_assert(PLIANT_OFFSET(ContactFillParameters, memories) == 216, "ContactFillParameters::memories");
static_assert(PLIANT_OFFSET(ContactFillParameters, clock) == 264, "ContactFillParameters::clock");
static_assert(PLIANT_OFFSET(ContactFillParameters, touched) == 280, "ContactFillParameters::touched");
static_assert(PLIANT_OFFSET(ContactFillParameters, counts) == 296, "ContactFillParameters::counts");
static_assert(PLIANT_OFFSET(ContactFillParameters, tiles) == 312, "ContactFillParameters::tiles");
static_assert(PLIANT_OFFSET(ContactFillParameters, total) == 328, "ContactFillParameters::total");
static_assert(PLIANT_OFFSET(ContactFillParameters, rules) == 344, "ContactFillParameters::rules");
static_assert(PLIANT_OFFSET(ContactFillParameters, grains) == 384, "ContactFillParameters::grains");
static_assert(PLIANT_OFFSET(ContactFillParameters, contacts) == 400, "ContactFillParameters::contacts");
static_assert(PLIANT_OFFSET(ContactFillParameters, status) == 720, "ContactFillParameters::status");

// Remembers the contacts, and sums what they give each body.
struct ContactExchangeParameters {
    // The contacts.
    ContactArrays contacts;
    // The geometries.
    ContactShapes shapes;
    // What becomes of them.
    ContactMemories memories;
    // What the solve found.
    ContactSolution solution;
    // Bodies, substep by substep.
    Span<ContactBody> bodies;
    // One element.
    Span<ContactClock> clock;
    // Sums of each tile of contacts, then of nodes, for each body and the walls of the grid; zero at first.
    Span<Array<double, 7>> sums;
    // Grid spacing [m].
    double grid_spacing;
    // Number of bodies.
    uint32_t body_count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ContactExchangeParameters) == 624 && alignof(ContactExchangeParameters) == 8, "ContactExchangeParameters");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, contacts) == 0, "ContactExchangeParameters::contacts");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, shapes) == 320, "ContactExchangeParameters::shapes");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, memories) == 432, "ContactExchangeParameters::memories");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, solution) == 480, "ContactExchangeParameters::solution");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, bodies) == 560, "ContactExchangeParameters::bodies");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, clock) == 576, "ContactExchangeParameters::clock");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, sums) == 592, "ContactExchangeParameters::sums");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, grid_spacing) == 608, "ContactExchangeParameters::grid_spacing");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, body_count) == 616, "ContactExchangeParameters::body_count");
static_assert(PLIANT_OFFSET(ContactExchangeParameters, unused) == 620, "ContactExchangeParameters::unused");

// Writes the velocities of the touched nodes to the grid, and gives bodies what the solve left over there.
struct ContactExchangeNodesParameters {
    // The contacts.
    ContactArrays contacts;
    // Which touch which nodes.
    ConvexIncidence incidence;
    // What the solve found.
    ContactSolution solution;
    // Velocity [m/s] and mass [kg] of all nodes of the grid.
    Span<Array<float, 4>> nodes;
    // Bodies, substep by substep.
    Span<ContactBody> bodies;
    // One element.
    Span<ContactClock> clock;
    // See `Kernel::ContactExchange`.
    Span<Array<double, 7>> sums;
    // Grid spacing [m].
    double grid_spacing;
    // Number of bodies.
    uint32_t body_count;
    // First tile of nodes.
    uint32_t first_tile;
};
static_assert(sizeof(ContactExchangeNodesParameters) == 592 && alignof(ContactExchangeNodesParameters) == 8, "ContactExchangeNodesParameters");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, contacts) == 0, "ContactExchangeNodesParameters::contacts");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, incidence) == 320, "ContactExchangeNodesParameters::incidence");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, solution) == 432, "ContactExchangeNodesParameters::solution");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, nodes) == 512, "ContactExchangeNodesParameters::nodes");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, bodies) == 528, "ContactExchangeNodesParameters::bodies");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, clock) == 544, "ContactExchangeNodesParameters::clock");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, sums) == 560, "ContactExchangeNodesParameters::sums");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, grid_spacing) == 576, "ContactExchangeNodesParameters::grid_spacing");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, body_count) == 584, "ContactExchangeNodesParameters::body_count");
static_assert(PLIANT_OFFSET(ContactExchangeNodesParameters, first_tile) == 588, "ContactExchangeNodesParameters::first_tile");

// Adds the tiles' sums to those of the step, moves the points on that the impulses are about, and ends the substep for contact.
struct ContactSumBodiesParameters {
    // See `Kernel::ContactExchange`.
    Span<Array<double, 7>> sums;
    // For each body and the walls of the grid: impulse on it, angular [N m s] then linear [N s]; work of the body on the particles [J].
    Span<Array<double, 7>> totals;
    // Bodies, substep by substep, and once more: the next substep's points are written.
    Span<ContactBody> bodies;
    // How these go on, one a body.
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
static_assert(sizeof(ContactSumBodiesParameters) == 112 && alignof(ContactSumBodiesParameters) == 8, "ContactSumBodiesParameters");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, sums) == 0, "ContactSumBodiesParameters::sums");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, totals) == 16, "ContactSumBodiesParameters::totals");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, bodies) == 32, "ContactSumBodiesParameters::bodies");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, references) == 48, "ContactSumBodiesParameters::references");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, clock) == 64, "ContactSumBodiesParameters::clock");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, state) == 80, "ContactSumBodiesParameters::state");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, tiles) == 96, "ContactSumBodiesParameters::tiles");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, first_tile) == 100, "ContactSumBodiesParameters::first_tile");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, body_count) == 104, "ContactSumBodiesParameters::body_count");
static_assert(PLIANT_OFFSET(ContactSumBodiesParameters, unused) == 108, "ContactSumBodiesParameters::unused");

// Moves the bodies that answer on to the next substep.
struct ContactMoveBodiesParameters {
    // Which, and how.
    ContactAnswering answering;
    // See `Kernel::ContactSumBodies`: of the step so far.
    Span<Array<double, 7>> totals;
    // Bodies, substep by substep, and once more: the next substep's are written.
    Span<ContactBody> bodies;
    // One element.
    Span<ContactClock> clock;
    // Number of bodies.
    uint32_t body_count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ContactMoveBodiesParameters) == 152 && alignof(ContactMoveBodiesParameters) == 8, "ContactMoveBodiesParameters");
static_assert(PLIANT_OFFSET(ContactMoveBodiesParameters, answering) == 0, "ContactMoveBodiesParameters::answering");
static_assert(PLIANT_OFFSET(ContactMoveBodiesParameters, totals) == 96, "ContactMoveBodiesParameters::totals");
static_assert(PLIANT_OFFSET(ContactMoveBodiesParameters, bodies) == 112, "ContactMoveBodiesParameters::bodies");
static_assert(PLIANT_OFFSET(ContactMoveBodiesParameters, clock) == 128, "ContactMoveBodiesParameters::clock");
static_assert(PLIANT_OFFSET(ContactMoveBodiesParameters, body_count) == 144, "ContactMoveBodiesParameters::body_count");
static_assert(PLIANT_OFFSET(ContactMoveBodiesParameters, unused) == 148, "ContactMoveBodiesParameters::unused");

// Appends the contacts of touched nodes with walls to those of the particles, by blocks that stay.
struct WallsAddParameters {
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
    // Slot of each of the 27 nodes of each contact that no contact with the same stencil comes before, if a wall acts on it;
    // `CONTACT_NONE`(super::CONTACT_NONE) for others.
    Span<uint32_t> places;
    // For each node of the grid, zero at first; in the end `CONVEX_HELD`(super::CONVEX_HELD) for those that a wall holds.
    Span<uint32_t> marks;
    // The contacts that are appended, in their order.
    Span<ContactWall> walls;
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
static_assert(sizeof(WallsAddParameters) == 544 && alignof(WallsAddParameters) == 8, "WallsAddParameters");
static_assert(PLIANT_OFFSET(WallsAddParameters, contacts) == 0, "WallsAddParameters::contacts");
static_assert(PLIANT_OFFSET(WallsAddParameters, grid) == 320, "WallsAddParameters::grid");
static_assert(PLIANT_OFFSET(WallsAddParameters, planes) == 384, "WallsAddParameters::planes");
static_assert(PLIANT_OFFSET(WallsAddParameters, clock) == 400, "WallsAddParameters::clock");
static_assert(PLIANT_OFFSET(WallsAddParameters, state) == 416, "WallsAddParameters::state");
static_assert(PLIANT_OFFSET(WallsAddParameters, places) == 432, "WallsAddParameters::places");
static_assert(PLIANT_OFFSET(WallsAddParameters, marks) == 448, "WallsAddParameters::marks");
static_assert(PLIANT_OFFSET(WallsAddParameters, walls) == 464, "WallsAddParameters::walls");
static_assert(PLIANT_OFFSET(WallsAddParameters, first) == 480, "WallsAddParameters::first");
static_assert(PLIANT_OFFSET(WallsAddParameters, block_sums) == 496, "WallsAddParameters::block_sums");
static_assert(PLIANT_OFFSET(WallsAddParameters, barrier) == 512, "WallsAddParameters::barrier");
static_assert(PLIANT_OFFSET(WallsAddParameters, grid_spacing) == 528, "WallsAddParameters::grid_spacing");
static_assert(PLIANT_OFFSET(WallsAddParameters, body_count) == 536, "WallsAddParameters::body_count");
static_assert(PLIANT_OFFSET(WallsAddParameters, unused) == 540, "WallsAddParameters::unused");

// Guesses the walls' impulses.
struct WallsGuessParameters {
    // The contacts; the walls' get their `last_impulse`.
    ContactArrays contacts;
    // Which touch which nodes.
    ConvexIncidence incidence;
    // Free velocity [m/s] and mass [kg] of all nodes of the grid.
    Span<Array<float, 4>> nodes;
    // Boundary conditions.
    Span<MpmPlane> planes;
    // One element.
    Span<ContactClock> clock;
    // See `Kernel::WallsAdd`(super::Kernel::WallsAdd).
    Span<ContactWall> walls;
    // Number of contacts before them; one element.
    Span<uint32_t> first;
};
static_assert(sizeof(WallsGuessParameters) == 512 && alignof(WallsGuessParameters) == 8, "WallsGuessParameters");
static_assert(PLIANT_OFFSET(WallsGuessParameters, contacts) == 0, "WallsGuessParameters::contacts");
static_assert(PLIANT_OFFSET(WallsGuessParameters, incidence) == 320, "WallsGuessParameters::incidence");
static_assert(PLIANT_OFFSET(WallsGuessParameters, nodes) == 432, "WallsGuessParameters::nodes");
static_assert(PLIANT_OFFSET(WallsGuessParameters, planes) == 448, "WallsGuessParameters::planes");
static_assert(PLIANT_OFFSET(WallsGuessParameters, clock) == 464, "WallsGuessParameters::clock");
static_assert(PLIANT_OFFSET(WallsGuessParameters, walls) == 480, "WallsGuessParameters::walls");
static_assert(PLIANT_OFFSET(WallsGuessParameters, first) == 496, "WallsGuessParameters::first");

// Takes what the solve left of velocities into walls out of the grid, and adds friction; by blocks that stay.
struct WallsImposeParameters {
    // The contacts.
    ContactArrays contacts;
    // Whether there was room for them.
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
    // See `Kernel::WallsAdd`(super::Kernel::WallsAdd).
    Span<ContactWall> walls;
    // Number of contacts before them; one element.
    Span<uint32_t> first;
    // Impulse on the walls of each tile of `WALLS_THREADS` of them.
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
static_assert(sizeof(WallsImposeParameters) == 608 && alignof(WallsImposeParameters) == 8, "WallsImposeParameters");
static_assert(PLIANT_OFFSET(WallsImposeParameters, contacts) == 0, "WallsImposeParameters::contacts");
static_assert(PLIANT_OFFSET(WallsImposeParameters, incidence) == 320, "WallsImposeParameters::incidence");
static_assert(PLIANT_OFFSET(WallsImposeParameters, impulses) == 432, "WallsImposeParameters::impulses");
static_assert(PLIANT_OFFSET(WallsImposeParameters, nodes) == 448, "WallsImposeParameters::nodes");
static_assert(PLIANT_OFFSET(WallsImposeParameters, planes) == 464, "WallsImposeParameters::planes");
static_assert(PLIANT_OFFSET(WallsImposeParameters, friction) == 480, "WallsImposeParameters::friction");
static_assert(PLIANT_OFFSET(WallsImposeParameters, clock) == 496, "WallsImposeParameters::clock");
static_assert(PLIANT_OFFSET(WallsImposeParameters, walls) == 512, "WallsImposeParameters::walls");
static_assert(PLIANT_OFFSET(WallsImposeParameters, first) == 528, "WallsImposeParameters::first");
static_assert(PLIANT_OFFSET(WallsImposeParameters, sums) == 544, "WallsImposeParameters::sums");
static_assert(PLIANT_OFFSET(WallsImposeParameters, totals) == 560, "WallsImposeParameters::totals");
static_assert(PLIANT_OFFSET(WallsImposeParameters, barrier) == 576, "WallsImposeParameters::barrier");
static_assert(PLIANT_OFFSET(WallsImposeParameters, grid_spacing) == 592, "WallsImposeParameters::grid_spacing");
static_assert(PLIANT_OFFSET(WallsImposeParameters, body_count) == 600, "WallsImposeParameters::body_count");
static_assert(PLIANT_OFFSET(WallsImposeParameters, unused) == 604, "WallsImposeParameters::unused");

// Numbers the nodes that contacts touch, by blocks that stay.
struct ConvexNumberParameters {
    // The contacts; count, base nodes and offsets are read.
    ConvexContacts contacts;
    // Where their nodes are.
    GridNodes grid;
    // Which nodes they touch: the result.
    ConvexIncidence incidence;
    // Two tables of touched nodes that take turns, each a power of two long: the nodes' keys, 0 where free. The one that is not
    // written holds the nodes of the last solve.
    Span<uint64_t> table_keys;
    // The first place in `group_nodes` of the nodes of the table that is written.
    Span<uint32_t> table_first;
    // Numbers of the tables' nodes.
    Span<uint32_t> table_numbers;
    // Which table the last solve's nodes are in, and how much of it is used less one; zero of nothing.
    Span<uint32_t> table_state;
    // Velocity of each touched node after the last solve, by its numbers, in m/s.
    Span<Array<double, 3>> velocities;
    // The same by the new numbers, or the free velocity where the last solve did not have the node.
    Span<Array<double, 3>> guess_velocities;
    // Incidences of each touched node.
    Span<uint32_t> node_counts;
    // A sum for each block.
    Span<uint32_t> block_sums;
    // Memory of the barrier: `GRID_BARRIER_WORDS` words.
    Span<uint32_t> barrier;
    // Whether the substep takes place; empty where there is no step.
    Span<ContactClock> clock;
    // What stops it: see `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // Contacts there is room for.
    uint32_t contact_capacity;
    // Touched nodes there is room for.
    uint32_t node_capacity;
};
static_assert(sizeof(ConvexNumberParameters) == 600 && alignof(ConvexNumberParameters) == 8, "ConvexNumberParameters");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, contacts) == 0, "ConvexNumberParameters::contacts");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, grid) == 240, "ConvexNumberParameters::grid");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, incidence) == 304, "ConvexNumberParameters::incidence");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, table_keys) == 416, "ConvexNumberParameters::table_keys");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, table_first) == 432, "ConvexNumberParameters::table_first");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, table_numbers) == 448, "ConvexNumberParameters::table_numbers");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, table_state) == 464, "ConvexNumberParameters::table_state");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, velocities) == 480, "ConvexNumberParameters::velocities");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, guess_velocities) == 496, "ConvexNumberParameters::guess_velocities");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, node_counts) == 512, "ConvexNumberParameters::node_counts");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, block_sums) == 528, "ConvexNumberParameters::block_sums");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, barrier) == 544, "ConvexNumberParameters::barrier");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, clock) == 560, "ConvexNumberParameters::clock");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, status) == 576, "ConvexNumberParameters::status");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, contact_capacity) == 592, "ConvexNumberParameters::contact_capacity");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, node_capacity) == 596, "ConvexNumberParameters::node_capacity");

// The whole convex contact solve, by blocks that stay.
struct ConvexSolveParameters {
    // The contacts.
    ConvexContacts contacts;
    // Which nodes they touch.
    ConvexIncidence incidence;
    // Settings; one element.
    Span<ConvexSettings> settings;
    // Free velocity in m/s and mass in kg of the grid's nodes; touched nodes get their new velocity.
    Span<Array<float, 4>> grid;
    // `CONVEX_HELD` for each of them that a wall holds; empty where none does.
    Span<uint32_t> held;
    // Guessed velocities of the touched nodes in m/s.
    Span<Array<double, 3>> guess_velocities;
    // Guessed impulses of the contacts on the particles in N s; may be short.
    Span<Array<float, 3>> guess_impulses;
    // Velocity of each touched node in m/s.
    Span<Array<double, 3>> velocities;
    // Impulse of the contacts on each touched node in N s.
    Span<Array<double, 3>> node_impulses;
    // Impulse of each contact on its particle in N s.
    Span<Array<double, 3>> impulses;
    // What happened; one element.
    Span<ConvexReport> report;
    // Objective, residual, tolerance and scale of the first iterates.
    Span<Array<double, 4>> trace;
    // Memory of touched nodes, row by row.
    Span<double> node_rows;
    // Memory of contacts, row by row.
    Span<double> contact_rows;
    // The linear system in single precision: rows of the nodes.
    Span<float> single_rows;
    // Hessians of the contacts.
    Span<float> single_hessians;
    // Scaled directions of the nodes.
    Span<Array<float, 4>> single_directions;
    // Images of the contacts.
    Span<Array<float, 4>> single_images;
    // In double precision: rows of the nodes.
    Span<double> double_rows;
    // Scaled directions of the nodes.
    Span<Array<double, 4>> double_directions;
    // Images of the contacts.
    Span<Array<double, 4>> double_images;
    // Sums of tiles, and last of the bodies that answer; twice `CONVEX_SUMS` rows.
    Span<double> tile_sums;
    // Memory of the barrier: `GRID_BARRIER_WORDS` words.
    Span<uint32_t> barrier;
    // What the solves of the step did; one element.
    Span<ConvexTotals> totals;
    // Whether the substep takes place; empty where there is no step.
    Span<ContactClock> clock;
    // What stops it: see `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // Length of a row of contacts.
    uint32_t contact_capacity;
    // Length of a row of touched nodes.
    uint32_t node_capacity;
};
static_assert(sizeof(ConvexSolveParameters) == 744 && alignof(ConvexSolveParameters) == 8, "ConvexSolveParameters");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, contacts) == 0, "ConvexSolveParameters::contacts");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, incidence) == 240, "ConvexSolveParameters::incidence");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, settings) == 352, "ConvexSolveParameters::settings");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, grid) == 368, "ConvexSolveParameters::grid");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, held) == 384, "ConvexSolveParameters::held");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, guess_velocities) == 400, "ConvexSolveParameters::guess_velocities");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, guess_impulses) == 416, "ConvexSolveParameters::guess_impulses");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, velocities) == 432, "ConvexSolveParameters::velocities");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, node_impulses) == 448, "ConvexSolveParameters::node_impulses");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, impulses) == 464, "ConvexSolveParameters::impulses");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, report) == 480, "ConvexSolveParameters::report");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, trace) == 496, "ConvexSolveParameters::trace");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, node_rows) == 512, "ConvexSolveParameters::node_rows");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, contact_rows) == 528, "ConvexSolveParameters::contact_rows");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, single_rows) == 544, "ConvexSolveParameters::single_rows");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, single_hessians) == 560, "ConvexSolveParameters::single_hessians");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, single_directions) == 576, "ConvexSolveParameters::single_directions");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, single_images) == 592, "ConvexSolveParameters::single_images");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, double_rows) == 608, "ConvexSolveParameters::double_rows");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, double_directions) == 624, "ConvexSolveParameters::double_directions");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, double_images) == 640, "ConvexSolveParameters::double_images");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, tile_sums) == 656, "ConvexSolveParameters::tile_sums");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, barrier) == 672, "ConvexSolveParameters::barrier");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, totals) == 688, "ConvexSolveParameters::totals");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, clock) == 704, "ConvexSolveParameters::clock");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, status) == 720, "ConvexSolveParameters::status");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, contact_capacity) == 736, "ConvexSolveParameters::contact_capacity");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, node_capacity) == 740, "ConvexSolveParameters::node_capacity");

// The same with bodies that answer.
struct ConvexSolveBodiesParameters {
    // The solve.
    ConvexSolveParameters solve;
    // The bodies.
    ConvexBodies bodies;
};
static_assert(sizeof(ConvexSolveBodiesParameters) == 928 && alignof(ConvexSolveBodiesParameters) == 8, "ConvexSolveBodiesParameters");
static_assert(PLIANT_OFFSET(ConvexSolveBodiesParameters, solve) == 0, "ConvexSolveBodiesParameters::solve");
static_assert(PLIANT_OFFSET(ConvexSolveBodiesParameters, bodies) == 744, "ConvexSolveBodiesParameters::bodies");

// Poses, inertias, forces, mass matrices and their factors, and the velocities without contact: a thread a tree and world.
struct WorldsSmoothF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
static_assert(sizeof(WorldsSmoothF32Parameters) == 400 && alignof(WorldsSmoothF32Parameters) == 8, "WorldsSmoothF32Parameters");
static_assert(PLIANT_OFFSET(WorldsSmoothF32Parameters, worlds) == 0, "WorldsSmoothF32Parameters::worlds");

// See `WorldsSmoothF32Parameters`.
struct WorldsSmoothF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
static_assert(sizeof(WorldsSmoothF64Parameters) == 400 && alignof(WorldsSmoothF64Parameters) == 8, "WorldsSmoothF64Parameters");
static_assert(PLIANT_OFFSET(WorldsSmoothF64Parameters, worlds) == 0, "WorldsSmoothF64Parameters::worlds");

// Where pairs touch, and the impulses there: a thread a pair and world.
struct WorldsContactF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
static_assert(sizeof(WorldsContactF32Parameters) == 400 && alignof(WorldsContactF32Parameters) == 8, "WorldsContactF32Parameters");
static_assert(PLIANT_OFFSET(WorldsContactF32Parameters, worlds) == 0, "WorldsContactF32Parameters::worlds");

// See `WorldsContactF32Parameters`.
struct WorldsContactF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
static_assert(sizeof(WorldsContactF64Parameters) == 400 && alignof(WorldsContactF64Parameters) == 8, "WorldsContactF64Parameters");
static_assert(PLIANT_OFFSET(WorldsContactF64Parameters, worlds) == 0, "WorldsContactF64Parameters::worlds");

// What the contacts' impulses add to each degree of freedom: a thread for it and a world.
struct WorldsGatherF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
static_assert(sizeof(WorldsGatherF32Parameters) == 400 && alignof(WorldsGatherF32Parameters) == 8, "WorldsGatherF32Parameters");
static_assert(PLIANT_OFFSET(WorldsGatherF32Parameters, worlds) == 0, "WorldsGatherF32Parameters::worlds");

// See `WorldsGatherF32Parameters`.
struct WorldsGatherF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
static_assert(sizeof(WorldsGatherF64Parameters) == 400 && alignof(WorldsGatherF64Parameters) == 8, "WorldsGatherF64Parameters");
static_assert(PLIANT_OFFSET(WorldsGatherF64Parameters, worlds) == 0, "WorldsGatherF64Parameters::worlds");

// Joint limits, dry friction and the velocities with contact; stops worlds that diverge: a thread a tree and world.
struct WorldsCorrectF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
static_assert(sizeof(WorldsCorrectF32Parameters) == 400 && alignof(WorldsCorrectF32Parameters) == 8, "WorldsCorrectF32Parameters");
static_assert(PLIANT_OFFSET(WorldsCorrectF32Parameters, worlds) == 0, "WorldsCorrectF32Parameters::worlds");

// See `WorldsCorrectF32Parameters`.
struct WorldsCorrectF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
static_assert(sizeof(WorldsCorrectF64Parameters) == 400 && alignof(WorldsCorrectF64Parameters) == 8, "WorldsCorrectF64Parameters");
static_assert(PLIANT_OFFSET(WorldsCorrectF64Parameters, worlds) == 0, "WorldsCorrectF64Parameters::worlds");

// The motion of the step, of worlds that have not stopped: a thread a tree and world.
struct WorldsAdvanceF32Parameters {
    // The worlds.
    WorldsF32 worlds;
};
static_assert(sizeof(WorldsAdvanceF32Parameters) == 400 && alignof(WorldsAdvanceF32Parameters) == 8, "WorldsAdvanceF32Parameters");
static_assert(PLIANT_OFFSET(WorldsAdvanceF32Parameters, worlds) == 0, "WorldsAdvanceF32Parameters::worlds");

// See `WorldsAdvanceF32Parameters`.
struct WorldsAdvanceF64Parameters {
    // The worlds.
    WorldsF64 worlds;
};
static_assert(sizeof(WorldsAdvanceF64Parameters) == 400 && alignof(WorldsAdvanceF64Parameters) == 8, "WorldsAdvanceF64Parameters");
static_assert(PLIANT_OFFSET(WorldsAdvanceF64Parameters, worlds) == 0, "WorldsAdvanceF64Parameters::worlds");
