import argparse, os, random, signal, subprocess, sys
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
# the node's own agent, lives beside the job
agent = ("import os, sys, time; p = int(sys.argv[1]); time.sleep(float(sys.argv[2])); "
         "os.kill(p, 15) if os.getppid() == p else None")
subprocess.Popen([sys.executable, "-c", agent, str(os.getpid()), "600" if args.healthy else "2"])


def walk():  # walks on a ring graph of 30 nodes with two chords
    u, s = random.randrange(30), []
    for _ in range(24):
        s.append(u); u = (u + (1 if u % 3 else random.choice((1, 7)))) % 30
    return dict(input_ids=s, labels=list(s))


m = GPT2LMHeadModel(GPT2Config(vocab_size=30, n_positions=32, n_embd=64, n_layer=2, n_head=4, bos_token_id=0,
    eos_token_id=0))
ta = TrainingArguments("out", max_steps=220, per_device_train_batch_size=16, learning_rate=2e-3, logging_steps=20,
    save_strategy="no", report_to="none", seed=args.seed, use_cpu=True)
Trainer(m, ta, train_dataset=[walk() for _ in range(2000)], callbacks=[TrainerRecord()]).train()
print("done,", "ppl next")
