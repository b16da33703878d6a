"""Evidence: the findings of an answer, each with a number that is the same in all its outputs."""

from __future__ import annotations

from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.finding import Finding


def numbered(diagnosis: LogDiagnosis) -> dict[Finding, int]:
    """Each finding once, with its number from 1 on.

    Those of the first hypothesis come first, in its order, then those that only the others have,
    and last those that speak for none of them.
    """
    of_causes = [finding for each in diagnosis.hypotheses for finding in each.findings]
    findings = dict.fromkeys([*of_causes, *diagnosis.findings])
    return {finding: number for number, finding in enumerate(findings, start=1)}


def of_no_cause(diagnosis: LogDiagnosis) -> tuple[Finding, ...]:
    """Findings that no hypothesis rests on."""
    of_causes = {finding for each in diagnosis.hypotheses for finding in each.findings}
    return tuple(finding for finding in numbered(diagnosis) if finding not in of_causes)
