"""Species, moves, types, items, encounters, parties, shops: tables to ROM data."""

import os

from . import pictures
from .source import AssetError, Lines

EFFECTS = ["hit", "wear", "chip", "rouse", "brace", "poison", "sleep", "drain", "mend"]
PEOPLE = ["lad", "lass", "worker", "seer", "rival", "warden", "warden2"]  # pictures of trainers
ITEM_KINDS = ["lamp", "heal", "cure", "spark", "hush", "key"]
SCRIPTS = ["starter", "cut", "smash", "gate"]


class Game:
    """What maps may refer to by name."""

    def __init__(self):
        self.types = {}
        self.moves = {}
        self.move_data = {}  # for the JSON file
        self.chart = []
        self.species = {}
        self.items = {}
        self.encounters = {}
        self.parties = {}
        self.shops = {}
        self.music = {}
        self.scripts = {name: i for i, name in enumerate(SCRIPTS)}


def name_bytes(lines, name, length):
    if len(name) >= length:
        lines.fail(f"name {name!r} is longer than {length - 1} letters")
    return name.encode("ascii").ljust(length, b"\0")


def look(lines, table, key, what):
    if key not in table:
        lines.fail(f"unknown {what} {key!r}")
    return table[key]


def build_types(path, game, banks, header):
    lines = Lines(path)
    chart = {}
    while (words := lines.words()) is not None:
        if words[0] == "type":
            game.types[words[1]] = len(game.types)
            header.define("TYPE_" + words[1], game.types[words[1]])
        elif words[0] in ("strong", "weak"):
            attacker = look(lines, game.types, words[1], "type")
            for defender in words[2:]:
                chart[attacker, look(lines, game.types, defender, "type")] = (
                    20 if words[0] == "strong" else 5
                )
        else:
            lines.fail("expected type, strong or weak")
    n = len(game.types)
    header.define("TYPE_COUNT", n)
    game.chart = [[chart.get((a, d), 10) for d in range(n)] for a in range(n)]
    header.place(
        "TYPE_CHART", banks.add(bytes(chart.get((a, d), 10) for a in range(n) for d in range(n)))
    )
    header.place("TYPE_NAMES", banks.add(b"".join(t.encode().ljust(8, b"\0") for t in game.types)))


def build_moves(path, game, banks, header):
    lines = Lines(path)
    blob = bytes(16)
    while (words := lines.words()) is not None:
        if len(words) != 7 or words[0] != "move":
            lines.fail("expected 'move NAME TYPE power accuracy pp effect'")
        _, name, kind, power, accuracy, pp, effect = words
        game.moves[name] = len(game.moves) + 1
        header.define("MOVE_" + name, game.moves[name])
        if effect not in EFFECTS:
            lines.fail(f"unknown effect {effect!r}")
        game.move_data[game.moves[name]] = {
            "name": name,
            "type": look(lines, game.types, kind, "type"),
            "power": int(power),
            "effect": effect,
        }
        blob += name_bytes(lines, name, 11) + bytes(
            (
                game.types[kind],
                int(power),
                int(accuracy) * 255 // 100,
                int(pp),
                EFFECTS.index(effect),
            )
        )
    for i, effect in enumerate(EFFECTS):
        header.define("EFFECT_" + effect, i)
    header.place("MOVE_TABLE", banks.add(blob))


def build_species(data_dir, game, banks, header):
    lines = Lines(os.path.join(data_dir, "species.txt"))
    entries = []
    while (words := lines.words()) is not None:
        if words[0] != "species":
            lines.fail("expected 'species NAME ...'")
        name, rest, kinds, values, grows = words[1], words[2:], [], {}, None
        while rest and rest[0] in game.types:
            kinds.append(game.types[rest.pop(0)])
        while rest:
            key = rest.pop(0)
            if key == "grows":
                grows = (rest.pop(0), int(rest.pop(0)))
            elif key in ("hp", "atk", "def", "spd", "spc", "catch", "exp"):
                values[key] = int(rest.pop(0))
            else:
                lines.fail(f"unknown word {key!r}")
        if len(values) != 7 or not 1 <= len(kinds) <= 2:
            lines.fail("types and all of hp atk def spd spc catch exp are needed")
        words = lines.words()
        if words[0] != "learns" or len(words) % 2 == 0 or len(words) > 17:
            lines.fail("expected 'learns MOVE LEVEL ...', at most eight")
        learns = [
            (look(lines, game.moves, words[i], "move"), int(words[i + 1]))
            for i in range(1, len(words), 2)
        ]
        entries.append((name, kinds, values, grows, learns, lines.number))
        game.species[name] = len(game.species) + 1
        header.define("SPECIES_" + name, game.species[name])
    art = pictures.read(os.path.join(data_dir, "pictures.txt"))
    blob = bytes(44)
    for name, kinds, v, grows, learns, number in entries:
        grow = (0, 0)
        if grows:
            if grows[0] not in game.species:
                lines.fail(f"unknown species {grows[0]}", number)
            grow = (game.species[grows[0]], grows[1])
        if name not in art:
            lines.fail(f"{name} has no picture in pictures.txt", number)
        front, back = art[name]
        fb, fa = banks.add(front, 6)
        bb, ba = banks.add(back, 6)
        entry = name_bytes(lines, name, 11)
        entry += bytes(
            (
                kinds[0],
                kinds[-1],
                v["hp"],
                v["atk"],
                v["def"],
                v["spd"],
                v["spc"],
                v["catch"],
                v["exp"],
            )
        )
        entry += bytes(grow) + bytes((fb, fa & 255, fa >> 8, bb, ba & 255, ba >> 8))
        entry += bytes(x for pair in learns for x in pair).ljust(16, b"\0")
        assert len(entry) == 44
        blob += entry
    header.define("SPECIES_COUNT", len(game.species))
    header.place("SPECIES_TABLE", banks.add(blob))
    table = b""
    for name in PEOPLE:
        bank, address = banks.add(art[name][0], 6)
        table += bytes((bank, address & 255, address >> 8))
    header.place("PEOPLE_TABLE", banks.add(table))
    header.place("PIC_HERO_BACK", banks.add(art["hero"][1], 6))
    # experience needed for each level: 0.8 n^3
    table = b"".join((n**3 * 4 // 5 if n > 1 else 0).to_bytes(4, "little") for n in range(101))
    header.place("EXP_TABLE", banks.add(table))


def build_items(path, game, banks, header):
    lines = Lines(path)
    blob = bytes(17)
    while (words := lines.words()) is not None:
        if len(words) != 5 or words[0] != "item":
            lines.fail("expected 'item NAME price kind value'")
        _, name, price, kind, value = words
        ident = name.replace(" ", "_")
        game.items[name] = game.items[ident] = number = len(set(game.items.values())) + 1
        header.define("ITEM_" + ident, number)
        if kind not in ITEM_KINDS:
            lines.fail(f"unknown kind {kind!r}")
        blob += name_bytes(lines, name, 13) + int(price).to_bytes(2, "little")
        blob += bytes((ITEM_KINDS.index(kind), int(value)))
    for i, kind in enumerate(ITEM_KINDS):
        header.define("ITEMKIND_" + kind, i)
    header.place("ITEM_TABLE", banks.add(blob))


def build_encounters(path, game, banks, header):
    lines = Lines(path)
    areas, words = [], lines.words()
    while words is not None:
        if words[0] != "area":
            lines.fail("expected 'area NAME rate'")
        game.encounters[words[1]] = len(areas)
        rate, number, slots, total = int(words[2]), lines.number, b"", 0
        while (words := lines.words()) is not None and words[0] != "area":
            weight = int(words[3])
            total += weight
            slots += (
                bytes(
                    (look(lines, game.species, words[0], "species"), int(words[1]), int(words[2]))
                )
                * weight
            )
        if total != 16:
            lines.fail(f"weights sum to {total}, not 16", number)
        areas.append(bytes((rate,)) + slots)
    header.place("ENCOUNTER_TABLE", banks.add(b"".join(areas)))


def build_parties(path, game, banks, header):
    lines = Lines(path)
    blob = b""
    while (words := lines.words()) is not None:
        if words[0] != "party" or len(words) % 2 == 0 or len(words) > 17 or words[4] not in PEOPLE:
            lines.fail("expected 'party ID NAME reward picture SPECIES level ...', at most six")
        game.parties[words[1]] = len(game.parties)
        header.define("PARTY_" + words[1], game.parties[words[1]])
        entry = name_bytes(lines, words[2], 12) + int(words[3]).to_bytes(2, "little")
        entry += bytes((PEOPLE.index(words[4]), (len(words) - 5) // 2))
        for i in range(5, len(words), 2):
            entry += bytes((look(lines, game.species, words[i], "species"), int(words[i + 1])))
        blob += entry.ljust(28, b"\0")
    header.place("PARTY_TABLE", banks.add(blob))


def build_shops(path, game, banks, header):
    lines = Lines(path)
    blob = b""
    while (words := lines.words()) is not None:
        if words[0] != "shop" or not 3 <= len(words) <= 9:
            lines.fail("expected 'shop NAME item ...', at most seven")
        game.shops[words[1]] = len(game.shops)
        items = [look(lines, game.items, word, "item") for word in words[2:]]
        blob += bytes([len(items), *items]).ljust(8, b"\0")
    header.place("SHOP_TABLE", banks.add(blob))


def build_texts(path, header, texts):
    """Texts the C code names: 'text NAME "..."'."""
    lines = Lines(path)
    while (words := lines.words()) is not None:
        if words[0] != "text" or len(words) != 3:
            lines.fail("expected 'text NAME \"...\"'")
        header.define("TEXT_" + words[1], texts.add(words[2], lines))


def build(data_dir, banks, header, texts):
    game = Game()
    build_types(os.path.join(data_dir, "types.txt"), game, banks, header)
    build_moves(os.path.join(data_dir, "moves.txt"), game, banks, header)
    build_species(data_dir, game, banks, header)
    build_items(os.path.join(data_dir, "items.txt"), game, banks, header)
    build_encounters(os.path.join(data_dir, "encounters.txt"), game, banks, header)
    build_parties(os.path.join(data_dir, "parties.txt"), game, banks, header)
    build_shops(os.path.join(data_dir, "shops.txt"), game, banks, header)
    build_texts(os.path.join(data_dir, "texts.txt"), header, texts)
    for i, name in enumerate(SCRIPTS):
        header.define("SCRIPT_" + name, i)
    if len(game.species) > 151:
        raise AssetError("more species than the seen and owned bits hold")
    return game
