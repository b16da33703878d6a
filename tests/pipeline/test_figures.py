import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typst

from failbench.study.style import FULL_WIDTH, HALF_WIDTH, LEAST_TEXT
from pipeline import REPOSITORY

FIGURES = sorted((REPOSITORY / "figures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
POINTS = 72
PAGE_HEIGHT = 9.0
"""Inches of a text block."""

SIZE = re.compile(r"(?:font-size: |font: [^;]*?)([\d.]+)px")
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


def points(length: str) -> float:
    assert length.endswith("pt")
    return float(length.removesuffix("pt"))


def test_a_figure_is_as_wide_as_the_text_block_or_half_of_it_and_fits_a_page(root):
    width, height = points(root.get("width")), points(root.get("height"))
    assert width in (pytest.approx(POINTS * FULL_WIDTH), pytest.approx(POINTS * HALF_WIDTH))
    assert height <= POINTS * PAGE_HEIGHT
    assert [float(number) for number in root.get("viewBox").split()] == pytest.approx(
        [0, 0, width, height]
    )


def test_no_text_is_smaller_than_the_least_size_and_each_has_a_family_that_every_viewer_has(root):
    written = [*root.iter(f"{SVG}text"), *root.iter(f"{SVG}tspan")]
    styles = [style for element in written if (style := element.get("style", ""))]
    sizes = [float(size) for style in styles for size in SIZE.findall(style)]
    assert len(sizes) == len(styles) > 0
    assert min(sizes) >= LEAST_TEXT
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


def page_of(table: Path) -> bytes:
    """A document that holds nothing but the table."""
    return f'#include "{table.name}"\n'.encode()


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_a_table_compiles(table: Path) -> None:
    root = str(table.parent)
    drawn = typst.compile(page_of(table), root=root, format="pdf")
    assert drawn.startswith(b"%PDF")


def test_a_table_with_an_open_cell_does_not(tmp_path: Path) -> None:
    broken = tmp_path / "broken.typ"
    broken.write_text(TABLES[0].read_text(encoding="utf-8").rstrip()[:-1], encoding="utf-8")
    with pytest.raises(typst.TypstError, match="unclosed"):
        typst.compile(page_of(broken), root=str(tmp_path), format="pdf")
