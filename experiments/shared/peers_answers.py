"""What peers and our own methods say of the same runs, in one form.

A peer is judged on the runs that it was asked about: those that its table of verdicts has a row of.
One that cannot be asked about the reference setting stands for several methods,
``peer:setting``, and ``peer:setting:read`` of those runs that it could read.
"""

import polars as pl

from failbench import study as st
from failbench.diagnose.answer import NAMED
from failbench.neighbours.peers import verdicts as peers
from failbench.neighbours.peers.rules import watched
from shared.peers import RUN_SCHEMA, SAID_SCHEMA

KINDS = ("failure", "twin", "success")

PACKAGE = "failbench_diagnose"
"""Our own tool as users have it: it is not told that a run failed."""

MONITORED = "invariants"
"""The method whose breaks are alarms, too."""

NOTHING, UNREADABLE = "nothing is wrong", "not readable"
"""What a peer says of a run where it reports no issue."""


def runs_of(
    runs: pl.DataFrame, scenarios: tuple[st.Scenario, ...], reference: st.ReferenceStudy
) -> pl.DataFrame:
    """The runs that are compared on: those of the main study, with twins and successes."""
    of_seeds = pl.col("seed").is_in(reference.run_seeds) | (pl.col("kind") == "success")
    taken = runs.filter(reference.runs, pl.col("kind").is_in(KINDS), of_seeds)
    if taken.filter(kind="failure").is_empty():
        problem = f"no failing run of {reference.architecture} is there."
        place = "data/telemetry/runs.parquet"
        raise st.BadInputError(place, "kind", problem, "Restore it with git.")
    return described(taken, scenarios)


def described(runs: pl.DataFrame, scenarios: tuple[st.Scenario, ...]) -> pl.DataFrame:
    """Runs as ``RUN_SCHEMA``."""
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
        raise st.BadInputError("data/scenarios", "id", problem, "Restore it with git.")
    return taken


def of_rules(alarms: pl.DataFrame, runs: pl.DataFrame, factors: tuple[float, ...]) -> pl.DataFrame:
    """What peers with rules say, by the factor of their thresholds."""
    other = pl.format("× {}", "factor")
    other = pl.when(factor=1.0).then(pl.lit(peers.DOCUMENTED)).otherwise(other)
    said = watched(alarms, runs["run_id"], factors)
    return as_said(said, method="peer", choice=other, repeat=pl.lit(0))


def best_formats(verdicts: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Verdicts of the runs, of each peer in the one format that it does best in.

    In which, as documented, it names the most categories of failing runs right: that favours a peer
    that reads several.
    """
    of_runs = verdicts.join(runs, on="run_id", how="semi").sort("peer", "format", "run_id")
    best = (
        peers.recorded_answers(of_runs)
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
    parts = [answered(peers.recorded_answers(verdicts), peers.DOCUMENTED)]
    for peer in verdicts["peer"].unique(maintain_order=True):
        for bound in peers.standards()[peer].bounds:
            by: dict[str, peers.Standard] = {peer: peers.standards()[peer].taken_from(bound)}
            said = peers.recorded_answers(verdicts.filter(peer=peer), by)
            parts.append(answered(said, f"from {bound} on"))
    return pl.concat(parts)


def answered(answers: pl.DataFrame, choice: str) -> pl.DataFrame:
    """What recorded answers say: of a whole run, so that no step is known, and of all checks."""
    checks = {
        peer: float(len(peers.issues_of(peer))) if peers.standards()[peer].checkable else None
        for peer in answers["peer"].unique()
    }
    conditions = pl.col("peer").replace_strict(checks, return_dtype=pl.Float64)
    return as_said(answers, method="peer", choice=pl.lit(choice), conditions=conditions)


def of_methods(predictions: pl.DataFrame, breaks: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """What our own methods say, told that the run failed; of the monitor also when it alarms."""
    is_monitored = MONITORED in set(predictions["method"])
    if is_monitored and breaks.join(runs, on="run_id", how="semi").is_empty():
        place = "data/measurements/invariants/verdicts.parquet"
        problem = "the monitor judged none of the runs by the version of `peers.monitor_version`."
        remedy = "Name one of `monitor.versions` in params.yaml."
        raise st.BadInputError(place, "version", problem, remedy)
    first = breaks.select("run_id", step="first_break").unique()
    alarms = runs.select("run_id", "kind").join(first, on="run_id", how="left")
    is_watched = pl.col("method") == MONITORED
    told = as_said(
        predictions.join(alarms, on="run_id", how="left"),
        detected=pl.when(is_watched).then(pl.col("step").is_not_null()),
        step=pl.when(is_watched).then("step"),
    )
    watching = as_said(
        alarms.filter(pl.col("kind") != "failure"),
        method=pl.lit(MONITORED),
        detected=pl.col("step").is_not_null(),
        prediction=pl.lit(str(st.ABSTAIN)),
    )
    return pl.concat([told, watching] if is_monitored else [told])


def of_package(answers: pl.DataFrame) -> pl.DataFrame:
    """What our own tool says of complete logs; no category where nothing is found."""
    if answers.is_empty():
        place = "data/measurements/diagnose_logs/answers.parquet"
        problem = "no complete log of the reference setting was answered."
        remedy = "Run `dvc repro measure_diagnose_logs`."
        raise st.BadInputError(place, "setting", problem, remedy)
    is_named = pl.col("alarm") & (pl.col("confidence") >= NAMED)
    said = pl.when(is_named).then("prediction").otherwise(pl.lit(str(st.ABSTAIN)))
    return as_said(answers, method=pl.lit(PACKAGE), detected="alarm", prediction=said)


def as_said(table: pl.DataFrame, **columns: pl.Expr | str) -> pl.DataFrame:
    """As ``SAID_SCHEMA``: what is lacking is as documented, of repeat 0, and otherwise null."""
    given = table.with_columns(**columns)
    lacking = {"choice": pl.lit(peers.DOCUMENTED), "repeat": pl.lit(0)}
    return given.select(
        *(
            pl.col(name) if name in given.columns else lacking.get(name, pl.lit(None)).alias(name)
            for name in SAID_SCHEMA
        )
    ).cast(SAID_SCHEMA)


def asked_elsewhere(
    verdicts: pl.DataFrame,
    reference: pl.DataFrame,
    recorded: pl.DataFrame,
    scenarios: tuple[st.Scenario, ...],
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """What peers say that were asked about other settings alone, the runs, and the issues."""
    on_reference = verdicts.join(reference, on="run_id", how="semi").select("peer").unique()
    others = verdicts.join(on_reference, on="peer", how="anti").sort("peer", "format", "run_id")
    unknown = others.join(recorded, on="run_id", how="anti", maintain_order="left")
    if unknown.height:
        peer, run_id = unknown["peer"][0], unknown["run_id"][0]
        problem = f"{peer} was asked about {run_id!r}, which was not recorded."
        raise st.BadInputError("data/peers", "run_id", problem, "Record the peer again.")
    runs = described(recorded.join(others, on="run_id", how="semi"), scenarios)
    taken = (
        best_formats(others, runs)
        .join(runs.select("run_id", "setting", "kind"), on="run_id")
        .with_columns(is_read=pl.col("unreadable").is_null())
        .with_columns(read=pl.col("is_read").sum().over("peer", "setting").cast(pl.Int64))
        .sort("peer", -pl.col("read"), "setting", "run_id")
    )
    said = [pl.DataFrame(schema=SAID_SCHEMA)]
    for (peer, setting), asked in taken.group_by("peer", "setting", maintain_order=True):
        method = f"{peer}:{setting}"
        for name, part in ((method, asked), (f"{method}:read", asked.filter("is_read"))):
            if part.filter(kind="failure").height:
                answers = peers.recorded_answers(part.select(*peers.VERDICT_SCHEMA))
                said.append(answered(answers, peers.DOCUMENTED).with_columns(method=pl.lit(name)))
    return pl.concat(said), runs, issues_said(taken)


def issues_said(taken: pl.DataFrame) -> pl.DataFrame:
    """The issues of each peer and setting, those of most failing runs first."""
    first = pl.col("issues").list.first().fill_null(NOTHING)
    order = taken.select("peer", "setting").unique(maintain_order=True).with_row_index("order")
    return (
        taken.join(order, on=["peer", "setting"])
        .with_columns(issue=pl.when("is_read").then(first).otherwise(pl.lit(UNREADABLE)))
        .group_by("order", "peer", "setting", "issue")
        .agg((pl.col("kind") == kind).sum().cast(pl.Int64).alias(kind) for kind in KINDS)
        .with_columns(is_last=pl.col("issue").is_in([NOTHING, UNREADABLE]))
        .sort("order", "is_last", -pl.col("failure"), -pl.col("twin"), "issue")
        .select("peer", "setting", "issue", *KINDS)
    )
