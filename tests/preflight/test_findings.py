import pytest
import torch
from torch import nn

from failbench.base.errors import BadInputError
from failbench.preflight.preflight import preflight

ROWS, LENGTH, WIDTH, VOCABULARY = 4, 6, 8, 11


class Language(nn.Module):
    """A language model of one layer."""

    def __init__(self, positions=LENGTH, head=WIDTH, change=lambda logits: logits):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(positions, WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.head = nn.Linear(head, VOCABULARY)
        self.change = change

    def forward(self, input_ids):
        places = torch.arange(input_ids.shape[1])
        hidden = self.body(self.tokens(input_ids) + self.positions(places))
        return self.change(self.head(hidden))


def changed_in_place(logits):
    gate = logits.sigmoid()
    scaled = logits * gate
    gate.mul_(0.5)
    return scaled


def cross_entropy(logits, labels, **options):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), **options)


def per_token(logits, labels):
    return cross_entropy(logits, labels, reduction="none")


def step_of(model=None, loss=cross_entropy, body=None, relabel=torch.clone, **values):
    """A sound step, but for what is given; of a key of the batch one value."""
    model = model or Language()
    if body is not None:
        model.body = body
    ids = torch.arange(ROWS * LENGTH).reshape(ROWS, LENGTH) % VOCABULARY
    batch = {"input_ids": ids, "labels": relabel(ids)}
    for key, value in values.items():
        batch[key][2, 3] = value
    return model, torch.optim.AdamW(model.parameters()), loss, batch


def only(findings, severity="crash"):
    (found,) = [each for each in findings if each.severity == severity]
    return found


def test_a_sound_step_has_no_findings():
    report = preflight(*step_of())
    assert report.findings == ()
    assert report.memory.peak < report.capacity_bytes


OUTSIDE = ("index_of_data_outside_table", "token_ids_beyond_table", "tokens")
NO_CLASS = ("label_outside_classes", "label_outside_classes", None)
DOUBLE = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()).double()
NO_ROOM = ("index_of_model_outside_table", None, "positions")
NO_GRAPH = ("loss_without_graph", None, None)
CRASHES = {
    "a token id beyond the table": ({"input_ids": VOCABULARY}, OUTSIDE),
    "a negative token id": ({"input_ids": -1}, OUTSIDE),
    "positions past their table": ({"model": Language(positions=LENGTH - 1)}, NO_ROOM),
    "a label beyond the classes": ({"labels": VOCABULARY}, NO_CLASS),
    "a negative label": ({"labels": -1}, NO_CLASS),
    "labels of another type": ({"relabel": torch.Tensor.int}, (None, None, None)),
    "shapes that do not fit": (
        {"model": Language(head=2 * WIDTH)},
        (None, "shapes_mismatch", "head"),
    ),
    "a layer of another type": ({"body": DOUBLE}, (None, "types_mixed", "body.0")),
    "a norm of another type, whatever its message says": (
        {"body": nn.LayerNorm(WIDTH).double()},
        (None, "types_mixed", "body"),
    ),
    "a value changed in place": (
        {"model": Language(change=changed_in_place)},
        (None, "graph_misused", None),
    ),
    "a loss without a graph": (
        {"loss": lambda logits, labels: cross_entropy(logits.detach(), labels)},
        NO_GRAPH,
    ),
    "a loss per token": ({"loss": per_token}, ("loss_not_scalar", None, None)),
}


@pytest.mark.parametrize("case", CRASHES)
def test_a_step_that_will_crash_is_told_in_the_words_of_the_library(case):
    given, expected = CRASHES[case]
    step = step_of(**given)
    found = only(preflight(*step).findings)
    for known, actual in zip(expected, (found.id, found.cause, found.where), strict=True):
        assert known in (None, actual)
    model, _, loss, batch = step
    with pytest.raises((RuntimeError, IndexError)) as caught:
        loss(model(batch["input_ids"]), batch["labels"]).backward()
    assert found.error == f"{type(caught.value).__name__}: {caught.value}"


def test_ids_that_the_tokenizer_has_blame_the_model():
    found = only(preflight(*step_of(input_ids=VOCABULARY), vocabulary=VOCABULARY + 5).findings)
    assert (found.id, found.category) == ("index_of_data_outside_model_table", "model_software")


def test_a_batch_without_any_target_makes_the_loss_nan():
    model, optimizer, loss, batch = step_of(relabel=lambda ids: torch.full_like(ids, -100))
    findings = preflight(model, optimizer, loss, batch).findings
    assert only(findings, "failure").id == "no_targets"
    assert loss(model(batch["input_ids"]), batch["labels"]).isnan()


def test_code_that_asks_for_a_number_of_the_weights_is_not_followed():
    asking = Language(change=lambda logits: logits if logits.mean() > 0 else -logits)
    report = preflight(*step_of(asking))
    assert [each.id for each in report.findings] == ["not_followed"]
    assert (report.fails, report.memory) == (False, None)


def test_a_real_step_on_a_copy_sees_what_shapes_do_not():
    step = step_of(Language(change=lambda logits: logits / (logits - logits).sum()))
    before = {name: each.clone() for name, each in step[0].state_dict().items()}
    assert not preflight(*step).fails
    report = preflight(*step, real_step=True)
    assert {each.id for each in report.findings} == {"real_step_not_finite"}
    assert all(torch.equal(each, before[name]) for name, each in step[0].state_dict().items())
    assert not step[1].state


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", "a model"),
        ("optimizer", "an optimizer"),
        ("batch", {"input_ids": [1, 2]}),
        ("capacity_bytes", 0),
    ],
)
def test_what_is_no_step_is_refused_in_one_line(field, value):
    given = dict(zip(("model", "optimizer", "loss", "batch"), step_of(), strict=True))
    with pytest.raises(BadInputError) as caught:
        preflight(**given | {field: value})
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


# Parameters, optimizers, modes and values

NAN, INFINITE = float("nan"), float("inf")


class Training:
    """A sound one, that a fault changes."""

    def __init__(self):
        self.model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.1), nn.Linear(4, 2))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1)
        self.batch = {"input": torch.ones(5, 3), "labels": torch.zeros(5, dtype=torch.long)}
        self.forward = lambda model, batch: model(batch["input"])

    def findings(self):
        parts = self.model, self.optimizer, nn.CrossEntropyLoss(), self.batch
        found = preflight(*parts, forward=self.forward).findings
        return {each.id: f"{each.severity} at {each.where}: {each.what}" for each in found}


def other_model(training):
    training.optimizer = Training().optimizer


def layer_replaced(training):
    training.model[2] = nn.Linear(4, 2)


def rate(value):
    return lambda training: training.optimizer.param_groups[0].update(lr=value)


def layer_unused(training):
    training.model = nn.ModuleDict({"used": nn.Linear(3, 2), "left": nn.Linear(3, 2)})
    training.optimizer = torch.optim.SGD(training.model.parameters(), lr=0.1)
    training.forward = lambda model, batch: model["used"](batch["input"])


def evaluation_without_dropout(training):
    training.model.eval()[1].p = 0.0


def in_batch(value):
    return lambda training: training.batch["input"][1].fill_(value)


def infinite_mask(training):
    training.batch["mask"] = torch.full((5, 3), -torch.inf)


def other_device(training):
    training.batch = {name: each.to("meta") for name, each in training.batch.items()}


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (lambda training: None, {}),
        (other_model, {"optimizer_of_other_model": "failure 4 parameters"}),
        (layer_replaced, {"not_in_optimizer": "2.weight", "strangers_in_optimizer": "2 of 4"}),
        (rate(0.0), {"rate_zero": "warning"}),
        (rate(-0.1), {"rate_not_positive": "failure"}),
        (rate(NAN), {"rate_not_finite": "failure"}),
        (rate(INFINITE), {"rate_not_finite": "failure"}),
        (lambda training: training.model[0].requires_grad_(False), {"frozen": "note 16 of 26"}),
        (lambda training: training.model.requires_grad_(False), {"nothing_requires_grad": "crash"}),
        (layer_unused, {"no_gradient": "left.weight 50.00%"}),
        (lambda training: training.model.eval(), {"evaluation_mode": "at 1:"}),
        (evaluation_without_dropout, {}),
        (in_batch(NAN), {"batch_not_finite": "failure at input: 3 of 15"}),
        (in_batch(INFINITE), {"batch_not_finite": "failure at input: 3 of 15"}),
        (infinite_mask, {"infinite_in_batch": "note at mask:"}),
        (
            lambda training: training.model[2].weight.data.fill_(NAN),
            {"parameter_not_finite": "at 2.weight:"},
        ),
        (
            other_device,
            {"devices_differ": "batch is on meta and the model on cpu", "step_raises": ""},
        ),
    ],
)
def test_what_is_wrong_with_a_training_is_found_and_nothing_else(fault, expected):
    training = Training()
    fault(training)
    found = training.findings()
    assert found.keys() == expected.keys()
    for kind, words in expected.items():
        assert all(word in found[kind] for word in words.split()), found[kind]
