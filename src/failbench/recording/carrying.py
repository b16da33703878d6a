"""Carrying over: today's fingerprints for runs of which a sample, recorded again, is equal."""

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.telemetry import (
    NOISY_STEP_COLUMNS,
    RUN_SCHEMA,
    STEP_SCHEMA,
    Telemetry,
    read_table,
    write_parquet,
)
from failbench.recording.campaign import Campaign, Progress, Unit, for_each, run_row
from failbench.recording.fingerprint import PROVENANCE
from failbench.recording.journal import JournalEntry, refuse_unknown, steps_of
from failbench.recording.plan import PlannedRun, Setting
from failbench.recording.sandbox import RunReport

CARRIED = "carried.csv"  # file in a folder of telemetry that says which runs were compared
CARRIED_SCHEMA = pl.Schema(
    {
        "run_id": pl.String,
        "fingerprint_after": pl.String,
        "fingerprint_before": pl.String,
        "setting": pl.String,
        "kind": pl.String,
        "ending": pl.String,
        "steps_compared": pl.Int32,
        "length_difference": pl.Int32,  # steps that the new recording is longer
        "same_message": pl.Boolean,  # null without an error
        "same_traceback": pl.Boolean,  # but for numbers of lines
        "candidates": pl.Int32,  # of which the sample was drawn; all have new fingerprints
        "seed": pl.Int64,  # of the draw
    }
)

_PLANNED = (  # columns that follow from the plan, before anything is executed
    *(name for name in RUN_SCHEMA if name.startswith("nominal_")),
    *("kind", "scenario", "twin_of", "draw", "onset_step"),
    *("planned_steps", "capacity_multiple", "distractor"),
)

MOST_STEPS_APART = 5  # in length, where memory or a clock ends a run

_OTHER_RUN_COLUMNS = frozenset(
    {
        *("capacity_bytes", "wall_seconds"),  # measure the machine
        *("outcome", "failure_step"),  # follow from the steps
        *("steps", "error_message", "error_traceback"),  # have rules of their own
        "fingerprint",  # is what may change
    }
)
RUN_COLUMNS = tuple(name for name in RUN_SCHEMA if name not in _OTHER_RUN_COLUMNS)
"""Columns of a run as a whole that must be equal; its ending and the type of its error are two."""
STEP_COLUMNS = tuple(  # columns of a step that must be equal: all that do not measure the machine
    name for name in STEP_SCHEMA if name not in NOISY_STEP_COLUMNS and name != "run_id"
)

_OUT_OF_MEMORY = re.compile(  # as PyTorch, its kernels, Python and the system word it
    r"out of memory|OutOfMemoryError|MemoryError|can(?:'t|not) allocate memory|Unable to allocate|"
    r"bad_alloc|could not create a primitive",
    re.IGNORECASE,
)
_LINE_NUMBER = re.compile(r", line \d+")


@dataclass(frozen=True)
class Candidate:
    """A recorded run whose fingerprint is not the one that the code of today gives it."""

    planned: PlannedRun
    setting: Setting
    stored: Mapping[str, Any]
    fingerprint: str

    @property
    def run_id(self) -> str:
        """Its id."""
        return self.planned.run_id


@dataclass(frozen=True)
class Comparison:
    """What a comparison of two recordings of a run covered, and their first difference."""

    steps_compared: int
    length_difference: int
    same_message: bool | None
    same_traceback: bool | None
    difference: str | None


def candidates(
    campaign: Campaign, runs: pl.DataFrame, excepted: Collection[str], file: Path
) -> list[Candidate]:
    """Runs whose fingerprints may be carried over: of today's plan, with no excepted fault."""
    rows = {row["run_id"]: row for row in runs.to_dicts()}
    outdated = []
    for planned in _planned_runs(campaign, rows):
        row, today = rows.get(planned.run_id), campaign.fingerprint_of(planned)
        scenario = None if planned.declaration is None else planned.scenario
        is_excepted = scenario is not None and scenario.id in excepted
        if row is not None and row["fingerprint"] != today and not is_excepted:
            _refuse_another_run(planned, row, campaign, file)
            outdated.append(Candidate(planned, campaign.setting, row, today))
    return sorted(outdated, key=lambda candidate: candidate.run_id)


def _planned_runs(campaign: Campaign, rows: Mapping[str, Any]) -> Iterator[PlannedRun]:
    yield from campaign.successes
    for pair in campaign.pairs:
        recorded = rows.get(pair.twin.run_id) or rows.get(pair.failure.run_id)
        drawn = pair if recorded is None else campaign.drawn(pair.twin, recorded["draw"])
        yield from (drawn.twin, drawn.failure, *campaign.remedies(drawn))


def _refuse_another_run(
    planned: PlannedRun, stored: Mapping[str, Any], campaign: Campaign, file: Path
) -> None:
    for name in PROVENANCE:
        if stored[name] != campaign.provenance[name]:
            here = campaign.provenance[name]
            problem = f"{planned.run_id} was recorded with {stored[name]}, and here is {here}."
            remedy = "Install what requirements-record.lock names, or record all runs again."
            raise BadInputError(file, name, problem, remedy)
    row = run_row(planned, campaign.setting, RunReport(), 0, {}, "")
    for name in _PLANNED:
        if stored[name] != row[name]:
            problem = (
                f"{planned.run_id} was planned with {stored[name]!r}, and would now be planned "
                f"with {row[name]!r}."
            )
            remedy = "Restore what it is drawn from, or record it again."
            raise BadInputError(file, name, problem, remedy)


def drawn_sample(outdated: Sequence[Candidate], size: int, seed: int) -> list[Candidate]:
    """A sample spread evenly over settings and kinds, which take turns, then over scenarios."""
    generator = np.random.default_rng(seed)
    strata: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in sorted(outdated, key=lambda candidate: candidate.run_id):
        strata[candidate.setting.name, candidate.planned.kind].append(candidate)

    def drawn(units: list[Unit]) -> list[Unit]:
        return [units[index] for index in generator.permutation(len(units))]

    remaining = {key: drawn(strata[key]) for key in drawn(sorted(strata))}
    taken: Counter[tuple[str, str | None]] = Counter()

    def cause(candidate: Candidate) -> tuple[str, str | None]:
        return candidate.planned.kind, candidate.stored["scenario"]

    sample: list[Candidate] = []
    while len(sample) < min(size, len(outdated)):
        for left in remaining.values():
            if left and len(sample) < size:
                chosen = min(left, key=lambda candidate: taken[cause(candidate)])
                left.remove(chosen)
                taken[cause(chosen)] += 1
                sample.append(chosen)
    return sample


def repeat(
    sample: Sequence[Candidate],
    campaigns: Mapping[Setting, Campaign],
    known: Telemetry,
    workers: int,
    show: Callable[[Progress, Candidate, Comparison], None],
    stop: threading.Event,
) -> list[tuple[Candidate, Comparison]]:
    """Record a sample again and compare it with what is stored, in the order of the sample."""
    for campaign in campaigns.values():
        campaign.start()
    rows = {row["run_id"]: row for row in known.runs.to_dicts()}
    compared: dict[str, tuple[Candidate, Comparison]] = {}
    progress, lock = Progress(planned=len(sample)), threading.Lock()

    def again(candidate: Candidate) -> None:
        run_id = candidate.run_id
        # A fault may have moved the limit of a run: it began with the one of its twin.
        first = rows.get(f"{candidate.planned.twin_of or run_id}-twin", candidate.stored)
        campaign = campaigns[candidate.setting]
        entry, kept = campaign.repeat(candidate.planned, first["capacity_bytes"])
        refuse_unknown(entry)
        steps = known.steps.filter(pl.col("run_id") == run_id).drop("run_id").to_dicts()
        comparison = compare(JournalEntry(dict(candidate.stored), steps), entry)
        with lock:
            compared[run_id] = candidate, comparison
            progress.done += 1
            progress.kept += kept
            progress.as_expected += comparison.difference is None
            progress.rejected += [] if comparison.difference is None else [run_id]
            show(progress, candidate, comparison)

    for_each(sample, again, workers, stop)
    return [compared[each.run_id] for each in sample if each.run_id in compared]


def compare(stored: JournalEntry, again: JournalEntry) -> Comparison:
    """Hold a run that was recorded again against the one stored, in what is deterministic."""
    # Where memory or a clock ends both, which step is the last depends on the machine: lengths may
    # differ by :data:`MOST_STEPS_APART`, and the message may name another refused allocation.
    entries = (stored, again)
    lengths = len(stored.steps), len(again.steps)
    by_machine = all(_is_ended_by_machine(entry.run) for entry in entries)
    compared = max(0, min(lengths) - 1) if by_machine else min(lengths)
    messages = [entry.run.get("error_message") for entry in entries]
    texts = [entry.run.get("error_traceback") for entry in entries]
    tracebacks = [text and _LINE_NUMBER.sub("", text) for text in texts]
    same_message, same_traceback = (
        None if pair == [None, None] else pair[0] == pair[1] for pair in (messages, tracebacks)
    )
    rows = ({name: entry.run.get(name) for name in RUN_SCHEMA} for entry in entries)
    runs = [pl.DataFrame([row], schema=RUN_SCHEMA) for row in rows]
    difference = _first_difference(runs, RUN_COLUMNS)
    if difference is None and same_message is False and not by_machine:
        difference = _difference("error_message", *messages)
    if difference is None:
        steps = [steps_of(entry).head(compared) for entry in entries]
        difference = _first_difference(steps, STEP_COLUMNS)
    apart = lengths[1] - lengths[0]
    if difference is None and abs(apart) > (MOST_STEPS_APART if by_machine else 0):
        difference = _difference("steps", *lengths)
    return Comparison(compared, apart, same_message, same_traceback, difference)


def _is_ended_by_machine(run: Mapping[str, Any]) -> bool:
    """Whether a run was killed, as one that hangs is, or got no more memory."""
    text = f"{run.get('error_type')}: {run.get('error_message')}"
    return run.get("exit_signal") == "SIGKILL" or _OUT_OF_MEMORY.search(text) is not None


def _first_difference(tables: Sequence[pl.DataFrame], columns: Sequence[str]) -> str | None:
    stored, again = tables
    unequal = pl.DataFrame({name: stored[name].ne_missing(again[name]) for name in columns})
    rows = unequal.select(pl.any_horizontal(columns)).to_series().arg_true()
    if rows.is_empty():
        return None
    row = rows[0]
    column = next(name for name in columns if unequal[name][row])
    place = f"{column} at step {stored['step'][row]}" if "step" in stored.columns else column
    return _difference(place, stored[column][row], again[column][row])


def _difference(place: str, stored: object, again: object) -> str:
    return f"{place} was {stored!r} and is now {again!r}"


def carry_over(
    folder: Path,
    outdated: Sequence[Candidate],
    compared: Sequence[tuple[Candidate, Comparison]],
    seed: int,
) -> None:
    """Write today's fingerprints, after what was compared: without it nobody could tell why."""
    # Runs whose fingerprints have changed since they were read keep them.
    rows = [
        {
            "run_id": candidate.run_id,
            "fingerprint_after": candidate.fingerprint,
            "fingerprint_before": candidate.stored["fingerprint"],
            "setting": candidate.setting.name,
            "kind": candidate.planned.kind,
            "ending": candidate.stored["ending"],
            "steps_compared": comparison.steps_compared,
            "length_difference": comparison.length_difference,
            "same_message": comparison.same_message,
            "same_traceback": comparison.same_traceback,
            "candidates": len(outdated),
            "seed": seed,
        }
        for candidate, comparison in compared
    ]
    path = folder / CARRIED
    table = pl.concat([read_carried(path), pl.DataFrame(rows, schema=CARRIED_SCHEMA)])
    key = ("run_id", "fingerprint_after")
    content = table.unique(key, keep="last", maintain_order=True).write_csv()
    remedy = "Free space and carry over again; the recordings are unchanged."
    write_atomically(path, content.encode(), remedy)
    runs_path = folder / "runs.parquet"
    write_parquet(with_fingerprints(read_table(runs_path, RUN_SCHEMA), outdated), runs_path)


def read_carried(path: Path) -> pl.DataFrame:
    """What was compared before; no rows where there is no file."""
    if not path.exists():
        return CARRIED_SCHEMA.to_frame()
    remedy = "Restore it from the last commit."
    try:
        content = path.read_bytes()
        if pl.read_csv(content, n_rows=0).columns != CARRIED_SCHEMA.names():
            problem = "has other columns than those of a table of compared runs."
            raise BadInputError(path, "(header)", problem, remedy)
        return pl.read_csv(content, schema=CARRIED_SCHEMA)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadInputError(path, "(file)", f"is no readable table ({error}).", remedy) from error


def with_fingerprints(runs: pl.DataFrame, outdated: Sequence[Candidate]) -> pl.DataFrame:
    """The table of runs with the fingerprints of today for the candidates, else unchanged."""
    today = {(each.run_id, each.stored["fingerprint"]): each.fingerprint for each in outdated}
    keys = runs.select("run_id", "fingerprint").iter_rows()
    renewed = [today.get(key, key[1]) for key in keys]
    return runs.with_columns(pl.Series("fingerprint", renewed, pl.String))
