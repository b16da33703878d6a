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


def gradient_of(logits, labels):
    variable = logits.clone().requires_grad_()
    mean_loss(variable, labels).backward()
    return variable.grad


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("shape", [(11,), (4, 5), (3, 2, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_ratio_is_one_for_the_mean_cross_entropy(memory, shape, last, dtype):
    logits, labels = example(shape, dtype, last)
    expected = mean_loss(logits, labels)
    for factor in (1, 13):
        values = measure_loss(logits, labels, expected * factor)
        assert values["loss"] == pytest.approx(float(expected) * factor)
        assert values["loss_ratio"] == pytest.approx(factor, rel=1e-6)
        assert values["logits_nonfinite"] == 0


def test_no_copy_is_larger_than_the_memory_that_it_may_take(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 2**16)
    logits, labels = torch.randn(64, 32, 64), torch.randint(0, 64, (64, 32))
    known = {tensor.untyped_storage().data_ptr() for tensor in (logits, labels)}
    sizes = []

    class Sizes(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            result = function(*arguments, **(keywords or {}))
            for each in result if isinstance(result, tuple | list) else [result]:
                if isinstance(each, torch.Tensor):
                    storage = each.untyped_storage()
                    sizes.append(0 if storage.data_ptr() in known else storage.nbytes())
            return result

    with Sizes():
        measure_loss(logits, labels, torch.tensor(1.0))
        measure_loss(logits[:, :-1], labels[:, :-1], torch.tensor(1.0))
        measure_output(logits)
        measure_logit_gradient(logits, logits, labels)
    assert 0 < max(sizes) <= 2**16


def test_labels_that_are_no_class_are_left_out_and_logits_that_are_no_number_counted(memory):
    logits, labels = example()
    wrong, left = labels.clone(), labels.clone()
    wrong[0, 1], wrong[1, 1] = CLASSES, -1
    left[0, 1], left[1, 1] = IGNORED, IGNORED
    assert measure_loss(logits, wrong, mean_loss(logits, left))["loss_ratio"] == pytest.approx(1)
    large = measure_loss(logits * 1e37, labels, torch.tensor(1.0))
    assert large["logits_nonfinite"] == 0
    logits[0, 0, 0], logits[1, 2, 3], logits[3, 4, 6] = math.inf, math.nan, -math.inf
    assert measure_loss(logits, labels, torch.tensor(1.0))["logits_nonfinite"] == 3


def test_shapes_that_do_not_fit_and_losses_of_another_kind_are_refused():
    (logits, labels), one = example(), torch.tensor(1.0)
    for shape, other in (((4, 5, 7), (4, 6)), ((4, 7), (5,)), ((7,), (7,)), ((), ())):
        integers = torch.zeros(other, dtype=torch.long)
        with pytest.raises(ValueError, match=r"Labels of shape .* do not fit logits of shape"):
            measure_loss(torch.zeros(shape), integers, one)
    with pytest.raises(ValueError, match="is not one number"):
        measure_loss(logits, labels, torch.ones(2))
    with pytest.raises(ValueError, match="are no classes"):
        measure_loss(logits, labels.float(), one)
    with pytest.raises(ValueError, match="A gradient of shape"):
        measure_logit_gradient(logits[1:], logits, labels)


def test_entropy_is_that_of_the_distributions(memory):
    (logits, labels), (moved, _) = example(), example(last=False)
    entropy = torch.distributions.Categorical(logits=logits.double()).entropy().mean()
    expected = pytest.approx(float(entropy) / math.log(CLASSES), rel=1e-5)
    assert measure_output(logits)["output_entropy"] == expected
    assert measure_output(moved, labels)["output_entropy"] == expected


@pytest.mark.parametrize("last", [True, False])
def test_the_gradient_of_the_mean_has_no_error_and_scale_one_and_others_their_own(memory, last):
    logits, labels = example(last=last)
    for factor in (1, 8):
        values = measure_logit_gradient(gradient_of(logits, labels) * factor, logits, labels)
        assert values["logit_gradient_error"] < 1e-6
        assert values["logit_gradient_scale"] == pytest.approx(factor, rel=1e-6)
    logits, labels = example()
    right = gradient_of(logits, labels).double()
    wrong = right.clone()
    wrong[1] = wrong[0]
    scaled = wrong * right.norm() / wrong.norm()
    expected = float((scaled - right).norm() / right.norm())
    for gradient, error in ((wrong, expected), (-right, 2)):
        values = measure_logit_gradient(gradient, logits, labels)
        assert values["logit_gradient_error"] == pytest.approx(error, rel=1e-5)


def test_a_gradient_of_zero_has_a_scale_alone_and_one_that_is_no_number_has_none():
    logits, labels = example()
    values = measure_logit_gradient(torch.zeros_like(logits), logits, labels)
    assert values == {"logit_gradient_scale": 0}
    gradient = torch.full_like(logits, math.nan)
    assert all(math.isnan(v) for v in measure_logit_gradient(gradient, logits, labels).values())
