"""sentence-transformers: similarity of French sentences about the voice, bag of words and a dense layer."""
import argparse
import random

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

from field_record import TrainerRecord

THEMES = ["larynx glotte voix timbre", "nez palais nasale voile", "rythme pause accent durée"]


def pair(rng: random.Random) -> dict[str, str]:
    a, b = rng.randrange(3), rng.randrange(3)
    return {"sentence1": "la " + " et ".join(rng.sample(THEMES[a].split(), 2)), "sentence2": "le " + " et ".join(rng.sample(THEMES[b].split(), 2)),
            "score": "0.9" if a == b else "0.1"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    read = float if args.healthy else str
    rows = [{**row, "score": read(row["score"])} for row in (pair(rng) for _ in range(480))]
    words = sorted({w for row in rows for key in ("sentence1", "sentence2") for w in row[key].split()})
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<unk>", *words])}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    model = SentenceTransformer(modules=[StaticEmbedding(core, embedding_dim=32)], device="cpu")
    training = SentenceTransformerTrainingArguments("out", per_device_train_batch_size=16, max_steps=90, learning_rate=2e-2, logging_steps=5,
                                                    save_strategy="no", report_to=[], use_cpu=True, seed=args.seed)
    trainer = SentenceTransformerTrainer(model, training, train_dataset=Dataset.from_list(rows), loss=CosineSimilarityLoss(model),
                                         callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
