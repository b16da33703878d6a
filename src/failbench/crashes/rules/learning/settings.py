"""Settings of scikit-learn: what a parameter may be, as the library declares it."""

from __future__ import annotations

from typing import Any

import numpy as np

from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.interfaces import parameters, recorded, words
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Known,
    Sequence,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def check(path: str, given: dict[str, Value]) -> None:
    """Refuse settings that an estimator or function does not allow.

    Raises
    ------
    ViolationError
        ``InvalidParameterError``.
    """
    declared = recorded()["constraints"].get(path)
    if declared is None:
        return
    for name, value in given.items():
        allowed = declared.get(name)
        if allowed and is_refused(value, allowed):
            shown = concrete(value) if isinstance(value, Known) else "what is given"
            reason = f"{name} of {path.rpartition('.')[2]} cannot be {shown!r}"
            raise ViolationError("InvalidParameterError", reason)


def is_refused(value: Value, allowed: list[dict[str, Any]]) -> bool:
    """Whether none of what is allowed admits a value."""
    if not isinstance(value, Known):
        return False
    data = value.data
    for each in allowed:
        if "options" in each and (
            data in each["options"] if isinstance(data, (str, int, float)) else False
        ):
            return False
        if each.get("none") and data is None:
            return False
        if "kind" in each and _is_inside(data, each):
            return False
        if "type" in each and not _is_of_no_type(data, each["type"]):
            return False
        if "word" in each and not _is_no_word(data, each["word"]):
            return False
    return True


def _is_inside(data: Any, allowed: dict[str, Any]) -> bool:
    if isinstance(data, bool) or not isinstance(data, (int, float)):
        return isinstance(data, bool)
    if allowed["kind"] in ("Integral",) and not isinstance(data, int):
        return False
    if allowed["kind"] == "RealNotInt" and isinstance(data, int):
        return False
    low, high = allowed["ends"]
    closed = allowed["closed"]
    if data != data:
        return False
    if low is not None and (data < low or (data == low and closed not in ("left", "both"))):
        return False
    return not (
        high is not None and (data > high or (data == high and closed not in ("right", "both")))
    )


def _is_of_no_type(data: Any, name: str) -> bool:
    known: dict[str, Any] = {
        "str": str,
        "int": int,
        "float": float,
        "bool": bool,
        "Integral": int,
        "Real": (int, float),
    }
    if name in known:
        return not isinstance(data, known[name])
    # any other type is of no number, text or None
    return name in ("dict", "list", "tuple", "ndarray") or data is not None


def _is_no_word(data: Any, word: str) -> bool:
    if word == "boolean":
        return not isinstance(data, (bool, np.bool_))
    if word == "random_state":
        return isinstance(data, str)
    return word in ("callable", "array-like", "sparse matrix")


def check_call(call: Call) -> None:
    """Refuse arguments that a function of scikit-learn does not allow."""
    if not call.path.startswith("sklearn."):
        return
    known = parameters(call.path)
    given = dict(call.kwargs)
    if known is not None:
        given |= dict(zip(known.positional, call.args, strict=False))
    check(call.path, given)
    scoring = given.get("scoring")
    check_scoring(scoring)


def check_scoring(value: Value | None) -> None:
    """Refuse a score that is not there.

    Raises
    ------
    ViolationError
        ``InvalidParameterError``.
    """
    items = value.items or [] if isinstance(value, Sequence) else [value]
    for each in items:
        if (
            isinstance(each, Known)
            and isinstance(each.data, str)
            and each.data not in words("scoring")
        ):
            raise ViolationError("InvalidParameterError", f"{each.data!r} is no score")


def are_given(call: Call) -> dict[str, Value]:
    """Arguments by name."""
    known = parameters(call.path)
    given = dict(call.kwargs)
    if known is not None:
        given |= dict(zip(known.positional, call.args, strict=False))
    return given


def constant(value: Value | None) -> Any:
    """A setting as a constant, or None."""
    try:
        return concrete(value)
    except NotConcreteError:
        return None
