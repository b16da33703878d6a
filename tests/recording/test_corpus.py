"""The corpus: real text in several slices, and a tokenizer that knows most of it."""

import hashlib
import shutil

import pytest

from failbench.recording import corpus as module
from failbench.recording.corpus import load_corpus


def test_every_slice_has_text_to_train_on_and_a_little_unknown(corpus_cache, tmp_path):
    corpus = load_corpus(corpus_cache)
    assert len(corpus.slices) == module.SLICES
    for part in corpus.slices:
        held_out = len(part.validation) / (len(part.training) + len(part.validation))
        assert held_out == pytest.approx(0.1, abs=0.01)
        assert min(map(len, part.training + part.validation)) >= module.MINIMUM_CHARACTERS
        assert 0 < part.statistics["corpus_unknown_rate"] < 0.05
    tokenizer = corpus.tokenizer
    assert tokenizer.get_vocab_size() == module.VOCABULARY
    assert [tokenizer.id_to_token(one) for one in range(3)] == list(module.SPECIAL_TOKENS)
    ids = tokenizer.encode("a plain sentence \N{SNOWMAN}").ids
    assert (module.UNKNOWN in ids, module.PAD in ids) == (True, False)

    # the corpus is loaded from its cache and named by its content
    content = corpus_cache.read_bytes()
    assert corpus.sha256 == hashlib.sha256(content).hexdigest()
    copy = shutil.copy(corpus_cache, tmp_path / "corpus.json")
    assert load_corpus(copy).slices == corpus.slices
    assert copy.read_bytes() == content
