"""Tables of naming: how often conditions are named, mixed up, and told apart."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final

from failbench.reporting.cells import ABSENT, percent, words
from failbench.reporting.table import Column, Table
from failbench.studies.reasoning_lenses.naming import PRIMARY
from failbench.studies.reasoning_lenses.results import ALL, SETS, Naming
from failbench.studies.reasoning_lenses.sample import SET_LABELS, Shown, in_order, rate_cell

CLASSIFIER_LABELS: Final = {
    PRIMARY: "Nearest mean",
    "logistic_regression": "Logistic regression",
    "random_forest": "Forest",
}

NAMING_NOTE: Final = (
    "Percent of n = {n} models that are given their condition by a classifier that never saw a "
    "model of their seed, with {interval:g} % Wilson intervals; in parentheses quantiles of the "
    "percent when answers are resampled within models, {resamples} times, with the classifier "
    "fitted anew. Read are all numbers of the lens on every task, less those of healthy models of "
    "the same tokenizer and of the other seeds; a number that is not defined counts as no "
    "difference. The nearest mean was named as the method before any trace was looked at, and "
    "nothing was tuned. With so few models an interval is wide, and seeds of a condition are alike "
    "in all but their draws."
)
PAIRS_NOTE: Final = (
    "Named are the lenses by whose numbers the nearest mean gives every model of the two, its seed "
    "held out, to the right one of the two. By chance alone that happens once in 64 for three "
    "models of either, and once in 13 for one of the five at least."
)
PROMPTS_NOTE: Final = (
    "The lens fft reads prompts, which are the same for all models of a tokenizer that are shown "
    "them by it: between these nothing differs, and the most frequent condition is named."
)


def naming_table(naming: Naming, shown: Shown) -> Table:
    """How often each lens, and all together, name the condition."""

    def of(classifier: str) -> Column:
        return Column(
            CLASSIFIER_LABELS[classifier],
            cell=lambda which: rate_cell(naming.rates[which, classifier]),
        )

    n = len(shown.models)
    return Table.of(
        "reasoning_lenses",
        (
            Column("Lens", align="left", cell=lambda which: SET_LABELS[which]),
            Column(
                "Right",
                cell=lambda which: f"{naming.rates[which, PRIMARY].count:.0f} of {n}",
            ),
            *(of(classifier) for classifier in CLASSIFIER_LABELS),
        ),
        SETS,
        "Which condition made this model? Each lens alone and all together. Chance is "
        f"{percent(naming.chance)} %, the most frequent condition {percent(naming.majority)} %.",
        (
            shown.note,
            NAMING_NOTE.format(n=n, interval=100 * shown.confidence, resamples=shown.resamples),
            PROMPTS_NOTE,
        ),
    )


def confusion_table(naming: Naming, shown: Shown) -> Table:
    """What the models of each condition are named by all four lenses."""
    conditions = in_order(shown)
    pairs = Counter(
        zip(
            (model.condition for model in shown.models),
            naming.names[ALL, PRIMARY],
            strict=True,
        )
    )

    def counted_as(row: str, name: str) -> str:
        return str(pairs[row, name]) if pairs[row, name] else ABSENT

    return Table.of(
        "reasoning_lenses_confusion",
        (
            Column("Condition", align="left", cell=words),
            *(
                Column(
                    words(name),
                    "Named",
                    cell=partial(counted_as, name=name),
                )
                for name in conditions
            ),
        ),
        conditions,
        "What models are named by the numbers of all four lenses.",
        (shown.note, "Models, by the nearest mean, seeds held out. –: none."),
    )


def pairs_table(naming: Naming, shown: Shown) -> Table:
    """Which lenses tell two conditions apart."""
    conditions = in_order(shown)
    sizes = Counter(model.condition for model in shown.models)

    def cell(row: str, column: str) -> str:
        if conditions.index(column) >= conditions.index(row):
            return ""
        pair = frozenset((row, column))
        whole = sizes[row] + sizes[column]
        telling = [which for which in SETS if naming.pairs[which][pair] == whole]
        return ", ".join(SET_LABELS[which] for which in telling) or "none"

    return Table.of(
        "reasoning_lenses_pairs",
        (
            Column("Condition", align="left", width=0.14, cell=words),
            *(
                Column(
                    words(name),
                    align="left",
                    width=0.86 / (len(conditions) - 1),
                    cell=partial(cell, column=name),
                )
                for name in conditions[:-1]
            ),
        ),
        conditions[1:],
        "Which lenses tell two conditions apart.",
        (
            shown.note,
            PAIRS_NOTE,
        ),
    )


def untold(naming: Naming, shown: Shown) -> list[tuple[str, str]]:
    """Pairs of conditions that no lens tells apart."""
    sizes = Counter(model.condition for model in shown.models)
    conditions = in_order(shown)
    return [
        (one, other)
        for place, one in enumerate(conditions)
        for other in conditions[place + 1 :]
        if all(
            of_pair[frozenset((one, other))] < sizes[one] + sizes[other]
            for of_pair in naming.pairs.values()
        )
    ]
