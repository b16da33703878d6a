import pytest
import yaml

from failbench.base.errors import BadInputError
from failbench.base.records import kept_by_hand
from failbench.publish.audit.claims import (
    AUDIT_SCHEMA,
    AuditedPaper,
    audit_paper,
)
from failbench.publish.audit.figures import VERDICTS, Printed
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


def figures(value):
    """All printed figures within a check."""
    if isinstance(value, Printed):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from figures(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from figures(part)


def test_every_declared_claim_is_tested_once(paper, audit):
    assert audit.schema == AUDIT_SCHEMA
    assert audit["claim"].to_list() == list(paper.claims)
    assert set(audit["verdict"]) == set(VERDICTS)
    assert audit["computed"].str.len_chars().min() > 0


@pytest.mark.parametrize(
    ("check", "field", "problem"),
    [
        ({"kind": "guess"}, "claims.made_up.check", "guess"),
        ({}, "claims.made_up.check", "kind"),
        ({"kind": "sum", "value": 1, "where": {"a": 1}}, "check.sum.formula", "required"),
        (
            {"kind": "sum", "value": 0.5, "formula": "a", "where": {"a": 1}},
            "claims.made_up.check.sum.value",
            "no printed figure",
        ),
        ({"kind": "granularity", "values": ["5%"], "n": 0}, "granularity.n", "greater"),
        (
            {"kind": "unverifiable", "missing": "labels", "n": 5},
            "unverifiable.n",
            "the key is unknown",
        ),
        (
            {"kind": "recalls", "value": 1, "recalls": [1], "counts": []},
            "recalls",
            "as many counts",
        ),
        ({"kind": "largest", "name": "c", "values": {"a": 1, "b": 2}}, "largest", "one of the"),
        ({"kind": "same", "values": [[1], [1, 2]]}, "same", "as many figures"),
        (
            {"kind": "rate_interval", "value": "5%", "interval": ["9%", "1%"], "n": 9},
            "rate_interval",
            "lower end",
        ),
    ],
)
def test_a_wrong_declaration_is_one_error_with_its_path(check, field, problem):
    with pytest.raises(BadInputError, match=problem) as caught:
        kept_by_hand(AuditedPaper, declared(**check), "data/reported/claims.yaml")
    assert field in caught.value.field
    assert caught.value.place == "data/reported/claims.yaml"
