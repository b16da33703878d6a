"""Known logs: what is learnt from and asked about, and what is known of each.

Logs of the benchmark's runs and of its second author's, as the monitor wrote them; what others
wrote: programs of the field, reports and messages of libraries; and healthy runs of two ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from failbench.base import measuring as st
from failbench.base.records import read_rows
from failbench.base.scenarios import Scenario
from failbench.causes.catalogue import cause_of_scenario, causes
from failbench.diagnose.curves import curves_of
from failbench.diagnose.known import KnownLog, Said
from failbench.diagnose.readers.excerpt import without_numbers
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.records import log_of_history
from failbench.diagnose.signs import signs_of
from failbench.diagnose.words import counted
from failbench.field.corpus import known_logs
from failbench.field.monitored import MONITOR, known_monitored
from failbench.field.reports import read_reports
from failbench.messages.catalogue import messages
from failbench.monitor.breaks import breaks
from failbench.monitor.endings import ENDINGS
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.records.first_break import answer_of, decide
from failbench.monitor.records.tables import (
    Monitored,
    histories,
    measured_settings,
    read_monitored,
    setting_of,
    together,
)
from failbench.monitor.records.verdicts import END_SCHEMA, RUNNING, ends_of
from failbench.monitor.records.versions import read_rules
from failbench.neighbours.rendering.run import COMPLETE
from recordings import read_recordings
from shared.authors import A, B, Reading
from shared.carried import NONE, read_carried
from shared.diagnose_logs import AHEAD, BY_HAND, CARRIED_BOUNDS, OWN_BOUNDS, MessageExample
from shared.ranks import GROUP, healthy_ranks

MONITORED = Path("data/monitor")
ENDS = Path("data/measurements/invariants/ends.parquet")
CARRIED = Path("data/measurements/carried_bounds.parquet")
FIELD, REPORTS = Path("data/field"), Path("data/reports")
EXAMPLES = Path("data/messages/examples.csv")
AUTHOR_B, READERS = Path("data/author_b"), Path("data/author_b/readers.csv")

FORMATS_OF_MONITOR = {OWN_BOUNDS: "monitor_bounds", CARRIED_BOUNDS: "monitor"}
"""The monitor's log, with bounds from healthy runs of its setting, and as a stranger has it."""

Run = Mapping[str, Any]
Example = dict[str, Any]
"""One log of a run whose cause is known: what ``ANSWER_SCHEMA`` says of it, and its ``signs``."""


Labels = Mapping[str, tuple[st.Category, str | None]]
"""Category and cause of each scenario of an author."""


class Bounds(NamedTuple):
    """The monitor's bounds by setting: of its own healthy runs, and of all other settings."""

    own: Mapping[str, Mapping[str, Bound]]
    carried: Mapping[str, Mapping[str, Bound]]


class Watched(NamedTuple):
    """Monitored runs, when each failing one failed, bounds, and what is known of scenarios."""

    monitored: Monitored
    failure_steps: Mapping[str, int | None]
    bounds: Bounds
    labels: Labels | None = None  # of another author than the benchmark's


def bounds_of_monitor(version: str) -> Bounds:
    """Bounds of a frozen version, and those that carry over."""
    return Bounds(read_rules(MONITORED, version).bounds, read_carried(CARRIED))


class Outside(NamedTuple):
    """What others wrote: logs of the field and reports, and messages as libraries print them."""

    logs: tuple[KnownLog, ...] = ()
    said: tuple[Said, ...] = ()
    by_hand: tuple[Mapping[str, Any], ...] = ()
    parts: Mapping[str, str] = {}


def example_of(
    run: Run,
    format_name: str,
    log: Log,
    fitted: Mapping[str, Bound],
    labels: Labels | None = None,
) -> Example:
    """A log of a run; labels are those of another author than the benchmark's."""
    scenario = run["scenario"] or run["run_id"]
    cause = category = None
    if run["kind"] == "failure":
        cause = cause_of_scenario()[scenario] if labels is None else labels[scenario][1]
        category = causes()[cause or ""].category if labels is None else labels[scenario][0]
    is_complete = format_name == COMPLETE
    return {
        "author": A if labels is None else B,
        "model": model_of(format_name),
        "run_id": run["run_id"],
        "format": format_name,
        "kind": run["kind"],
        "setting": setting_of(run),
        "seed": run["seed"],
        "scenario": scenario,
        "category": category,
        "cause": cause,
        "present": ",".join(log.present),
        "says_end": any(event.kind != "warning" for event in log.events),
        "signs": signs_of(log, fitted),
        "by_hand": None if log.history is None else by_hand(log.history, fitted),
        "words": counted(log.words),
        "curves": curves_of(log) if is_complete else (),
    }


def model_of(format_name: str) -> str:
    """What a log is: of any format, or a monitor's, with whose bounds and when."""
    return FORMATS_OF_MONITOR.get(format_name, "ahead" if AHEAD in format_name else "log")


def monitored_examples(watched: Watched, ahead: Sequence[int], workers: int) -> list[Example]:
    """The monitor's logs of runs, cut at the failure, with bounds of the setting and of others.

    Of runs whose fault had begun by then, those that were cut some steps ahead of it, too.
    """
    ids = watched.monitored.runs["run_id"]
    taken = (pl.col("run_id").is_in(ids[at::workers].implode()) for at in range(workers))
    blocks = [(watched._replace(monitored=watched.monitored.select(runs)), ahead) for runs in taken]
    examples = [each for part in st.parallel_map(_monitored, blocks, workers) for each in part]
    return sorted(examples, key=lambda each: each["run_id"])


def _monitored(watched: Watched, ahead: Sequence[int]) -> list[Example]:
    monitored, failure_steps, bounds, labels = watched
    examples = []
    for recorded, history in histories(monitored):
        name, setting = recorded["run_id"], setting_of(recorded)
        failure = failure_steps.get(name)
        log = log_of_history(name, at_failure(history, failure))
        for form, of_form in ((OWN_BOUNDS, bounds.own), (CARRIED_BOUNDS, bounds.carried)):
            examples.append(example_of(recorded, form, log, of_form[setting], labels))
        for steps in ahead:
            if failure is not None and failure - steps >= recorded["onset_step"]:
                cut = replace(at_failure(history, failure - steps), end=RUNNING)
                form, log = f"{OWN_BOUNDS}, {steps} steps ahead", log_of_history(name, cut)
                examples.append(example_of(recorded, form, log, bounds.own[setting], labels))
    return examples


def by_hand(history: History, fitted: Mapping[str, Bound]) -> str:
    """The answer of what broke first, in the order by hand."""
    return str(answer_of(decide(breaks(history, CATALOGUE, fitted), history.end, ENDINGS)))


def at_failure(history: History, failure_step: int | None) -> History:
    """What a monitor's log held when the run failed."""
    if failure_step is None:
        return history
    rows = tuple(row for row in history.rows if row.step <= failure_step)
    return replace(history, rows=rows, end=history.end if history.end.failed else RUNNING)


def known_log(example: Example, corpus: str = "") -> KnownLog:
    """A log of the benchmark; one of a corpus that is left out as a whole is called by its run."""
    facts = {name: example[name] for name in ("signs", "category", "cause", "words")}
    names = {name: example[name] for name in ("scenario", "setting")}
    if corpus:
        names["setting"] = f"{corpus}, {example['format']}"
    return KnownLog(group=corpus or example["scenario"], **facts, **names)


def read_outside(carried: Mapping[str, Mapping[str, Bound]]) -> Outside:
    """All logs of others that may be learnt from; bounds are those of others than their author."""
    of_reports = read_reports(REPORTS)
    examples = read_rows(EXAMPLES, MessageExample, "Restore it with `git checkout`.", ["id"])
    known = {message.id: message for message in messages()}
    said = (
        (counted(without_numbers(f"{each.name}: {each.text}")), known[each.id]) for each in examples
    )
    of_messages = tuple(Said(words, of.category, of.causes[0]) for words, of in said)
    of_field = known_logs(FIELD, "development")
    parts: dict[str, str] = {log.scenario: program.card.kind for program, _, log in of_field}
    parts |= {report.report: f"told_{report.can_be_told}" for report, _ in of_reports}
    logs = [log for _, _, log in of_field]
    of_monitor = known_monitored(FIELD, "development", carried)
    logs += [log for _, _, log in of_monitor]
    logs += [log for _, log in of_reports]
    logs += of_healthy_ranks(carried)
    hand = tuple(
        {"learnt": BY_HAND, "corpus": log.setting, "log": log.scenario, "group": log.group,
         "category": log.category, "cause": log.cause, "prediction": answer,
         "alarm": answer != st.ABSTAIN}
        for console, history, log in of_monitor if log.setting == MONITOR
        for answer in (by_hand(history, carried[console.program.card.author]),)
    )  # fmt: skip
    return Outside(tuple(logs), of_messages, hand, parts)


def of_healthy_ranks(carried: Mapping[str, Mapping[str, Bound]]) -> Iterator[KnownLog]:
    """The log of each rank of healthy runs of several, all of a run weighing one."""
    for setting, runs in healthy_ranks().items():
        for run, ranks in enumerate(runs):
            for history in ranks.values():
                log = log_of_history(MONITOR, history)
                signs, words = signs_of(log, carried[setting]), counted(log.words)
                yield KnownLog(signs, None, None, f"{setting} {run}", setting, GROUP, words)


def labels_of_b(scenarios: Iterable[Scenario]) -> Labels:
    """What is known of the second author's scenarios: causes on which two blind readers agree."""
    readings: dict[str, list[str]] = {}
    for each in read_rows(READERS, Reading, "Restore it with git.", ["scenario", "reader"]):
        readings.setdefault(each.scenario, []).append(each.cause)
    known = causes()
    found: dict[str, tuple[st.Category, str | None]] = {}
    for scenario in scenarios:
        first, *others = readings.get(scenario.id, ["none"])
        agreed = first in known and all(each == first for each in others)
        found[scenario.id] = scenario.category, first if agreed else None
    return found


def failures(monitored: Monitored, ends: pl.DataFrame) -> dict[str, int | None]:
    """When each failing run failed, where the detector saw it fail."""
    failing = monitored.runs.filter(kind="failure").join(ends, on="run_id", how="left")
    return dict(failing.select("run_id", "failure_step").iter_rows())


def read_of_a(bounds: Bounds) -> Watched:
    """The monitored runs of the benchmark."""
    ends = st.read_output(ENDS, END_SCHEMA)
    kinds = pl.col("kind").is_in(["failure", "twin", "success"])
    monitored = together(measured_settings(MONITORED).values()).select(kinds)
    return Watched(monitored, failures(monitored, ends), bounds)


def read_of_b(bounds: Bounds) -> Watched:
    """Those of its second author, none of whose healthy runs is in the bounds of the package."""
    telemetry, scenarios = read_recordings(AUTHOR_B / "telemetry", AUTHOR_B / "scenarios")
    monitored = read_monitored(AUTHOR_B / "telemetry/monitor")
    failure_steps = failures(monitored, ends_of(monitored.runs, telemetry.runs))
    bounds = bounds._replace(carried=dict.fromkeys(bounds.carried, bounds.carried[NONE]))
    return Watched(monitored, failure_steps, bounds, labels_of_b(scenarios))
