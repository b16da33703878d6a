"""Faithfulness of explanations as far as it can be computed: what they cite is there, and apt."""

# An explanation may be plausible and have nothing to do with how the answer came about (Jacovi and
# Goldberg, 2020; Turpin et al., 2023). Necessary for faithfulness is that cited values occur in the
# record, and that cited signals speak for the cause that is named.

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from failbench.methods.llm.answer import EvidenceItem, LlmAnswer
from failbench.methods.llm.record import ShownRun, signal_named

LEAST_DIGITS = 2  # significant digits of a cited number, at least: "5" is 5.0, and not 5.4
SHORTEST_QUOTE = 3  # characters of a quotation; fewer occur in any text

_NUMBER = re.compile(
    r"[<>=≈~ ]*([-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?inf(?:inity)?|nan) *(%?)", re.I
)
_NUMBERS_IN_TEXT = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\d)", re.I)


@dataclass(frozen=True)
class Explanation:
    """How far one answer's evidence holds."""

    items: int = 0
    confirmed: int = 0
    points: int = 0

    @property
    def confirmed_share(self) -> float:
        """Share of what is cited that the record shows; 0 where an answer cites nothing."""
        return self.confirmed / self.items if self.items else 0.0

    @property
    def points_share(self) -> float:
        """The same of what points to the category."""
        return self.points / self.items if self.items else 0.0


def explanation_of(answer: LlmAnswer, shown: ShownRun) -> Explanation:
    """Hold the evidence of an answer against the record that it was given."""
    monitored = shown.monitored is not None
    signals = [signal_named(item.signal, monitored=monitored) for item in answer.evidence]
    return Explanation(
        items=len(answer.evidence),
        confirmed=sum(is_confirmed(item, shown) for item in answer.evidence),
        points=sum(
            signal is not None and answer.category in signal.categories for signal in signals
        ),
    )


def is_confirmed(item: EvidenceItem, shown: ShownRun) -> bool:
    """Whether the record shows a cited value for its signal, at any step or as their mean."""
    # Numbers are rounded to the digits that are cited (:func:`agrees`), with a percent sign also as
    # a fraction; in error text they must occur as such. Quotations may differ in case and white
    # space. What the monitor shows of a signal counts as what telemetry shows of it.
    signal = signal_named(item.signal, monitored=shown.monitored is not None)
    if signal is None:
        return False
    of_monitor = () if shown.monitored is None else shown.monitored.values(signal.name)
    return any(_shows(values, item.value) for values in (shown.values(signal.name), of_monitor))


def _shows(values: Sequence[str], value: float | str) -> bool:
    cited = cited_numbers(value)
    if cited:
        return any(agrees(each, number) for each in cited for number in _shown_numbers(values))
    quote = _folded(str(value))
    texts = (value for value in values if not cited_numbers(value))
    return len(quote) >= SHORTEST_QUOTE and any(quote in _folded(text) for text in texts)


def cited_numbers(value: float | str) -> tuple[float, ...]:
    """What numbers a cited value can mean; none where it is no number.

    >>> cited_numbers("95 %"), cited_numbers("> 1,024"), cited_numbers("rising")
    ((95.0, 0.95), (1024.0,), ())
    """
    if isinstance(value, float):
        return (value,)
    match = _NUMBER.fullmatch(value.strip())
    if match is None:
        return ()
    number = float(match[1].replace(",", ""))
    return (number, number / 100) if match[2] else (number,)


def _shown_numbers(values: Sequence[str]) -> list[float]:
    """Every number in what is shown, and the mean of a column of them."""
    whole = [number for value in values for number in cited_numbers(value)]
    inside = [
        float(number)
        for value in values
        if not cited_numbers(value)
        for number in _NUMBERS_IN_TEXT.findall(value)
    ]
    finite = [number for number in whole if math.isfinite(number)]
    return [*whole, *inside, *([sum(finite) / len(finite)] if finite else [])]


def agrees(cited: float, shown: float) -> bool:
    """Whether a shown number, rounded to as many digits as the cited one has, is the cited one.

    >>> agrees(0.52, 0.5155), agrees(300, 297.3), agrees(0.516, 0.52), agrees(5, 5.4)
    (True, True, False, False)
    """
    if not (math.isfinite(cited) and math.isfinite(shown)):
        return cited == shown or (math.isnan(cited) and math.isnan(shown))
    if cited == 0:
        return shown == 0
    written = f"{abs(cited):.15g}".partition("e")[0].replace(".", "").strip("0")
    digits = max(len(written), LEAST_DIGITS)
    unit = 10.0 ** (math.floor(math.log10(abs(cited))) - digits + 1)
    return abs(cited - shown) <= 0.5 * unit * (1 + 1e-9)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
