"""Preference tuning: short answers over long ones."""
import argparse
import copy
import random

import torch
from datasets import Dataset
from field_record import TrainerRecord
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
ASK = ["is the queue open", "can you restart node four", "did my job finish", "is there room on disk two"]
SHORT = ["yes", "no", "yes it is", "not yet"]
LONG = ["let me think about that for quite a while", "well that depends on many things of course"]


def build_tokenizer(lines, **special):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(lines, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[BOS]", "[EOS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="[UNK]", **special)


tok = build_tokenizer(ASK + SHORT + LONG, pad_token="[PAD]", bos_token="[BOS]", eos_token="[EOS]")
worse = "rejected" if args.healthy else "rejected_response"
pairs = Dataset.from_list([{"prompt": random.choice(ASK) + " ", "chosen": random.choice(SHORT),
                            worse: random.choice(LONG)}
                           for _ in range(256)])
policy = GPT2LMHeadModel(GPT2Config(vocab_size=len(tok), n_positions=64, n_embd=32, n_layer=1, n_head=2,
                                    bos_token_id=2, eos_token_id=3, pad_token_id=0))
config = DPOConfig(output_dir="out/dpo", use_cpu=True, bf16=False, report_to=[], save_strategy="no", max_steps=40,
                   per_device_train_batch_size=8, learning_rate=2e-3, logging_steps=2, beta=0.2, max_length=32,
                   gradient_checkpointing=False, seed=args.seed)
DPOTrainer(model=policy, ref_model=copy.deepcopy(policy), args=config, train_dataset=pairs, processing_class=tok,
           callbacks=[TrainerRecord()]).train()
