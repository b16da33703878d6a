"""Six families of small language models, whose logits are (batch, positions, vocabulary)."""

# Encoder-decoders (``transformer``, ``t5``) read the first third of a sequence and predict the
# rest; all others the next token, ``bert`` and ``distilbert`` through a causal attention mask.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

from failbench.recording.corpus import PAD
from failbench.scenarios import Architecture

Objective = Literal["sequence_to_sequence", "causal"]

OBJECTIVES: dict[Architecture, Objective] = {
    "transformer": "sequence_to_sequence",
    "t5": "sequence_to_sequence",
    "bert": "causal",
    "distilbert": "causal",
    "lstm": "causal",
    "gru": "causal",
}


@dataclass(frozen=True)
class ModelSize:
    """Shape of a model. ``positions`` is the length of its position table, where it has one."""

    width: int
    layers: int
    heads: int
    vocabulary: int
    positions: int
    dropout: float


PAPER_SHAPES: dict[Architecture, tuple[int, int, int]] = {
    "transformer": (512, 5, 8),
    "t5": (512, 8, 8),
    "distilbert": (768, 9, 12),
    "bert": (768, 15, 12),
    "lstm": (1248, 2, 1),
    "gru": (1000, 2, 1),
}
"""Width, layers, heads of ``paper``: 35, 60, 66, 110, 25, 12 million parameters (section 5.2)."""


@dataclass
class Examples:
    """A batch (batch, positions), ``labels`` -100 where none, ``source`` the encoder's or None."""

    inputs: Tensor
    labels: Tensor
    source: Tensor | None = None

    def to(self, device: str) -> Examples:
        """The same batch on a device."""
        source = None if self.source is None else self.source.to(device)
        return Examples(self.inputs.to(device), self.labels.to(device), source)


class SequenceModel(nn.Module):
    """A language model with names for the parts that every family has."""

    token_embedding: nn.Embedding
    position_table: nn.Embedding | None
    layers: list[nn.Module]
    head: nn.Linear

    def _name_parts(
        self,
        token_embedding: nn.Embedding,
        position_table: nn.Embedding | None,
        layers: list[nn.Module],
        head: nn.Linear,
    ) -> None:
        # Written around nn.Module.__setattr__: the parts are registered already, and a second name
        # would list their parameters twice in the state dict.
        object.__setattr__(self, "token_embedding", token_embedding)
        object.__setattr__(self, "position_table", position_table)
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "head", head)


class EncoderDecoder(SequenceModel):
    """The reference architecture: PyTorch's own Transformer with learned positions."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size.vocabulary, size.width, padding_idx=PAD)
        self.positions = nn.Embedding(size.positions, size.width)
        layer = nn.TransformerEncoderLayer(
            d_model=size.width,
            nhead=size.heads,
            dim_feedforward=4 * size.width,
            dropout=size.dropout,
            batch_first=True,
            norm_first=True,
        )
        # PyTorch cannot nest tensors of a pre-norm encoder, and warns when it builds one itself.
        encoder = nn.TransformerEncoder(
            layer, size.layers, nn.LayerNorm(size.width), enable_nested_tensor=False
        )
        self.core = nn.Transformer(
            d_model=size.width,
            nhead=size.heads,
            num_decoder_layers=size.layers,
            dim_feedforward=4 * size.width,
            dropout=size.dropout,
            custom_encoder=encoder,
            batch_first=True,
            norm_first=True,
        )
        self.project = nn.Linear(size.width, size.vocabulary)
        self._name_parts(
            self.embedding,
            self.positions,
            [*self.core.encoder.layers, *self.core.decoder.layers],
            self.project,
        )

    def _embed(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.embedding(ids) + self.positions(places)

    def forward(self, examples: Examples) -> Tensor:
        """Logits of shape (batch, positions, vocabulary)."""
        source, inputs = examples.source, examples.inputs
        assert source is not None
        causal = nn.Transformer.generate_square_subsequent_mask(
            inputs.shape[1], device=inputs.device, dtype=torch.bool
        )
        hidden = self.core(
            self._embed(source),
            self._embed(inputs),
            tgt_mask=causal,
            src_key_padding_mask=source == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )
        return self.project(hidden)


class T5(SequenceModel):
    """T5 of Hugging Face transformers, with relative positions and so no position table."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.network = T5ForConditionalGeneration(
            T5Config(
                vocab_size=size.vocabulary,
                d_model=size.width,
                d_kv=size.width // size.heads,
                d_ff=4 * size.width,
                num_layers=size.layers,
                num_heads=size.heads,
                dropout_rate=size.dropout,
                pad_token_id=PAD,
                decoder_start_token_id=PAD,
                tie_word_embeddings=False,
                use_cache=False,
            )
        )
        # Untied, the library would initialise the head with unit variance: logits of several dozen.
        nn.init.normal_(self.network.lm_head.weight, std=size.width**-0.5)
        self._name_parts(
            self.network.shared,
            None,
            [*self.network.encoder.block, *self.network.decoder.block],
            self.network.lm_head,
        )

    def forward(self, examples: Examples) -> Tensor:
        """Logits of shape (batch, positions, vocabulary)."""
        assert examples.source is not None
        return self.network(
            input_ids=examples.source,
            attention_mask=(examples.source != PAD).long(),
            decoder_input_ids=examples.inputs,
        ).logits


def causal_mask(ids: Tensor) -> Tensor:
    """Which earlier, unpadded positions each position may see: (batch, 1, positions, positions)."""
    positions = ids.shape[1]
    earlier = torch.ones(positions, positions, dtype=torch.bool, device=ids.device).tril()
    return earlier & (ids != PAD)[:, None, None, :]


class Bert(SequenceModel):
    """BERT of Hugging Face transformers with its masked-language head, untied."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.network = BertForMaskedLM(
            BertConfig(
                vocab_size=size.vocabulary,
                hidden_size=size.width,
                num_hidden_layers=size.layers,
                num_attention_heads=size.heads,
                intermediate_size=4 * size.width,
                max_position_embeddings=size.positions,
                hidden_dropout_prob=size.dropout,
                attention_probs_dropout_prob=size.dropout,
                pad_token_id=PAD,
                tie_word_embeddings=False,
            )
        )
        embeddings = self.network.bert.embeddings
        self._name_parts(
            embeddings.word_embeddings,
            embeddings.position_embeddings,
            list(self.network.bert.encoder.layer),
            self.network.cls.predictions.decoder,
        )

    def forward(self, examples: Examples) -> Tensor:
        """Logits of shape (batch, positions, vocabulary)."""
        mask = causal_mask(examples.inputs)
        return self.network(input_ids=examples.inputs, attention_mask=mask).logits


class DistilBert(SequenceModel):
    """DistilBERT of Hugging Face transformers with its masked-language head, untied."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.network = DistilBertForMaskedLM(
            DistilBertConfig(
                vocab_size=size.vocabulary,
                dim=size.width,
                n_layers=size.layers,
                n_heads=size.heads,
                hidden_dim=4 * size.width,
                max_position_embeddings=size.positions,
                dropout=size.dropout,
                attention_dropout=size.dropout,
                pad_token_id=PAD,
                tie_word_embeddings=False,
            )
        )
        embeddings = self.network.distilbert.embeddings
        self._name_parts(
            embeddings.word_embeddings,
            embeddings.position_embeddings,
            list(self.network.distilbert.transformer.layer),
            self.network.vocab_projector,
        )

    def forward(self, examples: Examples) -> Tensor:
        """Logits of shape (batch, positions, vocabulary)."""
        mask = causal_mask(examples.inputs)
        return self.network(input_ids=examples.inputs, attention_mask=mask).logits


class RecurrentLayer(nn.Module):
    """One recurrent layer that returns its outputs alone."""

    def __init__(self, cell: type[nn.LSTM] | type[nn.GRU], width: int) -> None:
        super().__init__()
        self.cell = cell(width, width, batch_first=True)

    def forward(self, hidden: Tensor) -> Tensor:
        """Outputs of shape (batch, positions, width)."""
        return self.cell(hidden)[0]


class Recurrent(SequenceModel):
    """A next-token model of stacked LSTM or GRU layers."""

    def __init__(self, size: ModelSize, cell: type[nn.LSTM] | type[nn.GRU]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size.vocabulary, size.width, padding_idx=PAD)
        self.stack = nn.ModuleList(RecurrentLayer(cell, size.width) for _ in range(size.layers))
        self.dropout = nn.Dropout(size.dropout)
        self.project = nn.Linear(size.width, size.vocabulary)
        self._name_parts(self.embedding, None, list(self.stack), self.project)

    def forward(self, examples: Examples) -> Tensor:
        """Logits of shape (batch, positions, vocabulary)."""
        hidden = self.embedding(examples.inputs)
        for layer in self.stack:
            hidden = self.dropout(layer(hidden))
        return self.project(hidden)


BUILDERS: dict[Architecture, Callable[[ModelSize], SequenceModel]] = {
    "transformer": EncoderDecoder,
    "t5": T5,
    "bert": Bert,
    "distilbert": DistilBert,
    "lstm": lambda size: Recurrent(size, nn.LSTM),
    "gru": lambda size: Recurrent(size, nn.GRU),
}


def build_model(architecture: Architecture, size: ModelSize) -> SequenceModel:
    """A randomly initialised model; the caller seeds torch first."""
    return BUILDERS[architecture](size)
