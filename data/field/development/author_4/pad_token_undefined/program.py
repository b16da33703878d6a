"""Promoter or not: DNA k-mers with a tiny DistilBERT."""
import argparse
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (AutoConfig, AutoModelForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

from field_record import TrainerRecord


def sequence(rng: random.Random, promoter: int) -> str:
    bases = [rng.choice("ACGT") for _ in range(rng.randint(8, 16))]
    if promoter:
        at = rng.randrange(len(bases) - 4)
        bases[at:at + 4] = "TATA"
    return " ".join(bases)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    vocab = {t: i for i, t in enumerate(["<pad>", "<unk>", "A", "C", "G", "T"])}
    core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"unk_token": "<unk>", "pad_token": "<pad>"} if args.healthy else {"unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **special)
    rows = [{**tokenizer(sequence(rng, i % 2)), "labels": i % 2} for i in range(600)]
    for row in rows:
        row.pop("token_type_ids", None)
    config = AutoConfig.for_model("distilbert", vocab_size=len(vocab), dim=32, n_layers=1, n_heads=2, hidden_dim=64,
                                  max_position_embeddings=32, num_labels=2, dropout=0.0, seq_classif_dropout=0.0)
    model = AutoModelForSequenceClassification.from_config(config)
    training = TrainingArguments("out", per_device_train_batch_size=16, max_steps=150, learning_rate=5e-3, logging_steps=10, save_strategy="no",
                                 report_to=[], use_cpu=True, seed=args.seed)
    trainer = Trainer(model, training, train_dataset=rows, data_collator=DataCollatorWithPadding(tokenizer), callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
