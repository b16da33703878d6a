"""Architecture metrics: the table of rates as nested scalars."""

from __future__ import annotations

import polars as pl

from failbench.prediction.fold_plans import LEFT_OUT
from failbench.studies.architectures.measure import RECORDED
from failbench.studies.architectures.rates import AGAINST_OTHERS, RULES, SPREAD


def architecture_metrics(table: pl.DataFrame) -> dict[str, object]:
    """The table as nested scalars.

    ``{rules: {thresholds: {logs: {architecture: {metric: leaf}}}}}`` and
    ``{leave_one_architecture_out: {method: {architecture: {metric: leaf}}}}``.
    """
    nested: dict[str, dict[str, object]] = {RULES: {}, LEFT_OUT: {}}
    for row in table.iter_rows(named=True):
        keys = (
            (RULES, row["thresholds"], logs_of(row["noise"]))
            if row["study"] == RULES
            else (LEFT_OUT, row["method"])
        )
        place: dict[str, object] = nested  # type: ignore[assignment]
        for key in (*keys, row["architecture"]):
            place = place.setdefault(key, {})  # type: ignore[assignment]
        leaf = {name: row[name] for name in ("value", "ci_low", "ci_high", "n")}
        if row["metric"] in (AGAINST_OTHERS, SPREAD):
            extra = ("p_equivalence", "smallest_margin", "detectable")
            leaf |= {name: row[name] for name in extra}
        place[row["metric"]] = leaf
    return dict(nested)


def logs_of(noise: float) -> str:
    """What logs with this noise are called.

    >>> logs_of(0.0), logs_of(0.05)
    ('recorded', 'noise_5_percent')
    """
    return "recorded" if noise == RECORDED else f"noise_{100 * noise:g}_percent"
