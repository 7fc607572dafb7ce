//! Steps of many worlds at once.

use pyo3::prelude::*;

use crate::errors::{OrRaise, StepError, refused};
use crate::pool;
use crate::world::{Guard, Held, World};

/// Takes `count` steps of each world, each world on one thread. Returns, for each, none or the
/// exception that its step ended with: a world that failed does not hold up the others.
#[pyfunction]
#[pyo3(signature = (worlds, count = 1, *, threads = None))]
pub fn step_worlds(
    py: Python<'_>,
    worlds: Vec<Py<World>>,
    count: i64,
    threads: Option<usize>,
) -> PyResult<Vec<Option<PyErr>>> {
    let Ok(count @ 1..) = u64::try_from(count) else {
        return Err(refused(format!("count: {count} steps; it must be 1 or more")));
    };
    let workers = pool::workers(pool::thread_count(threads)?)?;
    // A world that is there twice is refused: its lock is taken.
    let mut guards = worlds.iter().map(|world| world.get().lock()).collect::<PyResult<Vec<Guard<'_>>>>()?;
    let mut held: Vec<&mut Held> = guards.iter_mut().map(|guard| &mut **guard).collect();
    let results = py.detach(|| workers.each(&mut held, |_, held| held.steps(count, None).1));
    for held in &mut held {
        held.warn_of_gain(py)?;
    }
    drop(held);
    py.check_signals()?;
    Ok(results.into_iter().map(|result| result.or_raise::<StepError>().err()).collect())
}
