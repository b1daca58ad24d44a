//! Options of a task, as Python gives them: one dict for single machines and pools.

use emurust_task::{ObservationKind, Resolution, TaskOptions, Watch};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;

use crate::task::python::TaskOptionError;

/// What `watch` takes: an address, a name, or an address and a length.
#[derive(FromPyObject)]
enum WatchEntry {
    Address(u16),
    Name(String),
    Range(u16, u16),
}

impl From<WatchEntry> for Watch {
    fn from(entry: WatchEntry) -> Self {
        match entry {
            WatchEntry::Address(address) => Self::Range { address, len: 1 },
            WatchEntry::Name(name) => Self::Name(name),
            WatchEntry::Range(address, len) => Self::Range { address, len },
        }
    }
}

/// The options of `emurust.tasks.recipe` by name; None leaves what the task file says.
///
/// Raises TaskOptionError, which names the option.
pub(crate) fn task_options(given: &Bound<'_, PyDict>) -> PyResult<TaskOptions> {
    let mut options = TaskOptions::default();
    for (name, value) in given {
        let name: PyBackedStr = name.extract()?;
        if value.is_none() {
            continue;
        }
        set(&mut options, &name, &value).map_err(|error| {
            let py = value.py();
            if error.is_instance_of::<TaskOptionError>(py) {
                return error;
            }
            let Ok(value) = value.repr() else {
                return error;
            };
            TaskOptionError::new_err(format!(
                "option {name}: expected {}, not {value}",
                expected(&name)
            ))
        })?;
    }
    Ok(options)
}

fn set(options: &mut TaskOptions, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match name {
        "observation" => options.observation = Some(observation_kind(value)?),
        "frame_skip" => options.frame_skip = Some(value.extract()?),
        "hold_frames" => options.hold_frames = Some(value.extract()?),
        "frame_stack" => options.frame_stack = Some(value.extract()?),
        "resolution" => options.resolution = Some(resolution(value)?),
        "reward_weights" => {
            let weights = value.cast::<PyDict>()?;
            options.reward_weights = weights
                .iter()
                .map(|(term, weight)| Ok((term.extract()?, weight.extract()?)))
                .collect::<PyResult<_>>()?;
        }
        "reward_scale" => options.reward_scale = Some(value.extract()?),
        "max_steps" => options.max_steps = Some(value.extract()?),
        "watch" => {
            let entries: Vec<WatchEntry> = value.extract()?;
            options.watch = Some(entries.into_iter().map(Watch::from).collect());
        }
        "map_offsets" => {
            let offsets = value.cast::<PyDict>()?;
            options.map_offsets = Some(
                offsets
                    .iter()
                    .map(|(map, place)| {
                        let (column, row) = place.extract()?;
                        Ok((map.extract()?, column, row))
                    })
                    .collect::<PyResult<_>>()?,
            );
        }
        "render" => options.render = Some(value.extract()?),
        other => {
            return Err(TaskOptionError::new_err(format!(
                "there is no option {other}"
            )))
        }
    }
    Ok(())
}

/// What an option's value is, for values that do not convert to it.
fn expected(name: &str) -> &'static str {
    match name {
        "observation" | "resolution" => "a text",
        "reward_weights" => "a dict of numbers by reward term",
        "reward_scale" => "a number",
        "watch" => "a list of names, addresses and (address, length)",
        "map_offsets" => "a dict of (column, row) by map number, 0 to 255",
        "render" => "True or False",
        _ => "a whole number from 0 on",
    }
}

fn observation_kind(value: &Bound<'_, PyAny>) -> PyResult<ObservationKind> {
    let name: PyBackedStr = value.extract()?;
    ObservationKind::from_name(&name).ok_or_else(|| {
        TaskOptionError::new_err(format!(
            "option observation: {:?} is unknown; expected one of {}",
            &*name,
            ObservationKind::NAMES.join(", ")
        ))
    })
}

fn resolution(value: &Bound<'_, PyAny>) -> PyResult<Resolution> {
    let name: PyBackedStr = value.extract()?;
    match &*name {
        "full" => Ok(Resolution::Full),
        "half" => Ok(Resolution::Half),
        other => Err(TaskOptionError::new_err(format!(
            "option resolution: {other:?} is unknown; expected full or half"
        ))),
    }
}
