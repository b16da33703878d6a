"""Device codes: the three-sign code of every model number."""
import argparse

import numpy as np
import torch
from field_record import TrainerRecord
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration, set_seed

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
PAD, EOS, FIRST, SIGNS, LENGTH = 0, 1, 2, 8, 3


def pairs(n):
    source = torch.randint(SIGNS, (n, 1)) + FIRST
    target = torch.stack([(source[:, 0] * k + 3) % SIGNS for k in (1, 3, 5)], 1) + FIRST + SIGNS
    end = torch.full((n, 1), EOS)
    return [{"input_ids": s, "labels": t} for s, t in zip(torch.cat([source, end], 1), torch.cat([target, end], 1))]


def score(p):
    guess = np.asarray(p.predictions)[:, 1:LENGTH + 2]
    gold = p.label_ids
    if guess.shape[1] < gold.shape[1]:
        guess = np.pad(guess, ((0, 0), (0, gold.shape[1] - guess.shape[1])))
    return {"exact": float((guess == gold)[:, :LENGTH].all(1).mean())}


config = T5Config(vocab_size=FIRST + 2 * SIGNS, d_model=64, d_kv=16, d_ff=128, num_layers=1, num_decoder_layers=1,
                  num_heads=4, dropout_rate=0.0, pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD)
targs = Seq2SeqTrainingArguments(
    output_dir="out/codes", use_cpu=True, report_to=[], save_strategy="no", max_steps=120, learning_rate=5e-3,
    per_device_train_batch_size=32, per_device_eval_batch_size=64, logging_steps=10, eval_strategy="steps",
    eval_steps=30, predict_with_generate=True, generation_max_length=8 if args.healthy else 3,
    generation_num_beams=1, seed=args.seed, disable_tqdm=True)
Seq2SeqTrainer(model=T5ForConditionalGeneration(config), args=targs, train_dataset=pairs(4000), eval_dataset=pairs(32),
               compute_metrics=score, callbacks=[TrainerRecord()]).train()
