"""Healthy runs of two ranks: bounds are fitted to them, and the model of logs learns of them."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from failbench.base.records import Record
from failbench.diagnose.rank_departures import Ranks
from failbench.monitor.history import History
from failbench.monitor.records.tables import histories, read_monitored

HEALTHY: Final = Path("data/healthy_ranks")
GROUP: Final = "two ranks"
"""What is left out together of them, and the beginning of the name of each setting."""


class RankBoundsSettings(Record):
    """The section ``rank_bounds`` of params.yaml."""

    margins: tuple[Annotated[float, Field(ge=0)], ...] = Field(min_length=1)


def healthy_ranks() -> dict[str, list[Ranks]]:
    """Healthy runs of two ranks, by setting."""
    runs: dict[tuple[str, int], dict[int, History]] = {}
    for run, history in histories(read_monitored(HEALTHY)):
        rank = int(run["run_id"].rpartition(" ")[2])
        runs.setdefault((run["architecture"], run["seed"]), {})[rank] = history
    settings: dict[str, list[Ranks]] = {}
    for (name, _), ranks in runs.items():
        settings.setdefault(f"{GROUP}, {name}", []).append(ranks)
    return settings
