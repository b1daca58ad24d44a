//! One machine's episode: what a step does, in order.

use std::sync::Arc;

use emurust_core::{GameBoy, StateError};

use crate::error::TaskError;
use crate::expression::{finite, maximum, minimum};
use crate::machine::{Machine, Memory};
use crate::observation::{single, Sources, WaveCache};
use crate::random::Random;
use crate::screen::ScreenStack;
use crate::spec::{KeyPart, Value, ValueKind, STEPS};
use crate::start::StartState;
use crate::task::{Task, WriterKind};
use crate::visits::Visits;
use crate::world::WorldMap;

/// What a step gives besides the observation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepResult {
    /// Reward.
    pub reward: f32,
    /// An end that belongs to the task was reached.
    pub terminated: bool,
    /// The episode was cut off, by the step limit for example.
    pub truncated: bool,
}

/// What an episode remembers between steps: visited places, recent screens, counters.
///
/// Everything is allocated by [`Episode::new`], but the tables of visited places, which double
/// when an episode visits more places than any before.
#[derive(Debug, Clone)]
pub struct Episode {
    pub(crate) task: Arc<Task>,
    pub(crate) steps: u64,
    pub(crate) random: Random,
    /// This step's numbers: steps, variables, values.
    pub(crate) values: Vec<f64>,
    /// What values remember: running maxima, sums, previous numbers.
    pub(crate) memories: Vec<f64>,
    pub(crate) visits: Vec<Visits>,
    pub(crate) world: Option<WorldMap>,
    pub(crate) screens: Option<ScreenStack>,
    pub(crate) recent_actions: Vec<u8>,
    /// Weighted value of each reward term; of terms given each step, their sum.
    pub(crate) terms: Vec<f64>,
    /// The same at the reset.
    pub(crate) first_terms: Vec<f64>,
    /// Sum of the terms whose change is rewarded.
    pub(crate) total: f64,
    wave_caches: Vec<WaveCache>,
}

impl Episode {
    /// An episode not yet begun; [`Episode::reset`] begins it.
    #[must_use]
    pub fn new(task: Arc<Task>) -> Self {
        let spec = &task.spec;
        let mut recent = 1;
        let mut wave_caches = Vec::new();
        let mut shows_map = false;
        for writer in &task.writers {
            match writer.kind {
                WriterKind::RecentActions { count } => recent = recent.max(count),
                WriterKind::Waves { count, .. } => wave_caches.push(WaveCache::new(count)),
                WriterKind::VisitedMap { .. } | WriterKind::VisitedMapBits { .. } => {
                    shows_map = true;
                }
                _ => {}
            }
        }
        let world = task.settings.world.as_ref().filter(|_| shows_map);
        Self {
            steps: 0,
            random: Random::new(0),
            values: vec![0.0; spec.slots],
            memories: vec![0.0; spec.memories],
            visits: (0..spec.visits).map(|_| Visits::new()).collect(),
            world: world.map(|world| WorldMap::new(world.rows, world.columns)),
            screens: task.screen.map(ScreenStack::new),
            recent_actions: vec![0; recent],
            terms: vec![0.0; spec.rewards.len()],
            first_terms: vec![0.0; spec.rewards.len()],
            total: 0.0,
            wave_caches,
            task,
        }
    }

    /// The task.
    #[must_use]
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// Steps taken since the reset.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Starts an episode: puts the machine into the start state and writes the first observation.
    ///
    /// # Errors
    /// The start state belongs to another cartridge.
    ///
    /// # Panics
    /// If `obs` is shorter than [`Task::observation_len`].
    pub fn reset(
        &mut self,
        gb: &mut GameBoy,
        seed: u64,
        start: &StartState,
        obs: &mut [u8],
    ) -> Result<(), StateError> {
        gb.copy_from(start.machine())?;
        self.begin(gb, seed, obs);
        Ok(())
    }

    /// Starts an episode on a machine that is already in its start state.
    ///
    /// # Panics
    /// If `obs` is shorter than [`Task::observation_len`].
    pub fn begin<M: Machine>(&mut self, machine: &mut M, seed: u64, obs: &mut [u8]) {
        self.random = Random::new(seed);
        let max_noop_frames = self.task.spec.max_noop_frames;
        if max_noop_frames > 0 {
            let frames = self.random.below(u64::from(max_noop_frames) + 1);
            let frames = u32::try_from(frames).unwrap_or(0);
            if frames > 0 {
                machine.run(frames, self.task.renders());
            }
        }
        self.steps = 0;
        self.visits.iter_mut().for_each(Visits::clear);
        self.recent_actions.fill(0);
        if let Some(world) = &mut self.world {
            world.clear();
        }
        if let Some(screens) = &mut self.screens {
            screens.clear();
        }
        self.evaluate(machine, true);
        self.score(true);
        self.first_terms.clone_from_slice(&self.terms);
        self.observe(machine, obs);
    }

    /// Takes one action (below [`Task::num_actions`]; greater ones count as the last) and writes
    /// the observation, the info values and the watched RAM.
    ///
    /// # Panics
    /// If a buffer is shorter than the task says.
    pub fn step<M: Machine>(
        &mut self,
        machine: &mut M,
        action: u32,
        obs: &mut [u8],
        info: &mut [f32],
        watch: &mut [u8],
    ) -> StepResult {
        let action = (action as usize).min(self.task.num_actions() - 1);
        self.act(machine, action);
        self.steps = self.steps.saturating_add(1);
        self.recent_actions.rotate_right(1);
        let newest = action as u8;
        self.recent_actions[0] = newest;
        self.evaluate(machine, false);
        let reward = self.score(false);
        let mut result = StepResult {
            reward,
            terminated: false,
            truncated: self.task.settings.max_steps > 0
                && self.steps >= self.task.settings.max_steps,
        };
        for end in &self.task.spec.ends {
            if end.expression.evaluate(&self.values) != 0.0 {
                if end.terminates {
                    result.terminated = true;
                } else {
                    result.truncated = true;
                }
            }
        }
        self.observe(machine, obs);
        self.write_info(info);
        self.write_watch(machine, watch);
        result
    }

    /// Holds the action's buttons and lets the frames of a step pass.
    fn act<M: Machine>(&self, machine: &mut M, action: usize) {
        let settings = &self.task.settings;
        let (frames, hold) = (settings.frame_skip, settings.hold_frames);
        if frames == 0 {
            return;
        }
        let renders = self.task.renders();
        let buttons = self.task.buttons(action);
        for button in buttons {
            machine.press(*button);
        }
        // Only the step's last frame is drawn.
        machine.run(hold, renders && hold == frames);
        for button in buttons {
            machine.release(*button);
        }
        if hold < frames {
            machine.run(frames - hold, renders);
        }
    }

    /// Reads all variables and computes all values, in the order of the file.
    fn evaluate<M: Memory>(&mut self, memory: &M, reset: bool) {
        let spec = &self.task.spec;
        let steps = self.steps as f64;
        self.values[STEPS] = steps;
        for (variable, slot) in spec.variables.iter().zip(&mut self.values[STEPS + 1..]) {
            *slot = variable.read(memory);
        }
        for value in &spec.values {
            evaluate_value(
                value,
                &mut self.values,
                &mut self.memories,
                &mut self.visits,
                reset,
            );
        }
        if !reset {
            // Every value has its new number now: what the next step calls previous.
            for value in &spec.values {
                if let ValueKind::Previous { source, memory, .. } = value.kind {
                    self.memories[memory] = self.values[source];
                }
            }
            if let (Some(map), Some(world)) = (&mut self.world, &self.task.settings.world) {
                map.mark(world.locate(&self.values));
            }
        }
    }

    /// Sums the reward terms in the order of the file; the reward of this step.
    fn score(&mut self, reset: bool) -> f32 {
        let mut total = 0.0;
        let mut given = 0.0;
        let weights = &self.task.settings.weights;
        for ((reward, weight), term) in self
            .task
            .spec
            .rewards
            .iter()
            .zip(weights)
            .zip(&mut self.terms)
        {
            let weighted = finite(weight * reward.expression.evaluate(&self.values));
            if !reward.each_step {
                *term = weighted;
                total += weighted;
            } else if reset {
                *term = 0.0;
            } else {
                *term = finite(*term + weighted);
                given += weighted;
            }
        }
        let change = total - self.total;
        self.total = total;
        single(finite(change + given))
    }

    /// Takes in the new picture and writes the record.
    fn observe<M: Memory>(&mut self, memory: &M, obs: &mut [u8]) {
        if let Some(screens) = &mut self.screens {
            screens.push(memory.shades());
        }
        self.write_observation(memory, obs);
    }

    /// Writes the last observation again, from the machine and the episode as they are.
    ///
    /// # Panics
    /// If `obs` is shorter than [`Task::observation_len`].
    pub fn write_observation<M: Memory>(&mut self, memory: &M, obs: &mut [u8]) {
        let world = self.world.as_ref().zip(self.task.settings.world.as_ref());
        let sources = Sources {
            memory,
            values: &self.values,
            screens: self.screens.as_ref(),
            world: world.map(|(map, world)| (map, world.locate(&self.values))),
            recent_actions: &self.recent_actions,
        };
        for writer in &self.task.writers {
            sources.write(writer, &mut self.wave_caches, obs);
        }
    }

    /// The info values as they are now (after a reset, for instance).
    ///
    /// # Panics
    /// If `info` is shorter than [`Task::info_layout`].
    pub fn write_info(&self, info: &mut [f32]) {
        let progress = &self.task.spec.info;
        let (values, terms) = info.split_at_mut(progress.len());
        for (slot, (_, expression)) in values.iter_mut().zip(progress) {
            *slot = single(expression.evaluate(&self.values));
        }
        let given = self.terms.iter().zip(&self.first_terms);
        for (slot, (now, first)) in terms[..self.terms.len()].iter_mut().zip(given) {
            *slot = single(finite(now - first));
        }
    }

    /// The watched RAM of the machine now.
    ///
    /// # Panics
    /// If `watch` is shorter than [`Task::watch_len`].
    pub fn write_watch<M: Memory>(&self, memory: &M, watch: &mut [u8]) {
        for &(place, offset, len) in &self.task.watched {
            place.copy(memory, &mut watch[offset..offset + len]);
        }
    }

    /// Becomes a copy of another episode of the same task (a fork).
    ///
    /// # Errors
    /// The other episode plays another task, or this one with other options.
    pub fn copy_from(&mut self, other: &Episode) -> Result<(), TaskError> {
        self.check_fingerprint(other.task.fingerprint)?;
        self.steps = other.steps;
        self.random = other.random;
        self.values.clone_from(&other.values);
        self.memories.clone_from(&other.memories);
        for (visits, other) in self.visits.iter_mut().zip(&other.visits) {
            visits.copy_from(other);
        }
        if let (Some(world), Some(other)) = (&mut self.world, &other.world) {
            world.copy_from(other);
        }
        if let (Some(screens), Some(other)) = (&mut self.screens, &other.screens) {
            screens.copy_from(other);
        }
        self.recent_actions.clone_from(&other.recent_actions);
        self.terms.clone_from(&other.terms);
        self.first_terms.clone_from(&other.first_terms);
        self.total = other.total;
        Ok(())
    }

    pub(crate) fn check_fingerprint(&self, other: u64) -> Result<(), TaskError> {
        if self.task.fingerprint == other {
            return Ok(());
        }
        Err(TaskError::State {
            message: format!(
                "it belongs to another task, or to {:?} with other options",
                self.task.name()
            ),
        })
    }
}

fn evaluate_value(
    value: &Value,
    values: &mut [f64],
    memories: &mut [f64],
    visits: &mut [Visits],
    reset: bool,
) {
    let number = match &value.kind {
        ValueKind::Expression(expression) => expression.evaluate(values),
        ValueKind::Previous {
            source,
            initial,
            memory,
        } => {
            if reset {
                memories[*memory] = initial.unwrap_or(values[*source]);
            }
            memories[*memory]
        }
        ValueKind::AtReset { expression, memory } => {
            if reset {
                memories[*memory] = expression.evaluate(values);
            }
            memories[*memory]
        }
        ValueKind::Max {
            expression,
            initial,
            memory,
        } => {
            let now = expression.evaluate(values);
            let before = if reset {
                initial.unwrap_or(now)
            } else {
                memories[*memory]
            };
            memories[*memory] = maximum(before, now);
            memories[*memory]
        }
        ValueKind::Min {
            expression,
            initial,
            memory,
        } => {
            let now = expression.evaluate(values);
            let before = if reset {
                initial.unwrap_or(now)
            } else {
                memories[*memory]
            };
            memories[*memory] = minimum(before, now);
            memories[*memory]
        }
        ValueKind::Sum {
            expression,
            initial,
            memory,
        } => {
            memories[*memory] = if reset {
                *initial
            } else {
                finite(memories[*memory] + expression.evaluate(values))
            };
            memories[*memory]
        }
        ValueKind::Visits {
            key,
            when,
            visits: index,
        } => {
            let table = &mut visits[*index];
            let key = place_key(key, values);
            let here = if !reset && when.evaluate(values) != 0.0 {
                table.visit(key)
            } else {
                table.count(key)
            };
            values[value.slot + 1] = here as f64;
            table.distinct() as f64
        }
    };
    values[value.slot] = number;
}

/// The numbers of a place, side by side. Each is rounded down and keeps its lowest bits.
fn place_key(parts: &[KeyPart], values: &[f64]) -> u64 {
    parts.iter().fold(0, |key, part| {
        let number = values[part.slot].floor() as i64;
        key | (number as u64 & part.mask) << part.shift
    })
}
