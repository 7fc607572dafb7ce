//! Exceptions: one class for each kind of failure, with the words of the library's own errors.

use std::fmt::Display;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(pliant, Error, PyException, "What Pliant refuses, or cannot do.");
create_exception!(pliant, SceneError, Error, "A scene that cannot be read, is not valid, or has no world.");
create_exception!(pliant, StepError, Error, "A step that could not be finished; the world has failed.");
create_exception!(pliant, StateError, Error, "A state that cannot be saved, read or branched.");
create_exception!(
    pliant,
    RobotError,
    Error,
    "A name that a robot does not have, or an input that it refuses."
);
create_exception!(pliant, BackendError, Error, "A backend that is not there, or that refuses a world.");
create_exception!(pliant, PictureError, Error, "A picture that cannot be drawn.");
create_exception!(pliant, RunError, Error, "A run that cannot be begun, or whose files cannot be written.");
create_exception!(pliant, BusyError, Error, "A world that another thread is using.");
create_exception!(pliant, ClosedError, Error, "A world that was closed.");
create_exception!(pliant, ForkError, Error, "A world of the process that this one was forked from.");
create_exception!(pliant, ValueError, PyValueError, "A value of the wrong shape, or out of its range.");

/// An exception with the words of an error.
pub fn raised<E: pyo3::PyTypeInfo>(error: impl Display) -> PyErr {
    PyErr::new::<E, _>(error.to_string())
}

/// The exception of a value that is refused.
pub fn refused(text: impl Display) -> PyErr {
    raised::<ValueError>(text)
}

/// The exception of a result, with the words of its error.
pub trait OrRaise<T> {
    /// As an exception of the class `E`.
    fn or_raise<E: pyo3::PyTypeInfo>(self) -> PyResult<T>;
}

impl<T, F: Display> OrRaise<T> for Result<T, F> {
    fn or_raise<E: pyo3::PyTypeInfo>(self) -> PyResult<T> {
        self.map_err(raised::<E>)
    }
}
