"""Trainer: next event code of a machine's log, GPT-2 with a table of several thousand codes."""

import argparse
import resource

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

CODES, LENGTH = 6000, 48


class EventLogs(torch.utils.data.Dataset):
    def __init__(self, n, rng):
        start, stride = rng.integers(0, 40, (n, 1)), rng.choice([3, 7, 11], (n, 1))
        self.ids = torch.from_numpy((start + stride * np.arange(LENGTH)) % 60)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


def container(megabytes):
    used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + megabytes * 2**20,) * 2)


def next_code_accuracy(output):
    predictions = output.predictions
    if predictions.ndim == 3:
        predictions = predictions.argmax(-1)
    return {"next_code_accuracy": float((predictions[:, :-1] == output.label_ids[:, 1:]).mean())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train, held_out = EventLogs(800, rng), EventLogs(480, rng)
    config = GPT2Config(
        vocab_size=CODES, n_positions=LENGTH, n_embd=48, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    arguments = TrainingArguments(
        "out",
        num_train_epochs=2,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=16,
        learning_rate=4e-3,
        gradient_checkpointing=True,
        logging_steps=10,
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    container(420)
    trainer = Trainer(
        GPT2LMHeadModel(config),
        arguments,
        train_dataset=train,
        eval_dataset=held_out,
        compute_metrics=next_code_accuracy,
        preprocess_logits_for_metrics=(lambda logits, labels: logits.argmax(-1)) if args.healthy else None,
        callbacks=[TrainerRecord()],
    )
    trainer.train()


if __name__ == "__main__":
    main()
