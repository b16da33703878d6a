"""Data sets and loaders of PyTorch, and sequences of unequal lengths."""

from __future__ import annotations

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Known,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.networks import batches


def loader(call: Call) -> Value:
    """A new loader.

    Raises
    ------
    ViolationError
        If a batch has no rows, or settings exclude one another.
    """
    names = (
        "dataset",
        "batch_size",
        "shuffle",
        "sampler",
        "batch_sampler",
        "num_workers",
        "collate_fn",
    )
    given = {name: call.arg(place, name) for place, name in enumerate(names)}
    size = given["batch_size"]
    known = settings.constant(size)
    if isinstance(size, Known) and (
        isinstance(known, bool)
        or (isinstance(known, int) and known <= 0)
        or isinstance(known, float)
    ):
        raise ViolationError(
            "ValueError", f"batch_size should be a positive integer value, but got {known}"
        )
    shuffle = call.flag(2, "shuffle")
    sampler = given["sampler"]
    has_sampler = sampler is not None and not (isinstance(sampler, Known) and sampler.data is None)
    if has_sampler and shuffle:
        raise ViolationError("ValueError", "sampler option is mutually exclusive with shuffle")
    if given["batch_sampler"] is not None and (size is not None or shuffle or has_sampler):
        raise ViolationError(
            "ValueError", "batch_sampler option is mutually exclusive with batch_size and shuffle"
        )
    dataset = given["dataset"] or Unknown()
    if shuffle and batches.length(dataset, call.state) == 0:
        raise ViolationError("ValueError", "num_samples should be a positive integer value")
    is_none = isinstance(size, Known) and size.data is None
    count: int | None = (
        1 if size is None else known if isinstance(known, int) else None if is_none else 0
    )
    return Thing("torch.utils.data.DataLoader", {
        "dataset": dataset, "batch_size": count if count != 0 or is_none else 1,
        "shuffle": bool(shuffle) or has_sampler, "collate_fn": given["collate_fn"],
    })  # fmt: skip


def tensors(call: Call) -> Value:
    """Tensors as a data set.

    Raises
    ------
    ViolationError
        If they have other lengths, or are no tensors.
    """
    arrays = [each for each in call.args if isinstance(each, Array)]
    for each in call.args:
        if isinstance(each, Array) and each.home == "numpy":
            raise ViolationError("TypeError", "'int' object is not callable")
        if isinstance(each, (Frame, Sequence)) or (
            isinstance(each, Array) and each.home == "series"
        ):
            raise ViolationError(
                "TypeError" if not isinstance(each, Sequence) else "AttributeError",
                "a data set of tensors",
            )
        if isinstance(each, Array) and each.shape == ():
            raise ViolationError("IndexError", "a tensor without axes has no rows")
    sizes = {each.length for each in arrays if each.length is not None}
    if len(sizes) > 1:
        raise ViolationError("AssertionError", "Size mismatch between tensors")
    return Thing("torch.utils.data.TensorDataset", {"arguments": list(call.args)})


def divided(call: Call) -> Value:
    """A data set in random parts."""
    dataset = call.arg(0, "dataset") or Unknown()
    total = batches.length(dataset, call.state)
    try:
        sizes = call.known(1, "lengths")
    except NotConcreteError:
        return Sequence("list")
    if (
        isinstance(sizes, (list, tuple))
        and total is not None
        and all(isinstance(each, int) for each in sizes)
    ) and sum(sizes) != total:
        raise ViolationError(
            "ValueError", "Sum of input lengths does not equal the length of the input dataset!"
        )
    count = len(sizes) if isinstance(sizes, (list, tuple)) else 0
    parts: list[Value] = [
        Thing("torch.utils.data.Subset", {"dataset": dataset}) for _ in range(count)
    ]
    return Sequence("list", parts)


def padded(call: Call) -> Value:
    """Sequences made as long as the longest."""
    items = iteration.elements(call.first())
    for each in items or []:
        if isinstance(each, (Known, Sequence)):
            raise ViolationError(
                "RuntimeError" if isinstance(each, Known) else "TypeError", "sequences are tensors"
            )
    if items and isinstance(items[0], Array) and items[0].shape is not None:
        return Array("torch", (None, None, *items[0].shape[1:]), items[0].dtype)
    return Array("torch", None, None)


def packed(call: Call) -> Value:
    """Sequences without what pads them."""
    try:
        lengths = concrete(call.arg(1, "lengths"))
    except NotConcreteError:
        return Unknown()
    sorted_first = call.flag(3, "enforce_sorted", default=True)
    if isinstance(lengths, list) and sorted_first and lengths != sorted(lengths, reverse=True):
        raise ViolationError("RuntimeError", "`lengths` array must be sorted in decreasing order")
    if isinstance(lengths, list) and 0 in lengths:
        raise ViolationError("RuntimeError", "Length of all samples has to be greater than 0")
    return Unknown()
