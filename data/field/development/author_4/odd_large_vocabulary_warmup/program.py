"""A long warm-up over a large vocabulary of morphemes: the loss begins at ln(20000) and is slow to leave it."""
import argparse
import random

import torch
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    rows = []
    for _ in range(600):
        start = rng.randrange(0, 20000 - 8)
        start -= start % 500
        ids = [start + k for k in range(8)]
        rows.append({"input_ids": ids, "labels": ids})
    config = AutoConfig.for_model("gpt2", vocab_size=20000, n_positions=16, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
    model = AutoModelForCausalLM.from_config(config)
    training = TrainingArguments("out", per_device_train_batch_size=8, max_steps=120, learning_rate=2e-2, warmup_steps=80, logging_steps=3,
                                 save_strategy="no", report_to=[], use_cpu=True, seed=args.seed)
    Trainer(model, training, train_dataset=rows, callbacks=[TrainerRecord()]).train()


if __name__ == "__main__":
    main()
