"""Tables of the study of crash prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from failbench.crashes.question import ARMS
from failbench.reporting.cells import ABSENT, percent, signed, three_decimals, with_interval
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.crash_prediction.comparisons import Contrast
from failbench.studies.crash_prediction.labels import ARM_LABELS, label_of, told_label
from failbench.studies.crash_prediction.published import NOTEBOOKS, Published

METRIC_LABELS: Final = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "named": "Exception named",
    "answered": "Answered",
    "accuracy_answered": "Accuracy of these",
}

CORPUS_NOTE: Final = (
    "{pairs} test pairs of notebooks, one of which crashes in its target cell and one, an edit "
    "apart, does not; executed once, without repeats. Pairs were split before there was a "
    "predictor. The small rules were written in place of an interpreter after its scores on the "
    "test pairs had been published, by an author who saw the {development} development pairs and "
    "no other; the dry run was made with these alone, too. Nothing "
    "is told whether the target crashes: a predictor reads the cells that were executed, the "
    "target, and in the arms with + facts of one class, or of all three, of the objects in the "
    "kernel before it. The control tells the facts of a notebook of another pair of the library. "
    "Notebooks and predictors are both ours: what predictors reach on notebooks of others was not "
    "measured."
)
COUNT_NOTE: Final = (
    "Percent with {confidence:g} % BCa intervals by resampling pairs; Wilson's at nought, "
    "near one, and where a share is of fewer than {few}. Precision: of crashes foreseen; recall "
    "and exception named: of notebooks that crash. Who cannot say foresees no crash; answered is "
    "how often something is said. Chance is 50, and there are as many crashes as there are not."
)
UNAVAILABLE_NOTE: Final = (
    "Not available: {labels}. They have not answered every question; docs/crashes.md says how they "
    "are asked."
)
TEST_NOTE: Final = (
    "Difference in points, with intervals by resampling pairs. Only: notebooks that just one of "
    "the two arms tells right, and McNemar's exact p, which takes the two notebooks of a pair for "
    "independent, with Holm's adjustment over the rows of the half. Exception named: a crash "
    "counts as foreseen only if its exception is named as well."
)
PUBLISHED_NOTE: Final = (
    "Published of CRANE-LLM: on the {notebooks} notebooks of JunoBench, other than ours, without "
    "intervals. Of detection and diagnosis people judged the explanation; ours counts the name of "
    "the exception."
)
LENGTH_NOTE: Final = (
    "In {shorter} of {pairs} test pairs the notebook that crashes has the shorter code: to call "
    "the shorter of two would be right in {share} % of pairs. A predictor is shown one, and a "
    "number of characters chosen on development pairs tells little."
)
DEVELOPMENT_NOTE: Final = (
    "Development pairs are those that small rules and dry run were made with; what they reach "
    "there is no result."
)


@dataclass(frozen=True)
class Notes:
    """What readers must know, made of the numbers of the study."""

    corpus: str
    count: str
    length: str
    unavailable: str | None

    @property
    def all(self) -> tuple[str, ...]:
        """Those of the first table."""
        parts = (self.corpus, self.count, self.length, self.unavailable)
        return tuple(part for part in parts if part)


def main_table(table: pl.DataFrame, notes: Notes) -> Table:
    """Every predictor in every arm."""
    cells = cells_of(table)
    keys = list(dict.fromkeys(zip(table["predictor"], table["arm"], strict=True)))

    def column(metric: str) -> Column:
        return Column(
            METRIC_LABELS[metric], cell=lambda key: interval_cell(cells.get((*key, metric)))
        )

    return Table.of(
        "crash_prediction",
        (
            Column("Predictor", align="left", cell=lambda key: label_of(key[0])),
            Column("Told", align="left", cell=lambda key: told_label(*key)),
            *(column(metric) for metric in METRIC_LABELS),
        ),
        keys,
        "How well predictors tell whether a notebook's target cell will crash, by what they are "
        "told of the kernel.",
        notes.all,
    )


def gains_table(contrasts: Sequence[Contrast], published: Sequence[Published]) -> Table:
    """What information adds, tested on the same notebooks, beside what is published."""

    def rows() -> Iterator[tuple[str, ...] | Divider]:
        for metric, counted, text in (
            ("accuracy", "detection", "Crash foreseen"),
            ("named_accuracy", "detection and diagnosis", "Crash foreseen, exception named"),
        ):
            yield Divider(text)
            for each in contrasts:
                if each.metric == metric:
                    yield _contrast_row(each)
            for of_model in published:
                if of_model.counted == counted:
                    yield (
                        f"{of_model.model}, published",
                        "with information − without",
                        signed(100 * of_model.gain),
                        *(ABSENT,) * 4,
                    )

    headings = ("Predictor", "Arms", "Difference", "Only first", "Only second", "p", "p, Holm")
    return Table.of(
        "crash_prediction_gains",
        tuple(
            Column(heading, align="left" if place < 2 else "right", cell=_at(place))
            for place, heading in enumerate(headings)
        ),
        rows(),
        "What information about the kernel adds to the accuracy of a predictor.",
        (TEST_NOTE, PUBLISHED_NOTE.format(notebooks=NOTEBOOKS)),
    )


def groups_table(
    name: str,
    heading: str,
    by_group: Mapping[str, pl.DataFrame],
    shown: Sequence[tuple[str, str]],
    caption: str,
    notes: tuple[str, ...],
) -> Table:
    """Recall and accuracy by some group of notebooks."""
    cells = {group: cells_of(table) for group, table in by_group.items()}

    def column(predictor: str, arm: str, metric: str, label: str) -> Column:
        return Column(
            label,
            group=f"{label_of(predictor)}, {ARM_LABELS[arm]}",
            cell=lambda group: interval_cell(cells[group].get((predictor, arm, metric))),
        )

    return Table.of(
        name,
        (
            Column(heading, align="left", cell=str),
            Column("Pairs", cell=lambda group: str(by_group[group]["pairs"][0])),
            *(
                column(predictor, arm, metric, label)
                for predictor, arm in shown
                for metric, label in (("recall", "Recall"), ("accuracy", "Accuracy"))
            ),
        ),
        list(by_group),
        caption,
        notes,
    )


def parts_table(parts: Mapping[str, pl.DataFrame], notes: tuple[str, ...]) -> Table:
    """Accuracy on the pairs that predictors were made with, and on those they were not."""
    cells = {part: cells_of(table) for part, table in parts.items()}
    keys = list(
        dict.fromkeys(
            zip(parts["development"]["predictor"], parts["development"]["arm"], strict=True)
        )
    )

    def column(part: str) -> Column:
        return Column(
            f"{part.capitalize()} ({parts[part]['pairs'][0]} pairs)",
            cell=lambda key: interval_cell(cells[part].get((*key, "accuracy"))),
        )

    return Table.of(
        "crash_prediction_parts",
        (
            Column("Predictor", align="left", cell=lambda key: label_of(key[0])),
            Column("Told", align="left", cell=lambda key: told_label(*key)),
            *(column(part) for part in parts),
        ),
        keys,
        "Accuracy on development pairs and on test pairs.",
        (DEVELOPMENT_NOTE, *notes),
    )


def cells_of(table: pl.DataFrame) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    """Estimates by predictor, arm and metric."""
    return {
        (row["predictor"], row["arm"], row["metric"]): row for row in table.iter_rows(named=True)
    }


def interval_cell(row: Mapping[str, Any] | None) -> str:
    """A figure with its interval, in percent; a dash of nothing."""
    if row is None or row["value"] is None:
        return ABSENT
    if row["ci_low"] == row["ci_high"]:
        return percent(row["value"])
    return with_interval(row["value"], row["ci_low"], row["ci_high"], percent)


def arms_of(table: pl.DataFrame, predictor: str) -> list[str]:
    """In which a predictor was asked, in the order of arms."""
    asked = set(table.filter(pl.col("predictor") == predictor)["arm"])
    return [arm for arm in ARMS if arm in asked]


def _contrast_row(each: Contrast) -> tuple[str, ...]:
    points = [100 * value for value in (each.difference, each.ci_low, each.ci_high)]
    return (
        label_of(each.predictor),
        f"{ARM_LABELS[each.left]} − {ARM_LABELS[each.right].removeprefix('+ ')}",
        f"{signed(points[0])} [{signed(points[1])}, {signed(points[2])}]",
        str(each.left_only),
        str(each.right_only),
        _probability(each.p),
        _probability(each.p_holm),
    )


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else three_decimals(p)


def _at(place: int) -> Callable[[tuple[str, ...]], str]:
    return lambda row: row[place]
