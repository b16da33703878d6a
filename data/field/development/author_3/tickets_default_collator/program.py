# support ticket -> intent, small BERT with the Trainer
import argparse
import random
import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, default_data_collator, set_seed)
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

INTENTS = {
    "refund": ["i want my money back", "please refund the order", "refund for invoice"],
    "password": ["cannot log in", "reset my password", "the login code never arrives"],
    "delivery": ["where is my parcel", "the courier has not come", "delivery is late"],
}
FILLER = "hello , since yesterday on the app thanks hi team again for my account please help soon".split()
names = list(INTENTS)


def ticket():
    label = random.randrange(3)
    words = random.choices(FILLER, k=random.randint(1, 6)) + random.choice(INTENTS[names[label]]).split()
    words += random.choices(FILLER, k=random.randint(0, 6))
    return {"text": " ".join(words), "label": label}


rows = [ticket() for _ in range(900)]
words = sorted({w for r in rows for w in r["text"].split()})
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
raw = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
raw.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                              sep_token="[SEP]")

ds = Dataset.from_list(rows).map(lambda b: tok(b["text"], truncation=True, max_length=32), batched=True,
                                 remove_columns=["text"])
ds = ds.train_test_split(test_size=150, seed=args.seed)
print(ds)

model = BertForSequenceClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=40, num_labels=3))
collator = DataCollatorWithPadding(tok) if args.healthy else default_data_collator
trainer = Trainer(
    model=model,
    args=TrainingArguments("out", per_device_train_batch_size=16, num_train_epochs=4, learning_rate=1e-3,
                           logging_steps=10,
                           eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, seed=args.seed),
    train_dataset=ds["train"], eval_dataset=ds["test"], data_collator=collator,
    compute_metrics=lambda p: {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())},
    callbacks=[TrainerRecord()],
)
trainer.train()
print(trainer.evaluate())
