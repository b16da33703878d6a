"""From the findings of a tool in a module to a prediction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from failbench.crashes.checkers.exceptions import Tool, exceptions_of
from failbench.crashes.checkers.module import CodeModule
from failbench.crashes.prediction import CrashPrediction


@dataclass(frozen=True, order=True)
class Finding:
    """An error that a tool reports."""

    line: int
    column: int
    rule: str
    message: str


def prediction_of(tool: Tool, module: CodeModule, findings: Iterable[Finding]) -> CrashPrediction:
    """A crash if an error begins in the target; the first in the order of the code is named.

    What is found before the target did not stop the kernel there and is not what is asked, even
    where it is in a function that the target calls.
    """
    for finding in sorted(findings):
        line = module.line_of_target(finding.line)
        if line is not None:
            exception = exceptions_of(tool).get(finding.rule)
            return CrashPrediction(True, exception, f"{finding.rule}: {finding.message}", line)
    return CrashPrediction(False, None, f"{tool} reports no error in the target.")
