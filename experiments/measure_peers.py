"""Stage measure_peers: when the documented rules of other tools fire in recorded runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.prediction.slices import ReferenceStudy
from failbench.stage import print_table, read_section, run
from failbench.studies.peers.measure import measure
from failbench.studies.peers.settings import PeersStudy
from failbench.telemetry import read_telemetry, write_parquet

TELEMETRY = Path("data/telemetry")
ALARMS = Path("data/measurements/peers/alarms.parquet")
SKILL = Path("data/measurements/peers/skill.parquet")


def main() -> None:
    settings = read_section("peers", PeersStudy)
    reference = read_section("nested_cv", ReferenceStudy)
    measured = measure(read_telemetry(TELEMETRY), reference, settings.factors)
    ALARMS.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(measured.alarms, ALARMS)
    write_parquet(measured.skill, SKILL)
    fired = measured.alarms.filter(factor=1.0).group_by("peer", maintain_order=True)
    print_table(("peer", "runs"), fired.agg(pl.col("run_id").n_unique()).sort("peer").rows())


if __name__ == "__main__":
    run(main)
