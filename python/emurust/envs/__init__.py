"""Gymnasium environments.

Only registration happens here; the environments and what they need are imported when
one is made.
"""

from __future__ import annotations

__all__ = ["POKEMON_ID", "register_envs"]

POKEMON_ID = "EmuRust-Pokemon"


def register_envs() -> None:
    """Makes the environments known to Gymnasium; doing it again changes nothing.

    ``import emurust`` calls this. Gymnasium 0.29 also does by itself, through the
    package's ``gymnasium.envs`` entry point, while it is being imported: so only its
    registration module may be needed here.
    """
    from gymnasium.envs.registration import register, registry

    if POKEMON_ID not in registry:
        register(
            id=POKEMON_ID,
            entry_point="emurust.envs.pokemon:PokemonEnv",
            vector_entry_point="emurust.vector:PokemonVectorEnv",
        )
