//! A world in Python.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use numpy::PyArrayDyn;
use pliant_coupling::{EnergyBalance, StepError as StepFailure, StepReport as Report};
use pliant_render::KeptBackground;
use pliant_runner::machine::{BackendChoice, OpenBackend};
use pliant_runner::run::{ENERGY_GAIN_WARNING, energy_figures, energy_warning};
use pliant_scenes::Scenario;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice};
use rayon::ThreadPool;
use serde_json::json;

use crate::arrays::{self, Buffers, Field};
use crate::convert::array;
use crate::errors::{
    BackendError, BusyError, ClosedError, Error, ForkError, OrRaise, SceneError, StateError, StepError,
    raised, refused,
};
use crate::pool;
use crate::report::StepReport;
use crate::scene::{loaded, scene};
use crate::told::{self, Told};

/// Steps of one call go on for so long before signals (an interrupt from the keyboard) are looked at.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// What a world holds until it is closed.
pub struct Held {
    pub scenario: Scenario,
    pub threads: usize,
    /// Counts the changes of the particles.
    pub state: u64,
    /// The energy balance after the last step that was taken here.
    balance: EnergyBalance,
    /// What a program told motors of the scene.
    pub told: Told,
    /// The background of its pictures.
    pub kept: KeptBackground,
    /// The gain of energy, as a fraction of the energy input, above which a warning is given \[-\].
    allowed_gain: f64,
    /// Whether it was given.
    warned: bool,
}

/// A world of a scene. One thread at a time may use it.
#[pyclass(frozen, subclass, weakref, module = "pliant")]
pub struct World {
    held: Mutex<Option<Held>>,
    buffers: Py<Buffers>,
    process: u32,
}

/// A backend of its name: `cpu`, `cuda`, `cuda:1`, `cuda-emulated`.
pub fn backend(name: &str) -> PyResult<BackendChoice> {
    let device = name.strip_prefix("cuda:").and_then(|number| number.parse().ok());
    match (name, device) {
        ("cpu", _) => Ok(BackendChoice::Cpu),
        ("cuda", _) => Ok(BackendChoice::Cuda { device: 0 }),
        ("cuda-emulated", _) => Ok(BackendChoice::CudaEmulated),
        (_, Some(device)) => Ok(BackendChoice::Cuda { device }),
        _ => Err(refused(format!(
            "backend: '{name}' must be 'cpu', 'cuda', 'cuda:N' (device N) or 'cuda-emulated'"
        ))),
    }
}

/// The lock of a world for one call.
pub struct Guard<'a>(MutexGuard<'a, Option<Held>>);

impl std::ops::Deref for Guard<'_> {
    type Target = Held;

    #[expect(
        clippy::expect_used,
        reason = "a guard is made of a world that is open, and nothing closes it then"
    )]
    fn deref(&self) -> &Held {
        self.0.as_ref().expect("an open world")
    }
}

impl std::ops::DerefMut for Guard<'_> {
    #[expect(clippy::expect_used, reason = "as above")]
    fn deref_mut(&mut self) -> &mut Held {
        self.0.as_mut().expect("an open world")
    }
}

impl World {
    /// What the world holds, for this call alone.
    pub fn lock(&self) -> PyResult<Guard<'_>> {
        let held = self.take_lock()?;
        if held.is_none() {
            return Err(raised::<ClosedError>("the world was closed"));
        }
        Ok(Guard(held))
    }

    fn take_lock(&self) -> PyResult<MutexGuard<'_, Option<Held>>> {
        if self.process != process::id() {
            return Err(raised::<ForkError>(format!(
                "the world was made in process {}, of which this one, {}, is a fork: its threads are not here; \
                 save its state there and read it into a world made here, or start processes with 'spawn'",
                self.process,
                process::id()
            )));
        }
        match self.held.try_lock() {
            Ok(held) => Ok(held),
            // A panic is a defect of the library; the world must not be used after it.
            Err(TryLockError::Poisoned(_)) => Err(raised::<Error>("the world broke in an earlier call")),
            Err(TryLockError::WouldBlock) => Err(raised::<BusyError>(
                "another thread is using this world; a world is for one thread at a time, several worlds are not",
            )),
        }
    }

    fn of(
        py: Python<'_>,
        scenario: Scenario,
        told: Told,
        threads: usize,
        allowed_gain: f64,
    ) -> PyResult<Self> {
        let (balance, kept) = (EnergyBalance::default(), KeptBackground::default());
        let held = Held { scenario, threads, state: 0, balance, told, kept, allowed_gain, warned: false };
        let buffers = Py::new(py, Buffers::default())?;
        Ok(Self { held: Mutex::new(Some(held)), buffers, process: process::id() })
    }

    fn particles<'py>(&self, py: Python<'py>, field: Field) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let mut held = self.lock()?;
        let state = held.state;
        arrays::view(self.buffers.bind(py), field, &mut held.scenario.world, state)
    }
}

impl Held {
    /// The pool that its steps run in.
    pub fn pool(&self) -> PyResult<Arc<ThreadPool>> {
        pool::pool(self.threads)
    }

    /// Takes up to `count` steps, until `end`.
    pub fn steps(&mut self, count: u64, end: Option<Instant>) -> (u64, Result<Option<Report>, StepFailure>) {
        let mut last = None;
        for done in 0..count {
            if done > 0 && end.is_some_and(|end| Instant::now() >= end) {
                return (done, Ok(last));
            }
            self.state += 1;
            if let Err(error) = self.scenario.set_motors() {
                return (done, Err(error));
            }
            told::apply(&self.told, &mut self.scenario);
            match self.scenario.world.step() {
                Ok(report) => last = Some(report),
                Err(error) => return (done, Err(error)),
            }
            // Gains of energy are exact only if they are looked at after every step.
            self.balance = self.scenario.world.diagnostics().energy;
        }
        (count, Ok(last))
    }

    /// Tells once that the scheme created energy.
    pub fn warn_of_gain(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.warned {
            return Ok(());
        }
        let Some(text) = energy_warning(&self.balance, self.allowed_gain) else {
            return Ok(());
        };
        self.warned = true;
        let text = std::ffi::CString::new(format!("t = {:.4} s: {text}", self.scenario.world.time()))?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)
    }
}

#[pymethods]
impl World {
    /// See `_pliant.pyi`.
    #[new]
    #[pyo3(signature = (scene, changes = None, *, backend = "cpu", threads = None,
                        energy_gain = ENERGY_GAIN_WARNING))]
    fn new(
        py: Python<'_>,
        scene: &Bound<'_, PyAny>,
        changes: Option<&Bound<'_, PyDict>>,
        backend: &str,
        threads: Option<usize>,
        energy_gain: f64,
    ) -> PyResult<Self> {
        if energy_gain.is_nan() || energy_gain < 0.0 {
            return Err(refused(format!("energy_gain: {energy_gain} must not be negative")));
        }
        let scene = self::scene(scene, changes)?;
        let backend = self::backend(backend)?;
        let threads = pool::thread_count(threads)?;
        let workers = pool::pool(threads)?;
        let built = py.detach(|| {
            workers.install(|| {
                let mut scenario = Scenario::new(&scene).or_raise::<SceneError>()?;
                let opened: OpenBackend = backend.open().or_raise::<BackendError>()?;
                opened.attach(&mut scenario.world).or_raise::<BackendError>()?;
                PyResult::Ok(scenario)
            })
        })?;
        Self::of(py, built, Told::new(), threads, energy_gain)
    }

    #[pyo3(signature = (count = 1))]
    fn step(&self, py: Python<'_>, count: i64) -> PyResult<StepReport> {
        let Ok(count @ 1..) = u64::try_from(count) else {
            return Err(refused(format!("count: {count} steps; it must be 1 or more")));
        };
        let mut held = self.lock()?;
        let pool = held.pool()?;
        let mut left = count;
        let mut last = None;
        while left > 0 {
            let inner = &mut *held;
            let end = Some(Instant::now() + SIGNAL_INTERVAL);
            let (done, result) = py.detach(|| pool.install(|| inner.steps(left, end)));
            left -= done;
            last = result.or_raise::<StepError>()?;
            held.warn_of_gain(py)?;
            py.check_signals()?;
        }
        let report = last.ok_or_else(|| raised::<Error>("no step was taken"))?;
        Ok(StepReport::new(held.scenario.world.time(), &report))
    }

    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.scenario.world.time())
    }

    #[getter]
    fn step_count(&self) -> PyResult<u64> {
        Ok(self.lock()?.scenario.world.step_count())
    }

    #[getter]
    fn dt(&self) -> PyResult<f64> {
        Ok(self.lock()?.scenario.scene.dt)
    }

    #[getter]
    fn duration(&self) -> PyResult<f64> {
        Ok(self.lock()?.scenario.scene.duration)
    }

    #[getter]
    fn substeps(&self) -> PyResult<u32> {
        Ok(self.lock()?.scenario.world.substeps())
    }

    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(array(py, &self.lock()?.scenario.world.gravity()).into_any())
    }

    #[getter]
    fn threads(&self) -> PyResult<usize> {
        Ok(self.lock()?.threads)
    }

    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.lock()?.scenario.scene.name.clone())
    }

    #[getter]
    fn scene<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = serde_json::to_value(&self.lock()?.scenario.scene).or_raise::<SceneError>()?;
        loaded(py, &value)
    }

    #[getter]
    fn warnings(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.scenario.warnings.clone())
    }

    #[getter]
    fn failure(&self) -> PyResult<Option<String>> {
        Ok(self.lock()?.scenario.world.failure().map(str::to_owned))
    }

    #[getter]
    fn particle_count(&self) -> PyResult<usize> {
        Ok(self.lock()?.scenario.world.particle_count())
    }

    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.particles(py, Field::Positions)
    }

    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.particles(py, Field::Velocities)
    }

    #[getter]
    fn deformation_gradients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.particles(py, Field::DeformationGradients)
    }

    #[getter]
    fn velocity_gradients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.particles(py, Field::VelocityGradients)
    }

    #[getter]
    fn histories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.particles(py, Field::Histories)
    }

    #[getter]
    fn stresses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.particles(py, Field::Stresses)
    }

    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.particles(py, Field::Masses)
    }

    #[getter]
    fn volumes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.particles(py, Field::Volumes)
    }

    /// Particles of each soft body by its name, as slices of the arrays.
    #[getter]
    fn soft<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let held = self.lock()?;
        let (scene, all) = (&held.scenario.scene, PyDict::new(py));
        for (spec, part) in scene.soft.iter().zip(&held.scenario.parts) {
            all.set_item(&spec.name, PySlice::new(py, part.start as isize, part.end as isize, 1))?;
        }
        Ok(all)
    }

    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut held = self.lock()?;
        let terms = energy_figures(&held.scenario.world.energy());
        loaded(py, &serde_json::to_value(terms).or_raise::<Error>()?)
    }

    fn balance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut held = self.lock()?;
        let b = held.scenario.world.balance();
        let measured = [
            ("mass", Some(b.mass)),
            ("linear_momentum", Some(b.linear_momentum)),
            ("angular_momentum", Some(b.angular_momentum)),
            ("energy", b.energy),
        ];
        // Without particles there are no errors of theirs.
        let measured =
            measured.into_iter().filter_map(|(name, x)| Some((name, x.filter(|x| x.is_finite())?)));
        let told = measured.map(|(name, error)| (name.to_owned(), json!(error))).collect();
        loaded(py, &serde_json::Value::Object(told))
    }

    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut held = self.lock()?;
        let d = held.scenario.world.diagnostics();
        let value = json!({
            "time": d.time,
            "mass": d.mass,
            "center_of_mass": d.center_of_mass.as_slice(),
            "linear_momentum": d.linear_momentum.as_slice(),
            "angular_momentum": d.angular_momentum.as_slice(),
            "kinetic_energy": d.kinetic_energy,
            "elastic_energy": d.elastic_energy,
            "gravitational_energy": d.gravitational_energy,
            "dissipation": d.dissipation,
        });
        loaded(py, &value)
    }

    /// The state as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut held = self.lock()?;
        let mut state = Vec::new();
        if !held.scenario.seen().is_empty() {
            // A line of its own before the world's state.
            serde_json::to_writer(&mut state, held.scenario.seen()).or_raise::<StateError>()?;
            state.push(b'\n');
        }
        held.scenario.world.write_state(&mut state).or_raise::<StateError>()?;
        Ok(PyBytes::new(py, &state))
    }

    /// Takes over a state that was saved.
    fn restore(&self, state: &[u8]) -> PyResult<()> {
        let mut held = self.lock()?;
        let mut input = state;
        let mut seen = Vec::new();
        if !held.scenario.seen().is_empty() {
            let line = state.split(|byte| *byte == b'\n').next().unwrap_or_default();
            seen = serde_json::from_slice(line).or_raise::<StateError>()?;
            input = state.get(line.len() + 1..).unwrap_or_default();
        }
        if seen.len() != held.scenario.seen().len() {
            return Err(raised::<StateError>("state: it is of a scene with other sightings"));
        }
        held.scenario.world.read_state(&mut input).or_raise::<StateError>()?;
        // As many as there are sightings.
        let _ = held.scenario.set_seen(seen);
        held.state += 1;
        Ok(())
    }

    /// A world that continues from the same state, with the same bits.
    fn branch(&self, py: Python<'_>) -> PyResult<Self> {
        let held = self.lock()?;
        let scenario = held.scenario.branch().or_raise::<StateError>()?;
        Self::of(py, scenario, held.told.clone(), held.threads, held.allowed_gain)
    }

    /// Frees the memory; arrays that are still there stay valid.
    fn close(&self) -> PyResult<()> {
        *self.take_lock()? = None;
        Ok(())
    }

    #[getter]
    fn closed(&self) -> PyResult<bool> {
        Ok(self.take_lock()?.is_none())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close()
    }

    fn __repr__(&self) -> String {
        match self.lock() {
            Ok(held) => format!(
                "World('{}', time={}, particles={}, bodies={})",
                held.scenario.scene.name,
                held.scenario.world.time(),
                held.scenario.world.particle_count(),
                held.scenario.world.bodies().len()
            ),
            Err(error) => format!("World({error})"),
        }
    }
}
