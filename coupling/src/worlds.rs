//! Many isolated worlds, stepped at once on the processor.

use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{BranchError, StepError};
use crate::report::StepReport;
use crate::world::World;

/// Worlds of one scene or of several that see nothing of each other. Each has particles, bodies,
/// motors and parameters of its own, and takes the same steps, with the same bits, as alone.
///
/// A thread takes one world at a time and does all of its step; for many small worlds that is faster
/// than all threads in one world after the other.
#[derive(Debug)]
pub struct Worlds {
    worlds: Vec<World>,
    workers: Workers,
}

/// Threads that share work on many things, each of which one thread does alone.
#[derive(Debug)]
pub struct Workers {
    /// One thread each, so that what runs in parallel in a piece of work stays in its thread.
    threads: Vec<ThreadPool>,
}

impl Workers {
    /// So many threads.
    ///
    /// # Errors
    /// [`WorldsError::Threads`].
    pub fn new(threads: usize) -> Result<Self, WorldsError> {
        let started = (0..threads).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
        let started = started.collect::<Result<Vec<_>, _>>();
        let threads = started.map_err(|error| WorldsError::Threads { threads, reason: error.to_string() })?;
        Ok(Self { threads })
    }

    /// Lets `work` do with each item what it likes, on all threads. It gets the number of the item;
    /// results are in the order of the items.
    pub fn each<I: Send, T: Send>(
        &self,
        items: &mut [I],
        work: impl Fn(usize, &mut I) -> T + Sync,
    ) -> Vec<T> {
        let mut results: Vec<Option<T>> = items.iter().map(|_| None).collect();
        {
            let pairs = items.iter_mut().zip(&mut results).enumerate();
            // Held for a moment between items, never within one.
            let next = Mutex::new(pairs);
            let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let run = || {
                while let Some((number, (item, result))) = take() {
                    *result = Some(work(number, item));
                }
            };
            std::thread::scope(|scope| {
                for thread in &self.threads {
                    scope.spawn(|| thread.install(run));
                }
            });
        }
        results.into_iter().flatten().collect()
    }
}

/// Worlds that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum WorldsError {
    /// The world to start from has no branch.
    #[error(transparent)]
    Branch(#[from] BranchError),
    /// The threads cannot be started.
    #[error("worlds: {threads} threads cannot be started: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        reason: String,
    },
}

impl Worlds {
    /// These worlds, on as many threads as the present `rayon` pool has.
    ///
    /// # Errors
    /// [`WorldsError::Threads`].
    pub fn new(worlds: Vec<World>) -> Result<Self, WorldsError> {
        Ok(Self { worlds, workers: Workers::new(rayon::current_num_threads())? })
    }

    /// `count` branches of a world.
    ///
    /// # Errors
    /// [`WorldsError`].
    pub fn branches(world: &World, count: usize) -> Result<Self, WorldsError> {
        let worlds = (0..count).map(|_| world.branch()).collect::<Result<_, _>>()?;
        Self::new(worlds)
    }

    /// Number of worlds.
    pub fn len(&self) -> usize {
        self.worlds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.worlds.is_empty()
    }

    /// The worlds, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &World> {
        self.worlds.iter()
    }

    /// The worlds, in order, to set their motors and parameters between steps.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut World> {
        self.worlds.iter_mut()
    }

    /// World number `world`, if there is one.
    pub fn get(&self, world: usize) -> Option<&World> {
        self.worlds.get(world)
    }

    /// The same, to change it between steps.
    pub fn get_mut(&mut self, world: usize) -> Option<&mut World> {
        self.worlds.get_mut(world)
    }

    /// Puts a branch of `from` in the place of world number `world`, if there is one: to begin
    /// again, also after a failure.
    ///
    /// # Errors
    /// [`BranchError`]; the world is as before then.
    pub fn reset(&mut self, world: usize, from: &World) -> Result<(), BranchError> {
        if let Some(place) = self.worlds.get_mut(world) {
            *place = from.branch()?;
        }
        Ok(())
    }

    /// Takes a step of every world; one result for each. A world that failed does not hold up the
    /// others, and gives [`StepError::Failed`] from then on until it is [reset](Self::reset).
    pub fn step(&mut self) -> Vec<Result<StepReport, StepError>> {
        self.each(|_, world| world.step())
    }

    /// Lets `work` do with each world what it likes, on all threads: a whole rollout, or a step with
    /// what comes before and after it. It gets the number of the world; results are in the order of
    /// the worlds.
    pub fn each<T: Send>(&mut self, work: impl Fn(usize, &mut World) -> T + Sync) -> Vec<T> {
        self.workers.each(&mut self.worlds, work)
    }
}
