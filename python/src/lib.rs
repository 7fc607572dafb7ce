//! Pliant for Python: the extension module `pliant._pliant`, which the package `pliant` re-exports.
//!
//! A `World` is a scenario of the library. Its arrays are views of memory that it keeps (`arrays`);
//! a step releases the interpreter's lock (`pool` has the threads).

// A test program of Rust, which has no tests here, would miss the symbols of Python.
#![cfg(not(test))]

mod arrays;
mod batch;
mod body;
mod choice;
mod cloth;
mod convert;
mod errors;
mod motors;
mod particles;
mod picture;
mod pool;
mod report;
mod robot;
mod run;
mod scene;
mod told;
mod world;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _pliant {
    #[pymodule_export]
    use crate::arrays::Buffers;
    #[pymodule_export]
    use crate::batch::step_worlds;
    #[pymodule_export]
    use crate::body::Body;
    #[pymodule_export]
    use crate::errors::{
        BackendError, BusyError, ClosedError, Error, ForkError, PictureError, RobotError, RunError,
        SceneError, StateError, StepError, ValueError,
    };
    #[pymodule_export]
    use crate::picture::gif;
    #[pymodule_export]
    use crate::report::StepReport;
    #[pymodule_export]
    use crate::robot::Robot;
    #[pymodule_export]
    use crate::run::run;
    #[pymodule_export]
    use crate::scene::{estimate, read_scene, scene_names, scene_schema};
    #[pymodule_export]
    use crate::world::World;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("GIT_COMMIT", pliant_runner::machine::GIT_COMMIT)
    }
}
