"""The plan of a campaign: its runs and their ids, and its parts that are recorded apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product, starmap
from typing import TypeVar

import numpy as np
from pydantic import Field, field_validator

from failbench.base import scenarios as declared
from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.scenarios import Architecture, FaultDeclaration, Identifier, Optimizer, Scenario
from failbench.recording.nominal import Nominal, NominalRanges, Seeds, draw_nominal, seeds_of
from failbench.recording.order import RunOrder

Unit = TypeVar("Unit")

SUCCESS = "success"
SCALES = ("small", "paper")


@dataclass(frozen=True)
class Setting:
    """What all runs of a campaign have in common."""

    architecture: Architecture
    optimizer: Optimizer
    scale: str = "small"
    device: str = "cpu"

    @property
    def name(self) -> str:
        """Name of its files."""
        suffix = "" if self.scale == "small" else f"-{self.scale}"
        return f"{self.architecture}-{self.optimizer}{suffix}"


SETTINGS = {  # every setting that can be recorded, by name
    setting.name: setting
    for setting in starmap(Setting, product(declared.ARCHITECTURES, declared.OPTIMIZERS, SCALES))
}


class RunsWanted(Record):
    """How many runs a setting has."""

    seeds: int = Field(gt=0)
    successes: int = Field(ge=10)


class Remedy(Record):
    """Changes to a failing run that is recorded again with its fault."""

    run: str
    clip_norm: float | None = Field(default=None, gt=0)
    learning_rate_factor: float = Field(default=1.0, gt=0)
    fault: Identifier | None = None


def fault_of(scenario: Scenario, remedy: Remedy | None) -> FaultDeclaration:
    """The fault of a failing run, which a remedy may replace by another."""
    other = None if remedy is None else remedy.fault
    return scenario.fault.model_copy(update={"name": other}) if other else scenario.fault


class RecordParams(Record):
    """The section ``record`` of params.yaml; ``settings`` and ``remedies`` have names as keys."""

    settings: Mapping[str, RunsWanted] = Field(min_length=1)
    hang_seconds: float = Field(gt=0)
    wall_limit_seconds: float = Field(gt=0)
    nominal: NominalRanges
    remedies: Mapping[Identifier, Remedy] = Field(default_factory=dict)

    @field_validator("settings")
    @classmethod
    def _are_settings(cls, settings: Mapping[str, RunsWanted]) -> Mapping[str, RunsWanted]:
        unknown = sorted(set(settings) - set(SETTINGS))
        if unknown:
            raise ValueError(
                f"{unknown[0]} is no setting, which is called <architecture>-<optimizer>, and "
                "-paper after it at that scale"
            )
        return settings

    def planned(self) -> tuple[Setting, ...]:
        """The settings that are named, in their order."""
        return tuple(SETTINGS[name] for name in self.settings)

    def wanted(self, setting: Setting) -> RunsWanted:
        """How many runs a setting should have."""
        if setting.name not in self.settings:
            problem = f"{setting.name} is not among the settings."
            remedy = "Name it there, with its seeds and successes."
            raise BadInputError("params.yaml", "record.settings", problem, remedy)
        return self.settings[setting.name]

    def with_seeds(self, setting: Setting, seeds: int) -> RecordParams:
        """A copy with another number of seeds for one setting."""
        changed = self.wanted(setting).model_copy(update={"seeds": seeds})
        return self.model_copy(update={"settings": {**self.settings, setting.name: changed}})


@dataclass(frozen=True)
class PlannedRun:
    """One run of the plan; a success has no scenario, ``twin_of`` is of twins and remedies."""

    run_id: str
    kind: str
    seed: int
    scenario: Scenario | None
    twin_of: str | None
    draw: int
    nominal: Nominal
    seeds: Seeds
    remedy: Remedy | None = None

    @property
    def declaration(self) -> FaultDeclaration | None:
        """The fault that is injected into this run, if any."""
        if self.kind not in ("failure", "remedy") or self.scenario is None:
            return None
        return fault_of(self.scenario, self.remedy)

    @property
    def onset_step(self) -> int | None:
        """The step at which it is injected."""
        if self.declaration is None:
            return None
        return self.nominal.onset_step if self.declaration.onset == "mid_run" else 0


@dataclass(frozen=True)
class Pair:
    """A failing run and its twin."""

    failure: PlannedRun
    twin: PlannedRun


@dataclass(frozen=True)
class Shard:
    """One of the disjoint parts of a plan, counted from one."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``I/N``, as in 2/4."""
        numbers = re.fullmatch(r"(\d+)/(\d+)", text)
        shard = cls(int(numbers[1]), int(numbers[2])) if numbers else None
        if shard is None or not 1 <= shard.number <= shard.count:
            problem = f"{text!r} is no part of a plan."
            remedy = "Give its number and how many there are, from 1/4 to 4/4 say."
            raise BadInputError("command line", "--shard", problem, remedy)
        return shard

    def part(self, units: Sequence[Unit]) -> list[Unit]:
        """Every ``count``-th unit from the ``number``-th; a drawn order mixes categories."""
        return list(units[self.number - 1 :: self.count])

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


WHOLE = Shard(1, 1)  # the whole plan


def _draw(
    name: str, seed: int, draw: int, setting: Setting, ranges: NominalRanges, slices: int
) -> tuple[int, Nominal, Seeds]:
    seeds = seeds_of(name, seed, draw)
    generator = np.random.default_rng(seeds.nominal)
    return draw, draw_nominal(ranges, setting.optimizer, slices, generator), seeds


def plan_successes(setting: Setting, params: RecordParams, slices: int) -> list[PlannedRun]:
    """The runs without a fault, for thresholds."""
    runs = []
    for seed in range(params.wanted(setting).successes):
        drawn = _draw(SUCCESS, seed, 0, setting, params.nominal, slices)
        run_id = f"{SUCCESS}-{setting.name}-s{seed}"
        runs.append(PlannedRun(run_id, "success", seed, None, None, *drawn))
    return runs


def plan_pairs(
    setting: Setting, scenarios: tuple[Scenario, ...], params: RecordParams, slices: int
) -> list[Pair]:
    """A failing run and its twin for every seed and every scenario that applies."""
    # The order within a seed is drawn, and the same each time: step times depend on the load of the
    # machine, which would reveal the category of runs recorded by category.
    return [
        plan_pair(setting, scenarios[index], seed, 0, params, slices)
        for seed in range(params.wanted(setting).seeds)
        for index in np.random.default_rng(seed).permutation(len(scenarios))
        if setting.architecture not in scenarios[index].not_applicable
    ]


def plan_pair(
    setting: Setting, scenario: Scenario, seed: int, draw: int, params: RecordParams, slices: int
) -> Pair:
    """One failing run and its twin, with the configuration of the given draw."""
    drawn = _draw(scenario.id, seed, draw, setting, params.nominal, slices)
    run_id = f"{scenario.id}-{setting.name}-s{seed}"
    return Pair(
        PlannedRun(run_id, "failure", seed, scenario, None, *drawn),
        PlannedRun(f"{run_id}-twin", "twin", seed, scenario, run_id, *drawn),
    )


def plan_remedies(failure: PlannedRun, params: RecordParams) -> list[PlannedRun]:
    """Repetitions of a failing run, one per remedy that names it, otherwise unchanged."""
    runs = []
    for name, remedy in params.remedies.items():
        if remedy.run == failure.run_id:
            rate = failure.nominal.learning_rate * remedy.learning_rate_factor
            clip = failure.nominal.clip_norm if remedy.clip_norm is None else remedy.clip_norm
            nominal = replace(failure.nominal, learning_rate=rate, clip_norm=clip)
            run = replace(failure, twin_of=failure.run_id, kind="remedy", nominal=nominal)
            runs.append(replace(run, run_id=f"{failure.run_id}-{name}", remedy=remedy))
    return runs


def order_for(
    run: PlannedRun, setting: Setting, capacity_bytes: int | None, corpus_cache: str
) -> RunOrder:
    """The order for a planned run. Twins and successful runs have no memory limit."""
    return RunOrder(
        run_id=run.run_id,
        **asdict(setting),
        nominal=run.nominal,
        seeds=run.seeds,
        declaration=run.declaration,
        onset_step=run.onset_step,
        capacity_bytes=capacity_bytes,
        corpus_cache=corpus_cache,
    )
