"""The commands that say what will crash, and those that record what predictors of crashes say."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS
from failbench.cli.places import (
    CRASHES,
    EQUAL_CRASHES,
    EQUAL_NOTEBOOKS,
    NOTEBOOKS,
    READERS,
    WHOLE,
    Json,
    Only,
    Output,
    Predictors,
)
from failbench.cli.terminal import interruptible, progress_meter
from failbench.crashes.facts import deciding, hints
from failbench.crashes.prediction import PREDICTORS, Predictor
from failbench.crashes.question import Question
from failbench.crashes.reading import Asked, read_asked, summary_before
from failbench.diagnose.readers.lines import clean
from failbench.notebooks.summaries import Summary, parse_summary

if TYPE_CHECKING:
    from failbench.crashes.cases import Case
    from failbench.crashes.prediction import CrashPrediction

Equal = Annotated[bool, Parameter(help="the corpus of equal code, in two worlds each")]
USUAL = ("rules", "dry_run")  # checkers of types foresee crashes hardly better than chance


def preflight(
    target: Annotated[
        str,
        Parameter(
            help="FILE.py[:FUNCTION]: the function (preflight or build, unless named) returns "
            "model, optimizer, loss and batch, as a tuple or a dict"
        ),
    ],
    /,
    *,
    capacity: Annotated[
        str | None, Parameter(help="memory of the training, as 16GiB (default: what is free)")
    ] = None,
    real_step: Annotated[bool, Parameter(help="take one real step on a copy as well")] = False,
    json: Json = False,
) -> int:
    """Say what will crash, or cannot work, in the first step of a training, before it is taken.

    The file is imported, in this process: it is your own code that runs. Exit status: 0 nothing
    stands out, 1 it will fail, 3 something to look at, 2 bad input.
    """
    try:
        import torch  # noqa: F401 - asked for before a user's file is imported
    except ImportError as error:
        remedy = "Run this where your training runs."
        raise BadInputError("preflight", "torch", "is not installed.", remedy) from error
    from failbench.preflight import preflight as checks
    from failbench.preflight.loading import built_by, bytes_of
    from failbench.preflight.page import document, page

    size = None if capacity is None else bytes_of(capacity)
    built = built_by(target)
    limit = size or built.get("capacity_bytes")
    report = checks.preflight(**{**built, "capacity_bytes": limit}, real_step=real_step)
    print(dumps(document(report), indent=2) if json else clean(page(report)))
    if report.fails:
        return 1
    is_clear = all(each.severity == "note" for each in report.findings)
    return 0 if is_clear else 3


def foresee(
    notebook: Path,
    /,
    *,
    target: Annotated[
        int | None,
        Parameter(help="index of the cell, from 0 (default: the next that would be executed)"),
        WHOLE,
    ] = None,
    summary: Annotated[
        Path | None, Parameter(help="facts about the kernel, as docs/notebooks.md")
    ] = None,
    files: Annotated[
        Path | None, Parameter(help="data that the cells read, copied beside them")
    ] = None,
    code_only: Annotated[bool, Parameter(help="execute no cell, and read the code alone")] = False,
    predictors: Annotated[
        Predictors, Parameter(help="only these (default: rules and dry_run)")
    ] = (),
    json: Json = False,
) -> int:
    """Say whether a cell of a notebook will crash, from the code and from what the kernel holds.

    The cells before it are executed in a kernel without a network. Exit status: 0 no crash is
    foreseen, 1 one is, 2 the input cannot be read.
    """
    asked = read_asked(notebook, target)
    known = None
    if summary is not None:
        known = _read_summary(summary)
    elif not code_only:
        remedy = "Install the extra: pip install -e '.[notebooks]', or use --code-only."
        _require("failbench foresee", ("jupyter_client", "ipykernel"), remedy)
        known = summary_before(notebook, asked, files)
    told = "code" if known is None else "all"
    answers: dict[str, CrashPrediction | BadInputError] = {}
    facts: dict[str, dict[str, str | None]] = {}
    for predictor in _named(predictors or USUAL):
        is_told = told in predictor.arms
        if not predictors and not is_told:
            continue
        question = Question(asked.executed, asked.target, known if is_told else None)
        try:
            answers[predictor.name] = answer = predictor.build()(question)
            facts[predictor.name] = _fact(question, answer)
        except BadInputError as error:
            if predictors:
                raise
            answers[predictor.name] = error
    print((_document if json else _page)(asked, told, answers, facts))
    foreseen = any(not isinstance(each, BadInputError) and each.crash for each in answers.values())
    return 1 if foreseen else 0


def _named(names: Sequence[str]) -> list[Predictor]:
    known = {predictor.name: predictor for predictor in PREDICTORS}
    return [known[name] for name in names] if names else list(PREDICTORS)


def _read_summary(path: Path) -> Summary:
    try:
        return parse_summary(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError) as error:
        problem = f"is no runtime summary ({' '.join(str(error).split())})."
        remedy = "Give the JSON that docs/notebooks.md describes."
        raise BadInputError(path, "(file)", problem, remedy) from error


def _require(command: str, libraries: Sequence[str], remedy: str) -> None:
    for name in libraries:
        if find_spec(name) is None:
            raise BadInputError(command, name, "is not installed.", remedy)


Facts = dict[str, dict[str, str | None]]


def _fact(question: Question, answer: CrashPrediction) -> dict[str, str | None]:
    """The deciding fact of a crash; of none, what to look at instead."""
    fact: str | None = None
    remedy: str | None = None
    try:
        if answer.crash:
            found = deciding(question, answer.exception, answer.reason, answer.line)
            fact, remedy, hint = found.text, found.remedy, found.hint
        else:
            hint = "; ".join(hints(question)) or None
    except RecursionError:  # as deep an expression as only a program writes
        hint = None
    told = {"fact": fact, "remedy": remedy, "hint": hint}
    return {name: text and _one_line(text) for name, text in told.items()}


def _one_line(text: str) -> str:
    # words of an exception are the notebook's own, and may hold what drives a terminal
    return " ".join(clean(text).split())


def _document(asked: Asked, told: str, answers: dict[str, Any], facts: Facts) -> str:
    told_by = {
        name: {"unavailable": str(answer)}
        if isinstance(answer, BadInputError)
        else {**asdict(answer), **facts[name]}
        for name, answer in answers.items()
    }
    return dumps({"target": asked.index, "told": told, "predictions": told_by}, indent=2)


def _page(asked: Asked, told: str, answers: dict[str, Any], facts: Facts) -> str:
    known = "facts about the kernel" if told == "all" else "code alone"
    lines = [f"Cell {asked.index}, after {len(asked.executed)} cells, from {known}:"]
    labels = {predictor.name: predictor.label for predictor in PREDICTORS}
    for name, answer in answers.items():
        lines.append(f"  {labels[name]:<10} {_one_line(_line(answer))}")
        below = [text for text in facts.get(name, {}).values() if text]
        lines += [f"  {'':<10} {text}" for text in below if f"  {'':<10} {text}" not in lines]
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


def crashes(
    *,
    predictors: Predictors = (),
    equal: Equal = False,
    prompts: Annotated[
        Path | None, Parameter(help="write every question of the test pairs to this new folder")
    ] = None,
    answers: Annotated[
        Path | None, Parameter(help="take in what a reader answered to them, a line each")
    ] = None,
    reader: Annotated[
        str | None, Parameter(help="who answered, as small letters and underscores")
    ] = None,
    output: Output | None = None,
) -> int:
    """Ask the predictors whose answers are recorded about the notebooks of a corpus.

    With --prompts and --answers it is others who are asked: language models, or people.
    """
    from failbench.crashes.cases import CrashPredictionSettings, read_cases, read_equal_cases
    from failbench.crashes.cases import record as ask
    from failbench.statistics.settings import read_with_statistics

    settings = read_with_statistics("crash_prediction", CrashPredictionSettings, PARAMS)
    read = read_equal_cases if equal else read_cases
    cases = read(EQUAL_NOTEBOOKS if equal else NOTEBOOKS, settings.control_seed)
    if prompts is not None or answers is not None:
        return _exchange(
            cases, prompts, answers, READERS / ("equal" if equal else "edited"), reader
        )
    wanted = [each for each in _named(predictors) if each.recorded]
    path = output or (EQUAL_CRASHES if equal else CRASHES)
    stopped = "Stopped. The answers so far are kept; the same command goes on."
    with interruptible(stopped), progress_meter() as meter:
        number = ask(cases, wanted, path, meter.show)
    print(f"{number} questions were asked; answers are in {path}.")
    return 0


def _exchange(
    cases: Sequence[Case],
    prompts: Path | None,
    answers: Path | None,
    folder: Path,
    reader: str | None,
) -> int:
    from failbench.base.params import read_section
    from failbench.crashes.language import CrashAgentsSettings
    from failbench.crashes.readers import sheets, take_in, write_kept, write_sheets

    settings = read_section("crash_agents", CrashAgentsSettings, PARAMS)
    if prompts is not None:
        written = sheets(cases, "test", settings)
        write_sheets(prompts, written)
        number = sum(map(len, written))
        print(f"{number} prompts on {len(written)} sheets, no pair twice on one, are in {prompts}.")
    if answers is not None:
        if reader is None or not (reader.isidentifier() and reader == reader.lower()):
            remedy = "Name who answered, as in --reader large_model_2026."
            raise BadInputError("--reader", "NAME", f"is {reader!r}.", remedy)
        kept = take_in(answers, cases, settings)
        write_kept(folder / f"{reader}.csv", kept)
        print(f"{len(kept)} questions are answered in {folder / reader}.csv.")
    return 0


def notebooks(
    *,
    only: Only = (),
    equal: Equal = False,
    corpus: Annotated[Path | None, Parameter(help="(default: the one in data)")] = None,
    output: Annotated[Path | None, Parameter(help="(default: the corpus)")] = None,
) -> int:
    """Execute the notebooks that are new or changed in live kernels; see docs/notebooks.md."""
    remedy = "Install the extra: pip install -e '.[notebooks]'."
    _require("failbench notebooks", ("jupyter_client", "ipykernel", "torch"), remedy)
    from failbench.notebooks.corpus import SPLIT, Pair, check_unchanged, read_corpus, read_split
    from failbench.notebooks.equal import EqualPair, read_equal, read_parts
    from failbench.notebooks.recorder import record

    folder = corpus or (EQUAL_NOTEBOOKS if equal else NOTEBOOKS)
    pairs: Sequence[Pair] | Sequence[EqualPair]
    if equal:
        pairs = read_equal(folder)
        read_parts(folder, pairs)
    else:
        pairs = read_corpus(folder)
        check_unchanged(pairs, read_split(folder / SPLIT), folder / SPLIT)
    known = [pair.card.pair for pair in pairs]
    for name in only:
        if name not in known:
            problem = f"{name!r} is no pair of {folder}."
            raise BadInputError("--only", "PAIR", problem, f"Name one such as {known[0]}.")
    with tempfile.TemporaryDirectory(prefix="failbench-") as cache:
        number = record(pairs, output or folder, Path(cache), print, only)
    print(f"recorded {number} of {len(pairs)} pairs")
    return 0
