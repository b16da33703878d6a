"""The command ``inspect``: the course of a log's loss, and what a monitor measured beside it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from failbench.diagnose.inspection.loss_curve import Curve, Gap, LossCurves, Place
    from failbench.diagnose.inspection.memory import PhaseMemory
    from failbench.monitor.history import History

MEASURED: Final = ("gradient_norm", "update_ratio")
"""Signals of a monitor whose course is shown beside that of the loss."""


def inspect_any_log(*, log: Path, run_id: str | None, as_json: bool) -> int:
    """Print the course of a log's loss and gradients, and of a monitor's log memory by phase."""
    from failbench.diagnose.inspection.loss_curve import curve_of, loss_curves
    from failbench.diagnose.inspection.memory import memory_by_phase
    from failbench.diagnose.readers.lines import clean
    from failbench.diagnose.readers.opening import read_log

    read = read_log(log, run_id)
    losses = loss_curves(read)
    if read.history is None:
        phases: tuple[PhaseMemory, ...] = ()
        others = [curve_of(read, "grad_norm", "train")]
    else:
        phases = memory_by_phase(read.history)
        others = [_measured(read.history, signal) for signal in MEASURED]
    curves = [each for each in (losses.train, losses.validation, *others) if each is not None]
    if as_json:
        print(json.dumps(_record(losses, curves, phases), indent=2, allow_nan=False))
    else:
        print(clean(_page(losses, curves, phases)))
    return 0


def _measured(history: History, signal: str) -> Curve | None:
    """The course of a signal of a monitor."""
    from failbench.diagnose.inspection.loss_curve import Place, course

    steps, values = history.series(signal)
    places = [
        Place(float(value), int(step), None) for step, value in zip(steps, values, strict=True)
    ]
    return course(signal, "train", places) if places else None


def _record(
    losses: LossCurves, curves: list[Curve], phases: tuple[PhaseMemory, ...]
) -> dict[str, Any]:
    """What is known as JSON, whose numbers are finite: what is not is null."""
    from failbench.diagnose.inspection.memory import first_to_leave

    first = first_to_leave(phases)
    record = {
        "curves": [asdict(curve) for curve in curves],
        "last_gap": None if losses.last_gap is None else asdict(losses.last_gap),
        "widest_gap": None if losses.widest_gap is None else asdict(losses.widest_gap),
        "memory": [asdict(phase) for phase in phases],
        "first_to_leave": None if first is None else first.phase,
    }
    return {key: _finite(value) for key, value in record.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _page(losses: LossCurves, curves: list[Curve], phases: tuple[PhaseMemory, ...]) -> str:
    from failbench.diagnose.inspection.memory import memory_text

    lines = [line for curve in curves for line in _curve_lines(curve)]
    if not curves:
        lines.append("no loss and no gradient norm is logged")
    if losses.last_gap is not None:
        lines.append(f"gap at the last validation: {_gap(losses.last_gap)}")
    if losses.widest_gap is not None and losses.widest_gap != losses.last_gap:
        lines.append(f"gap where it is widest: {_gap(losses.widest_gap)}")
    if phases:
        lines += ["memory by phase, above that at the beginning of a step:", memory_text(phases)]
    return "\n".join(lines)


def _curve_lines(curve: Curve) -> list[str]:
    head = f"{curve.signal} ({curve.split}): {curve.values:,} values"
    lines = [f"{head}, first {_at(curve.first)}, last {_at(curve.last)}"]
    if curve.best is not None and curve.highest is not None:
        lines.append(
            f"  lowest: {_at(curve.best)}; {curve.since_best:,} values since; "
            f"highest: {_at(curve.highest)}"
        )
    if curve.half is not None:
        lines.append(f"  half of the way down: {_at(curve.half)}")
    if curve.trend is not None:
        low, high = f"{curve.trend.low:.3g}", f"{curve.trend.high:.3g}"
        slope = f"{curve.trend.slope:.3g} per {curve.unit}"
        lines.append(f"  trend: {slope} (95 %: {low} to {high})")
    if curve.jump is not None:
        line = f"  largest rise: from {_at(curve.jump.before)} to {_at(curve.jump.after)}"
        if curve.jump.deviations is not None:
            line += f", {curve.jump.deviations:.3g} median absolute deviations"
        lines.append(line)
    if curve.plateau is not None:
        since, until = _at(curve.plateau.since), _at(curve.plateau.until)
        lines.append(
            f"  longest without a new lowest: {curve.plateau.values:,} values, "
            f"from {since} to {until}"
        )
    if curve.repeated:
        lines.append(f"  equal to the value before: {100 * curve.repeated:.3g} %")
    if curve.first_not_finite is not None:
        lines.append(
            f"  not finite: {curve.not_finite:,} values, first {_at(curve.first_not_finite)}"
        )
    return lines


def _gap(gap: Gap) -> str:
    return f"validation {_at(gap.validation)}, training {gap.train:.6g}, {gap.difference:+.3g}"


def _at(place: Place) -> str:
    """A value, and where it stands."""
    where = [] if place.step is None else [f"step {place.step}"]
    where += [] if place.line is None else [f"line {place.line}"]
    return f"{place.value:.6g}" + (f" ({', '.join(where)})" if where else "")
