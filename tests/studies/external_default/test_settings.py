"""Our classifiers are not searched: a grid of several values is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from failbench.studies.external_default.settings import HouseMethods, grouped_by


def test_two_values_of_a_parameter_are_refused(small):
    methods = small.methods.model_dump()
    methods["ebm"]["learning_rate"] = (0.02, 0.08)
    with pytest.raises(ValidationError, match=r"ebm\.learning_rate must have one value, not 2"):
        HouseMethods.model_validate(methods)


def test_a_protocol_is_named_after_its_groups():
    assert grouped_by("clusters", 59) == "clusters_59"
