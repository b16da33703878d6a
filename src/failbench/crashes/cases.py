"""Cases: notebooks of the corpus in every arm, and two predictors that understand nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Arm, Question, told
from failbench.notebooks.corpus import (
    SPLIT,
    Notebook,
    Pair,
    Part,
    check_unchanged,
    read_corpus,
    read_split,
)
from failbench.notebooks.observed import OBSERVED, read_observed
from failbench.notebooks.summaries import Summary, parse_summary
from failbench.statistics.intervals import ScenarioIntervalSettings

REMEDY = "Restore it with git, or run `make record-notebooks`."


class CrashPredictionSettings(ScenarioIntervalSettings):
    """The section ``crash_prediction`` of params.yaml, with what it takes of ``statistics``."""

    control_seed: int = Field(ge=0)


@dataclass(frozen=True)
class Case:
    """A notebook, what is known of its kernel, and whether its target crashed."""

    notebook: Notebook
    part: Part
    summary: Summary
    other: Summary
    exception: str | None

    def ask(self, arm: Arm) -> Question:
        """The question about it in an arm."""
        known = told(arm, self.summary, self.other)
        return Question(self.notebook.executed_sources, self.notebook.target, known)

    @property
    def characters(self) -> int:
        """Of the code that was executed, and of the target."""
        return sum(map(len, (*self.notebook.executed_sources, self.notebook.target)))


def read_cases(folder: Path, control_seed: int) -> tuple[Case, ...]:
    """Every notebook of a corpus, in order of libraries, pairs and versions."""
    pairs = read_corpus(folder)
    split = read_split(folder / SPLIT)
    check_unchanged(pairs, split, folder / SPLIT)
    observed = _by_notebook(read_observed(folder / OBSERVED), pairs, folder / OBSERVED)
    parts: dict[str, Part] = {pair.card.pair: split[pair.card.pair].part for pair in pairs}
    lent = lenders(pairs, parts, control_seed)
    summaries = {key: _summary(row["summary"], folder / OBSERVED) for key, row in observed.items()}
    return tuple(
        Case(
            notebook,
            parts[notebook.card.pair],
            summaries[_key(notebook)],
            summaries[lent[_key(notebook)]],
            observed[_key(notebook)]["ename"],
        )
        for pair in pairs
        for notebook in pair.notebooks
    )


def lenders(
    pairs: Sequence[Pair], parts: Mapping[str, Part], seed: int
) -> dict[tuple[str, str], tuple[str, str]]:
    """Which notebook lends its summary to which, in the control."""
    groups: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        name = pair.card.pair
        groups.setdefault((pair.card.library, parts[name]), []).append(name)
    lent = {}
    for names in groups.values():
        circle = sorted(names, key=lambda name: _hash(seed, name))
        for name, other in zip(circle, circle[1:] + circle[:1], strict=True):
            # by a hash, so that a summary does not tell by its origin whether a target crashes
            swapped = int(_hash(seed, f"{name} {other}"), 16) % 2
            versions = ("crashing", "mended")
            for place, version in enumerate(versions):
                lent[name, version] = (other, versions[(place + swapped) % 2])
    return lent


def _hash(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


def _key(notebook: Notebook) -> tuple[str, str]:
    return notebook.card.pair, notebook.card.version


def _by_notebook(
    observed: pl.DataFrame, pairs: Sequence[Pair], path: Path
) -> dict[tuple[str, str], dict[str, str | None]]:
    rows = {(row["pair"], row["version"]): row for row in observed.iter_rows(named=True)}
    for notebook in (each for pair in pairs for each in pair.notebooks):
        row = rows.get(_key(notebook))
        if row is None or row["notebook_sha256"] != notebook.sha256:
            problem = f"{notebook.card.pair!r}, {notebook.card.version}, was not observed as it is."
            raise BadInputError(path, "notebook_sha256", problem, REMEDY)
    return rows


def _summary(text: str | None, path: Path) -> Summary:
    try:
        return parse_summary(text or "")
    except (ValueError, TypeError) as error:
        raise BadInputError(path, "summary", f"{error}.", REMEDY) from error


def majority(cases: Sequence[Case]) -> list[CrashPrediction]:
    """What most development notebooks do; a tie is a crash, so that an exception can be named."""
    raised = [case.exception for case in cases if case.part == "development" and case.exception]
    most = max(sorted(set(raised)), key=raised.count)
    return [CrashPrediction(True, most, "Most that crash raise it.")] * len(cases)


def by_length(cases: Sequence[Case]) -> list[CrashPrediction]:
    """Crashes on one side of a number of characters of code."""
    known = [case for case in cases if case.part == "development"]
    sides = [
        (threshold, longer)
        for threshold in sorted({case.characters for case in known})
        for longer in (False, True)
    ]

    def right(side: tuple[int, bool]) -> int:
        threshold, longer = side
        return sum(
            ((case.characters >= threshold) == longer) == (case.exception is not None)
            for case in known
        )

    threshold, longer = max(sides, key=right)
    side = "at least" if longer else "fewer than"
    reason = f"Code of {side} {threshold:,} characters crashes, of development notebooks."
    return [
        CrashPrediction((case.characters >= threshold) == longer, None, reason) for case in cases
    ]
