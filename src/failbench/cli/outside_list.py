"""Record the outside list: bugs that others published, each with a healthy twin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from failbench.base.errors import BadInputError
from failbench.cli.paths import OUTSIDE_LIST
from failbench.monitor.records.tables import write_monitored
from failbench.neighbours.outside_list.bugs import BUGS, SETTING, read_bugs
from failbench.neighbours.outside_list.recorder import record


def record_outside_list(only: Sequence[str] | None = None, output: Path = OUTSIDE_LIST) -> int:
    """Run the programs of bugs and their twins, and write what the monitor measured."""
    path = OUTSIDE_LIST / BUGS
    bugs = {bug.id: bug for bug in read_bugs(path) if bug.is_recreated}
    for name in only or ():
        if name not in bugs:
            problem = f"{name!r} is no bug that is re-created."
            raise BadInputError("--only", "BUG", problem, f"Name one of {', '.join(bugs)}.")
    for name in only or bugs:
        print(name)
        write_monitored(output, SETTING, record([bugs[name]]))
    return 0
