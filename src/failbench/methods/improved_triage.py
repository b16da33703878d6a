"""The improved rules for runs with error text: seven refinements of the triage, 19 leaves.

Each node names the source of its reasoning: a section of the paper, or the documentation of a
library.
"""

from __future__ import annotations

from failbench.methods.improved_signals import (
    ANY_ERROR,
    FIRST_BATCH,
    GRADIENT_USUAL,
    KILLED,
    LENGTHS_DIFFER,
    LOW_COVERAGE,
    MEMORY_GROWS,
    MEMORY_USUAL,
    NEAR_CAPACITY,
    NOT_A_LEAK,
    NOT_EXPLOSION,
    NOT_LENGTHS,
    NOT_MEMORY,
    NOT_SHAPES,
    NOT_VOCABULARY,
    OUT_OF_MEMORY,
    PROGRAM,
    READING,
    SHAPES,
    TOKEN_INDEX,
)
from failbench.methods.rule_tree import Abstention, Confirmation, Refinement
from failbench.methods.rules import Declared

Confirm = Confirmation[Declared]
Abstain = Abstention[Declared]
Refine = Refinement[Declared]

ON_OUT_OF_MEMORY = Refine(
    "out_of_memory",
    (ANY_ERROR, OUT_OF_MEMORY),
    (
        Confirm(
            "out_of_memory_at_once",
            (FIRST_BATCH,),
            "memory_hardware",
            (OUT_OF_MEMORY, FIRST_BATCH),
            NOT_SHAPES,
            "the paper's section 3.1: model and batch size against available memory",
        ),
        Confirm(
            "out_of_memory_after_growth",
            (MEMORY_GROWS,),
            "memory_hardware",
            (OUT_OF_MEMORY, MEMORY_GROWS, NEAR_CAPACITY),
            NOT_SHAPES + NOT_LENGTHS,
            "the paper's section 3.1: leaks that cause gradual exhaustion",
        ),
        Confirm(
            "out_of_memory_near_capacity",
            (NEAR_CAPACITY,),
            "memory_hardware",
            (OUT_OF_MEMORY, NEAR_CAPACITY),
            NOT_SHAPES + NOT_LENGTHS,
            "the paper's section 7.2: peak memory crossing capacity is clear evidence",
        ),
        Abstain(
            "out_of_memory_while_it_was_free",
            (),
            "conflict",
            "the paper's section 7.1: allocations also fail because of tensor sizes",
        ),
    ),
    "the paper's section 4.1: 'CUDA out of memory'; PyTorch c10/core/impl/alloc_cpu.cpp",
)

ON_TOKEN_INDEX = Refine(
    "token_index",
    (ANY_ERROR, TOKEN_INDEX),
    (
        Confirm(
            "index_outside_the_vocabulary",
            (LOW_COVERAGE,),
            "data_pipeline",
            (TOKEN_INDEX, LOW_COVERAGE),
            NOT_MEMORY,
            "the paper's section 3.1: tokens that lack corresponding embeddings",
        ),
        Confirm(
            "index_at_the_first_batch",
            (FIRST_BATCH,),
            "data_pipeline",
            (TOKEN_INDEX, FIRST_BATCH),
            NOT_MEMORY,
            "the paper's section 7.3.2: vocabulary mismatch, 'device-side assert triggered'",
        ),
        Confirm(
            "index_past_the_positions",
            (LENGTHS_DIFFER,),
            "model_software",
            (TOKEN_INDEX, LENGTHS_DIFFER),
            NOT_VOCABULARY,
            "transformers, tokenization: a sequence longer than the model's maximum length "
            "'will result in indexing errors'",
        ),
        Confirm(
            "index_in_usual_training",
            (),
            "data_pipeline",
            (TOKEN_INDEX, MEMORY_USUAL),
            NOT_EXPLOSION,
            "the paper's section 7.3.2: usual memory rules exhaustion out",
        ),
    ),
    "torch.nn.functional.embedding: an id past the table",
)

ON_PROGRAM = Refine(
    "program",
    (ANY_ERROR, PROGRAM),
    (
        Confirm(
            "program_fails_at_once",
            (FIRST_BATCH,),
            "model_software",
            (PROGRAM, FIRST_BATCH),
            (),
            "the paper's section 3.1: crashes right away rather than gradual degradation",
        ),
        Confirm(
            "program_fails_in_usual_training",
            (),
            "model_software",
            (PROGRAM, GRADIENT_USUAL),
            (),
            "the paper's section 7.4: sudden failures indicate configuration errors",
        ),
    ),
    "torch.nn.Module.load_state_dict; PyTorch notes, autograd: in-place correctness checks",
)

ON_SHAPES = Refine(
    "shapes_and_types",
    (ANY_ERROR, SHAPES),
    (
        Confirm(
            "shapes_differ_at_once",
            (FIRST_BATCH,),
            "model_software",
            (SHAPES, FIRST_BATCH),
            NOT_MEMORY,
            "the paper's section 3.1: dimension mismatches between model components",
        ),
        Confirm(
            "shapes_follow_the_lengths",
            (LENGTHS_DIFFER,),
            "data_pipeline",
            (SHAPES, LENGTHS_DIFFER),
            NOT_MEMORY + NOT_EXPLOSION,
            "the paper's section 5.2: inconsistencies in sequence length",
        ),
        Confirm(
            "shapes_differ_in_usual_training",
            (),
            "model_software",
            (SHAPES, GRADIENT_USUAL),
            NOT_MEMORY,
            "the paper's section 3.1: size mismatches against actual memory exhaustion",
        ),
    ),
    "PyTorch notes, broadcasting semantics; PyTorch tensor attributes",
)

ON_READING = Refine(
    "reading_data",
    (ANY_ERROR, READING),
    (
        Confirm(
            "reading_fails_at_once",
            (FIRST_BATCH,),
            "data_pipeline",
            (READING, FIRST_BATCH),
            NOT_MEMORY,
            "the paper's section 3.1: corruption from incorrect encodings",
        ),
        Confirm(
            "reading_fails_in_usual_training",
            (),
            "data_pipeline",
            (READING, GRADIENT_USUAL),
            NOT_MEMORY,
            "the paper's section 3.1: corruption from distorted inputs",
        ),
    ),
    "Python library: codecs, json, gzip, pickle; torch.utils.data.default_collate",
)

ON_KILLED = Refine(
    "killed_worker",
    (ANY_ERROR, KILLED),
    (
        Confirm(
            "killed_near_capacity",
            (NEAR_CAPACITY,),
            "memory_hardware",
            (KILLED, NEAR_CAPACITY, MEMORY_GROWS),
            (),
            "Linux, mm/oom_kill.c: processes are killed when memory runs out",
        ),
        Confirm(
            "killed_with_memory_free",
            (),
            "unknown",
            (KILLED, MEMORY_USUAL),
            NOT_A_LEAK,
            "the paper's section 6.12: 'Process killed unexpectedly', truly ambiguous",
        ),
    ),
    "the paper's section 6.12; torch.utils.data: a worker that is killed",
)

ON_OTHER_ERROR = Refine(
    "other_error",
    (ANY_ERROR,),
    (
        Confirm(
            "other_error_at_once",
            (FIRST_BATCH,),
            "model_software",
            (ANY_ERROR, FIRST_BATCH),
            NOT_MEMORY,
            "the paper's section 3.1: software failures usually crash right away",
        ),
        Abstain(
            "other_error_later",
            (),
            "low_confidence",
            "the paper's section 7.4: generic error text needs corroboration",
        ),
    ),
    "the paper's section 7.4: generic error strings",
)

WITH_ERROR: tuple[Refine, ...] = (
    ON_OUT_OF_MEMORY,
    ON_TOKEN_INDEX,
    ON_PROGRAM,
    ON_SHAPES,
    ON_READING,
    ON_KILLED,
    ON_OTHER_ERROR,
)
"""In the order of the triage; the last takes every other error."""
