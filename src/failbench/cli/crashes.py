"""The commands ``foresee`` and ``crashes``: whether a notebook's next cell will crash."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS
from failbench.cli.terminal import INTERRUPTED, progress_meter
from failbench.crashes.catalogue import PREDICTORS, Predictor

if TYPE_CHECKING:
    from failbench.crashes.prediction import CrashPrediction
    from failbench.crashes.reading import Asked
    from failbench.notebooks.summaries import Summary

USUAL = ("rules", "dry_run")
"""Asked if none is named: checkers of types foresee crashes hardly better than chance."""

NOTHING, CRASHES_FORESEEN = 0, 1
"""Exit status; 2 is bad input, as everywhere."""


def foresee(
    *,
    notebook: Path,
    target: int | None,
    summary: Path | None,
    files: Path | None,
    code_only: bool,
    predictors: Sequence[str],
    as_json: bool,
) -> int:
    """Print whether a cell of a notebook will crash, as predictors see it."""
    from failbench.crashes.question import Question
    from failbench.crashes.reading import read_asked

    asked = read_asked(notebook, target)
    known = None
    if summary is not None:
        known = _read_summary(summary)
    elif not code_only:
        known = _look(notebook, asked, files)
    question = Question(asked.executed, asked.target, known)
    told = "code" if known is None else "all"
    answers: dict[str, CrashPrediction | BadInputError] = {}
    for predictor in _named(predictors or USUAL):
        if not predictors and told not in predictor.arms:
            continue
        is_told = told in predictor.arms
        asks = question if is_told else Question(asked.executed, asked.target, None)
        try:
            answers[predictor.name] = predictor.build()(asks)
        except BadInputError as error:
            if predictors:
                raise
            answers[predictor.name] = error
    print(_document(asked, told, answers) if as_json else _page(asked, told, answers))
    foreseen = any(not isinstance(each, BadInputError) and each.crash for each in answers.values())
    return CRASHES_FORESEEN if foreseen else NOTHING


def record_crashes(*, predictors: Sequence[str], corpus: Path, output: Path) -> int:
    """Ask the predictors whose answers are recorded about the notebooks of the corpus."""
    from failbench.crashes.cases import CrashPredictionSettings, read_cases
    from failbench.crashes.recorder import record
    from failbench.statistics.settings import read_with_statistics

    settings = read_with_statistics("crash_prediction", CrashPredictionSettings, PARAMS)
    cases = read_cases(corpus, settings.control_seed)
    wanted = [each for each in _named(predictors) if each.recorded]
    try:
        with progress_meter() as meter:
            number = record(cases, wanted, output, meter.show)
    except KeyboardInterrupt:
        print("Stopped. The answers so far are kept; the same command goes on.", file=sys.stderr)
        return INTERRUPTED
    print(f"{number} questions were asked; answers are in {output}.")
    return 0


def _named(names: Sequence[str]) -> list[Predictor]:
    known = {predictor.name: predictor for predictor in PREDICTORS}
    return [known[name] for name in names] if names else list(PREDICTORS)


def _read_summary(path: Path) -> Summary:
    from failbench.notebooks.summaries import parse_summary

    remedy = "Give the JSON that docs/notebooks.md describes."
    try:
        return parse_summary(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError) as error:
        problem = f"is no runtime summary ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, remedy) from error


def _look(notebook: Path, asked: Asked, files: Path | None) -> Summary:
    for name in ("jupyter_client", "ipykernel"):
        if find_spec(name) is None:
            remedy = "Install the extra: pip install -e '.[notebooks]', or use --code-only."
            raise BadInputError("failbench foresee", name, "is not installed.", remedy)
    from failbench.crashes.reading import summary_before

    return summary_before(notebook, asked, files)


def _document(asked: Asked, told: str, answers: dict[str, Any]) -> str:
    told_by = {
        name: {"unavailable": str(answer)} if isinstance(answer, BadInputError) else asdict(answer)
        for name, answer in answers.items()
    }
    document = {"target": asked.index, "told": told, "predictions": told_by}
    return json.dumps(document, indent=2)


def _page(asked: Asked, told: str, answers: dict[str, Any]) -> str:
    from failbench.diagnose.readers.lines import clean

    known = "what the kernel holds" if told == "all" else "code alone"
    lines = [f"Cell {asked.index}, after {len(asked.executed)} cells, from {known}:"]
    labels = {predictor.name: predictor.label for predictor in PREDICTORS}
    for name, answer in answers.items():
        # words of an exception are the notebook's own, and may hold what drives a terminal
        line = " ".join(clean(_line(answer)).split())
        lines.append(f"  {labels[name]:<10} {line}")
    return "\n".join(lines)


def _line(answer: Any) -> str:
    if isinstance(answer, BadInputError):
        return f"not available: {answer}"
    if answer.crash is None:
        return f"cannot say: {answer.reason}"
    if not answer.crash:
        return "no crash foreseen"
    at = "" if answer.line is None else f" in line {answer.line}"
    return f"will crash{at}, {answer.exception or 'of no named class'}: {answer.reason}"
