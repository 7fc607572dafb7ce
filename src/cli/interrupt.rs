//! Ctrl-C: a running simulation ends after its step, and its directory says `interrupted`.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// A flag that the first Ctrl-C sets; the second ends the program at once. `None` where signals
/// cannot be caught.
pub fn flag() -> Option<&'static AtomicBool> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("stopping after this step; press Ctrl-C again to stop now");
    };
    match ctrlc::set_handler(handler) {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Some(&STOP),
        Err(error) => {
            tracing::warn!("Ctrl-C will not be caught: {error}");
            None
        }
    }
}
