"""The command ``preflight``: what will crash in a training step, said before it is taken."""

from __future__ import annotations

import json

from failbench.base.errors import BadInputError

NOTHING, FAILS, TO_BE_LOOKED_AT = 0, 1, 3
"""Exit status; 2 is bad input, as everywhere."""


def run_preflight(*, target: str, capacity: str | None, real_step: bool, as_json: bool) -> int:
    """Print what a preflight says of what a function of a file builds."""
    try:
        import torch  # noqa: F401 - asked for before a user's file is imported
    except ImportError as error:
        raise BadInputError(
            "preflight", "torch", "is not installed.", "Run this where your training runs."
        ) from error
    from failbench.diagnose.readers.lines import clean
    from failbench.preflight.loading import built_by, bytes_of
    from failbench.preflight.page import document, page
    from failbench.preflight.preflight import preflight

    size = None if capacity is None else bytes_of(capacity)
    built = built_by(target)
    options = {name: built.pop(name) for name in [*built] if name in ("forward", "vocabulary")}
    limit = size or built.pop("capacity_bytes", None)
    built.pop("capacity_bytes", None)
    report = preflight(**built, **options, capacity_bytes=limit, real_step=real_step)
    if as_json:
        print(json.dumps(document(report), indent=2))
    else:
        print(clean(page(report)))
    if report.fails:
        return FAILS
    is_clear = all(each.severity == "note" for each in report.findings)
    return NOTHING if is_clear else TO_BE_LOOKED_AT
