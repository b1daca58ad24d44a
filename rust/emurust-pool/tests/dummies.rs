//! Pools of dummy machines on threads: results, order, automatic reset, faults.

use std::collections::HashSet;
use std::time::Duration;

use emurust_pool::{
    Arrays, Autoreset, Backend, DummySpec, Inspect, Pool, PoolError, PoolOptions, Progress, Recipe,
    Seeding, StartChoice,
};

const WAIT: Duration = Duration::from_secs(20);

fn pool(machines: usize, threads: usize, autoreset: Autoreset, spec: DummySpec) -> Pool {
    pool_with(machines, threads, autoreset, spec, None)
}

fn pool_with(
    machines: usize,
    threads: usize,
    autoreset: Autoreset,
    spec: DummySpec,
    batch_size: Option<usize>,
) -> Pool {
    let options = PoolOptions {
        backend: Backend::Threads(Some(threads)),
        batch_size,
        autoreset,
        first_index: 0,
    };
    Pool::new(Recipe::dummies(spec, machines), options, None).expect("a pool")
}

fn wait(pool: &mut Pool) -> Result<(), PoolError> {
    match pool.poll(WAIT)? {
        Progress::Ready => Ok(()),
        Progress::Waiting => panic!("still waiting after {WAIT:?}"),
    }
}

fn reset(pool: &mut Pool, seed: u64) {
    pool.begin_reset(Seeding::One(seed), None).expect("reset");
    wait(pool).expect("reset");
    pool.finish_reset();
}

fn step(pool: &mut Pool, action: impl Fn(usize) -> i64) -> Result<(), PoolError> {
    pool.begin_step(action)?;
    wait(pool)?;
    pool.finish_step();
    Ok(())
}

fn recv(pool: &mut Pool) -> Result<Vec<u32>, PoolError> {
    pool.begin_recv()?;
    wait(pool)?;
    Ok(pool.finish_recv().to_vec())
}

fn recover(pool: &mut Pool) {
    pool.begin_recover().expect("recover");
    assert_eq!(pool.poll_start(WAIT), Ok(Progress::Ready));
    pool.begin_recover_reset().expect("recover");
    wait(pool).expect("recover");
    pool.finish_recover();
}

/// Copies of one row of everything.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    observation: Vec<u8>,
    reward: f32,
    terminated: u8,
    truncated: u8,
    info: Vec<f32>,
    lost: u8,
    final_observation: Option<Vec<u8>>,
    final_info: Option<Vec<f32>>,
}

#[allow(unsafe_code, reason = "reads the arrays as numpy would")]
fn row_of(pool: &Pool, arrays: Arrays, row: usize) -> Row {
    let shape = pool.shape();
    assert!(row < arrays.rows);
    let (olen, ilen) = (shape.observation_len, shape.info_len);
    // SAFETY: the row is in the arrays, and the pool is not running.
    unsafe {
        let bytes = |base: *mut u8| std::slice::from_raw_parts(base.add(row * olen), olen).to_vec();
        let floats =
            |base: *mut f32| std::slice::from_raw_parts(base.add(row * ilen), ilen).to_vec();
        let terminated = *arrays.terminations.add(row);
        let truncated = *arrays.truncations.add(row);
        let over = terminated != 0 || truncated != 0;
        Row {
            observation: bytes(arrays.observations),
            reward: *arrays.rewards.add(row),
            terminated,
            truncated,
            info: floats(arrays.infos),
            lost: *arrays.lost.add(row),
            final_observation: arrays.finals.filter(|_| over).map(|finals| bytes(finals.0)),
            final_info: arrays
                .finals
                .filter(|_| over)
                .map(|finals| floats(finals.1)),
        }
    }
}

fn row(pool: &Pool, machine: usize) -> Row {
    row_of(pool, pool.arrays().0, machine)
}

fn rows(pool: &Pool) -> Vec<Row> {
    (0..pool.len()).map(|machine| row(pool, machine)).collect()
}

fn action(step: usize, machine: usize) -> i64 {
    ((step * 31 + machine * 7) % 8) as i64
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let spec = DummySpec {
        work: 2_000,
        ..DummySpec::default()
    };
    for autoreset in [
        Autoreset::SameStep,
        Autoreset::NextStep,
        Autoreset::Disabled,
    ] {
        let mut expected: Option<Vec<Vec<Row>>> = None;
        for threads in [1, 2, 3, 7] {
            let mut pool = pool(7, threads, autoreset, spec.clone());
            reset(&mut pool, 5);
            let mut history = vec![rows(&pool)];
            for number in 0..60 {
                step(&mut pool, |machine| action(number, machine)).expect("step");
                history.push(rows(&pool));
            }
            match &expected {
                None => expected = Some(history),
                Some(expected) => assert_eq!(*expected, history, "{threads} threads"),
            }
        }
    }
}

#[test]
fn batches_give_the_same_results_as_steps() {
    let spec = DummySpec::default();
    let mut whole = pool(6, 2, Autoreset::SameStep, spec.clone());
    let mut parts = pool_with(6, 2, Autoreset::SameStep, spec, Some(2));
    reset(&mut whole, 9);
    reset(&mut parts, 9);
    let mut expected: Vec<Vec<Row>> = vec![Vec::new(); 6];
    for number in 0..20 {
        step(&mut whole, |machine| action(number, machine)).expect("step");
        for (machine, rows) in expected.iter_mut().enumerate() {
            rows.push(row(&whole, machine));
        }
    }
    let mut taken = [0usize; 6];
    parts
        .begin_send(0..6, |machine| action(0, machine))
        .expect("send");
    // One machine alone, with steps left, is no batch.
    while taken.iter().filter(|&&steps| steps < 20).count() >= 2 {
        let machines = recv(&mut parts).expect("recv");
        assert_eq!(machines.len(), 2);
        let (arrays, _keeper) = parts.batch_arrays().expect("a batch");
        for (position, &machine) in machines.iter().enumerate() {
            let machine = machine as usize;
            let got = row_of(&parts, arrays, position);
            assert_eq!(got, expected[machine][taken[machine]]);
            taken[machine] += 1;
            if taken[machine] < 20 {
                let next = action(taken[machine], machine);
                parts
                    .begin_send(std::iter::once(machine as i64), |_| next)
                    .expect("send");
            }
        }
    }
    assert!(taken.iter().filter(|&&steps| steps == 20).count() >= 5);
}

#[test]
fn every_machine_and_episode_has_its_own_seed() {
    let spec = DummySpec {
        episode_len: 1,
        ..DummySpec::default()
    };
    let mut seen = HashSet::new();
    for first_index in [0, 8] {
        let options = PoolOptions {
            backend: Backend::Threads(Some(2)),
            batch_size: None,
            autoreset: Autoreset::SameStep,
            first_index,
        };
        let mut pool = Pool::new(Recipe::dummies(spec.clone(), 8), options, None).expect("a pool");
        for seed in [3, 4] {
            reset(&mut pool, seed);
            for _ in 0..10 {
                for row in rows(&pool) {
                    assert!(seen.insert(row.observation), "an episode came twice");
                }
                step(&mut pool, |_| 0).expect("step");
            }
        }
    }
}

#[test]
fn same_step_keeps_the_last_record_of_the_ended_episode() {
    let spec = DummySpec {
        episode_len: 3,
        ..DummySpec::default()
    };
    let mut same = pool(4, 1, Autoreset::SameStep, spec.clone());
    let mut plain = pool(4, 1, Autoreset::Disabled, spec);
    reset(&mut same, 1);
    reset(&mut plain, 1);
    let mut ended = false;
    for _ in 0..3 {
        step(&mut same, |_| 1).expect("step");
        step(&mut plain, |_| 1).expect("step");
        for machine in 0..4 {
            let (same, plain) = (row(&same, machine), row(&plain, machine));
            assert_eq!(same.reward, plain.reward);
            if same.terminated + same.truncated > 0 {
                ended = true;
                assert_eq!(same.final_observation.as_ref(), Some(&plain.observation));
                assert_eq!(same.final_info.as_ref(), Some(&plain.info));
                assert_ne!(same.observation, plain.observation);
                assert_eq!(same.info, vec![0.0, 0.0]);
            }
        }
        if ended {
            return;
        }
    }
    panic!("no episode ended");
}

#[test]
fn next_step_resets_with_the_step_after() {
    let spec = DummySpec {
        episode_len: 1,
        ..DummySpec::default()
    };
    let mut pool = pool(2, 1, Autoreset::NextStep, spec);
    reset(&mut pool, 1);
    step(&mut pool, |_| 1).expect("step");
    assert_eq!(row(&pool, 0).truncated, 1);
    assert_eq!(row(&pool, 0).info[0], 1.0);
    step(&mut pool, |_| 1).expect("step");
    let after = row(&pool, 0);
    assert_eq!(
        (after.truncated, after.terminated, after.reward),
        (0, 0, 0.0)
    );
    assert_eq!(after.info[0], 0.0);
    step(&mut pool, |_| 1).expect("step");
    assert_eq!(row(&pool, 0).truncated, 1);
}

#[test]
fn masked_reset_leaves_the_others() {
    let mut pool = pool(3, 1, Autoreset::Disabled, DummySpec::default());
    reset(&mut pool, 1);
    step(&mut pool, |_| 1).expect("step");
    let before = rows(&pool);
    pool.begin_reset(Seeding::Continue, Some(&[false, true, false]))
        .expect("reset");
    wait(&mut pool).expect("reset");
    pool.finish_reset();
    assert_eq!(row(&pool, 0), before[0]);
    assert_eq!(row(&pool, 2), before[2]);
    assert_eq!(row(&pool, 1).info[0], 0.0);
    assert!(matches!(
        pool.begin_reset(Seeding::Each(&[1, 2]), Some(&[false, true, false])),
        Err(PoolError::Argument(_))
    ));
    pool.begin_reset(Seeding::Each(&[1, 2, 1]), None)
        .expect("reset");
    wait(&mut pool).expect("reset");
    pool.finish_reset();
    assert_eq!(row(&pool, 0), row(&pool, 2));
    assert_ne!(row(&pool, 0), row(&pool, 1));
}

#[test]
fn states_and_forks_go_on_alike() {
    let spec = DummySpec {
        episode_len: 0,
        ..DummySpec::default()
    };
    let mut pool = pool(4, 2, Autoreset::Disabled, spec);
    reset(&mut pool, 1);
    step(&mut pool, |machine| machine as i64).expect("step");
    let state = pool.get_state(1).expect("state");
    pool.fork(1, 2).expect("fork");
    pool.set_state(0, &state).expect("state");
    assert_eq!(row(&pool, 0), row(&pool, 1));
    assert_eq!(row(&pool, 2), row(&pool, 1));
    for _ in 0..5 {
        step(&mut pool, |_| 3).expect("step");
        assert_eq!(row(&pool, 0), row(&pool, 1));
        assert_eq!(row(&pool, 2), row(&pool, 1));
        assert_ne!(row(&pool, 3), row(&pool, 1));
    }
    let before = rows(&pool);
    for len in 0..state.len() {
        assert!(pool.set_state(0, &state[..len]).is_err(), "cut to {len}");
    }
    let mut longer = state.clone();
    longer.push(0);
    assert!(pool.set_state(0, &longer).is_err());
    assert_eq!(rows(&pool), before);
}

#[test]
fn start_states_reach_machines_and_stay() {
    let mut pool = pool(2, 1, Autoreset::SameStep, DummySpec::default());
    pool.set_start(1, StartChoice::State(&7u64.to_le_bytes()))
        .expect("start");
    for _ in 0..2 {
        reset(&mut pool, 1);
        assert_eq!(row(&pool, 1).observation[..8], 7u64.to_le_bytes());
        assert_ne!(row(&pool, 0).observation[..8], 7u64.to_le_bytes());
    }
    let error = pool
        .set_start(1, StartChoice::Name("moon"))
        .expect_err("name");
    assert!(error
        .to_string()
        .contains("machine 1: there is no start state \"moon\""));
    pool.set_start(1, StartChoice::Usual).expect("start");
    reset(&mut pool, 1);
    assert_ne!(row(&pool, 1).observation[..8], 7u64.to_le_bytes());
}

#[test]
fn a_panic_names_the_machine_and_is_recovered_from() {
    let spec = DummySpec {
        panic_action: Some(7),
        ..DummySpec::default()
    };
    for threads in [1, 3] {
        let mut pool = pool(5, threads, Autoreset::SameStep, spec.clone());
        reset(&mut pool, 1);
        let error = step(&mut pool, |machine| if machine == 3 { 7 } else { 1 })
            .expect_err("machine 3 panics");
        assert!(
            matches!(&error, PoolError::Machine { index: 3, message }
            if message.contains("told to panic by action 7")),
            "{error}"
        );
        assert_eq!(pool.broken(), [3]);
        assert!(step(&mut pool, |_| 1).is_err());
        recover(&mut pool);
        assert_eq!(recv(&mut pool), Ok(vec![0, 1, 2, 3, 4]));
        assert_eq!(
            rows(&pool).iter().map(|r| r.lost).collect::<Vec<_>>(),
            [0, 0, 0, 1, 0]
        );
        assert_eq!(row(&pool, 0).info[0], 1.0);
        assert_eq!(row(&pool, 3).info[0], 0.0);
        step(&mut pool, |_| 1).expect("all are well");
        assert_eq!(rows(&pool).iter().map(|r| r.lost).max(), Some(0));
    }
}

#[test]
fn wrong_calls_are_refused_and_change_nothing() {
    let mut pool = pool(3, 2, Autoreset::SameStep, DummySpec::default());
    let message = |result: Result<(), PoolError>| result.expect_err("refused").to_string();
    assert!(message(pool.begin_step(|_| 0)).contains("call reset() first"));
    reset(&mut pool, 1);
    let before = rows(&pool);
    assert_eq!(
        message(pool.begin_step(|machine| if machine == 2 { 8 } else { 0 })),
        "the action of machine 2 must be 0 to 7, not 8"
    );
    assert!(message(pool.begin_step(|_| -1)).contains("not -1"));
    assert!(message(pool.begin_send([3].into_iter(), |_| 0)).contains("machines 0 to 2"));
    assert!(message(pool.begin_send([-1].into_iter(), |_| 0)).contains("machine -1"));
    assert!(message(pool.begin_send([1, 1].into_iter(), |_| 0)).contains("already"));
    assert!(message(pool.begin_recv()).contains("nothing was sent"));
    assert_eq!(rows(&pool), before);
    pool.begin_send([1].into_iter(), |_| 0).expect("send");
    assert!(message(pool.begin_send([1].into_iter(), |_| 0)).contains("recv() first"));
    assert!(message(pool.begin_recv()).contains("only 1 machines"));
    assert!(message(pool.begin_step(|_| 0)).contains("machine 1"));
    pool.begin_send([0, 2].into_iter(), |_| 0).expect("send");
    assert_eq!(recv(&mut pool), Ok(vec![0, 1, 2]));
    assert!(pool.get_state(9).is_err());
    assert!(pool.fork(0, 9).is_err());
    let mut ram = vec![0; pool.shape().ram_len];
    pool.inspect(0, Inspect::Ram, &mut ram).expect("ram");
    assert_ne!(ram[1], 0);
    pool.close();
    pool.close();
    assert_eq!(
        message(pool.begin_step(|_| 0)),
        PoolError::Closed.to_string()
    );
}

#[test]
fn impossible_pools_are_refused() {
    let options = |backend, batch_size| PoolOptions {
        backend,
        batch_size,
        autoreset: Autoreset::SameStep,
        first_index: 0,
    };
    let make = |machines, options| {
        Pool::new(
            Recipe::dummies(DummySpec::default(), machines),
            options,
            None,
        )
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
    };
    assert!(make(0, options(Backend::Threads(None), None)).contains("at least one"));
    assert!(make(2, options(Backend::Threads(Some(3)), None)).contains("num_threads must be 1 to"));
    assert!(make(2, options(Backend::Threads(Some(0)), None)).contains("not 0"));
    assert!(make(2, options(Backend::Threads(None), Some(3))).contains("batch_size must be 1 to"));
}

#[test]
fn many_pools_leave_no_threads() {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let before = threads();
    for _ in 0..30 {
        let mut pool = pool(8, 4, Autoreset::SameStep, DummySpec::default());
        reset(&mut pool, 1);
        pool.begin_send(0..8, |_| 0).expect("send");
    }
    // Other tests run beside this one and have threads of their own.
    assert!(
        threads() < before + 60,
        "{} threads left",
        threads() - before
    );
}
