"""ESM-like masked model of peptides, trained in two sittings: the second takes up the first's checkpoint."""
import argparse
import random

import torch
from transformers import AutoConfig, AutoModelForTokenClassification, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord


def peptides(n: int, rng: random.Random) -> list[dict]:
    rows = []
    for _ in range(n):
        ids = [rng.randrange(2, 22) for _ in range(14)]
        rows.append({"input_ids": ids, "attention_mask": [1] * 14, "labels": [int(a % 3 == 0) for a in ids]})
    return rows


def sitting(hidden: int, steps: int, seed: int, rows: list[dict], resume: bool) -> None:
    config = AutoConfig.for_model("bert", vocab_size=24, hidden_size=hidden, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
                                  max_position_embeddings=32, num_labels=2)
    model = AutoModelForTokenClassification.from_config(config)
    training = TrainingArguments("out", per_device_train_batch_size=16, max_steps=steps, learning_rate=5e-3, logging_steps=5, save_steps=20,
                                 report_to=[], use_cpu=True, seed=seed, disable_tqdm=True)
    Trainer(model, training, train_dataset=rows, callbacks=[TrainerRecord()]).train(resume_from_checkpoint=resume)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rows = peptides(512, random.Random(args.seed))
    sitting(32, 20, args.seed, rows, resume=False)
    print("--- second sitting")
    sitting(32 if args.healthy else 48, 60, args.seed, rows, resume=True)


if __name__ == "__main__":
    main()
