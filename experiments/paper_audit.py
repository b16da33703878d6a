"""Stage paper_audit: the paper's own figures, tested against one another."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.audit.check import AuditSettings
from failbench.audit.claims import audit_metrics, audit_paper, validate_claims
from failbench.audit.figure import draw_paper_audit
from failbench.audit.tables import audit_table
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from stage import DECIMALS, print_table, read_section, run, write_metrics

CLAIMS = Path("data/reported/claims.yaml")
METRICS = Path("data/metrics/paper_audit.json")
POINTS = Path("data/plots/paper_audit.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/paper_audit.svg")


def main() -> None:
    settings = read_section("paper_audit", AuditSettings)
    mpl.rc_file("figures/matplotlibrc")
    claims = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    audit = audit_paper(validate_claims(claims), settings)
    write_metrics(METRICS, audit_metrics(audit))
    points = audit.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    write_table(audit_table(audit, confidence=settings.confidence), TABLES)
    save_svg(draw_paper_audit(points), FIGURE)
    print_table(("verdict", "claims"), audit["verdict"].value_counts().sort("verdict").rows())


if __name__ == "__main__":
    run(main)
