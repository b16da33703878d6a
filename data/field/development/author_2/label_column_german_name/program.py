"""Trainer: Störmeldungen einer Abfüllanlage nach Ursache einordnen (BERT, klein)."""

import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

from field_record import TrainerRecord

URSACHEN = {
    "Mechanik": ["Lager", "Getriebe", "Riemen", "Welle", "Kupplung"],
    "Elektrik": ["Sicherung", "Kabel", "Relais", "Netzteil", "Antrieb"],
    "Sensorik": ["Lichtschranke", "Fühler", "Waage", "Kamera", "Drehgeber"],
}
FORMEN = [
    "{} an Linie {} ausgefallen",
    "Linie {1} steht, {0} geprüft",
    "{} meldet Fehler auf Linie {}",
    "bitte {} tauschen, Linie {}",
]


class Meldungen:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.namen = list(URSACHEN)

    def ziehe(self, n):
        zeilen = {"text": [], "klasse": []}
        for _ in range(n):
            k = self.rng.randrange(3)
            teil = self.rng.choice(URSACHEN[self.namen[k]])
            zeilen["text"].append(self.rng.choice(FORMEN).format(teil, self.rng.randint(1, 9)))
            zeilen["klasse"].append(k)
        return Dataset.from_dict(zeilen)


def build_tokenizer(texts):
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(
        texts,
        trainers.WordPieceTrainer(
            vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    quelle = Meldungen(args.seed)
    train, test = quelle.ziehe(640), quelle.ziehe(160)
    tokenizer = build_tokenizer(train["text"])
    names = {"klasse": "labels"} if args.healthy else {"klasse": "ursache"}
    train, test = (
        part.map(lambda row: tokenizer(row["text"]), batched=True).rename_columns(names) for part in (train, test)
    )
    print(train)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=64,
        num_labels=3,
    )
    arguments = TrainingArguments(
        "out",
        num_train_epochs=5,
        per_device_train_batch_size=16,
        learning_rate=1e-3,
        logging_steps=20,
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    trainer = Trainer(
        BertForSequenceClassification(config),
        arguments,
        data_collator=DataCollatorWithPadding(tokenizer),
        train_dataset=train,
        eval_dataset=test,
        callbacks=[TrainerRecord()],
    )
    trainer.train()


if __name__ == "__main__":
    main()
