"""Archive: writes recorded runs into the committed tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base.telemetry import STEP_SCHEMA, Telemetry, read_telemetry, write_parquet
from failbench.recording.plan import Setting


def read_known(folder: Path) -> Telemetry | None:
    """The runs recorded before, or None for an empty folder."""
    return read_telemetry(folder) if (folder / "runs.parquet").exists() else None


def of_setting(setting: Setting) -> pl.Expr:
    """Whether a run belongs to a setting."""
    return (
        (pl.col("architecture") == setting.architecture)
        & (pl.col("optimizer") == setting.optimizer)
        & (pl.col("scale") == setting.scale)
    )


def archive(folder: Path, setting: Setting, recorded: Telemetry, whole: bool) -> Telemetry:
    """Write recorded runs into ``folder``, in addition to its runs."""
    known = read_known(folder)
    runs, steps = recorded.runs, recorded.steps
    if known is not None:
        replaced = (
            of_setting(setting)
            if whole
            else pl.col("run_id").is_in(recorded.runs["run_id"].to_list())
        )
        kept = known.select(~replaced)
        runs = pl.concat([kept.runs, runs]).sort("run_id")
        steps = pl.concat([kept.steps, steps]).sort("run_id", "step")
    setting_runs = runs.filter(of_setting(setting)).select("run_id")
    write_parquet(
        pl.concat([STEP_SCHEMA.to_frame(), steps.join(setting_runs, on="run_id", how="semi")]),
        folder / "steps" / f"{setting.name}.parquet",
    )
    write_parquet(runs, folder / "runs.parquet")
    return Telemetry(runs, steps)
