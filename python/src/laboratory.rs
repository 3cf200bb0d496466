//! Materials on arrays of directions, and the conformance of BSDFs of others.

use std::process;
use std::sync::{Mutex, PoisonError};

use bytemuck::cast_slice_mut;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use renderer::assemble::Swatches;
use renderer::bsdf::{
    BatchBsdf, Channel, Conformance, KINDS, Precision, Report, SampleColumns, Samples, Study, Subject,
    albedo, conformance,
};
use renderer::{DeviceChoice, Machine};
use torrance_plot::chart::ThemeName;
use torrance_scene::{Masking, Named, StandaloneMaterial, material_from_text};

use crate::errors;
use crate::pool::work;

/// Vectors, one a row.
type Vectors = PyArray2<f32>;

/// A material on a machine.
#[pyclass(frozen, module = "torrance._torrance")]
pub(crate) struct Bsdf {
    name: String,
    subject: Subject,
    choice: DeviceChoice,
    device: String,
    machine: Mutex<Owned>,
}

/// A machine of a process.
struct Owned {
    machine: Machine,
    process: u32,
}

/// Starts the machine of a choice that users call `device`.
fn start(choice: &DeviceChoice, device: &str) -> PyResult<Owned> {
    let mut found = choice.find().map_err(|e| errors::of_device(device, &e))?;
    let machine = found.start(None).map_err(|e| errors::of_machine(&e))?;
    Ok(Owned { machine, process: process::id() })
}

/// [`Conformance`], as a dict of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct How {
    angles: Vec<f64>,
    azimuth: f64,
    samples: u32,
    significance: f64,
    tolerance: f64,
    seed: u32,
}

impl From<How> for Conformance {
    fn from(how: How) -> Self {
        let How { angles, azimuth, samples, significance, tolerance, seed } = how;
        Self { angles, azimuth, samples, significance, tolerance, seed }
    }
}

/// A finding of a test: its name, whether it is passed, its statistic and limit, the angle of ωo, and a sentence.
type Finding = (&'static str, bool, f64, f64, f64, String);

/// A chart: SVG, CSV, and figures by name.
type Drawn = (String, String, Vec<(&'static str, f64)>);

#[pymethods]
impl Bsdf {
    /// A material by the keys of its table, as TOML.
    #[new]
    fn new(py: Python<'_>, text: &str, masking: &str, device: &str) -> PyResult<Self> {
        let StandaloneMaterial { material, images, textures } =
            material_from_text("material", text).map_err(|e| errors::of_scene(&e))?;
        let swatches = Swatches::new(&images, &textures).map_err(errors::of_value)?;
        let wrong = |e| errors::of_value(format_args!("device {device:?}: {e}"));
        let choice: DeviceChoice = device.parse().map_err(wrong)?;
        let machine = work(py, || start(&choice, device))?;
        let name = material.name.clone();
        let subject =
            Subject::new(material, errors::named("masking: unknown", masking, Masking::NAMES)?, swatches);
        if subject.masking() != Masking::Correlated && subject.has_own_masking() {
            let why = "the material is the same with every masking function";
            return Err(errors::of_value(format_args!("masking {masking:?}: {why}")));
        }
        Ok(Self { name, subject, choice, device: device.to_owned(), machine: Mutex::new(machine) })
    }

    /// What it is, in words.
    fn describe(&self) -> String {
        self.subject.describe()
    }

    /// The machine's name.
    fn device(&self) -> String {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner).machine.name()
    }

    /// f of pairs of directions, without the cosine, (N, 3).
    fn eval(
        &self,
        py: Python<'_>,
        wo: PyReadonlyArray2<'_, f32>,
        wi: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<Py<Vectors>> {
        let (wo, wi) = (vectors(&wo)?, vectors(&wi)?);
        let mut f = vec![[0.0; 3]; wi.len()];
        self.with(py, |machine| machine.laboratory(&self.subject)?.eval(wo, wi, &mut f))?;
        of_vectors(py, f)
    }

    /// Densities of pairs of directions, (N,).
    fn pdf(
        &self,
        py: Python<'_>,
        wo: PyReadonlyArray2<'_, f32>,
        wi: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<Py<PyArray1<f32>>> {
        let (wo, wi) = (vectors(&wo)?, vectors(&wi)?);
        let mut pdf = vec![0.0; wi.len()];
        self.with(py, |machine| machine.laboratory(&self.subject)?.pdf(wo, wi, &mut pdf))?;
        Ok(PyArray1::from_vec(py, pdf).unbind())
    }

    /// Draws directions: wi, weights, densities, relative indices of refraction, flags.
    #[expect(clippy::type_complexity, reason = "Python takes it apart")]
    fn sample(
        &self,
        py: Python<'_>,
        wo: PyReadonlyArray2<'_, f32>,
        u: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<(Py<Vectors>, Py<Vectors>, Py<PyArray1<f32>>, Py<PyArray1<f32>>, Py<PyArray1<u8>>)> {
        let (wo, u) = (vectors(&wo)?, vectors(&u)?);
        let mut columns = SampleColumns::new(u.len());
        self.with(py, |machine| machine.laboratory(&self.subject)?.sample(wo, u, columns.room()))?;
        let SampleColumns { wi, weight, pdf, eta, flags } = columns;
        let numbers = |values| PyArray1::from_vec(py, values).unbind();
        Ok((
            of_vectors(py, wi)?,
            of_vectors(py, weight)?,
            numbers(pdf),
            numbers(eta),
            PyArray1::from_vec(py, flags).unbind(),
        ))
    }

    /// What of light from each direction is reflected, and what is transmitted, by quadrature, (N, 3) each.
    fn albedo(&self, py: Python<'_>, wo: PyReadonlyArray2<'_, f32>) -> PyResult<(Py<Vectors>, Py<Vectors>)> {
        use rayon::prelude::*;
        let (wo, bsdf) = (vectors(&wo)?, self.subject.bsdf());
        let mut all = Vec::new();
        // So many at a time that Ctrl-C has not long to wait.
        for some in wo.chunks(16) {
            py.check_signals()?;
            let of = |wo: &[f32; 3]| albedo(&bsdf, (*wo).into(), Precision::CURVE);
            all.extend(work(py, || some.par_iter().map(of).collect::<Vec<_>>()));
        }
        let (reflected, transmitted) = all
            .iter()
            .map(|albedo| (albedo.reflected.as_vec3().to_array(), albedo.transmitted.as_vec3().to_array()))
            .unzip();
        Ok((of_vectors(py, reflected)?, of_vectors(py, transmitted)?))
    }

    /// Tests it.
    fn conformance(&self, py: Python<'_>, how: How) -> PyResult<Vec<Finding>> {
        let how = how.into();
        let report = self.with(py, |machine| conformance(&mut machine.laboratory(&self.subject)?, &how))?;
        Ok(findings(report))
    }

    /// Names of charts.
    #[staticmethod]
    fn charts() -> Vec<&'static str> {
        KINDS.iter().map(|(name, _)| *name).collect()
    }

    /// A chart: SVG, its numbers as CSV, and figures by name.
    fn chart(&self, py: Python<'_>, name: &str, angles: Vec<f64>, azimuth: f64) -> PyResult<Drawn> {
        let kind = errors::named("there is no chart", name, KINDS)?;
        let study = Study {
            name: self.name.clone(),
            subject: self.subject.clone(),
            angles,
            azimuth,
            channel: Channel::default(),
            theme: ThemeName::Light,
            size: None,
        };
        let chart = work(py, || study.chart(kind)).map_err(errors::of_value)?;
        let (width, height) = chart.size;
        let svg = chart.drawing.svg(width, height).map_err(errors::of_value)?;
        Ok((svg, chart.table.csv().to_owned(), chart.facts))
    }
}

impl Bsdf {
    /// Has the machine do something with the material.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut Machine) -> Result<R, torrance_gpu::backend::Error> + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            let owned = &mut *self.machine.lock().unwrap_or_else(PoisonError::into_inner);
            if owned.process != process::id() {
                // It has threads, or a context of a driver, that a forked process has not.
                std::mem::forget(std::mem::replace(owned, start(&self.choice, &self.device)?));
            }
            let machine = &mut owned.machine;
            ask(machine).map_err(|error| errors::of_machine(&machine.failed(error)))
        })
    }
}

/// The first row that is not a unit vector, to within a thousandth.
#[pyfunction]
pub(crate) fn not_unit(py: Python<'_>, rows: PyReadonlyArray2<'_, f32>) -> PyResult<Option<usize>> {
    use rayon::prelude::*;
    let rows = vectors(&rows)?;
    let is_unit = |v: &[f32; 3]| (v.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 2e-3;
    Ok(work(py, || rows.par_iter().with_min_len(1 << 14).position_first(|v| !is_unit(v))))
}

/// A BSDF that Python computes.
struct Foreign<'a> {
    eval: &'a Py<PyAny>,
    pdf: &'a Py<PyAny>,
    sample: &'a Py<PyAny>,
}

/// Tests a BSDF that Python computes: `eval(wo, wi)`, `pdf(wo, wi)`, and `sample(wo, u)`, which gives wi, weights, densities,
/// relative indices of refraction and flags. All arrays are what [`Bsdf`] takes and gives.
#[pyfunction]
pub(crate) fn conformance_of(
    eval: Py<PyAny>,
    pdf: Py<PyAny>,
    sample: Py<PyAny>,
    how: How,
) -> PyResult<Vec<Finding>> {
    conformance(&mut Foreign { eval: &eval, pdf: &pdf, sample: &sample }, &how.into()).map(findings)
}

impl BatchBsdf for Foreign<'_> {
    type Error = PyErr;

    fn eval(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], f: &mut [[f32; 3]]) -> PyResult<()> {
        Python::attach(|py| {
            let answer = self.eval.bind(py).call1((to_array(py, wo)?, to_array(py, wi)?))?;
            copy_vectors(&answer, f)
        })
    }

    fn pdf(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], pdf: &mut [f32]) -> PyResult<()> {
        Python::attach(|py| {
            let answer = self.pdf.bind(py).call1((to_array(py, wo)?, to_array(py, wi)?))?;
            copy(&answer, pdf)
        })
    }

    fn sample(&mut self, wo: &[[f32; 3]], u: &[[f32; 3]], to: Samples<'_>) -> PyResult<()> {
        Python::attach(|py| {
            let answer = self.sample.bind(py).call1((to_array(py, wo)?, to_array(py, u)?))?;
            copy_vectors(&answer.get_item(0)?, to.wi)?;
            copy_vectors(&answer.get_item(1)?, to.weight)?;
            copy(&answer.get_item(2)?, to.pdf)?;
            copy(&answer.get_item(3)?, to.eta)?;
            let flags = answer.get_item(4)?.extract::<PyReadonlyArray1<'_, u8>>()?;
            copy_slice(flags.as_slice().map_err(errors::of_value)?, to.flags)
        })
    }
}

fn copy(from: &Bound<'_, PyAny>, to: &mut [f32]) -> PyResult<()> {
    let from = from.extract::<PyReadonlyArray1<'_, f32>>()?;
    copy_slice(from.as_slice().map_err(errors::of_value)?, to)
}

fn copy_vectors(from: &Bound<'_, PyAny>, to: &mut [[f32; 3]]) -> PyResult<()> {
    let from = from.extract::<PyReadonlyArray2<'_, f32>>()?;
    copy_slice(from.as_slice().map_err(errors::of_value)?, cast_slice_mut(to))
}

fn copy_slice<T: Copy>(from: &[T], to: &mut [T]) -> PyResult<()> {
    if from.len() != to.len() {
        return Err(errors::of_value(format_args!("{} numbers were returned, not {}", from.len(), to.len())));
    }
    to.copy_from_slice(from);
    Ok(())
}

fn findings(report: Report) -> Vec<Finding> {
    let told = |finding: renderer::bsdf::Finding| {
        let renderer::bsdf::Finding { name, passed, statistic, limit, theta_o, sentence } = finding;
        (name, passed, statistic, limit, theta_o, sentence)
    };
    report.findings.into_iter().map(told).collect()
}

/// The rows of an array (N, 3) in C order.
fn vectors<'a>(array: &'a PyReadonlyArray2<'_, f32>) -> PyResult<&'a [[f32; 3]]> {
    if array.shape()[1] != 3 {
        return Err(errors::of_value(format_args!("expected (N, 3), not {:?}", array.shape())));
    }
    Ok(array.as_slice().map_err(errors::of_value)?.as_chunks::<3>().0)
}

fn of_vectors(py: Python<'_>, rows: Vec<[f32; 3]>) -> PyResult<Py<Vectors>> {
    let n = rows.len();
    Ok(PyArray1::from_vec(py, rows.into_flattened()).reshape([n, 3])?.unbind())
}

fn to_array<'py>(py: Python<'py>, rows: &[[f32; 3]]) -> PyResult<Bound<'py, Vectors>> {
    PyArray1::from_slice(py, rows.as_flattened()).reshape([rows.len(), 3])
}
