"""Logs: where those of a program are that says nothing of the monitor; read without PyTorch."""

from pathlib import Path
from typing import Final

from failbench.monitor.log import LINES

# folders of logs: of loops that the program has itself, and of a library's trainers
OF_LOOP: Final = "loop"
OF_TRAINER: Final = "trainer"


def free(folder: Path) -> Path:
    """A folder of this name without a log: a stroke more for each training before."""
    while (folder / LINES).exists():
        folder = folder.with_name(f"{folder.name}_")
    return folder


def log_of(folder: Path) -> Path | None:
    """The log that tells most of a program: its trainer's last one, else of its own last loop."""
    for kind in (OF_TRAINER, OF_LOOP):
        logs = [path.parent for path in folder.glob(f"{kind}*/{LINES}")]
        if logs:
            return max(logs, key=lambda path: len(path.name))
    return None
