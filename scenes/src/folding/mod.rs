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
mod error;
mod goals;
mod halves;
mod hands;
mod pattern;
mod plan;
mod sleeves;

use nalgebra::{UnitQuaternion, Vector3};
use pliant_coupling::AutoOr;

use crate::format::{
    BodySpec, Camera, ClothSpec, Fabric, Geometry, Motion, Pose, RigidShape, Robot, RobotModel, Scene,
    Sighting,
};
pub use error::FoldingError;
use goals::goals;
use halves::halves;
use hands::{Columns, Hands, Side};
pub use pattern::Garment;
use pattern::Pattern;
use plan::Plan;
use sleeves::Sleeves;

/// Height of the table \[m\].
const TABLE: f64 = 0.08;
/// Half of the table's sides \[m\].
const TABLE_SIDE: f64 = 0.6;
/// When the hands look first: the garment has come to rest \[s\].
const AT_REST: f64 = 0.5;

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
        let plan = self.plan()?;
        let cloth = self.cloth(&plan);
        let mut scene = Scene::empty(name, 0.0, 2e-3);
        scene.grid_spacing = Some(self.grid_spacing);
        scene.contact.particle_radius = AutoOr::Value(0.5 * self.grid_spacing);
        scene.contact.stiffness = AutoOr::Value(1000.0);
        scene.contact.stiction_tolerance = 1e-3;
        scene.solver.relative_tolerance = 0.05;
        scene.bodies = vec![self.table()];
        let sides = [Side::Left, Side::Right].into_iter();
        scene.robots = sides.flat_map(|side| robot(side, plan.columns)).collect();
        let times = carry_out(&plan, &mut scene);
        scene.goals = goals(&cloth, &plan, self.grid_spacing, &times)?;
        scene.cloths = vec![cloth];
        scene.output.frame_interval = 0.1;
        scene.output.camera =
            Some(Camera { position: [0.85, -1.05, 0.95], target: [0.0, 0.0, 0.1], field_of_view: 0.5 });
        Ok(scene)
    }

    fn plan(&self) -> Result<Plan, FoldingError> {
        let h = self.grid_spacing;
        Ok(match self.garment {
            Garment::LongSleeves(measures) => {
                let (length, most) = (measures.sleeve_length, 0.5 * measures.chest_width);
                if length > most {
                    return Err(FoldingError::Sleeves { length, most });
                }
                Sleeves::new(measures, h).plan()
            }
            Garment::TShirt(measures) => halves(&Pattern::tshirt(measures, h)),
            Garment::Trousers(measures) => halves(&Pattern::trousers(measures, h)),
            Garment::Towel { size } => halves(&Pattern::towel(size, h)),
        })
    }

    /// The published fabric: about its density and Poisson's ratio; a quarter of its E = 1e5 Pa and
    /// K = 4e5 Pa, which belong to a model in which a centroid has a quarter of its face's volume.
    fn cloth(&self, plan: &Plan) -> ClothSpec {
        let above = TABLE + 0.02 + 0.75 * self.grid_spacing;
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), self.turn);
        ClothSpec {
            name: CLOTH.to_owned(),
            shape: plan.shape.clone(),
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
                tearing: None,
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

/// Gives the scene its tasks and its duration. Returns when each stage of the plan begins, and when the
/// last one ends \[s\].
fn carry_out(plan: &Plan, scene: &mut Scene) -> Vec<f64> {
    let times = plan.times(AT_REST);
    let mut hands = Hands::new(CLOTH, TABLE, plan.columns);
    for (time, stage) in times.iter().zip(&plan.stages) {
        stage.carry_out(*time, &mut hands);
    }
    let (mut sightings, tasks) = hands.tasks();
    sightings.sort_by(|a: &Sighting, b| a.time.total_cmp(&b.time));
    (scene.sightings, scene.tasks, scene.duration) = (sightings, tasks, times[times.len() - 1]);
    times
}
