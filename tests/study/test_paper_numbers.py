import copy

import pytest

from failbench.base.errors import BadInputError
from failbench.base.records import kept_by_hand
from failbench.study.paper_numbers import Reported


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("tables.methods.rows.ebm.acuracy", 0.5),
        ("tables.methods.rows.ebm.accuracy", 95.7),
        ("tables.ablation.rows.full.accuracy", 61.8),
        ("tables.confusion.rows.unknown", [1, 2, 3]),
        ("figures.tradeoff.rows.ebm.accuracy", 95.7),
        ("figures.tradeoff.rows.ebm.interpretability", [85, 101]),
        ("figures.tradeoff.rows.decision_tree.interpretability", [80, 60]),
        ("claims.gap.value", 38.6),
        ("claims.gap.place", "somewhere"),
        ("claims.gap.colour", "red"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_path(raw_reported, path, value):
    wrong = copy.deepcopy(raw_reported)
    entry = wrong
    *keys, last = path.split(".")
    for key in keys:
        entry = entry[key]
    entry[last] = value
    with pytest.raises(BadInputError) as caught:
        kept_by_hand(Reported, wrong, "data/reported/paper.yaml")
    assert caught.value.field.startswith(".".join(keys[: 2 if keys[0] == "claims" else 3]))
    assert caught.value.place == "data/reported/paper.yaml"
