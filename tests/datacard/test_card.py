import re
from fnmatch import fnmatchcase

import pytest

from failbench.publish.datacard.main_tables import columns_by_table
from pipeline import REPOSITORY, patterns, tracked

CARD = (REPOSITORY / "data/README.md").read_text(encoding="utf-8")
CELLS = {
    cell.strip().replace("\\", "")
    for line in CARD.splitlines()
    if line.startswith("|")
    for cell in re.split(r"(?<!\\)\|", line)
}
"""The cells of all its tables, without what escapes markup."""


NAMED = [pattern for cell in CELLS if cell.startswith("data/") for pattern in patterns(cell)]


def test_every_committed_file_of_data_is_in_the_card():
    assert len(tracked("data")) > 600
    assert [path for path in tracked("data") if not any(fnmatchcase(path, p) for p in NAMED)] == []


@pytest.mark.parametrize(("table", "columns"), columns_by_table().items())
def test_every_column_is_in_the_card_with_what_it_holds_and_a_number_has_a_unit(table, columns):
    for column in columns:
        assert column.description
        assert {column.name, column.stored, column.unit} <= CELLS, f"{table}.{column.name}"
        assert column.unit or column.kind != "number", f"{table}.{column.name}"
