"""Stage paper_audit: the paper's own figures, tested against one another."""

from __future__ import annotations

from pathlib import Path

from failbench.base.stage import read_section
from failbench.publish.audit.claims import (
    AuditedPaper,
    audit_metrics,
    audit_paper,
    audit_table,
    paper_audit_picture,
)
from failbench.publish.audit.figures import AuditSettings
from failbench.study.captions import Captions
from failbench.study.estimates import rounded
from failbench.study.inputs import read_facts
from failbench.study.publication import publish, run

CLAIMS = Path("data/reported/claims.yaml")


def main() -> None:
    settings = read_section("paper_audit", AuditSettings)
    said = Captions.read("paper_audit", settings)
    audit = audit_paper(read_facts(CLAIMS, AuditedPaper), settings)
    publish(
        "paper_audit",
        metrics=audit_metrics(audit),
        points=audit,
        tables=[audit_table(audit, said)],
        figures={"paper_audit": paper_audit_picture(rounded(audit), said)},
        summary=audit["verdict"].value_counts(name="claims").sort("verdict"),
    )


if __name__ == "__main__":
    run(main)
