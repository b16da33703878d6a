"""Measurements of labels: what the loss compares the model's predictions with."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

IGNORED: Final = -100  # by ``torch.nn.functional.cross_entropy``, unless told otherwise

Integers = NDArray[Any]


def measure_labels(
    ids: Tensor | None, labels: Tensor, classes: int, padding: int | None
) -> dict[str, float]:
    """Measure the labels of a batch."""
    if labels.is_floating_point() or labels.is_complex() or not labels.numel():
        return {}  # targets of a regression, or probabilities of classes
    array: Integers = labels.detach().cpu().numpy()
    labelled = array != IGNORED
    count = int(np.count_nonzero(labelled))
    values = {"labels_ignored": 1 - count / array.size}
    outside = labelled & ((array < 0) | (array >= classes))
    values["labels_outside"] = float(np.count_nonzero(outside))
    if not count:
        return values
    if padding is not None:
        values["padding_labelled"] = float(np.count_nonzero(array == padding)) / count
    if ids is not None:
        read: Integers = ids.detach().cpu().numpy()
        shape = _shape_in(read, array)
        if shape is not None:
            values |= _compared(read, array.reshape(shape), labelled.reshape(shape))
    return values


def _shape_in(read: Integers, labels: Integers) -> tuple[int, int] | None:
    if read.ndim != 2:
        return None
    rows, positions = read.shape
    for shape in ((rows, positions), (rows, positions - 1)):
        # A single position would make sequences of what are classes of rows.
        if shape[1] > 1 and labels.shape in (shape, (shape[0] * shape[1],)):
            return shape
    return None


def _compared(read: Integers, labels: Integers, labelled: Integers) -> dict[str, float]:
    positions = labels.shape[1]
    same = np.count_nonzero(labelled & (labels == read[:, :positions]))
    values = {"labels_same": float(same / np.count_nonzero(labelled))}
    # The last label of a row may be a token that the model never reads.
    inner = labelled.copy()
    last = positions - 1 - np.argmax(labelled[:, ::-1], axis=1)
    inner[np.arange(len(inner)), last] = False
    following = read[:, 1 : positions + 1]
    inner = inner[:, : following.shape[1]]
    count = np.count_nonzero(inner)
    if count:
        right = np.count_nonzero(inner & (labels[:, : following.shape[1]] == following))
        values["labels_next"] = float(right / count)
    return values
