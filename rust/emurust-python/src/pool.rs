//! `PoolEngine`: the pool's machinery for `emurust.Pool`, which checks and explains.

#![expect(
    unsafe_code,
    reason = "numpy arrays are made over the pool's memory, and buffers of the caller given to it"
)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use emurust_pool::{
    Arrays, Autoreset, Backend, Buffers, DummySpec, GameConfig, GameRecipe, Inspect, Keeper, Pool,
    PoolError, PoolOptions, Progress, Recipe, Seeding, Start, StartChoice, TaskSource,
};
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1,
    PyReadwriteArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict};

use crate::engine::engine as engine_named;
use crate::errors::python::{ArgumentError, ArgumentTypeError, ClosedError};
use crate::errors::ToPyErr;
use crate::gate;
use crate::task_options::task_options;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PoolEngine>()?;
    module.add_class::<ArrayOwner>()?;
    module.add_function(wrap_pyfunction!(run_pool_worker, module)?)?;
    module.add_function(wrap_pyfunction!(episode_seed, module)?)?;
    module.add_function(wrap_pyfunction!(start_index, module)?)
}

mod python {
    pyo3::import_exception!(emurust.errors, StateError);
    pyo3::import_exception!(emurust.pool_errors, ForkedPoolError);
    pyo3::import_exception!(emurust.pool_errors, MachineError);
    pyo3::import_exception!(emurust.pool_errors, MachineIndexError);
    pyo3::import_exception!(emurust.pool_errors, PoolError);
    pyo3::import_exception!(emurust.pool_errors, PoolOrderError);
    pyo3::import_exception!(emurust.pool_errors, PoolMemoryError);
    pyo3::import_exception!(emurust.pool_errors, WorkerLostError);
    pyo3::import_exception!(emurust.pool_errors, WorkerStartError);
}

impl ToPyErr for PoolError {
    fn to_py_err(&self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Argument(_) => ArgumentError::new_err(message),
            Self::NoSuchMachine { .. } => python::MachineIndexError::new_err(message),
            Self::Order(_) => python::PoolOrderError::new_err(message),
            Self::Closed => ClosedError::new_err(message),
            Self::Forked { .. } => python::ForkedPoolError::new_err(message),
            Self::Machine { .. } => python::MachineError::new_err(message),
            Self::State { .. } | Self::StartState { .. } => python::StateError::new_err(message),
            Self::WorkerLost { .. } => python::WorkerLostError::new_err(message),
            Self::WorkerStart { .. } | Self::ThreadStart { .. } | Self::Segment(_) => {
                python::WorkerStartError::new_err(message)
            }
            Self::Memory { .. } => python::PoolMemoryError::new_err(message),
            Self::Rom(error) => error.to_py_err(),
            Self::Core(error) => error.to_py_err(),
            Self::Task(error) => error.to_py_err(),
            _ => python::PoolError::new_err(message),
        }
    }
}

/// How long a wait goes on before it looks for Ctrl-C.
const SIGNAL_LOOK: Duration = Duration::from_millis(100);

/// The base object of an array over a pool's memory.
#[pyclass(frozen, module = "emurust._emurust")]
struct ArrayOwner(#[expect(dead_code, reason = "held so that the memory lives")] Keeper);

/// Arrays of the caller, held so that they live as long as the pool.
type HeldBuffers = (
    Py<PyArray2<u8>>,
    Py<PyArray1<f32>>,
    Py<PyArray1<bool>>,
    Py<PyArray1<bool>>,
);

/// What a machine plays: number of the ROM, task file, its name, symbols (text and name),
/// options, start states (name and bytes; None: power-on).
type ConfigEntry<'py> = (
    usize,
    String,
    String,
    Option<(String, String)>,
    Bound<'py, PyDict>,
    Vec<(String, Option<PyBackedBytes>)>,
);

/// The machinery of `emurust.Pool`.
#[pyclass(frozen, module = "emurust._emurust")]
struct PoolEngine {
    pool: Mutex<Pool>,
    /// Dropped after the pool, which writes to them.
    #[expect(dead_code, reason = "held so that the arrays live")]
    buffers: Option<HeldBuffers>,
    info_names: Vec<String>,
}

#[pymethods]
impl PoolEngine {
    /// Game Boys that play tasks.
    #[staticmethod]
    #[pyo3(signature = (
        roms, configs, assignment, *, backend, workers, worker_command, batch_size, autoreset,
        first_index, engine, buffers
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn games(
        py: Python<'_>,
        roms: Vec<PyBackedBytes>,
        configs: Vec<ConfigEntry<'_>>,
        assignment: Vec<usize>,
        backend: &str,
        workers: Option<usize>,
        worker_command: Vec<OsString>,
        batch_size: Option<usize>,
        autoreset: &str,
        first_index: u64,
        engine: &str,
        buffers: Option<BufferArrays<'_>>,
    ) -> PyResult<Self> {
        let options = pool_options(
            backend,
            workers,
            worker_command,
            batch_size,
            autoreset,
            first_index,
        )?;
        let configs = configs
            .into_iter()
            .map(|(rom, text, file_name, symbols, options, starts)| {
                Ok(GameConfig {
                    rom,
                    task: TaskSource {
                        text,
                        file_name,
                        symbols,
                        options: task_options(&options)?,
                    },
                    starts: starts
                        .into_iter()
                        .map(|(name, state)| Start {
                            name,
                            state: state.map(|state| state.to_vec()),
                        })
                        .collect(),
                })
            })
            .collect::<PyResult<_>>()?;
        let recipe = GameRecipe {
            roms: roms.iter().map(|rom| rom.to_vec()).collect(),
            configs,
            assignment,
            engine: engine_named(engine)?,
        };
        Self::start(py, || Recipe::games(recipe), options, buffers)
    }

    /// Machines that only count.
    #[staticmethod]
    #[pyo3(signature = (
        machines, *, observation_len, episode_len, work, panic_action, backend, workers,
        worker_command, batch_size, autoreset, first_index, buffers
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn dummies(
        py: Python<'_>,
        machines: usize,
        observation_len: usize,
        episode_len: u64,
        work: u64,
        panic_action: Option<u32>,
        backend: &str,
        workers: Option<usize>,
        worker_command: Vec<OsString>,
        batch_size: Option<usize>,
        autoreset: &str,
        first_index: u64,
        buffers: Option<BufferArrays<'_>>,
    ) -> PyResult<Self> {
        let options = pool_options(
            backend,
            workers,
            worker_command,
            batch_size,
            autoreset,
            first_index,
        )?;
        let spec = DummySpec {
            observation_len,
            episode_len,
            work,
            panic_action,
        };
        Self::start(py, || Ok(Recipe::dummies(spec, machines)), options, buffers)
    }

    #[getter]
    fn observation_len(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |pool| pool.shape().observation_len)
    }

    #[getter]
    fn num_actions(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |pool| pool.shape().num_actions)
    }

    /// Names of the info values.
    #[getter]
    fn info_names(&self) -> Vec<String> {
        self.info_names.clone()
    }

    /// Threads or worker processes.
    #[getter]
    fn num_workers(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, Pool::num_workers)
    }

    #[getter]
    fn batch_size(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, Pool::batch_size)
    }

    /// Process numbers of worker processes.
    #[getter]
    fn worker_ids(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.look(py, Pool::worker_ids)
    }

    /// Machines that were lost and not recovered.
    #[getter]
    fn lost(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        self.look(py, Pool::broken)
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, Pool::is_closed)
    }

    /// Arrays over the results of all machines, by name.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (arrays, keeper, shape) = self.look(py, |pool| {
            let (arrays, keeper) = pool.arrays();
            (SendArrays(arrays), keeper, pool.shape())
        })?;
        array_dict(py, arrays.0, keeper, shape)
    }

    /// Arrays over the results of one receive; None if that is of all machines.
    fn batch_arrays<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = self.look(py, |pool| {
            pool.batch_arrays()
                .map(|(arrays, keeper)| (SendArrays(arrays), keeper, pool.shape()))
        })?;
        found
            .map(|(arrays, keeper, shape)| array_dict(py, arrays.0, keeper, shape))
            .transpose()
    }

    /// Steps all machines; results are in the arrays afterwards.
    fn step(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        let actions = Integers::from_array(actions, "actions")?;
        let values = actions.values();
        self.run(py, |pool| {
            check_count(values.len(), pool.len(), "actions")?;
            pool.begin_step(|machine| values.get(machine))
        })?;
        self.wait(py)?;
        self.run(py, |pool| {
            pool.finish_step();
            Ok(())
        })
    }

    /// Gives some machines (all by default) actions.
    #[pyo3(signature = (actions, machines=None))]
    fn send(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        machines: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let actions = Integers::from_array(actions, "actions")?;
        let machines = machines
            .map(|machines| Integers::from_array(machines, "env_ids"))
            .transpose()?;
        let actions = actions.values();
        let machines = machines.as_ref().map(Integers::values);
        self.run(py, |pool| match machines {
            None => {
                check_count(actions.len(), pool.len(), "actions")?;
                let all = 0..i64::try_from(pool.len()).unwrap_or(i64::MAX);
                pool.begin_send(all, |position| actions.get(position))
            }
            Some(machines) => {
                check_count(actions.len(), machines.len(), "actions")?;
                let chosen = (0..machines.len()).map(|position| machines.get(position));
                pool.begin_send(chosen, |position| actions.get(position))
            }
        })
    }

    /// Waits for the first results and writes the numbers of their machines to `machines`.
    fn recv(&self, py: Python<'_>, machines: &Bound<'_, PyArray1<i64>>) -> PyResult<()> {
        self.run(py, Pool::begin_recv)?;
        self.wait(py)?;
        let mut machines: PyReadwriteArray1<'_, i64> = machines
            .try_readwrite()
            .map_err(|error| ArgumentError::new_err(error.to_string()))?;
        let numbers = machines
            .as_slice_mut()
            .map_err(|error| ArgumentError::new_err(error.to_string()))?;
        self.run(py, |pool| {
            for (number, &machine) in numbers.iter_mut().zip(pool.finish_recv()) {
                *number = i64::from(machine);
            }
            Ok(())
        })
    }

    /// Begins episodes on all machines, or those in the mask.
    #[pyo3(signature = (seed=None, seeds=None, mask=None))]
    fn reset(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        seeds: Option<Vec<u64>>,
        mask: Option<Vec<bool>>,
    ) -> PyResult<()> {
        self.settle(py)?;
        self.run(py, |pool| {
            let seeding = match (seed, &seeds) {
                (_, Some(seeds)) => Seeding::Each(seeds),
                (Some(seed), None) => Seeding::One(seed),
                (None, None) => Seeding::Continue,
            };
            pool.begin_reset(seeding, mask.as_deref())
        })?;
        self.wait(py)?;
        self.run(py, |pool| {
            pool.finish_reset();
            Ok(())
        })
    }

    /// Makes lost machines anew, starting workers as needed, and resets them.
    fn recover(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, Pool::begin_recover)?;
        self.wait_for(py, Pool::poll_start)?;
        self.run(py, Pool::begin_recover_reset)?;
        self.wait(py)?;
        self.run(py, |pool| {
            pool.finish_recover();
            Ok(())
        })
    }

    fn get_state<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.run(py, |pool| pool.get_state(index))?;
        Ok(PyBytes::new(py, &state))
    }

    fn set_state(&self, py: Python<'_>, index: usize, state: PyBackedBytes) -> PyResult<()> {
        self.run(py, |pool| pool.set_state(index, &state))
    }

    fn streams(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        self.run(py, |pool| pool.streams())
    }

    fn episode_seeds(&self, py: Python<'_>) -> PyResult<Vec<Option<u64>>> {
        self.run(py, |pool| pool.episode_seeds())
    }

    fn resume_streams(&self, py: Python<'_>, streams: Vec<(u64, u64)>) -> PyResult<()> {
        self.run(py, |pool| pool.resume_streams(&streams))
    }

    fn fork(&self, py: Python<'_>, source: usize, target: usize) -> PyResult<()> {
        self.run(py, |pool| pool.fork(source, target))
    }

    /// Sets where a machine's episodes start: a name, a state, or None for the usual.
    #[pyo3(signature = (index, name=None, state=None))]
    fn set_start(
        &self,
        py: Python<'_>,
        index: usize,
        name: Option<PyBackedStr>,
        state: Option<PyBackedBytes>,
    ) -> PyResult<()> {
        self.settle(py)?;
        self.run(py, |pool| {
            let choice = match (&name, &state) {
                (Some(name), _) => StartChoice::Name(name),
                (None, Some(state)) => StartChoice::State(state),
                (None, None) => StartChoice::Usual,
            };
            pool.set_start(index, choice)
        })
    }

    /// A machine's address space, (65536,) uint8: a new array.
    fn ram<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let ram = self.run(py, |pool| {
            let mut ram = vec![0; pool.shape().ram_len];
            pool.inspect(index, Inspect::Ram, &mut ram)?;
            Ok(ram)
        })?;
        Ok(PyArray1::from_vec(py, ram))
    }

    /// Writes the screens of all machines to `out`, (machines, pixels) uint8.
    fn screens(&self, py: Python<'_>, out: &Bound<'_, PyArray2<u8>>) -> PyResult<()> {
        let mut out: PyReadwriteArray2<'_, u8> = out
            .try_readwrite()
            .map_err(|error| ArgumentError::new_err(error.to_string()))?;
        let bytes = out
            .as_slice_mut()
            .map_err(|error| ArgumentError::new_err(error.to_string()))?;
        self.run(py, |pool| {
            let len = pool.shape().screen_len;
            check_count(bytes.len(), len * pool.len(), "bytes for screens")?;
            for (index, screen) in bytes.chunks_exact_mut(len).enumerate() {
                pool.inspect(index, Inspect::Screen, screen)?;
            }
            Ok(())
        })
    }

    #[getter]
    fn screen_len(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |pool| pool.shape().screen_len)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |pool| {
            pool.close();
            Ok(())
        })
    }
}

/// Pointers on their way out of the lock.
struct SendArrays(Arrays);

// SAFETY: nothing is done with the pointers but making arrays of them, with a keeper.
unsafe impl Send for SendArrays {}

impl PoolEngine {
    fn start(
        py: Python<'_>,
        recipe: impl FnOnce() -> Result<Recipe, PoolError> + Send,
        options: PoolOptions,
        buffers: Option<BufferArrays<'_>>,
    ) -> PyResult<Self> {
        let pointers = buffers.as_ref().map(BufferArrays::pointers);
        let checks = buffers.as_ref().map(BufferArrays::lengths);
        let pool = py.detach(|| {
            gate::guarded(|| {
                let recipe = recipe().map_err(|error| error.to_py_err())?;
                if let Some((rows, row_len)) = checks {
                    check_buffers(&recipe, rows, row_len).map_err(|error| error.to_py_err())?;
                }
                Pool::new(recipe, options, pointers).map_err(|error| error.to_py_err())
            })
        })?;
        let engine = Self {
            info_names: pool.recipe().info_names(),
            pool: Mutex::new(pool),
            buffers: buffers.map(BufferArrays::hold),
        };
        engine.wait_for(py, Pool::poll_start)?;
        Ok(engine)
    }

    /// Something quick that cannot fail.
    fn look<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Pool) -> T) -> PyResult<T> {
        gate::brief(py, &self.pool, |pool| Ok(work(pool)))
    }

    /// Something that may take a while, with the GIL released.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Pool) -> Result<T, PoolError> + Send,
    ) -> PyResult<T> {
        gate::released(py, &self.pool, |pool| {
            work(pool).map_err(|error| error.to_py_err())
        })
    }

    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        self.wait_for(py, Pool::poll)
    }

    /// Polls until it is done, looking for signals in between.
    fn wait_for(
        &self,
        py: Python<'_>,
        poll: impl Fn(&mut Pool, Duration) -> Result<Progress, PoolError> + Sync,
    ) -> PyResult<()> {
        while self.run(py, |pool| poll(pool, SIGNAL_LOOK))? == Progress::Waiting {
            py.check_signals()?;
        }
        Ok(())
    }

    /// Waits for everything that is under way, after an interrupted call for example.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        if self.look(py, Pool::is_busy)? {
            self.run(py, Pool::begin_settle)?;
            self.wait(py)?;
        }
        Ok(())
    }
}

fn check_count(found: usize, expected: usize, what: &str) -> Result<(), PoolError> {
    if found == expected {
        Ok(())
    } else {
        Err(PoolError::Argument(format!(
            "expected {expected} {what}, got {found}"
        )))
    }
}

fn pool_options(
    backend: &str,
    workers: Option<usize>,
    worker_command: Vec<OsString>,
    batch_size: Option<usize>,
    autoreset: &str,
    first_index: u64,
) -> PyResult<PoolOptions> {
    let backend = match backend {
        "threads" => Backend::Threads(workers),
        "processes" => processes(workers, worker_command)?,
        _ => {
            return Err(ArgumentError::new_err(format!(
                "backend must be 'threads' or 'processes', not {backend:?}"
            )))
        }
    };
    let autoreset = match autoreset {
        "same_step" => Autoreset::SameStep,
        "next_step" => Autoreset::NextStep,
        "disabled" => Autoreset::Disabled,
        _ => {
            return Err(ArgumentError::new_err(format!(
                "autoreset must be 'same_step', 'next_step' or 'disabled', not {autoreset:?}"
            )))
        }
    };
    Ok(PoolOptions {
        backend,
        batch_size,
        autoreset,
        first_index,
    })
}

#[cfg(unix)]
fn processes(workers: Option<usize>, command: Vec<OsString>) -> PyResult<Backend> {
    let mut command = command.into_iter();
    let program = command
        .next()
        .ok_or_else(|| ArgumentError::new_err("worker processes need a command to run"))?;
    let program = emurust_pool::WorkerProgram {
        program: PathBuf::from(program),
        arguments: command.collect(),
    };
    Ok(Backend::Processes(workers, program))
}

#[cfg(not(unix))]
fn processes(_workers: Option<usize>, _command: Vec<OsString>) -> PyResult<Backend> {
    Err(python::PoolError::new_err(
        "worker processes are not available on this platform; use backend='threads', which uses \
         all cores too",
    ))
}

/// One-dimensional arrays of any integer type.
enum Integers<'py> {
    I64(PyReadonlyArray1<'py, i64>),
    I32(PyReadonlyArray1<'py, i32>),
    U8(PyReadonlyArray1<'py, u8>),
    /// Of another type, or not contiguous: copied.
    Copied(Vec<i64>),
}

/// Its elements.
#[derive(Clone, Copy)]
enum Values<'a> {
    I64(&'a [i64]),
    I32(&'a [i32]),
    U8(&'a [u8]),
}

impl Values<'_> {
    fn len(self) -> usize {
        match self {
            Self::I64(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::U8(values) => values.len(),
        }
    }
    fn get(self, index: usize) -> i64 {
        match self {
            Self::I64(values) => values[index],
            Self::I32(values) => values[index].into(),
            Self::U8(values) => values[index].into(),
        }
    }
}

impl<'py> Integers<'py> {
    fn from_array(array: &Bound<'py, PyAny>, what: &str) -> PyResult<Self> {
        if let Ok(array) = array.cast::<PyArray1<i64>>() {
            if array.is_c_contiguous() {
                return Ok(Self::I64(array.readonly()));
            }
        } else if let Ok(array) = array.cast::<PyArray1<i32>>() {
            if array.is_c_contiguous() {
                return Ok(Self::I32(array.readonly()));
            }
        } else if let Ok(array) = array.cast::<PyArray1<u8>>() {
            if array.is_c_contiguous() {
                return Ok(Self::U8(array.readonly()));
            }
        }
        array.extract().map(Self::Copied).map_err(|_| {
            ArgumentTypeError::new_err(format!(
                "{what} must be a one-dimensional array of integers"
            ))
        })
    }

    fn values(&self) -> Values<'_> {
        // All are contiguous: checked above.
        match self {
            Self::I64(array) => Values::I64(array.as_slice().unwrap_or_default()),
            Self::I32(array) => Values::I32(array.as_slice().unwrap_or_default()),
            Self::U8(array) => Values::U8(array.as_slice().unwrap_or_default()),
            Self::Copied(values) => Values::I64(values),
        }
    }
}

/// Arrays of the caller, whose dtypes, dimensions and flags Python has checked.
struct BufferArrays<'py> {
    observations: Bound<'py, PyArray2<u8>>,
    rewards: Bound<'py, PyArray1<f32>>,
    terminations: Bound<'py, PyArray1<bool>>,
    truncations: Bound<'py, PyArray1<bool>>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for BufferArrays<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (observations, rewards, terminations, truncations) = object.extract()?;
        let arrays = Self {
            observations,
            rewards,
            terminations,
            truncations,
        };
        let rows = arrays.observations.dims()[0];
        let usable = arrays.observations.is_c_contiguous()
            && arrays.rewards.is_c_contiguous()
            && arrays.terminations.is_c_contiguous()
            && arrays.truncations.is_c_contiguous()
            && arrays.rewards.len() == rows
            && arrays.terminations.len() == rows
            && arrays.truncations.len() == rows;
        // Says whether they are aligned and writeable, too.
        let writeable = arrays.observations.try_readwrite().is_ok()
            && arrays.rewards.try_readwrite().is_ok()
            && arrays.terminations.try_readwrite().is_ok()
            && arrays.truncations.try_readwrite().is_ok();
        if usable && writeable {
            Ok(arrays)
        } else {
            Err(ArgumentError::new_err(
                "buffers must be contiguous, writeable and have one row for every machine",
            ))
        }
    }
}

impl BufferArrays<'_> {
    fn lengths(&self) -> (usize, usize) {
        let dims = self.observations.dims();
        (dims[0], dims[1])
    }

    fn pointers(&self) -> Buffers {
        // SAFETY: contiguous, writeable, of the right types and with a row each (checked on the
        // way in; the number and length of the rows are checked against the recipe before a pool
        // is made). `PoolEngine` holds the arrays until the pool is dropped. That nobody looks at
        // a machine's rows while it runs is in the contract of `emurust.Pool`.
        unsafe {
            Buffers::new(
                self.observations.data(),
                self.rewards.data(),
                self.terminations.data().cast(),
                self.truncations.data().cast(),
            )
        }
    }

    fn hold(self) -> HeldBuffers {
        (
            self.observations.unbind(),
            self.rewards.unbind(),
            self.terminations.unbind(),
            self.truncations.unbind(),
        )
    }
}

fn check_buffers(recipe: &Recipe, rows: usize, row_len: usize) -> Result<(), PoolError> {
    let expected = (recipe.machines(), recipe.shape().observation_len);
    if (rows, row_len) == expected {
        Ok(())
    } else {
        Err(PoolError::Argument(format!(
            "the buffer for observations must have {} rows of {} bytes, not {rows} of {row_len}",
            expected.0, expected.1
        )))
    }
}

/// Arrays over a pool's results.
fn array_dict(
    py: Python<'_>,
    arrays: Arrays,
    keeper: Keeper,
    shape: emurust_pool::Shape,
) -> PyResult<Bound<'_, PyDict>> {
    let owner = Bound::new(py, ArrayOwner(keeper))?.into_any();
    let rows = arrays.rows;
    let dict = PyDict::new(py);
    let (olen, ilen, wlen) = (shape.observation_len, shape.info_len, shape.watch_len);
    // SAFETY: as many rows of these lengths as said are behind each pointer, initialised, and
    // stay while the owner lives (or, for buffers of the caller, `PoolEngine`, which holds them
    // and which `emurust.Pool` holds beside the arrays). Flags are written as 0 or 1 only.
    unsafe {
        dict.set_item(
            "observations",
            matrix(&owner, arrays.observations, rows, olen),
        )?;
        dict.set_item("rewards", vector(&owner, arrays.rewards, rows))?;
        dict.set_item(
            "terminations",
            vector(&owner, arrays.terminations.cast::<bool>(), rows),
        )?;
        dict.set_item(
            "truncations",
            vector(&owner, arrays.truncations.cast::<bool>(), rows),
        )?;
        dict.set_item("infos", matrix(&owner, arrays.infos, rows, ilen))?;
        dict.set_item("watch", matrix(&owner, arrays.watch, rows, wlen))?;
        dict.set_item("lost", vector(&owner, arrays.lost.cast::<bool>(), rows))?;
        if let Some((observations, infos, watch)) = arrays.finals {
            dict.set_item(
                "final_observations",
                matrix(&owner, observations, rows, olen),
            )?;
            dict.set_item("final_infos", matrix(&owner, infos, rows, ilen))?;
            dict.set_item("final_watch", matrix(&owner, watch, rows, wlen))?;
        }
    }
    Ok(dict)
}

/// # Safety
/// `data` points to `rows * len` elements that live as long as `owner`.
unsafe fn matrix<'py, T: Element>(
    owner: &Bound<'py, PyAny>,
    data: *mut T,
    rows: usize,
    len: usize,
) -> Bound<'py, PyArray2<T>> {
    // SAFETY: promised by the caller.
    unsafe {
        let view = ArrayView2::from_shape_ptr((rows, len), data);
        PyArray2::borrow_from_array(&view, owner.clone())
    }
}

/// # Safety
/// `data` points to `rows` elements that live as long as `owner`.
unsafe fn vector<'py, T: Element>(
    owner: &Bound<'py, PyAny>,
    data: *mut T,
    rows: usize,
) -> Bound<'py, PyArray1<T>> {
    // SAFETY: promised by the caller.
    unsafe {
        let view = ArrayView1::from_shape_ptr(rows, data);
        PyArray1::borrow_from_array(&view, owner.clone())
    }
}

/// Serves as a worker process; its standard input is the pool's shared block.
#[pyfunction]
fn run_pool_worker(py: Python<'_>, worker: usize, trainer: u32) -> PyResult<()> {
    #[cfg(unix)]
    return py.detach(|| {
        gate::guarded(|| {
            emurust_pool::run_worker(worker, trainer)
                .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
        })
    });
    #[cfg(not(unix))]
    {
        let _ = (py, worker, trainer);
        Err(python::PoolError::new_err(
            "worker processes are not available on this platform",
        ))
    }
}

/// The seed of an episode: of machine `index` of all machines under `seed`, the `episode`th.
#[pyfunction]
fn episode_seed(seed: u64, index: u64, episode: u64) -> u64 {
    emurust_pool::seeds::episode_seed(emurust_pool::seeds::stream(seed, index), episode)
}

/// Which of `count` start states the episode with that seed takes.
#[pyfunction]
fn start_index(episode_seed: u64, count: usize) -> usize {
    emurust_pool::seeds::start_index(episode_seed, count)
}
