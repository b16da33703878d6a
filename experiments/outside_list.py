"""Stage outside_list: what the monitor says of bugs that another project published."""

from __future__ import annotations

from pathlib import Path

from failbench.monitor.bounds import read_bounds
from failbench.monitor.invariants import CATALOGUE
from failbench.monitored.tables import read_monitored
from failbench.outside_list.bugs import read_bugs
from failbench.statistics.settings import read_with_statistics
from failbench.studies.outside_list.report import report
from failbench.studies.outside_list.results import OutsideListSettings
from failbench.study.publish import publish, run

BUGS = Path("data/outside/traincheck.csv")
RUNS = Path("data/outside")


def main() -> None:
    settings = read_with_statistics("outside_list", OutsideListSettings)
    bounds = {}
    if settings.bounds is not None:
        bounds = read_bounds(Path(settings.bounds), CATALOGUE).intervals()
    publish("outside_list", report(read_monitored(RUNS), read_bugs(BUGS), bounds, settings))


if __name__ == "__main__":
    run(main)
