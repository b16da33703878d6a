import pytest

torch = pytest.importorskip("torch")
nn = torch.nn

from failbench.diagnose.inspection.parameters import (  # noqa: E402
    layers_of,
    parameter_table,
    parameter_text,
    summary,
)
from made_up_training import POSITIONS, TOKENS, WIDTH, Tiny  # noqa: E402


def by_layer(model, depth=2):
    return {each.layer: each for each in parameter_table(model, depth)}


def test_embeddings_and_a_head_are_told_from_other_layers():
    table = by_layer(Tiny())
    roles = {"tokens": "embedding", "positions": "embedding", "mix": "body", "norm": "body"}
    assert {name: each.role for name, each in table.items()} == roles | {"output": "head"}
    assert table["tokens"].parameters == table["output"].parameters == TOKENS * WIDTH
    assert table["positions"].parameters == (POSITIONS + 1) * WIDTH
    assert table["mix"].bytes == 4 * table["mix"].parameters
    assert table["mix"].kind == "LSTM"
    assert sum(each.share for each in table.values()) == pytest.approx(1)


def test_tied_parameters_are_counted_once_and_named_and_equal_ones_are_not_tied():
    model = Tiny(tied=True)
    table = by_layer(model)
    assert (table["output"].parameters, table["output"].tied) == (0, ("output.weight",))
    tied = {each.name: dict(each.tied) for each in layers_of(model)}
    assert tied["output"] == {"output.weight": "tokens.weight"}
    whole = summary(table.values())
    assert whole.parameters == sum(each.numel() for each in model.parameters())
    assert (whole.tied, whole.head_share) == (("output.weight",), 0)
    assert "head, tied" in parameter_text(table.values())
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].load_state_dict(model[0].state_dict())
    assert summary(parameter_table(model)).parameters == 18
    model[1].weight = nn.Parameter(model[0].weight.data)
    assert summary(parameter_table(model)).parameters == 9


def test_lists_of_layers_are_no_level_and_the_model_may_hold_parameters_itself():
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(5))
            layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    assert list(by_layer(Stack())) == ["(model)", "encoder.layers.0", "encoder.layers.1"]
    assert list(by_layer(Stack(), depth=1)) == ["(model)", "encoder"]
    assert by_layer(Stack())["(model)"].parameters == 5
