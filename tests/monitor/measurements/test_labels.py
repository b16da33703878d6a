"""Labels are measured as a naive comparison with the tokens says."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from failbench.monitor.measurements.labels import IGNORED, measure_labels

CLASSES, PADDING = 6, 0


@st.composite
def batches(draw):
    rows, positions = draw(st.integers(1, 4)), draw(st.integers(2, 6))
    width = draw(st.sampled_from([positions, positions - 1]))

    def table(columns, values):
        row = st.lists(values, min_size=columns, max_size=columns)
        return draw(st.lists(row, min_size=rows, max_size=rows))

    labels = st.sampled_from([IGNORED, IGNORED, -1, 0, 1, 2, CLASSES])
    return table(positions, st.integers(0, 2)), table(width, labels), draw(st.booleans())


@given(batches())
def test_shares_are_those_of_a_walk_over_positions(batch):
    ids, labels, flattened = batch
    given_labels = torch.tensor(labels).reshape(-1) if flattened else torch.tensor(labels)
    values = measure_labels(torch.tensor(ids), given_labels, CLASSES, PADDING)
    flat = [label for row in labels for label in row]
    labelled = [label for label in flat if label != IGNORED]
    assert values["labels_ignored"] == pytest.approx(flat.count(IGNORED) / len(flat))
    assert values["labels_outside"] == sum(not 0 <= label < CLASSES for label in labelled)
    same, following = [], []
    for tokens, row in zip(ids, labels, strict=True):
        places = [place for place, label in enumerate(row) if label != IGNORED]
        same += [row[place] == tokens[place] for place in places]
        following += [row[place] == tokens[place + 1] for place in places[:-1]]
    if len(labels[0]) < 2:
        assert not {"labels_same", "labels_next"} & values.keys()
        return
    for name, hits in (("labels_same", same), ("labels_next", following)):
        assert (name in values) == bool(hits)
        if hits:
            assert values[name] == pytest.approx(sum(hits) / len(hits))
    assert ("padding_labelled" in values) == bool(labelled)
    if labelled:
        expected = labelled.count(PADDING) / len(labelled)
        assert values["padding_labelled"] == pytest.approx(expected)


@pytest.mark.parametrize("filled", [True, False])
def test_the_next_tokens_are_right_whether_the_last_one_is_read_or_not(filled):
    text = torch.tensor([[5, 4, 3, 2, 1], [5, 4, 1, PADDING, PADDING]])
    ids, labels = text[:, :-1].clone(), text[:, 1:].clone()
    labels[labels == PADDING] = IGNORED
    if not filled:  # as where each row is shifted before it is filled up
        ids[1, 2] = PADDING
    assert measure_labels(ids, labels, CLASSES, PADDING)["labels_next"] == 1
    off = measure_labels(ids, labels.roll(-1, 1), CLASSES, PADDING)
    assert off["labels_next"] < 0.5
    assert measure_labels(ids, ids, CLASSES, None)["labels_same"] == 1


@pytest.mark.parametrize("labels", [torch.zeros(2, 3), torch.zeros(0, 3, dtype=torch.long)])
def test_targets_that_are_no_classes_are_not_measured(labels):
    assert measure_labels(torch.zeros(2, 3, dtype=torch.long), labels, CLASSES, PADDING) == {}


@pytest.mark.parametrize("shape", [(2,), (2, 7), (3, 2), (2, 3, 1)])
def test_labels_of_another_shape_are_not_compared_with_tokens(shape):
    ids = torch.ones(2, 3, dtype=torch.long)
    values = measure_labels(ids, torch.ones(shape, dtype=torch.long), CLASSES, None)
    assert values == {"labels_ignored": 0, "labels_outside": 0}
    assert measure_labels(None, torch.ones(shape, dtype=torch.long), CLASSES, None) == values
