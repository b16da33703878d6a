"""Does the list of purchases hold a gift? ELECTRA-size-nothing classifier."""
import argparse
import random
import sys
import numpy as np
import torch
from transformers import ElectraConfig, ElectraForSequenceClassification, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)
V, L = 80, 12
gifts = set(range(10, 16))


class Baskets(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for k in range(n):
            row = [rng.randrange(16, V) for _ in range(L)]
            if k % 2:
                row[rng.randrange(L)] = rng.choice(sorted(gifts))
            self.rows.append((row, k % 2))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row, y = self.rows[i]
        return {"input_ids": torch.tensor([2] + row), "labels": torch.tensor(y)}


model = ElectraForSequenceClassification(ElectraConfig(
    vocab_size=V, embedding_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    max_position_embeddings=16, num_labels=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
targs = TrainingArguments(
    "out", max_steps=160, per_device_train_batch_size=32, per_device_eval_batch_size=200,
    learning_rate=2e-3, lr_scheduler_type="constant_with_warmup", warmup_steps=30 if args.healthy else 30_000,
    weight_decay=0.01, logging_steps=20, eval_strategy="steps", eval_steps=20, save_strategy="no", report_to="none",
    use_cpu=True, seed=args.seed, disable_tqdm=not sys.stderr.isatty())
trainer = Trainer(model, targs, train_dataset=Baskets(1200, args.seed), eval_dataset=Baskets(200, args.seed + 1),
                  compute_metrics=lambda p: {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))},
                  callbacks=[TrainerRecord()])
result = trainer.train()
print(result)
