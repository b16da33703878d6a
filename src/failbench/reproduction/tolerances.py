"""How far a regenerated number may be from the committed one, file by file, and why.

The one place where this is said. Numbers differ between processors because linear algebra sums in
another order; the answers that follow from them may not. Texts, answers, keys and counts have no
tolerance anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Literal

from failbench.errors import BadInputError

Kind = Literal["recorded", "parquet", "metrics", "points", "table", "marked", "drawing", "lock"]
"""How a file is read; see :mod:`failbench.reproduction.comparison`."""


@dataclass(frozen=True)
class Tolerance:
    """Two numbers agree within ``absolute`` plus ``relative`` times the larger magnitude."""

    absolute: float
    relative: float

    def allowed(self, committed: float, regenerated: float) -> float:
        """The largest difference between these two that is none."""
        return self.absolute + self.relative * max(abs(committed), abs(regenerated))


@dataclass(frozen=True)
class Rule:
    """How files of a pattern are read, how far their numbers may differ, and the reason.

    Parameters
    ----------
    pattern
        Of the path from the root of the repository; ``*`` also matches a slash.
    columns
        Whole numbers that have a tolerance as well; all others are counts or keys.
    """

    pattern: str
    kind: Kind
    tolerance: Tolerance
    reason: str
    columns: tuple[str, ...] = ()


EXACT = Tolerance(absolute=0.0, relative=0.0)

RULES = (
    Rule("data/telemetry/*", "recorded", EXACT, "Recorded once; no stage writes it."),
    Rule("data/scenarios/*", "recorded", EXACT, "Written by hand."),
    Rule("data/reported/*", "recorded", EXACT, "Transcribed from the paper."),
    Rule("data/llm/*", "recorded", EXACT, "Answers of language models, which are replayed."),
    Rule("paper/tables/cost.*", "recorded", EXACT, "Measured by `make cost`, not by a stage."),
    Rule("paper/tables/million.*", "recorded", EXACT, "Measured by `make million`."),
    Rule("data/files.csv", "recorded", EXACT, "The dictionary of files, written by hand."),
    Rule("figures/matplotlibrc", "recorded", EXACT, "The style of the figures, written by hand."),
    Rule(
        "data/predictions/*.parquet",
        "parquet",
        Tolerance(absolute=1e-4, relative=0.0),
        "Probabilities: a hundredth of a percentage point, a tenth of what tables print; a fit "
        "that converged is closer to itself than that on any processor. Conditions: terms up to a "
        "share of the score, which a score at the edge makes one more or less.",
        columns=("conditions",),
    ),
    Rule(
        "data/features/*.parquet",
        "parquet",
        Tolerance(absolute=0.0, relative=1e-9),
        "Features are sums and slopes over a few hundred steps, in any unit: their rounding errors "
        "are of this order at most.",
    ),
    Rule(
        "data/*.parquet",
        "parquet",
        Tolerance(absolute=1e-4, relative=1e-3),
        "What studies save beside predictions: as for metrics.",
    ),
    Rule(
        "data/metrics/*.json",
        "metrics",
        Tolerance(absolute=1e-4, relative=1e-3),
        "Means of probabilities move no further than these, and ends of intervals little more.",
    ),
    *(
        Rule(
            f"data/plots/{name}.csv",
            "points",
            Tolerance(absolute=0.0, relative=1e-6),
            "Curves of recorded telemetry, in any unit, which no fit stands behind.",
        )
        for name in ("dashboard", "gallery", "case_studies")
    ),
    Rule(
        "data/plots/*.csv",
        "points",
        Tolerance(absolute=1e-4, relative=1e-3),
        "As for metrics, most of which are drawn.",
    ),
    Rule(
        "paper/tables/*",
        "table",
        EXACT,
        "A printed decimal may differ by a unit of its last digit, which is what rounding makes "
        "of any difference; a whole number is a count.",
    ),
    Rule("README.md", "marked", EXACT, "Its generated tables, as in paper/tables."),
    Rule(
        "figures/*.svg",
        "drawing",
        Tolerance(absolute=0.5, relative=0.0),
        "In points: less than the thinnest axis is wide (0.6), and a thousandth of the largest "
        "figure. The points of data/plots are held to their own tolerance besides.",
    ),
    Rule("dvc.lock", "lock", EXACT, "Stages, commands, paths and parameters; hashes follow files."),
)
"""The first rule whose pattern fits a file counts."""

COLOUR = Tolerance(absolute=3.0, relative=0.0)
"""Of 255 levels of a channel: a cell of a heat map moves by fewer with a hundredth of its scale."""


def rule_of(path: str) -> Rule:
    """The rule of a file.

    Raises
    ------
    BadInputError
        If no pattern fits it.
    """
    for rule in RULES:
        if fnmatch(path, rule.pattern):
            return rule
    raise BadInputError(
        path,
        "(file)",
        "is a result whose kind has no tolerance.",
        "Declare one in failbench.reproduction.tolerances.",
    )
