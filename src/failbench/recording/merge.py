"""Merge: what all shards of a campaign have recorded, in the order of its plan."""

from __future__ import annotations

from dataclasses import dataclass

from failbench.recording.campaign import Campaign
from failbench.recording.journal import JournalEntry
from failbench.recording.plan import PlannedRun, plan_remedies
from failbench.recording.shards import WHOLE, Shard


@dataclass(frozen=True)
class Recorded:
    """The entries of a plan's runs that are recorded, and the ids of those that are not."""

    entries: list[JournalEntry]
    missing: list[str]


def recorded(campaign: Campaign, shard: Shard = WHOLE) -> Recorded:
    """What is recorded of a shard, without recording anything.

    A run counts if the code of today recorded it, and a failing run if it has the configuration of
    its twin: the shard that recorded the pair may have drawn another one than the plan's.
    """
    result = Recorded([], [])

    def look(planned: PlannedRun) -> None:
        entry = campaign.keep(planned)
        if entry is not None and entry.run["draw"] == planned.draw:
            result.entries.append(entry)
        else:
            result.missing.append(planned.run_id)

    for planned in shard.part(campaign.successes):
        look(planned)
    for pair in shard.part(campaign.pairs):
        twin = campaign.keep(pair.twin)
        drawn = pair if twin is None else campaign.drawn(pair.twin, twin.run["draw"])
        for planned in (drawn.twin, drawn.failure, *plan_remedies(drawn.failure, campaign.params)):
            look(planned)
    return result
