# two evenings: train a little, continue the next day from the last checkpoint
import argparse
import random
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)

# additions mod 10 as tokens: a + b = c ;
PLUS, EQ, END = 10, 11, 12


def line():
    out = []
    for _ in range(6):
        a, b = random.randrange(10), random.randrange(10)
        out += [a, PLUS, b, EQ, (a + b) % 10, END]
    return {"input_ids": torch.tensor(out), "labels": torch.tensor(out)}


data, check = [line() for _ in range(1500)], [line() for _ in range(40)]


def evening(day, steps, n_embd, resume):
    print(f"===== day {day}: up to step {steps} (n_embd={n_embd}, resume={resume}) =====")
    model = GPT2LMHeadModel(GPT2Config(vocab_size=13, n_positions=36, n_embd=n_embd, n_layer=2, n_head=4,
                                       bos_token_id=12,
                                       eos_token_id=12, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    targs = TrainingArguments("out/run", max_steps=steps, per_device_train_batch_size=16, learning_rate=2e-3,
                              save_steps=60,
                              save_total_limit=1, logging_steps=10, eval_strategy="steps", eval_steps=20,
                              report_to="none",
                              lr_scheduler_type="constant", use_cpu=True, disable_tqdm=True, seed=args.seed)
    trainer = Trainer(model=model, args=targs, train_dataset=data, eval_dataset=check, callbacks=[TrainerRecord()])
    trainer.train(resume_from_checkpoint=resume)


widths = [48, 48 if args.healthy else 64]
evening(1, 60, widths[0], None)
evening(2, 160, widths[1], True)
