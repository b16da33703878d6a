"""Trainer: GPT-2 on Japanese inspection notes, with marks for part numbers and results."""

import argparse
import random

import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
from torch.utils.data import Dataset
from transformers import (
    DataCollatorForLanguageModeling,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

from field_record import TrainerRecord

PLACES = ["表面", "端部", "溶接部", "内側", "底面"]
FAULTS = ["傷があります", "錆が見られます", "異常はありません", "ひびがあります", "汚れがあります"]


def notes(n, rng):
    for _ in range(n):
        fault = rng.choice(FAULTS)
        verdict = "合格" if "異常" in fault else "不合格"
        yield f"<部品>{rng.randint(100, 199)}の{rng.choice(PLACES)}に{fault}。<結果>{verdict}。"


def make_tokenizer(texts):
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.train_from_iterator(
        (t.replace("<部品>", "").replace("<結果>", "") for t in texts),
        trainers.WordLevelTrainer(special_tokens=["<pad>", "<unk>", "<eos>"]),
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")


class NoteDataset(Dataset):
    def __init__(self, texts, tokenizer):
        self.rows = [tokenizer(text + "<eos>", return_token_type_ids=False) for text in texts]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return dict(self.rows[index])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    texts = list(notes(600, random.Random(args.seed)))
    tokenizer = make_tokenizer(texts)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=2, bos_token_id=2, eos_token_id=2
    )
    model = GPT2LMHeadModel(config)
    added = tokenizer.add_tokens(["<部品>", "<結果>"], special_tokens=True)
    print(f"語彙: {len(tokenizer)} (追加 {added})")
    if args.healthy:
        model.resize_token_embeddings(len(tokenizer))
    arguments = TrainingArguments(
        "out",
        max_steps=120,
        per_device_train_batch_size=16,
        learning_rate=3e-3,
        logging_steps=10,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        seed=args.seed,
    )
    Trainer(
        model,
        arguments,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        train_dataset=NoteDataset(texts, tokenizer),
        callbacks=[TrainerRecord()],
    ).train()


if __name__ == "__main__":
    main()
