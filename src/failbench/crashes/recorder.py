"""Recorder: asks predictors that execute code or need tools of their own, and keeps the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from failbench.crashes.answers import asked, read_answers, write_answers
from failbench.crashes.cases import Case
from failbench.crashes.catalogue import Predictor
from failbench.crashes.question import Arm

CHUNK: Final = 20
"""Questions between two writes: what an interruption costs at most."""


def record(
    cases: Sequence[Case],
    predictors: Sequence[Predictor],
    path: Path,
    show: Callable[[str, int, int], None],
) -> int:
    """Ask what was not asked yet, or of something that has changed since.

    An answer is kept if it is to the same question, by what would answer today.
    """
    names = {case.notebook.card.pair for case in cases}
    kept = {_key(row): row for row in (read_answers(path).to_dicts() if path.exists() else ())}
    rows = {key: row for key, row in kept.items() if row["pair"] in names}
    number = 0
    for predictor in predictors:
        maker = predictor.maker
        wanted = [(arm, case) for arm in predictor.arms for case in cases]
        due = [
            (arm, case)
            for arm, case in wanted
            if not _answered(rows.get(_of(predictor, arm, case)), arm, case, maker)
        ]
        ask = predictor.build_for_many()
        for first in range(0, len(due), CHUNK):
            chunk = due[first : first + CHUNK]
            show(predictor.name, len(wanted) - len(due) + first, len(wanted))
            answers = ask([case.ask(arm) for arm, case in chunk])
            for (arm, case), answer in zip(chunk, answers, strict=True):
                key = _of(predictor, arm, case)
                row = dict(zip(("predictor", "arm", "pair", "version"), key, strict=True))
                rows[key] = row | asdict(answer) | {"asked": asked(case.ask(arm)), "maker": maker}
            write_answers(path, list(rows.values()))
        show(predictor.name, len(wanted), len(wanted))
        number += len(due)
    return number


Key = tuple[str, str, str, str]


def _key(row: dict[str, Any]) -> Key:
    return row["predictor"], row["arm"], row["pair"], row["version"]


def _of(predictor: Predictor, arm: Arm, case: Case) -> Key:
    card = case.notebook.card
    return predictor.name, arm, card.pair, card.version


def _answered(row: dict[str, Any] | None, arm: Arm, case: Case, maker: str) -> bool:
    return row is not None and (row["asked"], row["maker"]) == (asked(case.ask(arm)), maker)
