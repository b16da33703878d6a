"""Our rules on DEFault's tables: which of them can be asked, and what those answer.

A column stands for one of our features as ``data/external/default/columns.csv`` says. The others
are missing, there is no error text, and what is missing is on neither side of a threshold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pandas as pd

from failbench.base.arrays import Labels
from failbench.base.method_settings import SimpleRulesSettings
from failbench.features.feature import CEILING
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import TREE
from failbench.methods.rules import Declared, ErrorMatches, features_of
from failbench.methods.simple_rules import SIMPLE_RULES, SimpleRules
from failbench.neighbours.external.tables import BUGGY, CORRECT, ColumnNote

TEXTS: Final = ("error_type", "error_message")
"""What error text is made of."""


def simple_rules_asked(columns: Iterable[ColumnNote]) -> dict[str, int]:
    """How many of the simple rules can be asked."""
    return _asked((rule.conditions for rule in SIMPLE_RULES), columns)


def improved_rules_asked(columns: Iterable[ColumnNote]) -> dict[str, int]:
    """How many leaves of the improved rules that name a category can be reached and confirmed."""
    paths = (
        (*node.when, *leaf.when, *leaf.confirms)
        for node in TREE.refinements
        for leaf in node.leaves
        if leaf.category
    )
    return _asked(paths, columns)


def our_features(rows: pd.DataFrame, columns: Iterable[ColumnNote]) -> pd.DataFrame:
    """The rows as the simple rules read runs: features that have a column, and empty error text.

    As in our own features, what is not finite counts as the ceiling; a loss or a norm that is
    empty in a row with other values was not a number in any epoch.
    """
    named = {note.feature: note.column for note in columns if note.feature}
    read = features_of(condition for rule in SIMPLE_RULES for condition in rule.conditions)
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
    """Buggy where a simple rule holds, correct where none does: the fallback has no evidence."""
    usual = trained[labels == CORRECT].drop(columns=list(TEXTS))
    band = HealthyBand(usual.mean().to_dict(), usual.std(ddof=1).to_dict())
    rules = SimpleRules(band, **settings.model_dump()).fit(tested, labels)
    named = [BUGGY if diagnosis.evidence else CORRECT for diagnosis in rules.diagnose(tested)]
    return np.array(named, dtype=object)


def _asked(
    conditions: Iterable[tuple[Declared, ...]], columns: Iterable[ColumnNote]
) -> dict[str, int]:
    """Of so many ``rules`` those that read error text, that lack a column, and the others."""
    named = {note.feature for note in columns if note.feature}
    counts = {"rules": 0, "of_text": 0, "without_column": 0, "applicable": 0}
    for of_rule in conditions:
        counts["rules"] += 1
        if any(isinstance(condition, ErrorMatches) for condition in of_rule):
            counts["of_text"] += 1
        elif features_of(of_rule) <= named:
            counts["applicable"] += 1
        else:
            counts["without_column"] += 1
    return counts
