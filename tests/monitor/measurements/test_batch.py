"""A batch is measured as a naive count of its tokens says."""

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.monitor.measurements.batch import CLASSES, LEARNT, REMEMBERED, BatchMeasurement
from failbench.monitor.vocabulary import Vocabulary

PADDING, UNKNOWN, SIZE = 0, 1, 12
VOCABULARY = Vocabulary(SIZE, PADDING, UNKNOWN)


def batches(low=-2, high=SIZE + 2):
    return st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(low, high), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    )


@given(batches(), st.sampled_from([torch.int32, torch.int64]))
def test_counts_of_a_batch_are_those_of_its_lists(rows, dtype):
    values = BatchMeasurement(VOCABULARY, "standard").measure(torch.tensor(rows, dtype=dtype), [])
    flat = [token for row in rows for token in row]
    tokens = [token for token in flat if token != PADDING]
    lengths = sorted(sum(token != PADDING for token in row) for row in rows)
    assert values["rows"] == len(rows)
    assert values["longest_row"] == lengths[-1]
    assert values["padding_share"] == pytest.approx(flat.count(PADDING) / len(flat))
    assert (values["token_min"], values["token_max"]) == (min(flat), max(flat))
    repeated = sum(row in rows[:place] for place, row in enumerate(rows))
    assert values["repeated_rows"] == pytest.approx(repeated / len(rows))
    assert values["outside_tokenizer"] == sum(not 0 <= token < SIZE for token in flat)
    assert ("unknown_share" in values) == bool(tokens)
    if tokens:
        assert values["unknown_share"] == pytest.approx(tokens.count(UNKNOWN) / len(tokens))
        assert values["distinct_share"] == pytest.approx(len(set(tokens)) / len(tokens))
        median = (lengths[len(lengths) // 2] + lengths[(len(lengths) - 1) // 2]) / 2
        assert values["row_length_ratio"] == (lengths[-1] / median if median else math.inf)


def some_batch(number, rows=3, positions=5):
    generator = torch.Generator().manual_seed(number)
    return torch.randint(0, SIZE, (rows, positions), generator=generator).tolist()


@settings(max_examples=20)
@given(st.integers(0, 1000), batches())
def test_surprise_is_that_of_the_first_batches_with_one_added(seed, rows):
    measurement = BatchMeasurement(VOCABULARY, "standard")
    first = [some_batch(seed + number) for number in range(LEARNT)]
    for batch in first:
        values = measurement.measure(torch.tensor(batch), [])
        assert not {"token_surprise", "pair_surprise"} & values.keys()
        assert measurement.surprise(torch.tensor(batch)) is None or batch is first[-1]
    values = measurement.measure(torch.tensor(rows), [])

    def place(token):
        return token if 0 <= token < SIZE else SIZE

    counts = Counter(place(t) for batch in first for row in batch for t in row if t != PADDING)
    total = sum(counts.values()) + SIZE + 1
    tokens = [token for row in rows for token in row if token != PADDING]
    if not tokens:
        assert "token_surprise" not in values
        return
    expected = sum(-math.log((counts[place(t)] + 1) / total) for t in tokens) / len(tokens)
    assert values["token_surprise"] == pytest.approx(expected)
    assert measurement.surprise(torch.tensor(rows)) == pytest.approx(expected)

    def pairs(batch):
        return [
            (before % CLASSES, after % CLASSES)
            for row in batch
            for before, after in pairwise(row)
            if PADDING not in (before, after)
        ]

    known = Counter(pair for batch in first for pair in pairs(batch))
    befores = Counter(before for batch in first for before, _ in pairs(batch))
    here = pairs(rows)
    assert ("pair_surprise" in values) == bool(here)
    if here:
        surprises = [-math.log((known[pair] + 1) / (befores[pair[0]] + CLASSES)) for pair in here]
        assert values["pair_surprise"] == pytest.approx(sum(surprises) / len(here))


def test_without_a_vocabulary_all_unseen_ids_are_one_token():
    measurement = BatchMeasurement(None, "standard")
    for _ in range(LEARNT):
        measurement.measure(torch.tensor([[0, 1, 1, 3]]), [])
    total = 4 * LEARNT + 5  # of ids 0 to 3, and of all others together
    assert measurement.surprise(torch.tensor([[10**15, -7, 2]])) == pytest.approx(math.log(total))
    assert measurement.surprise(torch.tensor([[1]])) == pytest.approx(
        -math.log((2 * LEARNT + 1) / total)
    )


def test_shuffled_tokens_surprise_by_their_pairs_alone():
    text = torch.arange(400).reshape(4, 100) % 7
    measurement = BatchMeasurement(None, "standard")
    for _ in range(LEARNT + 1):
        right = measurement.measure(text, [])
    order = torch.randperm(100, generator=torch.Generator().manual_seed(0))
    shuffled = measurement.measure(text[:, order], [])
    assert shuffled["token_surprise"] == pytest.approx(right["token_surprise"])
    assert shuffled["pair_surprise"] > 5 * right["pair_surprise"]


def test_a_batch_is_repeated_for_as_long_as_it_is_remembered():
    measurement = BatchMeasurement(None, "light")
    repeated = [
        measurement.measure(torch.tensor([[number % period, 1]]), [])["repeated_batch"]
        for period in (REMEMBERED, REMEMBERED + 1)
        for number in range(period * 2)
    ]
    assert repeated[:REMEMBERED] == [0.0] * REMEMBERED
    assert repeated[REMEMBERED : 2 * REMEMBERED] == [1.0] * REMEMBERED
    assert repeated[-REMEMBERED:] == [0.0] * REMEMBERED


def test_a_light_level_measures_no_text():
    measurement = BatchMeasurement(VOCABULARY, "light")
    for number in range(LEARNT + 1):
        values = measurement.measure(torch.tensor(some_batch(number)), [])
    assert not {"distinct_share", "token_surprise", "pair_surprise"} & values.keys()
    assert measurement.surprise(torch.tensor([[1]])) is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_values_that_are_no_number_are_counted_over_all_inputs(dtype):
    first, second = torch.full((3, 4), 3e4, dtype=dtype), torch.zeros(5, dtype=dtype)
    measurement = BatchMeasurement(None, "light")
    assert measurement.measure(None, [first, second, torch.empty(0)]) == {"nonfinite_inputs": 0}
    first[0, 1], first[2, 2], second[3] = math.inf, math.nan, -math.inf
    assert measurement.measure(None, [first, second]) == {"nonfinite_inputs": 3}
