"""A campaign that trains nothing: its plan, and reports that are made up."""

import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from small_campaign import DETECTOR, OUT_OF_MEMORY, SCENARIOS, SUCCESSES

from failbench.base.scenarios import read_scenarios
from failbench.recording.campaign import Campaign
from failbench.recording.plan import RecordParams, Setting
from failbench.recording.sandbox import RunReport

SETTING = Setting("transformer", "adamw")
DRAWN_AGAIN = "killed_by_operator-transformer-adamw-s1-twin"
REMEDIED = OUT_OF_MEMORY
RUNS = SUCCESSES + 4 * len(SCENARIOS) + 1


class MadeUpRuns:
    def __init__(self):
        self.counts = Counter()
        self.limits = {}
        self.first_seeds = {}

    def execute(self, _context, order, *_):
        """A report that depends on the order alone; one twin diverges as it was drawn first."""
        self.counts[order.run_id] += 1
        self.limits[order.run_id] = order.capacity_bytes
        rng = np.random.default_rng(zlib.crc32(f"{order.run_id} {order.seeds}".encode()))
        length = order.nominal.planned_steps if order.declaration is None else 40
        curve = 2 + 4 * np.exp(-np.arange(length) / 20) + rng.normal(0, 0.01, length)
        if order.run_id == DRAWN_AGAIN:
            first = self.first_seeds.setdefault(order.run_id, order.seeds)
            curve += 50.0 * (order.seeds == first)
        same = {"gradient_norm": 1.0, "step_seconds": 0.01, "tokens": 80}
        steps = [
            {**same, "step": step, "loss": loss, "memory_bytes": int(rng.integers(2**24, 2**25))}
            | {"validation_loss": None if step % 10 else loss}
            for step, loss in enumerate(curve.tolist())
        ]
        report = RunReport(steps=steps, wall_seconds=float(rng.uniform(1, 2)))
        if order.declaration is not None:
            report.ending, report.error = "exception", {"error_type": "RuntimeError"}
        return report


def made_up_campaign(ranges, corpus_cache, journal):
    params = RecordParams(
        settings={SETTING.name: {"seeds": 2, "successes": SUCCESSES}},
        hang_seconds=1,
        wall_limit_seconds=1,
        nominal=ranges,
        remedies={"clipped": {"run": REMEDIED, "clip_norm": 0.25}},
    )
    known = read_scenarios(Path("data/scenarios"))
    scenarios = tuple(scenario for scenario in known if scenario.id in SCENARIOS)
    return Campaign(SETTING, scenarios, params, DETECTOR, journal, corpus_cache)
