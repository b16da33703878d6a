"""Numbers of studies for people: ``make readme`` puts them into README.md and pages.

``numbers.yaml`` has sentences and tables, with placeholders as those of ``paper/captions``. What a
stage wrote for people already is taken as it is, the example shortened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any, Final

import polars as pl
import yaml

from failbench.field.programs import read_programs
from failbench.statistics.intervals import wilson_row
from failbench.study.captions import Captions
from failbench.study.cells import estimate_text

ROOT: Final = Path(__file__).parents[2]
TEXTS: Final = Path(__file__).with_name("numbers.yaml")
ANSWERS: Final = Path("data/measurements/diagnose_logs/outside.parquet")
CONFIDENCE: Final = 0.95

WRITTEN: Final = {
    "logs table": "diagnose_logs/headline",
    "crashes finding": "crash_prediction/finding",
    "equal finding": "equal_code/finding",
}
"""Blocks that a stage wrote, by their file in paper/tables."""

FILLED: Final = (
    "README.md",
    "docs/works.md",
    "docs/results.md",
    "docs/studies.md",
    "docs/crashes.md",
    "skills/failbench/SKILL.md",
)
EXAMPLE: Final = "paper/tables/diagnose_logs/example.md"
SHOWN: Final = {"Found": 1, "What to change": 1, "Also possible": 9}
"""Parts of an answer that are shown, and how many of their items."""

DETAIL: Final = re.compile(r" +(\||Why:|and \d|\S.*; evidence|memory and|$)")
"""A line that begins what the short example leaves out of an item."""


def blocks(root: Path = ROOT) -> dict[str, str]:
    """Every block by its name."""
    texts = yaml.safe_load(TEXTS.read_text(encoding="utf-8"))
    metrics = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in (root / "data/metrics").glob("*.json")
    }
    metrics["titles"] = {path.stem: title(path) for path in (root / "figures").glob("*.svg")}
    metrics["scale"] = scale(metrics["benchmark"])
    captions = Captions(TEXTS, texts, metrics)
    found = {name: _block(captions.notes(name)) for name in texts}
    found["by library"] = libraries(root)
    found["answer"] = shortened((root / EXAMPLE).read_text(encoding="utf-8"))
    for name, file in WRITTEN.items():
        found[name] = (root / f"paper/tables/{file}.md").read_text(encoding="utf-8")
    return found


def filled(text: str, blocks: dict[str, str]) -> str:
    r"""A text with its blocks made anew; blocks of other names stay.

    >>> filled("<!-- t: begin -->\nold\n<!-- t: end -->", {"t": "new\n"})
    '<!-- t: begin -->\nnew\n<!-- t: end -->'
    """
    for name, block in blocks.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        head, found, rest = text.partition(begin)
        if found:
            text = f"{head}{begin}{block}{end}{rest.partition(end)[2]}"
    return text


def _block(notes: Iterable[str]) -> str:
    """Rows and items below one another, sentences in a paragraph of their own."""
    return "".join(
        note if note[0] in "-|" else f"\n{note}" for note in (f"{each}\n" for each in notes)
    ).lstrip()


def scale(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """How large the benchmark is, as people read such numbers."""
    millions = {name: f"{value / 1e6:.2g}" for name, value in benchmark["parameters"].items()}
    runs = benchmark["runs"]
    return {"runs": f"{runs['all']:,}", "failed": f"{runs['failure']:,}", **millions}


def title(figure: Path) -> str:
    """The finding above a figure."""
    found = re.search("<title>(.*?)</title>", figure.read_text(encoding="utf-8"), re.DOTALL)
    return "" if found is None else unescape(found[1])


def libraries(root: Path) -> str:
    """The programs of the field by the library that they train with, most frequent first."""
    programs = read_programs(root / "data/field", "development")
    library = {program.name: program.card.library for program in programs}
    answers = pl.read_parquet(root / ANSWERS).filter(learnt="all", corpus="field")
    rates = (
        answers.drop_nulls("category")
        .group_by(pl.col("log").replace_strict(library, default=None).alias("library"))
        .agg(n=pl.len(), right=(pl.col("prediction") == pl.col("category")).mean())
        .sort("n", "library", descending=[True, False])
    )
    rows = ["| Library | n | Category of five, % |", "| --- | --: | --: |"]
    for name, n, share in rates.iter_rows():
        rows.append(f"| {name} | {n} | {estimate_text(wilson_row(share, n, CONFIDENCE))} |")
    return "\n".join(rows) + "\n"


def shortened(example: str) -> str:
    """The example with what decides."""
    answer, _, planted = example.rpartition("```\n")
    status, cause, *parts = answer.split("\n\n")
    likely, _, _ = cause.partition("\n  A ")
    shown = (line for part in parts for line in _shown(*part.splitlines()))
    return "\n".join([status, likely, *shown, "...", "```", planted.rstrip(), ""])


def _shown(heading: str, *lines: str) -> Iterator[str]:
    """Of the first items of a part, the first paragraph: nothing quoted, expected or asked."""
    if heading in SHOWN:
        yield heading
    number, ended = 0, False
    for line in lines:
        if re.match(r"  \d", line):
            number, ended = number + 1, False
        ended = ended or DETAIL.match(line) is not None
        if number <= SHOWN.get(heading, -1) and not ended:
            yield line


if __name__ == "__main__":
    made = blocks()
    for name in FILLED:
        path = ROOT / name
        path.write_text(filled(path.read_text(encoding="utf-8"), made), encoding="utf-8")
