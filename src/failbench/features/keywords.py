"""Keywords of error text, from documentation; words of recorded failures would leak."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Keyword:
    """A feature that is 1 where the error text matches, else 0."""

    name: str
    pattern: str
    source: str


KEYWORDS: tuple[Keyword, ...] = (
    Keyword("cuda", r"cuda", "the paper's Table 6; PyTorch notes, CUDA semantics"),
    Keyword("allocation", r"allocat", "the paper's Table 6; PyTorch c10/core/CPUAllocator"),
    Keyword("memory", r"memory", "PyTorch FAQ, 'My model reports cuda runtime error(2)'"),
    Keyword("nan", r"\bnan\b|\binf\b|non-?finite|anomaly", "the paper's Table 6; torch.autograd"),
    Keyword("out_of_range", r"out of (range|bounds)|index_?error", "torch.nn.functional.embedding"),
    Keyword("shape", r"shape|dimension", "PyTorch notes, broadcasting semantics"),
    Keyword("size", r"\bsizes?\b", "torch.nn.Module.load_state_dict; torch.stack"),
    Keyword("mismatch", r"mismatch|must match|not match", "torch.nn.Module.load_state_dict"),
    Keyword("dtype", r"dtype|scalar type", "torch.Tensor.to; PyTorch tensor attributes"),
    Keyword(
        "state_dict", r"state_dict|(missing|unexpected) key", "torch.nn.Module.load_state_dict"
    ),
    Keyword("inplace", r"in-?place", "PyTorch notes, autograd: in-place correctness checks"),
    Keyword("backward", r"backward|retain_graph", "torch.Tensor.backward"),
    Keyword("requires_grad", r"requires? grad|requires_grad|grad_fn", "torch.Tensor.backward"),
    Keyword("decode", r"decod|codec|utf-8", "Python library, UnicodeDecodeError"),
    Keyword("collate", r"stack|collate|equal size", "torch.utils.data.default_collate"),
    Keyword("corrupt", r"corrupt|truncated|unexpected end|\beof", "Python library: zlib, pickle"),
    Keyword("divisible", r"divisible|multiple of", "torch.nn.MultiheadAttention"),
)
