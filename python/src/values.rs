//! Values of TOML and of Python.

use pyo3::prelude::*;
use pythonize::{depythonize, pythonize};
use toml::Value;

use crate::errors;

/// What a value of Python is in TOML.
pub(crate) fn to_toml(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    depythonize(value).map_err(|e| errors::of_value(format_args!("it cannot be a value of a scene: {e}")))
}

/// What a value of TOML is in Python.
pub(crate) fn to_python(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    Ok(pythonize(py, value)?.unbind())
}
