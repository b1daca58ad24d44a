"""Maps and texts.

A map file holds a header, a grid with one character per 16x16 cell, and the
objects. Lower-case letters in the grid mark objects; which cell lies under an
object is the tileset's default or "under NAME".
"""

import os

from .source import AssetError, Lines

DIRECTIONS = {"down": 0, "up": 4, "left": 8, "right": 12}
SIDES = ("north", "south", "west", "east")
KINDS = {"npc": 0, "item": 1, "trainer": 2, "leader": 3, "heal": 4, "shop": 5, "pc": 6, "script": 7}
NO_FLAG = 0xFFFF
SKIPPED_FLAG = (0xD754 - 0xD747) * 8  # public reward functions leave this bit out
LAST_FLAG = 311 * 8


def longest(text):
    """How long a text can get once names are filled in."""
    return len(text.replace("{a}", "X" * 8).replace("{b}", "X" * 11).replace("{n}", "XXX"))


class Texts:
    """All texts; written prose is wrapped to the 18 columns of the box."""

    def __init__(self):
        self.ids = {}
        self.blobs = []

    def add(self, prose, lines=None):
        if prose not in self.ids:
            self.ids[prose] = len(self.blobs)
            self.blobs.append(self.encode(prose, lines))
        return self.ids[prose]

    @staticmethod
    def encode(prose, lines=None):
        pages = []
        for page in prose.split("|"):
            rows, row = [], ""
            for word in page.split():
                length, have = longest(word), longest(row)
                if length > 18:
                    raise AssetError(
                        f"{lines.path if lines else 'text'}: word {word!r} does not fit a line"
                    )
                if row and have + 1 + length > 18:
                    rows.append(row)
                    row = word
                else:
                    row = row + " " + word if row else word
            if row:
                rows.append(row)
            pages += ["\n".join(rows[i : i + 2]) for i in range(0, len(rows), 2)]
        text = "\f".join(pages)
        text = text.replace("{a}", "\x01").replace("{b}", "\x02").replace("{n}", "\x03")
        blob = text.encode("ascii") + b"\0"
        if len(blob) > 240:
            raise AssetError(f"{lines.path if lines else 'text'}: text too long: {prose[:40]}...")
        return blob

    def place(self, banks, header):
        table = b""
        for blob in self.blobs:
            bank, address = banks.add(blob, 10)
            table += bytes((bank, address & 255, address >> 8))
        header.place("TEXT_TABLE", banks.add(table))


class Map:
    def __init__(self, lines, header):
        self.lines = lines
        self.title = self.tileset = self.border = None
        self.music, self.encounters, self.town = None, None, None
        self.dark = False
        self.connections = {}
        self.objects = []  # (marker, kind, words, line number)
        self.marks = {}  # marker -> (x, y)
        self.rows = []
        self.read(header)

    def read(self, header):
        lines = self.lines
        words = lines.words()
        if not words or words[0] != "map":
            lines.fail("expected 'map NAME'")
        self.name = words[1]
        while True:
            words = lines.words()
            if words is None:
                lines.fail("no grid")
            key = words[0]
            if key == "grid":
                break
            if key == "title":
                self.title = words[1]
            elif key == "tileset":
                if words[1] not in header.tilesets:
                    lines.fail(f"unknown tileset {words[1]}")
                self.tileset = header.tilesets[words[1]]
            elif key == "border":
                self.border = words[1]
            elif key in ("music", "encounters"):
                setattr(self, key, words[1])
            elif key == "town":
                self.town = int(words[1])
            elif key == "connect":
                if words[1] not in SIDES:
                    lines.fail(f"unknown side {words[1]}")
                self.connections[words[1]] = (words[2], int(words[3]), lines.number)
            else:
                lines.fail(f"unknown key {key!r}")
        if not (self.title and self.tileset and self.border and self.music):
            lines.fail("title, tileset, border and music are needed")
        grid = []
        while True:
            if lines.number >= len(lines.lines):
                lines.fail("the grid has no 'end'")
            row = lines.lines[lines.number]
            lines.number += 1
            if row == "end":
                break
            grid.append((row, lines.number))
        while (words := lines.words()) is not None:
            if len(words) < 2 or len(words[0]) != 1 or not words[0].islower():
                lines.fail("expected 'letter kind ...'")
            self.objects.append((words[0], words[1], words[2:], lines.number))
        self.width, self.height = len(grid[0][0]), len(grid)
        if self.width % 2 or self.height % 2 or self.width > 64 or self.height > 64:
            lines.fail(f"the map is {self.width} x {self.height}; both must be even and at most 64")
        default = "GROUND" if "GROUND" in self.tileset.cells else "FLOOR"
        unders = {}
        for marker, kind, rest, number in self.objects:
            under = {"door": "DOOR", "sign": "SIGN"}.get(kind, default)
            if "under" in rest:
                i = rest.index("under")
                under = rest[i + 1]
                del rest[i : i + 2]
            if under not in self.tileset.cells:
                lines.fail(f"unknown cell {under}", number)
            if marker in unders:
                lines.fail(f"marker {marker} used twice", number)
            unders[marker] = under
        for y, (row, number) in enumerate(grid):
            if len(row) != self.width:
                lines.fail(f"row is {len(row)} wide, the first is {self.width}", number)
            cells = []
            for x, char in enumerate(row):
                if char in unders:
                    if char in self.marks:
                        lines.fail(f"marker {char} twice in the grid", number)
                    self.marks[char] = (x, y)
                    cells.append(self.tileset.cells[unders[char]])
                elif char in self.tileset.chars:
                    cells.append(self.tileset.cells[self.tileset.chars[char]])
                else:
                    lines.fail(f"unknown cell {char!r}", number)
            self.rows.append(cells)
        for marker, _, _, number in self.objects:
            if marker not in self.marks:
                lines.fail(f"marker {marker} is not in the grid", number)
        for y, row in enumerate(self.rows):
            for x, cell in enumerate(row):
                if self.tileset.flags[cell] & 4 and (
                    y + 1 >= self.height
                    or not self.flags_at(x, y + 1) & 1
                    or any(self.marks[o[0]] == (x, y + 1) for o in self.objects)
                ):
                    lines.fail("the cell below a ledge must be free", grid[y][1])
        if self.border not in self.tileset.cells:
            lines.fail(f"unknown border {self.border}")

    def flags_at(self, x, y):
        return self.tileset.flags[self.rows[y][x]]


class World:
    def __init__(self, data_dir, header, texts, game):
        self.header, self.texts, self.game = header, texts, game
        self.maps = {}
        self.flags = {}
        self.order = []
        self.read(data_dir)

    def read(self, data_dir):
        path = os.path.join(data_dir, "world.txt")
        lines = Lines(path)
        while (words := lines.words()) is not None:
            if words[0] == "flag":
                self.flag(words[1])
                continue
            if words[0] == "map":
                name = words[1]
                map_path = os.path.join(data_dir, "maps", name.lower() + ".txt")
                source = Lines(map_path)
            elif words[0] == "instance":
                name, map_path = words[1], os.path.join(data_dir, "maps", words[2] + ".template")
                with open(map_path, encoding="ascii") as f:
                    text = f.read()
                text = text.replace("$NAME", name)
                for setting in words[3:]:
                    key, value = setting.split("=", 1)
                    text = text.replace("$" + key, value)
                source = Lines(map_path, text)
            else:
                lines.fail("expected 'map', 'instance' or 'flag'")
            m = Map(source, self.header)
            if m.name != name:
                lines.fail(f"{map_path} describes {m.name}, not {name}")
            m.id = len(self.order)
            self.order.append(m)
            self.maps[name] = m

    def flag(self, name):
        if name not in self.flags:
            number = len(self.flags)
            if number >= SKIPPED_FLAG:
                number += 1
            if number >= LAST_FLAG:
                raise AssetError("too many flags")
            self.flags[name] = number
        return self.flags[name]

    def target(self, m, text, number):
        """Where a door to MAP.marker arrives: (map, x, y, facing)."""
        try:
            name, marker = text.split(".")
            other = self.maps[name]
            x, y = other.marks[marker]
        except (KeyError, ValueError):
            m.lines.fail(f"no such door: {text}", number)
        out = None
        for mark, kind, rest, _ in other.objects:
            if mark == marker:
                if kind == "door":
                    out = "down" if other.tileset.name == "outdoor" else "up"
                if "out" in rest:
                    out = rest[rest.index("out") + 1]
        facing = "down" if out is None else out
        dx, dy = {"down": (0, 1), "up": (0, -1), "left": (-1, 0), "right": (1, 0), None: (0, 0)}[
            out
        ]
        x, y = x + dx, y + dy
        if not other.flags_at(x, y) & 1:
            m.lines.fail(f"{text} arrives on a cell that cannot be walked on", number)
        return other, x, y, DIRECTIONS[facing]

    def options(self, m, rest, number):
        """Splits words into positional ones and 'key value' options."""
        keys = {
            "flag",
            "hide",
            "show",
            "after",
            "give",
            "count",
            "sight",
            "badge",
            "out",
            "need",
            "value",
        }
        plain, options, i = [], {}, 0
        while i < len(rest):
            if rest[i] in keys:
                if i + 1 >= len(rest):
                    m.lines.fail(f"{rest[i]} needs a value", number)
                options[rest[i]] = rest[i + 1]
                i += 2
            else:
                plain.append(rest[i])
                i += 1
        return plain, options

    def look(self, m, table, key, what, number):
        if key not in table:
            m.lines.fail(f"unknown {what} {key!r}", number)
        return table[key]

    def encode(self, m):
        h = self.header
        conn = b""
        for side in SIDES:
            if side in m.connections:
                name, offset, number = m.connections[side]
                other = self.look(m, self.maps, name, "map", number)
                back = {"north": "south", "south": "north", "west": "east", "east": "west"}[side]
                if other.connections.get(back, (None, 0))[0:2] != (m.name, -offset):
                    m.lines.fail(
                        f"{name} does not connect back {back} to {m.name} at {-offset}", number
                    )
                bank, address = other.cells_at
                conn += bytes(
                    (
                        other.id,
                        offset & 255,
                        other.width,
                        other.height,
                        bank,
                        address & 255,
                        address >> 8,
                    )
                )
            else:
                conn += bytes((255, 0, 0, 0, 0, 0, 0))
        warps, npcs, signs = [], [], []
        looks = {"HERO", "BUBBLE"}
        m.json_warps, m.json_objects = [], []
        for marker, kind, rest, number in m.objects:
            x, y = m.marks[marker]
            plain, opt = self.options(m, rest, number)
            flag = hide = show = NO_FLAG
            if "hide" in opt:
                hide = self.flag(opt["hide"])
            if "show" in opt:
                show = self.flag(opt["show"])
            need = self.flag(opt["need"]) if "need" in opt else NO_FLAG
            if kind == "door":
                other, tx, ty, facing = self.target(m, plain[0], number)
                warps.append(bytes((x, y, other.id, tx, ty, facing)))
                m.json_warps.append({"x": x, "y": y, "map": other.id, "to_x": tx, "to_y": ty})
                continue
            if kind == "arrive":
                h.define(f"AT_{m.name}_{marker}_X", x)
                h.define(f"AT_{m.name}_{marker}_Y", y)
                continue
            if kind == "sign":
                signs.append(
                    bytes((x, y)) + self.texts.add(plain[0], m.lines).to_bytes(2, "little")
                )
                continue
            if kind not in KINDS:
                m.lines.fail(f"unknown kind {kind!r}", number)
            sprite, facing, arg, arg2, sight = "BALL", "down", 0, 0, 0
            text = text2 = 0
            base = f"{m.name}_{marker}".upper()
            if kind == "item":
                arg = self.look(m, self.game.items, plain[0], "item", number)
                arg2 = int(opt.get("count", 1))
                flag = hide = self.flag(f"ITEM_{base}")
            elif kind == "npc":
                sprite, facing = plain[0], plain[1]
                text = self.texts.add(plain[2], m.lines)
                text2 = self.texts.add(opt["after"], m.lines) if "after" in opt else text
                flag = self.flag(opt.get("flag", f"TALKED_{base}"))
                if "give" in opt:
                    arg = self.look(m, self.game.items, opt["give"], "item", number)
                    arg2 = int(opt.get("count", 1))
            elif kind in ("trainer", "leader"):
                sprite, facing = plain[0], plain[1]
                arg = self.look(m, self.game.parties, plain[2], "party", number)
                text = self.texts.add(plain[3], m.lines)
                text2 = self.texts.add(plain[4], m.lines)
                sight = int(opt.get("sight", 0))
                arg2 = int(opt.get("badge", 0))
                flag = self.flag(opt.get("flag", f"BEAT_{base}"))
            elif kind == "script":
                sprite, facing = plain[0], plain[1]
                arg = self.look(m, self.game.scripts, plain[2], "script", number)
                arg2 = self.game.species.get(opt.get("value"), 0)
                flag = hide = self.flag(opt.get("flag", f"SCRIPT_{base}"))
                if len(plain) > 3:
                    text = self.texts.add(plain[3], m.lines)
                text2 = self.texts.add(opt["after"], m.lines) if "after" in opt else text
            elif kind == "shop":
                sprite, facing = plain[0], plain[1]
                arg = self.look(m, self.game.shops, plain[2], "shop", number)
                flag = self.flag(f"SHOP_{base}")
            else:
                sprite, facing = plain[0], plain[1]
                if len(plain) > 2:
                    text = text2 = self.texts.add(plain[2], m.lines)
                flag = self.flag(f"USED_{base}")
            self.look(m, DIRECTIONS, facing, "direction", number)
            looks.add(sprite)
            record = bytes(
                (
                    x,
                    y,
                    self.look(m, h.sprites, sprite, "sprite", number),
                    DIRECTIONS[facing],
                    KINDS[kind],
                    arg,
                    arg2,
                    sight,
                )
            )
            for value in (flag, hide, show, need, text, text2):
                record += value.to_bytes(2, "little")
            npcs.append(record)
            m.json_objects.append(
                {
                    "x": x,
                    "y": y,
                    "kind": kind,
                    "flag": flag,
                    "hide": hide,
                    "show": show,
                    "marker": marker,
                    "sight": sight,
                    "facing": DIRECTIONS[facing],
                }
            )
        if len(npcs) > 12 or len(warps) > 12 or len(signs) > 8:
            m.lines.fail(
                f"too many objects: {len(npcs)} people (12), {len(warps)} doors (12), "
                f"{len(signs)} signs (8)"
            )
        if sum(h.sprite_tiles[name] for name in looks) > 128:
            m.lines.fail("the people's looks do not fit the object tiles")
        enc = (
            255
            if m.encounters is None
            else self.look(m, self.game.encounters, m.encounters, "encounters", 0)
        )
        music = self.look(m, self.game.music, m.music, "music", 0)
        tileset = list(h.tilesets).index(m.tileset.name)
        bank, address = m.cells_at
        title = m.title.encode("ascii")
        if len(title) > 15:
            m.lines.fail("the title is longer than 15 letters")
        blob = bytes(
            (
                m.width,
                m.height,
                tileset,
                m.tileset.cells[m.border],
                music,
                enc,
                255 if m.town is None else m.town,
                bank,
                address & 255,
                address >> 8,
            )
        )
        blob += conn + title.ljust(16, b"\0")
        blob += bytes((len(warps), len(npcs), len(signs)))
        return blob + b"".join(warps) + b"".join(npcs) + b"".join(signs)

    def layout(self):
        """Global offsets: connected maps side by side, the others in rows below."""
        placed = {}

        def spread(m, x, y):
            if m.name in placed:
                return
            placed[m.name] = (x, y)
            for side, (name, offset, _) in m.connections.items():
                o = self.maps[name]
                nx, ny = {
                    "north": (x + offset, y - o.height),
                    "south": (x + offset, y + m.height),
                    "west": (x - o.width, y + offset),
                    "east": (x + m.width, y + offset),
                }[side]
                spread(o, nx, ny)

        shelf_x = 0
        groups = []
        for m in self.order:
            if m.name not in placed:
                before = set(placed)
                spread(m, 0, 0)
                groups.append([n for n in placed if n not in before])
        out = {}
        # first group at the origin, the rest on shelves
        y0, row_h, width = 0, 0, 0
        for i, group in enumerate(groups):
            xs = [placed[n][0] for n in group]
            ys = [placed[n][1] for n in group]
            x1 = max(placed[n][0] + self.maps[n].width for n in group)
            y1 = max(placed[n][1] + self.maps[n].height for n in group)
            w, h = x1 - min(xs), y1 - min(ys)
            if i == 0:
                width = max(w, 120)
            if shelf_x + w > width:
                shelf_x, y0, row_h = 0, y0 + row_h + 2, 0
            for n in group:
                out[n] = (placed[n][0] - min(xs) + shelf_x, placed[n][1] - min(ys) + y0)
            shelf_x += w + 2
            row_h = max(row_h, h)
        seen = {}
        for n, (x, y) in out.items():
            m = self.maps[n]
            for yy in range(y, y + m.height):
                for xx in range(x, x + m.width):
                    if (xx, yy) in seen:
                        raise AssetError(f"maps {n} and {seen[xx, yy]} overlap in the world")
                    seen[xx, yy] = n
        return out


def build(data_dir, banks, header, texts, game):
    """The world, and its geometry for Python."""
    world = World(data_dir, header, texts, game)
    for m in world.order:
        m.cells_at = banks.add(bytes(c for row in m.rows for c in row))
        header.define("MAP_" + m.name, m.id)
    table = b""
    for m in world.order:
        bank, address = banks.add(world.encode(m))
        table += bytes((bank, address & 255, address >> 8))
    header.place("MAP_TABLE", banks.add(table))
    header.define("MAP_COUNT", len(world.order))
    for name, number in world.flags.items():
        header.define("FLAG_" + name, number)
    offsets = world.layout()
    maps = []
    for m in world.order:
        x, y = offsets[m.name]
        walk = [
            "".join(
                "1" if m.flags_at(cx, cy) & 1 else ("v" if m.flags_at(cx, cy) & 4 else "0")
                for cx in range(m.width)
            )
            for cy in range(m.height)
        ]
        grass = [
            "".join("1" if m.flags_at(cx, cy) & 2 else "0" for cx in range(m.width))
            for cy in range(m.height)
        ]
        maps.append(
            {
                "id": m.id,
                "name": m.name,
                "title": m.title,
                "width": m.width,
                "height": m.height,
                "x": x,
                "y": y,
                "indoor": m.tileset.name == "indoor",
                "walkable": walk,
                "grass": grass,
                "warps": m.json_warps,
                "objects": m.json_objects,
                "connections": {
                    s: {"map": world.maps[n].id, "offset": o}
                    for s, (n, o, _) in m.connections.items()
                },
            }
        )
    geometry = {
        "title": "KITHWILD",
        "width": max(m["x"] + m["width"] for m in maps),
        "height": max(m["y"] + m["height"] for m in maps),
        "maps": maps,
        "events": world.flags,
        "types": list(game.types),
        "chart": game.chart,
        "moves": game.move_data,
        "species": {number: name for name, number in game.species.items()},
        "items": {number: name for name, number in game.items.items() if "_" not in name},
    }
    return world, geometry
