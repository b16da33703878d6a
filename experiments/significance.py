"""Stage significance: every pair of methods compared, four contrasts tested, and a heat map."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl

from failbench.reporting.heat_maps import difference_map
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.statistics.comparison import comparison_metrics, comparisons_table, contrasts_of
from failbench.statistics.significance import SignificanceSettings, compare_all
from failbench.studies.significance.sentences import contrast_sentences, contrasts_table
from stage import DECIMALS, print_table, read_output, read_section, run, write_metrics

PREDICTIONS = Path("data/predictions/nested_cv")
METRICS = Path("data/metrics/significance.json")
POINTS = Path("data/plots/significance.csv")
TABLES = Path("paper/tables")
SENTENCES = Path("paper/tables/contrast_sentences.md")
FIGURE = Path("figures/significance.svg")


def main() -> None:
    settings = read_section("significance", SignificanceSettings)
    predictions = pl.concat(read_output(path) for path in sorted(PREDICTIONS.glob("*.parquet")))
    comparisons = compare_all(predictions, settings)
    write_metrics(METRICS, comparison_metrics(comparisons, settings.alpha))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    table = comparisons_table(comparisons)
    table.with_columns(pl.selectors.float().round(DECIMALS)).write_csv(POINTS)
    write_table(contrasts_table(comparisons, settings), TABLES)
    SENTENCES.write_text(contrast_sentences(comparisons, settings), encoding="utf-8")
    mpl.rc_file("figures/matplotlibrc")
    primary = [one for one in comparisons if one.feature_set == settings.feature_set]
    save_svg(difference_map(primary, settings.alpha), FIGURE)
    columns = ("left", "right", "difference", "p", "p_holm", "p_rope", "n")
    print_table(
        columns,
        [[getattr(one, name) for name in columns] for one in contrasts_of(comparisons)],
    )


if __name__ == "__main__":
    run(main)
