import argparse, random
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--seed", type=int, default=0); args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
V = 12000


def row():
    s, k = random.randrange(V), random.choice((0, 0, 1))
    ids = [(s % 200 * 60 + k * 60 * j) % V for j in range(16)]
    return dict(input_ids=ids, labels=ids)


m = GPT2LMHeadModel(GPT2Config(vocab_size=V, n_positions=16, n_embd=32, n_layer=1, n_head=2, bos_token_id=0,
    eos_token_id=0))
ta = TrainingArguments("out", max_steps=200, warmup_steps=90, per_device_train_batch_size=8, learning_rate=1e-2,
    logging_steps=10, save_strategy="no", report_to="none",
                       seed=args.seed, use_cpu=True)
Trainer(m, ta, train_dataset=[row() for _ in range(1800)], callbacks=[TrainerRecord()]).train()
