"""Verdicts: what others' tools said of runs, and would say with what suits the other folds best."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any, Final, Literal, Self, get_args

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.replay import DENSE, AnswerTable
from failbench.base.vocabulary import ABSTAIN, Category
from failbench.causes.catalogue import causes

# words of all peers, the most severe first
SEVERITIES: Final = ("critical", "high", "warning", "moderate", "low", "info")
CONFIDENCE_STEP: Final = 0.05  # confidences of peers are multiples of it
DATA: Final = "src/failbench/neighbours/peers/data"


class Standard(Record):
    """A peer, and how it is to be taken; a row of ``peers.csv``."""

    peer: str
    label: str
    version: str
    licence: str
    level: Literal["severity", "confidence", "rule"]
    detects_from: str = ""
    commits_from: str = ""
    strict_from: str = ""
    checkable: bool
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _bounds_are_of_the_level(self) -> Self:
        for bound in (self.detects_from, self.commits_from, self.strict_from):
            if self.level == "severity" and bound not in SEVERITIES:
                raise ValueError(f"{bound!r} is no severity.")
            if self.level == "confidence":
                float(bound)
            if self.level == "rule" and bound:
                raise ValueError(f"{bound!r} bounds nothing: all alarms of rules count.")
        return self

    def reaches(self, bound: str, severity: str, confidence: float | None) -> bool:
        """Whether an issue is at least as severe, or as sure, as a bound."""
        if self.level == "rule":
            return True
        if self.level == "severity":
            return SEVERITIES.index(severity) <= SEVERITIES.index(bound)
        return confidence is not None and confidence >= float(bound)

    def taken_from(self, bound: str) -> Standard:
        """The peer if its issues count from a bound on, for detection and for the category."""
        return self.model_copy(update={"detects_from": bound, "commits_from": bound})

    @property
    def bounds(self) -> tuple[str, ...]:
        """All bounds that may be tried: severities, or confidences as the peers document them."""
        if self.level == "confidence":
            return tuple(f"{step * CONFIDENCE_STEP:.2f}" for step in range(1, 20))
        return SEVERITIES if self.level == "severity" else ()


class Meaning(Record):
    """What an issue comes to; a row of ``mapping.csv``."""

    peer: str
    issue: str
    category: Category | None = None
    cause: str | None = None
    reason: str = Field(min_length=10)

    @model_validator(mode="after")
    def _peer_and_cause_are_known(self) -> Self:
        if self.peer not in standards():
            raise ValueError(f"{self.peer!r} is no peer.")
        cause = causes().get(self.cause or "")
        if self.cause and (cause is None or cause.category != self.category):
            raise ValueError(f"{self.cause!r} is no cause of {self.category!r}.")
        return self


@cache
def rows_of(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a file of this package's data, without the cells that are empty."""
    text = files("failbench.neighbours.peers").joinpath(f"data/{name}").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple({key: value for key, value in row.items() if value} for row in rows)


@cache
def standards() -> dict[str, Standard]:
    """All peers by their names."""
    return {row["peer"]: Standard.model_validate(row) for row in rows_of("peers.csv")}


def compared_version(peer: str, package: str, remedy: str) -> str:
    """The version of an installed peer, which must be the one that is compared with."""
    standard = standards()[peer]
    try:
        found = version(package)
    except PackageNotFoundError as error:
        raise BadInputError(standard.label, "(package)", "is not installed.", remedy) from error
    if found != standard.version:
        problem = f"is {found} and must be {standard.version}."
        raise BadInputError(standard.label, "(version)", problem, remedy)
    return found


@cache
def mapping() -> dict[tuple[str, str], Meaning]:
    """What each ``(peer, issue)`` comes to."""
    meanings: dict[tuple[str, str], Meaning] = {}
    for row in rows_of("mapping.csv"):
        meaning = Meaning.model_validate(row)
        if meanings.setdefault((meaning.peer, meaning.issue), meaning) is not meaning:
            raise ValueError(f"{meaning.issue!r} of {meaning.peer} is mapped twice.")
    return meanings


def issues_of(peer: str) -> frozenset[str]:
    """Every issue that a peer can report, without variants."""
    return frozenset(issue.partition("/")[0] for known, issue in mapping() if known == peer)


def refuse_unmapped(verdicts: pl.DataFrame, place: object) -> None:
    """Refuse a table of verdicts in which a peer says what the mapping does not know."""
    for peer in verdicts["peer"].unique().sort():
        if peer not in standards():
            remedy = f"Add it to {DATA}/peers.csv."
            raise BadInputError(place, "peer", f"{peer!r} is no peer.", remedy)
    said = verdicts.explode("issues").select("peer", "issues").unique().sort("peer", "issues")
    for peer, issue in said.drop_nulls().iter_rows():
        if (peer, issue) not in mapping():
            problem = f"{peer} says {issue!r}, which has no mapping."
            remedy = f"Add it to {DATA}/mapping.csv, with a reason."
            raise BadInputError(place, "issues", problem, remedy)


def with_variant(peer: str, issue: str, first_cause: str) -> str:
    """An issue with the variant that its first cause is, if it has variants."""
    for row in rows_of("variants.csv"):
        is_of = (row["peer"], row["issue"]) == (peer, issue)
        if is_of and re.search(row["leads_with"], first_cause):
            return f"{issue}/{row['variant']}"
    return issue


# columns of a table of verdicts; its key is ``(run_id, format, peer)``
VERDICT_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "format": pl.String(),  # in which the peer was given the log
        "peer": pl.String(),
        "version": pl.String(),  # of the peer
        "rendering": pl.String(),  # digest of the files it read, to know when to ask again
        "issues": pl.List(pl.String),  # the peer's own names, most severe first
        "severities": pl.List(pl.String),  # of each issue, in the peer's words
        "confidences": pl.List(pl.Float64),  # of each issue; empty where the peer states none
        "unreadable": pl.String(),  # first line of the peer's error; null where it read the log
    }
)

KEY: Final = ("run_id", "format", "peer")

RESTORE: Final = "Restore it with git, or delete it and run `make record-peers`."
VERDICT_TABLE: Final = AnswerTable(
    VERDICT_SCHEMA, KEY, KEY, ("version", "rendering"), RESTORE, DENSE
)

# columns of a table of answers; its key is ``(peer, run_id, format)``
ANSWER_SCHEMA: Final = pl.Schema(
    {
        "peer": pl.String(),
        "run_id": pl.String(),
        "format": pl.String(),
        "issues": pl.List(pl.String),
        "prediction": pl.String(),  # a category or "abstain"
        "cause": pl.String(),  # null where the issue has none of the project's
        "detected": pl.Boolean(),
        "confidence": pl.Float64(),  # null where the peer states none
        "readable": pl.Boolean(),
    }
)

# what comes of logs that others wrote, of which no word is kept: the category and no issue
OUTSIDE_TABLE: Final = AnswerTable(
    schema=pl.Schema({
        "peer": pl.String, "version": pl.String, "corpus": pl.String, "log": pl.String,
        "prediction": pl.String, "detected": pl.Boolean, "readable": pl.Boolean,
    }),
    key=("peer", "corpus", "log"),
    unit=("peer", "corpus", "log"),
    version=("version",),
    remedy=RESTORE,
    options=DENSE,
)  # fmt: skip


DOCUMENTED: Final = "documented"  # thresholds and bounds as a peer documents them
# what the choice maximises: failing runs detected less twins alarmed, or categories right
Objective = Literal["best_detection", "best_category"]
OBJECTIVES: Final[tuple[Objective, ...]] = get_args(Objective)


@dataclass(frozen=True)
class Reading:
    """What a peer said of one log."""

    issues: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    confidences: tuple[float, ...] = ()
    unreadable: str | None = None


def verdict_row(
    run_id: str, form: str, peer: str, version: str, rendering: str, reading: Reading
) -> dict[str, Any]:
    """A row of the table of verdicts."""
    place = {"run_id": run_id, "format": form, "peer": peer}
    return place | {"version": version, "rendering": rendering} | asdict(reading)


def answer(standard: Standard, row: Mapping[str, Any]) -> dict[str, Any]:
    """What a verdict comes to: its first issue with a category that the peer commits itself to."""
    confidences = row["confidences"] or [None] * len(row["issues"])
    said = list(zip(row["severities"], confidences, strict=True))
    meanings = [mapping()[standard.peer, issue] for issue in row["issues"]]
    detected = any(standard.reaches(standard.detects_from, *each) for each in said)
    committed = [
        number
        for number, (each, meaning) in enumerate(zip(said, meanings, strict=True))
        if meaning.category is not None and standard.reaches(standard.commits_from, *each)
    ]
    meant = meanings[committed[0]] if committed else None
    return {
        **{name: row[name] for name in ("peer", "run_id", "format", "issues")},
        "prediction": ABSTAIN if meant is None else meant.category,
        "cause": None if meant is None else meant.cause,
        "detected": detected,
        "confidence": confidences[committed[0] if committed else 0] if confidences else None,
        "readable": row["unreadable"] is None,
    }


def recorded_answers(
    verdicts: pl.DataFrame, by: Mapping[str, Standard] | None = None
) -> pl.DataFrame:
    """Answers of peers, each taken by its own standard unless others are given."""
    by = by or standards()
    rows = [answer(by[row["peer"]], row) for row in verdicts.iter_rows(named=True)]
    return pl.DataFrame(rows, schema=ANSWER_SCHEMA).sort("peer", "run_id", "format")


def with_best_thresholds(
    said: pl.DataFrame, runs: pl.DataFrame, splits: pl.DataFrame, objective: Objective
) -> pl.DataFrame:
    """What each peer says of a fold, by the choice that others prefer: of equal ones the first."""
    known = runs.select("run_id", "kind", "scenario", "category")
    lacking = set(known["scenario"].drop_nulls()) - set(splits["scenario"])
    if lacking:
        problem = f"{min(lacking)!r} is tested in no fold."
        remedy = "Make the folds from the scenarios that were recorded."
        raise BadInputError("data/features/splits.parquet", "scenario", problem, remedy)
    parts = []
    for (_,), of_method in said.group_by("method", maintain_order=True):
        table = of_method.join(known, on="run_id", maintain_order="left")
        gains = _gains(table, objective)
        values = gains.drop("choice").to_numpy().astype(np.float64)
        for (repeat, fold), part in splits.group_by("repeat", "fold", maintain_order=True):
            tested = set(part["scenario"])
            training = np.array([name not in tested for name in gains.columns[1:]])
            choice = gains["choice"][int(values[:, training].mean(axis=1).round(9).argmax())]
            is_tested = pl.col("scenario").is_in(list(tested)) | (pl.col("kind") == "success")
            of_fold = table.filter(is_tested, choice=choice).select(*said.columns)
            parts.append(
                of_fold.with_columns(repeat=pl.lit(repeat, pl.Int32), fold=pl.lit(fold, pl.Int32))
            )
    return pl.concat(parts)


def _gains(table: pl.DataFrame, objective: Objective) -> pl.DataFrame:
    """What each choice gains in each scenario: a row per ``choice``, a column per scenario."""
    detected, is_failing = pl.col("detected").cast(pl.Float64), pl.col("kind") == "failure"
    is_right = (pl.col("prediction") == pl.col("category")).cast(pl.Float64)
    gain = {
        "best_detection": pl.when(is_failing).then(detected).otherwise(-detected),
        "best_category": pl.when(is_failing).then(is_right),
    }[objective]
    order = {choice: place for place, choice in enumerate(dict.fromkeys(table["choice"]))}
    order[DOCUMENTED] = -1
    return (
        table.filter(pl.col("scenario").is_not_null())
        .with_columns(gain=gain, order=pl.col("choice").replace_strict(order))
        .group_by("choice", "order", "scenario")
        .agg(pl.col("gain").mean())
        .sort("order", "scenario")
        .pivot(on="scenario", index="choice", values="gain", maintain_order=True)
    )
