"""`PyBoy.sound`: the samples of the last sampled frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from emurust.pyboy.utils import PyBoyFeatureDisabledError, SoundEnabledError

if TYPE_CHECKING:
    from emurust._emurust import Machine

__all__ = ["Sound"]

_SAMPLE_RATE = 48_000
_LARGEST_FRAME = 805


class Sound:
    """Stereo sound, signed 8 bits, 48 kHz; reached as `PyBoy.sound`.

    The arrays are live; copy what must not change. A usual frame has 803 or 804 samples
    for each side.
    """

    sample_rate = _SAMPLE_RATE
    raw_buffer_format = "b"
    raw_buffer_length = 2 * _LARGEST_FRAME

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._emulated = machine.sound
        self._samples = np.zeros(self.raw_buffer_length, dtype=np.int8)
        self._head = 0
        self._stale = False

    def _invalidate(self) -> None:
        """To be called after each frame."""
        self._stale = self._emulated

    def _fetch(self) -> None:
        if self._stale:
            samples = np.frombuffer(self._machine.sound_samples(), dtype=np.int8)
            self._head = len(samples)
            self._samples[: self._head] = samples
            self._stale = False

    @property
    def raw_buffer(self) -> memoryview:
        """All 1,610 bytes of the buffer, left and right in turn; `raw_buffer_head` are valid."""
        self._fetch()
        return self._samples.data

    @property
    def raw_buffer_head(self) -> int:
        """Valid values of `raw_buffer`: two for each sample."""
        self._fetch()
        return self._head

    @property
    def raw_ndarray(self) -> Any:
        """The whole buffer, shape (805, 2), int8. Raises on use when sound is not emulated."""
        if not self._emulated:
            return SoundEnabledError()
        self._fetch()
        return self._samples.reshape(_LARGEST_FRAME, 2)

    @property
    def ndarray(self) -> npt.NDArray[np.int8]:
        """The valid samples, shape (samples, 2), int8: left and right.

        Raises:
            PyBoyFeatureDisabledError: sound is not emulated.
        """
        if not self._emulated:
            raise PyBoyFeatureDisabledError(
                "sound is not emulated; make the PyBoy with sound_emulated=True"
            )
        self._fetch()
        return self._samples.reshape(_LARGEST_FRAME, 2)[: self._head // 2]
