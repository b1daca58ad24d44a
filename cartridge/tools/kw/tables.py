"""Species, moves, types, items, encounters, parties, shops: tables to ROM data."""


class Game:
    def __init__(self):
        self.items = {}
        self.parties = {}
        self.encounters = {}
        self.shops = {}
        self.music = {"none": 0}
        self.scripts = {}


def build(data_dir, banks, header, texts):
    return Game()
