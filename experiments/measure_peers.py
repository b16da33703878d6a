"""Stage measure_peers: when the documented rules of other tools fire in recorded runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.neighbours.peers.rules import alarm_table
from failbench.neighbours.peers.skill import skill_verdicts
from shared.peers import PeersStudy

TELEMETRY = Path("data/telemetry")
ALARMS = Path("data/measurements/peers/alarms.parquet")
SKILL = Path("data/measurements/peers/skill.parquet")


def main() -> None:
    """Hold all rules against all runs of the reference setting but remedies."""
    settings = st.read_section("peers", PeersStudy)
    reference = st.read_section("nested_cv", st.ReferenceStudy)
    selected = st.read_telemetry(TELEMETRY).select(
        (pl.col("architecture") == reference.architecture)
        & (pl.col("optimizer") == reference.optimizer)
        & (pl.col("scale") == reference.scale)
        & (pl.col("kind") != "remedy")
    )
    alarms = alarm_table(selected, settings.factors)
    skill = skill_verdicts(selected.steps, selected.runs["run_id"])
    ALARMS.parent.mkdir(parents=True, exist_ok=True)
    st.write_parquet(alarms, ALARMS)
    st.write_parquet(skill, SKILL)
    fired = alarms.filter(factor=1.0).group_by("peer", maintain_order=True)
    st.print_table(("peer", "runs"), fired.agg(pl.col("run_id").n_unique()).sort("peer").rows())


if __name__ == "__main__":
    st.run(main)
