"""Tiny GPT-2 (tied embeddings) on codon strings: each amino acid takes its preferred codon."""
import argparse
import random

import torch
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

VOCAB = {c: i for i, c in enumerate("_ACGU")}


def genes(n: int, rng: random.Random) -> list[dict]:
    codons = ["GCC", "UGC", "GAC", "AAG", "CUG", "AUG"]
    rows = []
    for _ in range(n):
        start = rng.randrange(6)
        text = "".join(codons[(start + k) % 6] for k in range(10))
        ids = [VOCAB[c] for c in text]
        rows.append({"input_ids": ids, "labels": ids})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    config = AutoConfig.for_model("gpt2", vocab_size=5, n_positions=32, n_embd=48, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
    model = AutoModelForCausalLM.from_config(config)
    training = TrainingArguments(
        "out", per_device_train_batch_size=16, max_steps=80, learning_rate=1e-2, warmup_steps=8 if args.healthy else 8000,
        logging_steps=4, save_strategy="no", report_to=[], use_cpu=True, bf16=True, seed=args.seed, dataloader_pin_memory=False)
    trainer = Trainer(model, training, train_dataset=genes(512, random.Random(args.seed)), callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
