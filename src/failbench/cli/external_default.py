"""Make the compact copy of the tables that the authors of DEFault released."""

from __future__ import annotations

from pathlib import Path

from failbench.cli.paths import EXTERNAL_DEFAULT
from failbench.neighbours.external.released import copy_released


def copy_external_default(folder: Path, output: Path = EXTERNAL_DEFAULT) -> int:
    """Check the released CSV files against their hashes, and write them as parquet."""
    for path in copy_released(folder, output):
        print(path)
    return 0
