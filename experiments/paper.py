"""Stage paper: the paper, compiled from its text and the metrics, tables and figures it names."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from failbench.base.files import write_atomically
from failbench.base.records import Record
from failbench.base.slices import ReferenceStudy
from failbench.base.stage import read_section, run
from failbench.publish.paper import compiled, facts
from failbench.statistics.settings import StatisticsSettings, read_statistics

MAIN = Path("paper/paper.typ")
OUTPUT = Path("paper/paper.pdf")
TEXT = (
    MAIN,
    Path("paper/references.bib"),
    Path("paper/lib"),
    Path("paper/sections"),
    Path("paper/appendix"),
)
READS = (
    Path("data/metrics"),
    Path("data/plots/paper_audit.csv"),
    Path("data/reported/audit_root_causes.csv"),
    Path("data/reported/paper.yaml"),
    Path("figures"),
    Path("paper/tables"),
)


class FoldsParameters(Record):
    """The section ``features`` of params.yaml."""

    folds: int = Field(ge=2)
    repeats: int = Field(ge=1)
    seed: int = Field(ge=0)


def main() -> None:
    statistics = read_statistics(StatisticsSettings)
    folds = read_section("features", FoldsParameters)
    seeds = read_section("nested_cv", ReferenceStudy).run_seeds
    paper = compiled(
        Path(), MAIN, facts(statistics, folds.folds, folds.repeats, seeds), (*TEXT, *READS)
    )
    write_atomically(OUTPUT, paper.document, "Free space, or correct its permissions.")
    print(f"{OUTPUT} has {len(paper.document) / 1e6:.1f} MB.")
    for sentence in paper.unsupported:
        print(f"The metrics no longer bear this out, and it is marked: {sentence}")


if __name__ == "__main__":
    run(main)
