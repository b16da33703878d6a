"""Faults of the data pipeline: what reaches the model is not what was meant."""

from __future__ import annotations

import base64
import gzip
import os
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from failbench.recording.architectures import Examples
from failbench.recording.corpus import PAD, SPECIAL_TOKENS
from failbench.recording.faults.memory import killed_beyond_capacity
from failbench.recording.faults.registry import fault
from failbench.recording.loop import IGNORED, TrainingRun

TextChange = Callable[[str], str]


def _change_texts(run: TrainingRun, change: TextChange) -> None:
    inner = run.draw_texts
    run.draw_texts = lambda count: [change(text) for text in inner(count)]


def _change_examples(run: TrainingRun, change: Callable[[Examples], Examples]) -> None:
    inner = run.make_examples
    run.make_examples = lambda ids: change(inner(ids))


def _permutation(run: TrainingRun) -> list[int]:
    first = len(SPECIAL_TOKENS)
    vocabulary = run.tokenizer.get_vocab_size()
    renumbered = first + run.fault_generator.permutation(vocabulary - first)
    return [*range(first), *(int(one) for one in renumbered)]


@fault("at_onset")
def added_tokens(run: TrainingRun, *, share: float, count: int) -> None:
    """The tokenizer was given new tokens, for which the embedding has no rows."""
    inner, generator = run.encode, run.fault_generator
    vocabulary = run.settings.size.vocabulary

    def encode(texts: list[str]) -> list[list[int]]:
        return [
            [
                vocabulary + int(generator.integers(count)) if generator.random() < share else one
                for one in sequence
            ]
            for sequence in inner(texts)
        ]

    run.encode = encode


@fault("before_build")
def added_tokens_with_rows(run: TrainingRun, *, share: float, count: int) -> None:
    """The remedy of ``added_tokens``: the model was built with a row for each of the new tokens."""
    usual, vocabulary = run.encode, run.settings.size.vocabulary
    added_tokens(run, share=share, count=count)
    changed = run.encode
    run.encode = lambda texts: (
        changed(texts) if run.step >= run.nominal.onset_step else usual(texts)
    )
    run.resize(vocabulary=vocabulary + count)


@fault("at_onset")
def token_ids_permuted(run: TrainingRun) -> None:
    """The training shards were tokenised by a release with the same tokens in another order."""
    inner, renumbered = run.encode, _permutation(run)
    run.encode = lambda texts: [[renumbered[one] for one in ids] for ids in inner(texts)]


@fault("at_onset")
def validation_ids_permuted(run: TrainingRun) -> None:
    """The held-out set was tokenised by a release with the same tokens in another order."""
    inner, renumbered = run.validation_encode, _permutation(run)
    run.validation_encode = lambda texts: [[renumbered[one] for one in ids] for ids in inner(texts)]


@fault("at_onset")
def labels_shuffled(run: TrainingRun) -> None:
    """The labels of a batch are shuffled among its positions."""

    def shuffle(examples: Examples) -> Examples:
        labels = examples.labels.clone()
        present = labels != IGNORED
        order = run.fault_generator.permutation(int(present.sum()))
        labels[present] = labels[present][torch.from_numpy(order)]
        return Examples(examples.inputs, labels, examples.source)

    _change_examples(run, shuffle)


@fault("at_onset")
def targets_not_shifted(run: TrainingRun) -> None:
    """The targets are the inputs themselves, not the tokens that follow them."""

    def copy_inputs(examples: Examples) -> Examples:
        labels = examples.inputs.masked_fill(examples.inputs == PAD, IGNORED)
        return Examples(examples.inputs, labels, examples.source)

    _change_examples(run, copy_inputs)


@fault("at_onset")
def padding_labelled_minus_one(run: TrainingRun) -> None:
    """Padding is labelled -1, where the loss ignores -100."""
    _change_examples(
        run,
        lambda examples: Examples(
            examples.inputs,
            examples.labels.masked_fill(examples.labels == IGNORED, -1),
            examples.source,
        ),
    )


@fault("at_onset")
def batches_of_padding(run: TrainingRun) -> None:
    """A filter removes every token of every batch and leaves the padding."""
    inner = run.encode
    run.encode = lambda texts: [[PAD] * len(one) for one in inner(texts)]


@fault("at_onset")
def wrong_encoding(run: TrainingRun, *, written: str, read: str) -> None:
    """Files written in one encoding are read in another."""
    _change_texts(run, lambda text: text.encode(written, errors="replace").decode(read))


@fault("at_onset")
def upper_case(run: TrainingRun) -> None:
    """A cleaning step turns all text into capitals, for which the vocabulary has hardly a token."""
    _change_texts(run, str.upper)


@fault("at_onset")
def encoded_blobs(run: TrainingRun) -> None:
    """A crawl shard holds attachments in base64 in place of prose."""
    _change_texts(run, lambda text: base64.b64encode(text.encode()[::-1]).decode())


@fault("at_onset")
def batch_repeated(run: TrainingRun) -> None:
    """The sampler hands out the same batch for ever."""
    batch = run.draw_texts(run.settings.batch_size)
    run.draw_texts = lambda count: batch[:count]


@fault("at_onset")
def single_document(run: TrainingRun) -> None:
    """The shard index points every reader to the same document."""
    longest = max(run.corpus.training, key=len)
    run.corpus = replace(run.corpus, training=(longest,))


@fault("at_onset")
def collation_without_padding(run: TrainingRun) -> None:
    """Sequences of different lengths are stacked as they are."""

    def stack(sequences: list[list[int]]) -> Tensor:
        return torch.stack([torch.tensor(one, dtype=torch.long) for one in sequences])

    run.collate = stack


@fault("at_onset")
def truncated_shard(run: TrainingRun, *, batches: int, share: float) -> None:
    """The next shard is a compressed file that was cut off when it was copied."""
    path = run.scratch / "shard-00001.txt.gz"
    texts = run.draw_texts(batches * run.settings.batch_size)
    whole = gzip.compress("\n".join(text.replace("\n", " ") for text in texts).encode(), mtime=0)
    path.write_bytes(whole[: int(len(whole) * share)])
    lines = gzip.open(path, "rt", encoding="utf-8")  # noqa: SIM115 - read until it breaks
    run.draw_texts = lambda count: [next(lines).rstrip("\n") for _ in range(count)]


@fault("before_build")
def undecodable_file(run: TrainingRun, *, written: str) -> None:
    """A corpus file is in an encoding that the reader does not expect."""
    path = run.scratch / "corpus.txt"
    text = "\n".join(run.corpus.training)
    path.write_text(
        "R\u00e9sum\u00e9 \u2013 na\u00efve caf\u00e9\n" + text, encoding=written, errors="replace"
    )
    path.read_text(encoding="utf-8")


@fault("at_onset")
def stalled_input(run: TrainingRun) -> None:
    """The reader waits for a pipe whose writer never comes."""
    path = run.scratch / "batches.pipe"
    os.mkfifo(path)
    run.draw_texts = lambda count: path.read_text(encoding="utf-8").splitlines()[:count]


@fault("at_onset")
def duplicate_filter_rescans(run: TrainingRun, *, threshold: float) -> None:
    """Every passage is compared with all passages seen before, to drop near duplicates."""
    inner = run.draw_texts
    seen: list[str] = []

    def overlap(words: set[str], other: str) -> float:
        others = set(other.split())
        return len(words & others) / max(1, len(words | others))

    def is_new(text: str) -> bool:
        words = set(text.split())
        closest = max((overlap(words, other) for other in seen), default=0.0)
        seen.append(text)
        return closest < threshold

    def draw(count: int) -> list[str]:
        texts = inner(count)
        return [text for text in texts if is_new(text)] or texts[:1]

    run.draw_texts = draw


@fault("at_onset")
def record_separator_lost(run: TrainingRun) -> None:
    """The reader no longer finds where a record ends: one record of every batch grows and grows."""
    inner = run.draw_texts
    longest = run.settings.size.positions - 2
    record = ""

    def draw(count: int) -> list[str]:
        nonlocal record
        texts = inner(count)
        record += texts[0] + "\n"
        return [record, *texts[1:]]

    run.draw_texts = draw
    run.encode = lambda texts: [
        *run.tokenize(texts[:1], longest),
        *run.tokenize(texts[1:], run.settings.sequence_length),
    ]
    killed_beyond_capacity(run)
