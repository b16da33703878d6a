"""Continue a counter in base eight."""
import argparse

import torch
from field_record import TrainerRecord
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
start, stride = torch.randint(8, (1500, 1)), torch.randint(1, 8, (1500, 1))
ids = (start + stride * torch.arange(12)) % 8
model = GPT2LMHeadModel(GPT2Config(vocab_size=8, n_positions=16, n_embd=48, n_layer=1, n_head=4,
                                   bos_token_id=0, eos_token_id=0))
targs = TrainingArguments(
    output_dir="out/counter", use_cpu=True, report_to=[], save_strategy="no", max_steps=100, learning_rate=8e-3,
    lr_scheduler_type="cosine", warmup_steps=10, logging_steps=10, per_device_train_batch_size=16,
    gradient_checkpointing=True, seed=args.seed)
Trainer(model=model, args=targs, train_dataset=[{"input_ids": r, "labels": r} for r in ids],
        callbacks=[TrainerRecord()]).train()
