"""Parameters of estimators by name, also of their parts."""

from __future__ import annotations

from failbench.crashes.rules.knowledge.interfaces import parameters
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Estimator, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning.kinds import COMPOSED


def check_parameter(estimator: Estimator, key: str) -> None:
    """Refuse the name of a setting that an estimator does not have.

    Raises
    ------
    ViolationError
        ``ValueError``.
    """
    first, _, rest = key.partition("__")
    if estimator.steps is not None and first in estimator.steps:
        step = estimator.steps[first]
        if rest and isinstance(step, Estimator):
            check_parameter(step, rest)
        return
    known = parameters(estimator.path)
    if known is None or known.takes_any:
        return
    if first not in known.named and (estimator.name not in COMPOSED or estimator.steps is not None):
        raise ViolationError("ValueError", f"{first!r} is no setting of {estimator.name}")
    inner = estimator.settings.get(first)
    if rest and isinstance(inner, Estimator):
        check_parameter(inner, rest)


def set_params(call: Call, estimator: Estimator) -> Value:
    """Change settings."""
    for key, value in call.kwargs.items():
        check_parameter(estimator, key)
        first, _, rest = key.partition("__")
        owner: Value | None = estimator
        while rest:
            owner = (
                (owner.steps or {}).get(first) or owner.settings.get(first)
                if isinstance(owner, Estimator)
                else None
            )
            first, _, rest = rest.partition("__")
        if isinstance(owner, Estimator):
            if owner.steps is not None and first in owner.steps:
                owner.steps[first] = value
            owner.settings[first] = value
    return estimator
