from __future__ import annotations

import pytest
from pydantic import Field, model_validator

from failbench.base.errors import BadInputError
from failbench.base.records import Record, kept_by_hand, validated


class Inner(Record):
    folds: int = Field(ge=2)


class Outer(Record):
    name: str = "study"
    inner: Inner = Inner(folds=5)

    @model_validator(mode="after")
    def _is_no_stub(self) -> Outer:
        if self.name == "stub":
            raise ValueError("a stub is no study")
        return self


def test_what_fits_becomes_the_record() -> None:
    actual = validated(Outer, {"inner": {"folds": 3}}, "a.yaml", "Mend it.")
    assert actual == Outer(inner=Inner(folds=3))


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ({"size": 1}, "size: the key is unknown. Known keys are name, inner."),
        ({"inner": {"folds": 3, "size": 1}}, "inner.size: the key is unknown. Mend it."),
        ({"inner": {}}, "inner.folds: Field required. Mend it."),
        (
            {"inner": {"folds": 1}},
            "inner.folds: Input should be greater than or equal to 2 (found 1). Mend it.",
        ),
        ({"name": "stub"}, "(file): Value error, a stub is no study. Mend it."),
        ([], "(file): Input should be a valid dictionary or instance of Outer. Mend it."),
    ],
)
def test_what_does_not_is_named_by_file_and_key(raw: object, complaint: str) -> None:
    with pytest.raises(BadInputError) as caught:
        validated(Outer, raw, "a.yaml", "Mend it.")
    assert str(caught.value) == f"a.yaml: {complaint}"


def test_keys_that_lead_to_a_part_of_the_file_are_named_first() -> None:
    with pytest.raises(BadInputError, match=r"^a\.yaml: studies\.pooled\.name: "):
        validated(Outer, {"name": 3}, "a.yaml", "Mend it.", ("studies", "pooled"))


def test_a_file_of_facts_is_corrected_after_the_module_of_its_record() -> None:
    assert kept_by_hand(Outer, {"name": "other"}, "facts.yaml") == Outer(name="other")
    with pytest.raises(BadInputError) as caught:
        kept_by_hand(Outer, {"inner": {}}, "facts.yaml")
    remedy = f"Correct it after the records in {Outer.__module__}."
    assert str(caught.value) == f"facts.yaml: inner.folds: Field required. {remedy}"
