"""Folders: the files below one that may be read."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from failbench.base.errors import BadInputError

DEEPEST: Final = 8
"""Folders below the one that is named."""

MOST_FILES: Final = 2_000
"""Files of a folder that are looked at."""


def files_below(folder: Path) -> list[Path]:
    """Regular files below a folder in the order of their names; no link is followed.

    Pipes, sockets and devices are left out: opening one may wait for ever.
    """
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
            raise BadInputError(
                folder,
                "(folder)",
                f"holds more than {MOST_FILES:,} files.",
                "Name the folder of one run.",
            )
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
