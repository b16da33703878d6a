import pytest
import torch

from failbench.preflight.preflight import preflight

transformers = pytest.importorskip("transformers", reason="the models are its own")

SMALL = {"vocab_size": 60, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}


def looked_at(model, labels=None):
    ids = torch.arange(20).reshape(2, 10) + 5
    mask = torch.ones_like(ids)
    mask[0, 7:] = 0
    labels = ids if labels is None else torch.tensor(labels)
    batch = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    return preflight(model, torch.optim.AdamW(model.parameters()), None, batch)


def test_a_decoder_with_rotary_positions_is_followed_and_keeps_no_checkpointed_activations():
    config = transformers.LlamaConfig(**SMALL, num_hidden_layers=4)
    model = transformers.LlamaForCausalLM(config)
    report = looked_at(model)
    assert report.findings == ()
    model.gradient_checkpointing_enable()
    model.train()
    assert 0 < looked_at(model).memory.activations < report.memory.activations


def test_labels_of_a_classifier_beyond_its_classes():
    config = transformers.BertConfig(**SMALL, num_hidden_layers=1, num_labels=3)
    model = transformers.BertForSequenceClassification(config)
    assert looked_at(model, [0, 2]).crash is None
    found = looked_at(model, [0, 3]).crash
    assert found.id == "label_outside_classes"
    assert found.error == "IndexError: Target 3 is out of bounds."


def test_sequences_longer_than_the_position_table():
    small = {"vocab_size": 60, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 8}
    config = transformers.GPT2Config(**small, bos_token_id=1, eos_token_id=1)
    found = looked_at(transformers.GPT2LMHeadModel(config)).crash
    assert (found.where, found.cause) == ("transformer.wpe", "index_outside_table")
