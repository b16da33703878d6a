"""Stage measure_external_default: answers to the runs of DEFault's tables, by every protocol."""

from __future__ import annotations

from pathlib import Path

from failbench.external.tables import read_released
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.stage import print_table, read_section, run, workers
from failbench.studies.external_default.measure import measure
from failbench.studies.external_default.settings import ExternalDefaultDesign
from failbench.telemetry import write_parquet

RELEASED = Path("data/external/default")
MEASUREMENTS = Path("data/measurements/external_default")


def main() -> None:
    design = read_section("external_default", ExternalDefaultDesign)
    rules = read_section("simple_rules", SimpleRulesSettings)
    measured = measure(read_released(RELEASED), design, rules, workers())
    write_parquet(measured.answers, MEASUREMENTS / "answers.parquet")
    write_parquet(measured.groups, MEASUREMENTS / "groups.parquet")
    counted = measured.answers.group_by("task", maintain_order=True).len("answers")
    print_table(counted.columns, counted.rows())


if __name__ == "__main__":
    run(main)
