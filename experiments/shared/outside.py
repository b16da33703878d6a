"""What is reported of the logs of others: ours beside parts of it and other tools, and looks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
import polars as pl

from failbench import study as st
from failbench.base.arrays import Array
from failbench.base.records import read_rows
from failbench.causes.catalogue import causes
from failbench.diagnose.answer import NAMED, Level, level_of
from failbench.field import looks
from failbench.field.programs import read_programs
from failbench.field.reports import INDEX, Report
from failbench.statistics.bootstrap import Interval, resampled_interval, single_seeds
from shared.diagnose_logs import (
    ALL,
    BENCHMARK,
    CURVES,
    MESSAGES,
    OUTSIDE_SCHEMA,
    WITHOUT_MESSAGES,
    WITHOUT_WORDS,
    WORDS,
)

COMMONEST: Final = "commonest"
FINE: Final = pl.col("category").is_null()
COMMITTED: Final = pl.col("prediction") != st.ABSTAIN
CAUSE_RIGHT: Final = pl.col("predicted_cause") == pl.col("cause")
RIGHT: Final = "probability that the category of a log of a new scenario is right"
RIGHT_CAUSE: Final = (
    "probability that the root cause that is named, of the category named, is right"
)
NAMES_IT: Final = "probability that a category is named of it"
FOUND: Final = "probability that something is found in it"
FINE_IT_IS: Final = "probability that a run is healthy in whose log nothing is found"
FIRST_PARTING: Final = "share of the log at which a curve parts first, median and quartiles"
# what a part of the evidence, or of what was learnt, is held against: all of it
PARTS: Final = (BENCHMARK, WITHOUT_WORDS, WITHOUT_MESSAGES, WORDS, CURVES, MESSAGES)
SURE: Final = 0.8  # probability of health from which a run is called surely healthy
CORPORA: Final = {"field": "Programs of the field", "reports": "Public reports"}
PAIRED: Final = {"field": CORPORA["field"], "benchmark": "The benchmark's complete logs"}
SHOWN: Final = 10  # wrong answers
LESSONS: Final = "lessons.csv"  # why they were wrong, by a person; shown where they still are
_LESSONS: Final = pl.Schema({"log": pl.String(), "why": pl.String()})
_WRONG: Final = (
    "corpus", "log", "source", "category", "sentence", "prediction", "confidence",
    "predicted_cause", "why",
)  # fmt: skip
_RESTORE: Final = "Restore it with `git checkout`."


def with_others(answers: pl.DataFrame, peers: pl.DataFrame) -> pl.DataFrame:
    """Our answers, those of other tools to the same logs, and the commonest category of each."""
    logs = answers.filter(learnt=ALL)
    facts = logs.select("corpus", "log", "group", "part", "category", "cause")
    said = peers.select("corpus", "log", "prediction", learnt="peer", alarm="detected")
    commonest = logs.filter(~FINE).with_columns(
        pl.col("category").mode().sort().first().over("corpus").alias("prediction"),
        learnt=pl.lit(COMMONEST), alarm=None, confidence=None,
    )  # fmt: skip
    added = pl.concat([facts.join(said, on=["corpus", "log"]), commonest], how="diagonal_relaxed")
    # words name a category, and nothing else is of them alone
    own = ("alarm", "confidence", "predicted_cause")
    known = pl.col("learnt") != WORDS
    ours = answers.with_columns(pl.when(known).then(name).alias(name) for name in own)
    return pl.concat([ours, added], how="diagonal_relaxed").select(*OUTSIDE_SCHEMA)


def outside_table(answers: pl.DataFrame, intervals: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """Rates on what others wrote, by what is learnt or asked, each log a unit."""
    parts, confidence = [], intervals.confidence
    for (learnt, corpus), logs in answers.group_by("learnt", "corpus", maintain_order=True):
        group, fine = logs.filter(~FINE), logs.filter(FINE).drop_nulls("alarm")
        known = group.drop_nulls(["cause", "predicted_cause"])
        among = pl.col("cause").is_in(pl.col("next_causes"))
        columns = [
            ("accuracy", group, st.right(), f"{RIGHT}, of one left out"),
            *(
                (f"accuracy_{part}", group.filter(part=part), st.right(), f"{RIGHT}: {part}")
                for part in sorted(group["part"].unique())
            ),
            ("named", group, COMMITTED, NAMES_IT),
            ("named_accuracy", group.filter(COMMITTED), st.right(), f"{RIGHT}, given one is named"),
            ("cause_accuracy", known, CAUSE_RIGHT, RIGHT_CAUSE),
            ("among_three", known, among, f"{RIGHT_CAUSE}, or one of the next two"),
            ("alarm", fine, pl.col("alarm"), FOUND),
        ]
        quiet = logs.drop_nulls("healthy").filter(alarm=False)
        is_sure = pl.col("healthy") >= SURE
        columns += [
            ("healthy_sure", quiet.filter(is_sure), FINE, FINE_IT_IS),
            ("healthy_unsure", quiet.filter(~is_sure), FINE, FINE_IT_IS),
        ]
        sure = group.drop_nulls("confidence")
        for level in get_args(Level):
            stated = sure["confidence"].map_elements(level_of, pl.String) == level
            named = f"{RIGHT}, at a confidence that is {level}"
            columns.append((f"accuracy_{level}", sure.filter(stated), st.right(), named))
        parts.append(_rates(columns, "log", confidence, learnt=learnt, corpus=corpus))
    return pl.concat([*parts, *_gains(answers, intervals)])


def _gains(answers: pl.DataFrame, intervals: st.ScenarioIntervalSettings) -> Iterator[pl.DataFrame]:
    """How much more often the whole is right than a part of it, on the same logs."""
    failing = answers.filter(~FINE).with_columns(right=st.right().cast(pl.Float64))
    whole = failing.filter(learnt=ALL).select("corpus", "log", whole="right")
    for (learnt, corpus), logs in failing.group_by("learnt", "corpus", maintain_order=True):
        if learnt not in PARTS:
            continue
        rows = logs.join(whole, on=["corpus", "log"]).sort("log")
        kinds = {"": rows} | {
            f"_{part}": rows.filter(part=part) for part in sorted(rows["part"].unique())
        }
        found = {f"gain{name}": _gain(each, intervals) for name, each in kinds.items()}
        yield st.estimate_rows(found, learnt=learnt, corpus=corpus)


def _gain(rows: pl.DataFrame, intervals: st.ScenarioIntervalSettings) -> Interval:
    differences = (rows["whole"] - rows["right"]).to_numpy()

    def mean(weights: Sequence[Array]) -> Array:
        return np.tensordot(weights[0], differences, axes=(-1, -1)) / len(differences)

    what = "accuracy of all that is learnt, less that of a part"
    found = resampled_interval(single_seeds([len(differences)]), mean, intervals, what)
    return found.model_copy(update={"resampling_unit": "log"})


def _rates(
    columns: Iterable[tuple[str, pl.DataFrame, pl.Expr, str]],
    unit: str,
    confidence: float,
    **keys: str,
) -> pl.DataFrame:
    """Shares of rows that something holds of, where there are rows."""
    rates = {
        name: st.wilson_interval(
            float(rows.select(holds.mean()).item()), rows.height, confidence, unit, what
        )
        for name, rows, holds, what in columns
        if rows.height
    }
    return st.estimate_rows(rates, **keys)


def against_rates(against: pl.DataFrame, answers: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """What a good run's log adds where nobody says that a run failed, each pair a unit."""
    facts = (
        "corpus", "log", "alarm", "category", "prediction", "confidence", "cause",
        "predicted_cause",
    )  # fmt: skip
    beside = pl.col("says") | pl.col("parts") | pl.col("stops")
    pairs = against.join(
        answers.filter(learnt=ALL).select(facts), on=["corpus", "log"], how="left"
    ).with_columns(alarm_beside=pl.when(pl.col("compared") > 0).then(beside).otherwise("alarm"))
    named = (pl.col("confidence") >= NAMED) & st.right()
    parts = []
    for (corpus, fails, other), group in pairs.group_by(
        "corpus", "fails", "other", maintain_order=True
    ):
        known = group.drop_nulls("alarm")
        columns = [("parts", group, pl.col("parts"), "probability that a curve parts")]
        for name in ("alarm", "alarm_beside"):
            failing = known.filter(fails=True)
            columns += [
                (name, known, pl.col(name), FOUND),
                (f"right_{name}", failing, pl.col(name) & named, RIGHT),
                (f"curves_{name}", failing.filter(part="curves"), pl.col(name) & named, RIGHT),
                (
                    f"cause_{name}",
                    failing.drop_nulls("cause"),
                    pl.col(name) & named & CAUSE_RIGHT,
                    RIGHT_CAUSE,
                ),
            ]
        pair = f"{'failing' if fails else 'healthy'}, {other}"
        keys = {"corpus": str(corpus), "pair": pair}
        parts.append(_rates(columns, "pair", confidence, **keys))
        if len(parted := group["at"].drop_nulls()):
            low, median, high = (float(parted.quantile(q) or 0.0) for q in (0.25, 0.5, 0.75))
            when = Interval.of(median, (low, high, "range"), len(parted), "pair", FIRST_PARTING)
            parts.append(st.estimate_rows({"at": when}, **keys))
    return pl.concat(parts)


def wrong_answers(answers: pl.DataFrame, field: Path, reports: Path) -> pl.DataFrame:
    """The surest wrong answers, one of each pair of categories and of each author or owner."""
    wrong = answers.filter(~FINE, ~st.right(), learnt=ALL)
    taken: list[dict[str, Any]] = []
    for row in wrong.sort("confidence", "log", descending=[True, False]).iter_rows(named=True):
        if not any(_alike(row, other) for other in taken):
            taken.append(row)
    about: list[tuple[str, str, str | None]] = []
    for program in read_programs(field, "development"):
        about.append((program.name, program.name, program.card.cause))
    for each in read_rows(reports / INDEX, Report, _RESTORE, ["report"]):
        about.append((each.report, each.source, causes()[each.cause].title if each.cause else None))
    known = pl.DataFrame(about, ["log", "source", "sentence"], orient="row")
    asked = answers.filter(~FINE, corpus="field")["log"]
    if missing := {*asked} - {*known["log"]}:
        problem = f"has no program {min(missing)}, which was answered."
        raise st.BadInputError(field / "development", "(folder)", problem, _RESTORE)
    lessons = st.read_points(field / LESSONS, _LESSONS, remedy=_RESTORE)
    shown = pl.DataFrame(taken[:SHOWN], OUTSIDE_SCHEMA).join(known, on="log", how="left")
    return shown.join(lessons, on="log", how="left").select(*_WRONG)


def _alike(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    same = (("category", "prediction"), ("corpus", "group"))
    return any(all(row[name] == other[name] for name in names) for names in same)


def totals_of_looks(field: Path, intervals: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """Totals of each look at the part that stays unread, made anew from its answers."""
    known = looks.read_looks(field)
    totals = looks.totals_of(looks.TABLE.read(field / "test" / looks.ANSWERS), intervals)
    return totals.join(known, on="look") if len(totals) else totals


def tables(
    others: st.Estimates,
    beside_good: st.Estimates,
    placing: st.Estimates,
    wrong: pl.DataFrame,
    seen: pl.DataFrame,
    said: st.Captions,
) -> Iterator[st.Table]:
    """What is learnt; ours beside parts of it and other tools; messages; wrong answers; looks."""
    learnt = said.labels("diagnose_logs_outside")
    body: list[st.Row | st.Divider] = []
    for corpus, label in CORPORA.items():
        size = others.row(corpus=corpus, learnt=ALL, metric="accuracy")
        body.append(st.Divider(f"{label}, n = {size['n'] if size else 0}"))
        body += [
            st.Row((text,), {"corpus": corpus, "learnt": name}) for name, text in learnt.items()
        ]
    yield st.table("diagnose_logs_outside", others, None, body, said)
    beside = st.rows("learnt", said.labels("diagnose_logs_beside"))
    yield st.table("diagnose_logs_beside", others, None, beside, said)
    pairs = said.labels("diagnose_logs_against")
    body = []
    for corpus, label in PAIRED.items():
        body.append(st.Divider(label))
        for pair, what in pairs.items():
            found = beside_good.row(corpus=corpus, pair=pair, metric="parts")
            pairs_of = st.ABSENT if found is None else f"{found['n']}"
            body.append(st.Row((what, pairs_of), {"corpus": corpus, "pair": pair}))
    yield st.table("diagnose_logs_against", beside_good, None, body, said)
    placed = st.rows("readers", said.labels("diagnose_logs_messages"))
    yield st.table("diagnose_logs_messages", placing, None, placed, said)
    yield st.sheet("diagnose_logs_wrong", map(_wrong, wrong.iter_rows(named=True)), said)
    yield st.sheet("diagnose_logs_looks", _looks(seen), said)


def _wrong(row: Mapping[str, Any]) -> tuple[str, ...]:
    true, named = (st.words(row[name]) for name in ("category", "prediction"))
    sure, of_cause = st.percent(row["confidence"]), causes()[row["predicted_cause"]].title
    cause = f"{true}: {row['sentence']}" if row["sentence"] else true
    return row["source"], cause, f"{named} ({sure} %): {of_cause}", row["why"] or st.ABSENT


def _looks(seen: pl.DataFrame) -> Iterable[st.Divider | tuple[str, ...]]:
    if seen.is_empty():
        yield st.Divider("There was no look yet.")
        return
    for (look,), rows in seen.group_by("look", maintain_order=True):
        first = rows.row(0, named=True)
        yield st.Divider(f"Look {look}, {first['date']}, at {first['commit'][:8]}")
        for row in rows.iter_rows(named=True):
            yield row["estimand"], st.estimate_text(row), str(row["n"])


def reading_rows(reading: pl.DataFrame) -> Iterator[st.Divider | tuple[str, ...]]:
    """How much of what logs show is read, by format, each corpus as a whole first."""
    for corpus, label in {
        "field": CORPORA["field"],
        "benchmark": "The benchmark, rendered",
    }.items():
        yield st.Divider(label)
        rows = reading.filter(corpus=corpus).with_columns(first=pl.col("format") != "all")
        for row in rows.sort("first", "format").iter_rows(named=True):
            read = f"{100 * row['read'] / row['values']:.2f}"
            steps, invented = st.ABSENT, st.ABSENT
            if row["steps_in_text"]:
                steps = f"{100 * row['steps_read'] / row['steps_in_text']:.2f}"
            if row["invented"] is not None:
                invented = f"{row['invented']:,}"
            counts = f"{row['logs']:,}", f"{row['values']:,}"
            yield st.words(row["format"]), *counts, read, steps, invented
