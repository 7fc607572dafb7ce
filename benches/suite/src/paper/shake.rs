//! Figure 3: `shake`, whether the stack is held, and its picture while it is shaken.

use std::path::PathBuf;

use pliant_coupling::BackendError;
use pliant_runner::picture::WorldLook;
use pliant_runner::run::GoalResult;
use pliant_scenes::format::{CoordinateAxis, Goal, Quantity, Scene};
use pliant_scenes::scenario::Scenario;

use crate::scene_run::Judge;

/// When the picture is taken: at an end of the shaking, where it turns \[s\].
const PICTURE: f64 = 2.6;
/// When the cube hangs between the panels \[s\].
const LIFTED: f64 = 2.0;
/// How far the cube may be off its place between the panels: a quarter of its edge, so that its faces are
/// held by three quarters at least \[m\]. The foam sags under it by `F L/(G A) + F L^3/(12 E I)`, 4.4 mm
/// for half of 147 N on 85 mm of foam; slip is a row of its own.
const OFF: f64 = 0.025;

/// The scene with goals: the rigid cube keeps its place between the panels, sideways and up, to a quarter
/// of its edge, from when it is lifted to the end. (Along the grip it swings in its foam.)
fn with_goals(mut scene: Scene) -> Scene {
    for (name, axis) in
        [("not slipping sideways", CoordinateAxis::Y), ("not slipping down", CoordinateAxis::Z)]
    {
        scene.goals.push(Goal {
            name: name.to_owned(),
            soft: None,
            rope: None,
            cloth: None,
            body: Some("cube".to_owned()),
            quantity: Quantity::Center { axis },
            relative_to: Some("left panel".to_owned()),
            from: LIFTED,
            until: None,
            min: Some(-OFF),
            max: Some(OFF),
        });
    }
    scene
}

/// Watches a run of `shake`.
#[derive(Default)]
pub struct ShakeWatch {
    /// Where the picture goes; none is drawn without.
    picture: Option<PathBuf>,
    scene: Option<Scene>,
    judge: Judge,
    /// The picture, or why there is none.
    pub drawn: Option<Result<PathBuf, String>>,
}

impl ShakeWatch {
    /// One that draws its picture into this file.
    pub fn new(picture: Option<PathBuf>) -> Self {
        Self { picture, ..Self::default() }
    }

    /// To be called before the first step and after each; other scenes are left alone.
    ///
    /// # Errors
    /// Particles that a backend cannot return.
    pub fn look(&mut self, scenario: &mut Scenario) -> Result<(), BackendError> {
        if scenario.scene.name != "shake" {
            return Ok(());
        }
        let scene = self.scene.get_or_insert_with(|| with_goals(scenario.scene.clone()));
        self.judge.look(scene, scenario)?;
        if scenario.world.time() >= PICTURE - 1e-9
            && let Some(file) = self.picture.take()
        {
            let look = WorldLook::of(scenario);
            let drawn = look.write_picture(&mut scenario.world, &file);
            self.drawn = Some(drawn.map(|()| file).map_err(|e| e.to_string()));
        }
        Ok(())
    }

    /// The goals at the end of the run.
    pub fn goals(&self) -> Vec<GoalResult> {
        self.judge.results()
    }
}
