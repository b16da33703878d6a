"""Files that are there wholly or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from failbench.errors import BadInputError


def write_atomically(path: Path, content: bytes, remedy: str) -> None:
    """Write a file so that a reader, or a crash, sees the old one or the whole new one.

    Parameters
    ----------
    remedy
        What the reader of the error can do.

    Raises
    ------
    BadInputError
        If the disk is full or the folder cannot be written; the old file stays as it was.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise BadInputError(
            path, "(file)", f"cannot be written ({error.strerror}).", remedy
        ) from error
