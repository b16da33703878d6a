"""Bugs in the use of Transformers and Accelerate."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from transformers import (
    AttentionInterface,
    AttentionMaskInterface,
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainingArguments,
)
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from failbench.monitor import TransformersCallback, Vocabulary
from failbench.neighbours.outside_list import material
from failbench.neighbours.outside_list.material import Program, Run

EVALUATE_EVERY: Final = 20
DROPOUT: Final = 0.1
DROPPING: Final = "dropping"
"""Name under which Transformers knows the attention of one's own."""


def gpt2(**settings: Any) -> Any:
    """A small GPT-2, without dropout unless told."""
    dropout = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
    config = GPT2Config(
        vocab_size=material.TOKENS,
        n_positions=material.BLOCK + 1,
        n_embd=material.WIDTH,
        n_layer=material.LAYERS,
        n_head=material.HEADS,
        bos_token_id=0,
        eos_token_id=0,
        **(dropout | settings),
    )
    return GPT2LMHeadModel(config)


class Wrapped(nn.Module):
    """A model that trains parameters of its own, made of those that it is given."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.module = copy.deepcopy(model)

    def forward(self, **inputs: Tensor) -> Any:
        """The output of the model."""
        return self.module(**inputs)


def optimizer_of_stale_parameters(run: Run) -> None:
    """The optimizer is made before the model is wrapped."""
    accelerator = Accelerator(cpu=True)
    model = gpt2()
    wrapped = Wrapped(model)
    optimizer = torch.optim.AdamW(
        (model if run.faulty else wrapped).parameters(), material.LEARNING_RATE
    )
    prepared, optimizer, loader = accelerator.prepare(wrapped, optimizer, material.batches())
    with material.monitor_of(run) as monitor:
        monitor.watch(prepared, optimizer)
        for rows in monitor.data(loader):
            accelerator.backward(prepared(input_ids=rows, labels=rows).loss)
            optimizer.step()
            optimizer.zero_grad()


def texts(number: int, seed: int = 0) -> list[dict[str, Tensor]]:
    """Pieces of a text as a Trainer takes them."""
    return [{"input_ids": piece, "labels": piece} for piece in material.pieces(number, seed)]


def arguments_of(run: Run, **settings: Any) -> TrainingArguments:
    """Arguments of a Trainer."""
    return TrainingArguments(
        str(run.scratch / "trainer"),
        max_steps=material.STEPS,
        per_device_train_batch_size=material.ROWS,
        per_device_eval_batch_size=material.ROWS,
        learning_rate=material.LEARNING_RATE,
        lr_scheduler_type="constant",
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        **settings,
    )


def callback_of(run: Run) -> TransformersCallback:
    """The monitor of a run of a Trainer."""
    return TransformersCallback(
        run.log, level=material.LEVEL, vocabulary=Vocabulary(size=material.TOKENS)
    )


def dropout_in_evaluation(run: Run) -> None:
    """Attention drops weights with its probability whether it is in training or not."""

    def attention(module: Any, *states: Any, dropout: float = 0.0, **settings: Any) -> Any:
        probability = DROPOUT if run.faulty else dropout
        return sdpa_attention_forward(module, *states, dropout=probability, **settings)

    AttentionInterface.register(DROPPING, attention)
    AttentionMaskInterface.register(DROPPING, sdpa_mask)
    Trainer(
        gpt2(attn_pdrop=DROPOUT, attn_implementation=DROPPING),
        arguments_of(run, eval_strategy="steps", eval_steps=EVALUATE_EVERY),
        train_dataset=texts(2 * material.STEPS * material.ROWS),
        eval_dataset=texts(4 * material.ROWS, seed=1),
        callbacks=[callback_of(run)],
    ).train()


class UnwrappingTrainer(Trainer):
    """A Trainer whose loss may be computed with the model itself in place of its wrapper."""

    unwraps = False

    def compute_loss(self, model: Any, inputs: Any, *arguments: Any, **settings: Any) -> Any:
        """The loss of a batch."""
        called = self.accelerator.unwrap_model(model) if self.unwraps else model
        return super().compute_loss(called, inputs, *arguments, **settings)


def wrapper_bypassed(run: Run) -> None:
    """The model is called in place of its wrapper, so that no gradient is averaged."""
    trainer = UnwrappingTrainer(
        gpt2(),
        arguments_of(run, ddp_backend="gloo"),
        train_dataset=texts(2 * material.STEPS * material.ROWS),
        callbacks=[callback_of(run)],
    )
    trainer.unwraps = run.faulty
    trainer.train()


PROGRAMS: Final[Mapping[str, Program]] = {
    "accelerate-2665": optimizer_of_stale_parameters,
    "transformers-33844": dropout_in_evaluation,
    "x-jxmnop-ddp-out-of-sync": wrapper_bypassed,
}
