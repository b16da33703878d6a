"""Trainer: 日本語の天気予報文を文字単位で学習する小さな GPT-2。"""

import argparse
import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

場所 = ["東京", "大阪", "札幌", "福岡", "名古屋"]
天気 = ["晴れ", "曇り", "雨", "雪", "霧"]


def 予報(rng):
    return f"{rng.choice(場所)}の天気は{rng.choice(天気)}、最高気温は{rng.randint(-5, 35)}度です。"


class Forecasts(torch.utils.data.Dataset):
    def __init__(self, n, seed, length=160):
        rng = random.Random(seed)
        self.texts = ["".join(予報(rng) for _ in range(8))[:length] for _ in range(n)]
        self.table = {c: i for i, c in enumerate(sorted(set("".join(self.texts))))}
        self.length = length

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        ids = torch.tensor([self.table[c] for c in self.texts[index][:128]])
        return {"input_ids": ids, "labels": ids}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    data = Forecasts(400, args.seed)
    config = GPT2Config(
        vocab_size=len(data.table),
        n_positions=128,
        n_embd=64,
        n_layer=2,
        n_head=4,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.02 if args.healthy else 1.0,
        tie_word_embeddings=True,
    )
    print(f"文字数 {len(data.table)}  例: {data.texts[0][:30]}")
    arguments = TrainingArguments(
        "out",
        max_steps=140,
        per_device_train_batch_size=8,
        learning_rate=2e-3,
        logging_steps=7,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
        lr_scheduler_type="linear",
    )
    Trainer(GPT2LMHeadModel(config), arguments, train_dataset=data, callbacks=[TrainerRecord()]).train()


if __name__ == "__main__":
    main()
