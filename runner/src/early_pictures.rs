//! Frames of the animation, drawn while the run goes on.
//!
//! They are drawn by one thread that gets only the time that the steps leave (the operating system's
//! idle policy), from frames that are on disk, and are kept in memory: nothing of the run waits for
//! them or depends on them. Where they cannot be drawn early they are drawn after the run; the
//! animation is the same to the byte.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pliant_scenes::format::Scene;
use thread_priority::ThreadPriority;

use crate::picture::{EarlyFrames, FrameRenderer, PictureError, shown_frames, small_size};
use crate::recording::Recording;

/// Most memory for the frames of an animation \[bytes\].
const MOST_BYTES: u64 = 128 << 20;

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
    thread: Option<JoinHandle<EarlyFrames>>,
}

impl EarlyPictures {
    /// Begins to draw the run `target`, which is to have `frames` frames. None if its camera is not
    /// known before its end, or the frames would take too much memory.
    pub fn start(target: &Path, scene: &Scene, frames: usize, counter: &FrameCounter) -> Option<Self> {
        let chosen = shown_frames(&scene.output, frames);
        let [width, height] = small_size(&scene.output).map(u64::from);
        let bytes = width.saturating_mul(height).saturating_mul(3 * chosen.len() as u64);
        if scene.output.camera.is_none() || bytes > MOST_BYTES {
            return None;
        }
        let shared = counter.0.clone();
        let (target, told) = (target.to_path_buf(), shared.clone());
        let draw = move || draw_idly(target, &chosen, &told);
        let thread = thread::Builder::new().name("early pictures".to_owned()).spawn(draw).ok()?;
        Some(Self { shared, thread: Some(thread) })
    }

    /// Waits for the frame that is being drawn; returns what there is.
    pub fn finish(mut self) -> EarlyFrames {
        self.end()
    }

    fn end(&mut self) -> EarlyFrames {
        self.shared.ended.store(true, Ordering::Release);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for EarlyPictures {
    fn drop(&mut self) {
        self.end();
    }
}

/// Draws the frames `chosen` in a pool of one idle thread, until the run ends or something fails:
/// what is wrong is found again, and told, when the pictures are drawn after the run.
fn draw_idly(target: PathBuf, chosen: &[usize], told: &Shared) -> EarlyFrames {
    let mut drawn = EarlyFrames::new();
    let is_idle = be_idle();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(|_| {
        be_idle();
    });
    if let Ok(pool) = pool.build()
        && is_idle
    {
        // The error is told after the run.
        let _ = pool.install(|| draw(target, chosen, told, &mut drawn));
    }
    drawn
}

fn draw(
    target: PathBuf,
    chosen: &[usize],
    told: &Shared,
    drawn: &mut EarlyFrames,
) -> Result<(), PictureError> {
    let background = OnceLock::new();
    let mut recording: Option<Recording> = None;
    for &frame in chosen {
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
        drawn.insert(frame, image);
        told.drawn.store(drawn.len(), Ordering::Release);
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

    use pliant_scenes::builtin;
    use pliant_scenes::format::{Assignment, apply};
    use pliant_scenes::scenario::Scenario;

    use super::*;
    use crate::run::{RunOptions, run};

    // Checks: the thread draws every frame that is on disk, and no other; each is what is drawn after
    // the run, to the byte.
    #[test]
    fn frames_drawn_early_are_those_drawn_after_the_run() {
        let changes = [
            "grid_spacing=0.025",
            "soft[0].sampling.counts=[4,4,4]",
            "duration=0.1",
            "output.frame_interval=0.02",
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
        // All but the last, for which it waits.
        while early.shared.drawn.load(Ordering::Acquire) < frames - 1 {
            thread::sleep(PAUSE);
        }
        let drawn = early.finish();
        assert_eq!(drawn.keys().copied().collect::<Vec<_>>(), (0..frames - 1).collect::<Vec<_>>());
        let recording = Recording::open(&out).unwrap();
        let renderer = FrameRenderer::new(&recording).unwrap();
        for (frame, image) in &drawn {
            let later = renderer.draw_small(*frame, &OnceLock::new()).unwrap();
            assert!(*image == later, "frame {frame}");
        }
    }
}
