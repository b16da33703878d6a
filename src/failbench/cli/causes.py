"""The causes that a command records or checks: those of the benchmark, or of other people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Scenario, read_scenarios
from failbench.cli.paths import SCENARIOS, TELEMETRY
from failbench.cli.reference import known_reference

if TYPE_CHECKING:
    from failbench.recording.fault_modules import OutsideFaults


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


def read_causes(
    folder: Path | None, faults: Sequence[str], only: Sequence[str] | None = None
) -> Causes:
    """Read scenarios and modules of faults, and hold them against each other."""
    from failbench.recording.fault_modules import read_outside_faults, refuse_unusable_faults

    folder = SCENARIOS if folder is None else folder
    if not folder.is_dir():
        raise BadInputError(
            folder,
            "(folder)",
            "holds no scenario files.",
            "Name a folder of files <category>/<id>.json with --scenarios.",
        )
    causes = Causes(
        folder, _only(read_scenarios(folder), folder, only), read_outside_faults(faults)
    )
    if not causes.are_of_the_benchmark:
        _refuse_taken_ids(causes)
    refuse_unusable_faults(causes.scenarios, folder, causes.outside.signatures)
    return causes


def _only(
    scenarios: tuple[Scenario, ...], folder: Path, only: Sequence[str] | None
) -> tuple[Scenario, ...]:
    if not only:
        return scenarios
    unknown = set(only) - {scenario.id for scenario in scenarios}
    if unknown:
        raise BadInputError(
            folder, "id", f"there is no scenario {min(unknown)!r}.", "Name an existing scenario."
        )
    return tuple(scenario for scenario in scenarios if scenario.id in only)


def _refuse_taken_ids(causes: Causes) -> None:
    """Refuse ids of the benchmark: its methods have learnt from runs of that name."""
    from failbench.recording.fault_modules import file_of

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
