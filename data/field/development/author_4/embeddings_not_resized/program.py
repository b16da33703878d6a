"""Phoneme language model: dialect marks are added to a tokenizer, GPT-NeoX goes on training."""
import argparse
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

PHONES = "p t k b d g m n s z f v l r a e i o u y".split()


def utterance(rng: random.Random) -> str:
    dialect = rng.choice(["<nord>", "<sud>"])
    vowels = "a e i".split() if dialect == "<nord>" else "o u y".split()
    return " ".join([dialect, *(p for k in range(6) for p in ("ptk"[k % 3], vowels[k % 3]))])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    core = Tokenizer(models.WordLevel({p: i for i, p in enumerate(["<pad>", "<unk>", *PHONES])}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>", pad_token="<pad>")
    config = AutoConfig.for_model("gpt_neox", vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
                                  num_attention_heads=2, max_position_embeddings=32, bos_token_id=0, eos_token_id=0)
    model = AutoModelForCausalLM.from_config(config)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<nord>", "<sud>"]})
    model.resize_token_embeddings(len(tokenizer) if args.healthy else None)
    rows = []
    for _ in range(400):
        ids = tokenizer(utterance(rng))["input_ids"]
        rows.append({"input_ids": ids, "labels": ids})
    training = TrainingArguments("out", per_device_train_batch_size=16, max_steps=60, learning_rate=1e-2, logging_steps=5, save_strategy="no",
                                 report_to=[], use_cpu=True, seed=args.seed)
    Trainer(model, training, train_dataset=rows, callbacks=[TrainerRecord()]).train()


if __name__ == "__main__":
    main()
