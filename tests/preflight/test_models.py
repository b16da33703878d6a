"""Models of Hugging Face's library, built from their configurations."""

import pytest
import torch

transformers = pytest.importorskip("transformers", reason="the models are its own")

from failbench.preflight.preflight import preflight  # noqa: E402

SMALL = {"vocab_size": 60, "num_hidden_layers": 1, "num_attention_heads": 2}


def looked_at(model, batch):
    optimizer = torch.optim.AdamW(model.parameters())
    return preflight(model, optimizer, None, batch)


def batch_of(labels=None):
    ids = torch.arange(20).reshape(2, 10) + 5
    mask = torch.ones_like(ids)
    mask[0, 7:] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids if labels is None else labels}


def test_a_decoder_with_rotary_positions_is_followed_to_its_end():
    config = transformers.LlamaConfig(**SMALL, hidden_size=16, intermediate_size=32)
    report = looked_at(transformers.LlamaForCausalLM(config), batch_of())
    assert report.findings == ()
    assert report.memory.activations > 0


def test_checkpointed_activations_are_not_kept():
    config = transformers.LlamaConfig(
        **{**SMALL, "num_hidden_layers": 4}, hidden_size=16, intermediate_size=32
    )
    model = transformers.LlamaForCausalLM(config)
    kept = looked_at(model, batch_of()).memory.activations
    model.gradient_checkpointing_enable()
    model.train()
    assert looked_at(model, batch_of()).memory.activations < kept


def test_labels_of_a_classifier_beyond_its_classes():
    config = transformers.BertConfig(**SMALL, hidden_size=16, intermediate_size=32, num_labels=3)
    model = transformers.BertForSequenceClassification(config)
    assert looked_at(model, batch_of(torch.tensor([0, 2]))).crash is None
    found = looked_at(model, batch_of(torch.tensor([0, 3]))).crash
    assert (found.id, found.error) == (
        "label_outside_classes",
        "IndexError: Target 3 is out of bounds.",
    )


def test_sequences_longer_than_the_position_table():
    config = transformers.GPT2Config(
        vocab_size=60, n_embd=16, n_layer=1, n_head=2, n_positions=8, bos_token_id=1, eos_token_id=1
    )
    found = looked_at(transformers.GPT2LMHeadModel(config), batch_of()).crash
    assert (found.where, found.cause) == ("transformer.wpe", "index_outside_table")
