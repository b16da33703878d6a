"""Scenarios with what preflights said of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from failbench.causes.catalogue import cause_of_scenario, causes
from failbench.errors import BadInputError
from failbench.prediction.slices import ReferenceStudy
from failbench.preflighted.answers import REMEDY, Look
from failbench.scenarios import Scenario
from failbench.telemetry import Telemetry

SEED: Final = 0
"""Of the runs that preflights looked at."""

OF_RUN: Final = ("seconds", "step_seconds", "compared_steps", "error_type")
"""Columns that an answer has under their own names."""

MEMORY_WORDS: Final = ("can't allocate memory", "Cannot allocate memory")
"""What the allocator and the system say where memory is refused."""

PLACE: Final = "data/preflight/answers.parquet"


@dataclass(frozen=True)
class Answer:
    """What a preflight said before one step of a run."""

    step: int
    reached: bool
    said: tuple[tuple[str, str, str], ...]
    seconds: float | None = None
    step_seconds: float | None = None
    compared_steps: int = 0
    error_type: str | None = None

    @property
    def crash(self) -> tuple[str, str, str] | None:
        """The first crash that is foreseen."""
        return next((each for each in self.said if each[0] == "crash"), None)

    def says(self, severities: Sequence[str]) -> bool:
        """Whether a finding is of one of these severities."""
        return any(severity in severities for severity, _, _ in self.said)

    def names(self, cause: str, severities: Sequence[str]) -> bool:
        """Whether a finding of one of these severities names a root cause."""
        return any(named == cause for severity, named, _ in self.said if severity in severities)


@dataclass(frozen=True)
class Looked:
    """A scenario: how its run ended, and what was said before its steps and those of its twin."""

    scenario: Scenario
    cause: str
    ending: str
    error_type: str | None
    error_text: str | None
    failing: Mapping[Look, Answer]
    twin: Mapping[Look, Answer]
    failure_step: int

    @property
    def crashes(self) -> bool:
        """Whether its run ends with an exception."""
        return self.ending == "exception"

    @property
    def ended_sooner(self) -> bool:
        """Whether its run, trained again, had ended before the step that was to crash."""
        last = self.failing.get("failure")
        return last is not None and not last.reached and last.compared_steps < last.step

    @property
    def ended_later(self) -> bool:
        """Whether its run, trained again, went on after the step that was to crash."""
        last = self.failing.get("failure")
        return self.crashes and last is not None and last.error_type is None

    @property
    def group(self) -> str:
        """What kind of exception it is."""
        if any(words in (self.error_text or "") for words in MEMORY_WORDS):
            return "out of memory"
        return self.error_type or ""

    def foreseen(self, look: Look) -> bool:
        """Whether a crash is foreseen."""
        answer = self.failing.get(look)
        return answer is not None and answer.crash is not None

    def right_category(self, look: Look) -> bool:
        """Whether a crash is foreseen, and its cause lies where the injected one does."""
        answer = self.failing.get(look)
        crash = None if answer is None else answer.crash
        named = causes().get(crash[1]) if crash is not None else None
        return named is not None and named.category == self.scenario.category

    def right_cause(self, look: Look) -> bool:
        """Whether a crash is foreseen, and its root cause is the injected one."""
        answer = self.failing.get(look)
        crash = None if answer is None else answer.crash
        return crash is not None and crash[1] == self.cause

    def right_text(self, look: Look) -> bool:
        """Whether the exception is foreseen in the words that were then raised."""
        answer = self.failing.get(look)
        crash = None if answer is None else answer.crash
        name = (self.error_type or "").rpartition(".")[2]
        return crash is not None and crash[2] == f"{name}: {self.error_text}"


def looked_at(
    answers: pl.DataFrame,
    recorded: Telemetry,
    scenarios: Sequence[Scenario],
    reference: ReferenceStudy,
) -> tuple[Looked, ...]:
    """Every scenario with what was said of it."""
    runs = reference.with_seed(SEED).failures(recorded.runs).sort("scenario")
    by_run = _by_run(answers)
    defined = {scenario.id: scenario for scenario in scenarios}
    looked = []
    for run in runs.iter_rows(named=True):
        name = run["run_id"]
        for wanted in (name, f"{name}-twin"):
            if wanted not in by_run:
                raise BadInputError(PLACE, "run_id", f"{wanted!r} has no answer.", REMEDY)
        looked.append(
            Looked(
                defined[run["scenario"]],
                cause_of_scenario()[run["scenario"]],
                run["ending"],
                run["error_type"],
                run["error_message"],
                by_run[name],
                by_run[f"{name}-twin"],
                run["failure_step"],
            )
        )
    if not any(each.crashes for each in looked):
        raise BadInputError(PLACE, "(rows)", "no run of them crashes.", REMEDY)
    return tuple(looked)


def _by_run(answers: pl.DataFrame) -> dict[str, dict[Look, Answer]]:
    by_run: dict[str, dict[Look, Answer]] = {}
    for row in answers.iter_rows(named=True):
        by_run.setdefault(row["run_id"], {})[row["look"]] = _answer(row)
    return by_run


def _answer(row: Mapping[str, Any]) -> Answer:
    said = tuple(zip(row["severities"], row["causes"], row["errors"], strict=True))
    known = {name: row[name] for name in OF_RUN}
    return Answer(row["step"], row["reached"], said, **known)
