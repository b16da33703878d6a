"""Formats: all that recorded telemetry can be written as, and how it looks when it is read back."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from failbench.base.errors import BadInputError
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.numbers import NO_NUMBERS
from failbench.diagnose.readers.opening import read_log
from failbench.neighbours.rendering import files, printed
from failbench.neighbours.rendering.run import Files, LoggedRun, LogShape, Writer, as_file, formats
from failbench.neighbours.rendering.tracebacks import declared

FORMATS: Final[tuple[str, ...]] = tuple(formats())

# formats that are lines on a terminal
_PRINTED: Final[dict[str, Callable[[Writer], Iterable[str]]]] = {
    **{name: partial(printed.library_lines, name=name) for name in declared("lines.json")},
    "trainer_v4": partial(files.trainer_lines, rounded=True),
    "trainer_v5": partial(files.trainer_lines, rounded=False),
    "lightning_bar": printed.lightning_bar,
    "keras": printed.keras,
    "key_equals": partial(printed.own_loop, sign="=", separator=" "),
    "key_colon": partial(printed.own_loop, sign=": ", separator=", "),
    "key_bars": partial(printed.own_loop, sign=" ", separator=" | "),
}

# formats that are files, or not a terminal's whole output
_WRITTEN: Final[dict[str, Callable[[Writer], Files]]] = {
    "trainer_state": files.trainer_state,
    "lightning_csv": files.lightning_csv,
    "tensorboard": files.tensorboard,
    "wandb_export": files.wandb_export,
    "wandb_folder": files.wandb_folder,
    "mlflow": files.mlflow,
    "json_lines": files.json_lines,
    "history": files.history,
    "csv": partial(files.table, name="metrics.csv"),
    "markdown": partial(files.table, name="results.md"),
    # main.log, which the process writes itself and which says nothing of its end
    "llm_c_log": lambda log: as_file(printed.library_lines(log, "llm_c_log"), "main.log"),
    "traceback_alone": printed.traceback_alone,
    "mixed_paste": printed.mixed_paste,
}


def rendered(run: LoggedRun, form: str, shape: LogShape, rng: np.random.Generator) -> Files:
    """The files that a log of a run consists of."""
    log = Writer(run, shape, rng)
    return _WRITTEN[form](log) if form in _WRITTEN else log.terminal(_PRINTED[form](log))


def write_files(written: Mapping[str, bytes], folder: Path) -> None:
    """Write files by name, which may have folders before them, into a folder."""
    for name, content in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def read_files(written: Files, folder: Path) -> Log:
    """Read files with the readers of users' logs, one by itself; without any the log is empty.

    They are written into a folder that is empty before and after: to make one for each log would
    take as long as to read it.
    """
    write_files(written, folder)
    alone = len(written) == 1 and "/" not in next(iter(written))
    try:
        return read_log(folder / next(iter(written)) if alone else folder)
    except BadInputError:
        return Log((), NO_NUMBERS, ())
    finally:
        for name in written:
            (folder / name).unlink()
        for inner in {name.split("/")[0] for name in written if "/" in name}:
            shutil.rmtree(folder / inner)
