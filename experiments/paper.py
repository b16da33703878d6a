"""Stage paper: the paper, compiled from its text, metrics, tables and figures."""

from __future__ import annotations

from pathlib import Path

from failbench.files import write_atomically
from failbench.paper.document import compiled
from failbench.statistics.settings import StatisticsSettings, read_statistics
from stage import run

MAIN = Path("paper/paper.typ")
OUTPUT = Path("paper/paper.pdf")


def main() -> None:
    settings = read_statistics(StatisticsSettings)
    document = compiled(Path(), MAIN, {})
    write_atomically(OUTPUT, document, "Free space, or correct its permissions.")
    print(f"{OUTPUT} has {len(document) / 1e6:.1f} MB.")


if __name__ == "__main__":
    run(main)
