"""A batch and its labels are measured as a naive count of tokens says."""

import math
from collections import Counter
from itertools import pairwise, product
from statistics import median

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.monitor.measurements.batch import CLASSES, LEARNT, REMEMBERED, BatchMeasurement
from failbench.monitor.measurements.labels import IGNORED, measure_labels
from failbench.monitor.vocabulary import Vocabulary

PADDING, UNKNOWN, SIZE = 0, 1, 12
VOCABULARY = Vocabulary(SIZE, PADDING, UNKNOWN)


def tables(rows, columns, values):
    row = st.lists(values, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


def batches():
    values = st.integers(-2, SIZE + 2)
    shapes = st.tuples(st.integers(1, 5), st.integers(1, 6))
    return shapes.flatmap(lambda shape: tables(*shape, values))


@given(batches(), st.sampled_from([torch.int32, torch.int64]))
def test_counts_of_a_batch_are_those_of_its_lists(rows, dtype):
    values = BatchMeasurement(VOCABULARY, "standard").measure(torch.tensor(rows, dtype=dtype), [])
    flat = [token for row in rows for token in row]
    tokens = [token for token in flat if token != PADDING]
    lengths = [sum(token != PADDING for token in row) for row in rows]
    expected = {"rows": len(rows), "longest_row": max(lengths)}
    expected |= {"padding_share": flat.count(PADDING) / len(flat)}
    expected |= {"token_min": min(flat), "token_max": max(flat)}
    again = [row in rows[:place] for place, row in enumerate(rows)]
    expected["repeated_rows"] = sum(again) / len(rows)
    expected["outside_tokenizer"] = sum(not 0 <= token < SIZE for token in flat)
    if tokens:
        middle = median(lengths)
        expected["unknown_share"] = tokens.count(UNKNOWN) / len(tokens)
        expected["distinct_share"] = len(set(tokens)) / len(tokens)
        expected["row_length_ratio"] = max(lengths) / middle if middle else math.inf
    assert {name: values[name] for name in expected} == pytest.approx(expected)
    assert ("unknown_share" in values) == bool(tokens)


def some_batch(number):
    generator = torch.Generator().manual_seed(number)
    return torch.randint(0, SIZE, (3, 5), generator=generator)


def learnt(vocabulary, *batches, level="standard"):
    measurement = BatchMeasurement(vocabulary, level)
    for batch in batches:
        measurement.measure(batch, [])
    return measurement


@settings(max_examples=20)
@given(st.integers(0, 1000), batches())
def test_surprise_is_that_of_the_first_batches_with_one_added(seed, rows):
    first = [some_batch(seed + number) for number in range(LEARNT)]
    measurement = BatchMeasurement(VOCABULARY, "standard")
    for batch in first:
        values = measurement.measure(batch, [])
        assert not {"token_surprise", "pair_surprise"} & values.keys()
        assert measurement.surprise(batch) is None or batch is first[-1]
    values = measurement.measure(torch.tensor(rows), [])

    def tokens(batch):
        kept = [token for row in batch for token in row if token != PADDING]
        return [token if 0 <= token < SIZE else SIZE for token in kept]

    counts = Counter(token for batch in first for token in tokens(batch.tolist()))
    here = tokens(rows)
    if not here:
        assert "token_surprise" not in values
        return
    total = counts.total() + SIZE + 1
    expected = sum(-math.log((counts[token] + 1) / total) for token in here) / len(here)
    assert values["token_surprise"] == pytest.approx(expected)
    assert measurement.surprise(torch.tensor(rows)) == pytest.approx(expected)

    def pairs(batch):
        found = [pair for row in batch for pair in pairwise(row) if PADDING not in pair]
        return [(before % CLASSES, after % CLASSES) for before, after in found]

    known = Counter(pair for batch in first for pair in pairs(batch.tolist()))
    befores = Counter(before for before, _ in known.elements())
    here = pairs(rows)
    assert ("pair_surprise" in values) == bool(here)
    if here:
        surprises = [-math.log((known[pair] + 1) / (befores[pair[0]] + CLASSES)) for pair in here]
        assert values["pair_surprise"] == pytest.approx(sum(surprises) / len(here))


def test_without_a_vocabulary_all_unseen_ids_are_one_token():
    measurement = learnt(None, *[torch.tensor([[0, 1, 1, 3]])] * LEARNT)
    total = 4 * LEARNT + 5  # of ids 0 to 3, and of all others together
    for row, count in (([10**15, -7, 2], 1), ([1], 2 * LEARNT + 1)):
        expected = pytest.approx(-math.log(count / total))
        assert measurement.surprise(torch.tensor([row])) == expected


def test_a_batch_is_repeated_for_as_long_as_it_is_remembered_and_no_text_measured_if_light():
    for period, expected in ((REMEMBERED, 1.0), (REMEMBERED + 1, 0.0)):
        measurement = BatchMeasurement(None, "light")
        batches = [torch.tensor([[number, 1]]) for number in range(period)] * 2
        repeated = [measurement.measure(batch, [])["repeated_batch"] for batch in batches]
        assert repeated == [0.0] * period + [expected] * period

    first = [some_batch(number) for number in range(LEARNT)]
    measurement = learnt(VOCABULARY, *first, level="light")
    values = measurement.measure(first[0], [])
    assert not {"distinct_share", "token_surprise", "pair_surprise"} & values.keys()
    assert measurement.surprise(torch.tensor([[1]])) is None


def test_values_that_are_no_number_are_counted_over_all_inputs():
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        first, second = torch.full((3, 4), 3e4, dtype=dtype), torch.zeros(5, dtype=dtype)
        measurement = BatchMeasurement(None, "light")
        assert measurement.measure(None, [first, second, torch.empty(0)]) == {"nonfinite_inputs": 0}
        first[0, 1], first[2, 2], second[3] = math.inf, math.nan, -math.inf
        assert measurement.measure(None, [first, second]) == {"nonfinite_inputs": 3}


TARGETS = 6


@st.composite
def labelled_batches(draw):
    rows, positions = draw(st.integers(1, 4)), draw(st.integers(2, 6))
    width = draw(st.sampled_from([positions, positions - 1]))
    labels = st.sampled_from([IGNORED, IGNORED, -1, 0, 1, 2, TARGETS])
    ids = draw(tables(rows, positions, st.integers(0, 2)))
    return ids, draw(tables(rows, width, labels)), draw(st.booleans())


@given(labelled_batches())
def test_shares_are_those_of_a_walk_over_positions(batch):
    ids, labels, flattened = batch
    shape = (-1,) if flattened else (len(labels), -1)
    given_labels = torch.tensor(labels).reshape(shape)
    values = measure_labels(torch.tensor(ids), given_labels, TARGETS, PADDING)
    flat = [label for row in labels for label in row]
    labelled = [label for label in flat if label != IGNORED]
    assert values["labels_ignored"] == pytest.approx(flat.count(IGNORED) / len(flat))
    assert values["labels_outside"] == sum(not 0 <= label < TARGETS for label in labelled)
    same, following = [], []
    for tokens, row in zip(ids, labels, strict=True):
        places = [place for place, label in enumerate(row) if label != IGNORED]
        same += [row[place] == tokens[place] for place in places]
        following += [row[place] == tokens[place + 1] for place in places[:-1]]
    if len(labels[0]) < 2:
        assert not {"labels_same", "labels_next"} & values.keys()
        return
    padded = [label == PADDING for label in labelled]
    hits = {"labels_same": same, "labels_next": following, "padding_labelled": padded}
    for name, hit in hits.items():
        assert (name in values) == bool(hit)
        if hit:
            assert values[name] == pytest.approx(sum(hit) / len(hit))


@pytest.mark.parametrize("filled", [True, False])
def test_the_next_tokens_are_right_whether_the_last_one_is_read_or_not(filled):
    text = torch.tensor([[5, 4, 3, 2, 1], [5, 4, 1, PADDING, PADDING]])
    ids, labels = text[:, :-1].clone(), text[:, 1:].clone()
    labels[labels == PADDING] = IGNORED
    if not filled:  # as where each row is shifted before it is filled up
        ids[1, 2] = PADDING
    assert measure_labels(ids, labels, TARGETS, PADDING)["labels_next"] == 1
    off = measure_labels(ids, labels.roll(-1, 1), TARGETS, PADDING)
    assert off["labels_next"] < 0.5
    assert measure_labels(ids, ids, TARGETS, None)["labels_same"] == 1


def test_targets_that_are_no_classes_are_not_measured_and_of_another_shape_not_compared():
    tokens = torch.zeros(2, 3, dtype=torch.long)
    for labels in (torch.zeros(2, 3), torch.zeros(0, 3, dtype=torch.long)):
        assert measure_labels(tokens, labels, TARGETS, PADDING) == {}
    for shape, ids in product([(2,), (2, 7), (3, 2), (2, 3, 1)], (tokens, None)):
        values = measure_labels(ids, torch.ones(shape, dtype=torch.long), TARGETS, None)
        assert values == {"labels_ignored": 0, "labels_outside": 0}
