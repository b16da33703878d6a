"""Gradients: what DEFault++ reads of them when it is called as its documentation says.

Its loop of the documentation calls the extractor after gradients were cleared, and its callback is
called by the Trainer at the end of a step, when they were cleared too. Three steps of small models
show what is read in each order.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import polars as pl

from failbench.base.files import write_atomically
from failbench.neighbours.peers.default_plus_plus import PACKAGE, installed_version

LOOP: Final = "documented_loop"
BEFORE: Final = "before_the_update"
CALLBACK: Final = "trainer_callback"
WAYS: Final = (LOOP, BEFORE, CALLBACK)
"""As its documented loop is written; as the text of its method ``step`` says, right after the
backward pass; through its callback of the Trainer."""
STEPS: Final = 3
RATE: Final = 1e-3

GRADIENT_SCHEMA: Final = pl.Schema(
    {
        "version": pl.String(),  # of the peer
        "transformers": pl.String(),
        "model": pl.String(),
        "way": pl.String(),
        "step": pl.Int64(),
        "parameters": pl.Int64(),  # tensors of the model
        "with_gradient": pl.Int64(),  # of these, when it reads; null where its step raised
        "gradient_norm": pl.Float64(),  # as it was after the backward pass
        "gradient_norm_read": pl.Float64(),
        "vanishing_read": pl.Boolean(),
        "update": pl.Float64(),  # of the weights in the last step, as a share of their norm
        "update_read": pl.Float64(),
        "loss_read": pl.Float64(),  # null where it is not handed one
        "model_columns": pl.Int64(),  # that the shipped model of the family reads
        "gradient_columns": pl.Int64(),  # of these, named after gradients
        "update_columns": pl.Int64(),  # of these, named after updates
        "error": pl.String(),
    }
)
"""Columns of the table of observations; its key is ``(model, way, step)``."""


def observe_gradients() -> pl.DataFrame:
    """Train three steps of each model in each way, and say what the extractor read."""
    version = installed_version()
    transformers = import_module("transformers")
    rows = []
    for model, (family, build) in _models(transformers).items():
        columns = _columns(family)
        for way in WAYS:
            import_module("torch").manual_seed(0)
            read = _through_trainer if way == CALLBACK else _through_loop
            for step, row in enumerate(read(build(), family, way)):
                named = {"version": version, "transformers": transformers.__version__}
                rows.append({**named, "model": model, "way": way, "step": step, **columns, **row})
    return pl.DataFrame(rows, schema=GRADIENT_SCHEMA)


def write_gradients(observed: pl.DataFrame, path: Path) -> None:
    """Write observations as csv, with six digits."""
    text = observed.with_columns(pl.selectors.float().round_sig_figs(6)).write_csv()
    write_atomically(path, text.encode(), "Free space or choose another folder.")


def _models(transformers: Any) -> dict[str, tuple[str, Any]]:
    """Builders of small random models, each with its family."""
    shape = {"vocab_size": 120, "attn_implementation": "eager", "pad_token_id": 0}
    bert = transformers.BertConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
        **shape,
    )
    distilbert = transformers.DistilBertConfig(
        dim=32, n_layers=2, n_heads=2, hidden_dim=64, max_position_embeddings=32, **shape
    )
    gpt2 = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=32, **shape)
    return {
        "bert": ("encoder", lambda: transformers.BertForSequenceClassification(bert)),
        "distilbert": (
            "encoder",
            lambda: transformers.DistilBertForSequenceClassification(distilbert),
        ),
        "gpt2": ("decoder", lambda: transformers.GPT2LMHeadModel(gpt2)),
    }


def _columns(family: str) -> dict[str, int]:
    """How many columns the shipped model of a family reads, and of which kind."""
    names = import_module(f"{PACKAGE}.diagnosis").load_pretrained(family).feature_names
    return {
        "model_columns": len(names),
        "gradient_columns": sum(name.startswith("grad") for name in names),
        "update_columns": sum(name.startswith("update") for name in names),
    }


def _batches(family: str) -> Iterator[dict[str, Any]]:
    torch = import_module("torch")
    generator = torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        ids = torch.randint(1, 120, (4, 12), generator=generator)
        labels = ids if family == "decoder" else ids[:, 0] % 2
        yield {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}


class _Watch:
    """Norms of a model's gradients and updates, measured beside the peer."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._before = self._weights()

    def gradient_norm(self) -> float:
        return float(sum(g.norm() ** 2 for g in self._gradients()) ** 0.5)

    def present(self) -> dict[str, int]:
        total = sum(1 for _ in self._model.parameters())
        return {"parameters": total, "with_gradient": len(self._gradients())}

    def update(self) -> float:
        """Share by which the weights changed since this was asked last."""
        before, self._before = self._before, self._weights()
        pairs = zip(before, self._before, strict=True)
        moved = sum((new - old).norm() ** 2 for old, new in pairs)
        return float((moved / sum(old.norm() ** 2 for old in before)) ** 0.5)

    def _gradients(self) -> list[Any]:
        return [p.grad for p in self._model.parameters() if p.grad is not None]

    def _weights(self) -> list[Any]:
        return [p.detach().clone() for p in self._model.parameters()]


def _through_loop(model: Any, family: str, way: str) -> Iterator[dict[str, Any]]:
    optimizer = import_module("torch").optim.AdamW(model.parameters(), RATE)
    extractor = import_module(PACKAGE).FeatureExtractor(model, arch=family)
    watch = _Watch(model)
    for batch in _batches(family):
        outputs = model(**batch, output_attentions=True, output_hidden_states=True)
        outputs.loss.backward()
        row: dict[str, Any] = {"gradient_norm": watch.gradient_norm()}
        if way == LOOP:
            optimizer.step()
            row["update"] = watch.update()
            optimizer.zero_grad()
        try:
            present = watch.present()
            read = extractor.step(loss=outputs.loss, outputs=outputs, optimizer=optimizer, **batch)
        except RuntimeError as error:
            yield row | {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
            return
        if way == BEFORE:
            row["update"] = watch.update()  # of the step before, which is what it could see
            optimizer.step()
            optimizer.zero_grad()
        yield row | present | _read(read)


def _through_trainer(model: Any, family: str, _way: str) -> Iterator[dict[str, Any]]:
    """Its callback in a Trainer that hands it inputs and outputs, as its example does."""
    transformers = import_module("transformers")
    peer = import_module(f"{PACKAGE}.hf_callback").DEFaultPlusCallback(arch=family)
    watch = _Watch(model)
    rows: list[dict[str, Any]] = []
    errors = _Errors()

    class Handing(transformers.Trainer):  # type: ignore[misc,name-defined]
        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, **_named: Any
        ) -> Any:
            outputs = model(**inputs, output_attentions=True, output_hidden_states=True)
            peer.capture_inputs(inputs)
            peer.capture_outputs(outputs)
            return (outputs.loss, outputs) if return_outputs else outputs.loss

    class Beside(transformers.TrainerCallback):  # type: ignore[misc,name-defined]
        """Is called after the peer at the same moments."""

        def on_train_begin(self, *_: Any, **_named: Any) -> None:
            peer.extractor.record_per_step = True

        def on_pre_optimizer_step(self, *_: Any, **_named: Any) -> None:
            rows.append({"gradient_norm": watch.gradient_norm()})

        def on_step_end(self, *_: Any, **_named: Any) -> None:
            rows[-1] |= watch.present() | {"update": watch.update()}

    examples = [
        {name: values[i] for name, values in batch.items()}
        for batch in _batches(family)
        for i in range(len(batch["labels"]))
    ]
    with TemporaryDirectory() as folder:
        settings = transformers.TrainingArguments(
            output_dir=folder,
            max_steps=STEPS,
            per_device_train_batch_size=4,
            learning_rate=RATE,
            max_grad_norm=0.0,  # norms as they are
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
        )
        trainer = Handing(
            model=model, args=settings, train_dataset=examples, callbacks=[peer, Beside()]
        )
        logger = logging.getLogger(f"{PACKAGE}.hf_callback")
        logger.addHandler(errors)
        propagates, logger.propagate = logger.propagate, False
        try:
            trainer.train()
        finally:
            logger.propagate = propagates
            logger.removeHandler(errors)
    history = peer.extractor.step_history
    for step, row in enumerate(rows):
        if step < len(history):
            yield row | _read(history[step])
        else:
            yield row | {"error": errors.first}


class _Errors(logging.Handler):
    """Keeps the first error that the callback logs in place of raising it."""

    first: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if self.first is None and error is not None:
            self.first = f"{type(error).__name__}: {str(error).splitlines()[0]}"


def _read(metrics: dict[str, Any]) -> dict[str, Any]:
    return {
        "gradient_norm_read": metrics["grad_norm_total"],
        "vanishing_read": bool(metrics["gradient_vanish"]),
        "update_read": metrics["update_ratio_total"],
        "loss_read": metrics.get("train_loss"),
    }
