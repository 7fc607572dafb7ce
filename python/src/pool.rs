//! The threads that step worlds: pools of this process, one for each number of threads.
//!
//! A process that was forked has none of the threads of its parent, so it makes pools of its own.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pliant_coupling::Workers;
use pliant_runner::machine::available_threads;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{Error, OrRaise, refused};

/// What is kept for one number of threads.
struct Kept<T> {
    process: u32,
    threads: usize,
    pool: Arc<T>,
}

static POOLS: Mutex<Vec<Kept<ThreadPool>>> = Mutex::new(Vec::new());
static WORKERS: Mutex<Vec<Kept<Workers>>> = Mutex::new(Vec::new());

/// Most threads that are taken: far more than any machine has, few enough to start.
const MOST_THREADS: usize = 1024;

/// The number of threads that a caller asked for, all of the machine's if for none.
pub fn thread_count(asked: Option<usize>) -> PyResult<usize> {
    match asked {
        Some(threads) if (1..=MOST_THREADS).contains(&threads) => Ok(threads),
        Some(threads) => Err(refused(format!("threads: {threads} must be from 1 to {MOST_THREADS}"))),
        None => Ok(available_threads()),
    }
}

/// A pool for work within one world.
pub fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    kept(&POOLS, threads, || ThreadPoolBuilder::new().num_threads(threads).build().or_raise::<Error>())
}

/// Threads that each step one world.
pub fn workers(threads: usize) -> PyResult<Arc<Workers>> {
    kept(&WORKERS, threads, || Workers::new(threads).or_raise::<Error>())
}

fn kept<T>(
    all: &Mutex<Vec<Kept<T>>>,
    threads: usize,
    start: impl FnOnce() -> PyResult<T>,
) -> PyResult<Arc<T>> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some(kept) = all.iter().find(|kept| kept.process == process && kept.threads == threads) {
        return Ok(Arc::clone(&kept.pool));
    }
    // Pools of a parent are never dropped: that would wait for threads that are not there.
    let pool = Arc::new(start()?);
    all.push(Kept { process, threads, pool: Arc::clone(&pool) });
    Ok(pool)
}
