"""Page: the data card in markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from failbench.publish.datacard.citation import Citation
from failbench.publish.datacard.dictionary import Entry
from failbench.publish.datacard.main_tables import DATA, MainTable
from failbench.publish.datacard.statements import Statements, card_template
from failbench.study.plain_table import Column, Table, markdown

MEGABYTE = 1e6
LEFT: Final = "left"


def page(
    citation: Citation,
    statements: Statements,
    facts: Mapping[str, str],
    main_tables: Sequence[MainTable],
    counted: Mapping[str, Table],
    dictionary: Iterable[Entry],
) -> str:
    """The data card."""
    said = {
        name: value if isinstance(value, str) else "\n".join(f"- {each}" for each in value)
        for name, value in statements.model_dump().items()
    }
    return card_template().substitute(
        {
            **facts,
            **said,
            "title": citation.title,
            "version": citation.version,
            "abstract": citation.abstract,
            "tables": markdown(_overview(main_tables)).strip(),
            **{name: markdown(table).strip() for name, table in counted.items()},
            "columns": "\n\n".join(_columns(main_tables)),
            "files": "\n\n".join(_folders(dictionary)),
        }
    )


def _overview(tables: Sequence[MainTable]) -> Table:
    return Table.of(
        "data_card_tables",
        (
            Column("table", align=LEFT, cell=lambda table: table.name),
            Column("files", align=LEFT, cell=lambda table: table.pattern),
            Column("key of a row", align=LEFT, cell=lambda table: ", ".join(table.key)),
            Column("files", cell=lambda table: f"{len(table.files):,}"),
            Column("rows", cell=lambda table: f"{table.rows:,}"),
            Column("MB", cell=lambda table: f"{table.size / MEGABYTE:.2f}"),
        ),
        tables,
        "The tables that a reader starts from.",
    )


def _columns(tables: Sequence[MainTable]) -> Iterable[str]:
    """A section of columns for each form of table."""
    sharing: dict[str, list[MainTable]] = {}
    for table in tables:
        sharing.setdefault(table.described_as, []).append(table)
    for alike in sharing.values():
        names = " and ".join(f"`{table.name}`" for table in alike)
        contents = "; ".join(f"`{table.name}`: {table.content}" for table in alike)
        described = Table.of(
            "data_card_columns",
            (
                Column("column", align=LEFT, cell=lambda column: column.name),
                Column("type", align=LEFT, cell=lambda column: column.stored),
                Column("unit", align=LEFT, cell=lambda column: column.unit),
                Column("what it holds", align=LEFT, cell=lambda column: column.description),
            ),
            alike[0].columns,
            f"Key of a row: {', '.join(alike[0].key)}.",
        )
        yield f"### {names}\n\n{contents}.\n\n{markdown(described).strip()}"


def _folders(dictionary: Iterable[Entry]) -> Iterable[str]:
    """A section for each folder of data with the files in it."""
    folders: dict[str, list[Entry]] = {}
    for entry in sorted(dictionary, key=lambda entry: entry.path):
        if entry.path.startswith(DATA):
            inner = entry.path.removeprefix(DATA)
            folders.setdefault(inner.split("/")[0] if "/" in inner else "", []).append(entry)
    for folder, entries in folders.items():
        listed = Table.of(
            "data_card_files",
            (
                Column("file", align=LEFT, cell=lambda entry: entry.path),
                Column("what it is", align=LEFT, cell=lambda entry: entry.content),
                Column("key of a row", align=LEFT, cell=lambda entry: entry.key),
            ),
            entries,
            f"Files of {DATA}{folder}.",
        )
        yield markdown(listed).strip()
