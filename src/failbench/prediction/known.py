"""Known: what the monitor knew of runs, put beside their features for the methods that read it.

Features stay as they are, and methods on features do not see the columns that are added. Runs that
no monitor watched have none, and are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.known_columns import COURSE_KEYS, LOGIC, OWN, UNENDED
from failbench.features.feature_table import split_snapshot_ids


@dataclass(frozen=True)
class Known:
    """What the monitor knew of runs, and when."""

    course: pl.DataFrame

    def beside(
        self, features: pl.DataFrame, bounds: str = OWN, left_out: str | None = None
    ) -> pl.DataFrame:
        """Features of runs, and what was known when they failed."""
        left = pl.col("architecture") == pl.lit(left_out, pl.String)
        keys = features.select(
            "run_id", bounds=pl.when(left).then(pl.lit(LOGIC)).otherwise(pl.lit(bounds))
        )
        whole = self.course.filter(pl.col("step").is_null())
        return _joined(features, keys.join(whole, on=["run_id", "bounds"], how="inner"))

    def beside_cuts(self, features: pl.DataFrame, cuts: pl.DataFrame) -> pl.DataFrame:
        """Features of runs that are cut, and what was known of their logs by then."""
        of_run = self.course.filter(pl.col("bounds") == OWN).rename({"run_id": "run"})
        ended = of_run.filter(pl.col("step").is_null(), ~pl.col("end_kind").is_in(UNENDED))
        at_end = cuts.filter("at_failure").join(ended, on="run", how="inner")
        living = cuts.join(at_end.select("run_id"), on="run_id", how="anti").cast(
            {"last_step": pl.Int32}
        )
        by_then = living.sort("last_step").join_asof(
            of_run.drop_nulls("step").sort("step"),
            left_on="last_step",
            right_on="step",
            by="run",
            strategy="backward",
            check_sortedness=False,  # both are sorted here, which cannot be checked by run
        )
        columns = ["run_id", *of_run.columns]
        known = pl.concat([at_end.select(columns), by_then.select(columns)])
        return _joined(features, known.drop_nulls("answer").drop("run"))

    def beside_snapshots(self, snapshots: pl.DataFrame) -> pl.DataFrame:
        """The same for snapshots of running trainings, whose ``run_id`` names run and step."""
        cuts = split_snapshot_ids(snapshots).select(
            "run_id", "run", last_step="step", at_failure=pl.lit(value=False)
        )
        return self.beside_cuts(snapshots, cuts)


def _joined(features: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Features with what is known of every row."""
    unknown = features.join(known, on="run_id", how="anti").sort("run_id")
    if unknown.height:
        raise BadInputError(
            "data/features/known.parquet",
            "run_id",
            f"has nothing of {unknown['run_id'][0]!r} and {unknown.height - 1} other runs: no "
            "monitor watched them, or their half of the scenarios is not judged.",
            "Run `failbench record --signals full`, name both halves in monitor.halves of "
            "params.yaml, and run `dvc repro known`; or take the methods that read it out of "
            "`methods`.",
        )
    columns = known.drop(set(COURSE_KEYS) - {"run_id"})
    return features.join(columns, on="run_id", how="left", maintain_order="left")
