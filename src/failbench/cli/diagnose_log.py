"""The command ``diagnose LOG``: from a log of any format to a root cause."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically

if TYPE_CHECKING:
    from failbench.diagnose.answer import LogDiagnosis, Status

EXIT: Final[dict[Status, int]] = {"healthy": 0, "failed": 1, "unknown": 3}
"""Exit status by what is said of the run; 2 is bad input, as everywhere."""

_REMEDY: Final = "Free space or choose another folder; an existing file is unchanged."


def diagnose_any_log(
    *,
    log: Path,
    run_id: str | None,
    failed: bool,
    bounds: Path | None,
    config: Path | None,
    code: Sequence[Path],
    as_json: bool,
    html: Path | None,
    plot: Path | None,
    whole: bool,
) -> int:
    """Print why a run failed, with evidence, remedy and confidence."""
    from failbench.diagnose.diagnosis import diagnose_log
    from failbench.diagnose.outputs.document import document_of, json_of

    diagnosis = diagnose_log(
        log, run=run_id, bounds=bounds, failed=failed, configuration=config, code=code
    )
    written = {}
    if html is not None:
        from failbench.diagnose.outputs.html_page import html_of

        write_atomically(html, html_of(diagnosis).encode(), _REMEDY)
        written["page"] = str(html)
    if plot is not None:
        from failbench.diagnose.outputs.curves import write_plot

        write_plot(diagnosis, plot)
        written["curves"] = str(plot)
    if as_json:
        print(json_of(document_of(diagnosis, written)))
    else:
        _print_page(diagnosis, whole=whole)
        for name, path in written.items():
            print(f"{name} written to {path}", file=sys.stderr)
    return EXIT[diagnosis.status]


def _print_page(diagnosis: LogDiagnosis, *, whole: bool) -> None:
    from rich.console import Console

    from failbench.diagnose.outputs.page import print_page

    print_page(diagnosis, Console(), whole=whole)


def diagnose(
    *,
    log: Path,
    method: Sequence[str] | None,
    output: Path | None,
    features: Path | None,
    reference: Path | None,
    **of_log: object,
) -> int:
    """One of the two forms of the command: of one log, or of all runs of a folder of telemetry."""
    given = {"--method": method, "--features": features, "--reference": reference}
    if output is None:
        for name, value in given.items():
            if value is not None:
                raise BadInputError(
                    "diagnose",
                    name,
                    "is of the form that diagnoses all runs of a folder of telemetry.",
                    "Add --output FILE, or leave it out.",
                )
        return diagnose_any_log(log=log, **of_log)  # type: ignore[arg-type]
    for name, other in of_log.items():
        if other not in (None, False, []):
            raise BadInputError(
                "diagnose",
                "--" + {"run_id": "run", "as_json": "json"}.get(name, name),
                "is of the form that diagnoses one log.",
                "Leave out --output, or this.",
            )
    from failbench.cli.diagnose import diagnose_telemetry

    return diagnose_telemetry(
        telemetry=log,
        method=method or ["simple_rules"],
        output=output,
        features=features,
        reference=reference,
    )
