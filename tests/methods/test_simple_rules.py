import numpy as np
import pandas as pd
import pytest

from failbench.base.errors import BadInputError
from failbench.features.catalogue import FEATURES
from failbench.methods.healthy import healthy_band, percentile_band
from failbench.methods.simple_rules import FALLBACK, SIMPLE_RULES, SimpleRules, band_features

FULL = {"memory_warning": 1.0}


@pytest.fixture
def rules(context, run):
    return SimpleRules(context.band).fit(run(), np.array(["optimization"], dtype=object))


def test_a_run_that_no_rule_matches_is_called_optimization(rules, run):
    assert rules.predict(run()).tolist() == [FALLBACK] == ["optimization"]
    missing = run(**{feature.name: np.nan for feature in FEATURES})
    for nothing in (run(), missing):
        assert rules.diagnose(nothing)[0].evidence == ()


@pytest.mark.parametrize(
    ("error_type", "message", "category"),
    [
        ("torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate", "memory_hardware"),
        ("RuntimeError", "[enforce fail] DefaultCPUAllocator: can't alloc", "memory_hardware"),
        ("MemoryError", "", "memory_hardware"),
        ("RuntimeError", "CUDA error: device-side assert triggered", "data_pipeline"),
        ("UnicodeDecodeError", "'utf-8' codec can't decode byte", "data_pipeline"),
        ("JSONDecodeError", "Expecting value: line 1", "data_pipeline"),
        ("ValueError", "embed_dim must be divisible by num_heads", "model_software"),
        ("RuntimeError", "DataLoader worker (pid 7) is killed by signal: Killed.", "unknown"),
    ],
)
def test_documented_wording_is_recognised(rules, run, error_type, message, category):
    assert rules.predict(run(error_type, message)).tolist() == [category]


def changed_in_place(torch):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.add_(1)
    y.sum().backward()


def backward_twice(torch):
    y = torch.ones(2, requires_grad=True).exp().sum()
    y.backward()
    y.backward()


def load(torch, state):
    torch.nn.Linear(2, 3).load_state_dict(state)


RAISED = {
    "an embedding past its end": (
        lambda torch: torch.nn.Embedding(4, 2)(torch.tensor([4])), "data_pipeline"),
    "a checkpoint of another size": (
        lambda torch: load(torch, torch.nn.Linear(2, 4).state_dict()), "model_software"),
    "a checkpoint with other keys": (
        lambda torch: load(torch, {"kernel": torch.ones(1)}), "model_software"),
    "matrices that do not fit": (
        lambda torch: torch.ones(2, 3) @ torch.ones(4, 5), "model_software"),
    "sizes that do not broadcast": (
        lambda torch: torch.ones(2, 3) + torch.ones(2, 4), "model_software"),
    "two types of numbers": (
        lambda torch: torch.nn.Linear(2, 2)(torch.ones(1, 2).double()), "model_software"),
    "changed in place": (changed_in_place, "model_software"),
    "backward twice": (backward_twice, "model_software"),
    "detached": (lambda torch: torch.ones(2).sum().backward(), "model_software"),
    "ragged": (
        lambda torch: torch.stack([torch.ones(2), torch.ones(3)]), "data_pipeline"),  # noqa: PD013
    "more memory than there is": (lambda torch: torch.empty(2**50), "memory_hardware"),
}  # fmt: skip


@pytest.mark.parametrize(("fail", "category"), RAISED.values(), ids=RAISED)
def test_what_pytorch_really_raises_is_recognised(rules, run, fail, category):
    torch = pytest.importorskip("torch")
    with pytest.raises((RuntimeError, IndexError)) as raised:
        fail(torch)
    failed = run(type(raised.value).__name__, str(raised.value))
    assert rules.predict(failed).tolist() == [category]


@pytest.mark.parametrize(
    ("outside", "inside", "category"),
    [
        ({"max_gradient_norm": 1000.1}, {"max_gradient_norm": 1000.0}, "optimization"),
        ({"perplexity": 10_001.0}, {"perplexity": 10_000.0}, "data_pipeline"),
        ({"oov_rate": 1.31}, {"oov_rate": 1.29}, "data_pipeline"),
        ({"vocabulary_coverage": 0.69}, {"vocabulary_coverage": 0.71}, "data_pipeline"),
        (
            FULL | {"memory_growth_rate": 1.31},
            FULL | {"memory_growth_rate": 1.29},
            "memory_hardware",
        ),
        ({"max_loss": 1.31}, {"max_loss": 1.29}, "optimization"),
        ({"loss_trend": 1.31}, {"loss_trend": 1.29}, "optimization"),
    ],
)
def test_a_metric_past_its_threshold_is_evidence_and_one_just_inside_is_not(
    rules, run, outside, inside, category
):
    diagnosis = rules.diagnose(run(**outside))[0]
    assert diagnosis.category == category
    assert {item.signal: item.value for item in diagnosis.evidence} == outside
    assert rules.diagnose(run(**inside))[0].evidence == ()


def test_thresholds_follow_the_settings_and_the_healthy_runs(context, run):
    strict = SimpleRules(context.band, gradient_norm=10, perplexity=50, healthy_sds=1)
    strict.fit(run(), np.array(["unknown"], dtype=object))
    assert strict.predict(run(perplexity=51.0)).tolist() == ["data_pipeline"]
    assert strict.predict(run(oov_rate=1.11)).tolist() == ["data_pipeline"]


def test_a_band_is_mean_and_sample_sd_or_percentiles_of_healthy_runs():
    band = healthy_band(pd.DataFrame({"oov_rate": [1.0, 2.0, 3.0, np.nan]}), ["oov_rate"])
    assert band.upper("oov_rate", 3) == pytest.approx(2 + 3 * 1.0)
    assert band.lower("oov_rate", 3) == pytest.approx(2 - 3 * 1.0)
    values = np.random.default_rng(0).normal(size=30)
    band = percentile_band(pd.DataFrame({"max_loss": values}), ["max_loss"], 0.99)
    assert band.upper("max_loss", 3) == pytest.approx(np.quantile(values, 0.99))
    assert band.lower("max_loss", 3) == pytest.approx(np.quantile(values, 0.01))


@pytest.mark.parametrize(
    "band", [healthy_band, lambda runs, names: percentile_band(runs, names, 0.99)]
)
def test_a_feature_that_a_single_run_has_gives_no_band(band):
    with pytest.raises(BadInputError, match=r"oov_rate: only 1 of 30 runs have it"):
        band(pd.DataFrame({"oov_rate": [np.nan] * 29 + [0.1]}), ["oov_rate"])


def test_a_reader_checks_the_rule_that_matched_and_one_condition_of_each_before_it(rules, run):
    leak = rules.diagnose(run(memory_warning=1.0, memory_growth_rate=2.0))[0]
    position = [rule.name for rule in SIMPLE_RULES].index("memory_leak")
    assert (len(leak.evidence), leak.conditions) == (2, position + 2)
    assert rules.diagnose(run("MemoryError"))[0].conditions == 3
    assert set(band_features()) <= {feature.name for feature in FEATURES}
