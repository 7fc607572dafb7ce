//! Frames of the animation, drawn while the run goes on.
//!
//! They are drawn by one thread that gets only the time that the steps leave (the operating system's
//! idle policy), from frames that are on disk, and are kept compressed in memory: nothing of the run
//! waits for them or depends on them. Where they cannot be drawn early they are drawn after the run; the
//! animation is the same to the byte.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pliant_io::files::IoError;
use pliant_scenes::format::Scene;
use thread_priority::ThreadPriority;

use crate::picture::{Animation, FrameRenderer, PREVIEW_GIF, PictureError};
use crate::recording::Recording;

/// How often is looked for a new frame.
const PAUSE: Duration = Duration::from_millis(20);

/// What the run and the thread tell each other.
#[derive(Default)]
struct Shared {
    /// Frames on disk.
    written: AtomicUsize,
    /// Frames drawn.
    drawn: AtomicUsize,
    /// Whether the run waits for the thread.
    ended: AtomicBool,
}

/// Counts the frames that are on disk.
#[derive(Clone, Default)]
pub(crate) struct FrameCounter(Arc<Shared>);

impl FrameCounter {
    /// `frames` frames are on disk, with their rows in the tables.
    pub fn set(&self, frames: usize) {
        self.0.written.store(frames, Ordering::Release);
    }
}

/// The thread that draws.
pub(crate) struct EarlyPictures {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Animation>>,
}

impl EarlyPictures {
    /// Begins to draw the run `target`, which is to have `frames` frames. None if its camera is not
    /// known before its end.
    pub fn start(target: &Path, scene: &Scene, frames: usize, counter: &FrameCounter) -> Option<Self> {
        scene.output.camera.as_ref()?;
        let animation = Animation::begin(&scene.output, frames).ok()?;
        let shared = counter.0.clone();
        let (target, told) = (target.to_path_buf(), shared.clone());
        let draw = move || draw_idly(target, animation, &told);
        let thread = thread::Builder::new().name("early pictures".to_owned()).spawn(draw).ok()?;
        Some(Self { shared, thread: Some(thread) })
    }

    /// Waits for the frame that is being drawn; returns what there is.
    pub fn finish(mut self) -> Option<Animation> {
        self.end()
    }

    fn end(&mut self) -> Option<Animation> {
        self.shared.ended.store(true, Ordering::Release);
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for EarlyPictures {
    fn drop(&mut self) {
        self.end();
    }
}

/// Draws frames in a pool of one idle thread, until the run ends or something fails: what is wrong is
/// found again, and told, when the pictures are drawn after the run.
fn draw_idly(target: PathBuf, mut animation: Animation, told: &Shared) -> Animation {
    let is_idle = be_idle();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(|_| {
        be_idle();
    });
    if let Ok(pool) = pool.build()
        && is_idle
    {
        // The error is told after the run.
        let _ = pool.install(|| draw(target, &mut animation, told));
    }
    animation
}

fn draw(target: PathBuf, animation: &mut Animation, told: &Shared) -> Result<(), PictureError> {
    let background = OnceLock::new();
    let mut recording: Option<Recording> = None;
    while let Some(frame) = animation.next_frame() {
        while told.written.load(Ordering::Acquire) <= frame {
            if told.ended.load(Ordering::Acquire) {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        if told.ended.load(Ordering::Acquire) {
            return Ok(());
        }
        let seen = match &mut recording {
            Some(recording) => recording,
            None => recording.insert(Recording::open(&target)?),
        };
        if seen.frame_count() <= frame {
            seen.refresh()?;
        }
        let image = FrameRenderer::new(seen)?.draw_small(frame, &background)?;
        let path = seen.directory().join(PREVIEW_GIF);
        animation.add(&image).map_err(|e| IoError::file("write", &path, e))?;
        told.drawn.fetch_add(1, Ordering::AcqRel);
    }
    Ok(())
}

/// Takes the time that no other thread wants; whether the system allows it.
#[cfg(target_os = "linux")]
fn be_idle() -> bool {
    use thread_priority::unix::{
        NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    };
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy).is_ok()
}

/// Takes as little time as the system allows to ask for; whether it does.
#[cfg(not(target_os = "linux"))]
fn be_idle() -> bool {
    ThreadPriority::Min.set_for_current().is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panics")]

    use std::fs;
    use std::ops::ControlFlow;
    use std::time::Instant;

    use pliant_scenes::builtin;
    use pliant_scenes::format::{Assignment, apply};
    use pliant_scenes::scenario::Scenario;

    use super::*;
    use crate::run::{RunOptions, run};

    // Checks: the thread draws every frame that is on disk, and no other; the animation that goes on
    // from there is that drawn after the run, to the byte.
    #[test]
    fn an_animation_begun_early_is_that_drawn_after_the_run() {
        let changes = [
            "grid_spacing=0.025",
            "soft[0].sampling.counts=[4,4,4]",
            "duration=0.5",
            "output.frame_interval=0.1",
            "output.picture_size=[120,80]",
            r#"output.camera={"position":[0.6,-0.6,0.4],"target":[0,0,0.1],"field_of_view":0.6}"#,
        ];
        let changes: Vec<_> = changes.iter().map(|c| Assignment::parse(c).unwrap()).collect();
        let scene = apply(&builtin::scene("elastic-drop").unwrap().unwrap(), &changes).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let options = RunOptions { pictures: false, ..RunOptions::new(&out) };
        let frames = run(Scenario::new(&scene).unwrap(), options).unwrap().manifest.frames;
        let counter = FrameCounter::default();
        counter.set(frames - 1);
        let early = EarlyPictures::start(&out, &scene, frames, &counter).unwrap();
        // All but the last, for which it waits. A minute is plenty for five small pictures.
        let begun = Instant::now();
        while early.shared.drawn.load(Ordering::Acquire) < frames - 1 {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is drawn");
            thread::sleep(PAUSE);
        }
        let begun = early.finish().unwrap();
        assert_eq!(begun.next_frame(), Some(frames - 1));
        let recording = Recording::open(&out).unwrap();
        let renderer = FrameRenderer::new(&recording).unwrap();
        let mut go_on = |_, _| ControlFlow::Continue(());
        renderer.write_gif(&mut go_on).unwrap();
        let drawn_after = fs::read(out.join(PREVIEW_GIF)).unwrap();
        renderer.write_gif_from(Some(begun), &mut go_on).unwrap();
        assert!(fs::read(out.join(PREVIEW_GIF)).unwrap() == drawn_after);
    }
}
