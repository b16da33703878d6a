"""The methods of the batch form: all that can diagnose, each with its settings."""

import re

import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.batch.catalogue import (
    READ_BY,
    declaration_named,
    refuse_unknown,
    settings_of,
)

NAMES = [name for names in READ_BY.values() for name in names]


@pytest.mark.parametrize("name", NAMES)
def test_every_method_is_declared_and_has_settings(repository, name):
    declaration = declaration_named(name)
    assert declaration.name == name
    assert not declaration.simulation
    assert isinstance(settings_of(name, repository / "params.yaml"), declaration.settings)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("crystal_ball", "'crystal_ball' is unknown."),
        ("mistral_7b", "'mistral_7b' is unknown."),
        ("simulated_human", "'simulated_human' needs the true causes"),
        ("hybrid", "'hybrid' needs the true causes"),
    ],
)
def test_what_cannot_diagnose_is_refused_with_all_that_can(name, problem):
    with pytest.raises(BadInputError) as caught:
        refuse_unknown(name)
    assert caught.value.problem.startswith(problem)
    assert {*NAMES} <= (listed := {*re.findall(r"\w+", caught.value.remedy)})
    assert not {"simulated_human", "hybrid"} & listed
