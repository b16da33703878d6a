"""Draw what was recorded: one run beside its twin, and all failing runs on one sheet."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from failbench.reporting.style import save_svg
from failbench.scenarios import read_scenarios
from failbench.studies.gallery.figure import GallerySettings, draw_gallery
from failbench.telemetry import read_telemetry
from stage import print_table, read_section, run, write_metrics

PLOTS = Path("data/plots")


def main() -> None:
    settings = read_section("gallery", GallerySettings)
    mpl.rc_file("figures/matplotlibrc")
    drawn = draw_gallery(
        read_telemetry(Path("data/telemetry")), read_scenarios(Path("data/scenarios")), settings
    )
    save_svg(drawn.dashboard, Path("figures/dashboard.svg"))
    save_svg(drawn.sheet, Path("figures/gallery.svg"))
    PLOTS.mkdir(parents=True, exist_ok=True)
    drawn.dashboard_points.write_csv(PLOTS / "dashboard.csv")
    drawn.sheet_points.write_csv(PLOTS / "gallery.csv")
    metrics: dict[str, dict[str, dict[str, int]]] = {}
    for category, outcome, number in drawn.counts.iter_rows():
        metrics.setdefault(category, {})[outcome] = {"value": number}
    write_metrics(Path("data/metrics/gallery.json"), {"runs_drawn": metrics})
    print_table(drawn.counts.columns, drawn.counts.iter_rows())


if __name__ == "__main__":
    run(main)
