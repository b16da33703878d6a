"""Our rules on the authors' tables: which of them can be asked, and what those answer.

A column stands for one of our features as ``data/external/default/columns.csv`` says. The others
are missing, there is no error text, and what is missing is on neither side of a threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from failbench.arrays import Labels
from failbench.external.tables import BUGGY, CORRECT, ColumnNote
from failbench.features.feature import CEILING
from failbench.methods.healthy_band import HealthyBand
from failbench.methods.improved_tree import TREE
from failbench.methods.rule_tree import Confirmation
from failbench.methods.rules import Declared, ErrorMatches
from failbench.methods.simple_rules import SIMPLE_RULES, SimpleRules, SimpleRulesSettings
from failbench.verdicts import Diagnosis

TEXTS: Final = ("error_type", "error_message")
"""What error text is made of."""


@dataclass(frozen=True)
class Asked:
    """How many rules can be asked of the tables."""

    rules: int
    of_text: int
    without_column: int

    @property
    def applicable(self) -> int:
        """Rules all of whose conditions can be read off columns."""
        return self.rules - self.of_text - self.without_column


def simple_rules_asked(columns: Iterable[ColumnNote]) -> Asked:
    """How many of the simple rules can be asked."""
    return _asked((rule.conditions for rule in SIMPLE_RULES), columns)


def improved_rules_asked(columns: Iterable[ColumnNote]) -> Asked:
    """How many leaves of the improved rules that name a category can be reached and confirmed."""
    paths = (
        (*node.when, *leaf.when, *leaf.confirms)
        for node in TREE.refinements
        for leaf in node.leaves
        if isinstance(leaf, Confirmation)
    )
    return _asked(paths, columns)


def our_features(rows: pd.DataFrame, columns: Iterable[ColumnNote]) -> pd.DataFrame:
    """The rows as the simple rules read runs: features that have a column, and empty error text.

    As in our own features, what is not finite counts as the ceiling; a loss or a norm that is
    empty in a row with other values was not a number in any epoch.
    """
    named = {note.feature: note.column for note in columns if note.feature}
    read = _features_of(condition for rule in SIMPLE_RULES for condition in rule.conditions)
    frame = pd.DataFrame(index=rows.index)
    for feature in sorted(read):
        if feature in named:
            values = rows[named[feature]].to_numpy(dtype=np.float64)
            finite = np.where(np.isfinite(values), values, CEILING)
            frame[feature] = np.minimum(finite, CEILING)
        else:
            frame[feature] = np.nan
    return frame.assign(**dict.fromkeys(TEXTS, ""))


def simple_answers(
    trained: pd.DataFrame, labels: Labels, tested: pd.DataFrame, settings: SimpleRulesSettings
) -> Labels:
    """Buggy where a simple rule holds, correct where none does."""
    usual = trained[labels == CORRECT].drop(columns=list(TEXTS))
    band = HealthyBand(usual.mean().to_dict(), usual.std(ddof=1).to_dict())
    rules = SimpleRules(band, **settings.model_dump()).fit(tested, labels)
    return np.array(
        [BUGGY if _holds(diagnosis) else CORRECT for diagnosis in rules.diagnose(tested)],
        dtype=object,
    )


def _holds(diagnosis: Diagnosis) -> bool:
    """Whether a rule held; the fallback has no evidence."""
    return bool(diagnosis.evidence)


def _asked(conditions: Iterable[tuple[Declared, ...]], columns: Iterable[ColumnNote]) -> Asked:
    named = {note.feature for note in columns if note.feature}
    kinds: Mapping[str, list[int]] = {"of_text": [], "without_column": [], "applicable": []}
    for number, of_rule in enumerate(conditions):
        if any(isinstance(condition, ErrorMatches) for condition in of_rule):
            kinds["of_text"].append(number)
        elif _features_of(of_rule) <= named:
            kinds["applicable"].append(number)
        else:
            kinds["without_column"].append(number)
    return Asked(sum(map(len, kinds.values())), len(kinds["of_text"]), len(kinds["without_column"]))


def _features_of(conditions: Iterable[Declared]) -> set[str]:
    return {
        condition.feature for condition in conditions if not isinstance(condition, ErrorMatches)
    }
