"""The report of the audit: every claim with its test, counts of verdicts, and printed intervals."""

from __future__ import annotations

from failbench.audit.check import AuditSettings
from failbench.audit.claims import AuditedPaper, audit_metrics, audit_paper
from failbench.audit.figure import paper_audit_picture
from failbench.audit.tables import audit_table
from failbench.reporting.study_report import StudyReport, Summary, rounded


def report(paper: AuditedPaper, settings: AuditSettings) -> StudyReport:
    """Test every claim."""
    audit = audit_paper(paper, settings)
    points = rounded(audit)
    verdicts = audit["verdict"].value_counts(name="claims").sort("verdict")
    return StudyReport(
        metrics=audit_metrics(audit),
        points={"paper_audit": points},
        tables=(audit_table(audit, confidence=settings.confidence),),
        figures={"paper_audit": paper_audit_picture(points)},
        summary=(Summary.of(verdicts, "verdict", "claims"),),
    )
