"""The record of one run as a language model reads it: the last steps, configuration, error text.

It is made of observables alone, as the features are, and every value in it is the very text that
the model sees, so that an explanation can be held against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from failbench.errors import BadInputError
from failbench.features.observables import Observables
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.methods.llm.signals import CONFIGURATION_SIGNALS, ERROR_SIGNALS, STEP_SIGNALS

ABSENT = "-"
"""What stands where a run logged nothing."""

NO_ERROR = "none: the run raised no error"

DIGITS = 3
"""Significant digits of measured numbers: 50 steps must fit into a small model's context."""

MIB = 2**20


@dataclass(frozen=True)
class ShownRun:
    """Everything that is shown of a run, by signal.

    Attributes
    ----------
    steps
        The numbers of the steps that are shown, in order.
    columns
        A value a step, by the names of ``STEP_SIGNALS``; ``"-"`` where nothing was logged.
    configuration
        By the names of ``CONFIGURATION_SIGNALS``.
    error
        By the names of ``ERROR_SIGNALS``, the first of which says so where nothing was raised.
    """

    steps: tuple[int, ...]
    columns: Mapping[str, tuple[str, ...]]
    configuration: Mapping[str, str]
    error: Mapping[str, str]

    def values(self, signal: str) -> tuple[str, ...]:
        """Every value that is shown of a signal, without those that were not logged."""
        found = self.columns.get(signal) or (
            *(one[signal] for one in (self.configuration, self.error) if signal in one),
        )
        return tuple(one for one in found if one != ABSENT)


def shown_run(observables: Observables, settings: LlmAgentsSettings) -> ShownRun:
    """What is shown of the one run in ``observables``.

    Raises
    ------
    BadInputError
        If there is another number of runs in them.
    """
    if observables.runs.height != 1:
        raise BadInputError(
            "observables",
            "row",
            f"there are {observables.runs.height} runs.",
            "A record is of one run; take them one by one.",
        )
    run = observables.runs.row(0, named=True)
    shown = _named(observables.steps, run["capacity_bytes"]).tail(settings.steps)
    columns = {one.name: tuple(map(number_text, shown[one.name].to_list())) for one in STEP_SIGNALS}
    facts = {
        "steps_begun": observables.steps.height,
        "memory_capacity_mib": _divided(run["capacity_bytes"], MIB),
        "corpus_unknown_share": run["corpus_unknown_rate"],
    }
    configuration = {
        one.name: number_text(facts[one.name] if one.name in facts else run[one.name])
        for one in CONFIGURATION_SIGNALS
    }
    return ShownRun(tuple(shown["step"]), columns, configuration, _error(run, settings))


def _named(steps: pl.DataFrame, capacity: int | None) -> pl.DataFrame:
    """The steps with the columns that are shown."""
    shares = {"unknown_share": "unknown_tokens", "covered_share": "covered_tokens"}
    tokens = pl.when(pl.col("tokens") > 0).then("tokens")
    return steps.with_columns(
        memory=pl.col("memory_bytes") / pl.lit(capacity, pl.Float64),
        batch_size=pl.col("sequences"),
        **{name: pl.col(count) / tokens for name, count in shares.items()},
    ).select("step", *(one.name for one in STEP_SIGNALS))


def _divided(value: int | None, by: int) -> float | None:
    return None if value is None else value / by


def number_text(value: float | str | None) -> str:
    """A value as it is shown: whole numbers in full, others with three significant digits.

    >>> [number_text(one) for one in (160, 0.0123456, float("nan"), float("-inf"), None, "linear")]
    ['160', '0.0123', 'NaN', '-inf', '-', 'linear']
    """
    if value is None:
        return ABSENT
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value:.{DIGITS}g}"
    return visible(str(value))


def _error(run: Mapping[str, str | None], settings: LlmAgentsSettings) -> dict[str, str]:
    """The error text, each part bounded in length; parts that are not there are left out."""
    message, traceback = run["error_message"] or "", run["error_traceback"] or ""
    # A traceback ends with the message, which is shown apart.
    frames = traceback.rpartition(message)[0] if message and message in traceback else traceback
    lines = [line for line in frames.splitlines()[:-1] if line.strip(" ^~")]
    parts = {
        "error_type": run["error_type"] or "",
        "error_message": message,
        "error_traceback": "\n".join(lines[-settings.traceback_lines :]),
    }
    shown = {
        one.name: abbreviated(visible(parts[one.name]), settings.error_characters)
        for one in ERROR_SIGNALS
        if parts[one.name].strip()
    }
    return shown or {ERROR_SIGNALS[0].name: NO_ERROR}


def visible(text: str) -> str:
    r"""Text whose control characters can be seen, and which holds no mark of a chat template.

    Everything that does not print, but for line ends, is written as Python escapes it: control
    characters, marks of the direction of writing, lone surrogates. So is what splits a message for
    a model: a backslash goes into ``<|``, ``<s>``, ``[INST]`` and ``<<SYS>>`` (the special tokens
    that Meta and Mistral document for Llama 3 and Mistral 7B), as a server may read these in the
    middle of a text.

    >>> visible("a\x1b[0m\r\n<|eot_id|> [/INST] </s>")
    'a\\x1b[0m\\r\n<\\|eot_id|> [\\/INST] <\\/s>'
    """
    shown = "".join(
        one if one == "\n" or one.isprintable() else one.encode("unicode_escape").decode()
        for one in text
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
    """Text of at most ``limit`` characters and a note: the middle is left out, and said to be.

    What an error is comes first and what raised it last, so that two thirds are kept of the start
    and one third of the end.

    >>> abbreviated("abcdefghijkl", 6)
    'abcd [6 characters left out] kl'
    """
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]} [{len(text) - limit} characters left out] {text[-tail:]}"
