"""Reports: what is kept of public reports of failed trainings, whose texts are not ours to keep.

Of each the signs that were read and the pieces of its words, hashed; no text can be made of them.
The index has what the package answers to each text. Its models have learnt from these reports: how
often these answers are right says nothing of reports that are new.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import OrNone, Record, read_rows, validated
from failbench.base.stage import read_output
from failbench.base.telemetry import write_parquet
from failbench.base.vocabulary import ABSTAIN, Category
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.known import KnownLog
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.text import read_text
from failbench.diagnose.signs import Sign, signs_of
from failbench.diagnose.words import Counted, counted

INDEX: Final = "index.csv"
SIGNS: Final = "signs.parquet"
_REMEDY: Final = "Restore it with `git checkout`."
_SIGN: Final = pl.Struct({
    "kind": pl.String, "id": pl.String, "strength": pl.String, "causes": pl.List(pl.String),
    "category": pl.String, "amount": pl.Float64, "is_warning": pl.Boolean,
})  # fmt: skip
SCHEMA: Final = pl.Schema([
    ("report", pl.String()), ("bins", pl.List(pl.Int32)), ("counts", pl.List(pl.Int32)),
    ("signs", pl.List(_SIGN)),
])  # fmt: skip


class Report(Record):
    """A line of the index: where a report stands, what is known of it, and what is answered.

    ``cause_in_words`` is its collector's. ``answer`` is a category, ``abstain``, or a status that
    names none; ``confidence`` is of a category or of health; ``answered_at`` is a commit.
    """

    report: str
    source: str
    category: Annotated[Category | None, OrNone]
    cause: Annotated[str | None, OrNone]
    can_be_told: Literal["yes", "partly", "no", ""]
    cause_in_words: str = ""
    answer: str = ""
    confidence: Annotated[float | None, OrNone] = None
    answered_at: str = ""

    @property
    def owner(self) -> str:
        """Whose repository it is."""
        return self.source.partition("/")[0]


class Cause(Record):
    """What a blind reader makes of a report's cause: an id of the catalogue, or nothing."""

    report: str
    cause: str


class Given(BaseModel):
    """A report as it is handed in: a line of JSON."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    source: str
    log_text: str
    status: Literal["failed", "healthy"]
    label: str
    from_log: Literal["yes", "partly", "no", ""] | None = ""
    root_cause: str = ""


def read_given(path: Path) -> list[Given]:
    """Reports with their texts, one a line."""
    remedy = "Each line is an object with id, source, log_text, status and label."
    reports = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        place = f"{path}, line {number}"
        try:
            raw: Any = json.loads(line)
        except ValueError as error:
            raise BadInputError(place, "(line)", f"is no JSON ({error}).", remedy) from error
        reports.append(validated(Given, raw, place, remedy))
    return reports


def keep(
    reports: Sequence[Given], causes: Mapping[str, str], folder: Path, commit: str = ""
) -> None:
    """Write the index of reports, with the causes that readers gave, and what is in their texts.

    The package is told the text and whether the run failed, and answers as it is at the commit.
    """
    index = io.StringIO()
    lines = csv.writer(index, lineterminator="\n")
    lines.writerow(Report.model_fields)
    rows = []
    for given in reports:
        category = given.label if given.status == "failed" else ""
        cause = causes.get(given.id, "")
        log = read_text(given.id, [given.log_text.encode()])
        said = (given.root_cause, *_answer(log, failed=given.status == "failed"), commit)
        lines.writerow((given.id, given.source, category, cause, given.from_log or "", *said))
        words, signs = counted(log.words), [asdict(sign) for sign in signs_of(log)]
        rows.append((given.id, words.bins.tolist(), words.counts.tolist(), signs))
    write_parquet(pl.DataFrame(rows, SCHEMA, orient="row"), folder / SIGNS)
    write_atomically(folder / INDEX, index.getvalue().encode(), "Free space.")


def _answer(log: Log, *, failed: bool) -> tuple[str, str]:
    """What is answered to a log, and the confidence where a category or health is named."""
    said = diagnosis_of(log, failed=failed)
    if said.status in ("failed", "healthy"):
        return said.category or said.status, f"{said.confidence:.3f}"
    return ABSTAIN if said.status == "unknown" else said.status, ""


def read_reports(folder: Path) -> list[tuple[Report, KnownLog]]:
    """All reports as logs of known causes; what one owner's repositories have goes together."""
    index = {each.report: each for each in read_rows(folder / INDEX, Report, _REMEDY, ["report"])}
    return [
        (index[row["report"]], _known(index[row["report"]], row))
        for row in read_output(folder / SIGNS, SCHEMA).iter_rows(named=True)
    ]


def _known(report: Report, row: Mapping[str, Any]) -> KnownLog:
    signs = (Sign(**{**sign, "causes": tuple(sign["causes"])}) for sign in row["signs"])
    words = Counted(np.array(row["bins"], np.int32), np.array(row["counts"], np.int32))
    return KnownLog(
        tuple(signs), report.category, report.cause, report.report, "reports", report.owner, words,
        teaches_words=True,
    )  # fmt: skip
