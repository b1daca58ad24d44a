#!/usr/bin/env python3
"""Play KITHWILD from a new game to the end.

Proves that the game can be finished, and makes start states on the way: at every
milestone `on_milestone(name, machine)` is called. Milestones: "new-game",
"first-town", "leader-1" ... "leader-8", "champion", "the-end".

The machine only has to offer PyBoy's vocabulary: tick(count, render),
button_press, button_release, memory[address], save_state(file).

usage: walkthrough.py [--rom ROM] [--states DIR] [--until MILESTONE] [--verbose]
"""

import argparse
import collections
import contextlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "python", "emurust", "data")

# RAM (see src/ram.h)
TILE_MAP = 0xC3A0
FACING, WALK = 0xC109, 0xCFC5
IN_BATTLE, PARTY_COUNT, PARTY = 0xD057, 0xD163, 0xD16B
BATTLE_MON, ENEMY_MON = 0xD014, 0xCFE5
BADGES, MAP, Y, X = 0xD356, 0xD35E, 0xD361, 0xD362
EVENTS, WINDOW_Y, JOY_IGNORE = 0xD747, 0xFFB0, 0xCD6B
PALETTE = 0xFF47

CURSOR = 0xE8
STEPS = {"down": (0, 1), "up": (0, -1), "left": (-1, 0), "right": (1, 0)}
FACINGS = {"down": 0, "up": 4, "left": 8, "right": 12}
HEARTHS = [
    "MILLBROOK",
    "STILLWATER",
    "CRAGFOOT",
    "HIGHMOOR",
    "ASHFORD",
    "SALTMARSH",
    "FROSTGATE",
    "KEEP",
]
# before each warden: level of the first kith, the map to train in, the hearth near it
PLAN = [
    (8, "MILL_PATH", 0),
    (15, "DAPPLE_WOOD", 1),
    (20, "REED_WAY", 1),
    (26, "WINDY_MOOR", 3),
    (32, "CINDER_ROAD", 4),
    (43, "SALT_ROAD", 4),
    (46, "SALT_ROAD", 5),
    (54, "THORN_WAY", 6),
    (70, "THORN_WAY", 7),
]


class Stuck(Exception):
    pass


class Walkthrough:
    def __init__(self, machine, maps, on_milestone=None, verbose=False, limit=4_000_000):
        self.machine = machine
        self.data = maps
        self.maps = {m["id"]: m for m in maps["maps"]}
        self.names = {m["name"]: m for m in maps["maps"]}
        self.on_milestone = on_milestone or (lambda name, machine: None)
        self.verbose = verbose
        self.frames = 0
        self.limit = limit
        self.hearth = None
        self.until = None

    # ---- the machine ----------------------------------------------------------

    def tick(self, n):
        self.machine.tick(n, False)
        self.frames += n
        if self.frames > self.limit:
            raise Stuck(f"more than {self.limit} frames; at {self.place()}")

    def press(self, button, frames=24):
        self.machine.button_press(button)
        self.tick(8)
        self.machine.button_release(button)
        self.tick(frames - 8)

    def byte(self, address):
        return self.machine.memory[address]

    def word(self, address):
        return self.byte(address) << 8 | self.byte(address + 1)

    def flag(self, number):
        return self.byte(EVENTS + number // 8) >> (number % 8) & 1

    def event(self, name):
        return self.flag(self.data["events"][name])

    def place(self):
        return self.byte(MAP), self.byte(X), self.byte(Y)

    def screen(self):
        rows = []
        for y in range(18):
            row = ""
            for x in range(20):
                t = self.byte(TILE_MAP + 20 * y + x)
                row += chr(t - 0x60) if 0x80 <= t < 0xE0 else ">" if t == CURSOR else "\x7f"
            rows.append(row)
        return rows

    def log(self, text):
        if self.verbose:
            name = self.maps[self.byte(MAP)]["name"] if self.byte(MAP) in self.maps else "?"
            print(f"[{self.frames:8}] {name}: {text}", flush=True)

    def milestone(self, name):
        self.log(f"milestone {name}")
        self.on_milestone(name, self.machine)
        if name == self.until:
            raise StopIteration

    # ---- walking -----------------------------------------------------------------

    def people(self, m):
        out = {}
        for o in m["objects"]:
            if o["hide"] != 0xFFFF and self.flag(o["hide"]):
                continue
            if o["show"] != 0xFFFF and not self.flag(o["show"]):
                continue
            out[o["x"], o["y"]] = o
        return out

    def step(self, at, direction):
        """Where a step leads: (map, x, y), or None."""
        m = self.maps[at[0]]
        dx, dy = STEPS[direction]
        x, y = at[1] + dx, at[2] + dy
        if 0 <= x < m["width"] and 0 <= y < m["height"]:
            if (x, y) in self.blocked[at[0]]:
                return None
            cell = m["walkable"][y][x]
            if cell == "v":
                return self.step((at[0], x, y), "down") if direction == "down" else None
            if cell != "1":
                return None
            for w in m["warps"]:
                if (w["x"], w["y"]) == (x, y):
                    return w["map"], w["to_x"], w["to_y"]
            return at[0], x, y
        side = "north" if y < 0 else "south" if y >= m["height"] else "west" if x < 0 else "east"
        if side not in m["connections"]:
            return None
        other = self.maps[m["connections"][side]["map"]]
        offset = m["connections"][side]["offset"]
        if side in ("north", "south"):
            x, y = x - offset, (other["height"] - 1 if side == "north" else 0)
        else:
            x, y = (other["width"] - 1 if side == "west" else 0), y - offset
        if not (0 <= x < other["width"] and 0 <= y < other["height"]):
            return None
        return (other["id"], x, y) if other["walkable"][y][x] == "1" else None

    def path(self, goals):
        """Directions of a shortest way to one of the goals, or None."""
        self.blocked = {i: self.people(m) for i, m in self.maps.items()}
        start = self.place()
        came = {start: None}
        queue = collections.deque([start])
        while queue:
            at = queue.popleft()
            if at in goals:
                way = []
                while came[at]:
                    at, direction = came[at]
                    way.append(direction)
                return way[::-1]
            for direction in STEPS:
                to = self.step(at, direction)
                if to and to not in came:
                    came[to] = at, direction
                    queue.append(to)
        return None

    def settle(self):
        """Until the hero can be steered: fights battles, closes texts."""
        for _ in range(4000):
            if self.byte(IN_BATTLE):
                self.fight()
            elif self.byte(WINDOW_Y) == 0:
                self.press("a")
            elif self.byte(WALK) or self.byte(PALETTE) != 0xE4:
                self.tick(4)  # a step or a fade is under way
            else:
                return
        raise Stuck(f"nothing settles at {self.place()}")

    def go(self, goals):
        """Walk to one of the goals (a set of places)."""
        same = 0
        while True:
            self.settle()
            at = self.place()
            if at in goals:
                return
            way = self.path(goals)
            if way is None:
                raise Stuck(f"no way from {at} to {sorted(goals)[:3]}")
            self.press(way[0])
            if self.byte(WALK) or self.byte(WINDOW_Y) == 0 or self.byte(IN_BATTLE):
                self.settle()
            same = same + 1 if self.place() == at else 0
            if same:
                self.tick(24)
            if same > 20:
                raise Stuck(f"no progress at {at} towards {sorted(goals)[:3]}")

    def object(self, map_name, marker):
        m = self.names[map_name]
        return m, next(o for o in m["objects"] if o["marker"] == marker)

    def approach(self, map_name, marker):
        """Walk next to a person and face it (or the counter in front of it)."""
        m, o = self.object(map_name, marker)
        spots = {}
        for direction, (dx, dy) in STEPS.items():
            for reach in (1, 2):
                x, y = o["x"] - dx * reach, o["y"] - dy * reach
                if not (0 <= x < m["width"] and 0 <= y < m["height"]):
                    break
                if m["walkable"][y][x] == "1":
                    spots[m["id"], x, y] = direction
                    break
                if o["kind"] not in ("heal", "shop"):
                    break
        self.go(set(spots))
        direction = spots[self.place()]
        if self.byte(FACING) != FACINGS[direction]:
            self.press(direction)
        self.settle()

    def talk(self, map_name, marker, until=lambda: True):
        for _ in range(30):
            self.approach(map_name, marker)
            self.press("a")
            self.settle()
            if until():
                return
        raise Stuck(f"talking to {map_name}.{marker} leads nowhere")

    # ---- battle ---------------------------------------------------------------------

    def best_move(self):
        moves = [self.byte(BATTLE_MON + 8 + i) for i in range(4)]
        pp = [self.byte(BATTLE_MON + 25 + i) for i in range(4)]
        own = {self.byte(BATTLE_MON + 5), self.byte(BATTLE_MON + 6)}
        foe = {self.byte(ENEMY_MON + 5), self.byte(ENEMY_MON + 6)}
        health = self.word(BATTLE_MON + 1) / max(1, self.word(BATTLE_MON + 15))
        best, top = 0, -1
        for i, (move, left) in enumerate(zip(moves, pp)):
            if not move or not left:
                continue
            info = self.data["moves"][str(move)]
            if info["effect"] == "mend" and health < 0.45:
                return i
            score = info["power"] * (1.5 if info["type"] in own else 1)
            for t in foe:
                score *= self.data["chart"][info["type"]][t] / 10
            if score > top:
                best, top = i, score
        return best

    def worst_move(self):
        """Which of the four moves to forget."""
        slot = self.byte(BATTLE_MON + 3)
        own = {self.byte(BATTLE_MON + 5), self.byte(BATTLE_MON + 6)}
        scores = []
        for i in range(4):
            info = self.data["moves"][str(self.byte(PARTY + 44 * slot + 8 + i))]
            score = info["power"] * (1.5 if info["type"] in own else 1)
            scores.append(200 if info["effect"] == "mend" else score)
        return scores.index(min(scores))

    def fight(self):
        """Until the battle is over."""
        for _ in range(3000):
            if not self.byte(IN_BATTLE):
                return
            rows = self.screen()
            if rows[14][9:14] == "FIGHT" and rows[16][15:18] == "RUN":
                self.press("a" if rows[14][8] == ">" else "up" if ">" in rows[16] else "left", 16)
            elif rows[15][1:5] == "LEFT":
                want = self.best_move()
                have = next((i for i in range(4) if rows[13 + i][7] == ">"), None)
                if have is None:
                    self.tick(4)
                elif have == want:
                    self.press("a", 16)
                else:
                    self.press("down" if want > have else "up", 16)
            elif (
                any(rows[7 + i][6] == ">" for i in range(4)) and rows[12][5] == rows[6][5] == "\x7f"
            ):
                have = next(i for i in range(4) if rows[7 + i][6] == ">")
                self.press("a" if have == self.worst_move() else "down", 16)
            elif rows[15][1:7] == "Choose":
                # the next kith that can stand
                count = self.byte(PARTY_COUNT)
                want = next((i for i in range(count) if self.word(PARTY + 44 * i + 1)), 0)
                have = next((i for i in range(count) if rows[2 * i][1] == ">"), None)
                if have is None:
                    self.tick(4)
                else:
                    self.press("a" if have == want else "down", 16)
            else:
                self.press("a", 12)
        raise Stuck("the battle does not end")

    # ---- care -----------------------------------------------------------------------

    def level(self):
        return self.byte(PARTY + 33)

    def health(self):
        return self.word(PARTY + 1) / max(1, self.word(PARTY + 34))

    def strength_left(self):
        """The first kith's attacks that can still be used."""
        left = 0
        for i in range(4):
            move = self.byte(PARTY + 8 + i)
            if move and self.data["moves"][str(move)]["power"]:
                left += self.byte(PARTY + 29 + i)
        return left

    def heal(self, hearth):
        name = HEARTHS[hearth] + "_HEARTH"
        self.talk(name, "a", lambda: self.health() == 1)

    def train(self, level, map_name, hearth):
        """Walk up and down in grass until the first kith has this level."""
        m = self.names[map_name]
        if self.level() >= level:
            return
        self.log(f"training to level {level}")
        grass = {
            (m["id"], x, y)
            for y in range(m["height"])
            for x in range(m["width"])
            if m["grass"][y][x] == "1"
        }
        while self.level() < level:
            if self.health() < 0.45 or self.strength_left() < 8:
                self.heal(hearth)
            self.go(grass)
            x, y = self.place()[1:]
            near = {(m["id"], x + dx, y + dy) for dx, dy in STEPS.values()} & grass
            self.go(near or grass - {(m["id"], x, y)})
        self.log(f"level {self.level()}")

    # ---- the story --------------------------------------------------------------------

    def play(self):
        with contextlib.suppress(StopIteration):
            self.story()

    def story(self):
        self.tick(240)
        for _ in range(20):  # title, then the greeting
            self.press("start" if self.byte(PARTY_COUNT) == 0 and self.byte(MAP) == 0 else "a")
            if self.byte(MAP) == self.names["HERO_HOUSE"]["id"]:
                break
        self.tick(60)
        self.settle()
        self.milestone("new-game")
        self.talk("HERO_HOUSE", "c", lambda: self.byte(PARTY_COUNT) == 1)
        self.go({self.outside("HERO_HOUSE")})
        self.milestone("first-town")
        for number in range(1, 9):
            self.leader(number)
        level, where, hearth = PLAN[8]
        self.train(level, where, hearth)
        self.heal(7)
        self.talk("THORN_KEEP", "g", lambda: self.event("SCRIPT_THORN_KEEP_G"))
        self.approach("CROWN_HALL", "a")
        self.milestone("champion")
        self.defeat("CROWN_HALL", lambda: self.event("CHAMPION"), 9)
        self.tick(600)
        self.milestone("the-end")

    def outside(self, map_name):
        w = self.names[map_name]["warps"][0]
        return w["map"], w["to_x"], w["to_y"]

    def leader(self, number):
        level, where, hearth = PLAN[number - 1]
        if number == 3:
            self.talk("STILLWATER_HOUSE", "a", lambda: self.event("GOT_KNIFE"))
            self.talk("REED_WAY", "d", lambda: self.event("SCRIPT_REED_WAY_D"))
        if number == 4:
            self.talk("CRAGFOOT_HOUSE", "a", lambda: self.event("GOT_HAMMER"))
            self.talk("GLIMMER_CAVE", "s", lambda: self.event("SCRIPT_GLIMMER_CAVE_S"))
        if number == 7:
            self.talk("HOLLOW_DEEP", "s", lambda: self.event("SCRIPT_HOLLOW_DEEP_S"))
        if number == 8:
            self.talk("THORN_WAY", "d", lambda: self.event("SCRIPT_THORN_WAY_D"))
        self.train(level, where, hearth)
        if number > 1 or self.health() < 0.8:
            self.heal(number - 1)
        self.approach(f"HALL{number}", "a")
        self.milestone(f"leader-{number}")
        self.defeat(f"HALL{number}", lambda: self.byte(BADGES) >> (number - 1) & 1, number)

    def defeat(self, hall, won, number):
        for _attempt in range(8):
            self.approach(hall, "a")
            self.press("a")
            for _ in range(40):
                if won() or self.maps[self.byte(MAP)]["name"] != hall:
                    break
                self.settle() if not won() else None
                self.tick(8)
            if won():
                if number < 9:
                    self.settle()
                self.log(f"{hall} won at level {self.level()}")
                return
            self.settle()
            self.log(f"{hall} lost at level {self.level()}")
            _level, where, hearth = PLAN[number - 1]
            self.train(self.level() + 2, where, hearth)
            self.heal(min(number, 8) - 1)
        raise Stuck(f"{hall} cannot be won")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rom", default=os.path.join(DATA, "cartridge.gb"))
    parser.add_argument("--states", help="directory for save states")
    parser.add_argument("--until", help="stop at this milestone")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    from pyboy import PyBoy

    machine = PyBoy(args.rom, window="null", sound_emulated=False, cgb=False)
    machine.set_emulation_speed(0)
    with open(os.path.join(DATA, "cartridge_maps.json")) as f:
        maps = json.load(f)

    def on_milestone(name, machine):
        if args.states:
            os.makedirs(args.states, exist_ok=True)
            with open(os.path.join(args.states, name + ".state"), "wb") as f:
                machine.save_state(f)

    game = Walkthrough(machine, maps, on_milestone, args.verbose)
    game.until = args.until
    try:
        game.play()
    except Stuck as e:
        for row in game.screen():
            print(row.replace("\x7f", "~"))
        sys.exit(f"stuck after {game.frames} frames: {e}")
    print(f"done after {game.frames} frames")


if __name__ == "__main__":
    main()
