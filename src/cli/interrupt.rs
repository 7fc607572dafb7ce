//! Signals that ask the command to stop: Ctrl-C, and SIGTERM and SIGHUP of a batch system.
//!
//! The first lets a run end its step, within a grace. When the grace is over, or at the second
//! signal, the step is abandoned; the third ends the process at once.

use std::io::{self, Write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use pliant::runner::run::StopSignal;

static STOP: LazyLock<StopSignal> = LazyLock::new(StopSignal::new);
static STOPPED_TWICE: AtomicBool = AtomicBool::new(false);

static WITHOUT_STEPS: AtomicBool = AtomicBool::new(false);

/// The grace of a step \[ms\].
static GRACE: AtomicU64 = AtomicU64::new(0);

/// The signal that runs listen to; a step has `grace` \[s\] to end. `None` where signals cannot be
/// caught.
pub fn signal(grace: f64) -> Option<&'static StopSignal> {
    GRACE.store((grace * 1e3) as u64, Ordering::Relaxed);
    match ctrlc::set_handler(stop) {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Some(&STOP),
        Err(error) => {
            tracing::warn!("Ctrl-C, SIGTERM and SIGHUP will not be caught: {error}");
            None
        }
    }
}

/// Nothing is said of steps when the command is stopped: it takes none of its own.
pub fn without_steps() {
    WITHOUT_STEPS.store(true, Ordering::Relaxed);
}

/// Whether the command was asked to stop.
pub fn is_stopped() -> bool {
    STOP.is_requested()
}

/// At a signal; on a thread of its own.
fn stop() {
    if !STOP.request() {
        if WITHOUT_STEPS.load(Ordering::Relaxed) {
            return;
        }
        let grace = Duration::from_millis(GRACE.load(Ordering::Relaxed));
        say(&format!("stopping after this step, or in {} s; again to stop sooner", grace.as_secs_f64()));
        std::thread::spawn(move || {
            std::thread::sleep(grace);
            STOP.abandon_step();
        });
    } else if !STOPPED_TWICE.swap(true, Ordering::Relaxed) {
        STOP.abandon_step();
        say("stopping within this step; again to stop at once");
    } else {
        std::process::exit(130);
    }
}

fn say(text: &str) {
    // Standard error may be closed: SIGHUP comes when the terminal goes.
    let _ = writeln!(io::stderr(), "{text}");
}
