//! Scenes in which two hands fold a garment twice, unfold it and lay it flat, from wherever it lies
//! on the table: nothing of their paths is known before the hands have looked.
//!
//! The garment falls onto a bare table. Two hands take its left side and lay it onto its right side;
//! one takes the lower edge and lays it beyond the upper one; it takes a corner of that edge again
//! and undoes the second fold; two undo the first. A fold reaches a little beyond what it is laid
//! onto, so that its edge can be taken again without the layers below.
//!
//! The ends of a towel's edge droop and curl in where one hand takes it in the middle: two hands take
//! it, side by side. They lay back slowly what is a single layer.

mod carriages;
mod hands;
mod pattern;

use std::path::Path;

use nalgebra::{UnitQuaternion, Vector3};
use pliant_coupling::AutoOr;
use pliant_garment::{CoveredError, covered_area};
use pliant_mpm::cloth::ClothMesh;

use crate::format::{
    BodySpec, Camera, ClothError, ClothShape, ClothSpec, Fabric, Geometry, Goal, Motion, Pose, Quantity,
    RigidShape, Robot, RobotModel, Scene, Sighting,
};
use carriages::{FOLDED_IN, carrying, fold_across, fold_side, unfold_across, unfold_side};
use hands::{BESIDE_CARRYING, Columns, Hands, Side, rounded};
pub use pattern::Garment;
use pattern::{EDGE_BEYOND, Pattern, side_beyond};

/// Height of the table \[m\].
const TABLE: f64 = 0.08;
/// Half of the table's sides \[m\].
const TABLE_SIDE: f64 = 0.6;
/// When the hands look first: the garment has come to rest \[s\].
const AT_REST: f64 = 0.5;
/// From a carriage to the next sighting, while what was let go comes to rest \[s\].
const SETTLE: f64 = 0.1;
/// Most that a fold may cover, over what it covers as it is planned \[-\].
const OF_PLANNED: f64 = 1.0095;

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
                bending_friction: None,
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

/// When the garment is flat, folded once, twice, once again, and flat again \[s\].
type Stages = [f64; 5];

/// Gives the scene its tasks and its duration.
fn stages(pattern: &Pattern, scene: &mut Scene) -> Stages {
    let mut times = [AT_REST; 5];
    for stage in 0..4 {
        let lasting = if stage < 2 { FOLDED_IN } else { carrying(pattern).unfolded_in };
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
    let beyond = side_beyond(pattern);
    let [whole, half, planned, quarter] = folded_areas(&sheet, beyond, 0.1 * grid_spacing)?;
    let [most_half, most_twice] = match pattern.shape {
        // Without the rows of faces across the folds, what a mesh covers is less than what is planned.
        ClothShape::Rectangle { size: [width, length], .. } => {
            let width = 0.5 * (width + beyond);
            [width * length, 0.5 * width * (length + EDGE_BEYOND)].map(|area| OF_PLANNED * area)
        }
        _ => [OF_PLANNED * planned, 1.081 * quarter],
    };
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
        goal("folded in half", times[1], Some([0.8976 * half, most_half])),
        goal("folded twice", times[2], Some([0.80 * quarter, most_twice])),
        crossings("folded twice", times[2]),
        crossings("second fold undone", times[3]),
        goal("flat again", times[4], area(whole, [0.8518, any])),
        crossings("flat again", times[4]),
    ])
}

/// Areas that a sheet covers that lies flat, is folded along x = 0, along half of `beyond` so that it reaches
/// that far beyond \[m\], and along x = 0 and then along y = 0 \[m^2\]. Faces across a fold are not cut: up
/// to half of an edge's length is missing along it.
fn folded_areas(sheet: &ClothMesh, beyond: f64, strip: f64) -> Result<[f64; 4], CoveredError> {
    let covered = |fold: &dyn Fn(&Vector3<f64>) -> Vector3<f64>| {
        let places: Vec<_> = sheet.vertices().iter().map(fold).collect();
        covered_area(&places, sheet.faces(), strip)
    };
    let once = |x: &Vector3<f64>| Vector3::new(x.x.abs(), x.y, x.z);
    let planned = |x: &Vector3<f64>| Vector3::new(x.x.max(beyond - x.x), x.y, x.z);
    let twice = |x: &Vector3<f64>| Vector3::new(x.x.abs(), x.y.abs(), x.z);
    Ok([covered(&|x| *x)?, covered(&once)?, covered(&planned)?, covered(&twice)?])
}
