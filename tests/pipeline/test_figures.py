import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typst

from pipeline import REPOSITORY

FIGURES = sorted((REPOSITORY / "figures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
PAGE_HEIGHT = 72 * 9.0
"""Points of a text block."""

SOURCES = sorted(
    path for folder in ("src", "experiments") for path in (REPOSITORY / folder).rglob("*.py")
)
STYLE = REPOSITORY / "src/failbench/study/style.py"
PICTURE = REPOSITORY / "src/failbench/study/picture.py"
CURVES = REPOSITORY / "src/failbench/diagnose/outputs/curves.py"
DRAWING = REPOSITORY / "src/failbench/diagnose/outputs/drawing.py"
LENSES = REPOSITORY / "src/failbench/neighbours/lenses/picture.py"


@pytest.fixture(scope="module", params=FIGURES, ids=lambda path: path.stem)
def root(request):
    return ElementTree.fromstring(request.param.read_text(encoding="utf-8"))


def test_a_figure_fits_a_page_and_its_letters_have_a_family_that_every_viewer_has(root):
    assert float(root.get("height").removesuffix("pt")) <= PAGE_HEIGHT
    written = [*root.iter(f"{SVG}text"), *root.iter(f"{SVG}tspan")]
    styles = [style for element in written if (style := element.get("style", ""))]
    assert styles
    assert all(re.search(r"sans-serif\s*(;|$)", style) for style in styles)


def test_title_and_description_come_first_and_the_title_stands_above_the_figure(root):
    title, description = list(root)[:2]
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert len(root.findall(f"{SVG}title")) == len(root.findall(f"{SVG}desc")) == 1
    assert len(title.text) > 20
    assert not title.text.endswith(".")
    assert len(description.text) > 80
    written = " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))
    assert set(title.text.split()) <= set(written.replace("\u00a0", " ").split())


def test_colours_are_named_in_one_module_of_the_studies_and_one_of_the_outputs():
    coloured = [path for path in SOURCES if re.search(r"[\"']#[0-9A-Fa-f]{6}", path.read_text())]
    assert coloured == [CURVES, STYLE]


def test_figures_are_sized_in_one_module_of_each_and_letters_by_the_style():
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert "figsize=" not in text or path in (PICTURE, DRAWING, LENSES), path
        assert not re.search(r"(fontsize|labelsize|textsize)=[\d.]", text), path


TABLES = sorted((REPOSITORY / "paper" / "tables").rglob("*.typ"))


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_a_table_compiles(table: Path) -> None:
    alone = f'#include "{table.name}"\n'.encode()
    drawn = typst.compile(alone, root=str(table.parent), format="pdf")
    assert drawn.startswith(b"%PDF")
