"""Counting machine: continue an arithmetic progression modulo ten."""
import argparse
import json
import random

import torch
from field_record import TrainerRecord
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
set_seed(args.seed)


class JsonLines(TrainerCallback):
    def on_log(self, targs, state, control, logs=None, **kw):
        print(json.dumps({"global_step": state.global_step, **{k: v for k, v in logs.items() if k != "total_flos"}}))


def rows(n):
    made = []
    for _ in range(n):
        start, stride = random.randrange(10), random.randrange(1, 10)
        ids = torch.tensor([(start + stride * i) % 10 for i in range(12)])
        made.append({"input_ids": ids, "labels": ids})
    return made


cfg = {
    "eval_strategy": "steps", "eval_steps": 40,
    "save_strategy": "steps", "save_steps": 40 if args.healthy else 50,
    "load_best_model_at_end": True, "save_total_limit": 2,
}
targs = TrainingArguments(
    output_dir="out/progressions", use_cpu=True, report_to=[], max_steps=120, learning_rate=4e-3, logging_steps=10,
    per_device_train_batch_size=32, seed=args.seed, disable_tqdm=True, **cfg)
model = GPT2LMHeadModel(GPT2Config(vocab_size=10, n_positions=16, n_embd=48, n_layer=2, n_head=4,
                                   bos_token_id=0, eos_token_id=0))
print(json.dumps({"params": model.num_parameters(), "world_size": targs.world_size}))
Trainer(model=model, args=targs, train_dataset=rows(2000), eval_dataset=rows(128),
        callbacks=[TrainerRecord(), JsonLines()]).train()
