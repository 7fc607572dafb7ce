//! Scenes in which two hands fold a garment twice, unfold it and lay it flat, from wherever it lies
//! on the table: nothing of their paths is known before the hands have looked.
//!
//! The garment falls onto a bare table. Two hands take its left side and lay it onto its right side;
//! one takes the lower edge and lays it beyond the upper one; it takes a corner of that edge again
//! and undoes the second fold; two undo the first. A fold reaches a little beyond what it is laid
//! onto, so that its edge can be taken again without the layers below.

mod hands;
mod pattern;

use std::path::Path;

use nalgebra::{UnitQuaternion, Vector3};
use pliant_coupling::AutoOr;
use pliant_garment::{CoveredError, covered_area};
use pliant_mpm::cloth::ClothMesh;

use crate::format::{
    BodySpec, Camera, ClothError, ClothPoint, ClothSpec, Fabric, Geometry, Goal, Motion, Pose, Quantity,
    RigidShape, Robot, RobotModel, Scene, Sighting,
};
use hands::{BESIDE_CARRYING, Carriage, Columns, Hands, Side, rounded};
pub use pattern::Garment;
use pattern::{EdgePlace, Pattern};

/// Height of the table \[m\].
const TABLE: f64 = 0.08;
/// Half of the table's sides \[m\].
const TABLE_SIDE: f64 = 0.6;
/// When the hands look first: the garment has come to rest \[s\].
const AT_REST: f64 = 0.5;
/// From a carriage to the next sighting, while what was let go comes to rest \[s\].
const SETTLE: f64 = 0.1;
/// How far the first fold reaches beyond what it is laid onto, over half of the garment's width at its
/// lower edge \[-\].
const SIDE_BEYOND: f64 = 0.185;
/// How much less far an edge of a single layer is laid than that \[m\]. It lies where it is laid, and the
/// planned area is short by half an edge of the mesh along the fold.
const LAYER_SHORT: f64 = 0.008;
/// Most that a fold may cover, over what it covers as it is planned \[-\].
const OF_PLANNED: f64 = 1.0095;
/// How far the second fold does \[m\].
const EDGE_BEYOND: f64 = 0.025;
/// How far blades reach below an edge \[m\].
const DEPTH: f64 = 0.025;
/// The same where an edge lies beyond another that is to stay, from half-way between them: layers that
/// share cells of the grid move together \[m\].
const BEFORE_MIDDLE: f64 = -0.005;
/// How much farther than its place an edge is drawn that is laid back, which smooths the cloth \[m\].
const SMOOTHED: f64 = 0.01;

/// How long an edge is carried that is folded over \[s\].
const FOLDED_IN: f64 = 1.2;
/// How long a single layer is carried that is laid back: one below it that shares cells of the grid with it
/// goes along where it is lifted fast \[s\].
const LAYER_UNFOLDED_IN: f64 = 4.0;

/// A garment, where it lies, and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Folding {
    /// The garment.
    pub garment: Garment,
    /// Spacing of the grid \[m\].
    pub grid_spacing: f64,
    /// Its middle on the table \[m\].
    pub place: [f64; 2],
    /// Its turn about the vertical; at 0 its length is along y \[rad\].
    pub turn: f64,
    /// Friction of the table \[-\].
    pub table_friction: f64,
    /// Friction between layers \[-\].
    pub layer_friction: f64,
    /// Stiffness of the fabric over that of the built-in scenes, which is the published one \[-\].
    pub stiffness: f64,
}

/// Why there is no scene of a garment.
#[derive(Debug, thiserror::Error)]
pub enum FoldingError {
    /// It cannot be cut or sewn.
    #[error(transparent)]
    Cloth(#[from] ClothError),
    /// The area that it covers cannot be measured.
    #[error(transparent)]
    Area(#[from] CoveredError),
}

impl Folding {
    /// As the built-in scenes have it: in the middle of the table.
    pub fn of(garment: Garment) -> Self {
        Self {
            garment,
            grid_spacing: 1.0 / 128.0,
            place: [0.0; 2],
            turn: 0.0,
            table_friction: 0.6,
            layer_friction: 0.5,
            stiffness: 1.0,
        }
    }

    /// The scene.
    ///
    /// # Errors
    /// A garment that cannot be cut or sewn.
    pub fn scene(&self, name: &str) -> Result<Scene, FoldingError> {
        let pattern = Pattern::new(&self.garment, self.grid_spacing);
        let cloth = self.cloth(&pattern);
        let mut scene = Scene::empty(name, 0.0, 2e-3);
        scene.grid_spacing = Some(self.grid_spacing);
        scene.contact.particle_radius = AutoOr::Value(0.5 * self.grid_spacing);
        scene.contact.stiffness = AutoOr::Value(1000.0);
        scene.contact.stiction_tolerance = 1e-3;
        scene.solver.relative_tolerance = 0.05;
        scene.bodies = vec![self.table()];
        let columns = columns(&pattern);
        scene.robots = [Side::Left, Side::Right].into_iter().flat_map(|side| robot(side, columns)).collect();
        let stages = stages(&pattern, &mut scene);
        scene.goals = goals(&cloth, &pattern, self.grid_spacing, stages)?;
        scene.cloths = vec![cloth];
        scene.output.frame_interval = 0.1;
        scene.output.camera =
            Some(Camera { position: [0.85, -1.05, 0.95], target: [0.0, 0.0, 0.1], field_of_view: 0.5 });
        Ok(scene)
    }

    /// The published fabric: about its density and Poisson's ratio; a quarter of its E = 1e5 Pa and
    /// K = 4e5 Pa, which belong to a model in which a centroid has a quarter of its face's volume.
    fn cloth(&self, pattern: &Pattern) -> ClothSpec {
        let above = TABLE + 0.02 + 0.75 * self.grid_spacing;
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), self.turn);
        ClothSpec {
            name: CLOTH.to_owned(),
            shape: pattern.shape.clone(),
            pose: Pose {
                position: [self.place[0], self.place[1], above],
                orientation: [turn.w, turn.i, turn.j, turn.k],
            },
            velocity: [0.0; 3],
            material: Fabric {
                density: 1000.0,
                youngs_modulus: 2.5e4 * self.stiffness,
                poissons_ratio: 0.3,
                thickness: AutoOr::Value(1e-3),
                normal_stiffness: 1e5 * self.stiffness,
                shear_stiffness: 2e4 * self.stiffness,
                friction: self.layer_friction,
                bending_stiffness: 0.0,
                damping: 0.2,
                weave: None,
            },
            mass_damping: 0.0,
            gas: None,
            pins: Vec::new(),
            color: [226, 232, 238],
            back_color: Some([70, 120, 176]),
        }
    }

    fn table(&self) -> BodySpec {
        let half_extents = [TABLE_SIDE, TABLE_SIDE, 0.5 * TABLE];
        let top = Geometry::new(RigidShape::Box { half_extents });
        BodySpec {
            name: "table".to_owned(),
            motion: Motion::Fixed { pose: Pose { position: [0.0, 0.0, 0.5 * TABLE], ..Pose::default() } },
            geometries: vec![Geometry { friction: self.table_friction, color: [190, 164, 130], ..top }],
        }
    }
}

/// Name of the cloth in the scenes.
const CLOTH: &str = "garment";

/// Two hands at one edge have to reach the same y.
fn columns(pattern: &Pattern) -> Columns {
    if pattern.lower_at.len() > 1 { Columns::Between } else { Columns::Below }
}

/// A gantry with its hand.
fn robot(side: Side, columns: Columns) -> [Robot; 2] {
    let name = ["left", "right"][side as usize];
    let robot = |name: String, model| Robot {
        name,
        file: None,
        model: Some(model),
        parent: None,
        pose: Pose::default(),
        keyframe: None,
        positions: Default::default(),
        controls: Default::default(),
        mocap: Default::default(),
        floating: None,
        repair: Vec::new(),
        decompose: None,
        ignore_warnings: false,
    };
    let model = match columns {
        Columns::Below => RobotModel::Gantry,
        Columns::Between => RobotModel::OffsetGantry,
    };
    let mut gantry = robot(name.to_owned(), model);
    if columns.turned(side) {
        gantry.pose.orientation = [0.0, 0.0, 0.0, 1.0];
    }
    gantry.positions =
        [("along_y".to_owned(), columns.beside(side)), ("up".to_owned(), -0.25)].into_iter().collect();
    let mut hand = robot(format!("{name}-hand"), RobotModel::BladeGripper);
    hand.parent = Some(format!("{name}/flange"));
    hand.keyframe = Some("open".to_owned());
    [gantry, hand]
}

/// How far the first fold reaches beyond what it is laid onto \[m\].
fn side_beyond(pattern: &Pattern) -> f64 {
    SIDE_BEYOND * pattern.corners[0].x
}

/// How long an edge is carried that is laid back \[s\].
fn unfolded_in(pattern: &Pattern) -> f64 {
    if pattern.layers == 1 { LAYER_UNFOLDED_IN } else { FOLDED_IN }
}

/// When the garment is flat, folded once, twice, once again, and flat again \[s\].
type Stages = [f64; 5];

/// Gives the scene its tasks and its duration.
fn stages(pattern: &Pattern, scene: &mut Scene) -> Stages {
    let mut times = [AT_REST; 5];
    for stage in 0..4 {
        let lasting = if stage < 2 { FOLDED_IN } else { unfolded_in(pattern) };
        times[stage + 1] = rounded(times[stage] + BESIDE_CARRYING + lasting + SETTLE);
    }
    let mut hands = Hands::new(CLOTH, TABLE, columns(pattern));
    let both = pattern.lower_at.len() > 1;
    // Where the wrists wait: half-way to where they have to be next.
    for (side, edge, wrist) in [(Side::Left, 0, -0.8), (Side::Right, 1, if both { -0.8 } else { -1.6 })] {
        hands.carry(times[0], &fold_side(pattern, side, edge), wrist);
    }
    for (side, place) in [Side::Left, Side::Right].into_iter().zip(&pattern.lower_at) {
        hands.carry(times[1], &fold_across(pattern, side, place), 0.0);
        hands.carry(times[2], &unfold_across(pattern, side, place), 0.8);
    }
    for (side, edge, wrist) in [(Side::Left, 0, 1.6), (Side::Right, 1, if both { 1.6 } else { -1.6 })] {
        hands.carry(times[3], &unfold_side(pattern, side, edge), wrist);
    }
    let (mut sightings, tasks) = hands.tasks();
    sightings.sort_by(|a: &Sighting, b| a.time.total_cmp(&b.time));
    (scene.sightings, scene.tasks, scene.duration) = (sightings, tasks, times[4]);
    times
}

/// A hand takes the left side at its lower or upper corner and lays it onto the right side.
fn fold_side(pattern: &Pattern, side: Side, edge: usize) -> Carriage {
    let place = &pattern.folded_at[edge];
    let short = if pattern.layers == 1 { LAYER_SHORT } else { 0.0 };
    Carriage {
        side,
        name: format!("{} side", ["lower", "upper"][edge]),
        origin: place.left.clone(),
        along: [pattern.upper.to_vec(), pattern.lower.to_vec()],
        turn: 0.0,
        at: 0.0,
        depth: DEPTH,
        opening: 0.06,
        distance: 2.0 * place.from_middle + side_beyond(pattern) - short,
        lasting: FOLDED_IN,
        drop: 0.01,
        swapped: true,
    }
}

/// A hand takes the lower edge and lays it beyond the upper one.
fn fold_across(pattern: &Pattern, side: Side, place: &EdgePlace) -> Carriage {
    Carriage {
        side,
        name: ["lower edge", "lower edge at the fold"][side as usize].to_owned(),
        origin: place.fold.clone(),
        along: [pattern.inner.clone(), pattern.lower.to_vec()],
        turn: 0.0,
        at: 0.0,
        depth: DEPTH,
        opening: 0.07,
        distance: pattern.length + EDGE_BEYOND,
        lasting: FOLDED_IN,
        drop: 0.012,
        swapped: false,
    }
}

/// It takes that edge again, between it and the upper edge below it, and lays it back.
fn unfold_across(pattern: &Pattern, side: Side, place: &EdgePlace) -> Carriage {
    Carriage {
        side,
        name: ["folded corner", "folded edge at the fold"][side as usize].to_owned(),
        origin: place.unfold.clone(),
        along: [pattern.lower.to_vec(), pattern.inner.clone()],
        turn: 0.0,
        at: 0.0,
        depth: BEFORE_MIDDLE,
        opening: 0.07,
        distance: place.length + SMOOTHED,
        lasting: unfolded_in(pattern),
        drop: 0.004,
        swapped: true,
    }
}

/// A hand takes the left side, which lies beyond the right one, and lays it back. Its blades end a
/// little before half-way between the two.
fn unfold_side(pattern: &Pattern, side: Side, edge: usize) -> Carriage {
    let place = &pattern.unfolded_at[edge];
    let along: [Vec<ClothPoint>; 2] = [pattern.lower.to_vec(), pattern.upper.to_vec()];
    // From the line through the corners to the direction of the garment's length.
    let [lower, upper] = pattern.corners;
    let turn = ((upper.x - lower.x) / (upper.y - lower.y)).atan();
    Carriage {
        side,
        name: format!("folded {} side", ["lower", "upper"][edge]),
        origin: [place.left.clone(), place.right.clone()].concat(),
        along,
        turn,
        at: place.at,
        depth: BEFORE_MIDDLE,
        opening: 0.06,
        distance: 2.0 * place.from_middle + SMOOTHED,
        lasting: unfolded_in(pattern),
        drop: 0.004,
        // A hand that comes from the last fold, or from the first.
        swapped: (side as usize) < pattern.lower_at.len(),
    }
}

/// The garment covers what an ideally folded one covers, and no layer is through another. The
/// bounds are those of the T-shirt of the built-in scenes of before: within them a fold is even, and
/// what is laid flat again has no more than a corner turned in. The most that the first fold may cover
/// is a part of what it covers as it is planned, beyond the half that it is laid onto: that adds more to
/// narrow legs than to a shirt. For a towel so is the most that the second may cover: without sleeves or
/// legs beside each other, a quarter has little that the edges beyond it could hide in.
fn goals(
    cloth: &ClothSpec,
    pattern: &Pattern,
    grid_spacing: f64,
    times: Stages,
) -> Result<Vec<Goal>, FoldingError> {
    let flat = ClothSpec { pose: Pose::default(), ..cloth.clone() };
    let (sheet, ..) = flat.build(Path::new(""), grid_spacing)?;
    let [whole, half, planned, quarter, planned_twice] =
        folded_areas(&sheet, side_beyond(pattern), 0.1 * grid_spacing)?;
    let most_twice = if pattern.layers == 1 { OF_PLANNED * planned_twice } else { 1.081 * quarter };
    let goal = |name: &str, time: f64, covered: Option<[f64; 2]>| Goal {
        name: name.to_owned(),
        soft: None,
        rope: None,
        cloth: covered.is_some().then(|| CLOTH.to_owned()),
        body: None,
        quantity: if covered.is_some() { Quantity::CoveredArea } else { Quantity::NewCrossings },
        relative_to: None,
        from: time,
        until: Some(time),
        min: covered.map(|[min, _]| rounded(min)),
        max: covered.map_or(Some(0.0), |[_, max]| max.is_finite().then(|| rounded(max))),
    };
    let area = |area: f64, [min, max]: [f64; 2]| Some([min * area, max * area]);
    let any = f64::INFINITY;
    let crossings = |name: &str, time| goal(&format!("{name}, no layer through another"), time, None);
    Ok(vec![
        goal("flat", times[0], area(whole, [0.9496, any])),
        goal("folded in half", times[1], Some([0.8976 * half, OF_PLANNED * planned])),
        goal("folded twice", times[2], Some([0.80 * quarter, most_twice])),
        crossings("folded twice", times[2]),
        crossings("second fold undone", times[3]),
        goal("flat again", times[4], area(whole, [0.8518, any])),
        crossings("flat again", times[4]),
    ])
}

/// Areas that a sheet covers that lies flat, is folded along x = 0, along half of `beyond` so that it reaches
/// that far beyond \[m\], along x = 0 and then along y = 0, and as planned along both \[m^2\]. Faces across
/// a fold are not cut: up to half of an edge's length is missing along it.
fn folded_areas(sheet: &ClothMesh, beyond: f64, strip: f64) -> Result<[f64; 5], CoveredError> {
    let covered = |fold: &dyn Fn(&Vector3<f64>) -> Vector3<f64>| {
        let places: Vec<_> = sheet.vertices().iter().map(fold).collect();
        covered_area(&places, sheet.faces(), strip)
    };
    let once = |x: &Vector3<f64>| Vector3::new(x.x.abs(), x.y, x.z);
    let planned = |x: &Vector3<f64>| Vector3::new(x.x.max(beyond - x.x), x.y, x.z);
    let twice = |x: &Vector3<f64>| Vector3::new(x.x.abs(), x.y.abs(), x.z);
    let planned_twice = |x: &Vector3<f64>| Vector3::new(planned(x).x, x.y.max(EDGE_BEYOND - x.y), x.z);
    Ok([covered(&|x| *x)?, covered(&once)?, covered(&planned)?, covered(&twice)?, covered(&planned_twice)?])
}
