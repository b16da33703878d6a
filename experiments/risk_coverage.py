"""Stage risk_coverage: how wrong each method is on the runs that it is most confident of."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl

from failbench.reporting.style import save_svg
from failbench.statistics.intervals import nested_metrics
from failbench.studies.risk_coverage.figure import draw_risk_coverage
from failbench.studies.risk_coverage.results import RiskCoverageSettings, risk_coverage
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

PREDICTIONS = Path("data/predictions/nested_cv")
METRICS = Path("data/metrics/risk_coverage.json")
POINTS = Path("data/plots/risk_coverage.csv")
FIGURE = Path("figures/risk_coverage.svg")


def main() -> None:
    settings = read_section("risk_coverage", RiskCoverageSettings)
    mpl.rc_file("figures/matplotlibrc")
    predictions = pl.concat(read_output(path) for path in sorted(PREDICTIONS.glob("*.parquet")))
    found = risk_coverage(predictions, settings, workers())
    write_metrics(METRICS, nested_metrics(found.areas))
    points = found.curves.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    save_svg(draw_risk_coverage(points), FIGURE)
    columns = ("feature_set", "method", "value", "ci_low", "ci_high", "n")
    print_table(columns, found.areas.select(columns).rows())


if __name__ == "__main__":
    run(main)
