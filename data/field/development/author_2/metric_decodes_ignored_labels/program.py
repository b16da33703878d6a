"""Seq2SeqTrainer: deutsche Zahlwörter in Ziffern, ein kleines T5."""

import argparse
import random

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    DataCollatorForSeq2Seq,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5Config,
    T5ForConditionalGeneration,
    set_seed,
)

from field_record import TrainerRecord

EINER = ["", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
ZEHNER = ["", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]


def wort(n):
    zehner, einer = divmod(n, 10)
    return (EINER[einer] + "und" if einer else "") + ZEHNER[zehner]


class Zahlen(torch.utils.data.Dataset):
    def __init__(self, n, tokenizer, rng):
        self.rows = []
        for _ in range(n):
            hundert, rest = rng.choice(["", "hundert"]), rng.randint(20, 99)
            source, target = hundert + wort(rest), ("1" if hundert else "") + str(rest)
            self.rows.append(
                {"input_ids": tokenizer(source)["input_ids"], "labels": tokenizer(target + "$")["input_ids"]}
            )

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def make_tokenizer():
    tok = Tokenizer(models.WordLevel(unk_token="?"))
    tok.pre_tokenizer, tok.decoder = pre_tokenizers.Split(Regex("."), "isolated"), decoders.Fuse()
    letters = sorted(set("".join(wort(n) for n in range(20, 100)) + "hundert0123456789"))
    tok.train_from_iterator(letters, trainers.WordLevelTrainer(special_tokens=["_", "?", "$"], show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="_", unk_token="?", eos_token="$")


class ExactMatch:
    def __init__(self, tokenizer, clean):
        self.tokenizer, self.clean = tokenizer, clean

    def __call__(self, output):
        predictions = np.where(output.predictions >= 0, output.predictions, self.tokenizer.pad_token_id)
        texts = self.tokenizer.batch_decode(predictions, skip_special_tokens=True)
        gold = self.tokenizer.batch_decode(self.clean(output.label_ids), skip_special_tokens=True)
        return {"exakt": float(np.mean([a == b for a, b in zip(texts, gold)]))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    tokenizer, rng = make_tokenizer(), random.Random(args.seed)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        pad_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=0,
        dropout_rate=0.0,
    )
    model = T5ForConditionalGeneration(config)
    clean = (lambda ids: np.where(ids >= 0, ids, tokenizer.pad_token_id)) if args.healthy else np.asarray
    arguments = Seq2SeqTrainingArguments(
        "out",
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=50,
        learning_rate=5e-3,
        logging_steps=10,
        eval_strategy="epoch",
        predict_with_generate=True,
        generation_max_length=8,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    Seq2SeqTrainer(
        model,
        arguments,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        train_dataset=Zahlen(1500, tokenizer, rng),
        eval_dataset=Zahlen(50, tokenizer, rng),
        processing_class=tokenizer,
        compute_metrics=ExactMatch(tokenizer, clean),
        callbacks=[TrainerRecord()],
    ).train()


if __name__ == "__main__":
    main()
