"""Tables: markdown in which reported numbers stand beside measured ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from failbench.reporting.reported import Reported, ReportedMethod, validate_reported

Estimate = Mapping[str, float]
"""``value``, ``ci_low``, ``ci_high`` and ``n``."""
Measured = Mapping[str, Mapping[str, Mapping[str, Estimate]]]
"""Estimates by feature set, method and metric: the content of ``data/metrics/intervals.json``."""

METRICS = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "macro_f1": "Macro-F1",
}
"""Metrics that the methods table shows, with their headings."""

FEATURE_SETS = {"19": "19", "19+keywords": "19 + keywords"}
"""Feature sets that the methods table shows, in this order, with their headings."""

ABSENT = "–"

CAPTION = (
    "Percent, with 95 % intervals in brackets. Measured: the category predicted for n recorded "
    "failures, one a scenario, each by a model that never saw its scenario (nested "
    "cross-validation, repeated); intervals by resampling scenarios within categories. "
    "19: the paper's features; 19 + keywords: with the presence of words in the error text. "
    "Reported: the paper's own figures, on its own scenarios."
)
"""What the methods table says above itself."""


def percent(value: float) -> str:
    """A fraction as percent with one decimal, without the sign.

    >>> percent(0.1254)
    '12.5'
    """
    return f"{100 * value:.1f}"


def with_interval(value: float, low: float, high: float) -> str:
    """A fraction and its interval, in percent.

    >>> with_interval(0.125, 0.1, 0.2)
    '12.5 [10.0, 20.0]'
    """
    return f"{percent(value)} [{percent(low)}, {percent(high)}]"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table: first column left-aligned, the others right-aligned, cells padded."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    padded = [
        [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    rule = [
        "-" * width if column == 0 else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])


def methods_table(measured: Measured, reported: Mapping[str, object]) -> str:
    """The results of every method, measured beside reported.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    reported
        The parsed ``data/reported/paper.yaml``.

    Returns
    -------
    str
        A paragraph that says what was measured on what, and a markdown table with a row a method:
        first those of the paper in its order, then those that it does not have.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    feature_sets = [name for name in FEATURE_SETS if name in measured]
    header = [
        "Method",
        f"Accuracy reported ({paper.tables.methods.place})",
        *(
            f"{heading} ({FEATURE_SETS[name]})"
            for name in feature_sets
            for heading in METRICS.values()
        ),
        "n",
    ]
    rows = []
    for method in _in_order(measured, paper):
        row = paper.tables.methods.rows.get(method)
        estimates = [
            measured[name].get(method, {}).get(metric)
            for name in feature_sets
            for metric in METRICS
        ]
        sizes = sorted({int(one["n"]) for one in estimates if one is not None})
        rows.append(
            [
                method.replace("_", " ").capitalize() if row is None else row.label,
                _reported_accuracy(row),
                *(_estimate(one) for one in estimates),
                " / ".join(str(size) for size in sizes),
            ]
        )
    return f"{CAPTION}\n\n{markdown(header, rows)}\n"


def _in_order(measured: Measured, paper: Reported) -> list[str]:
    found = {method for methods in measured.values() for method in methods}
    in_paper = [method for method in paper.tables.methods.rows if method in found]
    return [*in_paper, *sorted(found - set(in_paper))]


def _reported_accuracy(row: ReportedMethod | None) -> str:
    if row is None:
        return ABSENT
    if row.interval is not None:
        return with_interval(row.accuracy, *row.interval)
    return percent(row.accuracy)


def _estimate(estimate: Estimate | None) -> str:
    if estimate is None:
        return ABSENT
    return with_interval(estimate["value"], estimate["ci_low"], estimate["ci_high"])
