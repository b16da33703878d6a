"""Cases of the committed corpus: every notebook with its own summary, and one that is lent."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.crashes.cases import lenders, read_cases
from failbench.notebooks.corpus import read_corpus
from failbench.notebooks.split import read_split

SEED = 20261123


@pytest.fixture(scope="module")
def corpus(repository):
    return repository / "data/notebooks"


@pytest.fixture(scope="module")
def cases(corpus):
    return read_cases(corpus, SEED)


@pytest.fixture(scope="module")
def lent(corpus):
    pairs = read_corpus(corpus)
    split = read_split(corpus / "split.csv")
    parts = {name: row.part for name, row in split.items()}
    return lenders(pairs, parts, SEED), {pair.card.pair: pair.card.library for pair in pairs}, parts


def test_of_every_pair_one_notebook_crashed(cases):
    crashed = Counter(case.notebook.card.pair for case in cases if case.exception)
    assert len(cases) == 2 * len(crashed)
    assert set(crashed.values()) == {1}


def test_a_lender_is_of_another_pair_of_the_same_library_and_part(lent):
    pairs, libraries, parts = lent
    for (borrower, _), (lender, _) in pairs.items():
        assert borrower != lender
        assert libraries[borrower] == libraries[lender]
        assert parts[borrower] == parts[lender]


def test_every_notebook_lends_once(lent):
    pairs, _, _ = lent
    assert sorted(pairs) == sorted(pairs.values())


def test_where_a_summary_is_from_does_not_tell_which_notebook_crashes(lent):
    """About half of the crashing notebooks are lent a crashing one's: 75 of 150, give or take."""
    pairs, _, _ = lent
    alike = sum(version == lender for (_, version), (_, lender) in pairs.items())
    assert 0.35 < alike / len(pairs) < 0.65


def test_the_control_tells_of_no_name_as_if_it_were_the_targets(cases):
    """A summary of another notebook rarely has the names that this target depends on."""
    shared = sum(case.summary.relevant == case.other.relevant for case in cases)
    assert shared < len(cases) / 10


def test_a_notebook_that_was_not_observed_as_it_is_is_named(corpus, tmp_path):
    copy = tmp_path / "notebooks"
    copy.mkdir()
    for path in corpus.iterdir():
        (copy / path.name).symlink_to(path)
    (copy / "observed.parquet").unlink()
    table = pl.read_parquet(corpus / "observed.parquet")
    first = table["notebook_sha256"][0]
    changed = pl.col("notebook_sha256").replace(first, "0" * 64)
    table.with_columns(changed).write_parquet(copy / "observed.parquet")
    with pytest.raises(BadInputError, match="was not observed as it is"):
        read_cases(copy, SEED)
