"""Paper audit: a test of every claim that the paper's own figures can test, and their table."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from pydantic import Field

from failbench.base.records import Record
from failbench.publish.audit.counts import CountCheck
from failbench.publish.audit.figures import VERDICTS, AuditSettings
from failbench.publish.audit.formulas import Formula
from failbench.publish.audit.intervals import IntervalCheck
from failbench.publish.audit.relations import RelationCheck, StatisticCheck
from failbench.study.captions import Captions
from failbench.study.picture import Picture, beside_rows, dot_plot, legend_outside
from failbench.study.style import BLACK, GREY, VERMILLION, Mark
from failbench.study.tables import Table, sheet

AnyCheck = CountCheck | Formula | RelationCheck | StatisticCheck | IntervalCheck
"""Every kind of test; a claim names one by its ``kind``."""

_TEXTS = ("claim", "place", "against", "quantity", "label")
_TOLD = ("printed", "kind", "computed", "verdict", "note")
AUDIT_SCHEMA = pl.Schema(
    dict.fromkeys((*_TEXTS, *_TOLD), pl.String)
    | dict.fromkeys(("value", "low", "high", "printed_low", "printed_high"), pl.Float64)
    | dict.fromkeys(("n", "implied_n"), pl.Int64)
)


class AuditedClaim(Record):
    """A claim of the paper and its test."""

    quantity: str = Field(min_length=5)
    printed: str = Field(min_length=1)
    place: str = Field(min_length=5)
    against: str = ""
    check: Annotated[AnyCheck, Field(discriminator="kind")]
    note: str = ""
    label: str = ""


class AuditedPaper(Record):
    """All claims of the paper that are tested."""

    claims: dict[str, AuditedClaim] = Field(min_length=1)


def audit_paper(paper: AuditedPaper, settings: AuditSettings) -> pl.DataFrame:
    """Test every claim."""
    rows = [
        {
            "claim": name,
            **claim.model_dump(exclude={"check"}),
            "kind": claim.check.kind,
            **vars(claim.check.finding(settings)),
        }
        for name, claim in paper.claims.items()
    ]
    return pl.DataFrame(rows, schema=AUDIT_SCHEMA)


def audit_metrics(audit: pl.DataFrame) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Shares of claims by verdict: over all, by place and by kind of test."""
    return {
        "all": {"claims": _shares(audit)},
        "kind": _shares_by(audit, "kind"),
        "place": _shares_by(audit, "place"),
    }


def _shares_by(audit: pl.DataFrame, column: str) -> dict[str, dict[str, dict[str, float]]]:
    # a dot in a name would be read as another level of keys when metrics are compared
    parts = audit.partition_by(column, as_dict=True)
    return {re.sub(r"\W", "_", str(name).lower()): _shares(part) for (name,), part in parts.items()}


def _shares(audit: pl.DataFrame) -> dict[str, dict[str, float]]:
    counts = {verdict: audit.filter(pl.col("verdict") == verdict).height for verdict in VERDICTS}
    return {
        verdict.replace(" ", "_"): {"value": count / audit.height, "n": audit.height}
        for verdict, count in counts.items()
    }


def audit_table(audit: pl.DataFrame, said: Captions) -> Table:
    """Every claim with its test, those that do not fit first."""
    parts = {name: audit.filter(verdict=name) for name in VERDICTS}
    counts = {name.replace(" ", "_"): part.height for name, part in parts.items()}
    rows = (claim for part in parts.values() for claim in part.iter_rows(named=True))
    kinds = said.labels("paper_audit")
    named = said.with_numbers({"claims": audit.height}, counts)
    return sheet("paper_audit", (tuple(_texts(claim, kinds)) for claim in rows), named)


def _texts(claim: dict[str, str], kinds: dict[str, str]) -> Iterator[str]:
    yield claim["quantity"][0].upper() + claim["quantity"][1:]
    yield claim["printed"]
    yield "; ".join(filter(None, (claim["place"], claim["against"])))
    yield kinds[claim["kind"]]
    yield ". ".join(filter(None, (claim["computed"], claim["note"].removesuffix(".")))) + "."
    yield claim["verdict"]


ROW_HEIGHT: Final = 0.17  # inches an interval
LEFT: Final = 30.0  # left end of the axis, in percent

MARKS: Final = {
    "inconsistent": Mark("", VERMILLION, "D", size=3.0),
    "consistent": Mark("", BLACK, "o", size=3.0),
}


def paper_audit_picture(points: pl.DataFrame, said: Captions) -> Picture:
    """Every printed interval of an accuracy over the Wilson interval of its n."""
    drawn = points.filter(kind="rate_interval").with_row_index("row")
    drawn = drawn.with_columns(pl.col("row").cast(pl.String), mark="verdict")
    wrong = drawn.filter(verdict="inconsistent").height
    numbers = {"wrong": wrong, "intervals": drawn.height, "sizes": _sizes(drawn)}
    height = 0.65 + ROW_HEIGHT * (drawn.height + 1)
    return said.with_numbers(numbers).picture("figure", height, partial(_draw, drawn))


def _sizes(drawn: pl.DataFrame) -> str:
    return " or ".join(str(n) for n in drawn["n"].unique().sort())


def _draw(drawn: pl.DataFrame, figure: Figure) -> None:
    axes = figure.subplots()
    low, high = (100 * drawn[name].to_numpy() for name in ("low", "high"))
    axes.hlines(range(drawn.height), low, high, color=GREY, linewidth=5, alpha=0.6)
    printed = drawn.drop("ci_low", "ci_high", strict=False).rename(
        {"printed_low": "ci_low", "printed_high": "ci_high"}
    )
    labels = dict(drawn.select("row", "label").iter_rows())
    dot_plot(axes, printed, labels, MARKS, spread=0.0)
    beside_rows(axes, "implied n", (f"{n:,}" for n in drawn["implied_n"]))
    _name_places(axes, drawn)
    axes.set_xlim(LEFT, 101.0)
    axes.set_xlabel("accuracy with 95 % interval, percent")
    wilson = f"Wilson interval of {_sizes(drawn)} scenarios"
    handles = [Line2D([], [], color=GREY, linewidth=5, alpha=0.6, label=wilson)]
    for verdict, mark in MARKS.items():
        handles.append(Line2D([], [], label=f"printed, {verdict} with it", **mark.look))
    legend_outside(figure, handles, columns=3)


def _name_places(axes: Axes, drawn: pl.DataFrame) -> None:
    places = drawn["place"].to_list()
    for row, (place, following) in enumerate(zip(places, [*places[1:], None], strict=True)):
        if place != following:
            # no interval reaches the left edge in the last row of its place
            axes.text(LEFT + 1, row, place, va="center")
        if following not in {place, None}:
            axes.axhline(row + 0.5, color=BLACK, linewidth=0.8)
