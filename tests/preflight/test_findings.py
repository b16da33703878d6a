"""What a preflight finds, and that PyTorch raises in the same step what is foreseen."""

import pytest
import torch
from torch import nn

from failbench.base.errors import BadInputError
from failbench.preflight.preflight import preflight

ROWS, LENGTH, WIDTH, VOCABULARY = 4, 6, 8, 11


class Language(nn.Module):
    """A language model of one layer."""

    def __init__(self, positions=LENGTH, head=WIDTH):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(positions, WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.head = nn.Linear(head, VOCABULARY)

    def forward(self, input_ids):
        places = torch.arange(input_ids.shape[1])
        return self.head(self.body(self.tokens(input_ids) + self.positions(places)))


class InPlace(Language):
    def forward(self, input_ids):
        hidden = self.tokens(input_ids)
        gate = hidden.sigmoid()
        scaled = hidden * gate
        gate.mul_(0.5)
        return self.head(scaled)


def cross_entropy(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def per_token(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")


def step_of(model=None, batch=None, loss=cross_entropy):
    model = model or Language()
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.arange(ROWS * LENGTH).reshape(ROWS, LENGTH) % VOCABULARY
    return model, optimizer, loss, batch or {"input_ids": ids, "labels": ids.clone()}


def with_value(key, value):
    step = step_of()
    step[3][key][2, 3] = value
    return step


def with_body(body):
    step = step_of()
    step[0].body = body
    return step


def with_labels(change):
    step = step_of()
    step[3]["labels"] = change(step[3]["labels"])
    return step


def raised(model, optimizer, loss, batch):
    """What the real step raises."""
    with pytest.raises((RuntimeError, IndexError)) as caught:
        loss(model(batch["input_ids"]), batch["labels"]).backward()
    return f"{type(caught.value).__name__}: {caught.value}"


def only(findings, severity="crash"):
    (found,) = [each for each in findings if each.severity == severity]
    return found


def test_a_sound_step_has_no_findings():
    report = preflight(*step_of())
    assert report.findings == ()
    assert report.memory.peak < report.capacity_bytes


OUTSIDE = ("index_of_data_outside_table", "token_ids_beyond_table", "tokens")
NO_CLASS = ("label_outside_classes", "label_outside_classes", None)
CRASHES = {
    "a token id beyond the table": (lambda: with_value("input_ids", VOCABULARY), OUTSIDE),
    "a negative token id": (lambda: with_value("input_ids", -1), OUTSIDE),
    "positions past their table": (
        lambda: step_of(Language(positions=LENGTH - 1)),
        ("index_of_model_outside_table", None, "positions"),
    ),
    "a label beyond the classes": (lambda: with_value("labels", VOCABULARY), NO_CLASS),
    "a negative label": (lambda: with_value("labels", -1), NO_CLASS),
    "labels of another type": (lambda: with_labels(lambda ids: ids.int()), (None, None, None)),
    "shapes that do not fit": (
        lambda: step_of(Language(head=2 * WIDTH)),
        (None, "shapes_mismatch", "head"),
    ),
    "a layer of another type": (
        lambda: with_body(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()).double()),
        (None, "types_mixed", "body.0"),
    ),
    "a norm of another type, whatever its message says": (
        lambda: with_body(nn.LayerNorm(WIDTH).double()),
        (None, "types_mixed", "body"),
    ),
    "a value changed in place": (lambda: step_of(InPlace()), (None, "graph_misused", None)),
    "a loss without a graph": (
        lambda: step_of(loss=lambda logits, labels: cross_entropy(logits.detach(), labels)),
        ("loss_without_graph", None, None),
    ),
    "a loss per token": (lambda: step_of(loss=per_token), ("loss_not_scalar", None, None)),
}


@pytest.mark.parametrize("case", CRASHES)
def test_a_step_that_will_crash_is_told_in_the_words_of_the_library(case):
    make, expected = CRASHES[case]
    step = make()
    found = only(preflight(*step).findings)
    for known, actual in zip(expected, (found.id, found.cause, found.where), strict=True):
        assert known in (None, actual)
    assert found.error == raised(*step)


def test_ids_that_the_tokenizer_has_blame_the_model():
    step = with_value("input_ids", VOCABULARY)
    found = only(preflight(*step, vocabulary=VOCABULARY + 5).findings)
    assert (found.id, found.category) == ("index_of_data_outside_model_table", "model_software")


def test_a_batch_without_any_target_makes_the_loss_nan():
    step = with_labels(lambda ids: torch.full_like(ids, -100))
    assert only(preflight(*step).findings, "failure").id == "no_targets"
    assert cross_entropy(step[0](step[3]["input_ids"]), step[3]["labels"]).isnan()


def test_several_crashes_are_all_told_the_first_to_be_met_first():
    step = with_value("input_ids", 99)
    step[3]["labels"][0, 0] = 99
    kinds = [each.id for each in preflight(*step).findings]
    assert kinds == ["index_of_data_outside_table", "label_outside_classes"]


def test_masks_that_choose_positions_are_followed():
    def chosen(logits, labels):
        kept = labels != 3
        return nn.functional.cross_entropy(logits[kept], labels[kept])

    step = step_of(loss=chosen)
    assert preflight(*step).findings == ()
    step[3]["labels"][0, 0] = 99
    assert only(preflight(*step).findings).id == "label_outside_classes"


def test_code_that_asks_for_a_number_of_the_weights_is_not_followed():
    class Asking(Language):
        def forward(self, input_ids):
            logits = super().forward(input_ids)
            return logits if logits.mean() > 0 else -logits

    report = preflight(*step_of(Asking()))
    assert [each.id for each in report.findings] == ["not_followed"]
    assert not report.fails
    assert report.memory is None


def test_a_real_step_on_a_copy_sees_what_shapes_do_not():
    class Dividing(Language):
        def forward(self, input_ids):
            logits = super().forward(input_ids)
            return logits / (logits - logits).sum()

    step = step_of(Dividing())
    before = {name: each.clone() for name, each in step[0].state_dict().items()}
    assert not preflight(*step).fails
    report = preflight(*step, real_step=True)
    assert {each.id for each in report.findings} == {"real_step_not_finite"}
    assert all(torch.equal(each, before[name]) for name, each in step[0].state_dict().items())
    assert not step[1].state


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"model": "a model"}, "model"),
        ({"optimizer": "an optimizer"}, "optimizer"),
        ({"batch": {"input_ids": [1, 2]}}, "batch"),
        ({"capacity_bytes": 0}, "capacity_bytes"),
    ],
)
def test_what_is_no_step_is_refused_in_one_line(changed, field):
    model, optimizer, loss, batch = step_of()
    given = {"model": model, "optimizer": optimizer, "loss": loss, "batch": batch} | changed
    with pytest.raises(BadInputError) as caught:
        preflight(**given)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


# Parameters, optimizers, modes and values


def made():
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.1), nn.Linear(4, 2))
    return model, torch.optim.AdamW(model.parameters(), lr=0.1)


BATCH = (torch.ones(5, 3), torch.zeros(5, dtype=torch.long))


def found_in(model, optimizer, batch=BATCH, **given):
    """Findings by kind."""
    report = preflight(model, optimizer, nn.CrossEntropyLoss(), batch, **given)
    return {each.id: each for each in report.findings}


def test_a_sound_training_has_no_findings():
    assert found_in(*made()) == {}


def test_parameters_of_another_model_in_the_optimizer():
    (model, _), (_, optimizer) = made(), made()
    found = found_in(model, optimizer)["optimizer_of_other_model"]
    assert found.severity == "failure"
    assert "4 parameters" in found.what


def test_a_layer_that_was_replaced_after_the_optimizer_was_made():
    model, optimizer = made()
    model[2] = nn.Linear(4, 2)
    findings = found_in(model, optimizer)
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
    assert found_in(model, optimizer)[kind].severity == severity


def test_everything_frozen_is_a_crash_and_a_part_is_a_note():
    model, optimizer = made()
    model[0].requires_grad_(False)
    part = found_in(model, optimizer)["frozen"]
    assert part.severity == "note"
    assert "16 of 26" in part.what
    model.requires_grad_(False)
    assert found_in(model, optimizer)["nothing_requires_grad"].severity == "crash"


def test_gradients_that_are_off_where_the_step_would_be_taken():
    model, optimizer = made()
    with torch.no_grad():
        assert list(found_in(model, optimizer)) == ["gradients_off"]
        assert not torch.is_grad_enabled()


def test_a_layer_that_the_loss_does_not_use():
    model = nn.ModuleDict({"used": nn.Linear(3, 2), "left": nn.Linear(3, 2)})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (found,) = found_in(
        model, optimizer, forward=lambda model, batch: model["used"](batch[0])
    ).values()
    assert (found.id, found.where) == ("no_gradient", "left.weight")
    assert "50.00%" in found.what


def test_evaluation_mode_counts_where_it_makes_a_difference():
    model, optimizer = made()
    model.eval()
    assert found_in(model, optimizer)["evaluation_mode"].where == "1"
    model[1].p = 0.0
    assert found_in(model, optimizer) == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_of_the_batch_that_are_not_finite(value):
    features = torch.ones(5, 3)
    features[1, 2] = value
    found = found_in(*made(), (features, BATCH[1]))["batch_not_finite"]
    assert (found.where, found.severity) == ("batch[0]", "failure")
    assert "1 of 15" in found.what


def test_minus_infinity_in_a_mask_is_only_noted():
    mask = torch.zeros(5, 3)
    mask[0, 0] = -torch.inf
    batch = {"input": BATCH[0], "mask": mask, "labels": BATCH[1]}
    (found,) = found_in(*made(), batch, forward=lambda model, batch: model(batch["input"])).values()
    assert (found.id, found.where, found.severity) == ("infinite_in_batch", "mask", "note")


def test_a_weight_that_is_nan_before_any_step():
    model, optimizer = made()
    with torch.no_grad():
        model[2].weight[1, 1] = torch.nan
    assert found_in(model, optimizer)["parameter_not_finite"].where == "2.weight"


def test_a_batch_that_was_left_on_another_device():
    findings = found_in(*made(), tuple(each.to("meta") for each in BATCH))
    assert "batch is on meta and the model on cpu" in findings["devices_differ"].what
    assert "step_raises" in findings
