"""Stage paper_audit: the paper's own figures, tested against one another."""

from __future__ import annotations

from pathlib import Path

from failbench import study as st
from failbench.publish.audit.claims import (
    AuditedPaper,
    audit_metrics,
    audit_paper,
    audit_table,
    paper_audit_picture,
)
from failbench.publish.audit.figures import AuditSettings

CLAIMS = Path("data/reported/claims.yaml")


def main() -> None:
    settings = st.read_section("paper_audit", AuditSettings)
    said = st.Captions.read("paper_audit", settings)
    audit = audit_paper(st.read_facts(CLAIMS, AuditedPaper), settings)
    st.publish(
        "paper_audit",
        metrics=audit_metrics(audit),
        points=audit,
        tables=[audit_table(audit, said)],
        figures={"paper_audit": paper_audit_picture(st.rounded(audit), said)},
        summary=audit["verdict"].value_counts(name="claims").sort("verdict"),
    )


if __name__ == "__main__":
    st.run(main)
