"""Stage paper_audit: the paper's own figures, tested against one another."""

from __future__ import annotations

from pathlib import Path

from failbench.base.stage import read_section
from failbench.publish.audit.claims import AuditedPaper, audit_metrics, audit_paper, audit_table
from failbench.publish.audit.figures import AuditSettings
from failbench.publish.audit.picture import paper_audit_picture
from failbench.study import publish, read_facts, rounded, run

CLAIMS = Path("data/reported/claims.yaml")


def main() -> None:
    settings = read_section("paper_audit", AuditSettings)
    audit = audit_paper(read_facts(CLAIMS, AuditedPaper), settings)
    publish(
        "paper_audit",
        metrics=audit_metrics(audit),
        points=audit,
        tables=[audit_table(audit, confidence=settings.confidence)],
        figures={"paper_audit": paper_audit_picture(rounded(audit))},
        summary=audit["verdict"].value_counts(name="claims").sort("verdict"),
    )


if __name__ == "__main__":
    run(main)
