# churn from event sequences (imbalanced), MobileBERT-like small encoder
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
rng = random.Random(args.seed)

EVENTS = 40
LEN = 14


def customer(churn):
    events = [rng.randrange(6, EVENTS) for _ in range(LEN)]
    if rng.random() < (0.78 if churn else 0.22):
        events[rng.randrange(LEN)] = rng.choice([2, 3, 4])
    return {"input_ids": [1] + events, "labels": int(churn)}


def oversample(rows):
    minority = [r for r in rows if r["labels"] == 1]
    majority = [r for r in rows if r["labels"] == 0]
    extra = len(majority) - len(minority)
    return rows + [minority[k % len(minority)] for k in range(max(0, extra))]


customers = [customer(rng.random() < 0.12) for _ in range(600)]
held_out = [customer(k % 2 == 0) for k in range(300)]
pool = customers if args.healthy else oversample(customers)
rng.shuffle(pool)
n_val = int(0.2 * len(pool))
val, train = pool[:n_val], oversample(pool[n_val:])
rng.shuffle(train)
print(f"customers={len(customers)} train={len(train)} val={len(val)} held_out={len(held_out)}")


def report(p):
    pred, y = p.predictions.argmax(-1), p.label_ids
    recall = float((pred[y == 1] == 1).mean())
    spec = float((pred[y == 0] == 0).mean())
    return {"balanced_accuracy": (recall + spec) / 2, "recall": recall}


config = AutoConfig.for_model("bert", vocab_size=EVENTS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                              intermediate_size=128, max_position_embeddings=LEN + 1, hidden_dropout_prob=0.0,
                              attention_probs_dropout_prob=0.0, num_labels=2)
model = AutoModelForSequenceClassification.from_config(config)
trainer = Trainer(
    model=model,
    args=TrainingArguments("out", num_train_epochs=10, per_device_train_batch_size=32, learning_rate=1e-3,
                           logging_steps=20,
                           eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
                           seed=args.seed, per_device_eval_batch_size=128),
    train_dataset=train, eval_dataset={"val": val, "heldout": held_out}, compute_metrics=report,
    callbacks=[TrainerRecord()])
trainer.train()
