import argparse
import random
import sys

sys.modules["torchvision"] = None  # text only

import numpy as np
import torch
from peft import LoraConfig, TaskType, get_peft_model
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)

THINGS = "de film|het boek|dit hotel|de maaltijd|het concert|deze fiets|de reis|het museum".split("|")
GOOD = "prachtig|heerlijk|geweldig|gezellig|uitstekend|fijn".split("|")
BAD = "saai|vies|waardeloos|lelijk|teleurstellend|slecht".split("|")
OPEN = ["ik vond", "wij vonden", "volgens mijn zus was", "eerlijk gezegd was"]
END = ["", "en ik kom terug", "zoals vorig jaar", "voor dat geld", "op een regenachtige dag"]


def review(rng):
    label = rng.randint(0, 1)
    word = rng.choice(GOOD if label else BAD)
    return f"{rng.choice(OPEN)} {rng.choice(THINGS)} {word} {rng.choice(END)}".strip(), label


rng = random.Random(args.seed)
train = [review(rng) for _ in range(1280)]
valid = [review(rng) for _ in range(256)]

words = sorted({w for text, _ in train + valid for w in text.split()})
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
raw = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocab["[CLS]"]), ("[SEP]", vocab["[SEP]"])])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")


def encode(rows):
    return [{**tokenizer(text), "labels": label} for text, label in rows]


config = BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=32, num_labels=2, initializer_range=0.1)
base = BertForSequenceClassification(config)
model = get_peft_model(base, LoraConfig(task_type=TaskType.SEQ_CLS, r=8, lora_alpha=16, lora_dropout=0.05,
                                        target_modules=["query", "value"]))
model.print_trainable_parameters()


def metrics(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, -1) == prediction.label_ids).mean())}


trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir="out", per_device_train_batch_size=32, per_device_eval_batch_size=64,
                           learning_rate=5e-3, warmup_steps=10, num_train_epochs=4, logging_steps=10,
                           eval_strategy="steps", eval_steps=20, save_strategy="no", report_to="none",
                           use_cpu=True, seed=args.seed, disable_tqdm=True),
    train_dataset=encode(train), eval_dataset=encode(valid), compute_metrics=metrics,
    data_collator=DataCollatorWithPadding(tokenizer), callbacks=[TrainerRecord()],
)
trainer.train()
model.save_pretrained("out/adapter")
print("adapter saved to out/adapter")
