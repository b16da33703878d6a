"""Faults that are injected into a plain loop by hand, and what is said of them."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from failbench.base.vocabulary import ABSTAIN
from failbench.monitor import Monitor, Vocabulary, read_history
from failbench.monitor.bounds import fit_bounds
from failbench.monitor.breaks import Break
from failbench.monitor.diagnosis import diagnose
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.records import first_break

WORDS, ONSET, STEPS = 64, 30, 60


def ids(rows=8, words=WORDS):
    return lambda: torch.randint(0, words, (rows, 17))


class Loop:
    def __init__(self):
        torch.manual_seed(0)
        layers = nn.Embedding(WORDS, 32), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, WORDS)
        self.model = nn.Sequential(*layers)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-2)
        self.read = ids()
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
                logits, labels = self.model(ids[:, :-1]), self.label(ids)
                flat = logits.flatten(0, 1), labels.flatten()
                loss = monitor.loss(logits, labels, cross_entropy(*flat, reduction=self.reduction))
                self.clear()
                loss.backward()
                self.optimizer.step()
            return monitor.diagnosis()


def replaced(**parts):
    return lambda loop: vars(loop).update(parts)


def group(**values):
    return lambda loop: loop.optimizer.param_groups[0].update(values)


def one_batch(loop):
    ids = loop.read()
    loop.read = lambda: ids


def weights_changed_by_hand(loop):
    loop.read = lambda: loop.model[1].weight.data.mul_(1.01) is None or ids()()


@pytest.mark.parametrize(
    ("fault", "invariant", "latest"),
    [
        (replaced(label=lambda ids: ids[:, :-1]), "labels_aligned", ONSET),
        (one_batch, "batches_differ", ONSET + 10),
        (replaced(reduction="sum"), "loss_is_mean_cross_entropy", ONSET),
        (replaced(clear=lambda: None), "gradients_cleared", ONSET + 1),
        (lambda loop: loop.model[1].requires_grad_(False), "trainable_kept", ONSET + 1),
        (weights_changed_by_hand, "weights_rest_between_steps", ONSET + 10),
        (lambda loop: loop.model.eval(), "modules_training", ONSET + 1),
        (group(lr=-1e-2), "learning_rate_positive", ONSET + 10),
        (group(maximize=True), "minimizes", ONSET + 1),
        (group(betas=(0.1, 0.2)), "hyperparameters_kept", ONSET + 1),
        (replaced(read=ids(rows=32)), "batch_not_larger", ONSET + 10),
    ],
)
def test_the_invariant_that_a_fault_breaks_is_the_evidence(tmp_path, fault, invariant, latest):
    diagnosis = Loop().run(tmp_path / "run", fault)
    (broken,) = (each for each in diagnosis.breaks if each.invariant.id == invariant)
    assert ONSET <= broken.step <= latest
    shown = [each for each in diagnosis.said.findings if each.id == invariant]
    assert [each.step for each in shown] == [broken.step]
    by_hand = first_break.diagnose(read_history(tmp_path / "run"), {})
    assert isinstance(by_hand.decided_by, Break)
    assert by_hand.decided_by.invariant.id == invariant
    assert by_hand.answer == broken.invariant.component


def test_ids_that_the_tokenizer_does_not_have_are_of_the_data_though_the_model_raises(tmp_path):
    with pytest.raises(IndexError):
        Loop().run(tmp_path / "run", replaced(read=ids(words=WORDS + 9)))
    diagnosis = diagnose(read_history(tmp_path / "run"), {})
    assert diagnosis.answer == "data_pipeline"
    assert diagnosis.said.hypotheses[0].cause.id == "token_ids_beyond_table"
    assert (diagnosis.end.kind, diagnosis.end.phase) == ("exception", "forward")
    assert diagnosis.end.error == "IndexError"


def test_a_healthy_loop_breaks_nothing_and_bounds_fitted_to_it_hold(tmp_path):
    diagnosis = Loop().run(tmp_path / "run", lambda loop: None)
    assert diagnosis.breaks == ()
    history = read_history(tmp_path / "run")
    bounds = fit_bounds([history], CATALOGUE, margin=0.0)
    assert diagnose(history, bounds).breaks == ()
    assert first_break.diagnose(history, bounds).answer == ABSTAIN
