"""All answers: those that are recorded, and those that are asked for anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from failbench.crashes.answers import REMEDY, asked
from failbench.crashes.cases import Case
from failbench.crashes.catalogue import PREDICTORS
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import ARMS, Arm
from failbench.errors import BadInputError
from failbench.studies.crash_prediction.settings import COMBINED, DRY_RUN, LENGTH, MAJORITY, RULES

COLLECTED: Final = pl.Schema(
    {
        "predictor": pl.String(),
        "arm": pl.String(),
        "pair": pl.String(),
        "version": pl.String(),
        "part": pl.String(),
        "library": pl.String(),
        "misuse": pl.String(),
        "difficulty": pl.String(),
        "crashed": pl.Boolean(),
        "raised": pl.String(),  # null where nothing was
        "crash": pl.Boolean(),  # as it was answered; null where the predictor could not say
        "exception": pl.String(),  # as it was answered
        "reason": pl.String(),
    }
)
"""A row for each question and predictor."""

Answers = Mapping[tuple[str, Arm], Sequence[CrashPrediction]]
"""By predictor and arm, in the order of the cases."""


def collect(cases: Sequence[Case], recorded: pl.DataFrame, place: Path) -> Answers:
    """Answers of all predictors but language models, in all of their arms."""
    answers: dict[tuple[str, Arm], Sequence[CrashPrediction]] = {}
    known = _by_question(recorded)
    for predictor in PREDICTORS:
        for arm in predictor.arms:
            if predictor.recorded:
                given = [_recorded(known, predictor.name, arm, case, place) for case in cases]
            else:
                predict = predictor.build()
                given = [predict(case.ask(arm)) for case in cases]
            answers[predictor.name, arm] = given
    for arm in ARMS:
        rules = answers[RULES, arm]
        run = answers.get((DRY_RUN, arm), rules)
        answers[COMBINED, arm] = [
            second if first.crash is None else first
            for first, second in zip(run, rules, strict=True)
        ]
    answers[MAJORITY, "code"] = _majority(cases)
    answers[LENGTH, "code"] = _by_length(cases)
    return answers


def collected_table(cases: Sequence[Case], answers: Answers) -> pl.DataFrame:
    """The answers beside what happened: ``COLLECTED``."""
    return pl.DataFrame(list(_rows(cases, answers)), schema=COLLECTED)


def _rows(cases: Sequence[Case], answers: Answers) -> Iterator[dict[str, Any]]:
    for (predictor, arm), given in answers.items():
        for case, answer in zip(cases, given, strict=True):
            card = case.notebook.card
            yield {
                "predictor": predictor,
                "arm": arm,
                "pair": card.pair,
                "version": card.version,
                "part": case.part,
                "library": card.library,
                "misuse": card.misuse,
                "difficulty": card.difficulty,
                "crashed": case.exception is not None,
                "raised": case.exception,
                "crash": answer.crash,
                "exception": answer.exception,
                "reason": answer.reason,
            }


def _by_question(recorded: pl.DataFrame) -> dict[tuple[str, ...], dict[str, Any]]:
    return {
        (row["predictor"], row["arm"], row["pair"], row["version"]): row
        for row in recorded.iter_rows(named=True)
    }


def _recorded(
    known: Mapping[tuple[str, ...], Mapping[str, Any]],
    predictor: str,
    arm: Arm,
    case: Case,
    place: Path,
) -> CrashPrediction:
    card = case.notebook.card
    row = known.get((predictor, arm, card.pair, card.version))
    if row is None or row["asked"] != asked(case.ask(arm)):
        problem = f"{predictor} has no answer for {card.pair!r}, {card.version}, in arm {arm!r}."
        raise BadInputError(place, "asked", problem, REMEDY)
    return CrashPrediction(row["crash"], row["exception"], row["reason"], row["line"])


def _majority(cases: Sequence[Case]) -> list[CrashPrediction]:
    """What most development notebooks do, and the exception that most of their crashes raise.

    As many crash as do not: the tie goes to the crash, so that the exception can be named.
    """
    raised = [case.exception for case in cases if case.part == "development" and case.exception]
    most = max(sorted(set(raised)), key=raised.count)
    return [CrashPrediction(True, most, "Most that crash raise it.")] * len(cases)


def _by_length(cases: Sequence[Case]) -> list[CrashPrediction]:
    """Crashes on one side of a number of characters of code, learnt from development notebooks."""
    known = [case for case in cases if case.part == "development"]

    def right(threshold: int, *, longer: bool) -> int:
        return sum(
            ((case.characters >= threshold) == longer) == (case.exception is not None)
            for case in known
        )

    def settings() -> Iterable[tuple[int, bool]]:
        for threshold in sorted({case.characters for case in known}):
            yield from ((threshold, False), (threshold, True))

    threshold, longer = max(settings(), key=lambda each: right(each[0], longer=each[1]))
    side = "at least" if longer else "fewer than"
    reason = f"Code of {side} {threshold:,} characters crashes, of development notebooks."
    return [
        CrashPrediction((case.characters >= threshold) == longer, None, reason) for case in cases
    ]
