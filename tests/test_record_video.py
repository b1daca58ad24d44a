"""Gymnasium's `RecordVideo` films the environment, with the installed Gymnasium."""

from __future__ import annotations

import sys
import types
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo

import emurust  # noqa: F401  (makes the environment known)

STEPS = 6


def film(folder: Path) -> list[Any]:
    """Films an episode; what `render` showed meanwhile."""
    env = gymnasium.make(
        "EmuRust-Pokemon", render_mode="rgb_array", start_state="first-town", max_steps=STEPS
    )
    shown = []
    with warnings.catch_warnings():
        # Gymnasium 0.29 warns of its own interface.
        warnings.simplefilter("ignore")
        filmed = RecordVideo(env, str(folder), episode_trigger=lambda episode: episode == 0)
        filmed.reset(seed=1)
        shown.append(env.render())
        for number in range(STEPS):
            _, _, _, truncated, _ = filmed.step(number % 4)
            shown.append(env.render())
        assert truncated
        filmed.close()
    return shown


def test_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All up to the encoder, which is large and need not be installed."""
    written: dict[str, Any] = {}

    class ImageSequenceClip:
        def __init__(self, frames: Any, fps: float) -> None:
            written["frames"], written["fps"] = list(frames), fps

        def write_videofile(self, path: str, **_: Any) -> None:
            written["path"] = path

    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    clip = types.ModuleType("moviepy.video.io.ImageSequenceClip")
    clip.ImageSequenceClip = ImageSequenceClip  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, clip.__name__, clip)
    sys.modules["moviepy"].ImageSequenceClip = ImageSequenceClip  # type: ignore[attr-defined]

    shown = film(tmp_path / "video")
    assert written["path"].endswith("rl-video-episode-0.mp4")
    assert len(written["frames"]) == STEPS + 1
    for frame, expected in zip(written["frames"], shown, strict=True):
        assert (frame.shape, frame.dtype) == ((144, 160, 3), np.uint8)
        np.testing.assert_array_equal(frame, expected)
    assert len({frame.tobytes() for frame in written["frames"]}) > 1
    # 24 of the machine's 59.7 frames a second make a step.
    assert written["fps"] == pytest.approx(59.7 / 24, rel=0.01)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_film(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    encoder = pytest.importorskip("imageio_ffmpeg")
    film(tmp_path / "video")
    (path,) = (tmp_path / "video").glob("*.mp4")
    frames, seconds = encoder.count_frames_and_secs(str(path))
    assert frames >= STEPS + 1
    assert seconds > 1
