"""sentence-transformers: Ähnlichkeit deutscher Störungsmeldungen mit statischen Einbettungen."""

import argparse
import random

import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
)
from sentence_transformers.models import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from field_record import TrainerRecord

THEMEN = [
    ["Pumpe", "Ventil", "Leitung", "Dichtung"],
    ["Motor", "Getriebe", "Lager", "Welle"],
    ["Kamera", "Sensor", "Laser", "Linse"],
    ["Etikett", "Karton", "Palette", "Folie"],
]
LAGE = ["ist undicht", "ist defekt", "macht Geräusche", "muss geprüft werden", "fällt aus"]


class Meldungspaare:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def satz(self, thema):
        return f"{self.rng.choice(['Die', 'Eine', 'Jede'])} {self.rng.choice(THEMEN[thema])} {self.rng.choice(LAGE)}"

    def paar(self):
        a = self.rng.randrange(4)
        b = a if self.rng.random() < 0.5 else self.rng.randrange(4)
        return self.satz(a), self.satz(b), 5.0 if a == b else 1.0

    def tabelle(self, n, spanne):
        a, b, note = zip(*(self.paar() for _ in range(n)))
        return Dataset.from_dict({"sentence1": a, "sentence2": b, "score": [wert / spanne for wert in note]})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    daten = Meldungspaare(args.seed).tabelle(2400, 5.0 if args.healthy else 1.0)
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(
        list(daten["sentence1"]), trainers.WordLevelTrainer(special_tokens=["[UNK]", "[PAD]"], show_progress=False)
    )
    model = SentenceTransformer(modules=[StaticEmbedding(tok, embedding_dim=48)], device="cpu")
    arguments = SentenceTransformerTrainingArguments(
        "out",
        num_train_epochs=4,
        per_device_train_batch_size=32,
        learning_rate=2e-2,
        logging_steps=15,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    trainer = SentenceTransformerTrainer(
        model, arguments, train_dataset=daten, loss=losses.CosineSimilarityLoss(model), callbacks=[TrainerRecord()]
    )
    trainer.train()
    vektoren = model.encode(["Die Pumpe ist defekt", "Eine Dichtung fällt aus", "Jede Kamera ist defekt"])
    print("Ähnlichkeiten:", model.similarity(vektoren, vektoren)[0].tolist())


if __name__ == "__main__":
    main()
