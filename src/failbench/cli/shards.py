"""The options ``--shard`` and ``--merge`` of ``record``: parts of a campaign, and their tables."""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Sequence
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING

from failbench.recording.plan import Shard

if TYPE_CHECKING:
    from failbench.recording.campaign import Campaign
    from failbench.recording.journal import JournalEntry

CLUSTERS = ("slurm", "local", "debug")

INCOMPLETE = 3
"""Exit status where runs are missing that another shard, or the same one once more, must record."""

_WARNINGS = (signal.SIGTERM, signal.SIGUSR2)
"""Signals that a scheduler sends to all processes of a job before it kills them."""

_MOST_NAMED = 20


def stop_with_the_job(stop: threading.Event, preloaded: Sequence[str]) -> None:
    """Let the warning of a scheduler stop a shard after its current runs, and end none of them.

    A run that such a signal ended would be recorded as one that failed of a signal. What is ignored
    when the fork server is started is ignored by it and by all runs.
    """
    from failbench.recording.sandbox import fork_server

    for number in _WARNINGS:
        signal.signal(number, signal.SIG_IGN)
    fork_server(preloaded)
    forkserver.ensure_running()
    for number in _WARNINGS:
        signal.signal(number, lambda *_: stop.set())


def report_shard(campaign: Campaign, shard: Shard) -> int:
    """Say whether a shard is recorded; 0, or ``INCOMPLETE`` if its pairs wait for other shards."""
    name = campaign.setting.name
    if not campaign.recorded(shard)[1]:
        print(f"{name}: shard {shard} is recorded.")
        return 0
    awaited = [run.run_id for run in campaign.successes if campaign.keep(run) is None]
    print(
        f"{name}: the healthy runs of shard {shard} are recorded. Its other runs are held to those "
        f"of all shards, of which {len(awaited)} are missing ({_listed(awaited)}): the same "
        f"command goes on once they are in {campaign.journal}."
    )
    return INCOMPLETE


def merge_shards(campaign: Campaign, output: Path, whole: bool) -> int:
    """Write the tables of a setting of which all runs are recorded, or name what is missing."""
    name = campaign.setting.name
    entries, missing = campaign.recorded()
    total = len(entries) + len(missing)
    if missing:
        print(f"{name}: {len(missing)} of {total} runs are missing: {_listed(missing)}.")
        return INCOMPLETE
    write_tables(campaign, entries, output, whole)
    print(f"{name}: {total} runs are in {output}.")
    return 0


def write_tables(
    campaign: Campaign, entries: list[JournalEntry], output: Path, whole: bool
) -> None:
    """Put what a campaign recorded into the tables, after which its journal is not needed."""
    from failbench.recording.journal import archive

    archive(output, campaign.setting, campaign.tables(entries), whole)
    shutil.rmtree(campaign.journal, ignore_errors=True)


def _listed(names: Sequence[str]) -> str:
    beyond = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {beyond} more" if beyond > 0 else "")
