"""What can play an environment by itself: the small interface behind ``emurust watch``.

A policy is an object with two methods, `begin` and `act`. It is made for one environment by a
function that takes the environment; a function ``act(observation) -> action`` will do as well:

    # my_policy.py; emurust watch my_policy:make
    def make(env):
        return lambda observation: int(observation["screens"].sum()) % 7

    make.env_options = {"observation": "dict"}  # what the policy wants to see; may be left out
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import gymnasium

from emurust.errors import ArgumentError

__all__ = ["Policy", "PolicySource", "RandomPolicy", "make_policy", "policy_source"]

Environment: TypeAlias = "gymnasium.Env[Any, Any]"


@runtime_checkable
class Policy(Protocol):
    """Plays one environment."""

    def begin(self) -> None:
        """An episode has begun: forget what was remembered of the last."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The action for an observation of the environment's, and the info that came with it."""


class RandomPolicy:
    """Every action equally likely.

    Args:
        env: the environment.
        seed: decides what is played; equal seeds play the same.
    """

    def __init__(self, env: Environment, seed: int | None = None) -> None:
        self._space = env.action_space
        self._space.seed(seed)

    def begin(self) -> None:
        """Nothing is remembered."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Some action."""
        return int(self._space.sample())


class _Function:
    """A policy that remembers nothing."""

    def __init__(self, act: Callable[[Any], Any]) -> None:
        self._act = act

    def begin(self) -> None:
        pass

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        return int(self._act(observation))


@dataclass(frozen=True)
class PolicySource:
    """How to make a policy.

    Args:
        name: what to call it.
        make: makes it for an environment: a `Policy`, or a function from observation to action.
        env_options: what the environment must be made with, for example
            ``{"observation": "packed"}``; see `emurust.envs.pokemon.PokemonEnv`.
    """

    name: str
    make: Callable[[Environment], Any]
    env_options: Mapping[str, Any] = field(default_factory=dict)


def policy_source(name: str, *, seed: int | None = None, greedy: bool = False) -> PolicySource:
    """The policy that a command line names.

    Args:
        name: ``"random"``; a checkpoint (``.pt``) or the folder of a training; or
            ``"module:function"``, a function that makes a policy for an environment, in a module
            that can be imported (also from the current directory).
        seed: of what ``"random"`` and checkpoints draw.
        greedy: have a checkpoint take the likeliest action.

    Raises:
        ArgumentError: there is no such policy, or it cannot be greedy.
        CheckpointError: the checkpoint is damaged.
        DependencyError: a checkpoint without PyTorch and PufferLib.
    """
    if name != "random" and (name.endswith(".pt") or Path(name).is_dir()):
        from emurust.train.libraries import import_torch

        import_torch("a checkpoint")
        from emurust.train.watch import checkpoint_source

        return checkpoint_source(Path(name), seed=seed, greedy=greedy)
    if greedy:
        raise ArgumentError(f"only checkpoints can be greedy, not the policy {name!r}")
    if name == "random":
        return PolicySource(name, lambda env: RandomPolicy(env, seed))
    module_name, colon, function_name = name.partition(":")
    if not (colon and module_name and function_name):
        raise ArgumentError(
            f"there is no policy {name!r}; expected random, a checkpoint or a training's folder, "
            "or module:function"
        )
    try:
        module = _import(module_name)
    except ImportError as error:
        raise ArgumentError(f"the policy {name} cannot be imported: {error}") from error
    make = getattr(module, function_name, None)
    if not callable(make):
        raise ArgumentError(f"the policy {name}: {module_name} has no function {function_name}")
    options = getattr(make, "env_options", {})
    if not isinstance(options, Mapping):
        raise ArgumentError(
            f"the policy {name}: {function_name}.env_options must be a dict, "
            f"not {type(options).__name__}"
        )
    return PolicySource(name, make, options)


def make_policy(source: PolicySource, env: Environment) -> Policy:
    """The source's policy for an environment.

    Raises:
        ArgumentError: what the source makes is no policy.
    """
    made = source.make(env)
    if isinstance(made, Policy):
        return made
    if callable(made):
        return _Function(made)
    raise ArgumentError(
        f"the policy {source.name}: expected an object with the methods begin and act, or a "
        f"function from observation to action, not {type(made).__name__}"
    )


def _import(name: str) -> Any:
    # As `python -m` does; a command's own directory is that of the script.
    here = os.fspath(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        if added:
            sys.path.remove(here)
