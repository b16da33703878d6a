"""How well messages are placed as two readers see it, who saw texts and libraries alone."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import polars as pl
from scipy.stats import norm
from statsmodels.stats.inter_rater import cohens_kappa

from failbench import study as st
from failbench.messages.catalogue import Message
from failbench.statistics.bootstrap import Bounds, Interval

NONE: Final = "none"  # of a message that any category may have, and of what a reader left open
PAIRS: Final = {
    "1": ("", "_1", "the catalogue and the first reader"),
    "2": ("", "_2", "the catalogue and the second reader"),
    "both": ("_1", "_2", "both readers"),
}
"""Who is compared: endings of two columns, and their names."""
PLACED: Final = {"category": "category", "cause": "likeliest cause"}


def placing_agreement(
    readers: pl.DataFrame, known: Iterable[Message], confidence: float
) -> pl.DataFrame:
    """Cohen's kappa of the category and the likeliest cause of messages, each message a unit."""
    ours = [(each.id, each.category or NONE, each.causes[0]) for each in known]
    placed = pl.DataFrame(ours, ["id", *PLACED], orient="row")
    table = placed.join(readers, on="id", how="left", validate="1:1")
    parts = []
    for pair, (left, right, names) in PAIRS.items():
        kappas = {
            name: _kappa(
                table[f"{name}{left}"], table[f"{name}{right}"], confidence,
                f"Cohen's kappa of the {what} of messages, {names}",
            )
            for name, what in PLACED.items()
        }  # fmt: skip
        parts.append(st.estimate_rows(kappas, readers=pair))
    return pl.concat(parts)


def _kappa(one: pl.Series, other: pl.Series, confidence: float, what: str) -> Interval:
    """Kappa with the interval of large samples (Fleiss, Cohen and Everitt, 1969)."""
    answers = sorted({*one, *other})
    counts = np.zeros((len(answers), len(answers)))
    np.add.at(counts, ([*map(answers.index, one)], [*map(answers.index, other)]), 1)
    found = cohens_kappa(counts)
    kappa, reach = float(found.kappa), float(found.std_kappa * norm.ppf((1 + confidence) / 2))
    bounds: Bounds = kappa - reach, min(kappa + reach, 1.0), "large sample"
    return Interval.of(kappa, bounds, len(one), "message", what)
