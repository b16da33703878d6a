import math

import pytest

torch = pytest.importorskip("torch")
nn = torch.nn

from failbench.diagnose.inspection.gradients import gradient_table  # noqa: E402
from made_up_training import Texts, Tiny, cross_entropy  # noqa: E402


def model_with_gradients(tied=False):
    torch.manual_seed(0)
    model = Tiny(tied, dropout=0.0)
    batch = Texts(8).rows
    cross_entropy(model(batch[:, :-1]), batch[:, 1:]).backward()
    return model


def by_layer(model, **settings):
    return {each.layer: each for each in gradient_table(model, **settings)}


def test_numbers_are_those_of_the_layers_gradients():
    model = model_with_gradients()
    before = [each.grad.clone() for each in model.parameters()]
    flow = by_layer(model)["mix"]
    parameters = list(model.mix.parameters())
    gradients = torch.cat([each.grad.flatten().double() for each in parameters])
    weights = torch.cat([each.detach().flatten().double() for each in parameters])
    assert (flow.elements, flow.missing) == (len(gradients), 0)
    for value, expected in (
        (flow.norm, gradients.norm()),
        (flow.rms, gradients.square().mean().sqrt()),
        (flow.mean, gradients.abs().mean()),
        (flow.largest, gradients.abs().max()),
        (flow.zero, (gradients == 0).double().mean()),
        (flow.ratio, gradients.norm() / weights.norm()),
    ):
        assert value == pytest.approx(float(expected))
    assert all(map(torch.equal, before, [each.grad for each in model.parameters()]))


def test_frozen_layers_and_those_without_a_gradient_are_told_apart():
    model = model_with_gradients()
    model.tokens.requires_grad_(False)
    for layer in (model.tokens, model.norm, model.output):
        layer.weight.grad = None
    flows = by_layer(model)
    flags = {name: flows[name].flags for name in ("tokens", "output", "norm")}
    assert flags == {"tokens": ("frozen",), "output": ("no gradient",), "norm": ()}
    assert (flows["output"].missing, flows["output"].norm) == (1, None)
    assert flows["norm"].missing == 0.5


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_counted_and_changes_no_other_layer(value):
    model = model_with_gradients()
    expected = by_layer(model)["output"].norm
    model.mix.weight_ih_l0.grad[0, :3] = value
    flows = by_layer(model)
    assert (flows["mix"].flags, flows["mix"].not_finite) == (("not finite",), 3)
    assert not math.isfinite(flows["mix"].norm)
    assert not math.isfinite(flows["mix"].largest)
    assert (flows["output"].flags, flows["output"].norm) == ((), expected)


@pytest.mark.parametrize(
    ("factor", "flag"), [(1e-4, "far below"), (1e4, "far above"), (0.0, "all zero")]
)
def test_a_layer_far_from_the_median_is_flagged_whatever_the_scale_of_all(factor, flag):
    for scale in (1.0, 1e-12):
        model = model_with_gradients()
        for each in model.parameters():
            each.grad.mul_(scale)
        model.output.weight.grad.mul_(factor)
        flows = by_layer(model)
        assert flows["output"].flags == (flag,)
        assert sum(bool(flow.flags) for flow in flows.values()) == 1
    assert by_layer(model, orders=9.0)["output"].flags == (("all zero",) if not factor else ())


def test_sparse_gradients_are_zero_where_nothing_is_stored_and_half_precision_does_not_overflow():
    model = nn.Sequential(nn.Embedding(10, 4, sparse=True))
    model(torch.tensor([1, 1, 3])).sum().backward()
    (flow,) = gradient_table(model)
    assert (flow.zero, flow.largest) == (0.8, 2.0)
    assert flow.norm == pytest.approx(math.sqrt(4 * 4 + 4))
    layer = nn.Linear(64, 64, bias=False).half()
    layer.weight.grad = torch.full_like(layer.weight, 6e4)
    (flow,) = gradient_table(layer)
    assert flow.norm == pytest.approx(64 * 6e4, rel=1e-3)
