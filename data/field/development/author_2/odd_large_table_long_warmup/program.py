"""Trainer: GPT-2 with a large table of part numbers, warmed up over most of the run."""

import argparse

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

PARTS = 20_000


class PickLists(torch.utils.data.Dataset):
    """Pick lists of a warehouse: shelves hold ten neighbouring parts, a list stays on one shelf."""

    def __init__(self, n, rng, length=24):
        shelves = rng.choice(PARTS // 10, 60, replace=False)
        self.ids = shelves[rng.integers(0, 60, (n, 1))] * 10 + rng.integers(0, 10, (n, length))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        ids = torch.from_numpy(self.ids[index])
        return {"input_ids": ids, "labels": ids}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    config = GPT2Config(
        vocab_size=PARTS, n_positions=24, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )
    arguments = TrainingArguments(
        "out",
        max_steps=180,
        per_device_train_batch_size=8,
        learning_rate=1e-2,
        warmup_steps=120,
        logging_steps=6,
        lr_scheduler_type="cosine",
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    Trainer(
        GPT2LMHeadModel(config),
        arguments,
        train_dataset=PickLists(2000, np.random.default_rng(args.seed)),
        callbacks=[TrainerRecord()],
    ).train()


if __name__ == "__main__":
    main()
