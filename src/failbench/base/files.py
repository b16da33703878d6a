"""Atomic writing of files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from failbench.base.errors import BadInputError


@contextmanager
def replaced_when_whole(path: Path, remedy: str) -> Iterator[Path]:
    """A temporary file that replaces ``path`` at the end, so that readers see a whole file."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    except OSError as error:
        problem = f"cannot be written ({error.strerror})."
        raise BadInputError(path, "(file)", problem, remedy) from error
    finally:
        with suppress(OSError):  # it or its folder does not exist
            partial.unlink()


def write_atomically(path: Path, content: bytes, remedy: str) -> None:
    """Write a file atomically; see :func:`replaced_when_whole`."""
    with replaced_when_whole(path, remedy) as partial:
        partial.write_bytes(content)
