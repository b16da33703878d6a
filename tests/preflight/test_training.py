"""What a preflight says of parameters, optimizers, modes and values."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="a preflight looks at a live process")

from torch import nn  # noqa: E402

from failbench.preflight.preflight import preflight  # noqa: E402


def made():
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.1), nn.Linear(4, 2))
    return model, torch.optim.AdamW(model.parameters(), lr=0.1)


BATCH = (torch.ones(5, 3), torch.zeros(5, dtype=torch.long))


def said(model, optimizer, batch=BATCH):
    """Kinds of findings with their places."""
    report = preflight(model, optimizer, nn.CrossEntropyLoss(), batch)
    return {each.id: each for each in report.findings}


def test_a_sound_training_has_none():
    assert said(*made()) == {}


def test_parameters_of_another_model_in_the_optimizer():
    (model, _), (_, optimizer) = made(), made()
    found = said(model, optimizer)["optimizer_of_other_model"]
    assert found.severity == "failure"
    assert "4 parameters" in found.what


def test_a_layer_that_was_replaced_after_the_optimizer_was_made():
    model, optimizer = made()
    model[2] = nn.Linear(4, 2)
    findings = said(model, optimizer)
    assert findings["not_in_optimizer"].where == "2.weight"
    assert "2 of 4" in findings["strangers_in_optimizer"].what


@pytest.mark.parametrize(
    ("rate", "kind", "severity"),
    [
        (0.0, "rate_zero", "warning"),
        (-0.1, "rate_not_positive", "failure"),
        (float("nan"), "rate_not_finite", "failure"),
        (float("inf"), "rate_not_finite", "failure"),
    ],
)
def test_rates_that_move_nothing_or_the_wrong_way(rate, kind, severity):
    model, optimizer = made()
    optimizer.param_groups[0]["lr"] = rate
    assert said(model, optimizer)[kind].severity == severity


def test_everything_frozen_is_a_crash_and_a_part_is_a_note():
    model, optimizer = made()
    model[0].requires_grad_(False)
    part = said(model, optimizer)["frozen"]
    assert part.severity == "note"
    assert "16 of 26" in part.what
    model.requires_grad_(False)
    assert said(model, optimizer)["nothing_requires_grad"].severity == "crash"


def test_gradients_that_are_off_where_the_step_would_be_taken():
    model, optimizer = made()
    with torch.no_grad():
        assert list(said(model, optimizer)) == ["gradients_off"]
        assert not torch.is_grad_enabled()


def test_a_layer_that_the_loss_does_not_use():
    model = nn.ModuleDict({"used": nn.Linear(3, 2), "left": nn.Linear(3, 2)})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    report = preflight(
        model,
        optimizer,
        nn.CrossEntropyLoss(),
        BATCH,
        forward=lambda model, batch: model["used"](batch[0]),
    )
    (found,) = report.findings
    assert (found.id, found.where) == ("no_gradient", "left.weight")
    assert "50.00%" in found.what


def test_evaluation_mode_counts_where_it_makes_a_difference():
    model, optimizer = made()
    model.eval()
    assert said(model, optimizer)["evaluation_mode"].where == "1"
    model[1].p = 0.0
    assert said(model, optimizer) == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_of_the_batch_that_are_not_finite(value):
    features = torch.ones(5, 3)
    features[1, 2] = value
    found = said(*made(), (features, BATCH[1]))["batch_not_finite"]
    assert (found.where, found.severity) == ("batch[0]", "failure")
    assert "1 of 15" in found.what


def test_minus_infinity_in_a_mask_is_only_noted():
    model, optimizer = made()
    mask = torch.zeros(5, 3)
    mask[0, 0] = -torch.inf
    batch = {"input": BATCH[0], "mask": mask, "labels": BATCH[1]}
    report = preflight(
        model,
        optimizer,
        nn.CrossEntropyLoss(),
        batch,
        forward=lambda model, batch: model(batch["input"]),
    )
    assert [(each.id, each.where) for each in report.findings] == [("infinite_in_batch", "mask")]
    assert not report.fails


def test_a_weight_that_is_nan_before_any_step():
    model, optimizer = made()
    with torch.no_grad():
        model[2].weight[1, 1] = torch.nan
    assert said(model, optimizer)["parameter_not_finite"].where == "2.weight"


def test_a_batch_that_was_left_on_another_device():
    model, optimizer = made()
    report = preflight(
        model, optimizer, nn.CrossEntropyLoss(), tuple(each.to("meta") for each in BATCH)
    )
    findings = {each.id: each for each in report.findings}
    assert "batch is on meta and the model on cpu" in findings["devices_differ"].what
    assert "step_raises" in findings
