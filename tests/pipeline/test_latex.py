"""The tables that are written for LaTeX, through pdflatex."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from failbench.reporting.markup import latex
from failbench.reporting.table import Column, Table
from pipeline import REPOSITORY

FOLDER = REPOSITORY / "paper/tables"
TABLES = sorted(FOLDER.rglob("*.tex"))
LIMIT_SECONDS = 120
COMPILER = shutil.which("pdflatex")
STAND_IN = r"\newenvironment{adjustbox}[1]{}{}"
"""In the place of adjustbox, of which the tables ask for nothing but a width that is at most so."""

pytestmark = pytest.mark.skipif(
    COMPILER is None,
    reason="TeX: no pdflatex here (Debian: texlive-latex-recommended); LaTeX tables not compiled",
)


@cache
def installed(package: str) -> bool:
    """Whether TeX finds a package."""
    asked = ["kpsewhich", f"{package}.sty"]
    return bool(subprocess.run(asked, capture_output=True, check=False).stdout)


def needed_by(text: str) -> list[str]:
    """The packages that a table says it needs, in its first line."""
    said = re.match(r"% Needs the packages ([\w, ]+)\.\n", text)
    assert said, "The first line names the packages."
    return re.split(r", | and ", said.group(1))


def loaded(packages: Iterable[str]) -> list[str]:
    """The lines of a preamble that loads packages."""
    return [
        STAND_IN
        if package == "adjustbox" and not installed(package)
        else rf"\usepackage{{{package}}}"
        for package in sorted(set(packages))
    ]


def compiled(tables: list[Path], folder: Path) -> dict[Path, list[str]]:
    """Compile a document of nothing but these tables.

    Returns
    -------
    dict
        What LaTeX says is wrong, by table: its errors, and characters that no font has.
    """
    packages = [name for table in tables for name in needed_by(table.read_text(encoding="utf-8"))]
    lines = [r"\documentclass{article}", *loaded(packages), r"\begin{document}"]
    lines += [rf"\input{{{table.as_posix()}}}\clearpage" for table in tables]
    document = folder / "tables.tex"
    document.write_text("\n".join([*lines, r"\end{document}", ""]), encoding="utf-8")
    options = ["-interaction=nonstopmode", "-file-line-error", "-no-shell-escape"]
    result = subprocess.run(
        [str(COMPILER), *options, document.name],
        cwd=folder,
        # a line of LaTeX's own is broken after so many characters, amid paths
        env={**os.environ, "max_print_line": "10000"},
        capture_output=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )
    said = result.stdout.decode("utf-8", "replace")
    wrong = defaultdict(list)
    for path, error in re.findall(r"^(\S+\.tex):\d+: (.+)$", said, flags=re.MULTILINE):
        wrong[Path(path)].append(error)
    log = document.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    missing = re.findall(r"^Missing character: .+$", log, flags=re.MULTILINE)
    if missing or (result.returncode and not wrong):
        wrong[document] += missing or [said[-1000:]]
    assert document.with_suffix(".pdf").exists() or wrong
    return dict(wrong)


@pytest.fixture(scope="module")
def wrong_in_all(tmp_path_factory) -> dict[Path, list[str]]:
    return compiled(TABLES, tmp_path_factory.mktemp("all"))


def test_all_tables_compile_in_one_document(wrong_in_all):
    assert len(TABLES) > 50
    assert wrong_in_all == {}


def of_each_kind() -> list[Path]:
    """For each list of packages, the first table with it, and the one with most signs."""
    kinds = defaultdict(list)
    for table in TABLES:
        text = table.read_text(encoding="utf-8")
        signs = len(set(re.findall(r"\\\w+|[^\x00-\x7f]", text)))
        kinds[tuple(needed_by(text))].append((signs, table))
    chosen = [table for alike in kinds.values() for table in (min(alike)[1], max(alike)[1])]
    return sorted(set(chosen))


@pytest.mark.parametrize("table", of_each_kind(), ids=lambda path: path.stem)
def test_a_table_compiles_alone_with_the_packages_that_it_names(table, tmp_path):
    assert compiled([table], tmp_path) == {}


def test_the_tables_compile_with_adjustbox_itself(wrong_in_all):
    if not installed("adjustbox"):
        pytest.skip(
            "TeX: no adjustbox here (Debian: texlive-latex-extra); tables were compiled with an "
            "empty environment in its place"
        )
    assert wrong_in_all == {}


def test_a_table_with_an_open_group_is_named(tmp_path):
    broken = tmp_path / "broken.tex"
    text = TABLES[0].read_text(encoding="utf-8").replace(r"\end{tabular}", "", 1)
    broken.write_text(text.replace(r"\end{longtable}", "", 1), encoding="utf-8")
    assert broken in compiled([broken], tmp_path)


SIGNS = "a & b % $ # _ { } ~ ^ \\ < > | ± − – — × ≤ ≥ † “q” ‘q’ … é ü °"


def test_every_sign_that_tables_may_have_is_printed(tmp_path):
    path = tmp_path / "signs.tex"
    table = Table("signs", (Column("H", align="left"),), ((SIGNS,),), f"Caption {SIGNS}.")
    path.write_text(latex(table), encoding="utf-8")
    assert compiled([path], tmp_path) == {}
