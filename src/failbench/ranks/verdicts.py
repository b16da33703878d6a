"""Verdicts: what became of a run on two ranks, and whether that is as its cause declares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from failbench.base.telemetry import NOISY_STEP_COLUMNS
from failbench.monitor.signals import SIGNALS
from failbench.ranks.causes import PlannedRanks
from failbench.ranks.recordings import OF_HISTORY, write_runs

SLOWER: Final = 1.5  # times the median step before the onset, from which a run is slow
TIMED_OUT: Final = "Timed out"  # what gloo says of a collective that another rank did not join
LOST: Final = 1.0  # nats that a loss ends above its twin's, from which a run is diverged
LAST: Final = 20  # steps, whose mean loss is that at the end
# how long a thing took, where memory lay, and whether another rank was faster: of the machine
_OF_THE_MACHINE: Final = (
    "memory", "busy_", "blocked_", "live_", "page_faults", "bytes_", "ranks_disagree"
)  # fmt: skip
DETERMINISTIC: Final = tuple(
    each.name for each in SIGNALS if not each.name.startswith(_OF_THE_MACHINE)
)

Ranks = Sequence[Mapping[str, Any]]  # what the recorder keeps of each rank of a run


def outcome_of(planned: PlannedRanks, ranks: Ranks, twin: Ranks | None, apart_nats: float) -> str:
    """What became of a run, whatever its cause declares."""
    endings = {rank["ending"] for rank in ranks}
    if "SIGKILL" in {rank["exit_signal"] for rank in ranks if rank["ending"] == "signal"}:
        return "killed"
    raised = sorted((rank["ended"], rank["error_message"]) for rank in ranks if rank["error_type"])
    if "timeout" in endings or (raised and TIMED_OUT in raised[0][1]):
        return "hung"
    if endings != {"completed"}:
        return "crash"
    if twin is not None:
        pairs = [*zip(ranks, twin, strict=True)]
        measures = (_last_loss, LOST, "diverged"), (last_validation, apart_nats, "degraded")
        for at_end, nats, outcome in measures:
            # a loss that is no number is worse than any
            if not all(at_end(rank) <= at_end(healthy) + nats for rank, healthy in pairs):
                return outcome
    if len({rank["weights"] for rank in ranks}) > 1:
        return "degraded"
    onset = planned.onset_step
    if onset:
        for rank in ranks:
            before, after = median_seconds(rank, 1, onset), median_seconds(rank, onset)
            if before is not None and after is not None and after > SLOWER * before:
                return "slow"
    return "completed"


def publish(
    folder: Path,
    groups: Iterable[Sequence[PlannedRanks]],
    runs: Mapping[str, Mapping[str, Any]],
    nats: float,
) -> None:
    """Write what was recorded of successes, and of failing runs and their twins."""
    tables = []
    for group in groups:
        twin = None
        for planned in group:
            ranks = runs[planned.run_id]["ranks"]
            outcome = outcome_of(planned, ranks, twin, nats)
            for number, rank in enumerate(ranks):
                row = {"rank": number, "outcome": outcome, **_row(planned, rank, ranks)}
                row["fingerprint"] = runs[planned.run_id]["fingerprint"]
                tables.append((row, rank["signals"]))
            twin = ranks
    write_runs(folder, tables)


def _row(planned: PlannedRanks, rank: Mapping[str, Any], ranks: Ranks) -> dict[str, Any]:
    cause, monitored = planned.cause, rank["monitored"] or {}
    return {
        **{name: monitored.get(name) for name in OF_HISTORY},
        **{name: rank[name] for name in ("ending", "error_type", "error_message", "exit_signal")},
        "run_id": planned.run_id, "kind": planned.kind, "seed": planned.seed,
        "cause": cause and cause.id, "category": cause and cause.category,
        "reduction": planned.reduction, "guilty_rank": planned.guilty_rank,
        "onset_step": planned.onset_step, "planned_steps": planned.nominal.planned_steps,
        "ended_after": round(rank["ended"] - min(each["ended"] for each in ranks), 2),
        "steps": len(rank["steps"]), "weights": rank["weights"],
        "step_seconds": median_seconds(rank, planned.nominal.onset_step),
        "validation_loss": last_validation(rank),
    }  # fmt: skip


def problems(
    group: Sequence[PlannedRanks], runs: Mapping[str, Mapping[str, Any]], nats: float
) -> Iterator[str]:
    """What of a success, or of a failing run after its twin, is not as its cause declares."""
    planned, run = group[-1], runs[group[-1].run_id]
    for healthy in group if planned.cause is None else group[:-1]:
        outcome = outcome_of(healthy, runs[healthy.run_id]["ranks"], None, nats)
        if outcome != "completed":
            yield f"{healthy.run_id} is to complete in good health, and its outcome is {outcome}"
    if planned.cause is None:
        return
    twin = runs[group[0].run_id]
    outcome = outcome_of(planned, run["ranks"], twin["ranks"], nats)
    if outcome not in planned.cause.outcomes:
        wanted = " or ".join(planned.cause.outcomes)
        yield f"{planned.run_id} is to be {wanted}, and its outcome is {outcome}"
    onset = planned.onset_step or 0
    for rank, (one, other) in enumerate(zip(run["ranks"], twin["ranks"], strict=True)):
        for part, same in (("steps", _same_steps), ("signals", _same_signals)):
            first, second = (
                {row["step"]: row for row in each[part] if row["step"] < onset}
                for each in (one, other)
            )
            # of the last steps before an early end the log has every one, of the twin's no more
            shared = sorted(first.keys() & second.keys())
            apart = [step for step in shared if not same(first[step], second[step])]
            if apart or (onset and not shared):
                step = apart[0] if apart else onset
                yield f"{planned.run_id}: rank {rank} is not its twin's at step {step} ({part})"


def _same_steps(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether what the loop logged is equal bit for bit, but for memory and seconds."""
    return all(
        repr(one[name]) == repr(other[name]) for name in one if name not in NOISY_STEP_COLUMNS
    )


def _same_signals(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether what the monitor saw is equal, to the digits of a log, which has six."""
    pairs = [(one[name], other[name]) for name in DETERMINISTIC if name in one and name in other]
    return all(repr(a) == repr(b) or math.isclose(a, b, rel_tol=1e-5) for a, b in pairs)


def median_seconds(rank: Mapping[str, Any], begin: int, end: int | None = None) -> float | None:
    """Median time of some steps of a rank, None where it has none."""
    seconds = [row["step_seconds"] for row in rank["steps"][begin:end]]
    return float(np.median(seconds)) if seconds else None


def last_validation(rank: Mapping[str, Any]) -> float:
    """The last loss of an evaluation; no number where there is none."""
    losses = [row["validation_loss"] for row in rank["steps"]]
    return next((float(loss) for loss in reversed(losses) if loss is not None), math.nan)


def _last_loss(rank: Mapping[str, Any]) -> float:
    return float(np.mean([row["loss"] for row in rank["steps"][-LAST:]]))
