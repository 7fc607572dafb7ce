//! Surfaces are made on a thread of their own, when they are asked for; those made last are kept. A
//! question that is not repeated is forgotten, and what is being made for it is given up.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::ViewerError;

/// Most bytes of surfaces that are kept; the one made last is kept whatever it has.
const KEPT_BYTES: usize = 256 << 20;

/// Most questions that wait; of more the oldest are forgotten.
const MOST_WANTED: usize = 16;

/// How long a question waits for its answer before it is told to ask again.
const PATIENCE: Duration = Duration::from_millis(150);

/// After this time a question that was not repeated is forgotten.
const LEASE: Duration = Duration::from_secs(3);

/// How often the maker looks whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// A frame of a run: number of the run, how often it was opened, number of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub run: usize,
    pub generation: u64,
    pub frame: usize,
}

/// The answer to a question.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The surfaces, encoded.
    Made(Arc<Vec<u8>>),
    /// They are not made yet: ask again.
    Pending,
}

/// Surfaces that were made, or why there are none.
type Outcome = Result<Arc<Vec<u8>>, ViewerError>;

/// How the making of a frame's surfaces ended: bytes, an error, or given up.
pub(crate) type Ended = Result<Option<Vec<u8>>, ViewerError>;

#[derive(Default)]
struct State {
    /// What is asked for, in this order, and when it was asked last.
    wanted: Vec<(Key, Instant)>,
    /// The answers, those used last at the end. An error is told once and then tried again.
    made: VecDeque<(Key, Outcome)>,
}

/// The surfaces of all runs.
pub(crate) struct Surfaces {
    state: Mutex<State>,
    /// Something is wanted or made.
    changed: Condvar,
    kept_bytes: usize,
}

impl Surfaces {
    /// None yet.
    pub fn new() -> Self {
        Self::keeping(KEPT_BYTES)
    }

    fn keeping(kept_bytes: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), kept_bytes }
    }

    /// The surfaces of a frame, or why there are none, or that they are still to come.
    ///
    /// # Errors
    /// [`ViewerError`]: the frame cannot be read, or has too much.
    pub fn ask(&self, key: Key) -> Result<Reply, ViewerError> {
        let begun = Instant::now();
        let mut state = self.lock();
        loop {
            if let Some(answer) = state.answer(key) {
                return answer.map(Reply::Made);
            }
            state.want(key, begun);
            self.changed.notify_all();
            let left = PATIENCE.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(Reply::Pending);
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Makes what is asked for, with `make`, until `stop` is set. `make` gets the frame, and whether it
    /// is still wanted.
    pub fn work(&self, stop: &AtomicBool, make: impl Fn(Key, &dyn Fn() -> bool) -> Ended) {
        while !stop.load(Ordering::Relaxed) {
            let Some(key) = self.next() else { continue };
            let is_wanted = || !stop.load(Ordering::Relaxed) && self.lock().is_wanted(key);
            let ended = make(key, &is_wanted);
            let mut state = self.lock();
            state.wanted.retain(|(wanted, _)| *wanted != key);
            if let Some(answer) = ended.transpose() {
                state.keep(key, answer.map(Arc::new), self.kept_bytes);
            }
            self.changed.notify_all();
        }
    }

    /// What is to be made next; waits a little if there is nothing.
    fn next(&self) -> Option<Key> {
        let mut state = self.lock();
        if state.wanted.is_empty() {
            let waited = self.changed.wait_timeout(state, STOP_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.wanted.retain(|(_, asked)| asked.elapsed() < LEASE);
        state.wanted.first().map(|(key, _)| *key)
    }

    /// The state is whole between any two statements: a thread that ended abnormally left it so.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The answer, if it is here; it counts as used.
    fn answer(&mut self, key: Key) -> Option<Outcome> {
        let at = self.made.iter().position(|(made, _)| *made == key)?;
        let (_, answer) = self.made.remove(at)?;
        if let Ok(bytes) = &answer {
            self.made.push_back((key, Ok(bytes.clone())));
        }
        Some(answer)
    }

    fn want(&mut self, key: Key, now: Instant) {
        match self.wanted.iter_mut().find(|(wanted, _)| *wanted == key) {
            Some((_, asked)) => *asked = (*asked).max(now),
            None => self.wanted.push((key, now)),
        }
        if self.wanted.len() > MOST_WANTED {
            self.wanted.remove(0);
        }
    }

    fn is_wanted(&self, key: Key) -> bool {
        self.wanted.iter().any(|(wanted, asked)| *wanted == key && asked.elapsed() < LEASE)
    }

    fn keep(&mut self, key: Key, answer: Outcome, most: usize) {
        self.made.push_back((key, answer));
        while self.made.len() > 1 && self.bytes() > most {
            self.made.pop_front();
        }
    }

    /// Bytes that are kept; an answer counts at least 4 kB, so that their number is bounded too.
    fn bytes(&self) -> usize {
        self.made.iter().map(|(_, answer)| answer.as_ref().map_or(0, |bytes| bytes.len()).max(4096)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn key(frame: usize) -> Key {
        Key { run: 0, generation: 1, frame }
    }

    /// Ends a maker, also when the test fails: it would wait for it for ever.
    struct Stop(Arc<AtomicBool>);

    impl Drop for Stop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Lets `ask` run against a maker that makes frames of `bytes` bytes.
    fn with_maker<T>(kept: usize, bytes: usize, ask: impl FnOnce(&Surfaces, &Mutex<Vec<usize>>) -> T) -> T {
        let (surfaces, stop, made) = (Surfaces::keeping(kept), Arc::default(), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            let (_ends, surfaces, made) = (Stop(Arc::clone(&stop)), &surfaces, &made);
            scope.spawn(move || {
                surfaces.work(&stop, |key, is_wanted| {
                    made.lock().unwrap().push(key.frame);
                    Ok(is_wanted().then(|| vec![key.frame as u8; bytes]))
                });
            });
            ask(surfaces, made)
        })
    }

    fn bytes(surfaces: &Surfaces, frame: usize) -> Arc<Vec<u8>> {
        loop {
            if let Reply::Made(bytes) = surfaces.ask(key(frame)).unwrap() {
                return bytes;
            }
        }
    }

    /// Law: no more is kept than the bound, what was used last stays, and is not made twice.
    #[test]
    fn the_surfaces_used_last_are_kept_within_the_bound() {
        with_maker(30_000, 10_000, |surfaces, made| {
            for frame in [0, 1, 2, 0, 3, 0, 4, 0] {
                assert_eq!(bytes(surfaces, frame)[0], frame as u8);
                assert!(surfaces.lock().bytes() <= 30_000);
            }
            assert_eq!(*made.lock().unwrap(), [0, 1, 2, 3, 4]);
            bytes(surfaces, 1);
            assert_eq!(made.lock().unwrap().last(), Some(&1));
        });
        // One that is larger than the bound is given all the same.
        with_maker(100, 10_000, |surfaces, _| assert_eq!(bytes(surfaces, 7).len(), 10_000));
    }

    /// Law: an error is told, and the next question tries again.
    #[test]
    fn an_error_is_told_once() {
        let (surfaces, stop, tries) = (Surfaces::new(), Arc::default(), Mutex::new(0));
        std::thread::scope(|scope| {
            let (_ends, surfaces, tries) = (Stop(Arc::clone(&stop)), &surfaces, &tries);
            scope.spawn(move || {
                surfaces.work(&stop, |_, _| {
                    *tries.lock().unwrap() += 1;
                    if *tries.lock().unwrap() == 1 { Err(ViewerError::NoRuns) } else { Ok(Some(vec![1])) }
                });
            });
            let first = loop {
                match surfaces.ask(key(0)) {
                    Ok(Reply::Pending) => {}
                    other => break other,
                }
            };
            assert!(matches!(first, Err(ViewerError::NoRuns)));
            assert_eq!(*bytes(surfaces, 0), [1]);
        });
    }

    /// Law: what nobody asks for any more is not made, and is given up while it is made.
    #[test]
    fn what_is_outdated_is_given_up() {
        let surfaces = Surfaces::new();
        let long_ago = Instant::now().checked_sub(2 * LEASE).unwrap();
        surfaces.lock().want(key(0), long_ago);
        surfaces.lock().want(key(1), Instant::now());
        assert_eq!(surfaces.next(), Some(key(1)));
        assert!(!surfaces.lock().is_wanted(key(0)) && surfaces.lock().is_wanted(key(1)));
        for frame in 0..100 {
            surfaces.lock().want(key(frame), Instant::now());
        }
        assert_eq!(surfaces.lock().wanted.len(), MOST_WANTED);
        assert!(!surfaces.lock().is_wanted(key(1)), "the oldest are forgotten first");
    }
}
