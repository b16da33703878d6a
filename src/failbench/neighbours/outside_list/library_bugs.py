"""Bugs in the use of Transformers and Accelerate, and of processes that train together."""

import copy
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import torch
import transformers
from accelerate import Accelerator
from torch import Tensor, distributed, nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from failbench.monitor import TransformersCallback, Vocabulary
from failbench.neighbours.outside_list import material
from failbench.neighbours.outside_list.material import LanguageModel, Program, Run, adam, train

ONSET: Final = 20
LOST_EVERY: Final = 20  # transfers from one that is lost to the next
NORM: Final = 0.5  # to which gradients are clipped
EVALUATE_EVERY: Final = 20
DROPOUT: Final = 0.1
DROPPING: Final = "dropping"  # name under which Transformers knows the attention of one's own


def gpt2(**settings: Any) -> Any:
    """A small GPT-2, without dropout unless told."""
    dropout = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
    config = transformers.GPT2Config(
        vocab_size=material.TOKENS,
        n_positions=material.BLOCK + 1,
        n_embd=material.WIDTH,
        n_layer=material.LAYERS,
        n_head=material.HEADS,
        bos_token_id=0,
        eos_token_id=0,
        **(dropout | settings),
    )
    return transformers.GPT2LMHeadModel(config)


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


def texts(number: int, seed: int = 0) -> material.Examples:
    """Pieces of a text as a Trainer takes them."""
    rows = material.pieces(number, seed)
    return material.Examples(rows, lambda piece: {"input_ids": piece, "labels": piece})


def arguments_of(run: Run, **settings: Any) -> transformers.TrainingArguments:
    """Arguments of a Trainer."""
    return transformers.TrainingArguments(
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

    transformers.AttentionInterface.register(DROPPING, attention)
    transformers.AttentionMaskInterface.register(DROPPING, sdpa_mask)
    transformers.Trainer(
        gpt2(attn_pdrop=DROPOUT, attn_implementation=DROPPING),
        arguments_of(run, eval_strategy="steps", eval_steps=EVALUATE_EVERY),
        train_dataset=texts(2 * material.STEPS * material.ROWS),
        eval_dataset=texts(4 * material.ROWS, seed=1),
        callbacks=[callback_of(run)],
    ).train()


class UnwrappingTrainer(transformers.Trainer):
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


def moved_after_wrapping(run: Run) -> None:
    """The model is moved away and back, and so loses the hooks of its wrapper."""
    model = LanguageModel()
    parallel = DistributedDataParallel(model)

    def move(number: int) -> None:
        if run.faulty and number == ONSET:
            model.double()
            model.float()

    train(run, parallel, adam(model), before_forward=move)


def gradients_lost(run: Run) -> None:
    """A rank sometimes receives zeros in place of averaged gradients."""
    model = LanguageModel()
    parallel = DistributedDataParallel(model)
    transfers = count()

    def transmit(group: Any, bucket: Any) -> Any:
        received = allreduce_hook(group, bucket)
        number = next(transfers) - ONSET
        if run.faulty and run.rank == 1 and number >= 0 and number % LOST_EVERY == 0:
            return received.then(lambda future: torch.zeros_like(future.value()))
        return received

    transmit.__annotations__.clear()  # they are compared with types, and are texts here
    parallel.register_comm_hook(None, transmit)
    train(run, parallel, adam(model))


def entered(hidden: Tensor) -> Tensor:
    """What each rank does a part of: the same forwards, gradients added up over ranks."""

    def summed(gradient: Tensor) -> Tensor:
        gradient = gradient.clone()
        distributed.all_reduce(gradient)
        return gradient

    hidden = hidden.clone()
    if hidden.requires_grad:
        hidden.register_hook(summed)
    return hidden


class Leave(torch.autograd.Function):
    """The parts of all ranks added up forwards, the same gradient for each."""

    @staticmethod
    def forward(context: object, hidden: Tensor) -> Tensor:  # noqa: ARG004
        """The sum over ranks."""
        hidden = hidden.clone()
        distributed.all_reduce(hidden)
        return hidden

    @staticmethod
    def backward(context: object, gradient: Tensor) -> Tensor:  # noqa: ARG004
        """The same."""
        return gradient


class ParallelPerceptron(nn.Module):
    """A perceptron of which each rank holds a part of the units."""

    def __init__(self) -> None:
        super().__init__()
        units = 4 * material.WIDTH // distributed.get_world_size()
        self.rising = nn.Linear(material.WIDTH, units)
        self.falling = nn.Linear(units, material.WIDTH, bias=False)
        # The ranks' parts differ, and all else is the same, as one generator serves both.
        generator = torch.Generator().manual_seed(1 + distributed.get_rank())
        for weight in (self.rising.weight, self.falling.weight):
            nn.init.normal_(weight, std=material.WIDTH**-0.5, generator=generator)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map states of shape (..., WIDTH) to states of that shape."""
        return Leave.apply(self.falling(torch.relu(self.rising(entered(hidden)))))


def normalisations_clipped_on_one_rank(run: Run) -> None:
    """Gradients of replicated normalisations are clipped on the first rank alone."""
    model = LanguageModel([material.Block(ParallelPerceptron()) for _ in range(material.LAYERS)])
    parts = [each for each in model.modules() if isinstance(each, ParallelPerceptron)]
    of_a_rank = {id(parameter) for part in parts for parameter in part.parameters()}

    def clip(_: int) -> None:
        gradients = {name: each.grad for name, each in model.named_parameters()}
        squares = {name: gradient.square().sum() for name, gradient in gradients.items()}
        is_part = {name: id(each) in of_a_rank for name, each in model.named_parameters()}
        total = sum(square for name, square in squares.items() if is_part[name])
        distributed.all_reduce(total)
        total = total + sum(square for name, square in squares.items() if not is_part[name])
        factor = (NORM / total.sqrt()).clamp(max=1)
        for name, gradient in gradients.items():
            if not (run.faulty and run.rank > 0 and "norm" in name):
                gradient.mul_(factor)

    # Ranks of tensor parallelism read the same batches: those of the first.
    train(Run(run.faulty, 0, run.log, run.scratch), model, adam(model), before_update=clip)


PROGRAMS: Final[Mapping[str, Program]] = {
    "accelerate-2665": optimizer_of_stale_parameters,
    "transformers-33844": dropout_in_evaluation,
    "x-jxmnop-ddp-out-of-sync": wrapper_bypassed,
    "pytorch-104336": moved_after_wrapping,
    "pytorch-84803": gradients_lost,
    "deepspeed-1801": normalisations_clipped_on_one_rank,
}
