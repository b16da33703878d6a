"""Said: what peers and our own methods say of the same runs, in one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.peers.alarms import watched
from failbench.peers.answers import recorded_answers
from failbench.peers.mapping import issues_of
from failbench.peers.standards import Standard, standards
from failbench.prediction.slices import ReferenceStudy
from failbench.scenarios import Scenario
from failbench.studies.peers.schemas import DOCUMENTED, RUN_SCHEMA, SAID_SCHEMA
from failbench.studies.peers.settings import PeersStudy
from failbench.vocabulary import ABSTAIN

KINDS: Final = ("failure", "twin", "success")

PACKAGE: Final = "failbench_diagnose"
"""Our own tool as users have it: it is not told that a run failed."""

MONITORED: Final = "invariants"
"""The method whose breaks are alarms, too."""


def runs_of(
    runs: pl.DataFrame, scenarios: tuple[Scenario, ...], reference: ReferenceStudy
) -> pl.DataFrame:
    """The runs that are compared on: those of the main study, with twins and successes."""
    of_seeds = pl.col("seed").is_in(reference.run_seeds) | (pl.col("kind") == "success")
    taken = described(
        runs.filter(
            pl.col("architecture") == reference.architecture,
            pl.col("optimizer") == reference.optimizer,
            pl.col("scale") == reference.scale,
            pl.col("kind").is_in(KINDS),
            of_seeds,
        ),
        scenarios,
    )
    if taken.filter(kind="failure").is_empty():
        problem = f"no failing run of {reference.architecture} is there."
        raise BadInputError("data/telemetry/runs.parquet", "kind", problem, "Restore it with git.")
    return taken


def described(runs: pl.DataFrame, scenarios: tuple[Scenario, ...]) -> pl.DataFrame:
    """What the study reads of runs."""
    categories = {scenario.id: str(scenario.category) for scenario in scenarios}
    taken = (
        runs.with_columns(
            setting=pl.concat_str("architecture", "optimizer", separator="-"),
            category=pl.col("scenario").replace_strict(categories, default=None),
            ends_itself=pl.col("ending") != "completed",
        )
        .select(*RUN_SCHEMA)
        .cast(RUN_SCHEMA)
        .sort("run_id")
    )
    undefined = taken.filter(pl.col("scenario").is_not_null(), pl.col("category").is_null())
    if undefined.height:
        problem = f"{undefined['scenario'][0]!r} was recorded and is not defined."
        raise BadInputError("data/scenarios", "id", problem, "Restore it with git.")
    return taken


def of_rules(alarms: pl.DataFrame, runs: pl.DataFrame, settings: PeersStudy) -> pl.DataFrame:
    """What peers with rules say, by the factor of their thresholds."""
    choice = (
        pl.when(pl.col("factor") == 1.0)
        .then(pl.lit(DOCUMENTED))
        .otherwise(pl.format("× {}", "factor"))
    )
    said = watched(alarms, runs["run_id"], settings.factors)
    return _said(
        said.with_columns(
            method="peer", choice=choice, repeat=pl.lit(0), conditions=pl.col("conditions")
        )
    )


def best_formats(verdicts: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Verdicts of the runs, of each peer in the one format that it does best in.

    In which, as documented, it names the most categories of failing runs right: that favours a peer
    that reads several.
    """
    of_runs = verdicts.join(runs, on="run_id", how="semi").sort("peer", "format", "run_id")
    best = (
        recorded_answers(of_runs)
        .join(runs.filter(kind="failure"), on="run_id")
        .group_by("peer", "format")
        .agg(right=(pl.col("prediction") == pl.col("category")).mean())
        .sort("peer", "right", "format")
        .group_by("peer", maintain_order=True)
        .agg(pl.col("format").last())
    )
    return of_runs.join(best, on=["peer", "format"], how="semi", maintain_order="left")


def of_recorded(verdicts: pl.DataFrame) -> pl.DataFrame:
    """What peers say whose verdicts were recorded, by the bound from which they are taken."""
    parts = [answered(recorded_answers(verdicts), DOCUMENTED)]
    for peer in verdicts["peer"].unique(maintain_order=True):
        standard = standards()[peer]
        of_peer = verdicts.filter(peer=peer)
        for bound in standard.bounds:
            by: Mapping[str, Standard] = {peer: standard.taken_from(bound)}
            parts.append(answered(recorded_answers(of_peer, by), f"from {bound} on"))
    return pl.concat(parts)


def of_methods(predictions: pl.DataFrame, breaks: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """What our own methods say, told that the run failed; of the monitor also when it alarms."""
    is_monitored = MONITORED in set(predictions["method"])
    if is_monitored and breaks.join(runs, on="run_id", how="semi").is_empty():
        raise BadInputError(
            "data/measurements/invariants/verdicts.parquet",
            "version",
            "the monitor judged none of the runs by the version of `peers.monitor_version`.",
            "Name one of `monitor.versions` in params.yaml.",
        )
    first = breaks.select("run_id", "first_break").unique()
    alarms = runs.select("run_id").join(first, on="run_id", how="left")
    answered = predictions.join(alarms, on="run_id", how="left").with_columns(
        is_watched=pl.col("method") == MONITORED
    )
    failing = answered.with_columns(
        choice=pl.lit(DOCUMENTED),
        detected=pl.when("is_watched").then(pl.col("first_break").is_not_null()),
        step=pl.when("is_watched").then("first_break"),
    )
    healthy = alarms.join(runs.filter(pl.col("kind") != "failure"), on="run_id", how="semi")
    watching = healthy.with_columns(
        method=pl.lit(MONITORED),
        choice=pl.lit(DOCUMENTED),
        repeat=pl.lit(0),
        detected=pl.col("first_break").is_not_null(),
        step="first_break",
        prediction=pl.lit(str(ABSTAIN)),
        conditions=pl.lit(None),
    )
    return pl.concat([_said(failing), *([_said(watching)] if is_monitored else [])])


def of_package(answers: pl.DataFrame, named_from: float) -> pl.DataFrame:
    """What our own tool says of complete logs; no category where nothing is found."""
    if answers.is_empty():
        raise BadInputError(
            "data/measurements/diagnose_logs/answers.parquet",
            "setting",
            "no complete log of the reference setting was answered.",
            "Run `dvc repro measure_diagnose_logs`.",
        )
    is_named = pl.col("alarm") & (pl.col("confidence") >= named_from)
    return _said(
        answers.with_columns(
            method=pl.lit(PACKAGE),
            choice=pl.lit(DOCUMENTED),
            detected="alarm",
            step=pl.lit(None),
            prediction=pl.when(is_named).then("prediction").otherwise(pl.lit(str(ABSTAIN))),
            conditions=pl.lit(None),
        )
    )


def answered(answers: pl.DataFrame, choice: str) -> pl.DataFrame:
    """What recorded answers say: of a whole run, so that no step is known, and of all checks."""
    checks = {
        peer: float(len(issues_of(peer))) if standards()[peer].checkable else None
        for peer in answers["peer"].unique()
    }
    return _said(
        answers.with_columns(
            method="peer",
            choice=pl.lit(choice),
            repeat=pl.lit(0),
            step=pl.lit(None),
            conditions=pl.col("peer").replace_strict(checks, return_dtype=pl.Float64),
        )
    )


def _said(table: pl.DataFrame) -> pl.DataFrame:
    return table.select(*SAID_SCHEMA).cast(SAID_SCHEMA)
