"""Click paths: does the session end in a support call?"""
import argparse

import torch
from field_record import TrainerRecord
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
set_seed(args.seed)

CONFIG = {
    "data": {"pages": 50, "length": 20, "sessions": 4000},
    "optim": {"optim": "sgd", "learning_rate": 0.8, "lr_scheduler_type": "constant",
              "max_grad_norm": 1.0 if args.healthy else 1e-4},
    "run": {"max_steps": 280, "logging_steps": 14, "per_device_train_batch_size": 64},
}


class Paths(nn.Module):
    def __init__(self, pages, width=32):
        super().__init__()
        self.emb = nn.Embedding(pages, width)
        self.ff = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, input_ids, labels=None):
        logits = self.ff(self.emb(input_ids).mean(1) * 3)
        return SequenceClassifierOutput(loss=nn.functional.cross_entropy(logits, labels), logits=logits)


paths = torch.randint(CONFIG["data"]["pages"], (CONFIG["data"]["sessions"], CONFIG["data"]["length"]))
annoying = torch.randn(CONFIG["data"]["pages"])
calls = (annoying[paths].mean(1) > annoying.mean()).long()
train = [{"input_ids": p, "labels": c} for p, c in zip(paths, calls)]
Trainer(model=Paths(CONFIG["data"]["pages"]),
        args=TrainingArguments("out/paths", use_cpu=True, report_to=[], save_strategy="no", seed=args.seed,
                               **CONFIG["optim"], **CONFIG["run"]),
        train_dataset=train, callbacks=[TrainerRecord()]).train()
