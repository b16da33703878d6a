"""Ürün yorumları: olumlu mu, olumsuz mu?"""
import argparse
import random

import torch
from datasets import Dataset
from field_record import TrainerRecord
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)

OLUMLU = "harika mükemmel kaliteli hızlı memnunum sağlam".split()
OLUMSUZ = "kötü bozuk yavaş pişmanım kırık berbat".split()
NESNE = "kulaklık telefon çanta kargo ürün kılıf saat".split()


def yorum():
    etiket = random.randrange(2)
    soz = [random.choice(NESNE), "çok", random.choice((OLUMSUZ, OLUMLU)[etiket])]
    soz += random.choices(NESNE, k=random.randint(0, 5))
    random.shuffle(soz)
    return {"metin": " ".join(soz), "labels": etiket}


def build_tokenizer(lines, **special):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(lines, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[BOS]", "[EOS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="[UNK]", **special)


satir = [yorum() for _ in range(1000)]
special = {"pad_token": "[PAD]"} if args.healthy else {}
tok = build_tokenizer([s["metin"] for s in satir], bos_token="[BOS]", eos_token="[EOS]", **special)
veri = Dataset.from_list(satir).map(lambda s: tok(s["metin"], padding="max_length", max_length=10, truncation=True),
                                    remove_columns=["metin"])
config = AutoConfig.for_model("roberta", vocab_size=len(tok), hidden_size=32, num_hidden_layers=1,
                              num_attention_heads=2, intermediate_size=64, max_position_embeddings=20,
                              num_labels=2, pad_token_id=0)
Trainer(
    model=AutoModelForSequenceClassification.from_config(config),
    args=TrainingArguments("out/yorum", use_cpu=True, report_to=[], save_strategy="no", per_device_train_batch_size=25,
                           num_train_epochs=4, learning_rate=3e-3, logging_steps=8, warmup_steps=10, seed=args.seed),
    train_dataset=veri.with_format("torch"),
    callbacks=[TrainerRecord()],
).train()
