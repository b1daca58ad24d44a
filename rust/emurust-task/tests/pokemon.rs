//! The shipped Pokemon task against hand-computed numbers, on flat memory.

mod support;

use std::sync::Arc;

use emurust_task::{DType, Episode, ObservationKind, Task, TaskOptions};
use support::Flat;

const TOML: &str = include_str!("../../../python/emurust/tasks/pokemon.toml");

fn pokemon(options: &TaskOptions) -> Arc<Task> {
    let task = Task::from_toml(TOML, "pokemon.toml", None).expect("valid");
    Arc::new(task.with_options(options).expect("valid"))
}

struct Player {
    machine: Flat,
    episode: Episode,
    obs: Vec<u8>,
    info: Vec<f32>,
}

impl Player {
    fn new(options: &TaskOptions, prepare: impl FnOnce(&mut Flat)) -> Self {
        let task = pokemon(options);
        let mut player = Self {
            machine: Flat::new(),
            obs: vec![0; task.observation_len()],
            info: vec![0.0; task.info_layout().len()],
            episode: Episode::new(task),
        };
        prepare(&mut player.machine);
        player
            .episode
            .begin(&mut player.machine, 0, &mut player.obs);
        player
    }

    fn step(&mut self) -> f32 {
        self.act(0)
    }

    fn act(&mut self, action: u32) -> f32 {
        let result = self.episode.step(
            &mut self.machine,
            action,
            &mut self.obs,
            &mut self.info,
            &mut [],
        );
        result.reward
    }

    fn field(&self, name: &str) -> &[u8] {
        let layout = self.episode.task().observation_layout();
        let field = layout.iter().find(|field| field.name == name).expect(name);
        &self.obs[field.offset..field.offset + field.len()]
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        let bytes = self.field(name).chunks_exact(4);
        bytes
            .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("4")))
            .collect()
    }

    fn info(&self, name: &str) -> f32 {
        let layout = self.episode.task().info_layout();
        let index = layout.iter().position(|field| field.name == name);
        self.info[index.expect(name)]
    }
}

#[test]
fn lays_out_the_observation_of_v2() {
    let task = pokemon(&TaskOptions::default());
    let layout: Vec<_> = task
        .observation_layout()
        .iter()
        .map(|field| {
            (
                field.name.as_str(),
                field.dtype,
                field.shape.clone(),
                field.offset,
            )
        })
        .collect();
    let expected = [
        ("screens", DType::U8, vec![72, 80, 3], 0),
        ("health", DType::F32, vec![1], 17_280),
        ("level", DType::F32, vec![8], 17_284),
        ("badges", DType::I8, vec![8], 17_316),
        ("events", DType::I8, vec![2488], 17_324),
        ("map", DType::U8, vec![48, 48, 1], 19_812),
        ("recent_actions", DType::U8, vec![3], 22_116),
    ];
    assert_eq!(layout, expected);
    assert_eq!(task.observation_len(), 22_120);
    assert_eq!(task.num_actions(), 7);
}

#[test]
fn packs_the_observation() {
    let options = TaskOptions {
        observation: Some(ObservationKind::Packed),
        ..TaskOptions::default()
    };
    let mut player = Player::new(&options, |_| {});
    let shapes: Vec<_> = player
        .episode
        .task()
        .observation_layout()
        .iter()
        .map(|field| field.shape.clone())
        .collect();
    let expected = [
        vec![72, 20, 3],
        vec![1],
        vec![8],
        vec![1],
        vec![311],
        vec![24, 3],
        vec![3],
    ];
    assert_eq!(shapes, expected);
    player.machine.set(0xD356, &[0x81]);
    player.machine.set(0xD747, &[1, 2, 3]);
    player.machine.shades[..8].copy_from_slice(&[0, 9, 1, 9, 2, 9, 3, 9]);
    player.step();
    assert_eq!(player.field("badges"), [0x81]);
    assert_eq!(player.field("events")[..4], [1, 2, 3, 0]);
    assert_eq!(player.field("screens")[..3], [0b11_10_01_00, 0xFF, 0]);
    // The player's own place: row 12, column 12 of the window.
    let map = player.field("map");
    assert_eq!(map[12 * 3 + 1], 0b0000_1000);
    assert_eq!(map.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
}

#[test]
fn follows_the_timing_of_v2() {
    let mut player = Player::new(&TaskOptions::default(), |_| {});
    assert!(player.machine.log.is_empty(), "a reset runs no frame");
    player.act(6);
    let expected = ["press Start", "8", "release Start", "16 drawn"];
    assert_eq!(player.machine.log, expected);

    let ram = TaskOptions {
        observation: Some(ObservationKind::Ram),
        frame_skip: Some(4),
        hold_frames: Some(4),
        ..TaskOptions::default()
    };
    let mut player = Player::new(&ram, |_| {});
    player.act(0);
    assert_eq!(player.machine.log, ["press Down", "4", "release Down"]);
}

#[test]
fn rewards_places_once_and_punishes_standing() {
    let mut player = Player::new(&TaskOptions::default(), |_| {});
    assert_eq!(
        player.step(),
        0.1,
        "the place of the start counts with the first step"
    );
    for _ in 1..599 {
        assert_eq!(player.step(), 0.0);
    }
    assert_eq!(player.step(), -0.05, "the 600th time");
    assert_eq!(player.step(), 0.0);
    player.machine.set(0xD362, &[1]);
    let expected = ((0.1 * 2.0) - (0.1 + -0.05)) as f32;
    assert_eq!(player.step(), expected, "a new place, and no longer stuck");
    player.machine.set(0xD057, &[1]);
    player.machine.set(0xD362, &[2]);
    assert_eq!(player.step(), 0.0, "places do not count in battle");
    assert_eq!(player.info("places"), 2.0);
    assert_eq!(player.info("reward/explore"), 0.2);
    assert_eq!(player.info("reward/stuck"), 0.0);
}

#[test]
fn rewards_events_but_the_ticket_and_what_was_there() {
    let mut player = Player::new(&TaskOptions::default(), |machine| {
        machine.set(0xD747, &[0x0F]);
        machine.set(0xD356, &[1]);
    });
    player.step();
    player.machine.set(0xD754, &[1]);
    assert_eq!(player.step(), 0.0, "the ticket");
    player.machine.set(0xD747, &[0x3F]);
    assert_eq!(player.step(), 8.0, "two more");
    player.machine.set(0xD747, &[0]);
    assert_eq!(player.step(), 0.0, "the greatest number stays");
    player.machine.set(0xD87D, &[0xFF]);
    player.machine.set(0xD87E, &[0xFF]);
    player.machine.set(0xD747, &[0x0F]);
    assert_eq!(
        player.step(),
        24.0,
        "8 of the last byte that counts, none beyond"
    );
    player.machine.set(0xD356, &[3]);
    assert_eq!(player.step(), 10.0, "one more badge");
    assert_eq!(player.info("reward/badge"), 10.0);
    assert_eq!(player.info("badges"), 2.0);
}

#[test]
fn rewards_healing_by_the_square() {
    let hp = |machine: &mut Flat, hp: u8| machine.set(0xD16C, &[0, hp]);
    let mut player = Player::new(&TaskOptions::default(), |machine| {
        machine.set(0xD163, &[1]);
        machine.set(0xD18D, &[0, 20]);
        hp(machine, 5);
    });
    player.step();
    assert_eq!(player.floats("health"), [0.25]);
    hp(&mut player.machine, 15);
    assert_eq!(player.step(), 2.5, "10 * 0.5 squared");
    hp(&mut player.machine, 0);
    assert_eq!(player.step(), 0.0);
    hp(&mut player.machine, 20);
    assert_eq!(player.step(), 0.0, "a rescue is no healing");
    assert_eq!(player.info("deaths"), 1.0);
    hp(&mut player.machine, 10);
    player.step();
    hp(&mut player.machine, 20);
    player.machine.set(0xD163, &[2]);
    assert_eq!(player.step(), 0.0, "a new party member is no healing");
}

#[test]
fn shows_levels_badges_events_actions() {
    let mut player = Player::new(&TaskOptions::default(), |machine| {
        machine.set(0xD18C, &[10]);
        machine.set(0xD18C + 5 * 44, &[7]);
        machine.set(0xD356, &[0b1000_0001]);
        machine.set(0xD747 + 310, &[0b0100_0000]);
    });
    let expected: Vec<f32> = (0..8)
        .map(|k| (0.02 * 17.0 * f64::from(1 << k)).sin() as f32)
        .collect();
    assert_eq!(player.floats("level"), expected);
    assert_eq!(player.field("badges"), [1, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(player.field("events")[2480..], [0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(player.field("recent_actions"), [0, 0, 0]);
    player.act(4);
    player.act(6);
    assert_eq!(player.field("recent_actions"), [6, 4, 0]);
    player.act(99);
    assert_eq!(
        player.field("recent_actions"),
        [6, 6, 4],
        "limited to the last"
    );
}

#[test]
fn marks_visited_places_around_the_player() {
    let options = TaskOptions {
        map_offsets: Some(vec![(3, 100, 50)]),
        ..TaskOptions::default()
    };
    let mut player = Player::new(&options, |machine| {
        machine.set(0xD35E, &[3]);
        machine.set(0xD361, &[10, 20]);
    });
    assert!(
        player.field("map").iter().all(|cell| *cell == 0),
        "nothing at the reset"
    );
    player.step();
    let cell = |player: &Player, row: usize, column: usize| player.field("map")[row * 48 + column];
    for (row, column) in [(24, 24), (24, 25), (25, 24), (25, 25)] {
        assert_eq!(cell(&player, row, column), 255);
    }
    player.machine.set(0xD361, &[12, 19]);
    player.step();
    assert_eq!(cell(&player, 24, 24), 255, "here");
    assert_eq!(cell(&player, 20, 26), 255, "two up, one right");
    let marked = player
        .field("map")
        .iter()
        .filter(|cell| **cell == 255)
        .count();
    assert_eq!(marked, 8);
    player.machine.set(0xD35E, &[4]);
    player.step();
    let marked = player
        .field("map")
        .iter()
        .filter(|cell| **cell == 255)
        .count();
    assert_eq!(marked, 4, "an unknown map lies alone in the middle");
}

#[test]
fn truncates_after_max_steps() {
    let options = TaskOptions {
        max_steps: Some(3),
        ..TaskOptions::default()
    };
    let mut player = Player::new(&options, |_| {});
    let truncated: Vec<bool> = (0..4)
        .map(|_| {
            let (obs, info) = (&mut player.obs, &mut player.info);
            let result = player
                .episode
                .step(&mut player.machine, 0, obs, info, &mut []);
            assert!(!result.terminated);
            result.truncated
        })
        .collect();
    assert_eq!(truncated, [false, false, true, true]);
}

#[test]
fn scales_and_reweighs() {
    let options = TaskOptions {
        reward_scale: Some(0.5),
        reward_weights: vec![("explore".to_owned(), 0.025), ("level".to_owned(), 1.0)],
        ..TaskOptions::default()
    };
    let mut player = Player::new(&options, |_| {});
    assert_eq!(player.step(), 0.0125);
    player.machine.set(0xD18C, &[10]);
    assert_eq!(player.step(), 2.0, "10 - 2 - 4 levels, by half");
    player.machine.set(0xD18C, &[36]);
    assert_eq!(
        player.step(),
        10.0,
        "beyond 22 only a quarter: 24 - 4, by half"
    );
}

#[test]
fn a_reset_forgets_everything() {
    let mut player = Player::new(&TaskOptions::default(), |_| {});
    let first_obs = player.obs.clone();
    let reward = player.step();
    let second_obs = player.obs.clone();
    for x in 0..50 {
        player.machine.set(0xD362, &[x]);
        player.act(3);
    }
    player.machine = Flat::new();
    player
        .episode
        .begin(&mut player.machine, 0, &mut player.obs);
    assert_eq!(player.obs, first_obs);
    assert_eq!(player.step(), reward);
    assert_eq!(player.obs, second_obs);
}

#[test]
fn saved_episodes_go_on_exactly() {
    let play = |player: &mut Player, from: u8| -> Vec<(f32, Vec<u8>, Vec<f32>)> {
        (from..from + 40)
            .map(|n| {
                player.machine.set(0xD362, &[n, n / 3]);
                player.machine.set(0xD16C, &[0, n.wrapping_mul(7) % 20]);
                player.machine.set(0xD747 + usize::from(n), &[n]);
                player.machine.shades.fill(n % 4);
                let reward = player.act(u32::from(n) % 7);
                (reward, player.obs.clone(), player.info.clone())
            })
            .collect()
    };
    let mut player = Player::new(&TaskOptions::default(), |machine| {
        machine.set(0xD163, &[1]);
        machine.set(0xD18D, &[0, 20]);
    });
    play(&mut player, 0);
    let machine = player.machine.clone();
    let saved = player.episode.save();
    let expected = play(&mut player, 40);

    let mut restored = Player::new(&TaskOptions::default(), |_| {});
    restored.machine = machine.clone();
    restored.episode.load(&saved).expect("its own state");
    assert_eq!(restored.episode.save(), saved);
    assert_eq!(play(&mut restored, 40), expected);

    let mut loaded = Player::new(&TaskOptions::default(), |_| {});
    loaded.episode.load(&saved).expect("its own state");
    let mut fork = Player::new(&TaskOptions::default(), |_| {});
    play(&mut fork, 3);
    fork.machine = machine;
    fork.episode.copy_from(&loaded.episode).expect("same task");
    assert_eq!(play(&mut fork, 40), expected);
}

#[test]
fn refuses_damaged_and_foreign_episodes() {
    let mut player = Player::new(&TaskOptions::default(), |_| {});
    player.step();
    let saved = player.episode.save();
    let message = |episode: &mut Episode, state: &[u8]| {
        let before = episode.save();
        let error = episode.load(state).expect_err("bad").to_string();
        assert_eq!(episode.save(), before, "unchanged on error");
        error
    };
    let episode = &mut player.episode;
    assert!(message(episode, &[]).contains("truncated"));
    assert!(message(episode, &saved[..saved.len() - 1]).contains("checksum"));
    assert!(message(episode, b"0123456789abcdef").contains("signature"));
    for place in [4, 8, 16, 24, 100, saved.len() / 2, saved.len() - 1] {
        let mut damaged = saved.clone();
        damaged[place] ^= 1;
        message(episode, &damaged);
    }
    let other = pokemon(&TaskOptions {
        frame_stack: Some(2),
        ..TaskOptions::default()
    });
    let mut other = Episode::new(other);
    assert!(message(&mut other, &saved).contains("other options"));
    assert!(other.copy_from(episode).is_err());
}
