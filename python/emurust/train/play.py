"""Playing a policy: greedily or by sampling, many machines at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from emurust.train.build import make_policy
from emurust.train.checkpoint import Checkpoint

__all__ = ["Player"]


class Player:
    """Chooses actions for a batch of agents.

    An LSTM's memory is cleared when an agent's episode begins and, as in training, every
    `bptt_horizon` steps: a longer memory is one that was never trained.

    Args:
        checkpoint: the policy and its options.
        env: has `task`, `single_observation_space` and `single_action_space`, such as a `Pool`.
        count: number of agents.
        greedy: take the likeliest action; else draw one.
        seed: of what is drawn: of each agent on its own, whatever their number.
        device: where the policy runs.
        path: the checkpoint's, for messages.

    Raises:
        CheckpointError: the policy does not fit the environment.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        env: Any,
        count: int,
        *,
        greedy: bool,
        seed: int = 0,
        device: torch.device | None = None,
        path: Path | str = "the checkpoint",
    ) -> None:
        checkpoint.check_task(env.task, path)
        self.policy = make_policy(checkpoint.config, env)
        checkpoint.load_policy(self.policy, path)
        self.policy.to(device or torch.device("cpu")).eval()
        self._device = device or torch.device("cpu")
        self._greedy = greedy
        self._recurrent = bool(checkpoint.config["policy"]["recurrent"])
        self._horizon = int(checkpoint.config["train"]["bptt_horizon"])
        self._generators = [np.random.default_rng([seed, agent]) for agent in range(count)]
        self._steps = np.zeros(count, dtype=np.int64)
        size = self.policy.hidden_size
        self._memory = {
            name: torch.zeros(count, size, device=self._device) for name in ("lstm_h", "lstm_c")
        }

    def begin(self, agents: npt.NDArray[np.bool_]) -> None:
        """Episodes have begun for the agents that the mask names."""
        self._steps[agents] = 0

    def act(self, observations: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Actions for the observations' records, (agents, bytes) uint8."""
        fresh = self._steps % self._horizon == 0
        self._steps += 1
        with torch.no_grad():
            records = torch.from_numpy(np.ascontiguousarray(observations)).to(self._device)
            state: dict[str, Any] = {}
            if self._recurrent:
                for memory in self._memory.values():
                    memory[torch.from_numpy(fresh).to(self._device)] = 0
                state = dict(self._memory)
            logits, _ = self.policy.forward_eval(records, state)
            if self._recurrent:
                self._memory = {name: state[name] for name in self._memory}
            scores = logits.float().cpu().numpy().astype(np.float64)
        if not self._greedy:
            # Gumbel's way of drawing: one number for each action, and the greatest sum.
            scores += np.stack([one.gumbel(size=scores.shape[1]) for one in self._generators])
        return np.asarray(scores.argmax(axis=1), dtype=np.int64)
