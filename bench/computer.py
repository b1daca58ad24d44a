"""What the benches say of the computer they ran on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def computer() -> str:
    """Processor, cores, system and Python in a line."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    return (
        f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    )
