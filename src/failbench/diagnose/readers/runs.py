"""Runs: which of several runs in one folder is read, since rows of two runs make no log.

Libraries keep runs side by side: MLflow and Weights & Biases by time, Lightning by a number,
TensorBoard in folders whose files have a time in their names. Of these the newest run is read, as
it is the one that failed last. Where a layout does not say which one is the newest, a run has to be
named.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from failbench.base.errors import BadInputError
from failbench.diagnose.readers.event_file import NAMED
from failbench.diagnose.readers.lines import clean
from failbench.diagnose.readers.mlflow_store import run_of_metric, started

STATE: Final = "trainer_state.json"

SHOWN: Final = 3
"""Runs that a note or an error names."""

_WANDB: Final = re.compile(r"(?:offline-)?run-(\d{8})_(\d{6})-\w+")
"""A run folder of Weights & Biases: when it started, and its id."""

_VERSION: Final = re.compile(r"version_(\d{1,9})")
"""A run folder of Lightning's loggers (``lightning/pytorch/loggers/csv_logs.py``)."""

_EVENT_TIME: Final = re.compile(r"\.tfevents\.(\d{1,12})\.")
"""``events.out.tfevents.<seconds>.<host>``, as TensorBoard's ``EventFileWriter`` names them."""

_SPLITS: Final = frozenset(
    {"train", "training", "validation", "valid", "val", "eval", "evaluation", "dev", "test"}
)
"""Folders in which a run keeps what it measured on one split, as Keras does."""


@dataclass(frozen=True)
class Run:
    """A run that a library keeps in a folder of its own."""

    layout: str
    folder: Path
    age: int | None


@dataclass(frozen=True)
class Chosen:
    """What is read of a folder."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...]


def chosen_run(folder: Path, paths: list[Path]) -> Chosen:
    """The files of the newest run."""
    of_file = dict(_runs(folder, paths))
    left: set[Run] = set()
    notes = []
    for layout, runs in _groups(of_file).items():
        first, *others = _newest_first(folder, layout, runs)
        left.update(others)
        notes += [_note(folder, first, others)] if others else []
    _refuse_two_series(folder, [(path, run) for path, run in of_file.items() if run not in left])
    kept = [path for path in paths if of_file.get(path) not in left]
    states = sorted((path for path in kept if path.name == STATE), key=_steps_of_state)
    return Chosen(tuple(path for path in kept if path not in states[:-1]), tuple(notes))


def _runs(folder: Path, paths: list[Path]) -> Iterator[tuple[Path, Run]]:
    """The run of each file that lies in one."""
    events = [path for path in paths if NAMED in path.name]
    holders = {_without_split(path.parent, folder) for path in events}
    ages: dict[Path, int] = defaultdict(int)
    for path in events:
        holder = _outermost(path.parent, folder, holders)
        ages[holder] = max(ages[holder], _time_of_events(path))
    for path in paths:
        run = _in_named_folder(folder, path)
        if run is None and path.name == STATE:
            run = Run("Trainer", _folder_of_state(path, folder), None)
        elif run is None and NAMED in path.name:
            holder = _outermost(path.parent, folder, holders)
            run = Run("TensorBoard", holder, ages[holder] or None)
        elif run is None and (home := run_of_metric(folder, path)) is not None:
            run = Run("MLflow", home, started(home))
        if run is not None:
            yield path, run


def _in_named_folder(folder: Path, path: Path) -> Run | None:
    """The run of a folder whose name tells whose it is, the outermost one."""
    for parent in reversed(path.relative_to(folder).parents[:-1]):
        if found := _WANDB.fullmatch(parent.name):
            return Run("Weights & Biases", folder / parent, int(found[1] + found[2]))
        if found := _VERSION.fullmatch(parent.name):
            return Run("Lightning", folder / parent, int(found[1]))
    return None


def _groups(of_file: dict[Path, Run]) -> dict[str, list[Run]]:
    """Runs of which one is read; those of Lightning are numbered within their folder."""
    groups: dict[tuple[str, Path | None], list[Run]] = defaultdict(list)
    for run in dict.fromkeys(of_file.values()):
        groups[run.layout, run.folder.parent if run.layout == "Lightning" else None].append(run)
    return {f"{layout} {parent or ''}".strip(): runs for (layout, parent), runs in groups.items()}


def _newest_first(folder: Path, layout: str, runs: list[Run]) -> list[Run]:
    if len(runs) == 1:
        return runs
    own = [run for run in runs if run.folder == folder]
    by_age = sorted(runs, key=lambda run: (run.age or 0, run.folder), reverse=True)
    if own:
        return own + [run for run in by_age if run not in own]
    if any(run.age is None for run in runs) or by_age[0].age == by_age[1].age:
        raise _several(folder, layout, runs)
    return by_age


def _several(folder: Path, layout: str, runs: list[Run]) -> BadInputError:
    names = _names(folder, sorted(runs, key=lambda run: run.folder))
    return BadInputError(
        folder,
        "(folder)",
        f"holds {len(runs):,} runs ({layout.split(' ')[0]}), and not which is the newest: {names}.",
        "Name the folder of one of them.",
    )


def _note(folder: Path, read: Run, others: list[Run]) -> str:
    return (
        f"{_name(folder, read)} is the newest of {len(others) + 1:,} runs ({read.layout}), and is "
        f"read alone; name the folder of another to read it: {_names(folder, others)}."
        if read.folder != folder
        else f"The runs below this one ({read.layout}) are not read: {_names(folder, others)}."
    )


def _names(folder: Path, runs: list[Run]) -> str:
    more = ", ..." if len(runs) > SHOWN else ""
    return ", ".join(_name(folder, run) for run in runs[:SHOWN]) + more


def _name(folder: Path, run: Run) -> str:
    return clean(run.folder.relative_to(folder).as_posix())


def _refuse_two_series(folder: Path, kept: list[tuple[Path, Run]]) -> None:
    """Two loggers of one training write different files; equal files are of two trainings."""
    homes: dict[str, dict[Path, Run]] = defaultdict(dict)
    for path, run in kept:
        if run.layout == "Lightning":
            kind = "events" if NAMED in path.name else path.name
            homes[kind][run.folder] = run
    for kind in ("metrics.csv", "events"):
        if len(homes[kind]) > 1:
            raise _several(folder, "Lightning", list(homes[kind].values()))


def _without_split(home: Path, folder: Path) -> Path:
    return home.parent if home != folder and home.name.lower() in _SPLITS else home


def _outermost(home: Path, folder: Path, holders: set[Path]) -> Path:
    """The run of event files in a folder: one above it, if that has event files of its own.

    ``add_scalars`` and ``add_hparams`` of torch write into folders below that of their writer.
    """
    above = [home, *home.parents]
    inside = above[: above.index(folder) + 1]
    return next(place for place in reversed(inside) if place in holders)


def _time_of_events(path: Path) -> int:
    found = _EVENT_TIME.search(path.name)
    return int(found[1]) if found else 0


def _folder_of_state(path: Path, folder: Path) -> Path:
    home = path.parent
    return home.parent if home != folder and home.name.startswith("checkpoint-") else home


def _steps_of_state(path: Path) -> tuple[int, int]:
    """Of a state of a Trainer: that of the folder itself is the last, else that of most steps."""
    head, _, step = path.parent.name.partition("-")
    if head != "checkpoint" or not step.isdecimal():
        return (1, 0)
    return (0, int(step[:18]))
