from __future__ import annotations

import pytest

from failbench.base.vocabulary import SIGNAL_GROUPS
from failbench.features.catalogue import FEATURE_SETS, signal_groups
from shared.importance import IMPORTANCE_SETS, TABLE_SIX


@pytest.mark.parametrize("columns", [*FEATURE_SETS.values(), *IMPORTANCE_SETS.values()])
def test_every_feature_is_in_one_group(columns):
    members = [name for names in signal_groups(columns).values() for name in names]
    assert sorted(members) == sorted(columns)


def test_data_features_go_by_subgroup_and_keywords_by_error_text():
    actual = signal_groups(IMPORTANCE_SETS[TABLE_SIX])
    assert tuple(actual) == SIGNAL_GROUPS
    assert actual["perplexity"] == ("perplexity", "perplexity_trend")
    assert actual["vocabulary"] == ("vocabulary_coverage", "oov_rate")
    assert actual["sequence_length"] == ("sequence_length_spread",)
    assert all(name.startswith("keyword_") for name in actual["error_text"])
    assert [len(actual[name]) for name in ("training_dynamics", "memory", "configuration")] == [
        8,
        4,
        3,
    ]
