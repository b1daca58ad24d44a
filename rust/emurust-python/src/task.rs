//! `Task` and `Episode`: a task file, and one machine's play of it.

use std::sync::{Arc, Mutex};

use emurust_core::GameBoy;
use emurust_task::{
    Episode as TaskEpisode, InfoKind, ObsSpace, Symbols, Task as CoreTask, TaskError,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::python::ArgumentError;
use crate::errors::ToPyErr;
use crate::gameboy::Machine;
use crate::gate;
use crate::rom::Rom;
use crate::task_options::task_options;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Task>()?;
    module.add_class::<Episode>()
}

pub(crate) mod python {
    pyo3::import_exception!(emurust.errors, StateError);
    pyo3::import_exception!(emurust.tasks.errors, TaskCartridgeError);
    pyo3::import_exception!(emurust.tasks.errors, TaskFileError);
    pyo3::import_exception!(emurust.tasks.errors, TaskOptionError);
}

impl ToPyErr for TaskError {
    fn to_py_err(&self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::File { .. } => python::TaskFileError::new_err(message),
            Self::Option { .. } => python::TaskOptionError::new_err(message),
            Self::Cartridge { .. } => python::TaskCartridgeError::new_err(message),
            Self::State { .. } => python::StateError::new_err(message),
        }
    }
}

/// A task: what to read from a machine and how to score it.
#[pyclass(frozen, module = "emurust._emurust")]
pub(crate) struct Task(pub(crate) Arc<CoreTask>);

type ObservationEntry = (
    String,
    &'static str,
    Vec<usize>,
    usize,
    &'static str,
    f64,
    f64,
);

#[pymethods]
impl Task {
    /// Reads a task file. `symbols` is the text of a `.sym` file and its name.
    ///
    /// Raises TaskFileError, whose message starts with file, line and field.
    #[staticmethod]
    #[pyo3(signature = (text, file_name, symbols=None))]
    fn from_toml(text: &str, file_name: &str, symbols: Option<(String, String)>) -> PyResult<Self> {
        gate::guarded(|| {
            let symbols = symbols
                .map(|(text, name)| Symbols::from_sym(&text, &name))
                .transpose()
                .map_err(|error| error.to_py_err())?;
            CoreTask::from_toml(text, file_name, symbols.as_ref())
                .map(|task| Self(Arc::new(task)))
                .map_err(|error| error.to_py_err())
        })
    }

    /// The task with some things changed; see `emurust.tasks.load`.
    ///
    /// Raises TaskOptionError.
    #[pyo3(signature = (**options))]
    fn with_options(&self, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = options.map(task_options).transpose()?.unwrap_or_default();
        gate::guarded(|| {
            self.0
                .with_options(&options)
                .map(|task| Self(Arc::new(task)))
                .map_err(|error| error.to_py_err())
        })
    }

    /// Raises TaskCartridgeError unless the task is made for this cartridge.
    fn check_cartridge(&self, rom: &Bound<'_, Rom>) -> PyResult<()> {
        self.0
            .check_cartridge(rom.get().0.header())
            .map_err(|error| error.to_py_err())
    }

    /// The name that the file gives.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The file's own description.
    #[getter]
    fn description(&self) -> &str {
        self.0.description()
    }

    /// The file that the task was read from.
    #[getter]
    fn file_name(&self) -> &str {
        self.0.file_name()
    }

    /// Titles of the cartridges that the task is made for; empty: any.
    #[getter]
    fn cartridge_titles(&self) -> Vec<String> {
        self.0.cartridge_titles().to_vec()
    }

    /// The file has a world map, in which `map_offsets` places the maps.
    #[getter]
    fn has_world(&self) -> bool {
        self.0.has_world()
    }

    /// Names of the actions, in order.
    #[getter]
    fn action_names(&self) -> Vec<String> {
        self.0.action_names().to_vec()
    }

    /// "dict", "screen", "ram", "all" or "packed".
    #[getter]
    fn observation(&self) -> &'static str {
        self.0.observation_kind().name()
    }

    /// (name, dtype, shape, offset, space, low, high) of each field of the record. space is
    /// "box", "multi_binary" or "multi_discrete"; a multi_discrete has the values low to high.
    #[getter]
    fn observation_layout(&self) -> Vec<ObservationEntry> {
        let fields = self.0.observation_layout().iter();
        fields
            .map(|field| {
                let (space, low, high) = match field.space {
                    ObsSpace::Box { low, high } => ("box", low, high),
                    ObsSpace::MultiBinary => ("multi_binary", 0.0, 1.0),
                    ObsSpace::MultiDiscrete { n } => ("multi_discrete", 0.0, f64::from(n) - 1.0),
                };
                let (name, shape) = (field.name.clone(), field.shape.clone());
                (
                    name,
                    field.dtype.name(),
                    shape,
                    field.offset,
                    space,
                    low,
                    high,
                )
            })
            .collect()
    }

    /// Bytes of one observation record.
    #[getter]
    fn observation_len(&self) -> usize {
        self.0.observation_len()
    }

    /// (name, is a reward term) of each info value.
    #[getter]
    fn info_layout(&self) -> Vec<(String, bool)> {
        let fields = self.0.info_layout().iter();
        fields
            .map(|field| (field.name.clone(), field.kind == InfoKind::RewardTerm))
            .collect()
    }

    /// (name, offset, length) of each entry of the watched RAM.
    #[getter]
    fn watch_layout(&self) -> Vec<(String, usize, usize)> {
        let fields = self.0.watch_layout().iter();
        fields
            .map(|field| (field.name.clone(), field.offset, field.len))
            .collect()
    }

    /// Frames of one step.
    #[getter]
    fn frame_skip(&self) -> u32 {
        self.0.frame_skip()
    }

    /// Frames for which an action's buttons are held.
    #[getter]
    fn hold_frames(&self) -> u32 {
        self.0.hold_frames()
    }

    /// Steps until an episode is truncated; 0: never.
    #[getter]
    fn max_steps(&self) -> u64 {
        self.0.max_steps()
    }

    /// The weights, scaled, by reward term.
    #[getter]
    fn reward_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let weights = PyDict::new(py);
        for (name, weight) in self.0.reward_weights() {
            weights.set_item(name, weight)?;
        }
        Ok(weights)
    }

    /// (name, path) of each start state of the file.
    #[getter]
    fn start_states(&self) -> Vec<(String, String)> {
        self.0.start_states().to_vec()
    }

    /// The name of the start state to take when none is asked for.
    #[getter]
    fn default_start(&self) -> Option<&str> {
        self.0.default_start()
    }

    /// The file has a script that leads from power-on to where episodes start.
    #[getter]
    fn has_start_script(&self) -> bool {
        self.0.has_start_script()
    }

    /// Plays that script on a machine that was just switched on.
    fn play_start_script(&self, py: Python<'_>, machine: &Bound<'_, Machine>) -> PyResult<()> {
        let machine = machine.get();
        py.detach(|| {
            gate::guarded(|| {
                machine.with_running(|running| {
                    self.0.play_start_script(&mut running.gameboy);
                    running.refresh_views();
                    Ok(())
                })
            })
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "<Task {:?}, {} actions>",
            self.0.name(),
            self.0.num_actions()
        )
    }
}

/// What a step writes.
struct Record {
    observation: Vec<u8>,
    info: Vec<f32>,
    watch: Vec<u8>,
}

impl Record {
    fn new(task: &CoreTask) -> Self {
        Self {
            observation: vec![0; task.observation_len()],
            info: vec![0.0; task.info_layout().len()],
            watch: vec![0; task.watch_len()],
        }
    }
}

/// (observation record, info, watch): new arrays.
type Beginning<'py> = (
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<u8>>,
);

/// (observation record, reward, terminated, truncated, info, watch): new arrays.
type Step<'py> = (
    Bound<'py, PyArray1<u8>>,
    f32,
    bool,
    bool,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<u8>>,
);

/// One machine's play of a task.
///
/// Arrays that it returns are new: later steps do not change them.
#[pyclass(frozen, module = "emurust._emurust")]
pub(crate) struct Episode {
    task: Arc<CoreTask>,
    episode: Mutex<TaskEpisode>,
}

#[pymethods]
impl Episode {
    #[new]
    fn new(task: &Bound<'_, Task>) -> Self {
        let task = Arc::clone(&task.get().0);
        Self {
            episode: Mutex::new(TaskEpisode::new(Arc::clone(&task))),
            task,
        }
    }

    /// The task.
    #[getter]
    fn task(&self) -> Task {
        Task(Arc::clone(&self.task))
    }

    /// Steps since the episode began.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<u64> {
        gate::brief(py, &self.episode, |episode| Ok(episode.steps()))
    }

    /// Begins an episode on the machine as it is; the observation record, info and watch.
    fn begin<'py>(
        &self,
        py: Python<'py>,
        machine: &Bound<'py, Machine>,
        seed: u64,
    ) -> PyResult<Beginning<'py>> {
        let record = self.with_machine(py, machine, |episode, gameboy| {
            let mut record = Record::new(episode.task());
            episode.begin(gameboy, seed, &mut record.observation);
            episode.write_info(&mut record.info);
            episode.write_watch(gameboy, &mut record.watch);
            record
        })?;
        Ok((
            PyArray1::from_vec(py, record.observation),
            PyArray1::from_vec(py, record.info),
            PyArray1::from_vec(py, record.watch),
        ))
    }

    /// Takes an action: (observation record, reward, terminated, truncated, info, watch).
    fn step<'py>(
        &self,
        py: Python<'py>,
        machine: &Bound<'py, Machine>,
        action: u32,
    ) -> PyResult<Step<'py>> {
        let actions = self.task.num_actions();
        if action as usize >= actions {
            return Err(ArgumentError::new_err(format!(
                "the action {action} does not exist; expected 0 to {}",
                actions - 1
            )));
        }
        let (result, record) = self.with_machine(py, machine, |episode, gameboy| {
            let mut record = Record::new(episode.task());
            let Record {
                observation,
                info,
                watch,
            } = &mut record;
            let result = episode.step(gameboy, action, observation, info, watch);
            (result, record)
        })?;
        Ok((
            PyArray1::from_vec(py, record.observation),
            result.reward,
            result.terminated,
            result.truncated,
            PyArray1::from_vec(py, record.info),
            PyArray1::from_vec(py, record.watch),
        ))
    }

    /// Everything that `load` needs to go on exactly, but the machine.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        gate::brief(py, &self.episode, |episode| {
            Ok(PyBytes::new(py, &episode.save()))
        })
    }

    /// Goes on from saved bytes; on an error nothing changes.
    ///
    /// Raises StateError.
    fn load(&self, py: Python<'_>, state: PyBackedBytes) -> PyResult<()> {
        gate::brief(py, &self.episode, |episode| {
            episode.load(&state).map_err(|error| error.to_py_err())
        })
    }
}

impl Episode {
    fn with_machine<T: Send>(
        &self,
        py: Python<'_>,
        machine: &Bound<'_, Machine>,
        work: impl FnOnce(&mut TaskEpisode, &mut GameBoy) -> T + Send,
    ) -> PyResult<T> {
        let machine = machine.get();
        gate::released(py, &self.episode, |episode| {
            machine.with_running(|running| {
                let result = work(episode, &mut running.gameboy);
                running.refresh_views();
                Ok(result)
            })
        })
    }
}
