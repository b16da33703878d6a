"""Causes of the benchmark or of other people, which a command records or checks."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failbench.base.detector import DetectorParams
from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.scenarios import Scenario, read_scenarios
from failbench.cli.places import SCENARIOS, TELEMETRY, known_reference
from failbench.recording.campaign import Campaign
from failbench.recording.fault_modules import (
    OutsideFaults,
    file_of,
    read_outside_faults,
    refuse_unusable_faults,
)
from failbench.recording.fingerprint import corpus_cache
from failbench.recording.plan import RecordParams, Setting


@dataclass(frozen=True)
class Causes:
    """Scenarios, and the faults that they may name beside those of the package."""

    folder: Path
    scenarios: tuple[Scenario, ...]
    outside: OutsideFaults

    @property
    def are_of_the_benchmark(self) -> bool:
        """Whether the scenarios are those of the working directory's checkout."""
        return self.folder.resolve() == SCENARIOS.resolve()

    def campaign(
        self,
        setting: Setting,
        record: RecordParams,
        file: Path,
        journal: Path,
        *,
        work: Path,
        **options: Any,
    ) -> Campaign:
        """The recording of their runs in a setting, with the detector of a file of parameters.

        The corpus is kept in the folder ``work``, and in ``journal`` what is in no table yet.
        """
        return Campaign(
            setting,
            self.scenarios,
            record,
            read_section("detector", DetectorParams, file),
            journal,
            corpus_cache(work).resolve(),
            outside=self.outside,
            **options,
        )


def read_causes(
    folder: Path | None, faults: Sequence[str] = (), only: Sequence[str] = ()
) -> Causes:
    """Read scenarios and modules of faults, and hold them against each other."""
    folder = SCENARIOS if folder is None else folder
    if not folder.is_dir():
        raise BadInputError(
            folder,
            "(folder)",
            "holds no scenario files.",
            "Name a folder of files <category>/<id>.json with --scenarios.",
        )
    scenarios = read_scenarios(folder)
    unknown = set(only) - {scenario.id for scenario in scenarios}
    if unknown:
        raise BadInputError(
            folder, "id", f"there is no scenario {min(unknown)!r}.", "Name an existing scenario."
        )
    if only:
        scenarios = tuple(scenario for scenario in scenarios if scenario.id in only)
    causes = Causes(folder, scenarios, read_outside_faults(faults))
    if not causes.are_of_the_benchmark:
        _refuse_taken_ids(causes)
    refuse_unusable_faults(causes.scenarios, folder, causes.outside.signatures)
    return causes


def _refuse_taken_ids(causes: Causes) -> None:
    """Refuse ids of the benchmark: its methods have learnt from runs of that name."""
    reference = known_reference()
    if reference is None or causes.folder.resolve() == reference.scenarios.resolve():
        return
    taken = {scenario.id for scenario in read_scenarios(reference.scenarios)}
    for scenario in causes.scenarios:
        if scenario.id in taken:
            raise BadInputError(
                file_of(scenario, causes.folder),
                "id",
                f"{scenario.id!r} is the id of a scenario of the benchmark.",
                "Give each cause an id of its own.",
            )


def refuse_telemetry_of_the_benchmark(output: Path | None) -> Path:
    """The folder for runs of other causes, which the benchmark's own telemetry must not be."""
    remedy = "Name another folder with --output."
    if output is None:
        raise BadInputError("command line", "--output", "is needed for other causes.", remedy)
    reference = known_reference()
    roots = (Path(), *(() if reference is None else (reference.root,)))
    if output.resolve() in {(root / TELEMETRY).resolve() for root in roots}:
        raise BadInputError(
            output, "--output", "holds the runs of the benchmark, and no others.", remedy
        )
    return output


def stop_after(minutes: float | None) -> threading.Event:
    """An event that is set by an interruption, or after some minutes."""
    stop = threading.Event()
    if minutes is not None:
        timer = threading.Timer(60 * minutes, stop.set)
        timer.daemon = True  # a finished campaign does not wait for it
        timer.start()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    return stop
