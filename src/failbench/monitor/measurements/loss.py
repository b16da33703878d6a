"""Measurements of the loss and its logits: (..., classes), or (batch, classes, ...) where not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from failbench.monitor.measurements.labels import IGNORED
from failbench.monitor.measurements.reductions import numbers, precise

MOST_BYTES: Final = 16 * 2**20  # of copies of logits: positions are measured in parts


def measure_loss(logits: Tensor, labels: Tensor, loss: Tensor) -> dict[str, float]:
    """Compare a loss with the mean cross-entropy of the labelled positions."""
    # Each is recomputed in single precision, or that of the logits if higher, the mean in double.
    logits, labels = classes_last(logits, labels)
    if loss.numel() != 1:
        raise ValueError(
            f"A loss of shape {tuple(loss.shape)} is not one number: "
            "give the loss whose gradient is taken."
        )
    sums: list[Tensor] = []
    counts: list[Tensor] = []
    bounds: list[Tensor] = []
    with torch.no_grad():
        for (part,), wanted in _parts((logits,), labels, 3 * _width(logits)):
            valid, count = _valid(wanted, part.shape[-1])
            each = functional.cross_entropy(
                _single(part), valid, ignore_index=IGNORED, reduction="none"
            )
            sums.append(each.sum(dtype=precise(each)))
            counts.append(count)
            bounds.extend(torch.aminmax(part))  # no number where a logit is none
    # Read at the end, as each reading waits for the device.
    value, total, labelled = float(loss.detach()), _total(sums), _total(counts)
    finite = not bounds or bool(torch.isfinite(torch.stack(bounds)).all())
    values = {"loss": value, "logits_nonfinite": 0.0 if finite else _nonfinite(logits, labels)}
    if labelled:
        mean = total / labelled
        if mean:
            values["loss_ratio"] = value / mean
        else:
            values["loss_ratio"] = math.inf if value else 1.0
    return values


def measure_output(logits: Tensor, labels: Tensor | None = None) -> dict[str, float]:
    """Measure how spread the predicted distributions are."""
    if labels is None:
        labels = torch.zeros(logits.shape[:-1], dtype=torch.long, device=logits.device)
    logits, labels = classes_last(logits, labels)
    classes, positions = logits.shape[-1], labels.numel()
    if classes < 2 or not positions:
        return {}
    sums: list[Tensor] = []
    with torch.no_grad():
        for (part,), _ in _parts((logits,), labels, 3 * _width(logits)):
            # A probability of 0 adds nothing, where the logarithm is infinite.
            logs = torch.log_softmax(_single(part), -1).clamp_(min=-1000.0)
            sums.append(-torch.dot(logs.exp().view(-1), logs.view(-1)))
    return {"output_entropy": _total(sums) / positions / math.log(classes)}


def measure_logit_gradient(gradient: Tensor, logits: Tensor, labels: Tensor) -> dict[str, float]:
    """Compare the gradient at the logits with that of the mean cross-entropy."""
    if gradient.shape != logits.shape:
        raise ValueError(
            f"A gradient of shape {tuple(gradient.shape)} is not one of logits of shape "
            f"{tuple(logits.shape)}: give the gradient at the logits that the loss is taken of."
        )
    gradient, _ = classes_last(gradient, labels)
    logits, labels = classes_last(logits, labels)
    counts: list[Tensor] = []
    products: list[Tensor] = []
    doubles = 3 * torch.double.itemsize
    with torch.no_grad():
        for (part, slope), wanted in _parts((logits, gradient), labels, doubles):
            valid, count = _valid(wanted, part.shape[-1])
            expected = torch.softmax(part.to(precise(part)), -1)
            mask = valid != IGNORED
            places = torch.where(mask, valid, 0).unsqueeze(-1)
            expected.scatter_add_(-1, places, -torch.ones_like(places, dtype=expected.dtype))
            expected.mul_(mask.unsqueeze(-1))
            flat, actual = expected.view(-1), slope.to(expected.dtype).reshape(-1)
            counts.append(count)
            pairs = ((actual, actual), (flat, flat), (actual, flat))
            products.append(torch.stack([torch.dot(left, right) for left, right in pairs]))
    labelled = _total(counts)
    if not labelled:
        return {}
    squares, expected_squares, product = torch.stack(products).sum(0).tolist()
    if expected_squares == 0:
        return {}
    norm, expected_norm = math.sqrt(squares), math.sqrt(expected_squares)
    values = {"logit_gradient_scale": norm / expected_norm * labelled}
    if norm != 0:
        distance = 2 - 2 * product / norm / expected_norm
        values["logit_gradient_error"] = math.sqrt(0.0 if distance < 0 else distance)
    return values


def classes_last(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Logits with the classes as their last dimension, and the labels: views, without a graph."""
    logits, labels = logits.detach(), labels.detach()
    if labels.is_floating_point() or labels.is_complex():
        raise ValueError(
            f"Labels of type {labels.dtype} are no classes: only losses of one class per position "
            "are recomputed."
        )
    if logits.dim() and logits.shape[:-1] == labels.shape:
        pass
    elif logits.dim() > 1 and (logits.shape[0], *logits.shape[2:]) == tuple(labels.shape):
        logits = logits.movedim(1, -1)
    else:
        raise ValueError(
            f"Labels of shape {tuple(labels.shape)} do not fit logits of shape "
            f"{tuple(logits.shape)}: give both as the loss takes them."
        )
    return (logits, labels) if labels.dim() else (logits.unsqueeze(0), labels.unsqueeze(0))


def _parts(
    tensors: tuple[Tensor, ...], labels: Tensor, width: int
) -> Iterator[tuple[tuple[Tensor, ...], Tensor]]:
    """Views of (positions, classes) and (positions,), so many that ``width`` bytes a logit fit."""
    if tensors[0].dim() > 2:
        try:
            tensors = tuple(tensor.view(-1, tensor.shape[-1]) for tensor in tensors)
        except RuntimeError:  # part of a larger tensor: no view of it has two dimensions
            for row, wanted in enumerate(labels):
                yield from _parts(tuple(tensor[row] for tensor in tensors), wanted, width)
            return
        labels = labels.reshape(-1)
    most = max(1, MOST_BYTES // (width * max(1, tensors[0].shape[-1])))
    for start in range(0, len(labels), most):
        part = slice(start, start + most)
        yield tuple(tensor[part] for tensor in tensors), labels[part]


def _width(logits: Tensor) -> int:
    return max(int(torch.float32.itemsize), int(logits.element_size()))


def _single(logits: Tensor) -> Tensor:
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _valid(labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Labels with those that are no class ignored, and how many are left."""
    inside = (labels >= 0) & (labels < classes)
    return torch.where(inside, labels, IGNORED).long(), torch.count_nonzero(inside)


def _total(parts: list[Tensor]) -> float:
    return math.fsum(numbers(parts)) if parts else 0.0


def _nonfinite(logits: Tensor, labels: Tensor) -> float:
    with torch.no_grad():
        parts = _parts((logits,), labels, _width(logits))
        return _total([torch.count_nonzero(~torch.isfinite(part)) for (part,), _ in parts])
