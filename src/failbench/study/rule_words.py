"""Rules in words: their conditions, wordings of errors, thresholds, and where these are from."""

import re
from collections.abc import Mapping
from typing import Final

from failbench.methods import rules
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import ANY_ERROR, SIGNALS
from failbench.study.cells import ABSENT, words

SIGNIFICANT_DIGITS: Final = 3

SIGNAL_NAMES: Final[Mapping[rules.Declared, str]] = {  # as the improved rules call them
    condition: name.replace("_", " ") for name, condition in SIGNALS.items()
}

GROUP: Final = re.compile(r"\(\?:([^()]*)\)")


def wordings(pattern: str) -> tuple[str, ...]:
    r"""The wordings that a regular expression of error text allows, as people read them.

    >>> wordings(r"\bMemoryError\b|(?:Missing|Unexpected) key\(s\) in .* dict")
    ('MemoryError', 'Missing or Unexpected key(s) in … dict')
    """
    alike = GROUP.sub(lambda match: match.group(1).replace("|", " or "), pattern)
    parts = alike.split("|")
    return tuple(
        re.sub(r"\\(.)", r"\1", part.replace(r"\b", "").replace(".*", "…")) for part in parts
    )


def number(value: float) -> str:
    """A threshold in three significant digits, without an exponent where it is readable.

    >>> number(1000.0), number(0.00123456), number(2.0)
    ('1,000', '0.00123', '2')
    """
    return f"{value:,g}" if value == int(value) else f"{value:.{SIGNIFICANT_DIGITS}g}"


def short(condition: rules.Declared) -> str:
    """The name of a condition in the improved rules, or a short description of it."""
    if condition in SIGNAL_NAMES:
        return SIGNAL_NAMES[condition]
    match condition:
        case rules.LeavesBand(feature, side):
            return f"{words(feature)} {'high' if side == 'above' else 'low'}"
        case rules.StaysInBand(feature, _):
            return f"{words(feature)} usual"
        case _:
            return in_words(condition)


def in_words(condition: rules.Declared | rules.Condition) -> str:
    """What must hold, without the threshold where healthy runs give it."""
    if condition == ANY_ERROR:
        return "there is error text"
    match condition:
        case rules.ErrorMatches(pattern):
            return "error text has " + " / ".join(wordings(pattern))
        case rules.Crosses(feature, side, threshold):
            return f"{words(feature)} {side} {number(threshold)}"
        case rules.LeavesBand(feature, side):
            return f"{words(feature)} {side} the healthy band"
        case rules.StaysInBand(feature, side):
            return f"{words(feature)} measured and not {side} the healthy band"
        case rules.PassesLimit(feature, _):
            return f"{words(feature)} above a limit"


def threshold_words(
    condition: rules.Declared, band: HealthyBand, sds: float, limits: dict[str, float]
) -> str:
    """The number that a condition is held against, and where it is from; a dash for error text."""
    (resolved,) = rules.resolve([condition], band, sds, limits)
    if not isinstance(resolved, rules.Crosses):
        return ABSENT
    return f"{number(resolved.threshold)} ({origin(condition)})"


def origin(condition: rules.Declared) -> str:
    """Where the threshold of a condition, or its wording, comes from."""
    match condition:
        case rules.ErrorMatches():
            return "wording of libraries"
        case rules.LeavesBand() | rules.StaysInBand():
            return "healthy runs"
        case rules.PassesLimit():
            return "the original"
        case rules.Crosses():
            return "what the feature means"
