"""The command ``preflight``: what will crash in a training step, said before it is taken."""

from __future__ import annotations

from json import dumps
from typing import Annotated

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.cli.options import Json

NOTHING, FAILS, TO_BE_LOOKED_AT = 0, 1, 3
"""Exit status; 2 is bad input, as everywhere."""


def preflight(
    target: Annotated[
        str,
        Parameter(
            help="FILE.py[:FUNCTION]: the function (preflight or build, unless named) returns "
            "model, optimizer, loss and batch, as a tuple or a dict"
        ),
    ],
    /,
    *,
    capacity: Annotated[
        str | None, Parameter(help="memory of the training, as 16GiB (default: what is free)")
    ] = None,
    real_step: Annotated[bool, Parameter(help="take one real step on a copy as well")] = False,
    json: Json = False,
) -> int:
    """Say what will crash, or cannot work, in the first step of a training, before it is taken.

    The file is imported, in this process: it is your own code that runs. Exit status: 0 nothing
    stands out, 1 it will fail, 3 something to look at, 2 bad input.
    """
    try:
        import torch  # noqa: F401 - asked for before a user's file is imported
    except ImportError as error:
        raise BadInputError(
            "preflight", "torch", "is not installed.", "Run this where your training runs."
        ) from error
    from failbench.diagnose.readers.lines import clean
    from failbench.preflight import preflight as checks
    from failbench.preflight.loading import built_by, bytes_of
    from failbench.preflight.page import document, page

    size = None if capacity is None else bytes_of(capacity)
    built = built_by(target)
    limit = size or built.get("capacity_bytes")
    report = checks.preflight(**{**built, "capacity_bytes": limit}, real_step=real_step)
    print(dumps(document(report), indent=2) if json else clean(page(report)))
    if report.fails:
        return FAILS
    is_clear = all(each.severity == "note" for each in report.findings)
    return NOTHING if is_clear else TO_BE_LOOKED_AT
