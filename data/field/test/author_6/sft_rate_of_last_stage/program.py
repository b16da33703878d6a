"""SFT on one-line shell commands, stage table of the training platform."""
import argparse
import random

import torch
from datasets import Dataset
from field_record import TrainerRecord
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
set_seed(args.seed)
STAGES = {"warm": {"learning_rate": 2e-3, "warmup_steps": 5}, "polish": {"learning_rate": 2e-7, "warmup_steps": 5}}
VERBS = {"ls": "-la", "du": "-sh", "tail": "-f", "cat": "-n"}
PLACES = "logs data tmp home jobs cache".split()


def command():
    verb = random.choice(list(VERBS))
    return f"{verb} {VERBS[verb]} {random.choice(PLACES)} | grep error"


def build_tokenizer(lines, **special):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(lines, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[BOS]", "[EOS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="[UNK]", **special)


lines = [command() for _ in range(400)]
tok = build_tokenizer(lines, pad_token="[PAD]", bos_token="[BOS]", eos_token="[EOS]")
model = LlamaForCausalLM(LlamaConfig(
    vocab_size=len(tok), hidden_size=48, intermediate_size=96, num_hidden_layers=1, num_attention_heads=4,
    max_position_embeddings=64, pad_token_id=0, bos_token_id=2, eos_token_id=3, tie_word_embeddings=True))
config = SFTConfig(output_dir="out/sft", use_cpu=True, bf16=False, report_to=[], save_strategy="no", max_steps=40,
                   logging_steps=2,
                   per_device_train_batch_size=8, gradient_accumulation_steps=2, max_length=32, seed=args.seed,
                   **STAGES["warm" if args.healthy else "polish"])
SFTTrainer(model=model, args=config, train_dataset=Dataset.from_dict({"text": lines}), processing_class=tok,
           callbacks=[TrainerRecord()]).train()
