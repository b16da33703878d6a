"""Files that are there wholly or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from failbench.errors import BadInputError


@contextmanager
def replaced_when_whole(path: Path, remedy: str) -> Iterator[Path]:
    """Where to write what shall become a file: a reader, or a crash, sees the old one or all of it.

    Parameters
    ----------
    remedy
        What the reader of the error can do.

    Yields
    ------
    pathlib.Path
        The partial file. It takes the place of ``path`` at the end; whatever is raised before, the
        old file stays as it was and the partial one is removed.

    Raises
    ------
    BadInputError
        If the disk is full or the folder cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    except OSError as error:
        raise BadInputError(
            path, "(file)", f"cannot be written ({error.strerror}).", remedy
        ) from error
    finally:
        with suppress(OSError):  # it is not there, or neither is its folder
            partial.unlink()


def write_atomically(path: Path, content: bytes, remedy: str) -> None:
    """Write a file whole or not at all; see :func:`replaced_when_whole`."""
    with replaced_when_whole(path, remedy) as partial:
        partial.write_bytes(content)
