"""What ends an evaluation: a violation that is certain, or too much to follow."""

from __future__ import annotations

import builtins


class ViolationError(Exception):
    """A use that a library, or Python, refuses.

    Parameters
    ----------
    exception
        Name of the class of the exception that it raises.
    reason
        One sentence.
    """

    def __init__(self, exception: str, reason: str) -> None:
        super().__init__(reason)
        self.exception = exception
        self.reason = reason


class ExhaustedError(Exception):
    """The code is longer than a rule is meant to follow."""


FAMILIES = {
    "NotFittedError": ("ValueError", "AttributeError"),
    "LinAlgError": ("ValueError",),
    "AxisError": ("ValueError", "IndexError"),
    "UFuncTypeError": ("TypeError",),
    "UFuncNoLoopError": ("TypeError",),
    "InvalidParameterError": ("ValueError", "TypeError"),
    "IntCastingNaNError": ("ValueError",),
    "MergeError": ("ValueError",),
    "DataError": ("ValueError",),
    "ConversionError": ("TypeError",),
    "OutOfMemoryError": ("RuntimeError",),
    "ModuleNotFoundError": ("ImportError",),
}
"""Bases of exceptions of libraries, among those of Python."""


def is_caught(exception: str, by: str) -> bool:
    """Whether a handler of a class, by its name, catches an exception.

    A name that is not known may be any, and catches.
    """
    handler = getattr(builtins, by, None)
    if by == exception or handler is None:
        return by == exception or by not in FAMILIES
    names = (exception, *FAMILIES.get(exception, ()))
    classes = [getattr(builtins, name, None) for name in names]
    known = [each for each in classes if isinstance(each, type)]
    if not isinstance(handler, type):
        return True
    return any(issubclass(each, handler) for each in known) or (
        not known and handler in (Exception, BaseException)
    )
