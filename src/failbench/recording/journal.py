"""The journal of a campaign: one file per run, written atomically so that no run is lost."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically


@dataclass(frozen=True)
class JournalEntry:
    """One recorded run: its row of the runs table, but for the verdict, and its steps."""

    run: dict[str, Any]
    steps: list[dict[str, Any]]


def _path(folder: Path, run_id: str) -> Path:
    return folder / f"{run_id}.json.gz"


def write_entry(folder: Path, entry: JournalEntry) -> None:
    """Write an entry atomically."""
    content = json.dumps({"run": entry.run, "steps": entry.steps}).encode()
    write_atomically(
        _path(folder, entry.run["run_id"]),
        gzip.compress(content, compresslevel=3, mtime=0),
        "Free space and start the campaign again; it resumes where it stopped.",
    )


def read_entry(folder: Path, run_id: str) -> JournalEntry | None:
    """Read an entry, or None if the run was not recorded here."""
    path = _path(folder, run_id)
    if not path.exists():
        return None
    try:
        raw = json.loads(gzip.decompress(path.read_bytes()))
        return JournalEntry(raw["run"], raw["steps"])
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise BadInputError(
            path,
            "(file)",
            f"is not a journal entry ({error}).",
            "Delete it to record the run again.",
        ) from error
