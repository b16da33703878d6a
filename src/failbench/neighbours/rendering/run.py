"""A run as a log could tell of it, and the shape of a log: what settings of users make of it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar

import numpy as np
import polars as pl
from pydantic import BeforeValidator

from failbench.base.records import Record, packaged_rows
from failbench.diagnose.readers.names import SIGNALS, SignalName
from failbench.neighbours.rendering.tracebacks import (
    Ending,
    Style,
    declared,
    ending_lines,
    neutral_traceback,
)

Cut = Literal["none", "head", "end"]
_Choice = TypeVar("_Choice")
LOSS: Final = 0.97  # share of logs with a loss: hardly any training is started without printing it
# share with each other signal that a format can have: loops differ, and no survey says how much;
# more than half, so that most logs have several, and less than all, so that any may be missing
OTHER: Final = 0.6
# shares of logs with what else a log may have
SHARES: Final = {
    # a loss on held-out data, which smaller experiments leave out
    "validation": 0.7,
    # files of metrics beside which the terminal's output was kept: they lie apart by default, and
    # either half is as usual as both
    "terminal": 0.5,
    # terminal outputs that have their own end: what is left was copied before it, or standard
    # error went elsewhere
    "ending": 0.85,
    # terminal outputs in which a launcher says before each line whose it is: training on several
    # devices is the smaller part
    "prefixed": 0.15,
    # escapes: they remain where a terminal was recorded, and not in most redirections
    "coloured": 0.2,
    # a progress bar, which is on by default in most libraries and off in jobs
    "bars": 0.3,
}
# how exceptions are shown: Python's own way is the default everywhere
STYLES: Final[dict[Style, float]] = {"plain": 0.6, "ranks": 0.2, "rich": 0.1, "notebook": 0.1}
# which part of a pasted traceback is missing
CUTS: Final[dict[Cut, float]] = {"none": 0.7, "head": 0.15, "end": 0.15}
MOST_KEPT: Final = 60  # lines of output before a pasted error: what a terminal shows at once
DIGITS: Final = (3, 4, 6, 0)  # behind the point; 0 stands for all
# the format, as tables of answers name it, of a terminal's output of :func:`complete_shape`
COMPLETE: Final = "complete"


Words = BeforeValidator(str.split)


class Format(Record):
    """What a format can have; a row of ``data/formats.csv``."""

    format: str
    read_as: str
    terminal: bool
    always: Annotated[tuple[SignalName, ...], Words]
    may: Annotated[tuple[SignalName, ...], Words]
    every: Annotated[tuple[int, ...], Words]


@dataclass(frozen=True)
class LogShape:
    """What is logged of a run, and how."""

    signals: tuple[SignalName, ...]
    every: int = 1
    validation: bool = True
    terminal: bool = True
    ending: bool = True
    prefixed: bool = False
    coloured: bool = False
    bars: bool = False
    digits: int = 0
    style: Style = "plain"
    kept: int = MOST_KEPT
    cut: Cut = "none"


@cache
def formats() -> dict[str, Format]:
    """All formats by name."""
    rows = packaged_rows("failbench.neighbours.rendering", "formats.csv", Format)
    return {row.format: row for row in rows}


def draw_shape(format: str, rng: np.random.Generator) -> LogShape:  # noqa: A002
    """Draw what a user of a format logs."""
    known = formats()[format]
    of_signals, of_others = np.split(rng.random(len(SIGNALS) + len(SHARES)), [len(SIGNALS)])
    signals = tuple(
        name
        for name, chance in zip(SIGNALS, of_signals, strict=True)
        if name in known.always
        or (name in known.may and chance < (LOSS if name == "loss" else OTHER))
    )
    others = zip(SHARES.items(), of_others, strict=True)
    has = {name: bool(chance < share) for (name, share), chance in others}
    return LogShape(
        signals=signals or ("loss",),
        every=known.every[rng.integers(len(known.every))],
        digits=DIGITS[rng.integers(len(DIGITS))],
        style=_one_of(STYLES, rng),
        kept=int(rng.integers(MOST_KEPT + 1)),
        cut=_one_of(CUTS, rng),
        **has,
    )


def complete_shape(format: str) -> LogShape:  # noqa: A002
    """All that a format can have, at every step, in all its digits, and with its end."""
    known = formats()[format]
    can_have = {*known.always, *known.may}
    return LogShape(tuple(name for name in SIGNALS if name in can_have), min(known.every))


def draw_names(rng: np.random.Generator) -> dict[str, str]:
    """Users' names of the step, of each signal and of the loss on held-out data."""
    return {of: names[rng.integers(len(names))] for of, names in declared("names.json").items()}


def _one_of(shares: Mapping[_Choice, float], rng: np.random.Generator) -> _Choice:
    *_, last = shares
    chance = rng.random()
    for choice, share in shares.items():
        chance -= share
        if chance < 0:
            return choice
    return last


_COLUMNS: Final[dict[SignalName, str]] = {
    "loss": "loss",
    "grad_norm": "gradient_norm",
    "learning_rate": "learning_rate",
    "memory": "memory_bytes",
}


@dataclass(frozen=True)
class LoggedRun:
    """What a log could say of a run."""

    steps: tuple[int, ...]
    signals: Mapping[SignalName, Sequence[float | None]]
    validation: tuple[float | None, ...]
    seconds: tuple[float, ...]
    sequences: int
    steps_per_epoch: int
    planned_steps: int
    ending: Ending


def logged_run(
    telemetry_run: Mapping[str, Any], steps: pl.DataFrame, last_step: int | None
) -> LoggedRun:
    """What a log could say of a run; a step in which it crashed, hung or was killed it does not."""
    ending = Ending("silence" if telemetry_run["ending"] == "timeout" else "completed")
    if telemetry_run["ending"] == "exception":
        unnamed = f"{telemetry_run['error_type']}: {telemetry_run['error_message'] or ''}"
        text = telemetry_run["error_traceback"] or unnamed
        ending = Ending("exception", neutral_traceback(text))
    elif telemetry_run["ending"] == "signal":
        ending = Ending("death", signal=telemetry_run["exit_signal"])
    if last_step is not None:
        if ending.kind == "completed" and telemetry_run["steps"] > last_step + 1:  # under way
            ending = Ending("silence")
        steps = steps.filter(pl.col("step") <= last_step)
    if ending.kind == "exception":
        steps = steps.head(steps.height - 1)
    if ending.kind != "completed":
        steps = steps.filter(pl.col("loss").is_not_null(), pl.col("gradient_norm").is_not_null())
    signals: dict[SignalName, Sequence[float | None]] = {
        signal: steps[column].to_list() for signal, column in _COLUMNS.items()
    }
    seconds = tuple(steps["step_seconds"].fill_null(0.0).to_list())
    signals["throughput"] = [
        count / time if time > 0 else None
        for count, time in zip(steps["tokens"].fill_null(0), seconds, strict=True)
    ]
    signals["perplexity"] = [perplexity(loss) for loss in signals["loss"]]
    return LoggedRun(
        steps=tuple(steps["step"].to_list()),
        signals=signals,
        validation=tuple(steps["validation_loss"].to_list()),
        seconds=seconds,
        sequences=telemetry_run["nominal_batch_size"],
        steps_per_epoch=_steps_per_epoch(telemetry_run),
        planned_steps=telemetry_run["planned_steps"],
        ending=ending,
    )


def perplexity(loss: float | None) -> float | None:
    """The exponential of a loss in nats, infinite where it is too large for a number.

    >>> perplexity(0.0), perplexity(1e4), perplexity(None)
    (1.0, inf, None)
    """
    if loss is None:
        return None
    try:
        return math.exp(loss)
    except OverflowError:
        return math.inf


def _steps_per_epoch(run: Mapping[str, Any]) -> int:
    """Batches, as they were planned, that hold the tokens of the corpus once."""
    batch = run["nominal_batch_size"] * run["nominal_sequence_length"]
    tokens = run["corpus_tokens"]
    return max(1, round(tokens / batch)) if tokens else int(run["planned_steps"])


Files = dict[str, bytes]
FILE: Final = "train.log"
_COLOURS: Final = ("\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[33m")
_END: Final = "\x1b[0m"
_PREFIX: Final = "[default0]:"  # what torchrun puts before each line with ``--tee``
_BAR: Final = 20


@dataclass(frozen=True)
class Entry:
    """What is logged after a step."""

    index: int
    step: int
    epoch: float
    values: dict[str, float]
    validation: float | None

    @property
    def measured(self) -> dict[str, float]:
        """All values by their names, the loss on held-out data as ``validation``."""
        held_out = {} if self.validation is None else {"validation": self.validation}
        return {**self.values, **held_out}


@dataclass(frozen=True)
class Writer:
    """A run, the shape of its log, and what draws the rest."""

    run: LoggedRun
    shape: LogShape
    rng: np.random.Generator

    def entries(self, first: int = 0) -> Iterator[Entry]:
        """The entries of a log, in their order."""
        run, shape = self.run, self.shape
        columns = [(name, run.signals[name]) for name in shape.signals]
        for index, step in enumerate(run.steps):
            validation = run.validation[index] if shape.validation else None
            logged = (step + first) % shape.every == 0
            if logged or validation is not None:
                found = [(name, column[index]) for name, column in columns if logged]
                values = {str(name): value for name, value in found if value is not None}
                yield Entry(index, step, (step + 1) / run.steps_per_epoch, values, validation)

    def records(self, names: dict[str, str]) -> Iterator[dict[str, float | int]]:
        """A record for each entry, with the step under its name and the values under theirs."""
        for entry in self.entries():
            measured = {names[name]: value for name, value in entry.measured.items()}
            yield {names["step"]: entry.step, **measured}

    def terminal(self, lines: Iterable[str]) -> Files:
        """What a terminal showed of a run: the lines, then how it ended."""
        return as_file([*self.noisy(list(lines)), *self.end()])

    def beside(self, lines: Iterable[str] = ()) -> Files:
        """The terminal's output beside a file of metrics, if it was kept."""
        shown = self.terminal(["Loading data", "Training starts", *lines])
        return shown if self.shape.terminal else {}

    def end(self) -> list[str]:
        """How the run ended, as the terminal shows it."""
        shape = self.shape
        end = ending_lines(self.run.ending, shape.style, self.rng, said=shape.ending)
        return self.prefixed(end)

    def noisy(self, lines: list[str]) -> list[str]:
        """The lines with prefixes, colours and the states of a progress bar."""
        colour, speed = _COLOURS[self.rng.integers(len(_COLOURS))], float(self.rng.uniform(2, 40))
        if self.shape.bars:
            total, count = max(1, self.run.planned_steps), max(1, len(lines))
            lines = [
                f"\r{bar(len(self.run.steps) * place // count, total, speed)}\r{line}"
                for place, line in enumerate(lines)
            ]
        if self.shape.coloured:
            lines = [f"{colour}{line}{_END}" for line in lines]
        return self.prefixed(lines)

    def prefixed(self, lines: list[str]) -> list[str]:
        """The lines with the rank before each, if the launcher says it."""
        return [_PREFIX + line for line in lines] if self.shape.prefixed else lines


def as_file(lines: Iterable[str], name: str = FILE) -> Files:
    """Lines as a file."""
    return {name: "".join(f"{line}\n" for line in lines).encode()}


def mean_since(values: Sequence[float | None], last: int, index: int) -> float:
    """The mean over the entries after ``last`` and up to ``index``; what is not there is left out.

    >>> mean_since([9.0, 1.0, None, 3.0], 0, 3)
    2.0
    """
    interval = [value for value in values[last + 1 : index + 1] if value is not None]
    return sum(interval) / len(interval) if interval else float("nan")


def bar(done: int, total: int, speed: float) -> str:
    """A progress bar of tqdm.

    >>> bar(5, 20, 10.0)
    ' 25%|█████               | 5/20 [00:00<00:01, 10.00it/s]'
    """
    full = "█" * (_BAR * done // total)
    spent, left = int(done / speed), int((total - done) / speed)
    times = f"{spent // 60:02d}:{spent % 60:02d}<{left // 60:02d}:{left % 60:02d}"
    return f"{100 * done // total:3d}%|{full:<{_BAR}}| {done}/{total} [{times}, {speed:.2f}it/s]"
