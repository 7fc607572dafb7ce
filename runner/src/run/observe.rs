//! Progress within long steps: a second thread looks at the watch of the world.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use pliant_coupling::StepWatch;

use super::{Progress, Stage};

/// Time between two looks at a step.
const LOOK: Duration = Duration::from_secs(1);

/// Calls `steps` with a function that passes its progress on to `observer`. As long as it runs,
/// `observer` is also told of a step that lasts from one look at `watch` to the next. Steps have
/// `dt` \[s\], and there are `total`.
pub(super) fn observe<T>(
    watch: StepWatch,
    dt: f64,
    total: u64,
    observer: &mut (dyn FnMut(&Progress) + Send),
    steps: impl FnOnce(&mut dyn FnMut(&Progress)) -> T,
) -> T {
    let observer = Mutex::new(observer);
    let tell = |progress: &Progress| {
        let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
        (*observer)(progress);
    };
    let (ended, signal) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut last = None;
            let mut is_ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            while !*is_ended {
                is_ended = signal.wait_timeout(is_ended, LOOK).unwrap_or_else(PoisonError::into_inner).0;
                let within = watch.progress();
                if !*is_ended && last == Some(within.step) {
                    let (done, time) = (within.step, within.step as f64 * dt);
                    let stage = Stage::Simulating;
                    tell(&Progress { stage, done, total, time, contacts: 0.0, within: Some(within) });
                }
                last = Some(within.step);
            }
        });
        // Also where `steps` panics: the scope waits for the thread.
        let _end = End { ended: &ended, signal: &signal };
        steps(&mut |progress| tell(progress))
    })
}

/// Ends the second thread when it is dropped.
struct End<'a> {
    ended: &'a Mutex<bool>,
    signal: &'a Condvar,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.signal.notify_all();
    }
}
