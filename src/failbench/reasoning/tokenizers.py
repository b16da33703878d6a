"""Tokenizers: characters in some order, or byte-pair merges learnt from the tasks' text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field

from failbench.reasoning.grid import MAKERS, Cell, stream
from failbench.reasoning.problems import ALPHABET, Problem
from failbench.records import Record

SPECIAL: Final = ("<pad>", "<end>")
PAD: Final = 0
END: Final = 1  # ids of the token that fills rows, and of the one after an answer
SAMPLE: Final = 2_000  # problems of which the text is what tokenizers are made from
SAMPLE_SEED: Final = 0
WORDS: Final = r"[a-zA-Z]|[^a-zA-Z]+"  # what merges stay within: a letter stands alone


class Declaration(Record):
    """How a tokenizer is made; a row of ``tokenizers.csv``."""

    name: str = Field(min_length=1)
    kind: Literal["characters", "merges"]
    order: Literal["code", "frequency"]
    text: Literal["all", "prompts"]
    size: int = Field(gt=len(SPECIAL))


@dataclass(frozen=True)
class Tokenizer:
    """A tokenizer that gives back every text of the tasks."""

    name: str
    tokens: tuple[str, ...]
    encode: Callable[[str], list[int]]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; special tokens have none."""
        return "".join(self.tokens[number] for number in ids if number >= len(SPECIAL))


def make(declaration: Declaration, cells: Sequence[Cell]) -> Tokenizer:
    """Make a tokenizer from text of the cells that are trained; the same one each time."""
    problems = list(
        islice(stream(cells, dict.fromkeys(MAKERS, 1), np.random.default_rng(SAMPLE_SEED)), SAMPLE)
    )
    texts = [text for _, problem in problems for text in _texts(problem, declaration.text)]
    characters = sorted(ALPHABET)
    if declaration.order == "frequency":
        times = Counter("".join(texts))
        characters.sort(key=lambda character: -times[character])
    if declaration.kind == "characters":
        return of_characters(declaration.name, characters)
    return _of_merges(declaration, characters, texts)


def of_characters(name: str, characters: Sequence[str]) -> Tokenizer:
    """A tokenizer of single characters, whose ids follow their order."""
    ids = {character: number for number, character in enumerate(characters, len(SPECIAL))}
    return Tokenizer(name, (*SPECIAL, *characters), lambda text: [ids[part] for part in text])


def _texts(problem: Problem, which: Literal["all", "prompts"]) -> tuple[str, ...]:
    return (problem.prompt, problem.response) if which == "all" else (problem.prompt,)


def _of_merges(
    declaration: Declaration, characters: Sequence[str], texts: Sequence[str]
) -> Tokenizer:
    """Learn merges until the vocabulary has its size; characters come first, in their order."""
    from tokenizers import Regex, models, pre_tokenizers, trainers
    from tokenizers import Tokenizer as Trained

    vocabulary = {token: number for number, token in enumerate((*SPECIAL, *characters))}
    words = pre_tokenizers.Split(Regex(WORDS), "isolated")
    learner = Trained(models.BPE())
    learner.pre_tokenizer = words
    learner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=declaration.size,
            special_tokens=list(SPECIAL),
            initial_alphabet=list(characters),
            show_progress=False,
        ),
    )
    merges = _merges(learner)
    vocabulary |= {
        first + second: number for number, (first, second) in enumerate(merges, len(vocabulary))
    }
    trained = Trained(models.BPE(vocab=vocabulary, merges=merges))
    trained.pre_tokenizer = words
    return Tokenizer(
        declaration.name, tuple(vocabulary), lambda text: list(trained.encode(text).ids)
    )


def _merges(learner: Any) -> list[tuple[str, str]]:
    """The merges that were learnt, in their order."""
    return [(first, second) for first, second in json.loads(learner.to_str())["model"]["merges"]]
