"""The named signals of the improved rules.

The wording of errors is that of the simple rules. Limits are the paper's, thresholds those of the
healthy band: healthy runs alone decide which memory, loss or gradient norm is unusual.
"""

from __future__ import annotations

from failbench.base.vocabulary import Category
from failbench.methods.rule_tree import Indicator
from failbench.methods.rules import (
    Crosses,
    Declared,
    ErrorMatches,
    LeavesBand,
    PassesLimit,
    StaysInBand,
)
from failbench.methods.simple_rules import SIMPLE_RULES


def _wording(*names: str) -> ErrorMatches:
    first = {rule.name: rule.conditions[0] for rule in SIMPLE_RULES}
    conditions = (first[name] for name in names)
    texts = [condition.pattern for condition in conditions if isinstance(condition, ErrorMatches)]
    return ErrorMatches("|".join(texts))


ANY_ERROR = ErrorMatches(r"^[^:]+")
"""The words that match are the type of the error."""
OUT_OF_MEMORY = _wording("cuda_out_of_memory", "cpu_allocator", "python_out_of_memory")
TOKEN_INDEX = _wording("index_out_of_range")
PROGRAM = _wording(
    "state_dict_size_mismatch",
    "state_dict_keys",
    "inplace_autograd",
    "backward_twice",
    "detached_loss",
)
SHAPES = _wording("matrix_shapes", "dtypes", "head_count")
READING = _wording("decoding", "collation", "corrupt_file")
KILLED = _wording("killed")

FIRST_BATCH = Crosses("steps_before_failure", "below", 2)
"""Section 7.3.2: 'training crashes at the first batch', before anything could be observed."""
AFTER_FIRST_BATCH = Crosses("steps_before_failure", "above", 1)
"""An untrained model has the perplexity of chance, which is no sign of the data."""
NEAR_CAPACITY = Crosses("memory_warning", "above", 0.5)
MEMORY_GROWS = LeavesBand("memory_growth_rate", "above")
MEMORY_USUAL = StaysInBand("peak_memory", "above")
GRADIENT_EXPLODES = PassesLimit("max_gradient_norm", "gradient_norm")
GRADIENT_UNUSUAL = LeavesBand("max_gradient_norm", "above")
GRADIENT_USUAL = StaysInBand("max_gradient_norm", "above")
GRADIENT_VOLATILE = LeavesBand("gradient_norm_variance", "above")
LOSS_EXPLODES = LeavesBand("max_loss", "above")
LOSS_STAGNATES = LeavesBand("loss_trend", "above")
CATASTROPHIC = PassesLimit("perplexity", "catastrophic_perplexity")
PERPLEXITY_UNUSUAL = LeavesBand("perplexity", "above")
UNKNOWN_TOKENS = LeavesBand("oov_rate", "above")
LOW_COVERAGE = LeavesBand("vocabulary_coverage", "below")
LENGTHS_DIFFER = LeavesBand("sequence_length_spread", "above")


def against(category: Category, *conditions: Declared) -> tuple[Indicator[Declared], ...]:
    """Signals of a category that is incompatible with a leaf."""
    return tuple(Indicator(category, condition) for condition in conditions)


NOT_MEMORY = against("memory_hardware", NEAR_CAPACITY)
NOT_A_LEAK = against("memory_hardware", MEMORY_GROWS)
NOT_SHAPES = against("model_software", SHAPES)
NOT_VOCABULARY = against("data_pipeline", UNKNOWN_TOKENS, LOW_COVERAGE)
NOT_LENGTHS = against("data_pipeline", LENGTHS_DIFFER)
NOT_EXPLOSION = against("optimization", GRADIENT_EXPLODES)
