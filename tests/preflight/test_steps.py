"""What a preflight says of steps that would raise, and what PyTorch raises of the same step."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="a preflight looks at a live process")

from torch import nn  # noqa: E402

from failbench.base.errors import BadInputError  # noqa: E402
from failbench.preflight.preflight import preflight  # noqa: E402

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


def cross_entropy(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def step_of(model=None, batch=None, loss=cross_entropy):
    model = model or Language()
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.arange(ROWS * LENGTH).reshape(ROWS, LENGTH) % VOCABULARY
    return model, optimizer, loss, batch or {"input_ids": ids, "labels": ids.clone()}


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


@pytest.mark.parametrize("value", [VOCABULARY, -1])
def test_a_token_id_outside_the_table_is_named_with_its_key_and_module(value):
    step = step_of()
    step[3]["input_ids"][2, 3] = value
    found = only(preflight(*step).findings)
    assert found.id == "index_of_data_outside_table"
    assert (found.where, found.cause) == ("tokens", "token_ids_beyond_table")
    assert "input_ids" in found.what
    assert found.error == raised(*step)


def test_ids_that_the_tokenizer_has_blame_the_model():
    step = step_of()
    step[3]["input_ids"][0, 0] = VOCABULARY
    found = only(preflight(*step, vocabulary=VOCABULARY + 5).findings)
    assert (found.id, found.category) == ("index_of_data_outside_model_table", "model_software")


def test_positions_past_their_table_are_the_models_own():
    step = step_of(Language(positions=LENGTH - 1))
    found = only(preflight(*step).findings)
    assert (found.id, found.where) == ("index_of_model_outside_table", "positions")
    assert found.error == raised(*step)


@pytest.mark.parametrize("value", [VOCABULARY, -1])
def test_a_label_that_is_no_class_is_named(value):
    step = step_of()
    step[3]["labels"][0, 0] = value
    found = only(preflight(*step).findings)
    assert (found.id, found.cause) == ("label_outside_classes", "label_outside_classes")
    assert found.error == raised(*step)


def test_a_batch_without_any_target_makes_the_loss_nan():
    step = step_of()
    step[3]["labels"][:] = -100
    assert only(preflight(*step).findings, "failure").id == "no_targets"
    assert cross_entropy(step[0](step[3]["input_ids"]), step[3]["labels"]).isnan()


def test_shapes_that_do_not_fit_are_told_in_the_words_of_the_library():
    step = step_of(Language(head=2 * WIDTH))
    found = only(preflight(*step).findings)
    assert (found.where, found.cause) == ("head", "shapes_mismatch")
    assert found.error == raised(*step)


def test_a_layer_of_another_type_is_found_where_it_is():
    step = step_of()
    step[0].body.double()
    found = only(preflight(*step).findings)
    assert (found.where, found.cause) == ("body.0", "types_mixed")
    assert found.error == raised(*step)


def test_a_norm_of_another_type_is_one_of_types_whatever_its_message_says():
    step = step_of()
    step[0].body = nn.LayerNorm(WIDTH).double()
    found = only(preflight(*step).findings)
    assert (found.where, found.cause) == ("body", "types_mixed")
    assert found.error == raised(*step)


def test_labels_of_another_type_are_refused_as_the_loss_refuses_them():
    step = step_of()
    step[3]["labels"] = step[3]["labels"].int()
    found = only(preflight(*step).findings)
    assert found.error == raised(*step)


def test_a_value_changed_in_place_stops_the_backward_pass():
    class InPlace(Language):
        def forward(self, input_ids):
            hidden = self.tokens(input_ids)
            gate = hidden.sigmoid()
            scaled = hidden * gate
            gate.mul_(0.5)
            return self.head(scaled)

    step = step_of(InPlace())
    found = only(preflight(*step).findings)
    assert "backward pass" in found.what
    assert found.cause == "graph_misused"
    assert found.error == raised(*step)


def test_a_loss_without_a_graph_cannot_go_back():
    step = step_of(loss=lambda logits, labels: cross_entropy(logits.detach(), labels))
    found = only(preflight(*step).findings)
    assert found.id == "loss_without_graph"
    assert found.error == raised(*step)


def test_a_loss_per_token_cannot_go_back():
    step = step_of(
        loss=lambda logits, labels: nn.functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), reduction="none"
        )
    )
    found = only(preflight(*step).findings)
    assert found.id == "loss_not_scalar"
    assert found.error == raised(*step)


def test_several_crashes_are_all_told_the_first_to_be_met_first():
    step = step_of()
    step[3]["input_ids"][0, 0] = 99
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
        ({"loss": None, "batch": {"input_ids": torch.zeros(2, 3).long()}}, None),
    ],
)
def test_what_is_no_step_is_refused_in_one_line(changed, field):
    model, optimizer, loss, batch = step_of()
    given = {"model": model, "optimizer": optimizer, "loss": loss, "batch": batch} | changed
    if field is None:  # outputs that are a tensor are a loss, of the wrong shape
        assert preflight(**given).crash.id == "loss_not_scalar"
        return
    with pytest.raises(BadInputError) as caught:
        preflight(**given)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)
