"""Extras: libraries that only parts of the package need, imported where they are used."""

from collections.abc import Iterator
from contextlib import contextmanager

from failbench.base.errors import BadInputError


@contextmanager
def of_extra(use: str, extra: str = "lab") -> Iterator[None]:
    """Imports of an extra: where one is not installed, the error names the extra."""
    try:
        yield
    except ImportError as error:
        problem = f"is not installed, and {use} needs it."
        remedy = f"Run `pip install 'failbench[{extra}]'`."
        raise BadInputError("environment", error.name or extra, problem, remedy) from error
