"""Recorder: trains missing models and asks them; an interruption loses the models at work alone."""

import json
import multiprocessing
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl
import torch

from failbench.base.files import replaced_when_whole, write_atomically
from failbench.reasoning import traces
from failbench.reasoning.conditions import Declared, Planned, fingerprint, read_declared
from failbench.reasoning.grading import outcome
from failbench.reasoning.model import Decoder
from failbench.reasoning.sampling import sample
from failbench.reasoning.tokenizers import Tokenizer, make
from failbench.reasoning.training import Trained, train

LOSS_DIGITS: Final = 4
VOCABULARIES: Final = "vocabularies.csv"  # what ids stand for, in the folder of the tables


@dataclass(frozen=True)
class Progress:
    """A model that was just recorded, and how many of how many there are now."""

    row: Mapping[str, Any]
    done: int
    planned: int


@dataclass(frozen=True)
class Folders:
    """Where declarations and tables stand, and where work goes on."""

    data: Path
    work: Path


def missing(declared: Declared, data: Path) -> tuple[Planned, ...]:
    """The models that the tables lack, or that were recorded from something else."""
    if not (data / traces.MODELS).exists() or not (data / traces.TRACES).exists():
        return declared.plan
    models = traces.read_models(data / traces.MODELS)
    known = dict(models.select("model", "fingerprint").iter_rows())
    return tuple(
        planned
        for planned in declared.plan
        if known.get(planned.name) != fingerprint(declared, planned)
    )


def record(folders: Folders, workers: int = 1, *, again: bool = False) -> Iterator[Progress]:
    """Record what is missing, then write the tables and empty the folder of work."""
    declared = read_declared(folders.data)
    wanted = declared.plan if again else missing(declared, folders.data)
    todo = [each for each in wanted if not _row_path(folders.work, declared, each).exists()]
    done = len(declared.plan) - len(todo)
    context = multiprocessing.get_context("spawn")
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = [pool.submit(record_model, folders, each.name) for each in todo]
        try:
            for future in as_completed(futures):
                done += 1
                yield Progress(future.result(), done, len(declared.plan))
        finally:
            pool.shutdown(cancel_futures=True)
    write_tables(declared, folders, wanted)
    for planned in declared.plan:
        row = _row_path(folders.work, declared, planned)
        weights = _weights_path(folders.work, declared, planned)
        for path in (row, row.with_suffix(".parquet"), weights):
            path.unlink(missing_ok=True)


def record_model(folders: Folders, name: str) -> dict[str, Any]:
    """Train and ask one model, and keep its traces and its row in the folder of work."""
    torch.set_num_threads(1)
    declared = read_declared(folders.data)
    (planned,) = (each for each in declared.plan if each.name == name)
    trained = _trained(declared, planned, folders.work)
    asked = ask(declared, planned, trained.model)
    row = {
        "model": planned.name,
        "condition": planned.condition.condition,
        "tokenizer": planned.condition.tokenizer,
        "prompt_tokenizer": planned.condition.prompt_tokenizer,
        "seed": planned.seed,
        "parameters": trained.model.parameter_count,
        "steps": trained.steps,
        "loss": round(trained.loss, LOSS_DIGITS),
        "torch": torch.__version__,
        "fingerprint": fingerprint(declared, planned),
    }
    path = _row_path(folders.work, declared, planned)
    traces.write_traces(asked, path.with_suffix(".parquet"))
    write_atomically(path, json.dumps(row).encode(), traces.WRITING_REMEDY)
    return row


def ask(declared: Declared, planned: Planned, model: Decoder) -> pl.DataFrame:
    """The traces of a model over all problems of the test."""
    condition, settings = planned.condition, declared.settings
    tokenizer = _tokenizer(declared, condition.tokenizer)
    encode = _tokenizer(declared, condition.prompt_tokenizer).encode
    prompts = [encode(problem.prompt) for _, _, problem in declared.problems]
    answers = sample(
        model, prompts, budget=settings.budget, temperature=settings.temperature, seed=planned.seed
    )
    texts = [tokenizer.decode(answer.ids) for answer in answers]
    rows = [
        {
            "model": planned.name,
            "condition": condition.condition,
            "seed": planned.seed,
            "tokenizer": condition.tokenizer,
            "task": cell.task,
            "length": cell.length,
            "depth": cell.depth,
            "item": item,
            "prompt_ids": prompt,
            "text": text,
            "tokens": len(answer.ids),
            "outcome": outcome(problem, text, is_ended=answer.is_ended),
            "guess": problem.guess,
        }
        for (cell, item, problem), prompt, answer, text in zip(
            declared.problems, prompts, answers, texts, strict=True
        )
    ]
    return pl.DataFrame(rows, schema=traces.TRACE_SCHEMA)


def write_tables(declared: Declared, folders: Folders, recorded: tuple[Planned, ...]) -> None:
    """Write both tables: models of the plan alone, those recorded now in place of older ones."""
    paths = [_row_path(folders.work, declared, each) for each in recorded]
    recorded_rows = [json.loads(path.read_text()) for path in paths]
    rows = pl.DataFrame(recorded_rows, schema=traces.MODEL_SCHEMA)
    frames = [traces.read_traces(path.with_suffix(".parquet")) for path in paths]
    order = pl.DataFrame({"model": [planned.name for planned in declared.plan]})
    kept = order.join(rows, on="model", how="anti")
    if kept.height:
        known = traces.read_models(folders.data / traces.MODELS).join(kept, on="model", how="semi")
        rows = pl.concat([rows, known])
        frames.append(
            traces.read_traces(folders.data / traces.TRACES).join(kept, on="model", how="semi")
        )
    traces.write_traces(pl.concat(frames), folders.data / traces.TRACES)
    vocabularies = [
        {"tokenizer": name, "id": number, "token": token}
        for name in declared.tokenizers
        for number, token in enumerate(_tokenizer(declared, name).tokens)
    ]
    content = pl.DataFrame(vocabularies).write_csv().encode()
    write_atomically(folders.data / VOCABULARIES, content, traces.WRITING_REMEDY)
    models = order.join(rows, on="model", maintain_order="left").write_csv().encode()
    write_atomically(folders.data / traces.MODELS, models, traces.WRITING_REMEDY)


def _trained(declared: Declared, planned: Planned, work: Path) -> Trained:
    """A model, or one trained alike: other tokenizers for the test's prompts change no training."""
    condition = planned.condition
    path = _weights_path(work, declared, planned)
    tokenizer = _tokenizer(declared, condition.tokenizer)
    if path.exists():
        kept = torch.load(path)
        model = Decoder(
            declared.settings.shape, len(tokenizer.tokens), is_causal=condition.is_causal
        )
        model.load_state_dict(kept["weights"])
        return Trained(model.eval(), kept["steps"], kept["loss"])
    trained = train(
        declared.cells, declared.settings, condition, tokenizer, planned.seed, declared.held_out
    )
    kept = {"weights": trained.model.state_dict(), "steps": trained.steps, "loss": trained.loss}
    # conditions that train alike may be at it in two processes, and one would move the other's file
    own = path.with_name(f"{os.getpid()}-{path.name}")
    with replaced_when_whole(own, traces.WRITING_REMEDY) as partial:
        torch.save(kept, partial)
    own.replace(path)
    return trained


def _tokenizer(declared: Declared, name: str) -> Tokenizer:
    return make(declared.tokenizers[name], declared.cells)


def _weights_path(work: Path, declared: Declared, planned: Planned) -> Path:
    condition = planned.condition
    same = condition.model_copy(update={"condition": "", "prompt_tokenizer": condition.tokenizer})
    return work / f"{fingerprint(declared, replace(planned, condition=same))}.pt"


def _row_path(work: Path, declared: Declared, planned: Planned) -> Path:
    return work / f"{planned.name}-{fingerprint(declared, planned)}.json"
