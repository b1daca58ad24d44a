//! A task file, read and checked: what it says, with names resolved to indices.

use std::collections::HashMap;
use std::sync::Arc;

use emurust_core::Button;

use crate::error::TaskError;
use crate::expression::{is_reserved, Expression, Names};
use crate::options::{Resolution, Watch};
use crate::reader::{list, Node, Source, Table};
use crate::symbols::Symbols;
use crate::variable::{Encoding, Place, Reduce, Variable};
use crate::visits::KEY_BITS;
use crate::world::World;

/// Greatest number of frames of one step.
pub(crate) const MAX_FRAME_SKIP: u32 = 10_000;
/// Greatest number of stacked screens.
pub(crate) const MAX_FRAME_STACK: u32 = 16;
/// Most variables, values, rewards, features ... of one kind.
const MAX_ENTRIES: usize = 1000;
/// Index of the number of steps among the values.
pub(crate) const STEPS: usize = 0;

/// Everything that a task file says.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) file: String,
    /// Tells files apart, so that a saved episode finds the task it belongs to.
    pub(crate) fingerprint: u64,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) titles: Vec<String>,
    pub(crate) frame_skip: u32,
    pub(crate) hold_frames: u32,
    pub(crate) action_names: Vec<String>,
    pub(crate) action_buttons: Vec<Vec<Button>>,
    pub(crate) max_steps: u64,
    pub(crate) start_states: Vec<(String, String)>,
    pub(crate) default_start: Option<String>,
    /// Buttons held and for how many frames, from power-on to where episodes start.
    pub(crate) start_script: Vec<(Vec<Button>, u32)>,
    pub(crate) max_noop_frames: u32,
    pub(crate) variables: Vec<Variable>,
    pub(crate) values: Vec<Value>,
    /// Numbers that are evaluated each step: steps, variables, values.
    pub(crate) slots: usize,
    /// Numbers that are remembered between steps.
    pub(crate) memories: usize,
    pub(crate) visits: usize,
    pub(crate) world: Option<World>,
    pub(crate) resolution: Resolution,
    pub(crate) frame_stack: u32,
    pub(crate) features: Vec<(String, Feature)>,
    pub(crate) rewards: Vec<Reward>,
    pub(crate) ends: Vec<End>,
    pub(crate) info: Vec<(String, Expression)>,
    pub(crate) watch: Vec<Watch>,
    pub(crate) symbols: Arc<Symbols>,
}

/// A named number computed from others.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// Where its number goes; a visits value has a second number, `here`, in the next slot.
    pub(crate) slot: usize,
    pub(crate) kind: ValueKind,
}

/// How a value is computed. `memory` and `visits` are indices of what the episode remembers.
#[derive(Debug, Clone)]
pub(crate) enum ValueKind {
    Expression(Expression),
    /// What `source` was at the end of the previous step.
    Previous {
        source: usize,
        initial: Option<f64>,
        memory: usize,
    },
    /// What the expression was at the reset.
    AtReset {
        expression: Expression,
        memory: usize,
    },
    /// Its greatest so far.
    Max {
        expression: Expression,
        initial: Option<f64>,
        memory: usize,
    },
    /// Its least so far.
    Min {
        expression: Expression,
        initial: Option<f64>,
        memory: usize,
    },
    /// Its sum over the steps.
    Sum {
        expression: Expression,
        initial: f64,
        memory: usize,
    },
    /// Number of different places where `when` was true.
    Visits {
        key: Vec<KeyPart>,
        when: Expression,
        visits: usize,
    },
}

/// One number of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyPart {
    pub(crate) slot: usize,
    pub(crate) shift: u32,
    pub(crate) mask: u64,
}

/// A field of the observation.
#[derive(Debug, Clone)]
pub(crate) enum Feature {
    Screens,
    Values {
        expressions: Vec<Expression>,
        low: f64,
        high: f64,
    },
    Waves {
        expression: Expression,
        count: usize,
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
    RecentActions {
        count: usize,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Reward {
    pub(crate) name: String,
    pub(crate) expression: Expression,
    /// The expression itself is given each step, not its change.
    pub(crate) each_step: bool,
    pub(crate) weight: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) expression: Expression,
    pub(crate) terminates: bool,
}

/// What a name in an expression stands for.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Number { slot: usize, byte: bool },
    Bytes,
    Visits { slot: usize },
}

#[derive(Debug, Default)]
struct Scope {
    meanings: HashMap<String, Meaning>,
}

impl Names for Scope {
    fn value(&self, name: &str) -> Result<usize, String> {
        match self.meanings.get(name) {
            Some(Meaning::Number { slot, .. } | Meaning::Visits { slot }) => Ok(*slot),
            Some(Meaning::Bytes) => Err(format!(
                "{name:?} is a slice of bytes, not a number; give it the type popcount to count its bits"
            )),
            None => Err(format!(
                "the name {name:?} is unknown; expected a variable, a value defined above, or steps"
            )),
        }
    }

    fn here(&self, name: &str) -> Result<usize, String> {
        match self.meanings.get(name) {
            Some(Meaning::Visits { slot }) => Ok(slot + 1),
            Some(_) => Err(format!(
                "{name:?} is not a visits value; here(...) needs one"
            )),
            None => Err(format!(
                "the name {name:?} is unknown; here(...) needs a visits value"
            )),
        }
    }
}

impl Scope {
    fn expression(&self, node: &Node<'_>) -> Result<Expression, TaskError> {
        if node.is_string() {
            Expression::parse(node.string()?, self).map_err(|message| node.error(message))
        } else {
            node.number()
                .map(Expression::constant)
                .map_err(|_| node.error("expected an expression (a string) or a number"))
        }
    }

    fn define(&mut self, name: &str, node: &Node<'_>, meaning: Meaning) -> Result<(), TaskError> {
        let mut chars = name.chars();
        let proper = chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !proper {
            return Err(node.error(format!(
                "{name:?} cannot be used in expressions; expected letters, digits and underscores, \
                 a letter first"
            )));
        }
        if is_reserved(name) {
            return Err(node.error(format!("the name {name:?} is reserved; choose another")));
        }
        if self.meanings.insert(name.to_owned(), meaning).is_some() {
            return Err(node.error(format!(
                "the name {name:?} is already a variable; choose another"
            )));
        }
        Ok(())
    }
}

impl Spec {
    /// Reads a task file.
    pub(crate) fn read(
        text: &str,
        file: &str,
        symbols: Option<&Symbols>,
    ) -> Result<Self, TaskError> {
        let source = Source { file, text };
        let document = source.parse()?;
        let root = Table::new(source, "", 0, document.get_ref());
        let symbols = symbols.cloned();
        let mut scope = Scope::default();
        scope.meanings.insert(
            "steps".to_owned(),
            Meaning::Number {
                slot: STEPS,
                byte: false,
            },
        );

        let name = root.require("name")?.string()?.to_owned();
        let description = match root.take("description") {
            Some(node) => node.string()?.to_owned(),
            None => String::new(),
        };
        let titles = read_titles(&root)?;
        let (frame_skip, hold_frames) = read_timing(&root)?;
        let (action_names, action_buttons) = read_actions(&root)?;
        let max_steps = read_max_steps(&root)?;
        let start = read_start(&root)?;
        let variables = read_variables(&root, symbols.as_ref(), &mut scope)?;
        let values = read_values(&root, &mut scope, variables.len() + 1)?;
        let world = read_world(&root, &scope)?;
        let (resolution, frame_stack) = read_screen(&root)?;
        let features = read_features(&root, &scope, &variables, world.is_some())?;
        let rewards = read_rewards(&root, &scope)?;
        let ends = read_ends(&root, &scope)?;
        let info = read_info(&root, &scope)?;
        let watch = read_watch(&root, &variables, symbols.as_ref())?;
        root.finish(&[
            "name",
            "description",
            "cartridge",
            "timing",
            "actions",
            "episode",
            "start",
            "variables",
            "values",
            "world",
            "screen",
            "observation",
            "rewards",
            "ends",
            "info",
            "watch",
        ])?;
        Ok(Self {
            file: file.to_owned(),
            fingerprint: fingerprint(text),
            name,
            description,
            titles,
            frame_skip,
            hold_frames,
            action_names,
            action_buttons,
            max_steps,
            start_states: start.states,
            default_start: start.default,
            start_script: start.script,
            max_noop_frames: start.max_noop_frames,
            variables,
            slots: values.slots,
            memories: values.memories,
            visits: values.visits,
            values: values.values,
            world,
            resolution,
            frame_stack,
            features,
            rewards,
            ends,
            info,
            watch,
            symbols: Arc::new(symbols.unwrap_or_default()),
        })
    }
}

/// FNV-1a.
pub(crate) fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

fn optional_table<'s>(root: &Table<'s>, key: &str) -> Result<Option<Table<'s>>, TaskError> {
    root.take(key).map(|node| node.table()).transpose()
}

/// The fields of an optional table of named entries.
fn named_entries<'s>(root: &Table<'s>, key: &str) -> Result<Vec<(&'s str, Node<'s>)>, TaskError> {
    let Some(node) = root.take(key) else {
        return Ok(Vec::new());
    };
    let entries: Vec<_> = node.table()?.all().collect();
    if entries.len() > MAX_ENTRIES {
        return Err(node.error(format!(
            "{} entries are too many; at most {MAX_ENTRIES} are allowed",
            entries.len()
        )));
    }
    Ok(entries)
}

fn read_titles(root: &Table<'_>) -> Result<Vec<String>, TaskError> {
    let Some(table) = optional_table(root, "cartridge")? else {
        return Ok(Vec::new());
    };
    let titles = match table.take("titles") {
        Some(node) => node
            .array()?
            .iter()
            .map(|title| title.string().map(str::to_owned))
            .collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    table.finish(&["titles"])?;
    Ok(titles)
}

fn read_timing(root: &Table<'_>) -> Result<(u32, u32), TaskError> {
    let (mut frame_skip, mut hold_frames) = (24, 8);
    if let Some(table) = optional_table(root, "timing")? {
        if let Some(node) = table.take("frame_skip") {
            frame_skip = node.count(1, MAX_FRAME_SKIP)?;
        }
        hold_frames = hold_frames.min(frame_skip);
        if let Some(node) = table.take("hold_frames") {
            hold_frames = node.count(1, MAX_FRAME_SKIP)?;
            if hold_frames > frame_skip {
                return Err(node.error(format!(
                    "{hold_frames} is more than the {frame_skip} frames of a step"
                )));
            }
        }
        table.finish(&["frame_skip", "hold_frames"])?;
    }
    Ok((frame_skip, hold_frames))
}

const BUTTONS: [(&str, Button); 8] = [
    ("up", Button::Up),
    ("down", Button::Down),
    ("right", Button::Right),
    ("left", Button::Left),
    ("a", Button::A),
    ("b", Button::B),
    ("select", Button::Select),
    ("start", Button::Start),
];

fn read_actions(root: &Table<'_>) -> Result<(Vec<String>, Vec<Vec<Button>>), TaskError> {
    let table = root.require("actions")?.table()?;
    let node = table.require("buttons")?;
    table.finish(&["buttons"])?;
    let mut names: Vec<String> = Vec::new();
    let mut actions = Vec::new();
    for item in node.array()? {
        let name = item.string()?;
        if names.iter().any(|known| known == name) {
            return Err(item.error(format!("the action {name:?} is listed twice")));
        }
        names.push(name.to_owned());
        actions.push(read_buttons(&item)?);
    }
    if actions.is_empty() {
        return Err(node.error("expected at least one action"));
    }
    if actions.len() > 256 {
        return Err(node.error("expected at most 256 actions"));
    }
    Ok((names, actions))
}

/// `none`, a button, or several joined by `+`.
fn read_buttons(node: &Node<'_>) -> Result<Vec<Button>, TaskError> {
    let text = node.string()?;
    let mut buttons = Vec::new();
    if text == "none" {
        return Ok(buttons);
    }
    for part in text.split('+') {
        let Some((_, button)) = BUTTONS.iter().find(|(known, _)| *known == part) else {
            return Err(node.error(format!(
                "the button {part:?} is unknown; expected none or {}, joined by + to press several",
                list(&BUTTONS.map(|(name, _)| name))
            )));
        };
        if buttons.contains(button) {
            return Err(node.error(format!("the button {part:?} is listed twice")));
        }
        buttons.push(*button);
    }
    Ok(buttons)
}

fn read_max_steps(root: &Table<'_>) -> Result<u64, TaskError> {
    let Some(table) = optional_table(root, "episode")? else {
        return Ok(0);
    };
    let max_steps = match table.take("max_steps") {
        Some(node) => u64::try_from(node.integer_in(0..=1 << 53)?).unwrap_or(0),
        None => 0,
    };
    table.finish(&["max_steps"])?;
    Ok(max_steps)
}

#[derive(Debug, Default)]
struct Start {
    states: Vec<(String, String)>,
    default: Option<String>,
    script: Vec<(Vec<Button>, u32)>,
    max_noop_frames: u32,
}

fn read_start(root: &Table<'_>) -> Result<Start, TaskError> {
    let Some(table) = optional_table(root, "start")? else {
        return Ok(Start::default());
    };
    let states = named_entries(&table, "states")?
        .into_iter()
        .map(|(name, node)| Ok((name.to_owned(), node.string()?.to_owned())))
        .collect::<Result<Vec<_>, TaskError>>()?;
    let default = match table.take("default") {
        Some(node) => {
            let name = node.string()?;
            if !states.iter().any(|(known, _)| known == name) {
                let known: Vec<_> = states.iter().map(|(known, _)| known).collect();
                return Err(node.error(format!(
                    "the start state {name:?} is unknown; expected one of {}",
                    list(&known)
                )));
            }
            Some(name.to_owned())
        }
        None => None,
    };
    let mut script = Vec::new();
    if let Some(node) = table.take("script") {
        for item in node.array()? {
            match item.array()?.as_slice() {
                [buttons, frames] => {
                    script.push((read_buttons(buttons)?, frames.count(1, 100_000)?))
                }
                _ => return Err(item.error("expected [buttons, frames], such as [\"start\", 8]")),
            }
        }
        if script
            .last()
            .is_some_and(|(buttons, _)| !buttons.is_empty())
        {
            return Err(
                node.error("the script must end with \"none\", so that nothing stays pressed")
            );
        }
    }
    let max_noop_frames = match table.take("max_noop_frames") {
        Some(node) => node.count(0, 100_000)?,
        None => 0,
    };
    table.finish(&["states", "default", "script", "max_noop_frames"])?;
    Ok(Start {
        states,
        default,
        script,
        max_noop_frames,
    })
}

/// The types: name, encoding, fixed length or (0) the greatest length.
const TYPES: [(&str, Encoding, usize, usize); 15] = [
    ("u8", Encoding::LittleEndian, 1, 1),
    ("i8", Encoding::Signed, 1, 1),
    ("u16le", Encoding::LittleEndian, 2, 2),
    ("u16be", Encoding::BigEndian, 2, 2),
    ("u24le", Encoding::LittleEndian, 3, 3),
    ("u24be", Encoding::BigEndian, 3, 3),
    ("u32le", Encoding::LittleEndian, 4, 4),
    ("u32be", Encoding::BigEndian, 4, 4),
    ("bcd", Encoding::Bcd, 0, 6),
    ("bcdle", Encoding::BcdLittleEndian, 0, 6),
    ("digits", Encoding::Digits, 0, 9),
    ("digitsle", Encoding::DigitsLittleEndian, 0, 9),
    ("bit", Encoding::Bit(0), 1, 1),
    ("popcount", Encoding::PopCount, 0, 0x2000),
    ("bytes", Encoding::Bytes, 0, 0x2000),
];

fn read_variables(
    root: &Table<'_>,
    symbols: Option<&Symbols>,
    scope: &mut Scope,
) -> Result<Vec<Variable>, TaskError> {
    let mut variables: Vec<Variable> = Vec::new();
    let mut checked: Vec<Variable> = Vec::new();
    for (name, node) in named_entries(root, "variables")? {
        let (variable, overlap_allowed) = read_variable(name, &node, symbols)?;
        let slot = variables.len() + 1;
        let meaning = match variable.encoding {
            Encoding::Bytes => Meaning::Bytes,
            _ => Meaning::Number {
                slot,
                byte: is_plain_byte(&variable),
            },
        };
        scope.define(name, &node, meaning)?;
        if !overlap_allowed && is_number(&variable) {
            if let Some(other) = checked
                .iter()
                .find(|other| partly_overlap(other, &variable))
            {
                return Err(node.error(format!(
                    "it shares some but not all bytes of a number with {:?}; one of the addresses \
                     is wrong (overlap = true allows it)",
                    other.name
                )));
            }
            checked.push(variable.clone());
        }
        variables.push(variable);
    }
    Ok(variables)
}

fn is_plain_byte(variable: &Variable) -> bool {
    variable.count == 1
        && variable.length == 1
        && matches!(variable.encoding, Encoding::LittleEndian | Encoding::Bit(_))
        && variable.subtract == 0
        && variable.floor.is_none()
}

fn is_number(variable: &Variable) -> bool {
    !matches!(
        variable.encoding,
        Encoding::PopCount | Encoding::Bytes | Encoding::Bit(_)
    )
}

fn partly_overlap(one: &Variable, other: &Variable) -> bool {
    let starts = |variable: &Variable| {
        let (place, stride) = (variable.place, variable.stride);
        (0..variable.count).map(move |slot| match place.plus(slot * stride) {
            Place::Area(area, offset) => (Some(area), offset),
            Place::Bus(address) => (None, usize::from(address)),
        })
    };
    starts(one).any(|(area, start)| {
        let end = start + one.length;
        starts(other).any(|(other_area, other_start)| {
            let other_end = other_start + other.length;
            area == other_area
                && start < other_end
                && other_start < end
                && !(start <= other_start && other_end <= end)
                && !(other_start <= start && end <= other_end)
        })
    })
}

/// Bank (if the symbol table names one) and address.
fn read_address(
    node: &Node<'_>,
    symbols: Option<&Symbols>,
) -> Result<(Option<u16>, u16), TaskError> {
    if node.is_integer() {
        let address = node.integer_in(0..=0xFFFF)?;
        return Ok((None, u16::try_from(address).unwrap_or(0)));
    }
    let text = node.string().map_err(|_| {
        node.error("expected an address (an integer such as 0xD356) or a symbol (a string)")
    })?;
    resolve_symbol(text, symbols).map_err(|message| node.error(message))
}

/// `symbol` or `symbol+offset`.
pub(crate) fn resolve_symbol(
    text: &str,
    symbols: Option<&Symbols>,
) -> Result<(Option<u16>, u16), String> {
    let (name, offset) = match text.split_once('+') {
        Some((name, offset)) => {
            let offset = offset.trim();
            let parsed = match offset.strip_prefix("0x") {
                Some(digits) => u16::from_str_radix(digits, 16),
                None => offset.parse(),
            };
            let offset = parsed.map_err(|_| {
                format!(
                    "{offset:?} is not an offset; expected symbol+number, such as wPartyMon1+33"
                )
            })?;
            (name.trim(), offset)
        }
        None => (text.trim(), 0),
    };
    let Some(symbols) = symbols else {
        return Err(format!(
            "the symbol {name:?} cannot be resolved without a symbol file; give one, or an address"
        ));
    };
    let Some((bank, address)) = symbols.get(name) else {
        return Err(format!("the symbol {name:?} is not in the symbol file"));
    };
    let address = address
        .checked_add(offset)
        .ok_or_else(|| format!("{text:?} lies beyond 0xFFFF"))?;
    Ok((
        Some(bank).filter(|_| (0xA000..0xC000).contains(&address)),
        address,
    ))
}

fn read_variable(
    name: &str,
    node: &Node<'_>,
    symbols: Option<&Symbols>,
) -> Result<(Variable, bool), TaskError> {
    if node.is_integer() || node.is_string() {
        let (bank, address) = read_address(node, symbols)?;
        let place = Place::new(address, bank, 1).map_err(|message| node.error(message))?;
        let variable = Variable {
            name: name.to_owned(),
            place,
            encoding: Encoding::LittleEndian,
            length: 1,
            count: 1,
            stride: 1,
            reduce: Reduce::Sum,
            subtract: 0,
            floor: None,
        };
        return Ok((variable, false));
    }
    let table = node.table()?;
    let address_node = table.require("address")?;
    let (symbol_bank, address) = read_address(&address_node, symbols)?;
    let bank = match table.take("bank") {
        Some(node) => Some(u16::try_from(node.integer_in(0..=15)?).unwrap_or(0)),
        None => symbol_bank,
    };
    let (encoding, length) = read_type(&table)?;
    let count = match table.take("count") {
        Some(node) => node.count(1, 1024)? as usize,
        None => 1,
    };
    let stride = match table.take("stride") {
        Some(node) => {
            let stride = node.count(1, 0x2000)? as usize;
            if stride < length {
                return Err(node.error(format!(
                    "slots {stride} bytes apart overlap; one slot has {length} bytes"
                )));
            }
            stride
        }
        None => length,
    };
    let reduce = match table.take("reduce") {
        Some(node) => match node.one_of(&["sum", "max", "min"])? {
            0 => Reduce::Sum,
            1 => Reduce::Max,
            _ => Reduce::Min,
        },
        None if count > 1 => {
            return Err(table.error("several slots need reduce = \"sum\", \"max\" or \"min\""));
        }
        None => Reduce::Sum,
    };
    if count > 1 && encoding == Encoding::Bytes {
        return Err(table.error("type bytes cannot have several slots; use a greater length"));
    }
    let subtract = match table.take("subtract") {
        Some(node) => node.integer_in(-1_000_000_000..=1_000_000_000)?,
        None => 0,
    };
    let floor = table
        .take("floor")
        .map(|node| node.integer_in(-1_000_000_000..=1_000_000_000))
        .transpose()?;
    let overlap = match table.take("overlap") {
        Some(node) => node.boolean()?,
        None => false,
    };
    table.finish(&[
        "address", "bank", "type", "length", "bit", "count", "stride", "reduce", "subtract",
        "floor", "overlap",
    ])?;
    let span = (count - 1) * stride + length;
    let place = Place::new(address, bank, span).map_err(|message| address_node.error(message))?;
    let variable = Variable {
        name: name.to_owned(),
        place,
        encoding,
        length,
        count,
        stride,
        reduce,
        subtract,
        floor,
    };
    Ok((variable, overlap))
}

fn read_type(table: &Table<'_>) -> Result<(Encoding, usize), TaskError> {
    let index = match table.take("type") {
        Some(node) => node.one_of(&TYPES.map(|(name, ..)| name))?,
        None => 0,
    };
    let (name, encoding, fixed, longest) = TYPES[index];
    let length = match table.take("length") {
        Some(node) if fixed > 0 => {
            return Err(node.error(format!("type {name} has a fixed length of {fixed}")));
        }
        Some(node) => node.count(1, u32::try_from(longest).unwrap_or(1))? as usize,
        None if fixed > 0 => fixed,
        None => return Err(table.error(format!("type {name} needs a length in bytes"))),
    };
    let encoding = match (encoding, table.take("bit")) {
        (Encoding::Bit(_), Some(node)) => {
            Encoding::Bit(u8::try_from(node.integer_in(0..=7)?).unwrap_or(0))
        }
        (Encoding::Bit(_), None) => {
            return Err(table.error("type bit needs bit = 0 (lowest) to 7 (highest)"));
        }
        (_, Some(node)) => return Err(node.error(format!("type {name} has no bit number"))),
        (encoding, None) => encoding,
    };
    Ok((encoding, length))
}

#[derive(Debug, Default)]
struct Values {
    values: Vec<Value>,
    slots: usize,
    memories: usize,
    visits: usize,
}

impl Values {
    fn memory(&mut self) -> usize {
        self.memories += 1;
        self.memories - 1
    }
}

/// A `previous` whose source may be defined further down.
struct Pending<'s> {
    value: usize,
    source: Node<'s>,
}

fn read_values(
    root: &Table<'_>,
    scope: &mut Scope,
    first_slot: usize,
) -> Result<Values, TaskError> {
    let mut all = Values {
        slots: first_slot,
        ..Values::default()
    };
    let mut pending: Vec<Pending<'_>> = Vec::new();
    for (name, node) in named_entries(root, "values")? {
        let slot = all.slots;
        let kind = if node.is_string() || node.is_number() {
            ValueKind::Expression(scope.expression(&node)?)
        } else {
            read_value(&node, scope, &mut all, &mut pending)?
        };
        let meaning = match kind {
            ValueKind::Visits { .. } => Meaning::Visits { slot },
            _ => Meaning::Number { slot, byte: false },
        };
        all.slots += match kind {
            ValueKind::Visits { .. } => 2,
            _ => 1,
        };
        scope.define(name, &node, meaning)?;
        all.values.push(Value { slot, kind });
    }
    for late in pending {
        let name = late.source.string()?;
        let found = scope
            .value(name)
            .map_err(|message| late.source.error(message))?;
        if let ValueKind::Previous { source, .. } = &mut all.values[late.value].kind {
            *source = found;
        }
    }
    Ok(all)
}

fn read_value<'s>(
    node: &Node<'s>,
    scope: &Scope,
    all: &mut Values,
    pending: &mut Vec<Pending<'s>>,
) -> Result<ValueKind, TaskError> {
    const KINDS: [&str; 7] = [
        "expr", "previous", "at_reset", "max", "min", "sum", "visits",
    ];
    let table = node.table()?;
    let mut given = KINDS
        .iter()
        .filter_map(|kind| table.take(kind).map(|field| (*kind, field)));
    let Some((kind, field)) = given.next() else {
        return Err(table.error(format!("expected one of {}", list(&KINDS))));
    };
    if let Some((_, second)) = given.next() {
        return Err(second.error(format!(
            "it already has {kind}; expected only one of {}",
            list(&KINDS)
        )));
    }
    drop(given);
    let initial = match table.take("initial") {
        Some(node) if matches!(kind, "expr" | "at_reset" | "visits") => {
            return Err(node.error(format!("{kind} has no initial number")));
        }
        Some(node) => Some(node.number()?),
        None => None,
    };
    let when = match table.take("when") {
        Some(node) if kind != "visits" => {
            return Err(node.error(format!(
                "{kind} has no when; use where(...) in the expression"
            )));
        }
        Some(node) => Some(scope.expression(&node)?),
        None => None,
    };
    table.finish(&["initial", "when"])?;
    Ok(match kind {
        "expr" => ValueKind::Expression(scope.expression(&field)?),
        "previous" => {
            // Without an initial number, its source must be known when the episode begins.
            let source = if initial.is_some() {
                let value = all.values.len();
                field.string()?;
                pending.push(Pending {
                    value,
                    source: field,
                });
                STEPS
            } else {
                let name = field.string()?;
                scope.value(name).map_err(|message| {
                    field.error(format!("{message} (or give an initial number)"))
                })?
            };
            let memory = all.memory();
            ValueKind::Previous {
                source,
                initial,
                memory,
            }
        }
        "at_reset" => {
            let (expression, memory) = (scope.expression(&field)?, all.memory());
            ValueKind::AtReset { expression, memory }
        }
        "max" => {
            let (expression, memory) = (scope.expression(&field)?, all.memory());
            ValueKind::Max {
                expression,
                initial,
                memory,
            }
        }
        "min" => {
            let (expression, memory) = (scope.expression(&field)?, all.memory());
            ValueKind::Min {
                expression,
                initial,
                memory,
            }
        }
        "sum" => {
            let (expression, memory) = (scope.expression(&field)?, all.memory());
            let initial = initial.unwrap_or(0.0);
            ValueKind::Sum {
                expression,
                initial,
                memory,
            }
        }
        _ => {
            let key = read_key(&field, scope)?;
            let when = when.unwrap_or_else(|| Expression::constant(1.0));
            all.visits += 1;
            ValueKind::Visits {
                key,
                when,
                visits: all.visits - 1,
            }
        }
    })
}

fn read_key(node: &Node<'_>, scope: &Scope) -> Result<Vec<KeyPart>, TaskError> {
    let mut shift = 0;
    let mut key = Vec::new();
    for item in node.array()? {
        let name = item.string()?;
        let slot = scope.value(name).map_err(|message| item.error(message))?;
        let byte = matches!(
            scope.meanings.get(name),
            Some(Meaning::Number { byte: true, .. })
        );
        let bits = if byte { 8 } else { 16 };
        if shift + bits > KEY_BITS {
            return Err(node.error(format!(
                "the tuple is too wide: at most {KEY_BITS} bits (8 for a byte variable, 16 for others)"
            )));
        }
        key.push(KeyPart {
            slot,
            shift,
            mask: (1 << bits) - 1,
        });
        shift += bits;
    }
    if key.is_empty() {
        return Err(
            node.error("expected the names that make up a place, such as [\"x\", \"y\", \"map\"]")
        );
    }
    Ok(key)
}

fn read_world(root: &Table<'_>, scope: &Scope) -> Result<Option<World>, TaskError> {
    let Some(table) = optional_table(root, "world")? else {
        return Ok(None);
    };
    let size = |key: &str| table.require(key)?.count(1, 4096).map(|size| size as usize);
    let (rows, columns) = (size("rows")?, size("columns")?);
    let slot = |key: &str| {
        let node = table.require(key)?;
        scope
            .value(node.string()?)
            .map_err(|message| node.error(message))
    };
    let (row, column, map) = (slot("row")?, slot("column")?, slot("map")?);
    let padding = match table.take("padding") {
        Some(node) => node.integer_in(0..=4096)?,
        None => 0,
    };
    let unknown = match table.take("unknown") {
        Some(node) => match node.array()?.as_slice() {
            [row, column] => {
                let high = |size: usize| i64::try_from(size - 1).unwrap_or(0);
                let row = row.integer_in(0..=high(rows))?;
                let column = column.integer_in(0..=high(columns))?;
                (
                    usize::try_from(row).unwrap_or(0),
                    usize::try_from(column).unwrap_or(0),
                )
            }
            _ => return Err(node.error("expected [row, column]")),
        },
        None => (rows / 2, columns / 2),
    };
    let mut offsets = Box::new([None; 256]);
    if let Some(node) = table.take("offsets") {
        for item in node.array()? {
            let parts = item.array()?;
            let [map, column, row] = parts.as_slice() else {
                return Err(item.error("expected [map, column, row]"));
            };
            let number = usize::try_from(map.integer_in(0..=255)?).unwrap_or(0);
            let corner = |node: &Node<'_>| {
                node.integer_in(-4096..=4096)
                    .map(|number| i32::try_from(number).unwrap_or(0))
            };
            let offset = (corner(column)?, corner(row)?);
            if offsets[number].replace(offset).is_some() {
                return Err(map.error(format!("map {number} is listed twice")));
            }
        }
    }
    table.finish(&[
        "rows", "columns", "row", "column", "map", "padding", "unknown", "offsets",
    ])?;
    Ok(Some(World {
        rows,
        columns,
        row,
        column,
        map,
        padding,
        unknown,
        offsets,
    }))
}

fn read_screen(root: &Table<'_>) -> Result<(Resolution, u32), TaskError> {
    let (mut resolution, mut stack) = (Resolution::Half, 3);
    if let Some(table) = optional_table(root, "screen")? {
        if let Some(node) = table.take("resolution") {
            resolution = match node.one_of(&["full", "half"])? {
                0 => Resolution::Full,
                _ => Resolution::Half,
            };
        }
        if let Some(node) = table.take("stack") {
            stack = node.count(1, MAX_FRAME_STACK)?;
        }
        table.finish(&["resolution", "stack"])?;
    }
    Ok((resolution, stack))
}

fn read_features(
    root: &Table<'_>,
    scope: &Scope,
    variables: &[Variable],
    has_world: bool,
) -> Result<Vec<(String, Feature)>, TaskError> {
    let node = root.require("observation")?;
    let mut features: Vec<(String, Feature)> = Vec::new();
    for item in node.array()? {
        let table = item.table()?;
        let name_node = table.require("name")?;
        let name = name_node.string()?;
        if features.iter().any(|(known, _)| known == name) {
            return Err(name_node.error(format!("the observation {name:?} is listed twice")));
        }
        let screens = features
            .iter()
            .any(|(_, known)| matches!(known, Feature::Screens));
        let feature = read_feature(&table, scope, variables, has_world)?;
        if screens && matches!(feature, Feature::Screens) {
            return Err(table.error("the screens can be observed only once"));
        }
        features.push((name.to_owned(), feature));
    }
    if features.is_empty() {
        return Err(node.error("expected at least one observation"));
    }
    if features.len() > MAX_ENTRIES {
        return Err(node.error(format!("at most {MAX_ENTRIES} observations are allowed")));
    }
    Ok(features)
}

fn read_feature(
    table: &Table<'_>,
    scope: &Scope,
    variables: &[Variable],
    has_world: bool,
) -> Result<Feature, TaskError> {
    const KINDS: [&str; 7] = [
        "screens",
        "value",
        "waves",
        "bits",
        "bytes",
        "visited_map",
        "recent_actions",
    ];
    let kind_node = table.require("kind")?;
    let kind = KINDS[kind_node.one_of(&KINDS)?];
    let feature = match kind {
        "screens" => Feature::Screens,
        "value" => read_value_feature(table, scope)?,
        "waves" => Feature::Waves {
            expression: scope.expression(&table.require("value")?)?,
            count: table.require("count")?.count(1, 64)? as usize,
        },
        "bits" | "bytes" => {
            let node = table.require("variable")?;
            let name = node.string()?;
            let Some(variable) = variables.iter().find(|variable| variable.name == name) else {
                return Err(node.error(format!("the variable {name:?} is unknown")));
            };
            let (place, length) = (variable.place, variable.span());
            match kind {
                "bits" => Feature::Bits { place, length },
                _ => Feature::Bytes { place, length },
            }
        }
        "visited_map" => {
            if !has_world {
                return Err(kind_node.error("a visited_map needs the table [world]"));
            }
            let node = table.require("window")?;
            let window = node.count(2, 64)? as usize;
            if !window.is_multiple_of(2) {
                return Err(node.error(format!("{window} is odd; expected an even number")));
            }
            let repeat = match table.take("repeat") {
                Some(node) => node.count(1, 8)? as usize,
                None => 1,
            };
            Feature::VisitedMap { window, repeat }
        }
        _ => Feature::RecentActions {
            count: table.require("count")?.count(1, 64)? as usize,
        },
    };
    table.finish(&[
        "name", "kind", "value", "values", "low", "high", "count", "variable", "window", "repeat",
    ])?;
    Ok(feature)
}

fn read_value_feature(table: &Table<'_>, scope: &Scope) -> Result<Feature, TaskError> {
    let expressions = match (table.take("value"), table.take("values")) {
        (Some(node), None) => vec![scope.expression(&node)?],
        (None, Some(node)) => node
            .array()?
            .iter()
            .map(|item| scope.expression(item))
            .collect::<Result<_, _>>()?,
        _ => return Err(table.error("expected value (an expression) or values (a list of them)")),
    };
    if expressions.is_empty() || expressions.len() > MAX_ENTRIES {
        return Err(table.error(format!("expected 1 to {MAX_ENTRIES} expressions")));
    }
    let bound = |key: &str, default: f64| match table.take(key) {
        Some(node) => node.number(),
        None => Ok(default),
    };
    let (low, high) = (
        bound("low", f64::NEG_INFINITY)?,
        bound("high", f64::INFINITY)?,
    );
    if low >= high {
        return Err(table.error(format!("low ({low}) must be below high ({high})")));
    }
    Ok(Feature::Values {
        expressions,
        low,
        high,
    })
}

fn read_rewards(root: &Table<'_>, scope: &Scope) -> Result<Vec<Reward>, TaskError> {
    let mut rewards = Vec::new();
    for (name, node) in named_entries(root, "rewards")? {
        let table = node.table()?;
        let (expression, each_step) =
            match (table.take("value"), table.take("each_step")) {
                (Some(node), None) => (scope.expression(&node)?, false),
                (None, Some(node)) => (scope.expression(&node)?, true),
                _ => return Err(table.error(
                    "expected value (its change is rewarded) or each_step (it is rewarded itself)",
                )),
            };
        let weight = match table.take("weight") {
            Some(node) => node.number()?,
            None => 1.0,
        };
        table.finish(&["value", "each_step", "weight"])?;
        rewards.push(Reward {
            name: name.to_owned(),
            expression,
            each_step,
            weight,
        });
    }
    if !rewards.is_empty() && rewards.iter().all(|reward| reward.weight == 0.0) {
        let node = root.require("rewards")?;
        return Err(node.error(
            "every weight is zero, so that nothing is rewarded; \
                               give one term a weight, or leave the table out",
        ));
    }
    Ok(rewards)
}

fn read_ends(root: &Table<'_>, scope: &Scope) -> Result<Vec<End>, TaskError> {
    let mut ends = Vec::new();
    for (_, node) in named_entries(root, "ends")? {
        let table = node.table()?;
        let (expression, terminates) = match (table.take("terminated"), table.take("truncated")) {
            (Some(node), None) => (scope.expression(&node)?, true),
            (None, Some(node)) => (scope.expression(&node)?, false),
            _ => return Err(table.error("expected terminated or truncated (an expression)")),
        };
        table.finish(&["terminated", "truncated"])?;
        ends.push(End {
            expression,
            terminates,
        });
    }
    Ok(ends)
}

fn read_info(root: &Table<'_>, scope: &Scope) -> Result<Vec<(String, Expression)>, TaskError> {
    named_entries(root, "info")?
        .into_iter()
        .map(|(name, node)| Ok((name.to_owned(), scope.expression(&node)?)))
        .collect()
}

fn read_watch(
    root: &Table<'_>,
    variables: &[Variable],
    symbols: Option<&Symbols>,
) -> Result<Vec<Watch>, TaskError> {
    let Some(node) = root.take("watch") else {
        return Ok(Vec::new());
    };
    let mut watch = Vec::new();
    for item in node.array()? {
        let entry = if item.is_integer() {
            let (_, address) = read_address(&item, None)?;
            Watch::Range { address, len: 1 }
        } else {
            Watch::Name(item.string()?.to_owned())
        };
        watch_place(&entry, variables, symbols).map_err(|message| item.error(message))?;
        watch.push(entry);
    }
    Ok(watch)
}

/// Where a watched piece of RAM lies; the message says why it does not.
pub(crate) fn watch_place(
    watch: &Watch,
    variables: &[Variable],
    symbols: Option<&Symbols>,
) -> Result<(String, Place, usize), String> {
    match watch {
        Watch::Range { len: 0, .. } => Err("a watched range needs at least one byte".to_owned()),
        Watch::Range { address, len } => {
            let len = usize::from(*len);
            Place::new(*address, None, len).map(|place| (format!("0x{address:04X}"), place, len))
        }
        Watch::Name(name) => {
            if let Some(variable) = variables.iter().find(|variable| variable.name == *name) {
                return Ok((name.clone(), variable.place, variable.span()));
            }
            let (bank, address) = resolve_symbol(name, symbols).map_err(|message| {
                format!("{name:?} is neither a variable nor a symbol ({message})")
            })?;
            Place::new(address, bank, 1).map(|place| (name.clone(), place, 1))
        }
    }
}
