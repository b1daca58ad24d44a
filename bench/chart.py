"""How the benches make their charts: without a screen, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def headless_pyplot() -> Any:
    """Matplotlib's pyplot, drawing to files only."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, path: Path) -> None:
    """Writes a figure, makes its folder if need be, and says where it is."""
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"chart: {path}")
