"""The record of one run as a language model reads it: observables alone, as exact texts."""

# What the monitor recorded may follow: the end, signals that were off, breaks by step, signal,
# value and what must hold. Whose invariant it is, is not shown: that is the monitor's answer. Nor
# is anything that came after the failure.

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.features.observables import Observables
from failbench.methods.llm.answer import abbreviated, visible
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.methods.rules import parts, read_table
from failbench.monitor.invariants import CATALOGUE, Invariant
from failbench.monitor.records.verdicts import OWN
from failbench.monitor.records.versions import Rules


@dataclass(frozen=True)
class Signal:
    """A value that a record shows."""

    name: str
    categories: tuple[Category, ...]
    source: str
    aliases: tuple[str, ...] = ()


def _part(name: str) -> tuple[Signal, ...]:
    return tuple(
        Signal(
            row["name"],
            cast("tuple[Category, ...]", tuple(parts(row["categories"]))),
            row["source"],
            tuple(parts(row["aliases"])),
        )
        for row in read_table("llm_signals")
        if row["part"] == name
    )


STEP_SIGNALS: Final = _part("steps")  # columns of the table of steps, in their order
CONFIGURATION_SIGNALS: Final = _part("configuration")  # values shown once per run, in their order
ERROR_SIGNALS: Final = _part("error")  # the error text
END_SIGNALS: Final = _part("end")  # how the monitor saw a run end, in their order

SIGNALS: Final = (*STEP_SIGNALS, *CONFIGURATION_SIGNALS, *ERROR_SIGNALS)

MONITOR_SIGNALS: tuple[Signal, ...] = (  # beside :data:`SIGNALS`, some of which it shows as well
    *END_SIGNALS,
    *(
        Signal(
            name,
            tuple(
                category
                for category in CATEGORIES
                if any((each.signal, each.component) == (name, category) for each in CATALOGUE)
            ),
            "the monitor's catalogue: the components whose invariants speak of the signal",
        )
        for name in dict.fromkeys(invariant.signal for invariant in CATALOGUE)
        if name not in {signal.name for signal in SIGNALS}
    ),
)

QUALIFIERS: Final = frozenset(_part("qualifier")[0].aliases)  # no part of a signal's name


def plain(name: str) -> str:
    """A name in lower case, its words joined by single underscores.

    >>> plain(" Gradient-Norm (max)")
    'gradient_norm_max'
    """
    return "_".join(re.findall(r"[a-z0-9]+", name.lower()))


_NAMES = {alias: signal for signal in reversed(SIGNALS) for alias in (*signal.aliases, signal.name)}
_MONITOR_NAMES = {
    alias: signal for signal in MONITOR_SIGNALS for alias in (*signal.aliases, signal.name)
}


def signal_named(name: str, *, monitored: bool = False) -> Signal | None:
    """The signal that an answer cites, also without its numbers and ``QUALIFIERS``, or None."""
    names = {**_MONITOR_NAMES, **_NAMES} if monitored else _NAMES
    whole = plain(name)
    if whole in names:
        return names[whole]
    words = [word for word in whole.split("_") if word not in QUALIFIERS and not word.isdecimal()]
    return names.get("_".join(words))


NOT_LOGGED = "-"  # text of a value that a run did not log

NO_ERROR = "none: the run raised no error"

DIGITS = 3  # significant digits of measured numbers: 50 steps must fit into a small model's context

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
        problem = f"there are {observables.runs.height} runs."
        raise BadInputError("observables", "row", problem, "Make one record per run.")
    run = observables.runs.row(0, named=True)
    capacity = run["capacity_bytes"]
    shown = _named(observables.steps, capacity).tail(settings.steps)
    columns = {
        signal.name: tuple(map(number_text, shown[signal.name].to_list()))
        for signal in STEP_SIGNALS
    }
    derived = {
        "steps_begun": observables.steps.height,
        "memory_capacity_mib": None if capacity is None else capacity / MIB,
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
    shares = {"unknown_share": "unknown_tokens", "covered_share": "covered_tokens"}
    tokens = pl.when(pl.col("tokens") > 0).then("tokens")
    return steps.with_columns(
        memory=pl.col("memory_bytes") / pl.lit(capacity, pl.Float64),
        batch_size=pl.col("sequences"),
        **{name: pl.col(count) / tokens for name, count in shares.items()},
    ).select("step", *(signal.name for signal in STEP_SIGNALS))


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


NOT_ENDED: Final = "none: the run had not ended at its failure"

ENDED_BY_NOTHING: Final = ("completed", "running")  # they failed before, or never
RAISED: Final = ("it raised ", "the monitor raised ")  # how reasons of a training begin


def monitor_records(
    runs: pl.DataFrame,
    breaks: pl.DataFrame,
    ends: pl.DataFrame,
    rules: Rules,
    settings: LlmAgentsSettings,
) -> dict[str, MonitorRecord]:
    """What is shown of every monitored run that failed, by ``run_id``."""
    statements = {invariant.id: invariant for invariant in rules.invariants}
    own = breaks.filter(pl.col("bounds") == OWN).partition_by("run_id", as_dict=True)
    failed = ends.filter(pl.col("failure_step").is_not_null()).join(
        runs.select("run_id", "off"), on="run_id"
    )
    records = {}
    for run in failed.iter_rows(named=True):
        part = own.get((run["run_id"],), breaks.clear())
        by_failure = part.filter(pl.col("step") <= run["failure_step"])
        records[run["run_id"]] = MonitorRecord(
            _end(run, settings), _breaks(by_failure, statements), _off(run)
        )
    return records


def _end(run: Mapping[str, Any], settings: LlmAgentsSettings) -> dict[str, str]:
    if run["end_kind"] in ENDED_BY_NOTHING:
        return {END_SIGNALS[0].name: NOT_ENDED}
    parts = {"end_kind": run["end_kind"], "end_phase": run["end_phase"], "end_error": run["error"]}
    return {
        signal.name: abbreviated(visible(parts[signal.name]), settings.error_characters)
        for signal in END_SIGNALS
        if parts[signal.name]
    }


def _breaks(breaks: pl.DataFrame, known: Mapping[str, Invariant]) -> tuple[ShownBreak, ...]:
    """In order of steps; of the same step by name, as the catalogue's order is of components."""
    shown = []
    for row in breaks.iter_rows(named=True):
        if row["invariant"] not in known:
            problem = f"{row['invariant']!r} is none of the version's."
            remedy = "Take breaks and rules of one version."
            raise BadInputError("breaks", "invariant", problem, remedy)
        invariant = known[row["invariant"]]
        shown.append((row["step"], invariant.signal, invariant.statement, row["value"]))
    return tuple(
        ShownBreak(str(step), signal, number_text(value), statement)
        for step, signal, statement, value in sorted(shown, key=lambda each: each[:3])
    )


def _off(run: Mapping[str, Any]) -> tuple[str, ...]:
    """Signals off at the failure; of a run that lived on, not those that an error turned off."""
    lived_on = run["end_kind"] in ENDED_BY_NOTHING
    return tuple(
        sorted(
            name
            for name, reason in json.loads(run["off"]).items()
            if not (lived_on and reason.startswith(RAISED))
        )
    )


def records_of(
    runs: pl.DataFrame, run_ids: Sequence[str], records: Mapping[str, MonitorRecord]
) -> dict[str, MonitorRecord]:
    """The monitor's records of some runs."""
    settings = {run["run_id"]: run for run in runs.iter_rows(named=True)}
    for run_id in run_ids:
        if run_id not in records:
            run = settings[run_id]
            scale = "" if run["scale"] == "small" else f" --scale {run['scale']}"
            problem = "was not monitored, or not judged since."
            remedy = (
                "Record it with `failbench record --signals full --architecture "
                f"{run['architecture']} --optimizer {run['optimizer']}{scale}`, then run "
                "`dvc repro --single-item invariants`."
            )
            raise BadInputError("monitored runs", run_id, problem, remedy)
    return {run_id: records[run_id] for run_id in run_ids}
