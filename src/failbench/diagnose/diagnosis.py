"""Diagnosis: from a log of any format to a root cause, with evidence, remedy and confidence."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import advice, causes
from failbench.diagnose.answer import NAMED, Hypothesis, LogDiagnosis, Severity, Status
from failbench.diagnose.finding import Finding
from failbench.diagnose.findings import (
    allocation_findings,
    check_findings,
    ending_finding,
    event_findings,
    invariant_findings,
    trap_findings,
)
from failbench.diagnose.limits import absent_from, shows_health, uncertainty_of, what_to_measure
from failbench.diagnose.model import (
    Model,
    Weighed,
    category_of_cause,
    cause_names,
    read_model,
    supports_of,
)
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.opening import read_log
from failbench.diagnose.readers.traps import traps
from failbench.diagnose.series import checked
from failbench.diagnose.signs import (
    LOGIC_ONLY,
    Sign,
    breaks_bound,
    broken_in,
    is_alarm,
    signs_of,
)
from failbench.monitor.bounds import read_bounds
from failbench.monitor.diagnosis import decide
from failbench.monitor.endings import ENDINGS, Ending
from failbench.monitor.invariants import CATALOGUE, Bound

SHOWN: Final = 0.05  # probability from which on a cause is shown beside the first
MOST_PROBABLE: Final = 4


@cache
def fitted_model(name: str) -> Model:
    """A model of the package: ``log``, ``monitor`` or ``monitor_bounds``."""
    with as_file(files("failbench.fitted").joinpath(f"{name}.json")) as path:
        return read_model(path)


def diagnose_log(
    log: str | os.PathLike[str],
    *,
    run: str | None = None,
    bounds: str | os.PathLike[str] | None = None,
    failed: bool = False,
    configuration: str | os.PathLike[str] | None = None,
    code: Sequence[str | os.PathLike[str]] = (),
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
        :func:`failbench.monitor.bounds.write_bounds` writes. Without it logic speaks alone.
    failed
        Whether the run is known to have failed: then a cause is looked for where nothing in the log
        stands out too.
    configuration
        The training's settings, as JSON, YAML or text.
    code
        Python files of the model and the loop; they are read and never run.

    Raises
    ------
    BadInputError
        If one of these cannot be read, or there is nothing in the log that is known.
    """
    from failbench.diagnose.configuration import read_configuration
    from failbench.diagnose.setting_rules import configuration_findings
    from failbench.diagnose.training_code import code_findings

    read = read_log(Path(log), run)
    if read.is_empty:
        raise BadInputError(
            log,
            "(log)",
            "holds no measurement, error or end that is known.",
            "Name a log with a loss in it, or paste the error with its traceback.",
        )
    fitted = {} if bounds is None else read_bounds(Path(bounds), CATALOGUE).intervals()
    extra: list[Finding] = []
    if configuration is not None:
        extra += configuration_findings(read_configuration(Path(configuration)), read)
    for path in code:
        extra += code_findings(Path(path))
    return diagnosis_of(read, fitted, extra, failed=failed)


def diagnosis_of(
    log: Log,
    fitted: Mapping[str, Bound] = LOGIC_ONLY,
    extra: Sequence[Finding] = (),
    *,
    failed: bool = False,
    model: Model | None = None,
) -> LogDiagnosis:
    """The diagnosis of a log that was read."""
    if model is None:
        name = "log" if log.history is None else "monitor_bounds" if fitted else "monitor"
        model = fitted_model(name)
    signs = signs_of(log, fitted)
    weighed = (*signs, *(_sign_of(finding) for finding in extra))
    answer = model.weighed(supports_of(weighed, model.bounds))
    categories = dict(zip(CATEGORIES, answer.categories.tolist(), strict=True))
    broken = [
        sign.id for sign in signs if sign.kind == "check" and breaks_bound(sign, model.bounds)
    ]
    found = (*_findings(log, fitted, model, broken), *extra)
    says_end = any(event.kind != "warning" for event in log.events)
    nothing_found = not (failed or is_alarm(says_end, signs, model.bounds))
    hypotheses = () if nothing_found else _hypotheses(answer, found)
    best = hypotheses[0].cause.category if hypotheses else CATEGORIES[answer.category]
    is_named = bool(hypotheses) and categories[best] >= NAMED
    is_healthy = nothing_found and shows_health(log)
    status: Status = "healthy" if is_healthy else "failed" if is_named else "unknown"
    return LogDiagnosis(
        log,
        status,
        best if is_named else None,
        model.healthy if is_healthy else categories[best],
        categories,
        hypotheses,
        found,
        absent_from(log),
        uncertainty_of(log, status, hypotheses, nothing_found=nothing_found),
        () if is_healthy else what_to_measure(log, hypotheses),
        nothing_found,
    )


def _sign_of(finding: Finding) -> Sign:
    """A finding of the configuration or the code, weighed as a message: it is words, too."""
    return Sign("message", finding.id, finding.strength, finding.causes)


def _findings(
    log: Log, fitted: Mapping[str, Bound], model: Model, broken_checks: Sequence[str]
) -> tuple[Finding, ...]:
    found = [
        *event_findings(log),
        *allocation_findings(log),
        *trap_findings(log, traps(log)),
        *check_findings(log, checked(log, broken_checks), model.bounds),
    ]
    if log.history is not None:
        source = next(each.name for each in log.sources if each.format == "monitor")
        broken = broken_in(log.history, fitted)
        found += invariant_findings(source, broken)
        decided_by = decide(broken, log.history.end, ENDINGS)
        if isinstance(decided_by, Ending):
            found.append(ending_finding(source, log.history, decided_by))
    far = 2**62
    return tuple(sorted(found, key=lambda each: (each.step or far, each.line or far)))


def _hypotheses(answer: Weighed, found: Sequence[Finding]) -> tuple[Hypothesis, ...]:
    """Causes that something in the log speaks for: one of the best category, others by confidence.

    The most probable ones, and last one more that is improbable though evidence names it first: the
    benchmark may have no scenario of it.
    """
    probable: list[str] = []
    named: list[str] = []
    share = dict(zip(cause_names(), answer.causes.tolist(), strict=True))
    lies_in = dict(zip(cause_names(), answer.categories[category_of_cause()].tolist(), strict=True))
    first = {each.causes[0] for each in found if each.causes}
    spoken_for = {name for each in found for name in each.causes}
    best = max(spoken_for, key=lambda name: (lies_in[name], share[name]), default=None)
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
    return Hypothesis(
        causes()[name], confidence, _severity(supporting), tuple(supporting), advice()[name]
    )


_LOST: Final = ("not_finite", "hidden_nan", "nonfinite", "_finite")
_SLOWER: Final = frozenset({"throughput", "memory"})


def _severity(found: Sequence[Finding]) -> Severity:
    """What the findings say of the run: whether it ended, trains wrongly, or is slower."""
    if any(each.kind in ("message", "ending", "place") for each in found):
        return "critical"
    if any(part in each.id for each in found for part in _LOST):
        return "critical"
    if all(each.kind in ("setting", "code") for each in found):
        return "low"
    if all(each.signal in _SLOWER for each in found):
        return "medium"
    return "high"
