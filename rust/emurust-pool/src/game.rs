//! A Game Boy that plays episodes of a task.

use std::any::Any;
use std::sync::Arc;

use emurust_core::{Engine, GameBoy, Options, Rom};
use emurust_task::{
    Episode, ObservationKind, Resolution, StartState, Symbols, Task, TaskOptions, Watch,
};

use crate::error::PoolError;
use crate::machine::{Inspect, Machine, Record, Shape, StartChoice, StepOutcome};
use crate::seeds;
use crate::wire::{Malformed, Reader, Writer};

const RAM_LEN: usize = 0x1_0000;
const SCREEN_LEN: usize = emurust_core::SCREEN_WIDTH * emurust_core::SCREEN_HEIGHT;

/// A task as text, so that another process can compile it too.
#[derive(Debug, Clone, Default)]
pub struct TaskSource {
    /// The TOML text.
    pub text: String,
    /// Name of its file, for messages.
    pub file_name: String,
    /// Text and file name of a `.sym` file.
    pub symbols: Option<(String, String)>,
    /// Changes to it.
    pub options: TaskOptions,
}

impl TaskSource {
    /// The task.
    ///
    /// # Errors
    /// What is wrong with the file, the symbols or an option.
    pub fn compile(&self) -> Result<Task, PoolError> {
        let symbols = self
            .symbols
            .as_ref()
            .map(|(text, name)| Symbols::from_sym(text, name))
            .transpose()?;
        let task = Task::from_toml(&self.text, &self.file_name, symbols.as_ref())?;
        Ok(task.with_options(&self.options)?)
    }
}

/// A place where episodes can start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Its name.
    pub name: String,
    /// A state of the bare machine; `None`: just switched on.
    pub state: Option<Vec<u8>>,
}

/// What some machines of a pool play.
#[derive(Debug, Clone)]
pub struct GameConfig {
    /// Which of the recipe's cartridges.
    pub rom: usize,
    /// The task.
    pub task: TaskSource,
    /// Start states, one of which is drawn for every episode; none: just switched on.
    pub starts: Vec<Start>,
}

/// How to make the machines of a pool of games.
#[derive(Debug, Clone, Default)]
pub struct GameRecipe {
    /// Cartridge images.
    pub roms: Vec<Vec<u8>>,
    /// What there is to play.
    pub configs: Vec<GameConfig>,
    /// Which of them each machine plays.
    pub assignment: Vec<usize>,
    /// How code is run.
    pub engine: Engine,
}

/// A recipe with its tasks compiled.
#[derive(Debug)]
pub(crate) struct PreparedGames {
    configs: Vec<Arc<PreparedConfig>>,
    assignment: Vec<usize>,
    shape: Shape,
    info_names: Vec<String>,
}

#[derive(Debug)]
struct PreparedConfig {
    task: Arc<Task>,
    /// A machine just switched on.
    blank: GameBoy,
    starts: Vec<StartState>,
    /// Where this task's info values go among the pool's; `None`: just there.
    info_columns: Option<Vec<usize>>,
}

impl GameRecipe {
    pub(crate) fn prepare(&self) -> Result<PreparedGames, PoolError> {
        let roms = self
            .roms
            .iter()
            .map(|image| Rom::from_bytes(image))
            .collect::<Result<Vec<_>, _>>()?;
        let mut configs = Vec::with_capacity(self.configs.len());
        for config in &self.configs {
            let rom = roms
                .get(config.rom)
                .ok_or_else(|| PoolError::Argument(format!("there is no ROM {}", config.rom)))?;
            configs.push(prepare_config(config, rom, self.engine)?);
        }
        if let Some(&config) = self.assignment.iter().find(|&&c| c >= configs.len()) {
            return Err(PoolError::Argument(format!(
                "there is no configuration {config}"
            )));
        }
        let Some(first) = configs.first() else {
            return Err(PoolError::Argument(
                "a pool needs at least one configuration".to_owned(),
            ));
        };
        let task = Arc::clone(&first.task);
        for other in &configs[1..] {
            check_same_arrays(&task, &other.task)?;
        }
        let mut info_names: Vec<String> = Vec::new();
        for config in &configs {
            for field in config.task.info_layout() {
                if !info_names.contains(&field.name) {
                    info_names.push(field.name.clone());
                }
            }
        }
        for config in &mut configs {
            let layout = config.task.info_layout();
            let columns: Vec<usize> = layout
                .iter()
                .filter_map(|field| info_names.iter().position(|name| *name == field.name))
                .collect();
            let in_order = columns.iter().copied().eq(0..info_names.len());
            config.info_columns = (!in_order).then_some(columns);
        }
        Ok(PreparedGames {
            shape: Shape {
                observation_len: task.observation_len(),
                info_len: info_names.len(),
                watch_len: task.watch_len(),
                num_actions: task.num_actions(),
                ram_len: RAM_LEN,
                screen_len: SCREEN_LEN,
            },
            configs: configs.into_iter().map(Arc::new).collect(),
            assignment: self.assignment.clone(),
            info_names,
        })
    }
}

fn prepare_config(
    config: &GameConfig,
    rom: &Arc<Rom>,
    engine: Engine,
) -> Result<PreparedConfig, PoolError> {
    let task = config.task.compile()?;
    task.check_cartridge(rom.header())?;
    let blank = GameBoy::new(
        Arc::clone(rom),
        Options {
            engine,
            ..Options::default()
        },
    )?;
    let mut starts = Vec::with_capacity(config.starts.len().max(1));
    for start in &config.starts {
        let machine = blank.clone();
        starts.push(match &start.state {
            None => StartState::from_machine(&start.name, machine),
            Some(state) => {
                StartState::from_state(&start.name, machine, state).map_err(|error| {
                    PoolError::StartState {
                        name: start.name.clone(),
                        error,
                    }
                })?
            }
        });
    }
    if starts.is_empty() {
        starts.push(StartState::from_machine("power_on", blank.clone()));
    }
    Ok(PreparedConfig {
        task: Arc::new(task),
        blank,
        starts,
        info_columns: None,
    })
}

/// Tasks of one pool write into the same arrays.
fn check_same_arrays(one: &Task, other: &Task) -> Result<(), PoolError> {
    let problem = if one.observation_layout() != other.observation_layout() {
        "their observations have other fields, shapes or dtypes"
    } else if one.num_actions() != other.num_actions() {
        "they have other numbers of actions"
    } else if one.watch_len() != other.watch_len() {
        "they watch other amounts of RAM"
    } else {
        return Ok(());
    };
    Err(PoolError::Argument(format!(
        "tasks {:?} and {:?} cannot be in one pool: {problem}; make a pool for each",
        one.name(),
        other.name()
    )))
}

impl PreparedGames {
    pub(crate) fn machines(&self) -> usize {
        self.assignment.len()
    }
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }
    pub(crate) fn info_names(&self) -> &[String] {
        &self.info_names
    }
    /// The task of the first configuration, whose layouts are everybody's.
    pub(crate) fn task(&self) -> &Arc<Task> {
        &self.configs[0].task
    }
    pub(crate) fn make(&self, index: usize) -> Box<dyn Machine> {
        let config = Arc::clone(&self.configs[self.assignment[index]]);
        let scratch = match config.info_columns {
            Some(_) => vec![0.0; config.task.info_layout().len()],
            None => Vec::new(),
        };
        Box::new(Game {
            gameboy: config.blank.clone(),
            episode: Episode::new(Arc::clone(&config.task)),
            chosen: None,
            own_start: None,
            info_scratch: scratch,
            config,
        })
    }
}

/// One Game Boy and its episode.
struct Game {
    config: Arc<PreparedConfig>,
    gameboy: GameBoy,
    episode: Episode,
    /// The start state that all episodes take, by its place in the list.
    chosen: Option<usize>,
    /// A start state from elsewhere that all episodes take.
    own_start: Option<Box<StartState>>,
    /// This task's info values before they go to their columns.
    info_scratch: Vec<f32>,
}

fn scatter(columns: &[usize], values: &[f32], info: &mut [f32]) {
    info.fill(f32::NAN);
    for (&column, &value) in columns.iter().zip(values) {
        info[column] = value;
    }
}

impl Machine for Game {
    fn reset(&mut self, seed: u64, record: Record<'_>) -> Result<(), String> {
        let starts = &self.config.starts;
        let start = match (&self.own_start, self.chosen) {
            (Some(start), _) => start,
            (None, Some(index)) => &starts[index],
            (None, None) => &starts[seeds::start_index(seed, starts.len())],
        };
        self.episode
            .reset(&mut self.gameboy, seed, start, record.observation)
            .map_err(|error| format!("start state {:?}: {error}", start.name()))?;
        match &self.config.info_columns {
            None => self.episode.write_info(record.info),
            Some(columns) => {
                self.episode.write_info(&mut self.info_scratch);
                scatter(columns, &self.info_scratch, record.info);
            }
        }
        self.episode.write_watch(&self.gameboy, record.watch);
        Ok(())
    }

    fn step(&mut self, action: u32, record: Record<'_>) -> StepOutcome {
        let (gameboy, episode) = (&mut self.gameboy, &mut self.episode);
        let result = match &self.config.info_columns {
            None => episode.step(
                gameboy,
                action,
                record.observation,
                record.info,
                record.watch,
            ),
            Some(columns) => {
                let scratch = &mut self.info_scratch;
                let result =
                    episode.step(gameboy, action, record.observation, scratch, record.watch);
                scatter(columns, scratch, record.info);
                result
            }
        };
        StepOutcome {
            reward: result.reward,
            terminated: result.terminated,
            truncated: result.truncated,
        }
    }

    fn save(&self, out: &mut Vec<u8>) {
        let len = self.gameboy.state_len();
        out.extend_from_slice(&(len as u64).to_le_bytes());
        let at = out.len();
        out.resize(at + len, 0);
        let saved = self.gameboy.save_state_into(&mut out[at..]);
        debug_assert!(saved.is_ok(), "the length is the machine's own");
        out.extend_from_slice(&self.episode.save());
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let cut = || "the state is truncated or damaged".to_owned();
        let (len, rest) = state.split_first_chunk().ok_or_else(cut)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| cut())?;
        let (gameboy, episode) = rest.split_at_checked(len).ok_or_else(cut)?;
        let before = self.gameboy.clone();
        self.gameboy
            .load_state(gameboy)
            .map_err(|error| error.to_string())?;
        self.episode.load(episode).map_err(|error| {
            self.gameboy = before;
            error.to_string()
        })
    }

    fn copy_from(&mut self, other: &dyn Machine) -> Result<(), String> {
        let other = other
            .as_any()
            .downcast_ref::<Self>()
            .ok_or("the other machine is no game")?;
        if !Arc::ptr_eq(&self.config, &other.config) {
            return Err(format!(
                "it plays task {:?} on another cartridge or with other options than the machine \
                 to be copied, which plays {:?}",
                self.config.task.name(),
                other.config.task.name()
            ));
        }
        self.gameboy
            .copy_from(&other.gameboy)
            .map_err(|error| error.to_string())?;
        self.episode
            .copy_from(&other.episode)
            .map_err(|error| error.to_string())
    }

    fn set_start(&mut self, start: StartChoice<'_>) -> Result<(), String> {
        match start {
            StartChoice::Usual => {
                self.chosen = None;
                self.own_start = None;
            }
            StartChoice::Name(name) => {
                let starts = &self.config.starts;
                let index = starts.iter().position(|start| start.name() == name);
                self.chosen = Some(index.ok_or_else(|| {
                    let names: Vec<&str> = starts.iter().map(StartState::name).collect();
                    format!("there is no start state {name:?}; there are {names:?}")
                })?);
                self.own_start = None;
            }
            StartChoice::State(state) => {
                let start = StartState::from_state("given", self.config.blank.clone(), state)
                    .map_err(|error| format!("the start state does not fit: {error}"))?;
                self.own_start = Some(Box::new(start));
                self.chosen = None;
            }
        }
        Ok(())
    }

    fn inspect(&self, what: Inspect, out: &mut [u8]) {
        match what {
            Inspect::Ram => {
                for (address, byte) in (0..=u16::MAX).zip(out) {
                    *byte = self.gameboy.peek(address);
                }
            }
            Inspect::Screen => out.copy_from_slice(self.gameboy.shades()),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl GameRecipe {
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.list(&self.roms, |w, rom| w.bytes(rom));
        writer.list(&self.configs, |w, config| {
            w.usize(config.rom);
            write_task(w, &config.task);
            w.list(&config.starts, |w, start| {
                w.text(&start.name);
                w.option(start.state.as_deref(), Writer::bytes);
            });
        });
        writer.list(&self.assignment, |w, config| w.usize(*config));
        writer.usize(match self.engine {
            Engine::Auto => 0,
            Engine::Interpreter => 1,
            Engine::Translator => 2,
        });
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            roms: reader.list(|r| Ok(r.bytes()?.to_vec()))?,
            configs: reader.list(|r| {
                Ok(GameConfig {
                    rom: r.usize()?,
                    task: read_task(r)?,
                    starts: r.list(|r| {
                        Ok(Start {
                            name: r.text()?.to_owned(),
                            state: r.option(|r| Ok(r.bytes()?.to_vec()))?,
                        })
                    })?,
                })
            })?,
            assignment: reader.list(Reader::usize)?,
            engine: match reader.usize()? {
                0 => Engine::Auto,
                1 => Engine::Interpreter,
                2 => Engine::Translator,
                _ => return Err(Malformed),
            },
        })
    }
}

fn write_task(writer: &mut Writer, task: &TaskSource) {
    writer.text(&task.text);
    writer.text(&task.file_name);
    writer.option(task.symbols.as_ref(), |w, (text, name)| {
        w.text(text);
        w.text(name);
    });
    // Taken apart by name, so that a new option cannot be forgotten here.
    let TaskOptions {
        observation,
        frame_skip,
        hold_frames,
        frame_stack,
        resolution,
        reward_weights,
        reward_scale,
        max_steps,
        watch,
        map_offsets,
        render,
    } = &task.options;
    writer.option(*observation, |w, kind| w.text(kind.name()));
    for frames in [frame_skip, hold_frames, frame_stack] {
        writer.option(*frames, |w, frames| w.u64(u64::from(frames)));
    }
    writer.option(*resolution, |w, resolution| {
        w.u8(u8::from(resolution == Resolution::Half));
    });
    writer.list(reward_weights, |w, (name, weight)| {
        w.text(name);
        w.f64(*weight);
    });
    writer.option(*reward_scale, Writer::f64);
    writer.option(*max_steps, Writer::u64);
    writer.option(watch.as_ref(), |w, watch| {
        w.list(watch, |w, watch| match watch {
            Watch::Name(name) => {
                w.u8(0);
                w.text(name);
            }
            Watch::Range { address, len } => {
                w.u8(1);
                w.u64(u64::from(*address));
                w.u64(u64::from(*len));
            }
        });
    });
    writer.option(map_offsets.as_ref(), |w, offsets| {
        w.list(offsets, |w, (map, column, row)| {
            w.u8(*map);
            for place in [column, row] {
                w.u64(u64::from(place.cast_unsigned()));
            }
        });
    });
    writer.option(*render, |w, render| w.u8(u8::from(render)));
}

fn read_flag(reader: &mut Reader<'_>) -> Result<bool, Malformed> {
    match reader.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Malformed),
    }
}

fn read_task(reader: &mut Reader<'_>) -> Result<TaskSource, Malformed> {
    let place = |r: &mut Reader<'_>| r.number::<u32>().map(u32::cast_signed);
    Ok(TaskSource {
        text: reader.text()?.to_owned(),
        file_name: reader.text()?.to_owned(),
        symbols: reader.option(|r| Ok((r.text()?.to_owned(), r.text()?.to_owned())))?,
        options: TaskOptions {
            observation: reader
                .option(|r| ObservationKind::from_name(r.text()?).ok_or(Malformed))?,
            frame_skip: reader.option(Reader::number)?,
            hold_frames: reader.option(Reader::number)?,
            frame_stack: reader.option(Reader::number)?,
            resolution: reader.option(|r| match r.u8()? {
                0 => Ok(Resolution::Full),
                1 => Ok(Resolution::Half),
                _ => Err(Malformed),
            })?,
            reward_weights: reader.list(|r| Ok((r.text()?.to_owned(), r.f64()?)))?,
            reward_scale: reader.option(Reader::f64)?,
            max_steps: reader.option(Reader::u64)?,
            watch: reader.option(|r| {
                r.list(|r| match r.u8()? {
                    0 => Ok(Watch::Name(r.text()?.to_owned())),
                    1 => Ok(Watch::Range {
                        address: r.number()?,
                        len: r.number()?,
                    }),
                    _ => Err(Malformed),
                })
            })?,
            map_offsets: reader.option(|r| r.list(|r| Ok((r.u8()?, place(r)?, place(r)?))))?,
            render: reader.option(read_flag)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_survives_its_bytes() {
        let recipe = GameRecipe {
            roms: vec![vec![1, 2, 3]],
            configs: vec![GameConfig {
                rom: 0,
                task: TaskSource {
                    text: "name = \"x\"".to_owned(),
                    file_name: "x.toml".to_owned(),
                    symbols: Some(("00:c000 a".to_owned(), "x.sym".to_owned())),
                    options: TaskOptions {
                        observation: Some(ObservationKind::Packed),
                        frame_skip: Some(4),
                        hold_frames: Some(2),
                        frame_stack: None,
                        resolution: Some(Resolution::Half),
                        reward_weights: vec![("event".to_owned(), 0.1)],
                        reward_scale: Some(0.5),
                        max_steps: Some(77),
                        watch: Some(vec![
                            Watch::Name("hp".to_owned()),
                            Watch::Range {
                                address: 0xD000,
                                len: 3,
                            },
                        ]),
                        map_offsets: Some(vec![(3, -20, 400)]),
                        render: Some(true),
                    },
                },
                starts: vec![
                    Start {
                        name: "power_on".to_owned(),
                        state: None,
                    },
                    Start {
                        name: "town".to_owned(),
                        state: Some(vec![9, 8]),
                    },
                ],
            }],
            engine: Engine::Translator,
            assignment: vec![0, 0, 0],
        };
        let mut writer = Writer::default();
        recipe.write(&mut writer);
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes);
        let read = GameRecipe::read(&mut reader).expect("well formed");
        reader.end().expect("nothing left");
        // The options have no equality; their debug form shows every field.
        assert_eq!(format!("{read:?}"), format!("{recipe:?}"));
        for len in 0..bytes.len() {
            assert!(GameRecipe::read(&mut Reader::new(&bytes[..len])).is_err());
        }
    }
}
