from dataclasses import fields

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.crashes.cases import read_cases
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import ARMS, Question
from failbench.notebooks.summaries import FACTS

SEED = 20261123


@pytest.fixture(scope="module")
def corpus(repository):
    return repository / "data/notebooks"


@pytest.fixture(scope="module")
def cases(corpus):
    return read_cases(corpus, SEED)


@pytest.mark.parametrize("version", ["crashing", "mended"])
def test_each_arm_tells_its_facts_the_control_those_of_another_and_none_what_the_card_says(
    case, version
):
    one, other = case(), case(version=version, pair="other name")
    asked = {arm: one.ask(arm) for arm in ARMS}
    assert {arm: other.ask(arm) for arm in ARMS} == asked
    assert {field.name for field in fields(Question)} == {"executed", "target", "summary"}
    assert asked["code"].summary is None
    for arm in FACTS:
        (entry,) = asked[arm].summary.names.values()
        assert entry.keys() == {arm}
    assert (asked["all"].summary, asked["other"].summary) == (one.summary, one.other)
    assert {question.target for question in asked.values()} == {one.notebook.target}
    with pytest.raises(ValueError, match="only a crash"):
        CrashPrediction(None, "KeyError", "a reason")


def test_a_notebook_that_was_not_observed_as_it_is_is_named(corpus, tmp_path):
    for path in corpus.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "observed.parquet").unlink()
    table = pl.read_parquet(corpus / "observed.parquet")
    changed = pl.col("notebook_sha256").replace(table["notebook_sha256"][0], "0" * 64)
    table.with_columns(changed).write_parquet(tmp_path / "observed.parquet")
    with pytest.raises(BadInputError, match="was not observed as it is"):
        read_cases(tmp_path, SEED)
