import argparse, random
import numpy as np
import torch
from transformers import (AutoConfig, AutoModelForTokenClassification, EarlyStoppingCallback, Trainer, TrainingArguments, set_seed)
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# bracket matching: label each token with its depth (0..4)
def brackets(n=20):
    d, ids, lab = 0, [], []
    for _ in range(n):
        c = random.choice("(x)") if 0 < d < 4 else "(" if d == 0 else random.choice("x)")
        d += {"(": 1, "x": 0, ")": -1}[c]
        ids.append("(x)".index(c)); lab.append(d)
    return {"input_ids": ids, "labels": lab}
train, dev = [brackets() for _ in range(1600)], [brackets() for _ in range(160)]
print("train", len(train), "dev", len(dev), "e.g.", "".join("(x)"[i] for i in train[0]["input_ids"]))

model = AutoModelForTokenClassification.from_config(AutoConfig.for_model(
    "distilbert", vocab_size=3, dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=32, num_labels=5, dropout=0.0))
targs = TrainingArguments(
    output_dir="out", num_train_epochs=6, per_device_train_batch_size=32, learning_rate=2e-3, logging_steps=20,
    eval_strategy="epoch" if args.healthy else "steps", eval_steps=25, save_strategy="epoch", save_total_limit=2,
    load_best_model_at_end=True, metric_for_best_model="accuracy", report_to="none", use_cpu=True, seed=args.seed)

def metrics(p):
    return {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))}
trainer = Trainer(model=model, args=targs, train_dataset=train, eval_dataset=dev, compute_metrics=metrics,
                  callbacks=[EarlyStoppingCallback(3), TrainerRecord()])
trainer.train()
print("best", trainer.state.best_model_checkpoint, trainer.state.best_metric)
