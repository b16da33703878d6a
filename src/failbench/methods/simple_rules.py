"""Simple rules: an ordered list of 23 heuristics, the first match decides.

The wording is that of PyTorch on the CPU and on CUDA, of Hugging Face transformers and of Python
itself, taken from their documentation and source. No rule was added, dropped or moved after seeing
a recorded failure, and no threshold comes from one.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Labels, Probabilities
from failbench.base.method_settings import SimpleRulesSettings
from failbench.base.verdicts import Diagnosis
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.methods.declaration import Context, MethodDeclaration, by_name
from failbench.methods.healthy_band import HealthyBand
from failbench.methods.method import Method
from failbench.methods.rules import (
    Crosses,
    ErrorMatches,
    EvaluatedConditions,
    LeavesBand,
    PassesLimit,
    ResolvedRule,
    Rule,
    features_of_band,
    resolve,
)


def _text(name: str, category: Category, pattern: str, source: str) -> Rule:
    return Rule(name, category, (ErrorMatches(pattern),), source)


SIMPLE_RULES: tuple[Rule, ...] = (
    _text(
        "cuda_out_of_memory",
        "memory_hardware",
        r"CUDA out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED",
        "the paper's section 4.1; PyTorch notes, CUDA semantics",
    ),
    _text(
        "cpu_allocator",
        "memory_hardware",
        r"DefaultCPUAllocator|can't allocate memory|bad_alloc",
        "PyTorch c10/core/impl/alloc_cpu.cpp",
    ),
    _text(
        "python_out_of_memory",
        "memory_hardware",
        r"\bMemoryError\b|Cannot allocate memory|Unable to allocate",
        "Python library, MemoryError; errno ENOMEM; numpy",
    ),
    _text(
        "state_dict_size_mismatch",
        "model_software",
        r"size mismatch",
        "the paper's section 4.1; torch.nn.Module.load_state_dict",
    ),
    _text(
        "state_dict_keys",
        "model_software",
        r"(?:Missing|Unexpected) key\(s\) in state_dict",
        "torch.nn.Module.load_state_dict",
    ),
    _text(
        "matrix_shapes",
        "model_software",
        r"shapes cannot be multiplied|size of tensor .* must match|invalid for input of size"
        r"|must be broadcastable|not broadcastable|Expected size for first two dimensions",
        "PyTorch aten/src/ATen: matrix products, ExpandUtils, view",
    ),
    _text(
        "dtypes",
        "model_software",
        r"expected scalar type|must have the same dtype|expected m1 and m2 to have the same dtype",
        "PyTorch aten/src/ATen: TensorUtils, matrix products",
    ),
    _text(
        "inplace_autograd",
        "model_software",
        r"modified by an inplace operation|leaf Variable that requires grad",
        "PyTorch notes, autograd: in-place correctness checks",
    ),
    _text(
        "backward_twice",
        "model_software",
        r"backward through the graph a second time",
        "torch.autograd, retain_graph",
    ),
    _text(
        "detached_loss",
        "model_software",
        r"does not require grad and does not have a grad_fn",
        "torch.Tensor.backward",
    ),
    _text(
        "head_count",
        "model_software",
        r"divisible by|not a multiple of the number of attention heads",
        "torch.nn.MultiheadAttention; transformers, BERT configuration",
    ),
    _text(
        "index_out_of_range",
        "data_pipeline",
        r"index out of range|out of bounds|device-side assert",
        "torch.nn.functional.embedding on the CPU and on CUDA: an id past the vocabulary",
    ),
    _text(
        "decoding",
        "data_pipeline",
        r"UnicodeDecodeError|codec can't decode",
        "Python library, codecs",
    ),
    _text(
        "collation",
        "data_pipeline",
        r"stack expects each tensor to be equal size|expected sequence of length"
        r"|should be of equal size",
        "torch.stack; torch.tensor; torch.utils.data.default_collate",
    ),
    _text(
        "corrupt_file",
        "data_pipeline",
        r"JSONDecodeError|BadZipFile|BadGzipFile|UnpicklingError|EOFError|FileNotFoundError",
        "Python library: json, zipfile, gzip, pickle",
    ),
    _text(
        "killed",
        "unknown",
        r"\bKilled\b|terminated by signal|killed by signal|exited unexpectedly",
        "the paper's section 6.12: 'Process killed unexpectedly'; torch.utils.data workers",
    ),
    Rule(
        "gradient_explosion",
        "optimization",
        (PassesLimit("max_gradient_norm", "gradient_norm"),),
        "the paper's section 4.1: above 1000",
    ),
    Rule(
        "catastrophic_perplexity",
        "data_pipeline",
        (PassesLimit("perplexity", "perplexity"),),
        "the paper's section 4.1: above 10,000",
    ),
    Rule(
        "unknown_tokens",
        "data_pipeline",
        (LeavesBand("oov_rate", "above"),),
        "the paper's section 3.1: vocabulary mismatch",
    ),
    Rule(
        "low_coverage",
        "data_pipeline",
        (LeavesBand("vocabulary_coverage", "below"),),
        "the paper's section 3.1: vocabulary mismatch",
    ),
    Rule(
        "memory_leak",
        "memory_hardware",
        (Crosses("memory_warning", "above", 0.5), LeavesBand("memory_growth_rate", "above")),
        "the paper's section 3.1: leaks that cause gradual exhaustion",
    ),
    Rule(
        "loss_explosion",
        "optimization",
        (LeavesBand("max_loss", "above"),),
        "the paper's section 3.1: numerical instability",
    ),
    Rule(
        "stagnation",
        "optimization",
        (LeavesBand("loss_trend", "above"),),
        "the paper's section 3.1: loss stagnation",
    ),
)

FALLBACK: Category = "optimization"
"""The paper's section 4.1: 'since optimization problems are the most frequent failure mode'."""


def band_features() -> tuple[str, ...]:
    """Features whose healthy band some rule needs."""
    return features_of_band(condition for rule in SIMPLE_RULES for condition in rule.conditions)


class SimpleRules(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The first of 23 rules that matches decides; if none does, the answer is optimization.

    Nothing is learned from labelled failures: fitting only sets thresholds from healthy runs. The
    method states no uncertainty (section 4.1), so its answer has probability one.
    """

    def __init__(
        self,
        band: HealthyBand,
        gradient_norm: float = 1000.0,
        perplexity: float = 10_000.0,
        healthy_sds: float = 3.0,
    ) -> None:
        self.band = band
        self.gradient_norm = gradient_norm
        self.perplexity = perplexity
        self.healthy_sds = healthy_sds

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:  # noqa: ARG002
        """Fill in the thresholds; the labelled runs are not used."""
        limits = {"gradient_norm": self.gradient_norm, "perplexity": self.perplexity}
        self.rules_: tuple[ResolvedRule, ...] = tuple(
            resolve(rule, self.band, self.healthy_sds, limits) for rule in SIMPLE_RULES
        )
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The category of the first rule that holds, run by run."""
        check_is_fitted(self)
        categories = np.array([rule.category for rule in self.rules_] + [FALLBACK], dtype=object)
        answers: Labels = categories[self._first_match(X)]
        return answers

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """One for the category of the first rule that holds, zero for the others."""
        answers = self.predict(X)
        chosen = answers[:, None] == self.classes_[None, :]
        return np.asarray(chosen, dtype=np.float64)

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The category of each run with the signals of its rule; the fallback has none.

        A reader checks the conditions of that rule and one condition of each earlier rule: one
        that fails shows that the rule did not match.
        """
        check_is_fitted(self)
        evaluated = EvaluatedConditions(X)
        diagnoses = []
        for position, rule_index in enumerate(self._first_match(X).tolist()):
            if rule_index == len(self.rules_):
                diagnoses.append(Diagnosis(FALLBACK, 1.0, conditions=rule_index))
                continue
            rule = self.rules_[rule_index]
            evidence = tuple(
                evaluated.evidence(condition)[position] for condition in rule.conditions
            )
            conditions = rule_index + len(rule.conditions)
            diagnoses.append(Diagnosis(rule.category, 1.0, evidence, conditions))
        return tuple(diagnoses)

    def _first_match(self, X: pd.DataFrame) -> npt.NDArray[np.intp]:
        # [n_runs, n_rules + 1]: the last column is the fallback, which always holds
        holds = np.ones((len(X), len(self.rules_) + 1), dtype=bool)
        for position, rule in enumerate(self.rules_):
            holds[:, position] = rule.holds(X)
        return np.asarray(holds.argmax(axis=1))


def build_simple_rules(settings: SimpleRulesSettings, context: Context) -> Method:
    """The simple rules, their thresholds taken from the healthy band."""
    return SimpleRules(context.band, **settings.model_dump())


DECLARATIONS = by_name(MethodDeclaration("simple_rules", SimpleRulesSettings, build_simple_rules))
