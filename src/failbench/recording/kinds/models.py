"""Mamba, a small residual CNN and a small ViT, with the names of parts that faults know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isqrt
from typing import Any, cast

from torch import Tensor, nn
from transformers import MambaConfig, MambaForCausalLM, ViTConfig, ViTForImageClassification
from transformers.utils import logging

from failbench.recording.architectures import (
    BUILDERS,
    OBJECTIVES,
    Examples,
    ModelSize,
    SequenceModel,
)
from failbench.recording.corpus import PAD
from failbench.scenarios import Architecture

STATES = 2  # of a Mamba channel: its plain path takes a step of Python for every position
PATCH = 2  # pixels a side


class Mamba(SequenceModel):
    """Mamba of Hugging Face transformers, on its plain path where its kernels are not installed."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        logging.set_verbosity_error()  # it warns that its kernels are missing
        self.network = MambaForCausalLM(
            MambaConfig(
                vocab_size=size.vocabulary,
                hidden_size=size.width,
                state_size=STATES,
                num_hidden_layers=size.layers,
                expand=1,
                pad_token_id=PAD,
                tie_word_embeddings=False,
                use_cache=False,
                use_mambapy=False,
            )
        )
        backbone = self.network.backbone
        self._name_parts(backbone.embeddings, None, list(backbone.layers), self.network.lm_head)

    def forward(self, examples: Examples) -> Tensor:
        """Logits of shape (batch, positions, vocabulary)."""
        return self.network(input_ids=examples.inputs).logits


class ImageModel(SequenceModel):
    """A classifier of images; what embeds tokens in others embeds pixels here."""

    def _name_image_parts(self, stem: nn.Module, layers: list[nn.Module], head: nn.Module) -> None:
        self._name_parts(cast("Any", stem), None, layers, cast("nn.Linear", head))


class ResidualBlock(nn.Module):
    """Two normalised convolutions beside a shortcut."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(width)

    def forward(self, hidden: Tensor) -> Tensor:
        """Features of the same shape."""
        inner = nn.functional.relu(self.first_norm(self.first(hidden)))
        return nn.functional.relu(hidden + self.second_norm(self.second(inner)))


class ResidualNetwork(ImageModel):
    """A stem of stride two, residual blocks, and a linear head over the mean of all positions."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, size.width, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(size.width)
        self.stack = nn.ModuleList(ResidualBlock(size.width) for _ in range(size.layers))
        self.project = nn.Linear(size.width, size.vocabulary)
        self._name_image_parts(self.stem, list(self.stack), self.project)

    def forward(self, examples: Examples) -> Tensor:
        """Logits of shape (batch, classes)."""
        hidden = nn.functional.relu(self.norm(self.stem(examples.inputs)))
        for block in self.stack:
            hidden = block(hidden)
        return self.project(hidden.mean((2, 3)))


class VisionTransformer(ImageModel):
    """ViT of Hugging Face transformers; its positions are interpolated to other resolutions."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.network = ViTForImageClassification(
            ViTConfig(
                hidden_size=size.width,
                num_hidden_layers=size.layers,
                num_attention_heads=size.heads,
                intermediate_size=4 * size.width,
                hidden_dropout_prob=size.dropout,
                attention_probs_dropout_prob=size.dropout,
                image_size=isqrt(size.positions),
                patch_size=PATCH,
                num_channels=1,
                num_labels=size.vocabulary,
            )
        )
        self.interpolates = True
        network = self.network.vit
        blocks = next(each for each in network.modules() if isinstance(each, nn.ModuleList))
        self._name_image_parts(
            network.embeddings.patch_embeddings, list(blocks), self.network.classifier
        )

    def forward(self, examples: Examples) -> Tensor:
        """Logits of shape (batch, classes)."""
        return self.network(
            pixel_values=examples.inputs, interpolate_pos_encoding=self.interpolates
        ).logits


MODELS: Mapping[str, Callable[[ModelSize], SequenceModel]] = {
    "mamba": Mamba,
    "cnn": ResidualNetwork,
    "vit": VisionTransformer,
}


def register() -> None:
    """Let the recorder's loop and its faults, in this process, build these as they do others."""
    for name, model in MODELS.items():
        kind = cast("Architecture", name)
        BUILDERS[kind] = model
        OBJECTIVES[kind] = "causal"
