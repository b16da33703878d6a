"""Other kinds of network: what is recorded of them, and which fault stands for a cause there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast, get_args

from pydantic import BeforeValidator, Field, field_validator

from failbench.base.errors import BadInputError
from failbench.base.records import InCell, OrNone, Record, read_rows
from failbench.base.scenarios import Architecture, Identifier, Outcome, Scenario, Sentence
from failbench.recording.fault_modules import OutsideFaults, signatures_in
from failbench.recording.fingerprint import code_hash, outside_fault_codes
from failbench.recording.nominal import NominalRanges, Range
from failbench.recording.order import Line, RunOrder
from failbench.recording.plan import RecordParams, RunsWanted, Setting

Kind = Literal["mamba", "cnn", "vit"]

KINDS: tuple[Kind, ...] = get_args(Kind)
ON_IMAGES: Final = ("cnn", "vit")
OPTIMIZER: Final = "adamw"

CAUSES = Path("data/kinds/causes.csv")
_FOLDER = Path(__file__).parent
_FAULTS = _FOLDER / "image_faults.py"
_MODULES = ("child.py", "models.py", "own_time.py")
_IMAGE_MODULES = (*_MODULES, "image_run.py", "images.py")


class OtherRanges(Record):
    """Ranges of one kind, where they are not those of ``record.nominal``."""

    learning_rate: Range
    width: tuple[int, ...] = Field(min_length=1)
    sequence_length: tuple[int, ...] = Field(min_length=1)


class KindsWanted(RunsWanted):
    """The section ``kinds`` of params.yaml."""

    hang_seconds: float = Field(gt=0)
    wall_limit_seconds: float = Field(gt=0)
    nominal: Mapping[Kind, OtherRanges]


class KindRanges(NominalRanges):
    """Ranges of a kind, with a hash of the code that is its own: fingerprints contain both."""

    code: str


class KindParams(RecordParams):
    """What is recorded of one kind."""

    @field_validator("settings")
    @classmethod
    def _are_settings(cls, settings: Mapping[str, RunsWanted]) -> Mapping[str, RunsWanted]:
        return settings  # of a kind, which the list of architectures does not have

    def planned(self) -> tuple[Setting, ...]:
        """The settings that are named."""
        return tuple(setting_of(cast("Kind", name.partition("-")[0])) for name in self.settings)


class OtherCause(Record):
    """What is different about a cause in other kinds of network: a row of ``causes.csv``.

    ``fault`` is the equivalent where the cause's own is one of text; ``parameters`` replace those
    of the scenario, all of them if the fault is another. A cause that is not ``applicable`` has no
    meaning there. ``outcomes`` are allowed beside the scenario's.
    """

    scenario: Identifier
    kinds: Annotated[tuple[Kind, ...], InCell]
    applicable: bool
    fault: Annotated[Identifier | None, OrNone]
    parameters: Annotated[
        dict[str, int | float | str | bool],
        BeforeValidator(lambda cell: json.loads(cell) if cell else {}),
    ]
    outcomes: Annotated[tuple[Outcome, ...], InCell]
    why: Sentence


@dataclass(frozen=True)
class KindFaults(OutsideFaults):
    """The faults of images beside those of the package, and the child that trains a kind."""

    kind: Kind = "mamba"

    @property
    def training(self) -> Callable[[RunOrder, Line], None]:
        """The child's side of its runs."""
        from failbench.recording.kinds.child import KindTraining

        return KindTraining(self.kind in ON_IMAGES)

    @property
    def preloaded(self) -> tuple[str, ...]:
        """Modules that the fork server imports for it."""
        return ("failbench.recording.kinds.child",)


def setting_of(kind: Kind) -> Setting:
    """What all runs of a kind have in common."""
    return Setting(cast("Architecture", kind), OPTIMIZER)


def params_of(kind: Kind, record: RecordParams, wanted: KindsWanted) -> KindParams:
    """How a kind is recorded: as the six architectures are, but for ranges of its own."""
    if kind not in wanted.nominal:
        problem, remedy = f"has no ranges of {kind}.", "Give its learning_rate, width and so on."
        raise BadInputError("params.yaml", "kinds.nominal", problem, remedy)
    other = wanted.nominal[kind]
    rates = {**record.nominal.learning_rate, OPTIMIZER: other.learning_rate}
    ranges: dict[str, Any] = {
        **record.nominal.model_dump(),
        **other.model_dump(exclude={"learning_rate"}),
        "learning_rate": rates,
        "code": code_of(kind),
    }
    runs = RunsWanted(seeds=wanted.seeds, successes=wanted.successes)
    return KindParams(
        settings={setting_of(kind).name: runs},
        hang_seconds=wanted.hang_seconds,
        wall_limit_seconds=wanted.wall_limit_seconds,
        nominal=KindRanges.model_validate(ranges),
    )


def code_of(kind: Kind) -> str:
    """Hash of the code that runs of a kind execute beside the recorder's."""
    modules = _IMAGE_MODULES if kind in ON_IMAGES else _MODULES
    return code_hash([_FOLDER / name for name in modules])


def faults_of(kind: Kind) -> KindFaults:
    """The faults that causes may name in a kind."""
    signatures = signatures_in(_FAULTS)
    return KindFaults(codes=outside_fault_codes(_FAULTS, signatures), added=signatures, kind=kind)


def read_other_causes(path: Path = CAUSES) -> tuple[OtherCause, ...]:
    """What is different about causes in other kinds."""
    return tuple(read_rows(path, OtherCause, "Restore it with git."))


def scenarios_of(
    kind: Kind, scenarios: Iterable[Scenario], others: Iterable[OtherCause]
) -> tuple[Scenario, ...]:
    """Scenarios as they are in a kind, those that are not applicable with their reasons."""
    own = {each.scenario: each for each in others if kind in each.kinds}
    return tuple(
        _changed(kind, scenario, own[scenario.id]) if scenario.id in own else scenario
        for scenario in scenarios
    )


def _changed(kind: Kind, scenario: Scenario, other: OtherCause) -> Scenario:
    if not other.applicable:
        reasons = {**scenario.not_applicable, cast("Architecture", kind): other.why}
        return scenario.model_copy(update={"not_applicable": reasons})
    kept = scenario.fault.parameters if other.fault is None else {}
    fault = scenario.fault.model_copy(
        update={
            "name": other.fault or scenario.fault.name,
            "parameters": {**kept, **other.parameters},
        }
    )
    more = {name: other.why for name in other.outcomes if name not in scenario.outcomes}
    outcomes = {**scenario.other_outcomes, **more}
    return scenario.model_copy(update={"fault": fault, "other_outcomes": outcomes})
