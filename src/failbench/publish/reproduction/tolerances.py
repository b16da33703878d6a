"""Tolerances between regenerated and committed numbers, by file, with reasons.

Numbers differ between processors because linear algebra sums in another order; the answers that
follow from them must not. Texts, answers, keys and counts never have a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Literal

from failbench.base.errors import BadInputError

FileKind = Literal[
    "recorded",
    "parquet",
    "metrics",
    "points",
    "table",
    "marked",
    "drawing",
    "lock",
    "described",
    "compiled",
]
"""How a file is compared; see :mod:`failbench.publish.reproduction.comparison`."""


@dataclass(frozen=True)
class Tolerance:
    """Two numbers agree within ``absolute`` plus ``relative`` times the larger magnitude."""

    absolute: float
    relative: float

    def allowed(self, committed: float, regenerated: float) -> float:
        """The largest difference between these two that counts as equal."""
        return self.absolute + self.relative * max(abs(committed), abs(regenerated))


@dataclass(frozen=True)
class FileRule:
    """How files of a pattern are compared, with the tolerance of their numbers and its reason."""

    pattern: str
    kind: FileKind
    tolerance: Tolerance
    reason: str
    columns: tuple[str, ...] = ()


EXACT = Tolerance(absolute=0.0, relative=0.0)

FILE_RULES = (
    FileRule("data/telemetry/*", "recorded", EXACT, "Recorded once; no stage writes it."),
    FileRule("data/scenarios/*", "recorded", EXACT, "Written by hand."),
    FileRule("data/reported/*", "recorded", EXACT, "Facts of the paper, and answers of raters."),
    FileRule("paper/captions/*", "recorded", EXACT, "Written by hand."),
    FileRule("data/external/*", "recorded", EXACT, "Released by others, and copied once."),
    FileRule("data/outside/*", "recorded", EXACT, "Written by hand, and recorded once."),
    FileRule("data/crashes/*", "recorded", EXACT, "Recorded once, by `make record-crashes`."),
    FileRule("data/notebooks/*", "recorded", EXACT, "Written by hand, drawn once, and recorded."),
    FileRule("data/reasoning/*", "recorded", EXACT, "Written by hand, and recorded once."),
    FileRule(
        "data/monitor/bounds/*.json",
        "metrics",
        Tolerance(absolute=0.0, relative=1e-5),
        "Medians and extremes of logarithms, stored with six digits.",
    ),
    FileRule("data/monitor/*", "recorded", EXACT, "Recorded, or frozen before it was applied."),
    FileRule("data/preflight/*", "recorded", EXACT, "Recorded once, by `make record-preflight`."),
    FileRule("data/peers/*", "recorded", EXACT, "Answers of other tools, which are replayed."),
    FileRule(
        "src/failbench/fitted/*.json",
        "metrics",
        Tolerance(absolute=1e-4, relative=1e-3),
        "Weights of fits that converged, stored with six digits: as for metrics.",
    ),
    FileRule("data/llm/*", "recorded", EXACT, "Answers of language models, which are replayed."),
    FileRule("paper/tables/cost.*", "recorded", EXACT, "Measured by `make cost`, not by a stage."),
    FileRule("paper/tables/million.*", "recorded", EXACT, "Measured by `make million`."),
    FileRule("data/files.csv", "recorded", EXACT, "The dictionary of files, written by hand."),
    FileRule("data/README.md", "table", EXACT, "Counts of rows, and sizes in megabytes."),
    FileRule(
        "data/croissant.json",
        "described",
        EXACT,
        "Its fields; hashes and sizes follow files.",
    ),
    FileRule(
        "figures/matplotlibrc", "recorded", EXACT, "The style of the figures, written by hand."
    ),
    FileRule(
        "data/predictions/*.parquet",
        "parquet",
        Tolerance(absolute=1e-4, relative=0.0),
        "Probabilities: a hundredth of a percentage point, a tenth of what tables print; a fit "
        "that converged is closer to itself than that on any processor. Conditions: terms up to a "
        "share of the score, which a score at the edge makes one more or less.",
        columns=("conditions",),
    ),
    FileRule(
        "data/features/*.parquet",
        "parquet",
        Tolerance(absolute=0.0, relative=1e-9),
        "Features are sums and slopes over a few hundred steps, in any unit: their rounding errors "
        "are of this order at most.",
    ),
    FileRule(
        "data/*.parquet",
        "parquet",
        Tolerance(absolute=1e-4, relative=1e-3),
        "What studies save beside predictions: as for metrics.",
    ),
    FileRule(
        "data/metrics/*.json",
        "metrics",
        Tolerance(absolute=1e-4, relative=1e-3),
        "Means of probabilities move no further than these, and ends of intervals little more.",
    ),
    *(
        FileRule(
            f"data/plots/{name}.csv",
            "points",
            Tolerance(absolute=0.0, relative=1e-6),
            "Curves of recorded telemetry, in any unit, which no fit stands behind.",
        )
        for name in ("dashboard", "gallery", "case_studies", "twin")
    ),
    FileRule(
        "data/plots/*.csv",
        "points",
        Tolerance(absolute=1e-4, relative=1e-3),
        "As for metrics, most of which are drawn.",
    ),
    FileRule(
        "paper/tables/*",
        "table",
        EXACT,
        "A printed decimal may differ by a unit of its last digit, which is what rounding makes "
        "of any difference; a whole number is a count.",
    ),
    FileRule(
        "docs/negative_results.md",
        "table",
        EXACT,
        "Written by the stage negative_results, as the table in paper/tables.",
    ),
    FileRule("paper/paper.pdf", "compiled", EXACT, "Its text, as in paper/tables."),
    FileRule("paper/*.typ", "recorded", EXACT, "The text of the paper, written by hand."),
    FileRule("paper/references.bib", "recorded", EXACT, "What the paper cites, written by hand."),
    FileRule(
        "paper/report.html",
        "table",
        EXACT,
        "As tables: what it shows is printed to a last digit, and its curves are recorded ones.",
    ),
    FileRule("README.md", "marked", EXACT, "Its generated tables, as in paper/tables."),
    FileRule(
        "figures/*.svg",
        "drawing",
        Tolerance(absolute=0.5, relative=0.0),
        "In points: less than the thinnest axis is wide (0.6), and a thousandth of the largest "
        "figure. The points of data/plots are held to their own tolerance besides.",
    ),
    FileRule(
        "dvc.lock", "lock", EXACT, "Stages, commands, paths and parameters; hashes follow files."
    ),
)
"""The first rule whose pattern matches a file applies."""

COLOUR = Tolerance(absolute=3.0, relative=0.0)
"""Levels of a channel of 255: a hundredth of the scale of a heat map changes a colour by fewer."""


def rule_of(path: str) -> FileRule:
    """The rule of a file."""
    for rule in FILE_RULES:
        if fnmatch(path, rule.pattern):
            return rule
    raise BadInputError(
        path,
        "(file)",
        "is a result whose kind has no tolerance.",
        "Declare one in failbench.publish.reproduction.tolerances.",
    )
