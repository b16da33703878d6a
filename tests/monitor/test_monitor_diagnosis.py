"""A plain loop, a fault that is injected by hand, and what the monitor says of it.

These faults show that measurements, invariants and precedence fit together. They are not the
scenarios of the benchmark, and say nothing of how often the monitor is right.
"""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from failbench.base.vocabulary import ABSTAIN
from failbench.monitor import Monitor, Vocabulary, read_history
from failbench.monitor.bounds import fit_bounds, write_bounds
from failbench.monitor.breaks import Break
from failbench.monitor.diagnosis import diagnose
from failbench.monitor.invariants import CATALOGUE

WORDS, ONSET, STEPS = 64, 30, 60


class Loop:
    """A training loop whose parts a fault replaces."""

    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Sequential(
            nn.Embedding(WORDS, 32), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, WORDS)
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-2)
        self.read = lambda: torch.randint(0, WORDS, (8, 17))
        self.label = lambda ids: ids[:, 1:]
        self.reduction = "mean"
        self.clear = self.optimizer.zero_grad

    def batches(self, fault):
        for step in range(STEPS):
            if step == ONSET:
                fault(self)
            yield self.read()

    def run(self, folder, fault):
        with Monitor(folder, vocabulary=Vocabulary(WORDS)) as monitor:
            monitor.watch(self.model, self.optimizer)
            for ids in monitor.data(self.batches(fault)):
                logits = self.model(ids[:, :-1])
                labels = self.label(ids)
                computed = cross_entropy(
                    logits.flatten(0, 1), labels.flatten(), reduction=self.reduction
                )
                loss = monitor.loss(logits, labels, computed)
                self.clear()
                loss.backward()
                self.optimizer.step()
            return monitor.diagnosis()


def no_fault(_):
    pass


def labels_are_inputs(loop):
    loop.label = lambda ids: ids[:, :-1]


def one_batch(loop):
    ids = loop.read()
    loop.read = lambda: ids


def loss_summed(loop):
    loop.reduction = "sum"


def gradients_kept(loop):
    loop.clear = lambda: None


def layer_frozen(loop):
    loop.model[1].requires_grad_(requires_grad=False)


def weights_changed_by_hand(loop):
    read = loop.read

    def read_and_change():
        with torch.no_grad():
            loop.model[1].weight.mul_(1.01)
        return read()

    loop.read = read_and_change


def evaluation_mode(loop):
    loop.model.eval()


def negative_rate(loop):
    loop.optimizer.param_groups[0]["lr"] = -1e-2


def maximized(loop):
    loop.optimizer.param_groups[0]["maximize"] = True


def momentum_changed(loop):
    loop.optimizer.param_groups[0]["betas"] = (0.1, 0.2)


def more_rows(loop):
    loop.read = lambda: torch.randint(0, WORDS, (32, 17))


@pytest.mark.parametrize(
    ("fault", "invariant", "latest"),
    [
        (labels_are_inputs, "labels_aligned", ONSET),
        (one_batch, "batches_differ", ONSET + 10),
        (loss_summed, "loss_is_mean_cross_entropy", ONSET),
        (gradients_kept, "gradients_cleared", ONSET + 1),
        (layer_frozen, "trainable_kept", ONSET + 1),
        (weights_changed_by_hand, "weights_rest_between_steps", ONSET + 10),
        (evaluation_mode, "modules_training", ONSET + 1),
        (negative_rate, "learning_rate_positive", ONSET + 10),
        (maximized, "minimizes", ONSET + 1),
        (momentum_changed, "hyperparameters_kept", ONSET + 1),
        (more_rows, "batch_not_larger", ONSET + 10),
    ],
)
def test_the_invariant_that_a_fault_breaks_is_the_evidence(tmp_path, fault, invariant, latest):
    diagnosis = Loop().run(tmp_path / "run", fault)
    assert isinstance(diagnosis.decided_by, Break)
    assert diagnosis.decided_by.invariant.id == invariant
    assert ONSET <= diagnosis.decided_by.step <= latest
    assert diagnosis.answer == diagnosis.decided_by.invariant.component
    assert diagnosis.evidence.startswith(f"Step {diagnosis.decided_by.step}: ")


def test_ids_that_the_tokenizer_does_not_have_are_of_the_data_though_the_model_raises(tmp_path):
    def other_tokenizer(loop):
        loop.read = lambda: torch.randint(0, WORDS + 9, (8, 17))

    with pytest.raises(IndexError):
        Loop().run(tmp_path / "run", other_tokenizer)
    diagnosis = diagnose(read_history(tmp_path / "run"), {})
    assert diagnosis.answer == "data_pipeline"
    assert (diagnosis.end.kind, diagnosis.end.phase) == ("exception", "forward")
    assert "IndexError" in diagnosis.evidence


def test_a_healthy_loop_breaks_nothing_and_bounds_fitted_to_it_hold(tmp_path):
    diagnosis = Loop().run(tmp_path / "run", no_fault)
    assert (diagnosis.answer, diagnosis.breaks) == (ABSTAIN, ())
    history = read_history(tmp_path / "run")
    bounds = fit_bounds([history], CATALOGUE, margin=0.0)
    write_bounds(tmp_path / "bounds.json", bounds, 1, "a healthy run")
    assert diagnose(history, bounds).breaks == ()
