"""What is reported of the logs of others: ours beside parts of it and other tools, and looks."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

import polars as pl

from failbench import study as st
from failbench.base.records import read_rows
from failbench.causes.catalogue import causes
from failbench.diagnose.answer import Level, level_of
from failbench.field import looks
from failbench.field.programs import read_programs
from failbench.field.reports import INDEX, Report
from shared.diagnose_logs import ALL, OUTSIDE_SCHEMA, WORDS

COMMONEST: Final = "commonest"
FINE: Final = pl.col("category").is_null()
NAMED: Final = pl.col("prediction") != st.ABSTAIN
CORPORA: Final = {"field": "Programs of the field", "reports": "Public reports"}
SHOWN: Final = 10  # wrong answers
_RESTORE: Final = "Restore it with `git checkout`."
_RIGHT: Final = "probability that the category of a log of a new scenario is right"
_RIGHT_CAUSE: Final = (
    "probability that the root cause that is named, of the category named, is right"
)
_FOUND: Final = "probability that something is found in it"
_CAUSE_RIGHT: Final = pl.col("predicted_cause") == pl.col("cause")


class Lesson(st.Record):
    """Why an answer to a log of others was wrong, by a person; it is shown where it still is."""

    log: str
    why: str


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


def outside_table(answers: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Rates on what others wrote, by what is learnt or asked, each log a unit."""
    parts = []
    for (learnt, corpus), logs in answers.group_by("learnt", "corpus", maintain_order=True):
        group, fine = logs.filter(~FINE), logs.filter(FINE).drop_nulls("alarm")
        known = group.drop_nulls(["cause", "predicted_cause"])
        among = pl.col("cause").is_in(pl.col("next_causes"))
        columns = [
            ("accuracy", group, st.right(), f"{_RIGHT}, of one left out"),
            *(
                (f"accuracy_{part}", group.filter(part=part), st.right(), f"{_RIGHT}: {part}")
                for part in sorted(group["part"].unique())
            ),
            ("named", group, NAMED, "probability that a category is named of it"),
            ("cause_accuracy", known, _CAUSE_RIGHT, _RIGHT_CAUSE),
            ("among_three", known, among, f"{_RIGHT_CAUSE}, or one of the next two"),
            ("alarm", fine, pl.col("alarm"), _FOUND),
        ]
        sure = group.drop_nulls("confidence")
        for level in get_args(Level):
            stated = sure["confidence"].map_elements(level_of, pl.String) == level
            named = f"{_RIGHT}, at a confidence that is {level}"
            columns.append((f"accuracy_{level}", sure.filter(stated), st.right(), named))
        rates = {
            name: st.wilson_interval(
                float(rows.select(holds.mean()).item()), rows.height, confidence, "log", what
            )
            for name, rows, holds, what in columns
            if rows.height
        }
        parts.append(st.estimate_rows(rates, learnt=learnt, corpus=corpus))
    return pl.concat(parts)


def wrong_answers(answers: pl.DataFrame, field: Path, reports: Path) -> pl.DataFrame:
    """The surest wrong answers, one of each pair of categories and of each author or owner."""
    wrong = answers.filter(~FINE, ~st.right(), learnt=ALL)
    sorted_ = wrong.sort("confidence", "log", descending=[True, False])
    pairs: set[tuple[str, str]] = set()
    groups: set[tuple[str, str]] = set()
    taken = []
    for row in sorted_.iter_rows(named=True):
        pair, group = (row["category"], row["prediction"]), (row["corpus"], row["group"])
        if pair not in pairs and group not in groups and len(taken) < SHOWN:
            pairs.add(pair)
            groups.add(group)
            taken.append(row)
    sentences = {each.name: each.card.cause for each in read_programs(field, "development")}
    sources = {}
    for report in read_rows(reports / INDEX, Report, _RESTORE, ["report"]):
        sources[report.report] = report.source
        sentences[report.report] = causes()[report.cause].title if report.cause else None
    lessons = {each.log: each.why for each in read_rows(field / "lessons.csv", Lesson, _RESTORE)}
    rows = [
        {
            **{name: row[name] for name in ("corpus", "log", "category", "prediction")},
            **{name: row[name] for name in ("confidence", "predicted_cause")},
            "source": sources.get(row["log"], row["log"]),
            "sentence": sentences[row["log"]],
            "why": lessons.get(row["log"]),
        }
        for row in taken
    ]
    return pl.DataFrame(rows)


def totals_of_looks(field: Path, intervals: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """Totals of each look at the part that stays unread, made anew from its answers."""
    known = looks.read_looks(field)
    totals = looks.totals_of(looks.TABLE.read(field / "test" / looks.ANSWERS), intervals)
    if known["look"].to_list() != (totals["look"].unique().sort().to_list() if len(totals) else []):
        problem = "names other looks than the answers have."
        raise st.BadInputError(field / looks.LOOKS, "look", problem, _RESTORE)
    for row in totals.iter_rows(named=True):
        told = known.filter(look=row["look"]).get_column(row["metric"], default=None)
        if told is None or told.item() != round(row["value"], st.DECIMALS):
            problem = f"is not what the answers of look {row['look']} come to."
            raise st.BadInputError(field / looks.LOOKS, row["metric"], problem, _RESTORE)
    return totals.join(known.select("look", "date", "commit"), on="look") if len(totals) else totals


def tables(
    others: st.Estimates, wrong: pl.DataFrame, seen: pl.DataFrame, said: st.Captions
) -> Iterator[st.Table]:
    """What is learnt; ours beside parts of it and other tools; wrong answers; looks."""
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
