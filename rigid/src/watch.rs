//! Watching a step that is under way, and stopping it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a step is, and the request to stop it. Clones share both, so another thread can read the
/// one and make the other while a world or a simulation steps.
///
/// A step reads the request before each of its substeps and before each step of the bodies within
/// it, and then ends with an error. Watching changes no bit of a result: it reads and writes a few
/// atomic values, and takes no lock.
#[derive(Clone, Debug, Default)]
pub struct StepWatch {
    stop: StopRequest,
    counters: Arc<Counters>,
}

#[derive(Clone, Debug)]
enum StopRequest {
    Shared(Arc<AtomicBool>),
    Static(&'static AtomicBool),
}

impl Default for StopRequest {
    fn default() -> Self {
        Self::Shared(Arc::default())
    }
}

#[derive(Debug, Default)]
struct Counters {
    step: AtomicU64,
    substeps: AtomicU64,
    expected: AtomicU64,
    rigid_steps: AtomicU64,
    /// Bits of an `f64`.
    rigid_share: AtomicU64,
}

/// How far a step is. The figures are read one after another while the step goes on, so they may be
/// a substep apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepProgress {
    /// Number of the step, from 0 \[-\].
    pub step: u64,
    /// Substeps of the particles done in it \[-\].
    pub substeps: u64,
    /// Substeps that it is expected to have in all \[-\]. It may change where a step is split into
    /// coupling steps.
    pub expected: u64,
    /// Steps of the bodies done in it \[-\].
    pub rigid_steps: u64,
    /// Share of the bodies' present advance that is done, in [0, 1] \[-\]: of the coupling step,
    /// whose substeps come first.
    pub rigid_share: f64,
}

impl StepWatch {
    /// A watch of its own progress that stops when `stop` is true. Many worlds may have one `stop`.
    pub fn with_stop(stop: Arc<AtomicBool>) -> Self {
        Self { stop: StopRequest::Shared(stop), counters: Arc::default() }
    }

    /// As [`with_stop`](Self::with_stop), with a static value such as a signal handler's.
    pub fn with_static_stop(stop: &'static AtomicBool) -> Self {
        Self { stop: StopRequest::Static(stop), counters: Arc::default() }
    }

    /// Asks the step that is under way to stop, and each later one until
    /// [`resume`](Self::resume).
    pub fn stop(&self) {
        self.request().store(true, Ordering::Relaxed);
    }

    /// Takes the request to stop back.
    pub fn resume(&self) {
        self.request().store(false, Ordering::Relaxed);
    }

    /// Whether steps are asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.request().load(Ordering::Relaxed)
    }

    fn request(&self) -> &AtomicBool {
        match &self.stop {
            StopRequest::Shared(stop) => stop,
            StopRequest::Static(stop) => stop,
        }
    }

    /// How far the step is.
    pub fn progress(&self) -> StepProgress {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { step, substeps, expected, rigid_steps, rigid_share } = &*self.counters;
        StepProgress {
            step: read(step),
            substeps: read(substeps),
            expected: read(expected),
            rigid_steps: read(rigid_steps),
            rigid_share: f64::from_bits(read(rigid_share)),
        }
    }

    /// Begins step number `step`, from 0.
    pub fn begin_step(&self, step: u64) {
        let Counters { substeps, expected, rigid_steps, rigid_share, .. } = &*self.counters;
        for counter in [substeps, expected, rigid_steps, rigid_share] {
            counter.store(0, Ordering::Relaxed);
        }
        self.counters.step.store(step, Ordering::Relaxed);
    }

    /// Says how many substeps the step has in all.
    pub fn expect_substeps(&self, expected: u64) {
        self.counters.expected.store(expected, Ordering::Relaxed);
    }

    /// Counts substeps that are done.
    pub fn count_substeps(&self, count: u64) {
        self.counters.substeps.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts a step of the bodies, after which this share of their advance is done \[-\].
    pub fn count_rigid_step(&self, share: f64) {
        self.counters.rigid_steps.fetch_add(1, Ordering::Relaxed);
        self.counters.rigid_share.store(share.to_bits(), Ordering::Relaxed);
    }
}
