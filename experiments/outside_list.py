"""Stage outside_list: what the monitor says of bugs that another project published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
from pydantic import Field

from failbench import study as st
from failbench.monitor.bounds import read_bounds
from failbench.monitor.history import History
from failbench.monitor.history import Row as Measured
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.records.first_break import diagnose
from failbench.monitor.records.tables import Monitored, histories, read_monitored
from failbench.monitor.signals import Level, signals_of
from failbench.neighbours.outside_list.bugs import STATES, Bug, read_bugs, run_ids

RUNS = Path("data/outside")
BUGS = Path("data/outside/traincheck.csv")
REMEDY = "Run `failbench outside-list`."

LEVELS: tuple[Level, Level] = ("standard", "full")
"""The level that the monitor has by default, and the one that the runs were recorded with."""

DETECTED, APART, STEPS = pl.col("detected"), pl.col("told_apart"), pl.col("steps")
COUNTED: dict[str, tuple[str, pl.Expr]] = {
    "detected": ("Detected", DETECTED),
    "within_one_step": ("Detected within one step", DETECTED & STEPS.le(1)),
    "within_one_check": ("Detected within one check", DETECTED & STEPS.le(pl.col("every"))),
    "told_apart": ("Detected, by an invariant that the twin satisfies", APART),
    "named": ("Detected, and category named", pl.col("named")),
    "told_apart_and_named": ("Such an invariant, and category named", APART & pl.col("named")),
    "twin_alarm": ("Alarm in the healthy twin", pl.col("twin_alarm")),
}
TRAINCHECK = ("traincheck", "within_one_step", 18, 20)
"""Of its bugs, those that TrainCheck detected within one iteration (arXiv 2506.14813)."""


class OutsideListSettings(st.Record):
    """The section ``outside_list`` of params.yaml, with what it takes of ``statistics``."""

    bounds: str | None
    confidence: float = Field(gt=0, lt=1)


def judge(
    monitored: Monitored, bugs: Iterable[Bug], fitted: Mapping[str, Bound], level: Level
) -> pl.DataFrame:
    """What breaks in every re-created bug and in its healthy twin.

    A bug is ``detected`` if something breaks at or after the step in which the fault begins and the
    diagnosis does not abstain, ``told_apart`` if something of that holds in the twin, and ``named``
    if the component is the one that mends it.
    """
    stored = {run["run_id"]: history for run, history in histories(monitored)}
    rows = []
    for bug in (bug for bug in bugs if bug.is_recreated):
        faulty, twin = (
            # of several ranks the one speaks in which something breaks first
            min(
                (diagnose(seen_at(stored, name, level), fitted) for name in run_ids(bug, state)),
                key=lambda said: min((each.step for each in said.breaks), default=float("inf")),
            )
            for state in STATES
        )
        onset = bug.onset or 0
        later = [each for each in faulty.breaks if each.step >= onset]
        first = later[0] if later else None
        in_twin = [each.invariant.id for each in twin.breaks]
        detected = bool(later) and faulty.answer != st.ABSTAIN
        rows.append(
            {
                "level": level,
                "bug": bug.id,
                **bug.model_dump(include={"component", "ranks", "onset"}),
                "answer": faulty.answer,
                "detected": detected,
                "told_apart": detected and any(each.invariant.id not in in_twin for each in later),
                "named": detected and faulty.answer == bug.component,
                "steps": first and first.step - onset,
                "first_broken": first and first.invariant.id,
                "value": first and first.value,
                "twin_answer": twin.answer,
                "twin_broken": " ".join(in_twin) or None,
                "every": stored[run_ids(bug, "faulty")[0]].every,
                "twin_alarm": bool(in_twin) or twin.answer != st.ABSTAIN,
            }
        )
    if not rows:
        raise st.BadInputError(RUNS, "(rows)", "no bug is re-created.", REMEDY)
    return pl.DataFrame(rows, infer_schema_length=None)


def seen_at(stored: Mapping[str, History], name: str, level: Level) -> History:
    """A stored history as a monitor of a lower level would have kept it."""
    history = stored.get(name)
    if history is None:
        raise st.BadInputError(RUNS, "run_id", f"{name!r} is not recorded.", REMEDY)
    if not history.rows or not set(signals_of(level)) <= set(signals_of(history.level)):
        problem = f"{name!r} has no signals of level {level}."
        raise st.BadInputError(RUNS / "signals", "run_id", problem, REMEDY)
    names = {signal.name for signal in signals_of(level)}
    rows = tuple(
        Measured(row.step, {name: value for name, value in row.values.items() if name in names})
        for row in history.rows
    )
    off = {name: reason for name, reason in history.off.items() if name in names}
    return replace(history, level=level, rows=rows, off=off)


def shares(judged: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """How many of the bugs, and of TrainCheck's own as published; Wilson's intervals."""
    counts = [
        (level, metric, part.select(counted.sum()).item(), part.height)
        for (level,), part in judged.group_by("level", maintain_order=True)
        for metric, (_, counted) in COUNTED.items()
    ]
    return pl.DataFrame(
        {"level": level, "metric": metric, "count": count} | st.wilson_row(count / n, n, confidence)
        for level, metric, count, n in (*counts, TRAINCHECK)
    )


def tables(
    judged: pl.DataFrame, found: st.Estimates, bugs: Sequence[Bug], said: st.Captions
) -> Iterator[st.Table]:
    """What was detected, beside what was published, and the list."""
    body = [bug_row(bug, judged.filter(bug=bug.id)) for bug in bugs if bug.is_recreated]
    yield st.sheet("outside_list", body, said)
    totals = [
        (label, *(share_text(found, level, metric) for level in (*LEVELS, "traincheck")))
        for metric, (label, _) in COUNTED.items()
    ]
    yield st.sheet("outside_list_totals", totals, said)
    yield st.sheet("outside_list_bugs", map(listed_row, bugs), said)


def bug_row(bug: Bug, judged: pl.DataFrame) -> tuple[str, ...]:
    texts = [bug.id, bug.title, number(bug.ranks), st.words(bug.component)]
    for row in judged.to_dicts():
        broken = st.words(row["first_broken"] or st.ABSENT)
        texts += [broken, number(row["steps"]), st.words(row["answer"])]
    in_twin = " ".join(judged["twin_broken"].drop_nulls()).split()
    return (*texts, ", ".join(map(st.words, dict.fromkeys(in_twin))) or st.ABSENT)


def share_text(found: st.Estimates, level: str, metric: str) -> str:
    if (level, metric) == ("traincheck", "twin_alarm"):
        return "< 2"
    row = found.row(level=level, metric=metric)
    return st.ABSENT if row is None else f"{row['count']} of {row['n']}: {st.estimate_text(row)}"


def listed_row(bug: Bug) -> tuple[str, ...]:
    what = (bug.id, bug.root_cause, st.words(bug.component), bug.reason, number(bug.onset))
    differs = f"not re-created: {bug.left_out}" if bug.left_out else bug.deviations
    return (*what, bug.traincheck, differs)


def number(value: int | None) -> str:
    return st.ABSENT if value is None else str(value)


def main() -> None:
    settings = st.read_with_statistics("outside_list", OutsideListSettings)
    fitted = {}
    if settings.bounds is not None:
        fitted = read_bounds(Path(settings.bounds), CATALOGUE).intervals()
    monitored, bugs = read_monitored(RUNS), read_bugs(BUGS)
    both = [judge(monitored, bugs, fitted, level) for level in LEVELS]
    judged = pl.concat(both, how="vertical_relaxed")
    found = shares(judged, settings.confidence)
    metrics = st.nest(found, "level", "metric", leaves=(*st.ESTIMATE, "count"))
    named = {"every": judged["every"][0], "listed": len(bugs)}
    said = st.Captions.read("outside_list", metrics, settings, named)
    st.publish(
        "outside_list",
        metrics={level: metrics[level] for level in LEVELS},
        points=judged.drop("every", "twin_alarm"),
        tables=tables(judged, st.Estimates(found), bugs, said),
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=judged.select("level", "bug", "answer", "steps", "first_broken", "twin_broken"),
    )


if __name__ == "__main__":
    st.run(main)
