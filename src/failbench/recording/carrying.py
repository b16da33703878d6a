"""Carrying over: the runs whose fingerprints changed, and a sample of them recorded again."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import RUN_SCHEMA, Telemetry
from failbench.recording.campaign import Campaign
from failbench.recording.compared import Comparison, compare
from failbench.recording.fingerprint import PROVENANCE
from failbench.recording.journal import JournalEntry
from failbench.recording.plan import PlannedRun, Setting, plan_remedies
from failbench.recording.progress import Progress
from failbench.recording.rows import run_row
from failbench.recording.sandbox import RunReport
from failbench.recording.threads import for_each
from failbench.recording.verdicts import refuse_unknown

_PLANNED = (
    *(name for name in RUN_SCHEMA if name.startswith("nominal_")),
    *("kind", "scenario", "twin_of", "draw", "onset_step"),
    *("planned_steps", "capacity_multiple", "distractor"),
)
"""Columns that follow from the plan, before anything is executed."""


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
class Repeated:
    """A run of the sample, and how it compares with what is stored of it."""

    candidate: Candidate
    comparison: Comparison


def recorded_settings(runs: pl.DataFrame) -> list[Setting]:
    """The settings of recorded runs, in the order of their columns."""
    columns = ("architecture", "optimizer", "scale", "device")
    return [Setting(*key) for key in runs.select(columns).unique().sort(columns).rows()]


def candidates(
    campaign: Campaign, runs: pl.DataFrame, excepted: Collection[str], file: Path
) -> list[Candidate]:
    """The runs of a setting whose fingerprints may be carried over, by id.

    Runs that the plan of today does not have are none.
    """
    rows = {row["run_id"]: row for row in runs.to_dicts()}
    outdated = [
        Candidate(planned, campaign.setting, row, today)
        for planned in _planned_runs(campaign, rows)
        if (row := rows.get(planned.run_id)) is not None
        and row["fingerprint"] != (today := campaign.fingerprint_of(planned))
        and not _is_excepted(planned, excepted)
    ]
    for candidate in outdated:
        _refuse_another_run(candidate, campaign, file)
    return sorted(outdated, key=lambda candidate: candidate.run_id)


def _planned_runs(
    campaign: Campaign, rows: Mapping[str, Mapping[str, Any]]
) -> Iterator[PlannedRun]:
    """All runs of a plan, with the configurations that were drawn for the recorded ones."""
    yield from campaign.successes
    for pair in campaign.pairs:
        recorded = rows.get(pair.twin.run_id) or rows.get(pair.failure.run_id)
        drawn = pair if recorded is None else campaign.drawn(pair.twin, recorded["draw"])
        yield from (drawn.twin, drawn.failure, *plan_remedies(drawn.failure, campaign.params))


def _is_excepted(planned: PlannedRun, excepted: Collection[str]) -> bool:
    scenario = None if planned.declaration is None else planned.scenario
    return scenario is not None and scenario.id in excepted


def _refuse_another_run(candidate: Candidate, campaign: Campaign, file: Path) -> None:
    stored = candidate.stored
    for name in PROVENANCE:
        if stored[name] != campaign.provenance[name]:
            raise BadInputError(
                file,
                name,
                f"{candidate.run_id} was recorded with {stored[name]}, and here is "
                f"{campaign.provenance[name]}.",
                "Install what requirements-record.lock names, or record all runs again.",
            )
    planned = run_row(candidate.planned, candidate.setting, RunReport(), 0, {}, "")
    for name in _PLANNED:
        if stored[name] != planned[name]:
            raise BadInputError(
                file,
                name,
                f"{candidate.run_id} was planned with {stored[name]!r}, and would now be planned "
                f"with {planned[name]!r}.",
                "Restore what it is drawn from, or record it again.",
            )


def drawn_sample(outdated: Sequence[Candidate], size: int, seed: int) -> list[Candidate]:
    """A sample that is spread as evenly as can be over settings and kinds, then over scenarios.

    Settings and kinds take turns in a drawn order; each gives the next of its runs, in a drawn
    order, of a scenario that its kind was asked for the least.
    """
    generator = np.random.default_rng(seed)
    strata: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in sorted(outdated, key=lambda candidate: candidate.run_id):
        strata[candidate.setting.name, candidate.planned.kind].append(candidate)
    keys = sorted(strata)
    keys = [keys[index] for index in generator.permutation(len(keys))]
    remaining = {
        key: [strata[key][index] for index in generator.permutation(len(strata[key]))]
        for key in keys
    }
    taken: Counter[tuple[str, str | None]] = Counter()
    sample: list[Candidate] = []
    while len(sample) < min(size, len(outdated)):
        for key in keys:
            if remaining[key] and len(sample) < size:
                chosen = min(remaining[key], key=lambda candidate: taken[_cause(candidate)])
                remaining[key].remove(chosen)
                taken[_cause(chosen)] += 1
                sample.append(chosen)
    return sample


def _cause(candidate: Candidate) -> tuple[str, str | None]:
    return candidate.planned.kind, candidate.stored["scenario"]


def repeat(
    sample: Sequence[Candidate],
    campaigns: Mapping[Setting, Campaign],
    known: Telemetry,
    workers: int,
    show: Callable[[Progress, Repeated], None],
    stop: threading.Event,
) -> list[Repeated]:
    """Record a sample again and compare it with what is stored, in the order of the sample."""
    for campaign in campaigns.values():
        campaign.start()
    steps = known.steps.join(
        pl.DataFrame({"run_id": [each.run_id for each in sample]}), on="run_id", how="semi"
    ).partition_by("run_id", as_dict=True, include_key=False)
    rows = {row["run_id"]: row for row in known.runs.to_dicts()}
    # A fault may have moved the limit of a run: it began with the one of its twin.
    capacities = {
        each.run_id: rows.get(f"{each.planned.twin_of or each.run_id}-twin", each.stored)[
            "capacity_bytes"
        ]
        for each in sample
    }
    repeated: dict[str, Repeated] = {}
    progress, lock = Progress(planned=len(sample)), threading.Lock()

    def again(candidate: Candidate) -> None:
        entry, kept = campaigns[candidate.setting].repeat(
            candidate.planned, capacities[candidate.run_id]
        )
        refuse_unknown(entry)
        taken = steps.get((candidate.run_id,))
        stored = JournalEntry(dict(candidate.stored), [] if taken is None else taken.to_dicts())
        result = Repeated(candidate, compare(stored, entry))
        with lock:
            repeated[candidate.run_id] = result
            progress.done += 1
            progress.kept += kept
            if result.comparison.difference is None:
                progress.as_expected += 1
            else:
                progress.rejected.append(candidate.run_id)
            show(progress, result)

    for_each(sample, again, workers, stop)
    return [repeated[each.run_id] for each in sample if each.run_id in repeated]
