"""Stage difficulty: how hard each scenario is to tell, against what was declared."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl

from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import grouped_metrics
from failbench.studies.difficulty.figure import draw_difficulty
from failbench.studies.difficulty.measure import DifficultySettings
from failbench.studies.difficulty.results import difficulty_study
from failbench.studies.difficulty.tables import difficulty_points, difficulty_tables
from stage import (
    DECIMALS,
    print_table,
    read_output,
    read_section,
    run,
    write_metrics,
)

STUDIES = (Path("data/predictions/nested_cv"), Path("data/predictions/across_architectures"))
FEATURES = Path("data/features/features.parquet")
SCENARIOS = Path("data/scenarios")
METRICS = Path("data/metrics/difficulty.json")
POINTS = Path("data/plots/difficulty.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/difficulty.svg")


def main() -> None:
    settings = read_section("difficulty", DifficultySettings)
    reference = read_section("nested_cv", ReferenceStudy)
    mpl.rc_file("figures/matplotlibrc")
    paths = [path for folder in STUDIES for path in sorted(folder.glob("*.parquet"))]
    study = difficulty_study(
        pl.concat(map(read_output, paths)),
        read_scenarios(SCENARIOS),
        reference.failures(read_output(FEATURES)),
        settings,
        reference.architecture,
    )
    write_metrics(METRICS, grouped_metrics(study.intervals))
    points = difficulty_points(study).with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    for table in difficulty_tables(study, settings):
        write_table(table, TABLES)
    save_svg(draw_difficulty(points), FIGURE)
    columns = ("scenario", "declared", "ease", "instead")
    hardest = study.difficulty.scenarios.head(settings.hardest)
    print_table(columns, hardest.select(columns).rows())


if __name__ == "__main__":
    run(main)
