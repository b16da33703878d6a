"""Stage paper_audit: the paper's own figures, tested against one another."""

from __future__ import annotations

from pathlib import Path

from failbench.audit.check import AuditSettings
from failbench.audit.claims import validate_claims
from failbench.audit.report import report
from report import publish, read_yaml, run
from stage import read_section

CLAIMS = Path("data/reported/claims.yaml")


def main() -> None:
    settings = read_section("paper_audit", AuditSettings)
    publish("paper_audit", report(validate_claims(read_yaml(CLAIMS), str(CLAIMS)), settings))


if __name__ == "__main__":
    run(main)
