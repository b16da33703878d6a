"""Stage rank_bounds: how far healthy ranks of a run lie apart, and how often that alarms others."""

from pathlib import Path

from failbench.base import measuring as st
from failbench.diagnose.rank_departures import (
    Ranks,
    departures,
    fit_rank_bounds,
    write_rank_bounds,
)
from failbench.ranks.recordings import healthy_runs, read_runs
from shared.ranks import RankBoundsSettings, healthy_ranks

RECORDED = Path("data/ranks")
PACKAGED = Path("src/failbench/fitted/ranks.json")


def alarmed(settings: dict[str, list[Ranks]], margins: tuple[float, ...], name: str) -> list[int]:
    """Of each run of a setting, how much departs by bounds of the other settings."""
    others = {other: runs for other, runs in settings.items() if other != name}
    bounds = fit_rank_bounds(others, margins, f"all but {name}")
    return [len(departures(ranks, bounds)) for ranks in settings[name]]


def main() -> None:
    margins = st.read_section("rank_bounds", RankBoundsSettings).margins
    settings = healthy_ranks() | healthy_runs(read_runs(RECORDED))
    tasks = [(settings, margins, name) for name in settings]
    counts = st.parallel_map(alarmed, tasks, st.workers())
    rows = [
        (name, len(each), sum(count > 0 for count in each))
        for name, each in zip(settings, counts, strict=True)
    ]
    fitted_on = f"healthy runs of two ranks in {len(settings)} settings"
    write_rank_bounds(PACKAGED, fit_rank_bounds(settings, margins, fitted_on))
    st.print_table(["setting left out", "runs", "alarmed"], rows)


if __name__ == "__main__":
    st.run(main)
