"""A few rules of Python and of six libraries, held against what is established before a cell."""

from __future__ import annotations

import ast
from contextlib import suppress

from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question
from failbench.crashes.small_rules.observed import described, overlaid
from failbench.crashes.small_rules.statements import Returned, Statements, Uncertain
from failbench.crashes.small_rules.values import Violation


def predict(question: Question) -> CrashPrediction:
    """Whether the target certainly breaks a rule."""
    try:
        target = ast.parse(question.target)
    except (SyntaxError, ValueError) as error:
        reason, line = f"The cell is not Python: {error}.", getattr(error, "lineno", None)
        return CrashPrediction(True, type(error).__name__, reason, line)
    except RecursionError:
        return CrashPrediction(False, None, "The cell is nested too deeply to be read.")
    try:
        _before(question).run(target.body)
    except Violation as found:
        exception, reason = found.args
        return CrashPrediction(True, exception, f"A rule is broken: {reason}.", found.line)
    except (Uncertain, Returned, RecursionError):
        pass
    return CrashPrediction(False, None, "No rule finds a violation.")


def _before(question: Question) -> Statements:
    """What is established before the target, by the executed cells and the summary."""
    notebook = Statements()
    for source in question.executed:
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError):
            notebook.is_open = True
            notebook.names.clear()
            continue
        for statement in body:
            try:
                notebook.run([statement])
            except (Violation, Uncertain, Returned):  # it raised nothing, whatever a rule says
                notebook.local, notebook.depth = None, 0
                with suppress(Uncertain):
                    notebook.skip([statement])
    summary = question.summary
    if summary is not None:
        tensors = "torch" in {value.path.partition(".")[0] for value in notebook.names.values()}
        for name in summary.absent:
            notebook.names.pop(name, None)
        for name, entry in summary.names.items():
            seen = described(entry, tensors=tensors)
            notebook.names[name] = overlaid(notebook.names.get(name), seen)
    return notebook
