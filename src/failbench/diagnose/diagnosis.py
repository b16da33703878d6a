"""Diagnosis: from any log to a root cause with evidence, what is not there, and what would tell."""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import numpy as np

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.causes.catalogue import Measurement, advice, causes
from failbench.diagnose.against import apart, partings, spreads, telling
from failbench.diagnose.answer import NAMED, Hypothesis, LogDiagnosis, Severity, Status
from failbench.diagnose.curves import curves_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.model import Model, read_model, supports_of
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.opening import read_log
from failbench.diagnose.readers.text import NO_HINTS, Hints
from failbench.diagnose.series import CheckBound, checked
from failbench.diagnose.signs import (
    Observed,
    Sign,
    breaks_bound,
    check_findings,
    distinct,
    is_odd,
    observed,
    signs_of,
)
from failbench.diagnose.subject import is_training_log
from failbench.diagnose.words import WordWeights, counted, fitted_words
from failbench.monitor.bounds import packaged_bounds, read_bounds
from failbench.monitor.invariants import CATALOGUE, Bound

SHOWN: Final = 0.05  # probability from which on a cause is shown beside the first
MOST_PROBABLE: Final = 4
_OF_MONITOR: Final = ("invariant", "ending")
_LOST: Final = ("not_finite", "hidden_nan", "nonfinite", "_finite")
_SLOWER: Final = frozenset({"throughput", "memory"})
NAN: Final = re.compile(r"\bnan\b", re.IGNORECASE)
# signals of which one says as much as the other
ALTERNATIVE: Final = {"loss": "perplexity", "perplexity": "loss"}
MOST_MEASUREMENTS: Final = 2
# values of a loss below which its course says little: twice what a past is made of
SHORT: Final = 16
MONITOR: Final = Measurement(
    measure="Run it again under failbench.monitor, which writes what must hold in every step.",
    tells="The invariant that breaks first names the component, and often the cause.",
)


@cache
def fitted_model() -> Model:
    """The model of the package."""
    with as_file(files("failbench.fitted").joinpath("log.json")) as path:
        return read_model(path)


def diagnose_log(
    log: str | os.PathLike[str],
    *,
    run: str | None = None,
    bounds: str | os.PathLike[str] | None = None,
    failed: bool = False,
    configuration: str | os.PathLike[str] | None = None,
    code: Sequence[str | os.PathLike[str]] = (),
    hints: Hints = NO_HINTS,
    against: str | os.PathLike[str] | None = None,
) -> LogDiagnosis:
    """Say why a training run failed, from its log.

    Parameters
    ----------
    log
        A file or folder of any format that :func:`~failbench.diagnose.readers.opening.read_log`
        reads, or ``-`` for standard input.
    run
        Of a folder of recorded telemetry, which run.
    bounds
        Of a monitor's log: a file of bounds from healthy runs of the same setting, as
        :func:`failbench.monitor.bounds.write_bounds` writes. Without it those of the package count,
        of what is alike in healthy runs of many settings.
    failed
        Whether the run is known to have failed: then a cause is looked for where nothing in the log
        stands out too.
    configuration
        The training's settings, as JSON, YAML or text.
    code
        Python files of the model and the loop; they are read and never run.
    hints
        How numbers of a text are read where it can be read in several ways.
    against
        The log of a run that worked, in any format: where curves of both part is evidence, and what
        it shows as well is none.

    Raises
    ------
    BadInputError
        If one of these cannot be read, or there is nothing in the log that is known.
    """
    from failbench.diagnose.configuration import read_configuration
    from failbench.diagnose.given import code_findings, configuration_findings

    read = read_log(Path(log), run, hints)
    if read.is_empty and not read.words:
        remedy = "Name a log with a loss in it, or paste the error with its traceback."
        problem = "contains no measurement, error or end that can be read."
        raise BadInputError(log, "(log)", problem, remedy)
    good = None if against is None else read_log(Path(against), None, hints)
    fitted = None if bounds is None else read_bounds(Path(bounds), CATALOGUE).intervals()
    extra: list[Finding] = []
    if configuration is not None:
        extra += configuration_findings(read_configuration(Path(configuration)), read)
    for path in code:
        extra += code_findings(Path(path))
    return diagnosis_of(read, fitted, extra, failed=failed, good=good)


def diagnosis_of(
    log: Log,
    fitted: Mapping[str, Bound] | None = None,
    extra: Sequence[Finding] = (),
    *,
    failed: bool = False,
    model: Model | None = None,
    weights: WordWeights | None = None,
    good: Log | None = None,
) -> LogDiagnosis:
    """The diagnosis of a log that was read, by what the package learnt unless other is given."""
    model = model or fitted_model()
    fitted = packaged_bounds() if fitted is None else fitted
    seen = [*observed(log, fitted)]
    signs = distinct(sign for sign, _ in seen)
    # a finding of the configuration or the code is weighed as a message: it is words, too
    words = (Sign("message", each.id, each.strength, each.causes) for each in extra)
    bounds = model.bounds.of(signs)
    of_words = (weights or fitted_words()).support(counted(log.words))
    supports = supports_of((*signs, *words), bounds, of_words)
    answer = model.weighed(supports)
    categories = dict(zip(CATEGORIES, answer.categories.tolist(), strict=True))
    pair = () if good is None else tuple(apart(curves_of(log), curves_of(good)))
    parted = partings(log, pair, spreads())
    found = (*parted, *_findings(log, seen, model.bounds.complete, model.by_nature), *extra)
    says_end = any(event.kind != "warning" for event in log.events)
    alarming, shown = signs, supports
    if good is not None and pair:
        alarming = tuple(telling(signs, signs_of(good, fitted)))
        shown = supports_of(alarming, bounds)
    has_failed = failed or model.is_alarm(says_end or bool(parted), alarming, shown)
    odd = not has_failed and is_odd(alarming, model.bounds.complete, model.by_nature)
    share = dict(zip(causes(), answer.causes.tolist(), strict=True))
    hypotheses = _hypotheses(categories, share, found) if has_failed or odd else ()
    best = hypotheses[0].cause.category if hypotheses else CATEGORIES[answer.category]
    status: Status = "unknown"
    if not (has_failed or odd or is_training_log(log)):
        status = "no_training_log"
    elif not has_failed and not odd:
        status = "healthy" if _shows_health(log, signs) else "too_little"
    elif has_failed and hypotheses and categories[best] >= NAMED:
        status = "failed"
    is_healthy, asks = status == "healthy", status not in ("healthy", "no_training_log")
    absent = tuple(name for name in log.absent if ALTERNATIVE.get(name) not in log.present)
    return LogDiagnosis(
        log, status, best if status == "failed" else None,
        model.healthy(signs) if is_healthy else categories[best], categories, hypotheses, found,
        absent,
        (*_beside(good, len(pair), parted), *_uncertainty_of(log, status, hypotheses)),
        _what_to_measure(log, hypotheses) if asks else (), odd,
    )  # fmt: skip


def _findings(
    log: Log, seen: Sequence[Observed], bounds: Mapping[str, CheckBound], by_nature: Sequence[str]
) -> tuple[Finding, ...]:
    """What speaks for a cause, each once and the first one in the log first.

    What breaks in healthy runs of others as well comes last.
    """
    signs = [sign for sign, _ in seen]
    broken = [each.id for each in signs if each.kind == "check" and breaks_bound(each, bounds)]
    found: dict[tuple[str, str], Finding] = {}
    of_checks = check_findings(log, checked(log, broken), bounds)
    for each in (*(finding for _, finding in seen if finding is not None), *of_checks):
        found.setdefault((each.kind, each.id), each)
    far = 2**62
    return tuple(
        sorted(
            found.values(),  # of one step what the monitor alone shows comes last
            key=lambda each: (
                each.kind == "invariant" and each.id in by_nature,
                far if each.step is None else each.step,
                each.line or far,
                each.kind in _OF_MONITOR,
            ),
        )
    )


def _hypotheses(
    categories: Mapping[Category, float], share: Mapping[str, float], found: Sequence[Finding]
) -> tuple[Hypothesis, ...]:
    """Causes that something speaks for, the last an improbable one that evidence names first."""
    probable: list[str] = []
    named: list[str] = []
    first = {each.causes[0] for each in found if each.causes}
    # what the words of the log as a whole speak for has no finding, and may be probable
    spoken_for = {name for each in found for name in each.causes}
    spoken_for |= {name for name, each in share.items() if each >= SHOWN}
    likely = {name: (categories[causes()[name].category], share[name]) for name in spoken_for}
    best = max(sorted(spoken_for), key=likely.__getitem__, default=None)  # a set has no order
    for name in sorted(spoken_for, key=lambda each: (each != best, -share[each], each)):
        if not probable or (share[name] >= SHOWN and len(probable) < MOST_PROBABLE):
            probable.append(name)
        elif name in first:
            named.append(name)
    return tuple(_hypothesis(name, share[name], found) for name in (*probable, *named[:1]))


def _hypothesis(name: str, confidence: float, found: Sequence[Finding]) -> Hypothesis:
    supporting = sorted(
        (each for each in found if name in each.causes),
        key=lambda each: (each.strength != "direct", each.causes.index(name)),
    )
    severity = _severity(supporting)
    return Hypothesis(causes()[name], confidence, severity, tuple(supporting), advice()[name])


def _severity(found: Sequence[Finding]) -> Severity:
    """What the findings say of the run: whether it ended, trains wrongly, or is slower."""
    if not found:
        return "high"
    if any(each.kind in ("message", "ending", "place") for each in found):
        return "critical"
    if any(part in each.id for each in found for part in _LOST):
        return "critical"
    if all(each.kind in ("setting", "code") for each in found):
        return "low"
    if all(each.signal in _SLOWER for each in found):
        return "medium"
    return "high"


def _beside(good: Log | None, compared: int, parted: Sequence[Finding]) -> tuple[str, ...]:
    """What holding a log against that of a run that worked came to, where it shows no parting."""
    if good is None or parted:
        return ()
    if not compared:
        return ("The log of the run that worked has no curve that this one has.",)
    curves = "curve" if compared == 1 else "curves"
    said = f"Of {compared} {curves} that both logs have, none parts from the run that worked"
    return (f"{said} by more than another seed does.",)


def _uncertainty_of(log: Log, status: Status, hypotheses: Sequence[Hypothesis]) -> tuple[str, ...]:
    """What limits the answer beside what is not logged, in sentences."""
    said = []
    losses = len(log.series("loss"))
    if 0 < losses < SHORT:
        said.append(f"The log has {losses} losses alone: their course says little.")
    if not losses and log.history is None:
        said.append("There is no course of a loss: the answer depends on words alone.")
    if status == "healthy":
        said.append(
            "That nothing stands out does not prove the training right: wrong data or labels may "
            "leave a smooth curve."
        )
        return tuple(said)
    if status == "no_training_log":
        return (
            "If it is the log of a training that failed, --failed looks for a cause in its words.",
        )
    if status == "too_little":
        said.append(
            "Health shows in numbers that get better: a loss that falls, a share that is right or "
            "a reward that rises."
        )
        return tuple(said)
    if not any(event.kind != "warning" for event in log.events):
        said.append("The log shows no error and no end: the answer depends on its numbers.")
    if not hypotheses:
        said.append("Nothing in the log indicates a cause.")
    elif not hypotheses[0].findings:
        said.append("The first cause depends on the words of the log as a whole, not on one line.")
    elif not any(each.strength == "direct" for each in hypotheses[0].findings):
        said.append("All evidence for the first cause is circumstantial: it has other causes too.")
    if log.history is None:
        said.append(
            "The confidence was calibrated on small models, and on programs and reports of other "
            "authors; other settings may differ."
        )
    return tuple(said)


def _what_to_measure(log: Log, hypotheses: Sequence[Hypothesis]) -> tuple[Measurement, ...]:
    """The one or two measurements that tell the most probable causes apart."""
    wanted = [each.advice.settle[0] for each in hypotheses[:MOST_MEASUREMENTS]]
    if not wanted:
        return (MONITOR,) if log.history is None else ()
    return tuple(dict.fromkeys(wanted))


def _shows_health(log: Log, signs: Sequence[Sign]) -> bool:
    """Whether something got better, all that was logged is a number, and rates are above 0."""
    rows = log.rows
    # a NaN in another signal, or in a warning, is no health either
    said = any(NAN.search(event.message) for event in log.events)
    if said or np.isnan(rows.values[rows.logged]).any():
        return False
    losses = [rows[name][rows.has(name)] for name in ("loss", "perplexity")]
    rates = rows["learning_rate"][rows.has("learning_rate")]
    if not np.isfinite(np.concatenate(losses)).all() or (len(rates) and (rates == 0).all()):
        return False
    return any(sign.kind == "progress" for sign in signs)
