from typing import Any

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from failbench.monitor.history import History
from failbench.monitor.records.first_break import diagnose

TOKENS, POSITIONS, ROWS = 40, 12, 4


def causal_model(**settings: Any) -> GPT2LMHeadModel:
    torch.manual_seed(0)
    sizes = {"vocab_size": TOKENS, "n_positions": POSITIONS, "n_embd": 16}
    sizes |= {"n_layer": 2, "n_head": 2, "bos_token_id": 0, "eos_token_id": 0}
    return GPT2LMHeadModel(GPT2Config(**sizes, **settings))


class Texts(torch.utils.data.Dataset):
    """Rows of token ids, and labels of which some are ignored; row ``fails_at`` cannot be read."""

    def __init__(self, rows: int, seed: int = 0, fails_at: int | None = None) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(1, TOKENS, (rows, POSITIONS), generator=generator)
        self.fails_at = fails_at

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, place: int) -> dict[str, torch.Tensor]:
        if place == self.fails_at:
            raise OSError("the disk is gone")
        ids = self.ids[place]
        labels = ids.clone()
        labels[: place % 5] = -100
        return {"input_ids": ids, "labels": labels}


def alarms(history: History) -> set[str]:
    """The invariants that broke, by logic alone."""
    return {each.invariant.id for each in diagnose(history, {}).breaks}


class BrokenError(Exception):
    """What the tests break a loop with."""


def break_at(module: torch.nn.Module, call: int) -> None:
    calls = iter(range(call + 1))

    def count(*_: Any) -> None:
        if next(calls, call) == call:
            raise BrokenError("it broke")

    module.register_forward_pre_hook(count)
