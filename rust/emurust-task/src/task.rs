//! A task, compiled from its file and the user's options.

use std::sync::Arc;

use emurust_core::{Button, Header};

use crate::error::TaskError;
use crate::expression::Expression;
use crate::layout::{DType, InfoField, InfoKind, ObsField, ObsSpace, WatchField};
use crate::machine::Machine;
use crate::options::{ObservationKind, Resolution, TaskOptions, Watch};
use crate::reader::list;
use crate::screen::ScreenFormat;
use crate::spec::{fingerprint, watch_place, Feature, Spec, MAX_FRAME_SKIP, MAX_FRAME_STACK};
use crate::symbols::Symbols;
use crate::variable::Place;
use crate::world::World;

/// Greatest length of one observation record in bytes.
const MAX_RECORD: usize = 1 << 24;

/// What to read from a machine and how to score it. Immutable; shared by every machine that plays it.
#[derive(Debug, Clone)]
pub struct Task {
    pub(crate) spec: Arc<Spec>,
    pub(crate) settings: Settings,
    pub(crate) writers: Vec<Writer>,
    pub(crate) screen: Option<ScreenFormat>,
    pub(crate) watched: Vec<(Place, usize, usize)>,
    /// Tells tasks apart, options included.
    pub(crate) fingerprint: u64,
    layout: Vec<ObsField>,
    record_len: usize,
    info: Vec<InfoField>,
    watch: Vec<WatchField>,
}

/// What options can change.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) observation: ObservationKind,
    pub(crate) frame_skip: u32,
    pub(crate) hold_frames: u32,
    pub(crate) frame_stack: u32,
    pub(crate) resolution: Resolution,
    /// One per reward term, scaled.
    pub(crate) weights: Vec<f64>,
    pub(crate) max_steps: u64,
    pub(crate) world: Option<World>,
    pub(crate) render: bool,
    base_weights: Vec<f64>,
    reward_scale: f64,
    watch: Vec<Watch>,
}

/// Writes one field of the record.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    pub(crate) offset: usize,
    pub(crate) kind: WriterKind,
}

#[derive(Debug, Clone)]
pub(crate) enum WriterKind {
    Screens,
    Values {
        expressions: Vec<Expression>,
        low: f64,
        high: f64,
    },
    /// `cache` is the number of this field among the episode's caches.
    Waves {
        expression: Expression,
        count: usize,
        cache: usize,
    },
    Bits {
        place: Place,
        length: usize,
    },
    Bytes {
        place: Place,
        length: usize,
    },
    VisitedMap {
        window: usize,
        repeat: usize,
    },
    VisitedMapBits {
        window: usize,
    },
    RecentActions {
        count: usize,
    },
}

fn option_error(option: &'static str, message: impl Into<String>) -> TaskError {
    TaskError::Option {
        option,
        message: message.into(),
    }
}

fn check_range(option: &'static str, value: u32, low: u32, high: u32) -> Result<u32, TaskError> {
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        let message = format!("{value} is out of range; expected {low} to {high}");
        Err(option_error(option, message))
    }
}

impl Settings {
    fn of_file(spec: &Spec) -> Self {
        let weights: Vec<f64> = spec.rewards.iter().map(|reward| reward.weight).collect();
        Self {
            observation: ObservationKind::Dict,
            frame_skip: spec.frame_skip,
            hold_frames: spec.hold_frames,
            frame_stack: spec.frame_stack,
            resolution: spec.resolution,
            weights: weights.clone(),
            max_steps: spec.max_steps,
            world: spec.world.clone(),
            render: false,
            base_weights: weights,
            reward_scale: 1.0,
            watch: spec.watch.clone(),
        }
    }

    fn apply(&mut self, spec: &Spec, options: &TaskOptions) -> Result<(), TaskError> {
        if let Some(observation) = options.observation {
            self.observation = observation;
        }
        self.apply_timing(options)?;
        if let Some(stack) = options.frame_stack {
            self.frame_stack = check_range("frame_stack", stack, 1, MAX_FRAME_STACK)?;
        }
        if let Some(resolution) = options.resolution {
            self.resolution = resolution;
        }
        self.apply_weights(spec, options)?;
        if let Some(max_steps) = options.max_steps {
            self.max_steps = max_steps;
        }
        if let Some(watch) = &options.watch {
            self.watch.clone_from(watch);
        }
        if let Some(offsets) = &options.map_offsets {
            self.apply_offsets(offsets)?;
        }
        if let Some(render) = options.render {
            self.render = render;
        }
        Ok(())
    }

    fn apply_timing(&mut self, options: &TaskOptions) -> Result<(), TaskError> {
        if let Some(frame_skip) = options.frame_skip {
            self.frame_skip = check_range("frame_skip", frame_skip, 0, MAX_FRAME_SKIP)?;
            self.hold_frames = self.hold_frames.min(frame_skip);
        }
        if let Some(hold_frames) = options.hold_frames {
            let least = self.frame_skip.min(1);
            if !(least..=self.frame_skip).contains(&hold_frames) {
                return Err(option_error(
                    "hold_frames",
                    format!(
                        "{hold_frames} is out of range; expected {least} to {}, the frames of a step",
                        self.frame_skip
                    ),
                ));
            }
            self.hold_frames = hold_frames;
        } else if self.frame_skip > 0 {
            self.hold_frames = self.hold_frames.max(1);
        }
        Ok(())
    }

    fn apply_weights(&mut self, spec: &Spec, options: &TaskOptions) -> Result<(), TaskError> {
        for (name, weight) in &options.reward_weights {
            let index = spec.rewards.iter().position(|reward| reward.name == *name);
            let Some(index) = index else {
                let known: Vec<_> = spec.rewards.iter().map(|reward| &reward.name).collect();
                return Err(option_error(
                    "reward_weights",
                    format!(
                        "the reward term {name:?} is unknown; expected {}",
                        list(&known)
                    ),
                ));
            };
            if !weight.is_finite() {
                let message =
                    format!("the weight of {name:?} is {weight}; expected a finite number");
                return Err(option_error("reward_weights", message));
            }
            self.base_weights[index] = *weight;
        }
        if let Some(scale) = options.reward_scale {
            if !scale.is_finite() || scale == 0.0 {
                let message = format!(
                    "{scale} is not a usable factor; expected a finite number other than 0"
                );
                return Err(option_error("reward_scale", message));
            }
            self.reward_scale = scale;
        }
        if !options.reward_weights.is_empty()
            && self.base_weights.iter().all(|weight| *weight == 0.0)
        {
            return Err(option_error(
                "reward_weights",
                "every weight is zero, so that nothing is rewarded; give one term a weight",
            ));
        }
        self.weights = self
            .base_weights
            .iter()
            .map(|weight| self.reward_scale * weight)
            .collect();
        Ok(())
    }

    fn apply_offsets(&mut self, offsets: &[(u8, i32, i32)]) -> Result<(), TaskError> {
        let Some(world) = &mut self.world else {
            let message = "the task has no [world], so that maps have no place in it";
            return Err(option_error("map_offsets", message));
        };
        world.offsets.fill(None);
        for &(map, column, row) in offsets {
            if column.abs() > 4096 || row.abs() > 4096 {
                return Err(option_error(
                    "map_offsets",
                    format!(
                        "map {map} at ({column}, {row}) is too far out; expected -4096 to 4096"
                    ),
                ));
            }
            let slot = &mut world.offsets[usize::from(map)];
            if slot.replace((column, row)).is_some() {
                return Err(option_error(
                    "map_offsets",
                    format!("map {map} is listed twice"),
                ));
            }
        }
        Ok(())
    }
}

impl Task {
    /// Reads a task file. `symbols` resolves names of addresses.
    ///
    /// # Errors
    /// Names the file, the line and the field that is wrong.
    pub fn from_toml(
        text: &str,
        file_name: &str,
        symbols: Option<&Symbols>,
    ) -> Result<Self, TaskError> {
        let spec = Spec::read(text, file_name, symbols)?;
        let settings = Settings::of_file(&spec);
        Self::build(Arc::new(spec), settings)
    }

    /// The task with some things changed.
    ///
    /// # Errors
    /// Names the option that is wrong.
    pub fn with_options(&self, options: &TaskOptions) -> Result<Self, TaskError> {
        let mut settings = self.settings.clone();
        settings.apply(&self.spec, options)?;
        Self::build(Arc::clone(&self.spec), settings)
    }

    fn build(spec: Arc<Spec>, settings: Settings) -> Result<Self, TaskError> {
        let mut task = Self {
            fingerprint: spec.fingerprint ^ fingerprint(&format!("{settings:?}")).rotate_left(1),
            spec: Arc::clone(&spec),
            settings,
            writers: Vec::new(),
            screen: None,
            watched: Vec::new(),
            layout: Vec::new(),
            record_len: 0,
            info: Vec::new(),
            watch: Vec::new(),
        };
        task.lay_out_observation()?;
        task.lay_out_watch()?;
        let field = |name: String, kind| InfoField { name, kind };
        let progress = spec
            .info
            .iter()
            .map(|(name, _)| field(name.clone(), InfoKind::Progress));
        let terms = spec
            .rewards
            .iter()
            .map(|reward| field(format!("reward/{}", reward.name), InfoKind::RewardTerm));
        task.info = progress.chain(terms).collect();
        Ok(task)
    }

    fn lay_out_observation(&mut self) -> Result<(), TaskError> {
        let kind = self.settings.observation;
        let mut caches = 0;
        for (name, feature) in &Arc::clone(&self.spec).features {
            let is_screens = matches!(feature, Feature::Screens);
            let wanted = match kind {
                ObservationKind::Screen => is_screens,
                ObservationKind::Ram => !is_screens,
                _ => true,
            };
            if wanted {
                self.lay_out_field(name, feature, &mut caches);
            }
        }
        if self.layout.is_empty() {
            let message = match kind {
                ObservationKind::Ram => {
                    "\"ram\" leaves nothing to observe: the task has only screens"
                }
                _ => "\"screen\" leaves nothing to observe: the task has no screens",
            };
            return Err(option_error("observation", message));
        }
        self.record_len = self.record_len.next_multiple_of(4);
        if self.record_len > MAX_RECORD {
            let message = format!(
                "one observation has {} bytes; at most {MAX_RECORD} are allowed",
                self.record_len
            );
            return Err(option_error("observation", message));
        }
        Ok(())
    }

    fn lay_out_field(&mut self, name: &str, feature: &Feature, caches: &mut usize) {
        let packed = self.settings.observation == ObservationKind::Packed;
        let byte = ObsSpace::Box {
            low: 0.0,
            high: 255.0,
        };
        let (dtype, shape, space, kind) = match feature {
            Feature::Screens => {
                let format = ScreenFormat {
                    resolution: self.settings.resolution,
                    stack: self.settings.frame_stack as usize,
                    packed,
                };
                self.screen = Some(format);
                (
                    DType::U8,
                    format.shape().to_vec(),
                    byte,
                    WriterKind::Screens,
                )
            }
            Feature::Values {
                expressions,
                low,
                high,
            } => {
                let kind = WriterKind::Values {
                    expressions: expressions.clone(),
                    low: *low,
                    high: *high,
                };
                let space = ObsSpace::Box {
                    low: *low,
                    high: *high,
                };
                (DType::F32, vec![expressions.len()], space, kind)
            }
            Feature::Waves { expression, count } => {
                let kind = WriterKind::Waves {
                    expression: expression.clone(),
                    count: *count,
                    cache: *caches,
                };
                *caches += 1;
                let space = ObsSpace::Box {
                    low: -1.0,
                    high: 1.0,
                };
                (DType::F32, vec![*count], space, kind)
            }
            &Feature::Bits { place, length } if packed => (
                DType::U8,
                vec![length],
                byte,
                WriterKind::Bytes { place, length },
            ),
            &Feature::Bits { place, length } => {
                let kind = WriterKind::Bits { place, length };
                (DType::I8, vec![length * 8], ObsSpace::MultiBinary, kind)
            }
            &Feature::Bytes { place, length } => (
                DType::U8,
                vec![length],
                byte,
                WriterKind::Bytes { place, length },
            ),
            &Feature::VisitedMap { window, .. } if packed => {
                let shape = vec![window, window.div_ceil(8)];
                (
                    DType::U8,
                    shape,
                    byte,
                    WriterKind::VisitedMapBits { window },
                )
            }
            &Feature::VisitedMap { window, repeat } => {
                let shape = vec![window * repeat, window * repeat, 1];
                (
                    DType::U8,
                    shape,
                    byte,
                    WriterKind::VisitedMap { window, repeat },
                )
            }
            &Feature::RecentActions { count } => {
                let space = ObsSpace::MultiDiscrete {
                    n: self.num_actions() as u32,
                };
                (
                    DType::U8,
                    vec![count],
                    space,
                    WriterKind::RecentActions { count },
                )
            }
        };
        let offset = self.record_len.next_multiple_of(dtype.size());
        let field = ObsField {
            name: name.to_owned(),
            dtype,
            shape,
            offset,
            space,
        };
        self.record_len = offset + field.len();
        self.layout.push(field);
        self.writers.push(Writer { offset, kind });
    }

    fn lay_out_watch(&mut self) -> Result<(), TaskError> {
        let mut offset = 0;
        for watch in &self.settings.watch {
            let (name, place, len) =
                watch_place(watch, &self.spec.variables, Some(&self.spec.symbols))
                    .map_err(|message| option_error("watch", message))?;
            self.watched.push((place, offset, len));
            self.watch.push(WatchField { name, offset, len });
            offset += len;
        }
        if offset > MAX_RECORD {
            let message =
                format!("{offset} watched bytes are too many; at most {MAX_RECORD} are allowed");
            return Err(option_error("watch", message));
        }
        Ok(())
    }

    /// The name that the file gives.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The file's own description, or an empty string.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.spec.description
    }

    /// The name of the file that the task was read from.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.spec.file
    }

    /// The cartridge titles that the task is made for; empty: any.
    #[must_use]
    pub fn cartridge_titles(&self) -> &[String] {
        &self.spec.titles
    }

    /// Whether there is a world map, in which [`TaskOptions::map_offsets`] places the maps.
    #[must_use]
    pub fn has_world(&self) -> bool {
        self.spec.world.is_some()
    }

    /// Whether the task can be played on a cartridge.
    ///
    /// # Errors
    /// [`TaskError::Cartridge`] says which titles the task is made for.
    pub fn check_cartridge(&self, header: &Header) -> Result<(), TaskError> {
        let titles = &self.spec.titles;
        if titles.is_empty() || titles.contains(&header.title) {
            return Ok(());
        }
        Err(TaskError::Cartridge {
            message: format!(
                "the task {:?} is made for cartridges titled {}; this one is titled {:?}",
                self.name(),
                list(titles),
                header.title
            ),
        })
    }

    /// Number of actions; an action is a number below it.
    #[must_use]
    pub fn num_actions(&self) -> usize {
        self.spec.action_names.len()
    }

    /// Names of the actions.
    #[must_use]
    pub fn action_names(&self) -> &[String] {
        &self.spec.action_names
    }

    /// The buttons that an action presses together.
    pub(crate) fn buttons(&self, action: usize) -> &[Button] {
        &self.spec.action_buttons[action]
    }

    /// Which observation the record holds.
    #[must_use]
    pub fn observation_kind(&self) -> ObservationKind {
        self.settings.observation
    }

    /// The fields of one machine's observation record.
    #[must_use]
    pub fn observation_layout(&self) -> &[ObsField] {
        &self.layout
    }

    /// Bytes of one machine's observation record, a multiple of 4.
    #[must_use]
    pub fn observation_len(&self) -> usize {
        self.record_len
    }

    /// The `f32` info values of each step.
    #[must_use]
    pub fn info_layout(&self) -> &[InfoField] {
        &self.info
    }

    /// The watched RAM.
    #[must_use]
    pub fn watch_layout(&self) -> &[WatchField] {
        &self.watch
    }

    /// Bytes of watched RAM per machine.
    #[must_use]
    pub fn watch_len(&self) -> usize {
        self.watch
            .last()
            .map_or(0, |field| field.offset + field.len)
    }

    /// Frames of one step.
    #[must_use]
    pub fn frame_skip(&self) -> u32 {
        self.settings.frame_skip
    }

    /// Frames for which a button is held.
    #[must_use]
    pub fn hold_frames(&self) -> u32 {
        self.settings.hold_frames
    }

    /// Steps until an episode is truncated; 0: never.
    #[must_use]
    pub fn max_steps(&self) -> u64 {
        self.settings.max_steps
    }

    /// Names of the reward terms and their weights, scaled.
    #[must_use]
    pub fn reward_weights(&self) -> Vec<(&str, f64)> {
        let names = self.spec.rewards.iter().map(|reward| reward.name.as_str());
        names.zip(self.settings.weights.iter().copied()).collect()
    }

    /// Whether the last frame of each step is drawn.
    #[must_use]
    pub fn renders(&self) -> bool {
        self.settings.render || self.screen.is_some()
    }

    /// Names of the file's start states and where they are (paths relative to the file).
    #[must_use]
    pub fn start_states(&self) -> &[(String, String)] {
        &self.spec.start_states
    }

    /// The start state to take when none is asked for.
    #[must_use]
    pub fn default_start(&self) -> Option<&str> {
        self.spec.default_start.as_deref()
    }

    /// Whether the file has a script that leads from power-on to where episodes start.
    #[must_use]
    pub fn has_start_script(&self) -> bool {
        !self.spec.start_script.is_empty()
    }

    /// Plays that script on a machine that was just switched on; its last frame is drawn.
    pub fn play_start_script<M: Machine>(&self, machine: &mut M) {
        for (buttons, frames) in &self.spec.start_script {
            buttons.iter().for_each(|button| machine.press(*button));
            machine.run(*frames, true);
            buttons.iter().for_each(|button| machine.release(*button));
        }
    }
}
