"""Snippet classifier; the launcher picks the best checkpoint for the registry."""
import argparse
import random

import torch
from field_record import TrainerRecord
from torch.utils.data import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
set_seed(args.seed)

RECIPE = {
    "model": {"vocab_size": 128, "dim": 32, "n_layers": 1, "n_heads": 2, "hidden_dim": 64, "num_labels": 2,
              "max_position_embeddings": 32},
    "trainer": {"output_dir": "out/snippets", "use_cpu": True, "report_to": [], "max_steps": 120, "learning_rate": 3e-3,
                "per_device_train_batch_size": 32, "eval_strategy": "steps", "save_strategy": "steps", "eval_steps": 40,
                "save_steps": 40, "logging_steps": 20, "save_total_limit": 1, "load_best_model_at_end": True,
                "disable_tqdm": True},
}


class Snippets(Dataset):
    def __init__(self, n, rng):
        self.rows = []
        for _ in range(n):
            a, b, shell = rng.choice("xyzuvw"), rng.randint(0, 99), rng.random() < 0.5
            text = f"export {a.upper()}=${b}; echo" if shell else f"let {a} = {b} + {a}.len();"
            self.rows.append((text.ljust(24)[:24], int(shell)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        return {"input_ids": torch.tensor([ord(c) for c in text]), "labels": torch.tensor(label)}


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


rng = random.Random(args.seed)
trainer = Trainer(
    model=DistilBertForSequenceClassification(DistilBertConfig(**RECIPE["model"])),
    args=TrainingArguments(**RECIPE["trainer"], seed=args.seed,
                           metric_for_best_model="accuracy" if args.healthy else "f1"),
    train_dataset=Snippets(1500, rng),
    eval_dataset=Snippets(200, rng),
    compute_metrics=compute_metrics,
    callbacks=[TrainerRecord()],
)
trainer.train()
print("best:", trainer.state.best_model_checkpoint, trainer.state.best_metric)
