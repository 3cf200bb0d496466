//! Errors, as exceptions of `torrance.errors`.

use std::fmt::Display;

use pyo3::prelude::*;
use renderer::{DeviceError, MachineError};
use torrance_scene::Error as SceneError;
use torrance_text::hint;

use crate::image::Image;

/// An exception of the module `torrance.errors`.
fn exception(name: &str, arguments: impl for<'py> pyo3::call::PyCallArgs<'py>) -> PyErr {
    Python::attach(|py| {
        let made = py.import("torrance.errors").and_then(|errors| errors.getattr(name)?.call1(arguments));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// The problems of a scene: file, line, column and message of each, and all of them as the program prints them.
pub(crate) fn of_scene(error: &SceneError) -> PyErr {
    let problems = error.problems.iter().map(|problem| {
        let (line, column) = problem.place.unzip();
        (problem.file.clone(), line, column, problem.message.clone(), problem.help.clone())
    });
    exception("SceneError", (error.report(false), problems.collect::<Vec<_>>()))
}

/// A value that is wrong.
pub(crate) fn of_value(error: impl Display) -> PyErr {
    exception("ParameterError", (error.to_string(),))
}

/// A device that is not there.
pub(crate) fn of_device(name: &str, error: &DeviceError) -> PyErr {
    exception("DeviceError", (format!("device {name:?}: {error}"),))
}

/// A machine that failed.
pub(crate) fn of_machine(error: &MachineError) -> PyErr {
    exception("DeviceError", (error.to_string(),))
}

/// A file that cannot be read or written.
pub(crate) fn of_file(error: impl Display) -> PyErr {
    pyo3::exceptions::PyOSError::new_err(error.to_string())
}

/// A render that was interrupted, with what there is of its image.
pub(crate) fn interrupted(py: Python<'_>, image: Image) -> PyErr {
    match Py::new(py, image) {
        Ok(image) => exception("Interrupted", (image,)),
        Err(error) => error,
    }
}

/// Warns, as `torrance.errors.Warning`.
pub(crate) fn warn(message: &str) -> PyResult<()> {
    Python::attach(|py| {
        let warnings = py.import("warnings")?;
        let category = py.import("torrance.errors")?.getattr("TorranceWarning")?;
        warnings.call_method1("warn", (message, category)).map(drop)
    })
}

/// What a name of users stands for. `wrong` is what to say of one that stands for nothing.
pub(crate) fn named<T: Copy>(wrong: &str, name: &str, all: &[(&str, T)]) -> PyResult<T> {
    let found = all.iter().find(|(known, _)| *known == name).map(|(_, meant)| *meant);
    let names = all.iter().map(|(known, _)| *known);
    found.ok_or_else(|| of_value(format_args!("{wrong} {name:?}{}", hint(name, "there are", names))))
}
