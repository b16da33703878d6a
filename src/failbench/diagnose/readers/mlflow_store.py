"""MLflow's file store: a folder of metrics for each run, a file for each metric.

``<store>/<experiment>/<run>/metrics/<key>`` has a line for each value: time in milliseconds, value,
step (``mlflow/store/tracking/file_store.py``). It was MLflow's default, ``./mlruns``, up to
version 3.6. Since 3.7 that is a database, ``mlflow.db``, unless ``./mlruns`` is there already, and
the store has to be asked for (``MLFLOW_ALLOW_FILE_STORE``). The database is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from failbench.diagnose.readers.log import Log, Source
from failbench.diagnose.readers.names import Meaning, meaning
from failbench.diagnose.readers.numbers import number
from failbench.diagnose.readers.rows import Rows

METRICS: Final = "metrics"
META: Final = "meta.yaml"
"""Beside the metrics of a run: its name, when it started, and whether it was deleted."""

MODELS: Final = "models"
"""Folder of an experiment whose metrics are copies, by model, of those of runs."""

_LARGEST_META: Final = 2**16
"""Bytes of that file that are read; it has some 20 short lines."""

_START: Final = re.compile(rb"^start_time: (\d{1,15})\s*$", re.MULTILINE)
_DELETED: Final = re.compile(rb"^lifecycle_stage: deleted\s*$", re.MULTILINE)


def run_of_metric(folder: Path, path: Path) -> Path | None:
    """The folder of the run whose metric a file is, or None if it is no metric."""
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


def key_of_metric(home: Path, path: Path) -> str:
    """The name of a metric, which may have slashes."""
    return path.relative_to(home / METRICS).as_posix()


def started(home: Path) -> int | None:
    """When a run started, in milliseconds; 0 if it was deleted, None if that is not known."""
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


def read_metric(name: str, key: str, lines: Iterator[tuple[int, str]]) -> Log | None:
    """Read the file of one metric: lines of time in milliseconds, value, step; None if unknown."""
    found = meaning(key)
    if found is None:
        return None
    rows, last = Rows(), 0
    for last, text in lines:
        cells = text.split()
        values = [number(cell) for cell in cells[1:3]]
        if len(values) == 2 and values[0] is not None and values[1] is not None:
            rows.add(last, [(found, values[0]), (Meaning("step"), values[1])])
    return Log((Source(name, "MLflow metric", last),), rows.table(), ())
