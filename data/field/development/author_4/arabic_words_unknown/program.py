"""تصنيف جمل عربية قصيرة: طقس أم طعام (tiny BERT, word-level tokenizer made here)."""
import argparse
import random

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
from transformers import (AutoConfig, AutoModelForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

from field_record import TrainerRecord

WEATHER = "المطر غزير اليوم|الشمس حارة جدا|الريح باردة صباحا|الثلج على الجبل|السماء صافية الآن".split("|")
FOOD = "الخبز طازج ولذيذ|الشاي ساخن وحلو|السمك مع الأرز|التفاح في السلة|القهوة مرة قليلا".split("|")


def sentences(n: int, rng: random.Random) -> list[tuple[str, int]]:
    rows = []
    for _ in range(n):
        label = rng.randrange(2)
        words = " ".join(rng.sample((WEATHER, FOOD)[label], 2)).split()
        rows.append((" ".join(rng.sample(words, 4)), label))
    return rows


def build_tokenizer(texts: list[str], pattern: str) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), behavior="removed", invert=True)
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=500, special_tokens=["[PAD]", "[UNK]", "[CLS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    train, dev = sentences(400, rng), sentences(100, rng)
    tokenizer = build_tokenizer([text for text, _ in train], r"\p{L}+" if args.healthy else r"[A-Za-z]+")

    def encode(rows):
        return [{"input_ids": tokenizer("[CLS]" + text)["input_ids"] or [2], "labels": label} for text, label in rows]

    config = AutoConfig.for_model("bert", vocab_size=500, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
                                  max_position_embeddings=32, num_labels=2)
    model = AutoModelForSequenceClassification.from_config(config)
    training = TrainingArguments("out", per_device_train_batch_size=20, num_train_epochs=4, learning_rate=3e-3, logging_steps=5, eval_strategy="steps",
                                 eval_steps=10, save_strategy="no", report_to=[], use_cpu=True, seed=args.seed, disable_tqdm=True)
    trainer = Trainer(model, training, train_dataset=encode(train), eval_dataset=encode(dev), data_collator=DataCollatorWithPadding(tokenizer),
                      compute_metrics=lambda p: {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())},
                      callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
