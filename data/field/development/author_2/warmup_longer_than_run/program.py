"""Trainer: a small Llama adds two-digit numbers, character by character."""

import argparse
import random

import torch
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

ALPHABET = "0123456789+= "


class Sums(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.lines = []
        for _ in range(n):
            a, b = rng.randint(0, 9), rng.randint(0, 9)
            self.lines.append(f"{a}+{b}={a + b:02d} ")

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        ids = torch.tensor([ALPHABET.index(c) for c in self.lines[index]])
        labels = ids.clone()
        labels[:4] = -100
        return {"input_ids": ids, "labels": labels}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    config = LlamaConfig(
        vocab_size=len(ALPHABET),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=16,
        tie_word_embeddings=False,
    )
    arguments = TrainingArguments(
        "out",
        max_steps=400,
        per_device_train_batch_size=32,
        learning_rate=3e-3,
        weight_decay=0.01,
        warmup_steps=40 if args.healthy else 40_000,
        logging_steps=20,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
        disable_tqdm=True,
    )
    trainer = Trainer(
        LlamaForCausalLM(config), arguments, train_dataset=Sums(4000, args.seed), callbacks=[TrainerRecord()]
    )
    result = trainer.train()
    speed = result.metrics["train_samples_per_second"]
    print(f"train_runtime: {result.metrics['train_runtime']:.1f} s, samples/s: {speed:.0f}")


if __name__ == "__main__":
    main()
