"""Causes of failures of trainings on two ranks, and how their runs are drawn: data alone."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_json, validated
from failbench.base.scenarios import FaultDeclaration, Identifier, Outcome, Sentence
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.ranks.recordings import SUCCESS
from failbench.recording.nominal import Nominal, NominalRanges, Seeds, draw_nominal, seeds_of

Kind = Literal["failure", "twin", "success"]
Reduction = Literal["ddp", "by_hand"]

RANKS: Final = 2
SETTINGS: Final = "settings.json"
_SLICES: Final = 6  # of the corpus
_REMEDY: Final = "Correct it after the records in failbench.ranks.causes."


class RankCause(Record):
    """One root cause of a failing training on two ranks.

    ``scenario`` is that of the benchmark whose fault it is, on one rank alone; null of causes that
    exist between ranks only. ``guilty`` is ``one`` where one rank, which the seed draws, departs
    from what was meant, and ``none`` where all ranks do the same and are wrong together.
    ``reduction`` is what averages gradients: DistributedDataParallel, or a loop of all-reduces.
    """

    id: Identifier
    scenario: Identifier | None
    category: Category
    root_cause: Sentence
    fault: FaultDeclaration
    reduction: Reduction
    guilty: Literal["one", "none"]
    expected_outcome: Outcome
    other_outcomes: dict[Outcome, Sentence] = Field(default_factory=dict)
    remedy: Sentence

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.fault.onset == "start_crash":
            raise ValueError("a fault of ranks begins from_start or mid_run, as others read logs")
        if self.scenario is not None and self.guilty != "one":
            raise ValueError(
                "a scenario of the benchmark is injected on one rank, so guilty is one"
            )
        return self

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every permitted outcome of a run, the expected one first."""
        return (self.expected_outcome, *self.other_outcomes)


class RankSettings(Record):
    """What all runs have in common, and the ranges of what they do not.

    ``timeout_seconds`` is that of a collective; ``capacity_mebibytes`` is what a run of
    ``capacity_multiple`` 1 may take, of either rank; ``apart_nats`` is how much worse than its
    twin's an evaluation must end for a run to be degraded; one whose ranks end with different
    weights is so as well.
    """

    seeds: int = Field(ge=1)
    successes: int = Field(ge=1)
    timeout_seconds: float = Field(gt=0)
    capacity_mebibytes: float = Field(gt=0)
    apart_nats: float = Field(gt=0)
    nominal: NominalRanges


@dataclass(frozen=True)
class PlannedRanks:
    """A run to be recorded; of a twin or a success the onset is never."""

    kind: Kind
    cause: RankCause | None
    seed: int
    reduction: Reduction
    nominal: Nominal
    seeds: Seeds
    guilty_rank: int | None

    @property
    def run_id(self) -> str:
        """What nothing else is called."""
        if self.cause is None:
            return f"{SUCCESS}-{self.reduction}-s{self.seed}"
        return f"{self.cause.id}-s{self.seed}" + ("-twin" if self.kind == "twin" else "")

    @property
    def onset_step(self) -> int | None:
        """The step at which the fault begins, if it does."""
        if self.kind != "failure" or self.cause is None:
            return None
        return 0 if self.cause.fault.onset == "from_start" else self.nominal.onset_step

    @property
    def twin(self) -> "PlannedRanks":
        """The same run, whose fault never begins."""
        return replace(self, kind="twin", guilty_rank=None)


def read_settings(folder: Path) -> RankSettings:
    """Read what all runs have in common."""
    path = folder / SETTINGS
    return validated(RankSettings, read_json(path, _REMEDY), path, _REMEDY)


def read_rank_causes(folder: Path) -> tuple[RankCause, ...]:
    """Read every ``causes/<id>.json`` of a folder, in the order of categories, then ids."""
    paths = sorted((folder / "causes").glob("*.json"))
    if not paths:
        remedy = "Name the folder data/ranks of a checkout."
        raise BadInputError(folder / "causes", "(folder)", "contains no causes.", remedy)
    causes = []
    for path in paths:
        cause = validated(RankCause, read_json(path, _REMEDY), path, _REMEDY)
        if cause.id != path.stem:
            problem = f"is {cause.id!r}, and the file is called {path.name}."
            raise BadInputError(path, "id", problem, "Rename the file, or correct the id.")
        causes.append(cause)
    return tuple(sorted(causes, key=lambda each: (CATEGORIES.index(each.category), each.id)))


def planned_runs(
    settings: RankSettings, causes: Sequence[RankCause]
) -> Iterator[tuple[PlannedRanks, ...]]:
    """What belongs together: a failing run after its twin, or a success."""
    for seed in range(settings.seeds):
        for cause in causes:
            nominal, seeds, rank = _drawn(settings, cause.id, seed)
            guilty = rank if cause.guilty == "one" else None
            failure = PlannedRanks("failure", cause, seed, cause.reduction, nominal, seeds, guilty)
            yield failure.twin, failure
    for seed in range(settings.successes):
        reduction: Reduction = "ddp" if seed % 2 == 0 else "by_hand"
        nominal, seeds, _ = _drawn(settings, SUCCESS, seed)
        yield (PlannedRanks("success", None, seed, reduction, nominal, seeds, None),)


def _drawn(settings: RankSettings, name: str, seed: int) -> tuple[Nominal, Seeds, int]:
    seeds = seeds_of(f"ranks/{name}", seed)
    generator = np.random.default_rng(seeds.nominal)
    nominal = draw_nominal(settings.nominal, "adamw", _SLICES, generator)
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    return nominal, seeds, int(np.random.default_rng([digest, seed]).integers(RANKS))
