from __future__ import annotations

from typing import get_args

import pytest

from failbench.errors import BadInputError
from failbench.methods.catalogue import CATALOGUE, Family
from failbench.studies.tradeoff.method_families import FAMILIES, LANGUAGE_MODELS, method_family


def test_every_family_of_the_catalogue_has_one_mark():
    names = [name for family in FAMILIES for name in family.families]
    assert sorted(names) == sorted(get_args(Family))


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_a_method_has_the_mark_of_its_family(entry):
    assert entry.family in method_family(entry.name).families


def test_a_language_model_that_was_added_to_the_parameters_is_one():
    assert method_family("llm_qwen_7b") is LANGUAGE_MODELS


def test_a_method_outside_of_the_catalogue_is_refused_by_name():
    with pytest.raises(BadInputError, match=r"intervals\.json: magic: is no method of the catal"):
        method_family("magic")
