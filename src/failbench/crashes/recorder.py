"""Recorder: asks predictors that execute code or need tools of their own, and keeps the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from failbench.base.replay import Replay
from failbench.crashes.answers import ANSWER_TABLE, KEY, asked
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
    number = 0
    with Replay(ANSWER_TABLE, path) as replay:
        replay.drop_strangers(lambda row: row["pair"] in names)
        for predictor in predictors:
            maker = predictor.maker
            wanted = [(arm, case) for arm in predictor.arms for case in cases]
            due = [
                (arm, case)
                for arm, case in wanted
                if not replay.has(_unit(predictor, arm, case), [(asked(case.ask(arm)), maker)])
            ]
            ask = predictor.build_for_many()
            for first in range(0, len(due), CHUNK):
                chunk = due[first : first + CHUNK]
                show(predictor.name, len(wanted) - len(due) + first, len(wanted))
                answers = ask([case.ask(arm) for arm, case in chunk])
                replay.keep(
                    dict(zip(KEY, _unit(predictor, arm, case), strict=True))
                    | asdict(answer)
                    | {"asked": asked(case.ask(arm)), "maker": maker}
                    for (arm, case), answer in zip(chunk, answers, strict=True)
                )
            show(predictor.name, len(wanted), len(wanted))
            number += len(due)
    return number


def _unit(predictor: Predictor, arm: Arm, case: Case) -> tuple[str, str, str, str]:
    card = case.notebook.card
    return predictor.name, arm, card.pair, card.version
