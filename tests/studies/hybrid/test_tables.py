from __future__ import annotations

import copy
from itertools import product

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.methods.hybrid import HybridSettings
from failbench.prediction.main_study import ON_INVARIANTS
from failbench.reporting.reported import Reported
from failbench.statistics.costs import UnitCosts
from failbench.studies.hybrid.figure import hybrids_picture
from failbench.studies.hybrid.routing import pairs_of_thresholds
from failbench.studies.hybrid.tables import routes_table, thresholds_table
from failbench.validation import kept_by_hand
from printed_pictures import assert_printable, assert_repeats, drawn

COSTS = UnitCosts(rules=0.0, classifier=0.1, human=1.0)
THRESHOLDS = HybridSettings(rules_from=0.85, classifier_from=0.6)
ROUTES = {
    "hybrid": {"rules": (0.2, 0.9), "classifier": (0.3, 0.5), "human": (0.5, 0.7)},
    "hybrid_two_way": {"rules": (0.4, 0.8), "classifier": (0.6, 0.5)},
}
PRICES = list(product((0.25, 1.0, 4.0), (0.0, 2.0)))


def row(metric, value, **keys):
    return {
        **keys,
        "metric": metric,
        "value": value,
        "ci_low": value - 0.1,
        "ci_high": value + 0.1,
        "n": 76,
    }


@pytest.fixture
def routes():
    rows = []
    for hybrid, rates in ROUTES.items():
        for route, (share, precision) in rates.items():
            rows.append(row("share", share, hybrid=hybrid, route=route))
            rows.append(row("precision", precision, hybrid=hybrid, route=route))
            if route != "human":
                rows.append(row("conditions_to_read", 7.0, hybrid=hybrid, route=route))
        rows.append(row("accuracy", 0.6, hybrid=hybrid, route="all"))
        rows.append(row("cost_per_run", 0.53, hybrid=hybrid, route="all"))
    return pl.DataFrame(rows)


@pytest.fixture
def estimates():
    metrics = [
        *("cost_measured", "cost_person_alone", "cost_best"),
        *("classifier_from", "rules_from", "agreement"),
        *("cost_own_half", "cost_other_half", "saving_other_half"),
    ]
    return pl.DataFrame(
        [
            row(metric, 0.05 * position, human_cost=human, wrong_answer_cost=wrong)
            for human, wrong in PRICES
            for position, metric in enumerate(metrics)
        ]
    )


@pytest.fixture
def grid():
    low, high = pairs_of_thresholds(0.05)
    return pl.concat(
        pl.DataFrame(
            {
                "human_cost": human,
                "wrong_answer_cost": wrong,
                "classifier_from": low,
                "rules_from": high,
                "cost": 0.5 + human * low + wrong * (1 - high) / 4,
                "best": [1 / len(low)] * len(low),
            }
        )
        for human, wrong in PRICES
    )


def test_routes_stand_beside_the_papers(routes, reported):
    table = routes_table(routes, reported, COSTS, confidence=0.95)
    assert [line[:2] for line in table.rows] == [
        ("Hybrid, three-way", "Rules"),
        ("Hybrid, three-way", "Random forest"),
        ("Hybrid, three-way", "Simulated human"),
        ("Hybrid, three-way", "All"),
        ("Hybrid, two-way", "Rules"),
        ("Hybrid, two-way", "Random forest"),
        ("Hybrid, two-way", "All"),
    ]
    forest, everything, rules = table.rows[1], table.rows[3], table.rows[4]
    shares = ("30.0 [20.0, 40.0]", "50.0 [40.0, 60.0]")
    assert forest[2:] == ("27.0", "–", *shares, "0.03 [0.02, 0.04]", "7.0 [6.9, 7.1]", "76")
    assert everything[2:5] == ("100.0", "87.4", "100.0")
    assert everything[5:] == ("60.0 [50.0, 70.0]", "0.53 [0.43, 0.63]", "–", "76")
    assert rules[2:4] == ("70.0", "88.7")


def test_the_hybrid_that_asks_the_monitor_first_stands_below_with_nothing_reported(
    routes, grid, reported
):
    of_monitor = routes.filter(hybrid="hybrid_two_way").with_columns(hybrid=pl.lit(ON_INVARIANTS))
    both = pl.concat([of_monitor, routes])
    table = routes_table(both, reported, COSTS, confidence=0.95)
    without = routes_table(routes, reported, COSTS, confidence=0.95)
    assert table.rows[:-3] == without.rows
    assert [line[:4] for line in table.rows[-3:]] == [
        ("Hybrid, monitor", "Invariants", "–", "–"),
        ("Hybrid, monitor", "Random forest", "–", "–"),
        ("Hybrid, monitor", "All", "–", "–"),
    ]
    assert set(table.notes) > set(without.notes)
    picture = hybrids_picture(both, grid, reported, THRESHOLDS, human_cost=1.0)
    labels = [text.get_text() for text in drawn(picture).axes[0].get_yticklabels()]
    assert labels[-2:] == ["two-way, measured", "monitor*, measured"]


def test_conditions_are_of_the_answers_that_no_person_gave(routes, reported):
    table = routes_table(routes, reported, COSTS, confidence=0.95)
    by_person = next(line for line in table.rows if line[1] == "Simulated human")
    assert by_person[-2] == "–"
    assert "that no person gave, 50.0 % of those of the three-way hybrid" in table.notes[1]


def test_the_note_does_the_papers_sums(routes, reported):
    note = routes_table(routes, reported, COSTS, confidence=0.95).notes[2]
    assert "0.70 × 88.7 + 0.30 × 95.7 = 90.8 %, and not 87.0" in note
    human = (0.874 - 0.48 * 0.95 - 0.27 * 0.957) / 0.25
    assert f"need people who are right in {100 * human:.1f} %" in note
    assert "the paper's are right in 72.0 %" in note


def test_a_row_per_pair_of_prices(estimates):
    table = thresholds_table(estimates, THRESHOLDS, 500, confidence=0.95)
    assert [line[:2] for line in table.rows] == [
        ("0.25", "0"),
        ("0.25", "2"),
        ("1", "0"),
        ("1", "2"),
        ("4", "0"),
        ("4", "2"),
    ]
    assert table.rows[0][2:] == (
        "0.00 [−0.10, 0.10]",
        "0.05 [−0.05, 0.15]",
        "0.10 [0.00, 0.20]",
        "0.15 [0.05, 0.25]",
        "0.20 [0.10, 0.30]",
        "25.0",
        "0.30 [0.20, 0.40]",
        "0.35 [0.25, 0.45]",
        "0.40 [0.30, 0.50]",
    )
    assert "at 0.60 and 0.85" in table.notes[0]
    assert "over 500 halves" in table.notes[0]


@pytest.mark.usefixtures("project_style")
def test_bars_curves_and_map_show_their_points(routes, grid, reported):
    picture = hybrids_picture(routes, grid, reported, THRESHOLDS, 1.0)
    above, left, right = assert_printable(picture).axes[:3]
    widths = [patch.get_width() for patch in above.patches]
    assert widths[:6] == pytest.approx([48, 27, 25, 20, 30, 50])
    texts = [text.get_text() for text in above.texts]
    # a segment has its name where there is room for it
    assert texts[:4] == ["rules: 48 (95)", "classifier: 27", "human: 25", "20 (90)"]
    curves = [line for line in left.lines if len(line.get_xdata()) > 2]
    assert len(curves) == 3
    assert curves[1].get_ydata()[0] == pytest.approx(0.5 + 2 * 0.15 / 4)
    assert [text.get_text() for text in left.texts] == ["0.25", "1", "4"]
    (marks,) = [marks for marks in right.collections if marks.get_label().startswith("cheapest")]
    assert len(marks.get_offsets()) == 231


@pytest.mark.usefixtures("project_style")
def test_the_same_estimates_give_the_same_bytes(routes, grid, reported, tmp_path):
    assert_repeats(hybrids_picture(routes, grid, reported, THRESHOLDS, 1.0), tmp_path)


@pytest.mark.parametrize("value", [None, [0.5, 0.5]])
def test_a_list_that_the_table_needs_is_named_where_it_is_gone_or_too_short(
    routes, raw_reported, value
):
    raw = copy.deepcopy(raw_reported)
    if value is None:
        del raw["claims"]["hybrid_shares"]
    else:
        raw["claims"]["hybrid_shares"]["value"] = value
    with pytest.raises(BadInputError, match=r"claims\.hybrid_shares.*list of 3 numbers"):
        routes_table(
            routes, kept_by_hand(Reported, raw, "data/reported/paper.yaml"), COSTS, confidence=0.95
        )
