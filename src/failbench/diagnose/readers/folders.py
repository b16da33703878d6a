"""Folders: which files below one are read, and which run of several, since two make no log.

The newest is read, as it failed last: by time (MLflow, Weights & Biases, TensorBoard) or by number
(Lightning); else one has to be named. MLflow's file store (``mlflow/store/tracking/file_store.py``)
has a file for each metric; the database, its default since 3.7, is not read.
"""

import re
import stat
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from failbench.base.errors import BadInputError
from failbench.diagnose.readers.lines import clean
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.names import SPLIT_WORDS
from failbench.diagnose.readers.numbers import NOWHERE
from failbench.diagnose.readers.records import NAMED

DEEPEST: Final = 8  # folders below the one that is named
MOST_FILES: Final = 2_000  # files of a folder that are looked at
STATE: Final = "trainer_state.json"
SHOWN: Final = 3  # runs that a note or an error names
METRICS: Final = "metrics"
# beside the metrics of a run of MLflow: its name, when it started, and whether it was deleted
META: Final = "meta.yaml"
# folder of an experiment of MLflow whose metrics are copies, by model, of those of runs
MODELS: Final = "models"
_LARGEST_META: Final = 2**16  # bytes of that file that are read; it has some 20 short lines
_START: Final = re.compile(rb"^start_time: (\d{1,15})\s*$", re.MULTILINE)
_DELETED: Final = re.compile(rb"^lifecycle_stage: deleted\s*$", re.MULTILINE)
# a run folder of Weights & Biases: when it started, and its id
_WANDB: Final = re.compile(r"(?:offline-)?run-(\d{8})_(\d{6})-\w+")
# a run folder of Lightning's loggers (``lightning/pytorch/loggers/csv_logs.py``)
_VERSION: Final = re.compile(r"version_(\d{1,9})")
# ``events.out.tfevents.<seconds>.<host>``, as TensorBoard's ``EventFileWriter`` names them
_EVENT_TIME: Final = re.compile(r"\.tfevents\.(\d{1,12})\.")


class Run(NamedTuple):
    """A run that a library keeps in a folder of its own."""

    layout: str
    folder: Path
    age: int | None


def files_below(folder: Path) -> list[Path]:
    """Regular files by name; no link is followed, and no pipe opened, which may wait for ever."""
    paths: list[Path] = []
    folders = [(folder, 0)]
    while folders:
        current, depth = folders.pop()
        for path in sorted(current.iterdir()):
            mode = _mode(path)
            if stat.S_ISDIR(mode) and depth < DEEPEST:
                folders.append((path, depth + 1))
            elif stat.S_ISREG(mode):
                paths.append(path)
        if len(paths) > MOST_FILES:
            problem = f"contains more than {MOST_FILES:,} files."
            raise BadInputError(folder, "(folder)", problem, "Name the folder of one run.")
    return sorted(paths)


def is_own_file(path: Path) -> bool:
    """Whether a regular file is there, and no link to one elsewhere."""
    return stat.S_ISREG(_mode(path))


def _mode(path: Path) -> int:
    """What stands at a path; 0 where it vanished while the folder was read."""
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return 0


def run_of_metric(folder: Path, path: Path) -> Path | None:
    """The folder of MLflow's run whose metric a file is, or None if it is no metric."""
    inside = path.relative_to(folder).parts[:-1]
    if METRICS in inside:
        home = folder.joinpath(*inside[: inside.index(METRICS)])
    elif folder.name == METRICS:
        home = folder.parent
    else:
        return None
    if home.parent.name == MODELS:
        return None
    # Keys may have dots; without the file that makes a run of a folder, such names are no metrics.
    return home if not path.suffix or (home / META).is_file() else None


def _started(home: Path) -> int | None:
    """When a run of MLflow started, in milliseconds; 0 if deleted, None if that is not known."""
    try:
        if (home / META).is_symlink():
            return None
        with (home / META).open("rb") as stream:
            meta = stream.read(_LARGEST_META)
    except OSError:
        return None
    found = _START.search(meta)
    if found is None:
        return None
    return 0 if _DELETED.search(meta) else int(found[1])


def chosen_run(folder: Path, paths: list[Path]) -> tuple[list[Path], list[str]]:
    """The files of the newest run, and notes on what is not read."""
    of_file = dict(_runs(folder, paths))
    left: set[Run] = set()
    notes = []
    groups: dict[tuple[str, Path | None], list[Run]] = defaultdict(list)
    for run in dict.fromkeys(of_file.values()):  # those of Lightning have numbers in their folder
        groups[run.layout, run.folder.parent if run.layout == "Lightning" else None].append(run)
    for runs in groups.values():
        first, *others = _newest_first(folder, runs)
        left.update(others)
        notes += [_note(folder, first, others)] if others else []
    _refuse_two_series(folder, [(path, run) for path, run in of_file.items() if run not in left])
    kept = [path for path in paths if of_file.get(path) not in left]
    states = sorted((path for path in kept if path.name == STATE), key=_steps_of_state)
    return [path for path in kept if path not in states[:-1]], notes


def _runs(folder: Path, paths: list[Path]) -> Iterator[tuple[Path, Run]]:
    """The run of each file that lies in one."""
    events = [path for path in paths if NAMED in path.name]
    homes = (path.parent for path in events)
    holders = {
        home.parent if home != folder and home.name.lower() in SPLIT_WORDS else home
        for home in homes
    }
    ages: dict[Path, int] = defaultdict(int)
    for path in events:
        holder = _outermost(path.parent, folder, holders)
        found = _EVENT_TIME.search(path.name)
        ages[holder] = max(ages[holder], int(found[1]) if found else 0)
    for path in paths:
        run = _in_named_folder(folder, path)
        if run is None and path.name == STATE:
            home = path.parent
            is_checkpoint = home != folder and home.name.startswith("checkpoint-")
            run = Run("Trainer", home.parent if is_checkpoint else home, None)
        elif run is None and NAMED in path.name:
            holder = _outermost(path.parent, folder, holders)
            run = Run("TensorBoard", holder, ages[holder] or None)
        elif run is None and (home_of_run := run_of_metric(folder, path)) is not None:
            run = Run("MLflow", home_of_run, _started(home_of_run))
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


def _outermost(home: Path, folder: Path, holders: set[Path]) -> Path:
    """The run of event files: ``add_scalars`` and ``add_hparams`` write below their writer's."""
    above = [home, *home.parents]
    inside = above[: above.index(folder) + 1]
    return next(place for place in reversed(inside) if place in holders)


def _newest_first(folder: Path, runs: list[Run]) -> list[Run]:
    if len(runs) == 1:
        return runs
    own = [run for run in runs if run.folder == folder]
    by_age = sorted(runs, key=lambda run: (run.age or 0, run.folder), reverse=True)
    if own:
        return own + [run for run in by_age if run not in own]
    if any(run.age is None for run in runs) or by_age[0].age == by_age[1].age:
        raise _several(folder, runs)
    return by_age


def _several(folder: Path, runs: list[Run]) -> BadInputError:
    layout = runs[0].layout.split(" ")[0]
    names = _names(folder, sorted(runs, key=lambda run: run.folder))
    problem = (
        f"contains {len(runs):,} runs ({layout}), and does not show which is the newest: {names}."
    )
    return BadInputError(folder, "(folder)", problem, "Name the folder of one of them.")


def _note(folder: Path, read: Run, others: list[Run]) -> str:
    return (
        f"{_names(folder, [read])} is the newest of {len(others) + 1:,} runs ({read.layout}), and "
        f"is read alone; name the folder of another to read it: {_names(folder, others)}."
        if read.folder != folder
        else f"The runs below this one ({read.layout}) are not read: {_names(folder, others)}."
    )


def _names(folder: Path, runs: list[Run]) -> str:
    names = [clean(run.folder.relative_to(folder).as_posix()) for run in runs[:SHOWN]]
    return ", ".join(names) + (", ..." if len(runs) > SHOWN else "")


def _refuse_two_series(folder: Path, kept: list[tuple[Path, Run]]) -> None:
    """Two loggers of one training write different files; equal files are of two trainings."""
    homes: dict[str, dict[Path, Run]] = defaultdict(dict)
    for path, run in kept:
        if run.layout == "Lightning":
            kind = "events" if NAMED in path.name else path.name
            homes[kind][run.folder] = run
    for kind in ("metrics.csv", "events"):
        if len(homes[kind]) > 1:
            raise _several(folder, list(homes[kind].values()))


def _steps_of_state(path: Path) -> tuple[int, int]:
    """Of a state of a Trainer: that of the folder itself is the last, else that of most steps."""
    head, _, step = path.parent.name.partition("-")
    if head != "checkpoint" or not step.isdecimal():
        return (1, 0)
    return (0, int(step[:18]))


def notes_on_overlap(parts: Sequence[Log]) -> Iterator[str]:
    """Where logs of a name have training losses of the same steps: of ranks, or of other runs."""
    alike: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for part in parts:
        steps = part.series("loss").step
        steps = steps[steps != NOWHERE]
        if len(steps):
            name = part.sources[0].name
            alike[PurePosixPath(name).name].append((int(steps.min()), int(steps.max()), name))
    for places in alike.values():
        ordered = sorted(places, key=lambda place: place[:2])
        for (_, end, one), (start, _, other) in pairwise(ordered):
            if start <= end:
                yield (
                    f"{clean(one)} and {clean(other)} have losses of the same steps: if they are "
                    "of different runs, name one of them."
                )
                break
