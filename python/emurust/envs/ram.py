"""Addresses of the game variables that the environment reads.

Symbols and addresses are those of the public disassembly of Pokemon Red and Blue
(pret/pokered); the shipped cartridge keeps the same variables at the same places.
"""

CURRENT_MAP = 0xD35E
"""wCurMap: map number."""
Y_COORDINATE = 0xD361
"""wYCoord: y in the map, in walking steps."""
X_COORDINATE = 0xD362
"""wXCoord: x in the map, in walking steps."""
MAP_HEIGHT = 0xD368
"""wCurMapHeight: in blocks of 2 x 2 walking steps; zero while no map is loaded."""
IS_IN_BATTLE = 0xD057
"""wIsInBattle: 0 no, 1 wild, 2 trainer, 0xFF just lost."""
