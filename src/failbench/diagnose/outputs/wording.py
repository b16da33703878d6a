"""Wording: how an answer says numbers, places and names, on the page and in every other output."""

from __future__ import annotations

import math
import re
from typing import Final

from failbench.base.vocabulary import Category
from failbench.diagnose.answer import LogDiagnosis, Severity, level_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.lines import clean
from failbench.diagnose.readers.names import SignalName
from failbench.diagnose.readers.opening import STANDARD_INPUT

CATEGORY_WORDS: Final[dict[Category, str]] = {
    "memory_hardware": "memory and hardware",
    "optimization": "optimization",
    "data_pipeline": "data pipeline",
    "model_software": "model and software",
    "unknown": "something outside the job",
}
"""``unknown`` is what lies outside the job, see ``docs/categories.md``: an answer, not a lack."""

SIGNAL_WORDS: Final[dict[SignalName, str]] = {
    "loss": "loss",
    "grad_norm": "gradient norm",
    "learning_rate": "learning rate",
    "perplexity": "perplexity",
    "memory": "memory",
    "throughput": "throughput",
}

SEVERITY_WORDS: Final[dict[Severity, str]] = {
    "critical": "the run ended or its weights are lost",
    "high": "the run trains wrongly",
    "medium": "the run trains worse or slower than it could",
    "low": "a hint",
}


def one_line(text: str) -> str:
    r"""The same, on one line.

    >>> one_line("Traceback\n  loss  3")
    'Traceback loss 3'
    """
    return " ".join(clean(text).split())


def number_words(value: float) -> str:
    """A number with four digits, which is enough to find it in the log.

    >>> number_words(11.23456), number_words(8.4e10), number_words(1200.0), number_words(-math.inf)
    ('11.23', '8.4e10', '1,200', '-inf')
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value}"
    if value == round(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    return re.sub(r"e\+?(-?)0*(\d)", r"e\1\2", f"{value:.4g}")


def percent(share: float) -> str:
    """A probability in percent, never said to be certain or impossible.

    >>> percent(0.934), percent(0.999), percent(0.0)
    ('93 %', 'over 99 %', 'under 1 %')
    """
    if share > 0.99:
        return "over 99 %"
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def sure(confidence: float) -> str:
    """A confidence in percent and in words.

    >>> sure(0.93)
    '93 % sure (high)'
    """
    return f"{percent(confidence)} sure ({level_of(confidence)})"


def signal_words(name: str) -> str:
    """A signal in words; one of the monitor's keeps its name.

    >>> signal_words("grad_norm"), signal_words("update_ratio")
    ('gradient norm', 'update_ratio')
    """
    words = {str(signal): text for signal, text in SIGNAL_WORDS.items()}
    return words.get(name, one_line(name))


def place_of(finding: Finding) -> str:
    """Where a finding stands, as editors and terminals follow it: ``train.log:1204``."""
    if finding.source == STANDARD_INPUT:
        return "standard input" if finding.line is None else f"line {finding.line}"
    name = one_line(finding.source)
    return name if finding.line is None else f"{name}:{finding.line}"


def measured_in(finding: Finding) -> str:
    """The value of a finding and what it was held against; empty where it is words."""
    if finding.value is None:
        return ""
    text = f"{signal_words(finding.signal)} {number_words(finding.value)}".strip()
    if finding.threshold is None:
        return text
    return f"{text}, {one_line(finding.relation)} {number_words(finding.threshold)}"


def headline(diagnosis: LogDiagnosis) -> str:
    """The answer in one line."""
    confidence = sure(diagnosis.confidence)
    if diagnosis.status == "healthy":
        return f"Healthy: the log shows no failure, {confidence}"
    if diagnosis.nothing_found:
        return "Unknown: nothing was found, and what was read does not show health"
    if diagnosis.category is not None:
        return f"Failed: {CATEGORY_WORDS[diagnosis.category]}, {confidence}"
    most = max(diagnosis.categories, key=diagnosis.categories.__getitem__, default=None)
    if diagnosis.hypotheses:
        most = diagnosis.hypotheses[0].cause.category
    likeliest = "" if most is None else f"; most probable is {CATEGORY_WORDS[most]}, {confidence}"
    return f"Unknown: the log does not say what is wrong{likeliest}"


def summary(diagnosis: LogDiagnosis) -> str:
    """The answer in one or two sentences."""
    text = f"{headline(diagnosis)}."
    if not diagnosis.hypotheses or diagnosis.status == "healthy":
        return text
    first = diagnosis.hypotheses[0]
    named = "Most likely cause" if diagnosis.status == "failed" else "First of the possible causes"
    return f"{text} {named} ({percent(first.confidence)}): {first.cause.title}."
