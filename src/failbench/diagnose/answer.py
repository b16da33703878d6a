"""Answer: what is made of a log."""

from dataclasses import dataclass
from typing import Final, Literal

from failbench.base.vocabulary import Category
from failbench.causes.catalogue import Advice, Cause, Measurement
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.log import Log

# nothing is wrong that the log shows, and something got better; a failure, whose category is named;
# something is wrong or odd, and the log does not say what; nothing is, and the log says too little
# to show health; what was read is of no training
Status = Literal["healthy", "failed", "unknown", "too_little", "no_training_log"]
Level = Literal["high", "medium", "low"]  # of confidence: above 90 %, from 70 to 90 %, below
# probability from which on a category or a cause is named, and not only what to measure
NAMED: Final = 0.3
# the run ended or its weights are lost; it trains wrongly; it trains worse or slower; a hint
Severity = Literal["critical", "high", "medium", "low"]


@dataclass(frozen=True)
class Hypothesis:
    """A root cause that the log speaks for.

    Attributes
    ----------
    cause
        Which.
    confidence
        Probability that it is the cause, as calibrated on scenarios that were not learnt from.
    severity
        What it does to the run.
    findings
        Those that speak for it, the strongest first.
    advice
        What to change, and what to measure.
    """

    cause: Cause
    confidence: float
    severity: Severity
    findings: tuple[Finding, ...]
    advice: Advice


@dataclass(frozen=True)
class LogDiagnosis:
    """What is made of a log.

    Attributes
    ----------
    log
        What was read.
    status
        Whether something is wrong, and whether a category is named.
    category
        Whose cause it is; None where the status is not ``failed``.
    confidence
        Probability of the category, or of the most probable one where none is named; of a healthy
        run that it is healthy, by what shows health.
    categories
        Probability of every category, which add up to 1.
    hypotheses
        Root causes: the first one is named and lies in the most probable category, the others are
        possible too, by confidence. Empty where nothing was found.
    findings
        All that was found, the first one in the log first.
    absent
        What the log does not show and would have been read, as names of signals.
    uncertainty
        What limits the answer beside what is absent, in sentences.
    measure
        What would settle it; the first one or two.
    is_odd
        Whether nothing in the log shows a failure, and something in it is unusual.
    """

    log: Log
    status: Status
    category: Category | None
    confidence: float
    categories: dict[Category, float]
    hypotheses: tuple[Hypothesis, ...]
    findings: tuple[Finding, ...]
    absent: tuple[str, ...]
    uncertainty: tuple[str, ...]
    measure: tuple[Measurement, ...]
    is_odd: bool = False

    @property
    def names_cause(self) -> bool:
        """Whether the first hypothesis is probable enough to be named."""
        first = self.hypotheses[:1]
        return self.status == "failed" and any(each.confidence >= NAMED for each in first)

    @property
    def level(self) -> Level:
        """The confidence in words."""
        return level_of(self.confidence)


def level_of(confidence: float) -> Level:
    """High above 90 %, medium from 70 % on, low below."""
    if confidence > 0.9:
        return "high"
    return "medium" if confidence >= 0.7 else "low"
