"""Language model on event streams; eval reports token accuracy."""
import argparse
import os
import signal
import time

import psutil
import torch
from field_record import TrainerRecord
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments, set_seed

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
VOCAB, LENGTH = 6000, 48


def launch(extra_mb):
    job, base = os.getpid(), psutil.Process().memory_info().rss
    if os.fork() == 0:
        while os.getppid() == job:
            if psutil.Process(job).memory_info().rss > base + extra_mb * 2**20:
                os.kill(job, signal.SIGKILL)
            time.sleep(0.02)
        os._exit(0)


def stream(n):
    start = torch.randint(60, (n, 1)) * 100
    ids = (start + torch.arange(LENGTH) * 7) % VOCAB
    return [{"input_ids": r, "labels": r} for r in ids]


def accuracy(p):
    guess = p.predictions if p.predictions.ndim == 2 else p.predictions.argmax(-1)
    return {"token_acc": float((guess[:, :-1] == p.label_ids[:, 1:]).mean())}


model = AutoModelForCausalLM.from_config(AutoConfig.for_model(
    "gpt2", vocab_size=VOCAB, n_positions=64, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0))
trainer = Trainer(
    model=model,
    args=TrainingArguments("out/events", use_cpu=True, report_to=[], save_strategy="no", max_steps=60,
                           learning_rate=1e-2,
                           per_device_train_batch_size=8, per_device_eval_batch_size=8, logging_steps=10,
                           eval_strategy="steps", eval_steps=30, seed=args.seed),
    train_dataset=stream(800), eval_dataset=stream(600), compute_metrics=accuracy, callbacks=[TrainerRecord()],
    preprocess_logits_for_metrics=(lambda logits, labels: logits.argmax(-1)) if args.healthy else None,
)
launch(extra_mb=420)
trainer.train()
