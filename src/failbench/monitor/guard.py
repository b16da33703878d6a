"""Guard: whatever a measurement does, training goes on."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

import torch

from failbench.monitor.budget import Budget
from failbench.monitor.clock import Clock
from failbench.monitor.end import End
from failbench.monitor.log import LogWriter
from failbench.monitor.signals import MEASUREMENTS, SIGNALS, Level, signals_of

P = ParamSpec("P")
T = TypeVar("T")


class Guard:
    """Runs measurements so that none ends, delays for ever or changes a run."""

    # It runs without gradients and leaves autocast's cache alone. The first exception of one turns
    # its signals off, with a warning.

    def __init__(
        self, writer: LogWriter, clock: Clock, level: Level, budget: Budget | None = None
    ) -> None:
        self._writer = writer
        self._clock = clock
        self._signals = {signal.name for signal in signals_of(level)}
        self._failed: set[str] = set()
        self.off: set[str] = set()
        self._wanted = frozenset(self._signals)
        self._some_wanted = frozenset(MEASUREMENTS)
        self._known_off = -1
        self.inside = False
        self.written = True
        self.budget = budget
        self._left_out: frozenset[str] = frozenset()

    def begin(self, step: int) -> None:
        """A step begins, out of which the budget leaves some measurements."""
        if self.budget is not None:
            for thinned in self.budget.begin(step):
                self.write(self._writer.thinned, thinned)
            self._left_out = self.budget.left_out(step)

    def is_due(self, measurement: str) -> bool:
        """Whether the budget leaves a measurement in this step."""
        return measurement not in self._left_out

    def notice(self, loss: float) -> frozenset[str]:
        """A loss was measured; what was left out of this step, and is not any more."""
        if self.budget is None:
            return frozenset()
        again = self.budget.notice(loss)
        self._left_out -= again
        return again

    def catch_up(self) -> frozenset[str]:
        """From now on nothing is left out of this step; what was."""
        left_out, self._left_out = self._left_out, frozenset()
        return left_out

    def measures(self, measurement: str) -> bool:
        """Whether any signal of a measurement is wanted still."""
        if measurement in self._failed or measurement in self._left_out or not self.written:
            return False
        self._look()
        return measurement in self._some_wanted

    def measure(
        self, measurement: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """What a function of a measurement returns; None where it is off or fails."""
        if measurement in self._failed or measurement in self._left_out or not self.written:
            return None
        begun = 0.0 if self.budget is None else self.budget.now()
        since = self._clock.read() if self.is_due("clock") else None
        inside, cached = self.inside, torch.is_autocast_cache_enabled()
        self.inside = True
        torch.set_autocast_cache_enabled(False)
        try:
            with torch.no_grad():
                return function(*args, **kwargs)
        except Exception as error:
            self.fail(measurement, error)
            return None
        finally:
            torch.set_autocast_cache_enabled(cached)
            self.inside = inside
            if since is not None:
                self._clock.leave_out(since)
            if self.budget is not None and not inside:
                self.budget.spend(measurement, begun)

    def attempt(self, measurement: str, function: Callable[[], T]) -> T | None:
        """As ``measure``, for what is quick and uses no tensors."""
        if measurement in self._failed or measurement in self._left_out or not self.written:
            return None
        begun = 0.0 if self.budget is None else self.budget.now()
        try:
            return function()
        except Exception as error:
            self.fail(measurement, error)
            return None
        finally:
            if self.budget is not None:
                self.budget.spend(measurement, begun)

    def values(
        self,
        measurement: str,
        function: Callable[P, Mapping[str, float]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Mapping[str, float]:
        """The signals that a measurement gives; none where it is off, not wanted or fails."""
        if not self.measures(measurement):
            return {}
        return self.measure(measurement, function, *args, **kwargs) or {}

    def fail(self, measurement: str, error: Exception) -> None:
        """Turn a measurement off because of an error."""
        if measurement in self._failed:
            return
        self._failed.add(measurement)
        reason = _said_by(error)
        self.turn_off(MEASUREMENTS[measurement], f"it raised {reason}")
        warn(
            f"The monitor does not measure {measurement} any more, which raised {reason}. "
            "Training goes on."
        )

    def end(self, end: End) -> None:
        """Note the end of the run, whatever was written before."""
        try:
            self._writer.end(end)
        except Exception as error:
            self.written = False
            warn(f"The end of the run is not in the log of the monitor ({error}).")

    def turn_off_measurement(self, measurement: str, reason: str) -> None:
        """Note that a measurement is not made any more."""
        self.turn_off(MEASUREMENTS[measurement], reason)

    def turn_off(self, signals: Iterable[str], reason: str) -> None:
        """Note that signals are not measured any more."""
        for name in signals:
            if name in self._signals and name not in self.off:
                self.off.add(name)
                self.write(self._writer.off, name, reason)

    def stop(self, error: Exception) -> None:
        """End all measurements because of an error in the monitor itself."""
        if self.written:
            reason = f"the monitor raised {_said_by(error)}"
            self.turn_off([signal.name for signal in SIGNALS], reason)
            self.written = False
            warn(f"Nothing is measured any more: {reason}. Training goes on.")

    def wanted(self, values: Mapping[str, float]) -> dict[str, float]:
        """Those of some values that the level measures and nothing turned off."""
        self._look()
        return {name: float(value) for name, value in values.items() if name in self._wanted}

    def _look(self) -> None:
        """Work out what is wanted still, if less than when this was done last."""
        if len(self.off) != self._known_off:
            self._known_off = len(self.off)
            self._wanted = frozenset(self._signals - self.off)
            self._some_wanted = frozenset(
                name
                for name, signals in MEASUREMENTS.items()
                if not self._wanted.isdisjoint(signals)
            )

    def write(self, function: Callable[..., Any], *args: Any) -> None:
        """Write to the log; the first failure ends all measurements."""
        if not self.written:
            return
        try:
            function(*args)
        except Exception as error:
            self.written = False
            warn(
                f"The log of the monitor cannot be written ({error}), so that nothing is measured "
                "any more. Training goes on."
            )


def _said_by(error: Exception) -> str:
    lines = str(error).splitlines()
    kind = type(error).__name__
    return f"{kind}: {lines[0][:200].rstrip('.')}" if lines else kind


def warn(message: str) -> None:
    """Warn, also where warnings are errors: a monitor ends no run."""
    try:
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    except RuntimeWarning:
        print(message, file=sys.stderr)  # noqa: T201
