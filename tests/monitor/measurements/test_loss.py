"""The loss is recomputed as PyTorch computes it, in any layout and in little memory."""

import math

import pytest
import torch
from torch.nn import functional

from failbench.monitor.measurements import loss as module
from failbench.monitor.measurements.labels import IGNORED
from failbench.monitor.measurements.loss import measure_logit_gradient, measure_loss, measure_output

CLASSES = 7


@pytest.fixture(params=[None, 400], ids=["whole", "parts"])
def memory(request, monkeypatch):
    """Also with so little memory that positions are measured a few at a time."""
    if request.param:
        monkeypatch.setattr(module, "MOST_BYTES", request.param)


def example(shape=(4, 5), dtype=torch.float32, last=True):
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(*shape, CLASSES, generator=generator, dtype=torch.double).mul(3).to(dtype)
    labels = torch.randint(0, CLASSES, shape, generator=generator)
    labels.reshape(-1)[::3] = IGNORED
    return (logits if last else logits.movedim(-1, 1)), labels


def mean_loss(logits, labels):
    wide = logits.double()
    wide = wide.movedim(-1, 1) if wide.dim() > 2 and wide.shape[-1] == CLASSES else wide
    return functional.cross_entropy(wide, labels)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("shape", [(11,), (4, 5), (3, 2, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_ratio_is_one_for_the_mean_cross_entropy(memory, shape, last, dtype):
    logits, labels = example(shape, dtype, last)
    expected = mean_loss(logits, labels)
    values = measure_loss(logits, labels, expected)
    assert values["loss"] == pytest.approx(float(expected))
    assert values["loss_ratio"] == pytest.approx(1, abs=1e-6)
    assert values["logits_nonfinite"] == 0
    summed = measure_loss(logits, labels, expected * 13)
    assert summed["loss_ratio"] == pytest.approx(13, rel=1e-6)


def test_no_copy_is_larger_than_the_memory_that_it_may_take(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 2**16)
    logits, labels = torch.randn(64, 32, 64), torch.randint(0, 64, (64, 32))
    largest = 0

    class Largest(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            nonlocal largest
            result = function(*arguments, **(keywords or {}))
            known = {tensor.untyped_storage().data_ptr() for tensor in (logits, labels)}
            for tensor in result if isinstance(result, tuple | list) else [result]:
                if not isinstance(tensor, torch.Tensor):
                    continue
                storage = tensor.untyped_storage()
                if storage.data_ptr() not in known:
                    largest = max(largest, storage.nbytes())
            return result

    with Largest():
        measure_loss(logits, labels, torch.tensor(1.0))
        measure_loss(logits[:, :-1], labels[:, :-1], torch.tensor(1.0))
        measure_output(logits)
        measure_logit_gradient(logits, logits, labels)
    assert 0 < largest <= 2**16


def test_labels_that_are_no_class_are_left_out():
    logits, labels = example()
    wrong = labels.clone()
    wrong[0, 1], wrong[1, 1] = CLASSES, -1
    left = wrong.clone()
    left[0, 1], left[1, 1] = IGNORED, IGNORED
    assert measure_loss(logits, wrong, mean_loss(logits, left))["loss_ratio"] == pytest.approx(1)


def test_logits_that_are_no_number_are_counted(memory):
    logits, labels = example()
    logits[0, 0, 0], logits[1, 2, 3], logits[3, 4, 6] = math.inf, math.nan, -math.inf
    assert measure_loss(logits, labels, torch.tensor(1.0))["logits_nonfinite"] == 3
    logits, _ = example()
    assert measure_loss(logits * 1e37, labels, torch.tensor(1.0))["logits_nonfinite"] == 0


@pytest.mark.parametrize(
    ("logits", "labels"), [((4, 5, 7), (4, 6)), ((4, 7), (5,)), ((7,), (7,)), ((), ())]
)
def test_shapes_that_do_not_fit_are_named(logits, labels):
    integers = torch.zeros(labels, dtype=torch.long)
    with pytest.raises(ValueError, match=r"Labels of shape .* do not fit logits of shape"):
        measure_loss(torch.zeros(logits), integers, torch.tensor(1.0))


def test_losses_of_another_kind_are_refused():
    logits, labels = example()
    with pytest.raises(ValueError, match="is not one number"):
        measure_loss(logits, labels, torch.ones(2))
    with pytest.raises(ValueError, match="are no classes"):
        measure_loss(logits, labels.float(), torch.tensor(1.0))
    with pytest.raises(ValueError, match="A gradient of shape"):
        measure_logit_gradient(logits[1:], logits, labels)


def test_entropy_is_that_of_the_distributions(memory):
    logits, labels = example()
    expected = torch.distributions.Categorical(logits=logits.double()).entropy().mean()
    values = measure_output(logits)
    assert values["output_entropy"] == pytest.approx(float(expected) / math.log(CLASSES), rel=1e-5)
    moved, _ = example(last=False)
    assert measure_output(moved, labels)["output_entropy"] == pytest.approx(
        values["output_entropy"]
    )


def gradient_of(logits, labels, loss):
    variable = logits.clone().requires_grad_()
    loss(variable, labels).backward()
    return variable.grad


@pytest.mark.parametrize("last", [True, False])
def test_the_gradient_of_the_mean_has_no_error_and_scale_one(memory, last):
    logits, labels = example(last=last)
    gradient = gradient_of(logits, labels, mean_loss)
    values = measure_logit_gradient(gradient, logits, labels)
    assert values["logit_gradient_error"] < 1e-6
    assert values["logit_gradient_scale"] == pytest.approx(1, rel=1e-6)
    summed = measure_logit_gradient(gradient * 8, logits, labels)
    assert summed["logit_gradient_error"] < 1e-6
    assert summed["logit_gradient_scale"] == pytest.approx(8, rel=1e-6)


def test_the_error_is_that_of_the_gradients_themselves(memory):
    logits, labels = example()
    right = gradient_of(logits, labels, mean_loss).double()
    wrong = right.clone()
    wrong[1] = wrong[0]
    scaled = wrong * right.norm() / wrong.norm()
    values = measure_logit_gradient(wrong, logits, labels)
    expected = float((scaled - right).norm() / right.norm())
    assert values["logit_gradient_error"] == pytest.approx(expected, rel=1e-5)
    assert measure_logit_gradient(-right, logits, labels)["logit_gradient_error"] == pytest.approx(
        2
    )


def test_a_gradient_of_zero_has_a_scale_alone():
    logits, labels = example()
    values = measure_logit_gradient(torch.zeros_like(logits), logits, labels)
    assert values == {"logit_gradient_scale": 0}


def test_a_gradient_that_is_no_number_gives_none():
    logits, labels = example()
    gradient = torch.full_like(logits, math.nan)
    assert all(math.isnan(v) for v in measure_logit_gradient(gradient, logits, labels).values())


def test_nothing_of_the_users_is_changed():
    logits, labels = example()
    logits.requires_grad_()
    loss = mean_loss(logits, labels)
    versions = logits._version, labels._version
    before = logits.detach().clone(), labels.clone()
    measure_loss(logits, labels, loss)
    measure_output(logits)
    measure_logit_gradient(logits.detach(), logits, labels)
    assert (logits._version, labels._version) == versions
    assert torch.equal(logits.detach(), before[0])
    assert torch.equal(labels, before[1])
    assert logits.grad is None
