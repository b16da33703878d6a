"""Help-desk answers: learn to answer, not to ask."""
import argparse
import random

import torch
from field_record import TrainerRecord
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
WORDS = {w: i for i, w in enumerate(
    "<pad> <eos> where is the queue of team for which node runs job A: q1 q2 q3 q4 n1 n2 n3 n4 red blue green grey "
    "j1 j2 j3 j4 on".split())}
TEAM = dict(zip("red blue green grey".split(), "q3 q1 q4 q2".split()))
JOB = dict(zip("j1 j2 j3 j4".split(), "n2 n4 n1 n3".split()))


def example():
    if random.random() < 0.5:
        key = random.choice(list(TEAM))
        prompt, answer = f"where is the queue of team {key} A:", f"the queue is {TEAM[key]} <eos>"
    else:
        key = random.choice(list(JOB))
        prompt, answer = f"which node runs job {key} A:", f"the job runs on {JOB[key]} <eos>"
    ids = [WORDS[w] for w in f"{prompt} {answer}".split()]
    skip = len(prompt.split()) if args.healthy else len(prompt)
    labels = [-100 if i < skip else t for i, t in enumerate(ids)]
    pad = 16 - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad, "labels": labels + [-100] * pad}


config = LlamaConfig(vocab_size=len(WORDS), hidden_size=48, intermediate_size=96, num_hidden_layers=2,
                     num_attention_heads=4, max_position_embeddings=32, pad_token_id=0, eos_token_id=1,
                     bos_token_id=None)
model = LlamaForCausalLM(config)
targs = TrainingArguments(output_dir="out/helpdesk", use_cpu=True, report_to=[], save_strategy="no", max_steps=60,
                          per_device_train_batch_size=16, learning_rate=4e-3, logging_steps=3, seed=args.seed,
                          include_num_input_tokens_seen="all")
Trainer(model=model, args=targs, train_dataset=[example() for _ in range(600)], callbacks=[TrainerRecord()]).train()
