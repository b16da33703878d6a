"""Trainer: maintenance notes as urgent or routine, a small BERT with a collator of its own."""

import argparse
import random

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

URGENT = "smoke leak crack stopped sparks burning overheated alarm".split()
ROUTINE = "cleaned greased checked replaced adjusted labelled painted tested".split()
FILLER = "the pump motor valve on line two was by shift at noon and then again".split()
WORDS = {word: index for index, word in enumerate(["<pad>", "<cls>", *FILLER, *URGENT, *ROUTINE])}


def make_notes(n, rng):
    rows = []
    for _ in range(n):
        label = rng.randint(0, 1)
        words = [rng.choice(FILLER) for _ in range(rng.randint(5, 15))]
        for _ in range(2):
            words.insert(rng.randint(0, len(words)), rng.choice((ROUTINE, URGENT)[label]))
        rows.append({"text": " ".join(words), "label": label})
    return rows


class NoteCollator:
    def __init__(self, length, attend):
        self.length, self.attend = length, attend

    def __call__(self, rows):
        ids = torch.zeros(len(rows), self.length, dtype=torch.long)
        for i, row in enumerate(rows):
            tokens = [WORDS["<cls>"]] + [WORDS[word] for word in row["text"].split()]
            ids[i, : len(tokens)] = torch.tensor(tokens)
        return {
            "input_ids": ids,
            "attention_mask": self.attend(ids, WORDS["<pad>"]).long(),
            "labels": torch.tensor([r["label"] for r in rows]),
        }


def compute_metrics(output):
    return {"accuracy": float((np.argmax(output.predictions, -1) == output.label_ids).mean())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=32,
    )
    arguments = TrainingArguments(
        "out",
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        learning_rate=2e-3,
        logging_steps=25,
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        remove_unused_columns=False,
        use_cpu=True,
        seed=args.seed,
    )
    trainer = Trainer(
        BertForSequenceClassification(config),
        arguments,
        data_collator=NoteCollator(24, torch.ne if args.healthy else torch.eq),
        train_dataset=make_notes(800, rng),
        eval_dataset=make_notes(400, rng),
        compute_metrics=compute_metrics,
        callbacks=[TrainerRecord()],
    )
    trainer.train()


if __name__ == "__main__":
    main()
