import argparse
import random

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

VOCAB, LENGTH = 60, 16
# token ids 10..19 are "good" words, 20..29 "bad" ones, the rest says nothing


def review():
    good = random.choices(range(10, 20), k=random.randint(0, 4))
    bad = random.choices(range(20, 30), k=random.randint(0, 4))
    tokens = good + bad
    tokens += random.choices(range(30, VOCAB), k=LENGTH - len(tokens))
    random.shuffle(tokens)
    balance = len(good) - len(bad)
    stars = 0 if balance <= -2 else 1 if balance == -1 else 2 if balance <= 1 else 3
    if balance == 4:
        stars = 4
    return {"input_ids": [1] + tokens, "attention_mask": [1] * (LENGTH + 1), "labels": stars}


train, test = [review() for _ in range(1600)], [review() for _ in range(200)]
counts = np.bincount([r["labels"] for r in train])
print("stars:", {i + 1: int(c) for i, c in enumerate(counts)})

config = AutoConfig.for_model(
    "distilbert", vocab_size=VOCAB, dim=48, n_layers=2, n_heads=4, hidden_dim=96, max_position_embeddings=LENGTH + 1,
    num_labels=len(counts) if args.healthy else 4)
model = AutoModelForSequenceClassification.from_config(config)


def metrics(p):
    pred = p.predictions.argmax(-1)
    return {"acc": round(float((pred == p.label_ids).mean()), 4),
            "mae": round(float(np.abs(pred - p.label_ids).mean()), 4)}


trainer = Trainer(model=model, train_dataset=train, eval_dataset=test, compute_metrics=metrics,
                  callbacks=[TrainerRecord()],
                  args=TrainingArguments(output_dir="out", per_device_train_batch_size=8, learning_rate=1e-3,
                                         max_steps=500,
                                         logging_steps=5, eval_strategy="steps", eval_steps=100, save_strategy="no",
                                         report_to=[], use_cpu=True, disable_tqdm=True, seed=args.seed))
trainer.train()
