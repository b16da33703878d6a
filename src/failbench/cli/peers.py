"""The command ``peers``: ask other tools about the logs of recorded runs."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from failbench.base.params import read_section
from failbench.cli.terminal import INTERRUPTED, progress_meter


def ask_peers(*, telemetry: Path, output: Path) -> int:
    """Ask every tool about the runs of the reference setting, and keep what it says."""
    import polars as pl

    from failbench.base.slices import ReferenceStudy
    from failbench.base.telemetry import read_telemetry
    from failbench.neighbours.peers.recorder import record_peers

    study = read_section("nested_cv", ReferenceStudy)
    selected = read_telemetry(telemetry).select(
        (pl.col("architecture") == study.architecture)
        & (pl.col("optimizer") == study.optimizer)
        & (pl.col("scale") == study.scale)
    )
    started = time.monotonic()
    try:
        with progress_meter() as meter:

            def show(done: int, total: int) -> None:
                seconds = (time.monotonic() - started) / max(done, 1) * (total - done)
                meter.show("asking", done, total, seconds if done < total else None)

            record_peers(output, selected, show)
    except KeyboardInterrupt:
        print("Stopped; what was asked is kept.", file=sys.stderr)
        return INTERRUPTED
    return 0
