"""The command ``tables``: all tables of the paper in one document."""

from __future__ import annotations

from pathlib import Path

from failbench.commands.paths import TABLES


def write_tables(*, output: Path) -> int:
    """Compile the tables of the paper into one PDF, and print where it is.

    Parameters
    ----------
    output
        File to write.

    Returns
    -------
    int
        Exit status.

    Raises
    ------
    BadInputError
        If there is no table, typst is not installed, a table does not compile, or the document
        cannot be written.
    """
    from failbench.reproduction.tables_document import write_document

    count = write_document(TABLES, output)
    print(f"{output} holds the paper so far: its {count} tables, which are also in {TABLES}.")
    return 0
