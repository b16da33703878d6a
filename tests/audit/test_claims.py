import pytest
import yaml

from failbench.base.errors import BadInputError
from failbench.base.records import kept_by_hand
from failbench.publish.audit.claims import AUDIT_SCHEMA, AuditedPaper, audit_paper
from failbench.publish.audit.figures import VERDICTS, Printed, over_rounding, read_printed
from made_up_audit import SETTINGS, declared


@pytest.fixture(scope="module")
def raw_claims(repository):
    return yaml.safe_load((repository / "data/reported/claims.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def paper(raw_claims):
    return kept_by_hand(AuditedPaper, raw_claims, "data/reported/claims.yaml")


@pytest.fixture(scope="module")
def audit(paper):
    return audit_paper(paper, SETTINGS)


def test_every_declared_claim_is_tested_once(paper, audit):
    assert audit.schema == AUDIT_SCHEMA
    assert audit["claim"].to_list() == list(paper.claims)
    assert set(audit["verdict"]) == set(VERDICTS)
    assert audit["computed"].str.len_chars().min() > 0


def ratio(formula, words="", **where):
    return {"kind": "ratio", "value": 1, "formula": formula, "where": where, "words": words}


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        ({}, "kind"),
        ({"kind": "recalls", "value": 1, "recalls": [1], "counts": []}, "as many counts"),
        ({"kind": "largest", "name": "c", "values": {"a": 1, "b": 2}}, "one of the"),
        ({"kind": "rate_interval", "value": "5%", "interval": ["9%", "1%"], "n": 9}, "lower end"),
        (ratio("a", a=1) | {"value": 0.5}, "no printed figure"),
        (ratio("a / b", a=1), "'b' is named by a formula and is not under where"),
        (ratio("a", a=1, b=1), "'b' is under where and named by no formula"),
        (ratio("a", a=1, words="{c}"), "'c' is named by a formula and is not under where"),
        (ratio("a / (a - a)", a=1), "cannot be computed"),
        (ratio("a; b", a=1, b=1), "is no formula"),
        (ratio("dot(a, b)", a=[1], b=[1, 2]), "as many weights as values"),
    ],
)
def test_a_wrong_declaration_is_one_error_with_its_path(check, problem):
    with pytest.raises(BadInputError, match=problem) as caught:
        kept_by_hand(AuditedPaper, declared(**check), "data/reported/claims.yaml")
    assert caught.value.field.startswith(f"claims.made_up.check.{check.get('kind', '')}".strip("."))
    assert caught.value.place == "data/reported/claims.yaml"


@pytest.mark.parametrize(
    ("text", "value", "half_unit", "unit"),
    [
        ("57.1%", 0.571, 0.0005, "%"),
        ("91.30%", 0.913, 0.00005, "%"),
        ("0.62", 0.62, 0.005, ""),
        ("2.3e11", 2.3e11, 0.05e11, ""),
        ("87±1%", 0.87, 0.01, "%"),
        ("20/76", 20 / 76, 0.0, ""),
        (76, 76.0, 0.0, ""),
    ],
)
def test_digits_say_how_far_a_figure_was_rounded(text, value, half_unit, unit):
    figure = read_printed(text)
    assert figure.value == pytest.approx(value)
    assert figure.half_unit == pytest.approx(half_unit)
    assert figure.unit == unit


@pytest.mark.parametrize("raw", [0.57, True, "57,1%", "about 57%", "", "1/0", None])
def test_what_is_no_printed_figure_is_refused(raw):
    with pytest.raises(ValueError, match="is no printed figure"):
        read_printed(raw)


def test_a_figure_covers_what_rounds_to_it_and_neighbours_touch_but_are_of_different_numbers():
    figure = read_printed("57.1%")
    assert figure.covers(0.5706)
    assert figure.covers(12 / 21)
    assert not figure.covers(43 / 76)
    for first, second, overlaps in (
        ("0.96", "0.964", True),
        ("0.96", "0.97", False),
        (5, 6, False),
    ):
        assert read_printed(first).overlaps(read_printed(second)) == overlaps
        assert read_printed(first).overlaps(read_printed(first))


def test_extremes_over_rounding_are_at_the_ends_of_each_figure():
    low, high = over_rounding(sum, [read_printed("26%"), read_printed("20%"), Printed(0.5)])
    assert (low, high) == (pytest.approx(0.95), pytest.approx(0.97))
    quotient = over_rounding(lambda two: two[0] / two[1], [read_printed("0.5"), read_printed(2)])
    assert quotient == (pytest.approx(0.225), pytest.approx(0.275))
