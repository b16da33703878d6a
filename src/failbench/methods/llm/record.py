"""The record of one run as a language model reads it: the last steps, configuration, error text.

Like the features it is made of observables only. Every value is the exact text in the prompt, so
that explanations can be checked against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from failbench.base.errors import BadInputError
from failbench.features.observables import Observables
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.methods.llm.signals import CONFIGURATION_SIGNALS, ERROR_SIGNALS, STEP_SIGNALS

NOT_LOGGED = "-"
"""Text of a value that a run did not log."""

NO_ERROR = "none: the run raised no error"

DIGITS = 3
"""Significant digits of measured numbers: 50 steps must fit into a small model's context."""

MIB = 2**20


@dataclass(frozen=True)
class ShownBreak:
    """The first break of an invariant, as text."""

    step: str
    signal: str
    value: str
    statement: str


@dataclass(frozen=True)
class MonitorRecord:
    """What the monitor recorded of a run up to its failure."""

    end: Mapping[str, str]
    breaks: tuple[ShownBreak, ...]
    off: tuple[str, ...]

    def values(self, signal: str) -> tuple[str, ...]:
        """Every value of a signal that is shown."""
        of_end = (self.end[signal],) if signal in self.end else ()
        return (*of_end, *(each.value for each in self.breaks if each.signal == signal))


@dataclass(frozen=True)
class ShownRun:
    """The values of a run that a prompt shows, by signal."""

    steps: tuple[int, ...]
    columns: Mapping[str, tuple[str, ...]]
    configuration: Mapping[str, str]
    error: Mapping[str, str]
    monitored: MonitorRecord | None = None

    def values(self, signal: str) -> tuple[str, ...]:
        """Every value of a signal that was logged, without those of the monitor."""
        values = self.columns.get(signal) or tuple(
            part[signal] for part in (self.configuration, self.error) if signal in part
        )
        return tuple(value for value in values if value != NOT_LOGGED)


def shown_run(
    observables: Observables, settings: LlmAgentsSettings, monitored: MonitorRecord | None = None
) -> ShownRun:
    """The shown values of the one run in ``observables``, and what the monitor recorded of it."""
    if observables.runs.height != 1:
        raise BadInputError(
            "observables",
            "row",
            f"there are {observables.runs.height} runs.",
            "Make one record per run.",
        )
    run = observables.runs.row(0, named=True)
    shown = _named(observables.steps, run["capacity_bytes"]).tail(settings.steps)
    columns = {
        signal.name: tuple(map(number_text, shown[signal.name].to_list()))
        for signal in STEP_SIGNALS
    }
    derived = {
        "steps_begun": observables.steps.height,
        "memory_capacity_mib": _divided(run["capacity_bytes"], MIB),
        "corpus_unknown_share": run["corpus_unknown_rate"],
    }
    configuration = {
        signal.name: number_text(
            derived[signal.name] if signal.name in derived else run[signal.name]
        )
        for signal in CONFIGURATION_SIGNALS
    }
    error = _error(run, settings)
    return ShownRun(tuple(shown["step"]), columns, configuration, error, monitored)


def _named(steps: pl.DataFrame, capacity: int | None) -> pl.DataFrame:
    """The steps with the columns that are shown."""
    shares = {"unknown_share": "unknown_tokens", "covered_share": "covered_tokens"}
    tokens = pl.when(pl.col("tokens") > 0).then("tokens")
    return steps.with_columns(
        memory=pl.col("memory_bytes") / pl.lit(capacity, pl.Float64),
        batch_size=pl.col("sequences"),
        **{name: pl.col(count) / tokens for name, count in shares.items()},
    ).select("step", *(signal.name for signal in STEP_SIGNALS))


def _divided(value: int | None, by: int) -> float | None:
    return None if value is None else value / by


def number_text(value: float | str | None) -> str:
    """A value as text: whole numbers in full, others with three significant digits.

    >>> values = (160, 0.0123456, float("nan"), float("-inf"), None, "linear")
    >>> [number_text(value) for value in values]
    ['160', '0.0123', 'NaN', '-inf', '-', 'linear']
    """
    if value is None:
        return NOT_LOGGED
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value:.{DIGITS}g}"
    return visible(str(value))


def _error(run: Mapping[str, str | None], settings: LlmAgentsSettings) -> dict[str, str]:
    """The error text, each part limited in length; missing parts are left out."""
    message, traceback = run["error_message"] or "", run["error_traceback"] or ""
    # A traceback ends with the message, which is shown separately.
    frames = traceback.rpartition(message)[0] if message and message in traceback else traceback
    lines = [line for line in frames.splitlines()[:-1] if line.strip(" ^~")]
    parts = {
        "error_type": run["error_type"] or "",
        "error_message": message,
        "error_traceback": "\n".join(lines[-settings.traceback_lines :]),
    }
    shown = {
        signal.name: abbreviated(visible(parts[signal.name]), settings.error_characters)
        for signal in ERROR_SIGNALS
        if parts[signal.name].strip()
    }
    return shown or {ERROR_SIGNALS[0].name: NO_ERROR}


def visible(text: str) -> str:
    r"""Text with visible control characters and without the special tokens of a chat template.

    Non-printing characters other than line ends are written as Python escapes them: control
    characters, marks of the writing direction, lone surrogates. A backslash is inserted into
    ``<|``, ``<s>``, ``[INST]`` and ``<<SYS>>`` (the special tokens that Meta and Mistral document
    for Llama 3 and Mistral 7B), as a server may parse these within a text.

    >>> visible("a\x1b[0m\r\n<|eot_id|> [/INST] </s>")
    'a\\x1b[0m\\r\n<\\|eot_id|> [\\/INST] <\\/s>'
    """
    shown = "".join(
        character
        if character == "\n" or character.isprintable()
        else character.encode("unicode_escape").decode()
        for character in text
    )
    for opening, markers in TEMPLATE_MARKS.items():
        for mark in markers:
            shown = shown.replace(opening + mark, f"{opening}\\{mark}")
    return shown


TEMPLATE_MARKS: Mapping[str, Iterable[str]] = {
    "<": ("|", "s>", "/s>", "<SYS>", "</SYS>"),
    "[": ("INST]", "/INST]", "AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]", "TOOL_"),
}


def abbreviated(text: str, limit: int) -> str:
    """Text of at most ``limit`` characters, with a note in place of the middle.

    The kind of error comes first and what raised it last, so two thirds are kept of the start and
    one third of the end.

    >>> abbreviated("abcdefghijkl", 6)
    'abcd [6 characters left out] kl'
    """
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]} [{len(text) - limit} characters left out] {text[-tail:]}"
