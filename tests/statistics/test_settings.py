from pathlib import Path

import pytest
import yaml
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.statistics.bootstrap import BootstrapSettings
from failbench.statistics.settings import read_statistics, read_with_statistics
from failbench.statistics.significance import ComparisonSettings

SHARED = {
    "confidence": 0.9,
    "resamples": 2000,
    "seed": 7,
    "wilson_from": 0.8,
    "wilson_below": 5,
    "practical_equivalence": 0.02,
    "equivalence_margin": 0.2,
    "power": 0.7,
}


class StudySettings(BootstrapSettings):
    points: int = Field(ge=1)


@pytest.fixture
def params(tmp_path: Path):
    def write(statistics: dict[str, object] = SHARED, **sections: dict[str, object]) -> Path:
        path = tmp_path / "params.yaml"
        path.write_text(yaml.safe_dump({"statistics": statistics, **sections}), encoding="utf-8")
        return path

    return write


def test_a_record_gets_the_keys_that_it_has_and_what_the_section_of_a_study_says_holds(params):
    expected = BootstrapSettings(resamples=2000, confidence=0.9, seed=7)
    assert read_statistics(BootstrapSettings, params()) == expected
    path = params(study={"points": 3, "seed": 1})
    assert read_with_statistics("study", StudySettings, path).seed == 1
    settings = read_statistics(ComparisonSettings, path)
    named = settings.named("19", (("a", "b"),))
    assert (named.feature_set, named.contrasts) == ("19", (("a", "b"),))
    assert named.model_dump(exclude={"feature_set", "contrasts"}) == settings.model_dump()


@pytest.mark.parametrize("key", sorted(SHARED))
def test_a_missing_key_is_refused_and_not_filled_in(params, key):
    missing = {name: value for name, value in SHARED.items() if name != key}
    with pytest.raises(BadInputError, match=rf"statistics\.{key}: Field required"):
        read_statistics(BootstrapSettings, params(missing))
