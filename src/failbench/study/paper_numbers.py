"""Reported: the numbers that the paper prints, to stand beside what is measured here."""

from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import Field, model_validator

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.scenarios import Architecture
from failbench.base.vocabulary import CATEGORIES, Category

REPORTED_HYBRIDS = {"hybrid": "hybrid_accuracy_figure", "hybrid_two_way": "hybrid_accuracy"}
"""Claims of the paper with the accuracies of methods that its Table 1 has not."""


Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Drop = Annotated[float, Field(ge=-1.0, le=0.0)]
_Interval = tuple[Fraction, Fraction]
_Score = Annotated[float, Field(ge=0.0, le=100.0)]
Place = Annotated[str, Field(pattern=r"^(Abstract|Sections? \d|Table \d|Figure \d)")]


class ReportedMethod(Record):
    """A row of the paper's Table 1. ``quality`` rates explanations from 1 to 5."""

    label: str
    accuracy: Fraction
    interval: _Interval | None = None
    standard_deviation: Fraction | None = None
    abstention: Fraction | None = None
    interpretable: Literal["Yes", "High", "Partial", "No"]
    quality: Annotated[float, Field(ge=1.0, le=5.0)] | None = None


class ReportedCategory(Record):
    """A row of the paper's Table 2; the interval is that of F1."""

    precision: Fraction
    recall: Fraction
    f1: Fraction
    interval: _Interval


class ReportedArchitecture(Record):
    """A row of the paper's Table 3."""

    label: str
    parameters: Annotated[int, Field(gt=0)]
    accuracy: Fraction
    interval: _Interval
    f1: Fraction


class ReportedAblation(Record):
    """A row of the paper's Table 4; ``drop`` is against the full framework."""

    label: str
    accuracy: Fraction
    drop: Drop | None = None


class ReportedImportance(Record):
    """A row of the paper's Table 6; ``share_below`` where it prints only an upper bound."""

    label: str
    share: Fraction | None = None
    share_below: Fraction | None = None
    parts: dict[str, Fraction] = Field(default_factory=dict)


Transfer = Literal["complete", "high"]  # three and two check marks


class ReportedTransfer(Record):
    """A row of the paper's Table 9, and for CNNs that of its Table 7."""

    mamba: Transfer
    cnn: Transfer
    vit: Transfer
    table_7: Literal["high", "medium"]


class ReportedEquivalent(Record):
    """A row of the paper's Table 8, in its words."""

    transformer: str
    cnn: str


_Key = TypeVar("_Key")
_Row = TypeVar("_Row")


class _Numbered(Record, Generic[_Key, _Row]):
    """Rows of a table or a figure, and where they stand."""

    place: Place
    rows: dict[_Key, _Row]


Counts = tuple[int, int, int, int, int]


class ConfusionTable(_Numbered[Category, Counts]):
    """Table 5: counts by actual category; columns are predicted categories in their order."""

    @model_validator(mode="after")
    def _has_every_category(self) -> Self:
        if set(self.rows) != set(CATEGORIES):
            raise ValueError("there must be one row for each category")
        return self


class ReportedTables(Record):
    """Tables 1 to 9; that of ablation is by signals that are kept, of importance by group."""

    methods: _Numbered[str, ReportedMethod]
    per_category: _Numbered[Category, ReportedCategory]
    architectures: _Numbered[Architecture, ReportedArchitecture]
    ablation: _Numbered[str, ReportedAblation]
    confusion: ConfusionTable
    importance: _Numbered[str, ReportedImportance]
    transfer: _Numbered[Category, ReportedTransfer]
    equivalents: _Numbered[str, ReportedEquivalent]


class ReportedTradeoff(Record):
    """A method in the paper's Figure 2: accuracy and interpretability, a score to 100 or range."""

    accuracy: Fraction
    interpretability: tuple[_Score, _Score]

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.interpretability[0] > self.interpretability[1]:
            raise ValueError("the lowest score must come first")
        return self


class ReportedFigures(Record):
    """The figures whose points the paper gives as numbers."""

    tradeoff: _Numbered[str, ReportedTradeoff]


class Claim(Record):
    """A number in the paper, or an interval or series; fractions and points lie between 0 and 1."""

    place: Place
    quantity: str
    value: float | tuple[float, ...]
    unit: str

    @model_validator(mode="after")
    def _fractions_are_fractions(self) -> Self:
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        if self.unit in {"fraction", "points"} and not all(
            0.0 <= number <= 1.0 for number in values
        ):
            raise ValueError("a fraction must lie between 0 and 1")
        return self


class Reported(Record):
    """Everything that the paper prints about its study."""

    tables: ReportedTables
    figures: ReportedFigures
    claims: dict[str, Claim]


def reported_number(reported: Reported, claim: str) -> float:
    """The value of a claim that is a single number."""
    stated = reported.claims.get(claim)
    if stated is None or isinstance(stated.value, tuple):
        raise _unstated(claim, "a single number")
    return stated.value


def reported_numbers(reported: Reported, claim: str, count: int) -> tuple[float, ...]:
    """The values of a claim that is a list of so many numbers."""
    stated = reported.claims.get(claim)
    if stated is None or not isinstance(stated.value, tuple) or len(stated.value) != count:
        raise _unstated(claim, f"a list of {count} numbers")
    return stated.value


def _unstated(claim: str, what: str) -> BadInputError:
    problem = f"is missing or is not {what}."
    place = "data/reported/paper.yaml"
    return BadInputError(place, f"claims.{claim}", problem, "Restore it from the original.")


def reported_accuracies(reported: Reported) -> dict[str, float]:
    """Accuracy by method: those of Table 1, and of hybrids where they are claimed."""
    of_table = {method: row.accuracy for method, row in reported.tables.methods.rows.items()}
    of_claims = {
        method: reported_number(reported, claim) for method, claim in REPORTED_HYBRIDS.items()
    }
    return of_table | of_claims
