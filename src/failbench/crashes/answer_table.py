"""Answers: of predictors that execute code or tools, asked once, and accuracies as published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_rows
from failbench.base.replay import AnswerTable, Replay
from failbench.crashes.answers import asked
from failbench.crashes.cases import Case
from failbench.crashes.catalogue import Predictor
from failbench.crashes.question import Arm

# columns of the table; its key is the first four
ANSWER_SCHEMA: Final = pl.Schema(
    {
        "predictor": pl.String(),
        "arm": pl.String(),
        "pair": pl.String(),
        "version": pl.String(),  # of the notebook: "crashing" or "mended"
        "crash": pl.Boolean(),  # null where the predictor cannot say
        "exception": pl.String(),  # null where none is named
        "reason": pl.String(),
        "line": pl.Int64(),  # of the target, counted from 1; null where none is pointed at
        "asked": pl.String(),  # sha256 of the question
        "maker": pl.String(),  # what answered: versions, or a hash of code
    }
)

KEY: Final = ("predictor", "arm", "pair", "version")
REMEDY: Final = "Restore it with git, or run `make record-crashes`."
ANSWER_TABLE: Final = AnswerTable(ANSWER_SCHEMA, KEY, KEY, ("asked", "maker"), REMEDY)
RESTORE: Final = "Restore it with git; data/reported/README.md says where it is from."
Counted = Literal["detection", "detection and diagnosis"]
TOOLS = ("pyright", "pylint")  # what is no language model
Share = Annotated[float, Field(ge=0, le=1)]


class PublishedRow(Record):
    """A row of ``data/reported/crane_llm.csv``; shares are fractions, empty where none is given."""

    model: str = Field(min_length=1)
    counted: Counted
    told: Literal["no", "yes"]
    precision: Share | Literal[""]
    recall: Share | Literal[""]
    f1: Share
    accuracy: Share


def read_published(path: Path) -> pl.DataFrame:
    """What each model gains in accuracy, a fraction, as counted in either way."""
    accuracies: dict[tuple[str, str], dict[str, float]] = {}
    for row in read_rows(path, PublishedRow, RESTORE):
        accuracies.setdefault((row.model, row.counted), {})[row.told] = row.accuracy
    models = {counted for model, counted in accuracies if model not in TOOLS}
    for counted in get_args(Counted):
        if counted not in models:
            raise BadInputError(path, "counted", f"no model is there of {counted!r}.", RESTORE)
    for (model, _), by_told in accuracies.items():
        if by_told.keys() != {"no", "yes"}:
            raise BadInputError(path, "told", f"{model!r} is not there with no and yes.", RESTORE)
    gains = [(*key, by_told["yes"] - by_told["no"]) for key, by_told in accuracies.items()]
    return pl.DataFrame(gains, ["model", "counted", "gain"], orient="row")


CHUNK: Final = 20  # questions between two writes: what an interruption costs at most


def record(
    cases: Sequence[Case],
    predictors: Sequence[Predictor],
    path: Path,
    show: Callable[[str, int, int], None],
) -> int:
    """Ask what was not asked yet, of the same question and by what would answer today."""
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
