"""TRL: DPO for a controller's verdicts, stop or run, from a temperature and a pressure."""

import argparse
import copy
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer

from field_record import TrainerRecord

WORDS = ["<pad>", "<unk>", "<eos>", "temp", "bar", "->", "stop", "run", "the", "line", "now", *map(str, range(100))]


def verdicts(n, rng):
    rows = {"prompt": [], "chosen": [], "rejected": []}
    for _ in range(n):
        temperature, pressure = rng.randint(0, 99), rng.randint(0, 9)
        good, bad = ("stop", "run") if temperature > 60 else ("run", "stop")
        rows["prompt"].append(f"temp {temperature} bar {pressure} -> ")
        rows["chosen"].append(f"{good} the line now")
        rows["rejected"].append(f"{bad} the line now")
    return Dataset.from_dict(rows)


def make_tokenizer():
    tok = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    tokenizer = make_tokenizer()
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32,
        bos_token_id=None,
        eos_token_id=2,
        pad_token_id=0,
    )
    policy = LlamaForCausalLM(config)
    reference = copy.deepcopy(policy).requires_grad_(False)
    arguments = DPOConfig(
        "out",
        beta=0.1 if args.healthy else 0.0,
        max_steps=120,
        per_device_train_batch_size=16,
        learning_rate=2e-3,
        max_length=24,
        logging_steps=8,
        gradient_checkpointing=False,
        bf16=False,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    DPOTrainer(
        policy,
        reference,
        arguments,
        train_dataset=verdicts(800, random.Random(args.seed)),
        processing_class=tokenizer,
        callbacks=[TrainerRecord()],
    ).train()


if __name__ == "__main__":
    main()
