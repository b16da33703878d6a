"""Measurements of a model: its parameters, its modes and its weights."""

from __future__ import annotations

import math
from typing import Final

import torch
from torch import Tensor, nn

from failbench.monitor.measurements.members import Members
from failbench.monitor.measurements.reductions import exact_norm, is_finite, norms, numbers

_DROPOUT: Final = (
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.Dropout3d,
    nn.AlphaDropout,
    nn.FeatureAlphaDropout,
)

_EMBEDDINGS: Final = (nn.Embedding, nn.EmbeddingBag)


class ModelMeasurement:
    """Measures a model between its steps."""

    def __init__(self, model: nn.Module) -> None:
        self._members = Members(model)

    def structure(self) -> dict[str, float]:
        """Measure what parameters there are, and the modes of modules; quick at every step."""
        modules, named = self._members.modules_and_named
        distinct = list({id(parameter): parameter for parameter in named}.values())
        storages = {_storage(parameter) for parameter in named}
        types = {parameter.dtype for parameter in distinct if parameter.is_floating_point()}
        trainable = sum(parameter.numel() for parameter in distinct if parameter.requires_grad)
        return {
            "parameters": float(sum(parameter.numel() for parameter in distinct)),
            "trainable_parameters": float(trainable),
            "parameter_types": float(len(types)),
            "shared_parameters": float(len(named) - len(storages)),
            "modules_in_evaluation": float(sum(not module.training for module in modules)),
            "dropout": max(map(_dropout, modules), default=0.0),
        }

    def weights(self) -> dict[str, float]:
        """Measure the values of the parameters."""
        modules = self._members.modules
        embeddings = {id(each.weight) for each in modules if isinstance(each, _EMBEDDINGS)}
        transposed = {id(each.weight) for each in modules if _is_transposed(each)}
        parameters = [each for each in self._members.parameters if each.numel()]
        nonfinite, squares, averages, gains = 0, [], [], []
        with torch.no_grad():
            detached = [parameter.detach() for parameter in parameters]
            for parameter, weight, norm in zip(parameters, detached, norms(detached), strict=True):
                if not math.isfinite(norm) and not is_finite(weight):
                    nonfinite += 1
                elif sum(size > 1 for size in weight.shape) > 1 and not weight.is_complex():
                    length = norm if math.isfinite(norm) else exact_norm(weight)
                    square = length**2 / weight.numel()
                    squares.append(square)
                    averages.append(
                        weight.mean(dtype=torch.promote_types(weight.dtype, torch.float32))
                    )
                    if id(parameter) not in embeddings:
                        outputs = weight.shape[1 if id(parameter) in transposed else 0]
                        gains.append(math.sqrt(square * weight.numel() / outputs))
            means = numbers(averages)
        values = {"weights_nonfinite": float(nonfinite)}
        if means:
            values["weight_spread"] = min(map(_spread, means, squares))
        if gains:
            values["weight_gain"] = max(gains)
        return values


def measure_indices(ids: Tensor, rows: int) -> float:
    """Indices that a table of so many rows does not have."""
    if not ids.numel():
        return 0.0
    ids = ids.detach()
    low, high = torch.aminmax(ids)
    if int(low) >= 0 and int(high) < rows:
        return 0.0
    return float(torch.count_nonzero((ids < 0) | (ids >= rows)))


def _storage(parameter: Tensor) -> int:
    """What tells storages apart; a parameter without a memory of its own is one itself."""
    return parameter.untyped_storage().data_ptr() or id(parameter)


def _dropout(module: nn.Module) -> float:
    if not module.training:
        return 0.0
    if isinstance(module, _DROPOUT):
        return float(module.p)
    return float(module.dropout) if isinstance(module, nn.MultiheadAttention) else 0.0


def _is_transposed(module: nn.Module) -> bool:
    """Whether the first dimension of a weight is that of the inputs, as in GPT-2's linear maps."""
    return type(module).__name__ == "Conv1D" and hasattr(module, "nf")


def _spread(mean: float, square: float) -> float:
    """Standard deviation over root mean square, to 0.001; 0 where all values are 0."""
    return math.sqrt(max(0.0, 1 - mean**2 / square)) if square else 0.0
