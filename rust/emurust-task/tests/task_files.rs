//! Wrong task files and options: the message names the file, the line, the field and the cure.

mod support;

use std::sync::Arc;

use emurust_task::{Episode, ObservationKind, Resolution, Symbols, Task, TaskOptions, Watch};
use support::Flat;

/// A task with every kind of thing in it; tests change one line.
const GOOD: &str = r#"name = "all"
watch = ["score", 0xC010, "gold"]
[actions]
buttons = ["none", "a", "b+right"]
[timing]
frame_skip = 4
hold_frames = 2
[episode]
max_steps = 10
[variables]
x = 0xC000
score = { address = 0xC100, type = "bcd", length = 3 }
gold = { address = 0xC110, type = "u16le", count = 3, stride = 4, reduce = "max" }
flags = { address = 0xC120, type = "bytes", length = 4 }
sprite = { address = 0xFE00 }
[values]
best = { max = "score" }
before = { previous = "after", initial = 3 }
after = "x + 1"
places = { visits = ["x", "gold"] }
[world]
rows = 20
columns = 30
row = "x"
column = "x"
map = "x"
offsets = [[0, 1, 2]]
[screen]
stack = 2
[[observation]]
name = "screens"
kind = "screens"
[[observation]]
name = "numbers"
kind = "value"
values = ["score", 5]
low = 0
high = 9
[[observation]]
name = "map"
kind = "visited_map"
window = 6
[[observation]]
name = "flags"
kind = "bits"
variable = "flags"
[rewards]
best = { value = "best", weight = 2 }
time = { each_step = "1", weight = -0.5 }
[ends]
won = { terminated = "score >= 100" }
lost = { truncated = "x == 9" }
[info]
best = "best"
[start]
states = { first = "first.state" }
script = [["a+b", 8], ["none", 60]]
default = "first"
"#;

fn read(text: &str) -> Result<Task, String> {
    Task::from_toml(text, "all.toml", None).map_err(|error| error.to_string())
}

fn line_of(part: &str) -> usize {
    let at = GOOD
        .find(part)
        .unwrap_or_else(|| panic!("{part:?} is not in the file"));
    GOOD[..at].matches('\n').count() + 1
}

/// Replaces one part and expects a message about that line and field.
#[track_caller]
fn wrong(part: &str, replacement: &str, field: &str, message: &str) {
    assert_eq!(GOOD.matches(part).count(), 1, "{part:?} must be unique");
    let error = read(&GOOD.replace(part, replacement)).expect_err(replacement);
    let start = format!("all.toml:{}: {field}: ", line_of(part));
    assert!(
        error.starts_with(&start),
        "{error:?} does not start with {start:?}"
    );
    assert!(error.contains(message), "{error:?} lacks {message:?}");
}

#[test]
fn reads_the_good_file() {
    let task = read(GOOD).expect("valid");
    assert_eq!(task.name(), "all");
    assert_eq!(task.action_names(), ["none", "a", "b+right"]);
    assert_eq!(
        task.start_states(),
        [("first".to_owned(), "first.state".to_owned())]
    );
    assert_eq!(task.default_start(), Some("first"));
    assert_eq!(task.max_steps(), 10);
    assert_eq!(task.reward_weights(), [("best", 2.0), ("time", -0.5)]);
    let info: Vec<_> = task
        .info_layout()
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    assert_eq!(info, ["best", "reward/best", "reward/time"]);
    let watch: Vec<_> = task
        .watch_layout()
        .iter()
        .map(|field| (field.offset, field.len))
        .collect();
    assert_eq!(watch, [(0, 3), (3, 1), (4, 10)]);
    assert_eq!(task.watch_len(), 14);
}

#[test]
fn plays_the_good_file() {
    let task = Arc::new(read(GOOD).expect("valid"));
    let mut machine = Flat::new();
    machine.set(0xC100, &[0, 0, 0x12]);
    let mut episode = Episode::new(Arc::clone(&task));
    let mut obs = vec![0; task.observation_len()];
    let (mut info, mut watch) = (vec![0.0; 3], vec![0; 14]);
    episode.begin(&mut machine, 0, &mut obs);
    machine.set(0xC100, &[0, 0, 0x15]);
    machine.set(0xC110, &[1, 1, 0, 0, 9]);
    machine.set(0xC010, &[77]);
    let result = episode.step(&mut machine, 2, &mut obs, &mut info, &mut watch);
    assert_eq!(
        machine.log,
        [
            "press B",
            "press Right",
            "2",
            "release B",
            "release Right",
            "2 drawn"
        ]
    );
    assert_eq!(result.reward, 3.0 * 2.0 - 0.5);
    assert_eq!(info, [15.0, 6.0, -0.5]);
    assert_eq!(watch, [0, 0, 0x15, 77, 1, 1, 0, 0, 9, 0, 0, 0, 0, 0]);
    assert!(!result.terminated && !result.truncated);
    let numbers = &task.observation_layout()[1];
    let floats: Vec<f32> = obs[numbers.offset..numbers.offset + 8]
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("4")))
        .collect();
    assert_eq!(floats, [9.0, 5.0], "limited to low and high");
    machine.set(0xC100, &[0, 1, 0]);
    machine.set(0xC000, &[9]);
    let result = episode.step(&mut machine, 0, &mut obs, &mut info, &mut watch);
    assert!(result.terminated && result.truncated);
    assert_eq!(info, [100.0, 176.0, -1.0]);
}

#[test]
fn plays_the_start_script() {
    let task = read(GOOD).expect("valid");
    assert!(task.has_start_script());
    let mut machine = Flat::new();
    task.play_start_script(&mut machine);
    let expected = [
        "press A",
        "press B",
        "8 drawn",
        "release A",
        "release B",
        "60 drawn",
    ];
    assert_eq!(machine.log, expected);
}

#[test]
fn names_file_line_and_field() {
    wrong("max_steps = 10", "max_steps = ", "TOML syntax", "");
    wrong(
        "max_steps = 10",
        "max_step = 10",
        "episode.max_step",
        "unknown here; expected max_steps",
    );
    wrong(
        "name = \"all\"",
        "name = 3",
        "name",
        "expected a string, found an integer",
    );
    wrong(
        "frame_skip = 4",
        "frame_skip = 0",
        "timing.frame_skip",
        "0 is out of range; expected 1 to",
    );
    wrong(
        "hold_frames = 2",
        "hold_frames = 5",
        "timing.hold_frames",
        "more than the 4 frames",
    );
    let buttons = "buttons = [\"none\", \"a\", \"b+right\"]";
    wrong(
        buttons,
        "buttons = [\"c\"]",
        "actions.buttons[0]",
        "button \"c\" is unknown",
    );
    wrong(
        buttons,
        "buttons = [\"a+a\"]",
        "actions.buttons[0]",
        "twice",
    );
    wrong(
        buttons,
        "buttons = [\"a\", \"a\"]",
        "actions.buttons[1]",
        "twice",
    );
    wrong(buttons, "buttons = []", "actions.buttons", "at least one");
    let script = "script = [[\"a+b\", 8], [\"none\", 60]]";
    wrong(
        script,
        "script = [[\"a\", 8]]",
        "start.script",
        "must end with \"none\"",
    );
    wrong(
        script,
        "script = [[\"c\", 1]]",
        "start.script[0][0]",
        "button \"c\" is unknown",
    );
    wrong(
        script,
        "script = [[\"a\", 0]]",
        "start.script[0][1]",
        "0 is out of range",
    );
    wrong(
        script,
        "script = [[\"a\"]]",
        "start.script[0]",
        "expected [buttons, frames]",
    );
    wrong(
        "default = \"first\"",
        "default = \"other\"",
        "start.default",
        "expected one of first",
    );
}

#[test]
fn checks_variables() {
    let x = "x = 0xC000";
    wrong(x, "x = 0x4000", "variables.x", "outside RAM");
    wrong(x, "x = 0xE123", "variables.x", "use 0xC123");
    wrong(x, "x = 0x10000", "variables.x", "out of range");
    wrong(x, "x = 1.5", "variables.x", "expected a table");
    wrong(x, "x = \"wXCoord\"", "variables.x", "without a symbol file");
    wrong(x, "max = 0xC000", "variables.max", "reserved");
    wrong(
        x,
        "\"a b\" = 0xC000",
        "variables.a b",
        "cannot be used in expressions",
    );
    wrong(
        x,
        "x = { type = \"u8\" }",
        "variables.x",
        "\"address\" is missing",
    );
    wrong(
        x,
        "x = { address = 0xC000, type = \"u128\" }",
        "variables.x.type",
        "expected one of u8",
    );
    wrong(
        x,
        "x = { address = 0xC000, size = 1 }",
        "variables.x.size",
        "unknown here",
    );
    wrong(
        x,
        "x = { address = 0xC000, type = \"bit\" }",
        "variables.x",
        "needs bit",
    );
    wrong(
        x,
        "x = { address = 0xC000, type = \"bit\", bit = 8 }",
        "variables.x.bit",
        "0 to 7",
    );
    wrong(
        x,
        "x = { address = 0xC000, bit = 1 }",
        "variables.x.bit",
        "no bit number",
    );
    wrong(
        x,
        "x = { address = 0xC000, length = 2 }",
        "variables.x.length",
        "fixed length",
    );
    wrong(
        x,
        "x = { address = 0xC000, type = \"bcd\" }",
        "variables.x",
        "needs a length",
    );
    wrong(
        x,
        "x = { address = 0xDFFF, type = \"u16le\" }",
        "variables.x.address",
        "reaches beyond",
    );
    wrong(
        x,
        "x = { address = 0xC000, bank = 1 }",
        "variables.x.address",
        "has no banks",
    );
    wrong(
        x,
        "x = { address = 0xC000, count = 2 }",
        "variables.x",
        "need reduce",
    );
    wrong(
        x,
        "x = { address = 0xC000, type = \"u16le\", count = 2, stride = 1, reduce = \"sum\" }",
        "variables.x.stride",
        "overlap",
    );
    let score = "score = { address = 0xC100, type = \"bcd\", length = 3 }";
    wrong(score, "score = 3", "variables.score", "outside RAM");
    let overlapping = "score = { address = 0xC113, type = \"u16le\" }";
    let error = read(&GOOD.replace(score, overlapping)).expect_err("overlap");
    assert!(
        error.starts_with("all.toml:13: variables.gold: it shares some but not all"),
        "{error}"
    );
    let allowed = "score = { address = 0xC113, type = \"u16le\", overlap = true }";
    read(&GOOD.replace(score, allowed)).expect("overlap allowed");
}

#[test]
fn checks_values() {
    let best = "best = { max = \"score\" }";
    wrong(
        best,
        "best = { max = \"scroe\" }",
        "values.best.max",
        "\"scroe\" is unknown",
    );
    wrong(
        best,
        "best = { max = \"after\" }",
        "values.best.max",
        "\"after\" is unknown",
    );
    wrong(
        best,
        "best = { max = \"flags\" }",
        "values.best.max",
        "slice of bytes",
    );
    wrong(
        best,
        "best = { max = \"score +\" }",
        "values.best.max",
        "ends where",
    );
    wrong(
        best,
        "best = { maximum = \"score\" }",
        "values.best",
        "expected one of expr",
    );
    wrong(
        best,
        "best = { max = \"x\", min = \"x\" }",
        "values.best.min",
        "already has max",
    );
    wrong(
        best,
        "best = { expr = \"x\", initial = 1 }",
        "values.best.initial",
        "no initial",
    );
    wrong(
        best,
        "best = { max = \"x\", when = \"x\" }",
        "values.best.when",
        "no when",
    );
    wrong(
        best,
        "best = { previous = \"after\" }",
        "values.best.previous",
        "or give an initial",
    );
    wrong(
        best,
        "x = { max = \"score\" }",
        "values.x",
        "already a variable",
    );
    let before = "before = { previous = \"after\", initial = 3 }";
    wrong(
        before,
        "before = { previous = \"x\", initial = inf }",
        "values.before.initial",
        "finite",
    );
    wrong(
        before,
        "before = { previous = \"nowhere\", initial = 3 }",
        "values.before.previous",
        "\"nowhere\" is unknown",
    );
    let places = "places = { visits = [\"x\", \"gold\"] }";
    wrong(
        places,
        "places = { visits = [] }",
        "values.places.visits",
        "expected the names",
    );
    let wide = "places = { visits = [\"gold\", \"gold\", \"gold\", \"x\"] }";
    wrong(places, wide, "values.places.visits", "too wide");
    wrong(
        places,
        "places = { visits = [\"y\"] }",
        "values.places.visits[0]",
        "\"y\" is unknown",
    );
    wrong(
        "after = \"x + 1\"",
        "after = \"here(x)\"",
        "values.after",
        "not a visits value",
    );
}

#[test]
fn checks_the_rest() {
    wrong("rows = 20", "rows = 0", "world.rows", "out of range");
    wrong(
        "offsets = [[0, 1, 2]]",
        "offsets = [[0, 1]]",
        "world.offsets[0]",
        "[map, column, row]",
    );
    let twice = "offsets = [[0, 1, 2], [0, 1, 2]]";
    wrong(
        "offsets = [[0, 1, 2]]",
        twice,
        "world.offsets[1][0]",
        "twice",
    );
    wrong("stack = 2", "stack = 17", "screen.stack", "1 to 16");
    wrong(
        "kind = \"bits\"",
        "kind = \"bites\"",
        "observation[3].kind",
        "expected one of",
    );
    wrong(
        "variable = \"flags\"",
        "variable = \"best\"",
        "observation[3].variable",
        "is unknown",
    );
    wrong(
        "window = 6",
        "window = 5",
        "observation[2].window",
        "is odd",
    );
    wrong(
        "high = 9",
        "hihg = 9",
        "observation[1].hihg",
        "unknown here",
    );
    wrong(
        "name = \"numbers\"",
        "name = \"screens\"",
        "observation[1].name",
        "twice",
    );
    let best = "best = { value = \"best\", weight = 2 }";
    wrong(
        best,
        "best = { weight = 2 }",
        "rewards.best",
        "expected value",
    );
    wrong(
        best,
        "best = { value = \"best\", weight = nan }",
        "rewards.best.weight",
        "finite",
    );
    let won = "won = { terminated = \"score >= 100\" }";
    wrong(
        won,
        "won = {}",
        "ends.won",
        "expected terminated or truncated",
    );
    wrong(
        won,
        "won = { terminated = \"score =\" }",
        "ends.won.terminated",
        "unexpected character",
    );
    wrong(
        "best = \"best\"",
        "best = [1]",
        "info.best",
        "expected an expression",
    );
    let watch = "watch = [\"score\", 0xC010, \"gold\"]";
    wrong(
        watch,
        "watch = [\"nothing\"]",
        "watch[0]",
        "neither a variable nor a symbol",
    );
    wrong(watch, "watch = [0x100]", "watch[0]", "outside RAM");
    let zero = GOOD
        .replace("weight = 2", "weight = 0")
        .replace("weight = -0.5", "weight = 0.0");
    let error = read(&zero).expect_err("zero weights");
    let line = line_of("[rewards]");
    assert!(
        error.starts_with(&format!("all.toml:{line}: rewards: every weight is zero")),
        "{error}"
    );
    let error = read("").expect_err("empty");
    assert!(
        error.starts_with("all.toml:1: file: the field \"name\" is missing"),
        "{error}"
    );
}

#[test]
fn resolves_symbols() {
    let symbols = Symbols::from_sym("01:C000 wX\n02:A010 sSaved\n", "game.sym").expect("valid");
    let text = GOOD.replace("x = 0xC000", "x = \"wX+2\"\nsaved = \"sSaved\"");
    let task = Task::from_toml(&text, "all.toml", Some(&symbols)).expect("valid");
    let watch = vec![
        Watch::Name("wX".to_owned()),
        Watch::Name("x".to_owned()),
        Watch::Name("saved".to_owned()),
        Watch::Range {
            address: 0xC003,
            len: 2,
        },
    ];
    let task = task
        .with_options(&TaskOptions {
            watch: Some(watch),
            ..TaskOptions::default()
        })
        .expect("valid");
    let mut machine = Flat::new();
    machine.set(0xC000, &[1, 2, 3, 4, 5]);
    machine.cart_ram[2 * 0x2000 + 0x10] = 6;
    let mut watched = [0; 5];
    Episode::new(Arc::new(task)).write_watch(&machine, &mut watched);
    assert_eq!(watched, [1, 3, 6, 4, 5]);
    for (symbol, message) in [
        ("wY", "not in the symbol file"),
        ("wX+q", "not an offset"),
        ("wX+0xFFFF", "beyond 0xFFFF"),
    ] {
        let text = GOOD.replace("x = 0xC000", &format!("x = \"{symbol}\""));
        let error = Task::from_toml(&text, "all.toml", Some(&symbols)).expect_err("bad");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn checks_options() {
    let task = read(GOOD).expect("valid");
    let none = TaskOptions::default;
    let cases: Vec<(TaskOptions, &str)> = vec![
        (
            TaskOptions {
                frame_skip: Some(10_001),
                ..none()
            },
            "option frame_skip: 10001 is out of",
        ),
        (
            TaskOptions {
                hold_frames: Some(5),
                ..none()
            },
            "option hold_frames: 5 is out of",
        ),
        (
            TaskOptions {
                hold_frames: Some(0),
                ..none()
            },
            "option hold_frames: 0 is out of",
        ),
        (
            TaskOptions {
                frame_stack: Some(0),
                ..none()
            },
            "option frame_stack: 0 is out of",
        ),
        (
            TaskOptions {
                reward_weights: vec![("bset".to_owned(), 1.0)],
                ..none()
            },
            "option reward_weights: the reward term \"bset\" is unknown; expected best, time",
        ),
        (
            TaskOptions {
                reward_weights: vec![("best".to_owned(), f64::NAN)],
                ..none()
            },
            "option reward_weights: the weight of \"best\" is NaN",
        ),
        (
            TaskOptions {
                reward_weights: vec![("best".to_owned(), 0.0), ("time".to_owned(), 0.0)],
                ..none()
            },
            "option reward_weights: every weight is zero",
        ),
        (
            TaskOptions {
                reward_scale: Some(0.0),
                ..none()
            },
            "option reward_scale: 0 is not",
        ),
        (
            TaskOptions {
                watch: Some(vec![Watch::Name("q".to_owned())]),
                ..none()
            },
            "option watch: \"q\" is neither a variable nor a symbol",
        ),
        (
            TaskOptions {
                watch: Some(vec![Watch::Range { address: 0, len: 1 }]),
                ..none()
            },
            "option watch: address 0x0000 is outside RAM",
        ),
        (
            TaskOptions {
                watch: Some(vec![Watch::Range {
                    address: 0xC000,
                    len: 0,
                }]),
                ..none()
            },
            "option watch: a watched range needs at least one byte",
        ),
        (
            TaskOptions {
                map_offsets: Some(vec![(1, 0, 0), (1, 0, 0)]),
                ..none()
            },
            "option map_offsets: map 1 is listed twice",
        ),
        (
            TaskOptions {
                map_offsets: Some(vec![(1, 5000, 0)]),
                ..none()
            },
            "option map_offsets: map 1 at (5000, 0) is too far out",
        ),
    ];
    for (options, message) in cases {
        let error = task.with_options(&options).expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn options_change_the_layout() {
    let task = read(GOOD).expect("valid");
    let shapes = |options: TaskOptions| -> Vec<(String, Vec<usize>)> {
        let task = task.with_options(&options).expect("valid");
        let fields = task.observation_layout().iter();
        fields
            .map(|field| (field.name.clone(), field.shape.clone()))
            .collect()
    };
    let only = |kind| TaskOptions {
        observation: Some(kind),
        ..TaskOptions::default()
    };
    let screen = shapes(TaskOptions {
        resolution: Some(Resolution::Full),
        frame_stack: Some(4),
        ..only(ObservationKind::Screen)
    });
    assert_eq!(screen, [("screens".to_owned(), vec![144, 160, 4])]);
    let ram = shapes(only(ObservationKind::Ram));
    assert_eq!(ram.len(), 3);
    assert!(ram.iter().all(|(name, _)| name != "screens"));
    assert_eq!(shapes(only(ObservationKind::All)).len(), 4);
    assert!(!task
        .with_options(&only(ObservationKind::Ram))
        .expect("valid")
        .renders());
    let without = Task::from_toml(
        "name = \"n\"\nactions.buttons = [\"a\"]\n[[observation]]\nname = \"s\"\nkind = \"screens\"",
        "n.toml",
        None,
    )
    .expect("valid");
    let error = without
        .with_options(&only(ObservationKind::Ram))
        .expect_err("nothing left");
    assert!(
        error.to_string().contains("leaves nothing to observe"),
        "{error}"
    );
}

#[test]
fn never_panics_on_damaged_files() {
    // Every prefix, and every file with one line removed or doubled.
    for end in 0..GOOD.len() {
        let _ = read(&GOOD[..end]);
    }
    let lines: Vec<&str> = GOOD.lines().collect();
    for index in 0..lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(index);
        let _ = read(&fewer.join("\n"));
        let mut more = lines.clone();
        more.insert(index, lines[index]);
        let _ = read(&more.join("\n"));
    }
}
