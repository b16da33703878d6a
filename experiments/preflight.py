"""Stage preflight: which crashes are foreseen before a step, in the runs of the benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from pydantic import Field
from scipy.stats import linregress

from failbench import study as st
from failbench.causes.catalogue import cause_of_scenario, causes
from failbench.preflight.records.answers import LOOKS, REMEDY, Look, read_answers
from recordings import read_recordings

ANSWERS = Path("data/preflight/answers.parquet")
TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")

SEED = 0
"""Of the runs that preflights looked at."""

LEAVES = ("value", "ci_low", "ci_high", "count", "n")
COUNTED = ("foreseen", "right_category", "right_cause", "right_text")
EARLY: tuple[Look, Look] = ("start", "onset")
"""Looks that every run has."""

LOOK_LABELS: dict[Look, str] = {
    "start": "Before step 0",
    "onset": "Before the onset",
    "failure": "Before the crash",
}
SEVERITIES = {"crash": "will crash", "failure": "cannot work", "warning": "look at this"}
"""Those that are more than a note."""

WORST = pl.col("severities").list.first()
SAID = {
    name: WORST.is_in(severities).fill_null(value=False)
    for name, severities in (
        ("foreseen", ["crash"]),
        ("severe", ["crash", "failure"]),
        ("said", [*SEVERITIES]),
    )
}
"""Whether the worst finding, which comes first, is as severe."""

REFUSED = "can't allocate memory|Cannot allocate memory"
"""What the allocator and the system say where memory is refused."""

DECIMALS = 2
"""Of the slope of the margin: what is added follows from the rounded one."""


class PreflightSettings(st.Record):
    """The section ``preflight`` of params.yaml, with what it takes of ``statistics``."""

    quantile: float = Field(gt=0, lt=1)
    confidence: float = Field(gt=0, lt=1)


def looks_of(
    answers: pl.DataFrame,
    recorded: st.Telemetry,
    scenarios: Sequence[st.Scenario],
    reference: st.ReferenceStudy,
) -> pl.DataFrame:
    """Every look at a failing run or its twin, with what was said, and whether that is right."""
    cause_of = cause_of_scenario()
    truth = pl.DataFrame(
        [(each.id, each.category, cause_of[each.id], each.fault.onset) for each in scenarios],
        ["scenario", "category", "cause", "begins"],
        orient="row",
    )
    columns = ("scenario", "run_id", "ending", "error_message", "failure_step")
    runs = reference.with_seed(SEED).failures(recorded.runs)
    runs = runs.select(*columns, raised="error_type", run=pl.lit("failing"))
    twins = runs.with_columns(pl.format("{}-twin", "run_id"), run=pl.lit("twin"))
    both = pl.concat([runs, twins]).sort("scenario", "run").join(truth, on="scenario")
    for name in both.join(answers, on="run_id", how="anti")["run_id"]:
        raise st.BadInputError(ANSWERS, "run_id", f"{name!r} has no answer.", REMEDY)
    if not (runs["ending"] == "exception").any():
        raise st.BadInputError(ANSWERS, "(rows)", "no run of them crashes.", REMEDY)
    return judged(both.join(answers, on="run_id", maintain_order="left_right"))


def judged(looks: pl.DataFrame) -> pl.DataFrame:
    """What the findings say, and whether that is right."""
    named, error = (pl.col(name).list.first() for name in ("causes", "errors"))
    categories = {each.id: each.category for each in causes().values()}
    raised = pl.format("{}: {}", pl.col("raised").str.split(".").list.last(), "error_message")
    refused = pl.col("error_message").str.contains(REFUSED)
    said, failing = pl.struct("severities", "causes"), pl.col("run") == "failing"
    looks = looks.with_columns(
        **SAID,
        worst=pl.when(SAID["said"]).then(WORST),
        worst_cause=named,
        all_causes=said.map_elements(causes_named, return_dtype=pl.List(pl.String)),
        crashes=failing & (pl.col("ending") == "exception"),
        kind=pl.when(refused).then(pl.lit("out of memory")).otherwise("raised"),
    )
    right = {
        "right_category": named.replace_strict(categories, default=None) == pl.col("category"),
        "right_cause": named == pl.col("cause"),
        "right_text": error == raised,
    }
    counted = failing & pl.col("foreseen")
    return looks.with_columns(
        **{name: counted & each.fill_null(value=False) for name, each in right.items()}
    )


def causes_named(findings: dict[str, list[str]]) -> list[str]:
    """The root causes of those findings that are more than a note."""
    both = zip(findings["severities"], findings["causes"], strict=True)
    return [*dict.fromkeys(cause for severity, cause in both if severity in SEVERITIES and cause)]


def healthy_answers(
    answers: pl.DataFrame, recorded: st.Telemetry, reference: st.ReferenceStudy
) -> pl.DataFrame:
    """Healthy runs: what was estimated before their first step, and their measured peak."""
    runs = reference.successes(recorded.runs).select("run_id")
    peaks = recorded.steps.group_by("run_id").agg(measured_bytes=pl.col("memory_bytes").max())
    found = answers.join(runs, on="run_id", how="semi").join(peaks, on="run_id").sort("run_id")
    ratio = pl.col("measured_bytes") / pl.col("estimated_bytes")
    found = found.with_columns(ratio=ratio, **SAID)
    if found.is_empty() or found["ratio"].null_count():
        raise st.BadInputError(ANSWERS, "estimated_bytes", "a healthy run has none.", REMEDY)
    return found


def estimates(
    looks: pl.DataFrame, healthy: pl.DataFrame, settings: PreflightSettings
) -> Iterator[dict[str, Any]]:
    """Crashes foreseen, alarms where nothing crashes, what looks take, and memory."""
    shares = partial(shares_of, settings.confidence)
    for (key, group), look in product(groups(looks.filter("crashes")), LOOKS):
        counts = {name: group.filter(look=look)[name].sum() for name in COUNTED}
        yield from shares(counts, group["scenario"].n_unique(), "crashes", key, look=look)

    failing, twins = looks.filter(run="failing"), looks.filter(run="twin")
    others = failing.filter(~pl.col("crashes"))
    for key, look, said in (
        *(("twins", look, twins.filter("reached", look=look)) for look in EARLY),
        *(("failing, without a crash", look, others.filter(look=look)) for look in EARLY),
        ("healthy, of other draws", "start", healthy),
    ):
        counts = {"crash": said["foreseen"].sum()}
        counts |= {name: said[name].sum() for name in ("severe", "said")}
        if key.startswith("failing"):
            counts["named"] = said["all_causes"].list.contains(said["cause"]).sum()
        yield from shares(counts, said.height, "alarms", f"{key}, {LOOK_LABELS[look]}")
    of_twin = twins.group_by("scenario").agg(pl.col("foreseen").any())
    yield from shares({"crash": of_twin["foreseen"].sum()}, of_twin.height, "any_look", "twins")

    in_steps = (pl.col("seconds") / pl.col("step_seconds")).alias("in_steps")
    timed = failing.with_columns(pl.when(pl.col("step_seconds") > 0).then(in_steps))
    first, later = timed.filter(look="start"), timed.filter(pl.col("step") > 0, look="onset")
    for key, those in (("The first of a process", first), ("A later one", later)):
        yield spread(key, "seconds", those["seconds"])
        yield spread(key, "steps of the run", those["in_steps"])
    yield spread("Measured memory", "times the estimate", healthy["ratio"])
    factor, added = margin_line(healthy, settings.quantile)
    for metric, value in (("factor", factor), ("added_mebibytes", added / 2**20)):
        keys = {"part": "line", "key": "memory", "metric": metric}
        yield {**keys, "value": value, "n": healthy.height}


def groups(crashing: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """All crashes, those of the first step and later ones, and each kind of exception."""
    onset = crashing.filter(look="onset").select("scenario", onset="step")
    timed, at = crashing.join(onset, on="scenario", maintain_order="left"), pl.col("failure_step")
    yield "all", timed
    yield "in the first step", timed.filter(at == 0)
    yield "in the step of a later onset", timed.filter(at > 0, at == pl.col("onset"))
    yield "later than their onset", timed.filter(at > pl.col("onset"))
    for kind in sorted(timed["kind"].unique(), key=str.lower):
        yield kind, timed.filter(kind=kind)


def shares_of(
    confidence: float, counts: Mapping[str, Any], n: int, part: str, key: str, **keys: str
) -> Iterator[dict[str, Any]]:
    """Shares with Wilson's intervals; none of nothing."""
    for metric, count in counts.items() if n else ():
        share = st.wilson_row(count / n, n, confidence)
        yield {"part": part, "key": key, **keys, "metric": metric, "count": count, **share}


def spread(key: str, metric: str, values: pl.Series) -> dict[str, Any]:
    """A median with the middle half."""
    known = values.drop_nulls()
    low, median, high = (float(each) for each in np.quantile(known, (0.25, 0.5, 0.75)))
    keys = {"part": "costs", "key": key, "metric": metric}
    return {**keys, "value": median, "ci_low": low, "ci_high": high, "n": len(known)}


def margin_line(healthy: pl.DataFrame, quantile: float) -> tuple[float, float]:
    """The line that the margin of a warning is; see :class:`failbench.preflight.memory.Margin`."""
    estimated = healthy["estimated_bytes"].to_numpy().astype(float)
    measured = healthy["measured_bytes"].to_numpy().astype(float)
    factor = round(float(linregress(estimated, measured).slope), DECIMALS)
    return factor, float(np.quantile(measured - factor * estimated, quantile))


def numbers(looks: pl.DataFrame, answers: pl.DataFrame, runs: pl.DataFrame) -> dict[str, object]:
    onset, last = (looks.filter("crashes", look=look) for look in ("onset", "failure"))
    unreached = last.filter(~pl.col("reached"), pl.col("compared_steps") < pl.col("step"))
    compared = answers.filter(pl.col("compared_steps") > 0).unique("run_id")
    scope = st.Scope.of(runs.join(answers, on="run_id", how="semi").filter(kind="failure"))
    return {
        "runs": scope.runs,
        "scenarios": scope.scenarios,
        "setting": scope.setting,
        "seed": SEED,
        "equal": int(compared["equal"].sum()),
        "compared": compared.height,
        "at_once": onset.filter(pl.col("failure_step") == pl.col("step")).height,
        "sooner": unreached.height,
        "later": last["error_type"].null_count(),
        "in_mid_run": onset.filter(begins="mid_run").height,
    }


def tables(found: st.Estimates, looks: pl.DataFrame, said: st.Captions) -> Iterator[st.Table]:
    """Crashes foreseen, alarms where nothing crashes, every crash, and what looks take."""
    crashes = found.where(part="crashes")

    def right(key: str, look: Look) -> str:
        counts = [crashes.row(key=key, look=look, metric=name) for name in COUNTED[1:3]]
        return " / ".join(f"{each['count']:.0f}" for each in counts if each)

    body = [
        st.Row((key, *(right(key, look) for look in LOOKS)), {"key": key})
        for key in crashes.distinct("key")
    ]
    yield st.table("preflight", crashes, None, body, said)

    alarms = found.where(part="alarms")
    body = [st.Row(tuple(key.rsplit(", ", 1)), {"key": key}) for key in alarms.distinct("key")]
    yield st.table("preflight_alarms", alarms, None, body, said)

    texts = []
    for _, group in looks.filter("crashes").group_by("scenario", maintain_order=True):
        worst = {row["look"]: worst_of(row) for row in group.to_dicts()}
        run = group.row(0, named=True)
        raised = f"{run['kind']}, step {run['failure_step']}"
        said_before = (worst.get(look, st.ABSENT) for look in LOOKS)
        texts.append((st.words(run["scenario"]), raised, st.words(run["cause"]), *said_before))
    yield st.sheet("preflight_scenarios", texts, said)

    costs = found.where(part="costs")
    pairs = costs.frame.select("key", "metric").rows()
    body = [st.Row(pair, {"key": pair[0], "metric": pair[1]}) for pair in pairs]
    yield st.table("preflight_costs", costs, None, body, said)


def worst_of(look: dict[str, Any]) -> str:
    if not look["reached"]:
        return "not reached"
    if not look["said"]:
        return "nothing"
    named = f": {st.words(look['worst_cause'])}" if look["worst_cause"] else ""
    return SEVERITIES[look["worst"]] + named


MARKS = {
    "start": st.Mark(LOOK_LABELS["start"].lower(), st.BLUE, "s"),
    "onset": st.Mark(LOOK_LABELS["onset"].lower(), st.ORANGE, "^"),
    "failure": st.Mark(LOOK_LABELS["failure"].lower(), st.VERMILLION, "o"),
}


def draw(foreseen: pl.DataFrame, rows: Mapping[str, str], figure: Figure) -> None:
    """Shares of crashes that are foreseen, a row for each time of the crash."""
    axes = figure.subplots()
    drawn = foreseen.rename({"key": "row", "look": "mark"})
    st.dot_plot(axes, drawn, rows, MARKS, heavy_above=("in the first step",))
    axes.set(xlim=(-3, 103), xlabel="crashes foreseen, percent")
    st.legend_outside(figure, MARKS.values(), columns=2)


def main() -> None:
    settings = st.read_with_statistics("preflight", PreflightSettings)
    reference = st.read_section("nested_cv", st.ReferenceStudy)
    answers = read_answers(ANSWERS)
    recorded, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    looks = looks_of(answers, recorded, scenarios, reference)
    healthy = healthy_answers(answers, recorded, reference)
    rows = estimates(looks, healthy, settings)
    found = st.Estimates(pl.DataFrame([*rows], infer_schema_length=None))
    nested = {
        part: st.nest(
            found.where(part=part).frame,
            *(("key", "look", "metric") if part == "crashes" else ("key", "metric")),
            leaves=LEAVES,
        )
        for part in found.distinct("part")
    }
    said = st.Captions.read("preflight", settings, nested, numbers(looks, answers, recorded.runs))
    foreseen = found.where(part="crashes", metric="foreseen").frame
    drawing = partial(draw, foreseen, said.labels("figure"))
    causes_said = pl.col("all_causes").list.join(" ").replace("", None).alias("causes")
    columns = ("scenario", "run", "look", "step", "crashes", "reached", *COUNTED, "worst")
    st.publish(
        "preflight",
        metrics={"crashes": nested["crashes"], "alarms": nested["alarms"], **nested["line"]},
        points=looks.select(*columns, causes_said),
        tables=tables(found, looks, said),
        figures={"preflight": said.picture("figure", 2.3, drawing, st.HALF_WIDTH)},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=foreseen.select("key", "look", "count", "n"),
    )


if __name__ == "__main__":
    st.run(main)
