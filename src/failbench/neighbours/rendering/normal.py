"""Rendered and read back: a recorded run as it looks to whoever is handed a log of it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from failbench.base.errors import BadInputError
from failbench.diagnose.readers.log import NO_ROWS, Log
from failbench.diagnose.readers.opening import read_log
from failbench.neighbours.rendering.formats import rendered
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape


def rendered_log(
    run: LoggedRun,
    format: str,  # noqa: A002
    shape: LogShape,
    rng: np.random.Generator,
) -> Log:
    """Write a run in a format and read it with the readers of users' logs.

    A single file is read by itself, several as a folder. Where nothing was written, or nothing
    that can be read, the log is empty.
    """
    return read_files(rendered(run, format, shape, rng))


def read_files(files: dict[str, bytes]) -> Log:
    """Read files by name, as they would lie in a folder."""
    with TemporaryDirectory(prefix="failbench-") as name:
        folder = Path(name)
        for relative, content in files.items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        alone = len(files) == 1 and "/" not in next(iter(files))
        try:
            return read_log(folder / next(iter(files)) if alone else folder)
        except BadInputError:
            return Log((), NO_ROWS, ())
