"""The `pokemon` task against PokemonRedExperiments v2's definition, written out once more.

Nothing here reads the task file: addresses and rules are those of v2's description, in
64-bit floats. Memory is that of a made-up adventure, so that everything happens often.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from emurust import GameBoy
from emurust.tasks import Episode, load, views

HP = (0xD16C, 0xD198, 0xD1C4, 0xD1F0, 0xD21C, 0xD248)
MAX_HP = (0xD18D, 0xD1B9, 0xD1E5, 0xD211, 0xD23D, 0xD269)
LEVELS = (0xD18C, 0xD1B8, 0xD1E4, 0xD210, 0xD23C, 0xD268)
OPPONENT_LEVELS = (0xD8C5, 0xD8F1, 0xD91D, 0xD949, 0xD975, 0xD9A1)
EVENTS = range(0xD747, 0xD87E)
MAPS = {0: (64, 318), 1: (54, 246), 40: (85, 325), 37: (430, 440)}

Read = Callable[[int], int]


class V2:
    """Reward and observation as v2 computes them."""

    def __init__(self, read: Read, scale: float, explore_weight: float) -> None:
        self.read = read
        self.scale, self.explore_weight = scale, explore_weight
        self.seen: dict[tuple[int, int, int], int] = {}
        self.world = np.zeros((484, 476), np.uint8)
        self.base_events = self.event_bits()
        self.most_events = 0
        self.healed = 0.0
        self.deaths = 0
        self.last_health = 1.0
        self.party_size = 0
        self.most_levels = 0.0
        self.most_opponent = 0
        self.total = sum(self.terms().values())

    def big_endian(self, address: int) -> int:
        return 256 * self.read(address) + self.read(address + 1)

    def event_bits(self) -> int:
        return sum(bin(self.read(address)).count("1") for address in EVENTS)

    def health(self) -> float:
        now = sum(self.big_endian(address) for address in HP)
        return now / max(sum(self.big_endian(address) for address in MAX_HP), 1)

    def place(self) -> tuple[int, int, int]:
        return self.read(0xD362), self.read(0xD361), self.read(0xD35E)

    def terms(self) -> dict[str, float]:
        ticket = self.read(0xD754) & 1
        events = max(self.event_bits() - self.base_events - ticket, 0)
        self.most_events = max(self.most_events, events)
        stuck = self.seen.get(self.place(), 0) >= 600
        scale = self.scale
        return {
            "event": scale * self.most_events * 4,
            "heal": scale * self.healed * 10,
            "badge": scale * bin(self.read(0xD356)).count("1") * 10,
            "explore": scale * self.explore_weight * len(self.seen) * 0.1,
            "stuck": scale * stuck * -0.05,
        }

    def levels(self) -> float:
        """Not part of v2's sum."""
        levels = max(sum(max(self.read(address) - 2, 0) for address in LEVELS) - 4, 0)
        scaled = levels if levels < 22 else (levels - 22) / 4 + 22
        self.most_levels = max(self.most_levels, scaled)
        return self.most_levels

    def opponent(self) -> int:
        """Not part of v2's sum."""
        strongest = max(self.read(address) for address in OPPONENT_LEVELS)
        self.most_opponent = max(self.most_opponent, strongest - 5)
        return self.most_opponent

    def step(self) -> float:
        if self.read(0xD057) == 0:
            self.seen[self.place()] = self.seen.get(self.place(), 0) + 1
        self.world[self.world_place()] = 255
        health = self.health()
        if health > self.last_health and self.read(0xD163) == self.party_size:
            if self.last_health > 0:
                self.healed += (health - self.last_health) * (health - self.last_health)
            else:
                self.deaths += 1
        self.party_size = self.read(0xD163)
        total = 0.0
        for term in self.terms().values():
            total += term
        reward = total - self.total
        self.total = total
        self.last_health = health
        return reward

    def world_place(self) -> tuple[int, int]:
        x, y, number = self.place()
        if number not in MAPS:
            return 242, 238
        row, column = y + MAPS[number][1] + 20, x + MAPS[number][0] + 20
        return (row, column) if row < 484 and column < 476 else (242, 238)

    def window(self) -> npt.NDArray[np.uint8]:
        row, column = self.world_place()
        padded = np.pad(self.world, 12)
        cut = padded[row : row + 24, column : column + 24]
        return np.kron(cut, np.ones((2, 2), np.uint8))[:, :, None]

    def observe(self) -> dict[str, npt.NDArray[np.generic]]:
        level = 0.02 * sum(self.read(address) for address in LEVELS)
        bits = "".join(f"{self.read(address):08b}" for address in EVENTS)
        return {
            "health": np.array([self.health()], np.float32),
            "level": np.sin(level * 2.0 ** np.arange(8)).astype(np.float32),
            "badges": np.array([int(bit) for bit in f"{self.read(0xD356):08b}"], np.int8),
            "events": np.array([int(bit) for bit in bits], np.int8),
            "map": self.window(),
        }


class Adventure:
    """Changes memory as a game might, only faster."""

    def __init__(self, gameboy: GameBoy, seed: int) -> None:
        self.memory = gameboy.memory
        self.random = random.Random(seed)
        self.memory[0xD000:0xDE00] = 0
        self.memory[0xD35E] = 40
        self.memory[0xD163] = 1
        self.memory[0xD361:0xD363] = [5, 5]
        self.memory[MAX_HP[0] : MAX_HP[0] + 2] = [0, 20]
        self.memory[HP[0] : HP[0] + 2] = [0, 20]
        self.memory[LEVELS[0]] = 5

    def change(self) -> None:
        memory, chance, pick = self.memory, self.random.random, self.random.randrange
        if chance() < 0.5:
            address = self.random.choice([0xD361, 0xD362])
            memory[address] = min(max(memory[address] + self.random.choice([-1, 1]), 0), 30)
        if chance() < 0.02:
            memory[0xD35E] = self.random.choice([0, 1, 40, 37, 200])
        if chance() < 0.1:
            memory[0xD057] = self.random.choice([0, 0, 1, 2, 255])
        if chance() < 0.3:
            slot = pick(memory[0xD163])
            most = memory[MAX_HP[slot] + 1]
            memory[HP[slot] : HP[slot] + 2] = [0, self.random.choice([0, most, pick(most + 1)])]
        if chance() < 0.01 and memory[0xD163] < 6:
            slot = memory[0xD163]
            memory[0xD163] = slot + 1
            memory[MAX_HP[slot] : MAX_HP[slot] + 2] = [slot % 2, 30 + slot]
            memory[LEVELS[slot]] = 3 + slot
        if chance() < 0.05:
            slot = pick(memory[0xD163])
            memory[LEVELS[slot]] = min(memory[LEVELS[slot]] + 1, 100)
        if chance() < 0.1:
            address = 0xD747 + pick(320)
            memory[address] = memory[address] ^ 1 << pick(8)
        if chance() < 0.02:
            memory[0xD754] = memory[0xD754] ^ 1
        if chance() < 0.02:
            memory[0xD356] = memory[0xD356] ^ 1 << pick(8)
        if chance() < 0.05:
            memory[self.random.choice(OPPONENT_LEVELS)] = pick(60)


@pytest.mark.parametrize(("scale", "explore_weight"), [(1, 1), (0.5, 0.25)])
@pytest.mark.parametrize("seed", [0, 1])
def test_rewards_and_observations_are_v2s(scale: float, explore_weight: float, seed: int) -> None:
    gameboy = GameBoy(None)
    task = load(
        "pokemon",
        observation="ram",
        frame_skip=0,
        map_offsets=MAPS,
        reward_scale=scale,
        reward_weights={"explore": 0.1 * explore_weight},
    )
    names = [name for name, _ in task.info_layout]
    episode = Episode(task)
    adventure = Adventure(gameboy, seed)
    record, _, _ = episode.begin(gameboy._machine, 0)
    v2 = V2(gameboy.memory.__getitem__, scale, explore_weight)
    rewards = []
    for step in range(1500):
        if step < 800 or step > 1450:
            # In between the hero stands, long enough to count as stuck.
            adventure.change()
        elif step == 800:
            gameboy.memory[0xD057] = 0
        record, reward, terminated, truncated, info, _ = episode.step(gameboy._machine, 0)
        expected = np.float32(v2.step())
        assert reward == expected, step
        assert not terminated
        assert not truncated
        progress = dict(zip(names, info, strict=True))
        assert progress["deaths"] == v2.deaths
        assert progress["places"] == len(v2.seen)
        assert progress["reward/level"] == 0
        found = views(task, record)
        for name, array in v2.observe().items():
            np.testing.assert_array_equal(found[name], array, f"{name}, step {step}", strict=True)
        rewards.append(expected)
    # All of it has happened.
    assert v2.deaths > 0
    assert v2.healed > 0
    assert v2.most_events > 10
    assert np.float32(-0.05 * scale) in rewards


def test_the_terms_that_v2_leaves_out() -> None:
    gameboy = GameBoy(None)
    weights = {"event": 0, "heal": 0, "badge": 0, "explore": 0, "stuck": 0}
    weights |= {"level": 1, "opponent_level": 10, "death": -1}
    task = load("pokemon", observation="ram", frame_skip=0, reward_weights=weights)
    episode = Episode(task)
    adventure = Adventure(gameboy, 2)
    episode.begin(gameboy._machine, 0)
    v2 = V2(gameboy.memory.__getitem__, 1, 1)
    total = v2.levels() + 10.0 * v2.opponent()
    for step in range(1000):
        adventure.change()
        v2.step()
        now = v2.levels() + 10.0 * v2.opponent() - v2.deaths
        assert episode.step(gameboy._machine, 0)[1] == np.float32(now - total), step
        total = now
    assert v2.deaths > 0
    assert v2.most_levels > 22
