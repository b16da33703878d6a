"""The tree of the improved rules: 47 nodes in three levels, as data.

No threshold comes from a failing run: only the weights are learned. The tree was first committed a
day after the first failing runs, so that the history does not show it blind to them. This module
holds the refinements of runs without error text, and the root.
"""

from __future__ import annotations

from failbench.methods.improved_signals import (
    AFTER_FIRST_BATCH,
    CATASTROPHIC,
    FIRST_BATCH,
    GRADIENT_EXPLODES,
    GRADIENT_UNUSUAL,
    GRADIENT_USUAL,
    GRADIENT_VOLATILE,
    LOSS_EXPLODES,
    LOSS_STAGNATES,
    LOW_COVERAGE,
    MEMORY_GROWS,
    MEMORY_USUAL,
    NEAR_CAPACITY,
    NOT_A_LEAK,
    NOT_LENGTHS,
    NOT_VOCABULARY,
    PERPLEXITY_UNUSUAL,
    UNKNOWN_TOKENS,
    against,
)
from failbench.methods.improved_triage import WITH_ERROR, Abstain, Confirm, Refine
from failbench.methods.rule_tree import RuleTree
from failbench.methods.rules import Declared, LeavesBand, StaysInBand, features_of_band

ON_GRADIENT_EXPLOSION = Refine(
    "gradient_explosion",
    (GRADIENT_EXPLODES,),
    (
        Confirm(
            "explosion_that_the_loss_follows",
            (LOSS_EXPLODES,),
            "optimization",
            (GRADIENT_EXPLODES, GRADIENT_VOLATILE, LOSS_EXPLODES),
            NOT_VOCABULARY,
            "the paper's section 7.3.1: norm, variance and loss rise together",
        ),
        Confirm(
            "explosion_that_the_loss_survives",
            (),
            "optimization",
            (GRADIENT_EXPLODES, LeavesBand("mean_gradient_norm", "above")),
            NOT_VOCABULARY + NOT_LENGTHS,
            "the paper's section 7.3.1: the mean norm rises with the largest",
        ),
    ),
    "the paper's sections 4.1 and 7.4: the clearest sign of an optimization failure",
)

ON_LOSS_EXPLOSION = Refine(
    "loss_explosion",
    (LOSS_EXPLODES,),
    (
        Confirm(
            "loss_explodes_on_unknown_tokens",
            (UNKNOWN_TOKENS,),
            "data_pipeline",
            (LOSS_EXPLODES, UNKNOWN_TOKENS, CATASTROPHIC),
            NOT_A_LEAK,
            "the paper's section 3.1: data failures manifest as optimization failures",
        ),
        Confirm(
            "loss_explodes_with_the_gradient",
            (GRADIENT_UNUSUAL,),
            "optimization",
            (LOSS_EXPLODES, GRADIENT_UNUSUAL, GRADIENT_VOLATILE),
            NOT_VOCABULARY,
            "the paper's equation 2 and section 4.3: volatility of the gradient norm",
        ),
        Abstain(
            "loss_explodes_alone",
            (),
            "low_confidence",
            "the paper's section 4.2: one exceedance does not confirm a diagnosis",
        ),
    ),
    "the paper's section 3.1: numerical instabilities",
)

ON_MEMORY = Refine(
    "memory_near_capacity",
    (NEAR_CAPACITY,),
    (
        Confirm(
            "memory_grows_to_capacity",
            (MEMORY_GROWS,),
            "memory_hardware",
            (NEAR_CAPACITY, MEMORY_GROWS),
            NOT_VOCABULARY + against("data_pipeline", CATASTROPHIC),
            "the paper's section 3.1: excessive use that makes the system unstable",
        ),
        Abstain(
            "memory_is_high_and_steady",
            (),
            "low_confidence",
            "PyTorch notes, CUDA semantics: an allocator keeps memory that it does not need",
        ),
    ),
    "the paper's section 4.4: the memory warning",
)

ON_PERPLEXITY = Refine(
    "catastrophic_perplexity",
    (CATASTROPHIC, AFTER_FIRST_BATCH),
    (
        Confirm(
            "perplexity_of_uncovered_text",
            (LOW_COVERAGE,),
            "data_pipeline",
            (CATASTROPHIC, LOW_COVERAGE),
            NOT_A_LEAK,
            "the paper's section 3.1: severe misalignment of data and model",
        ),
        Abstain(
            "perplexity_of_a_loss_that_stagnates",
            (LOSS_STAGNATES,),
            "conflict",
            "the paper's section 7.1: data and optimization alike keep the loss from falling",
        ),
        Confirm(
            "perplexity_of_usual_training",
            (),
            "data_pipeline",
            (CATASTROPHIC, StaysInBand("loss_trend", "above"), GRADIENT_USUAL),
            NOT_A_LEAK,
            "the paper's section 3.1: training and inference tokenizers differ",
        ),
    ),
    "the paper's section 3.1: perplexity above 400 is catastrophic",
)

ON_NO_ALARM = Refine(
    "no_alarm",
    (),
    (
        Abstain(
            "nothing_was_measured",
            (FIRST_BATCH,),
            "missing",
            "the paper's section 4.2: key measurements are unavailable",
        ),
        Confirm(
            "memory_leaks_slowly",
            (MEMORY_GROWS,),
            "memory_hardware",
            (MEMORY_GROWS, LeavesBand("peak_memory", "above")),
            NOT_VOCABULARY,
            "the paper's section 3.1: leaks that cause gradual exhaustion",
        ),
        Confirm(
            "text_became_unknown",
            (UNKNOWN_TOKENS,),
            "data_pipeline",
            (UNKNOWN_TOKENS, PERPLEXITY_UNUSUAL),
            against("optimization", GRADIENT_UNUSUAL),
            "the paper's section 7.1: corpus statistics tell data from optimization",
        ),
        Confirm(
            "loss_stagnates",
            (LOSS_STAGNATES,),
            "optimization",
            (LOSS_STAGNATES, PERPLEXITY_UNUSUAL),
            NOT_VOCABULARY + NOT_LENGTHS,
            "the paper's section 3.1: the objective plateaus despite continuous training",
        ),
        Confirm(
            "everything_looks_usual",
            (),
            "unknown",
            (
                GRADIENT_USUAL,
                MEMORY_USUAL,
                StaysInBand("perplexity", "above"),
                StaysInBand("vocabulary_coverage", "below"),
            ),
            NOT_LENGTHS,
            "the paper's section 3.1: not enough information to identify the cause",
        ),
    ),
    "the paper's section 3.1: failures without error text",
)

TREE: RuleTree[Declared] = RuleTree(
    "error_type",
    (
        *WITH_ERROR,
        ON_GRADIENT_EXPLOSION,
        ON_LOSS_EXPLOSION,
        ON_MEMORY,
        ON_PERPLEXITY,
        ON_NO_ALARM,
    ),
    "the paper's section 4.2: error-type triage at the top level",
)
"""One root, 12 refinements, 34 leaves."""


def band_features() -> tuple[str, ...]:
    """Features whose healthy band some node needs."""
    return features_of_band(TREE.conditions())
