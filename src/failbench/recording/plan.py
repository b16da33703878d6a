"""The plan of a campaign: which runs there are, and how each is called."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from failbench.recording.nominal import Nominal, NominalRanges, Seeds, draw_nominal, seeds_of
from failbench.recording.order import RunOrder
from failbench.scenarios import Architecture, FaultDeclaration, Optimizer, Record, Scenario

SUCCESS = "success"


class RecordParams(Record):
    """The section ``record`` of params.yaml."""

    seeds: int = Field(gt=0)
    successes: int = Field(ge=10)
    hang_seconds: float = Field(gt=0)
    wall_limit_seconds: float = Field(gt=0)
    nominal: NominalRanges


@dataclass(frozen=True)
class Setting:
    """What all runs of a campaign have in common."""

    architecture: Architecture
    optimizer: Optimizer
    scale: str = "small"
    device: str = "cpu"

    @property
    def name(self) -> str:
        """How its files are called."""
        suffix = "" if self.scale == "small" else f"-{self.scale}"
        return f"{self.architecture}-{self.optimizer}{suffix}"


@dataclass(frozen=True)
class PlannedRun:
    """One run of the plan; ``scenario`` is None for a successful run."""

    run_id: str
    kind: str
    seed: int
    scenario: Scenario | None
    twin_of: str | None
    draw: int
    nominal: Nominal
    seeds: Seeds

    @property
    def declaration(self) -> FaultDeclaration | None:
        """The fault that is switched on in this run, if any."""
        if self.kind != "failure" or self.scenario is None:
            return None
        return self.scenario.fault

    @property
    def onset_step(self) -> int | None:
        """The step at which it is switched on."""
        if self.declaration is None:
            return None
        return self.nominal.onset_step if self.declaration.onset == "mid_run" else 0


@dataclass(frozen=True)
class Pair:
    """A failing run and its twin."""

    failure: PlannedRun
    twin: PlannedRun


def _draw(
    name: str, seed: int, draw: int, setting: Setting, ranges: NominalRanges, slices: int
) -> tuple[int, Nominal, Seeds]:
    seeds = seeds_of(name, seed, draw)
    generator = np.random.default_rng(seeds.nominal)
    return draw, draw_nominal(ranges, setting.optimizer, slices, generator), seeds


def plan_successes(setting: Setting, params: RecordParams, slices: int) -> list[PlannedRun]:
    """The runs without a fault, for thresholds."""
    return [
        PlannedRun(
            f"{SUCCESS}-{setting.name}-s{seed}",
            "success",
            seed,
            None,
            None,
            *_draw(SUCCESS, seed, 0, setting, params.nominal, slices),
        )
        for seed in range(params.successes)
    ]


def plan_pairs(
    setting: Setting, scenarios: tuple[Scenario, ...], params: RecordParams, slices: int
) -> list[Pair]:
    """A failing run and its twin for every seed and every scenario that applies here."""
    return [
        plan_pair(setting, scenario, seed, 0, params, slices)
        for seed in range(params.seeds)
        for scenario in scenarios
        if setting.architecture not in scenario.not_applicable
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


def order_for(
    run: PlannedRun, setting: Setting, capacity_bytes: int | None, corpus_cache: str
) -> RunOrder:
    """The order for a planned run. A twin and a success are measured without a limit."""
    return RunOrder(
        run_id=run.run_id,
        architecture=setting.architecture,
        optimizer=setting.optimizer,
        scale=setting.scale,
        device=setting.device,
        nominal=run.nominal,
        seeds=run.seeds,
        declaration=run.declaration,
        onset_step=run.onset_step,
        capacity_bytes=capacity_bytes,
        corpus_cache=corpus_cache,
    )
