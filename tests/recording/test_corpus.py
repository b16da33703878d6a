"""The corpus: real text in several slices, and a tokenizer that knows most of it."""

import hashlib

import pytest

from failbench.recording.corpus import (
    MINIMUM_CHARACTERS,
    PAD,
    SLICES,
    SPECIAL_TOKENS,
    UNKNOWN,
    VOCABULARY,
    load_corpus,
)


@pytest.fixture(scope="module")
def corpus(corpus_cache):
    return load_corpus(corpus_cache)


def test_every_slice_has_text_to_train_on_and_to_hold_out(corpus):
    assert len(corpus.slices) == SLICES
    for part in corpus.slices:
        held_out = len(part.validation) / (len(part.training) + len(part.validation))
        assert held_out == pytest.approx(0.1, abs=0.01)
        assert min(map(len, part.training + part.validation)) >= MINIMUM_CHARACTERS


def test_healthy_runs_meet_a_little_of_the_unknown_token(corpus):
    assert all(0 < one.statistics["corpus_unknown_rate"] < 0.05 for one in corpus.slices)


def test_tokenizer_has_the_vocabulary_that_models_are_built_for(corpus):
    assert corpus.tokenizer.get_vocab_size() == VOCABULARY
    assert [corpus.tokenizer.id_to_token(one) for one in range(3)] == list(SPECIAL_TOKENS)
    ids = corpus.tokenizer.encode("a plain sentence \N{SNOWMAN}").ids
    assert UNKNOWN in ids
    assert PAD not in ids


def test_corpus_is_loaded_from_its_cache_and_named_by_its_content(corpus, corpus_cache, tmp_path):
    content = corpus_cache.read_bytes()
    assert corpus.sha256 == hashlib.sha256(content).hexdigest()
    copy = tmp_path / "corpus.json"
    copy.write_bytes(content)
    assert load_corpus(copy).slices == corpus.slices
    assert copy.read_bytes() == content
