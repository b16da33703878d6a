"""Stage paper_audit: the paper's own figures, tested against one another."""

from __future__ import annotations

from pathlib import Path

from failbench.audit.check import AuditSettings
from failbench.audit.claims import AuditedPaper
from failbench.audit.report import report
from failbench.stage import read_section
from failbench.study.inputs import read_facts
from failbench.study.publish import publish, run

CLAIMS = Path("data/reported/claims.yaml")


def main() -> None:
    settings = read_section("paper_audit", AuditSettings)
    publish("paper_audit", report(read_facts(CLAIMS, AuditedPaper), settings))


if __name__ == "__main__":
    run(main)
