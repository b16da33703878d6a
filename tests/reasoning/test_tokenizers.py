"""Tokenizers give back every text, and those that do not fit one another differ."""

import pytest

from failbench.reasoning.tokenizers import END, PAD, SPECIAL, make


@pytest.fixture(scope="module")
def made(declared):
    pytest.importorskip("tokenizers")
    return {
        name: make(declaration, declared.cells) for name, declaration in declared.tokenizers.items()
    }


@pytest.fixture(scope="module")
def texts(declared):
    some = declared.problems[::7]
    return [text for _, _, problem in some for text in (problem.prompt, problem.response)]


@pytest.mark.parametrize("name", ["char", "bpe", "char_by_frequency", "bpe_of_prompts"])
def test_decoding_gives_back_every_text_without_the_ids_of_filling_and_end(made, texts, name):
    tokenizer = made[name]
    assert tokenizer.tokens[: len(SPECIAL)] == SPECIAL
    for text in texts:
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert not {PAD, END} & set(ids)


def test_a_mismatched_vocabulary_has_the_characters_in_another_order(made):
    right, wrong = made["char"].tokens, made["char_by_frequency"].tokens
    assert set(right) == set(wrong)
    assert sum(a != b for a, b in zip(right, wrong, strict=True)) > len(right) / 2


def test_mismatched_merges_agree_on_characters_and_not_on_the_rest(made, declared):
    right, wrong = made["bpe"].tokens, made["bpe_of_prompts"].tokens
    alphabet = len(made["char"].tokens)
    assert right[:alphabet] == wrong[:alphabet]
    assert right[alphabet:] != wrong[alphabet : len(right)]
    assert len(wrong) <= len(right)  # or a model would have no embedding of an id
