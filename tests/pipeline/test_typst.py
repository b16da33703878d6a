from pathlib import Path

import pytest
import typst

from pipeline import REPOSITORY

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
