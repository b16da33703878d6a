"""What the studies wrote is in the paper, or a table beside this test says why not."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from failbench.paper.document import sources
from failbench.paper.sources import named_files
from pipeline import REPOSITORY

PAPER = REPOSITORY / "paper"
TABLES = PAPER / "tables"
SOURCES = sources(PAPER / "paper.typ")
APPENDIX = [path for path in SOURCES if path.parent.name == "appendix"]
NAMED = {named.path for named in named_files(SOURCES)}
STUDIES = sorted(path.name for path in TABLES.iterdir() if path.is_dir())
FIGURES = sorted(path.stem for path in (REPOSITORY / "figures").glob("*.svg"))
PATHS_ALONE = re.compile(r"#(?:others|at-end)\(([^)]*)\)")


def reasons(kind: str) -> dict[str, str]:
    """What is left out of the paper, and why, of ``figure`` or ``study``."""
    table = Path(__file__).with_name("not_in_the_paper.csv")
    with table.open(encoding="utf-8", newline="") as lines:
        return {row["name"]: row["reason"] for row in csv.DictReader(lines) if row["kind"] == kind}


def shown_of(study: str) -> list[str]:
    """The tables of a study that the paper shows."""
    return [
        path
        for path in NAMED
        if path.startswith(f"paper/tables/{study}/") and path.endswith(".typ")
    ]


def drawn(figure: str) -> bool:
    """Whether the paper shows a figure."""
    return f"figures/{figure}.svg" in NAMED


def names_in_lists() -> list[str]:
    """Tables that the appendix refers to, or names by their path, without showing them there."""
    return [
        name
        for source in APPENDIX
        for call in PATHS_ALONE.findall(source.read_text(encoding="utf-8"))
        for name in re.findall(r'"([^"]+)"', call)
    ]


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_has_a_table_in_the_paper_or_a_reason(study: str) -> None:
    assert shown_of(study) or reasons("study").get(study)


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_in_the_paper_or_has_a_reason(figure: str) -> None:
    assert drawn(figure) or reasons("figure").get(figure)


def test_what_has_a_reason_exists_and_is_not_in_the_paper() -> None:
    assert [name for name in reasons("figure") if name not in FIGURES or drawn(name)] == []
    assert [name for name in reasons("study") if name not in STUDIES or shown_of(name)] == []


@pytest.mark.parametrize("name", names_in_lists())
def test_a_table_that_is_named_and_not_shown_exists(name: str) -> None:
    assert (TABLES / f"{name}.md").is_file()


@pytest.mark.parametrize("study", STUDIES)
def test_each_table_of_a_study_is_shown_or_named(study: str) -> None:
    tables = {path.stem for path in (TABLES / study).glob("*.typ")}
    shown = {Path(path).stem for path in shown_of(study)}
    named = {name.split("/")[1] for name in names_in_lists() if name.startswith(f"{study}/")}
    assert tables - shown - named == set()


def test_each_section_of_the_appendix_is_in_it() -> None:
    appendix = (PAPER / "appendix" / "appendix.typ").read_text(encoding="utf-8")
    included = re.findall(r'#include "([^"]+)"', appendix)
    sections = sorted(path.name for path in APPENDIX if path.stem not in {"appendix", "parts"})
    assert included == sections


def test_each_section_says_how_much_was_asked_before_it_shows() -> None:
    """Its first lines are prose: a heading and a paragraph, and no table right below a heading."""
    for source in APPENDIX:
        if source.stem in {"appendix", "parts", "w-wide-tables"}:
            continue
        lines = source.read_text(encoding="utf-8").splitlines()
        heading = next(place for place, line in enumerate(lines) if line.startswith("= "))
        first = next(line for line in lines[heading + 1 :] if line.strip())
        shows = re.match(r"#(?:pictured|tabled|long|squeezed|narrowed|wide)\(", first)
        assert shows is None, source.name
