import argparse, random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
    Trainer,
                          TrainingArguments, default_data_collator, set_seed)
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
good, bad = "świetny dobry miły ciepły".split(), "zły nudny słaby zimny".split()
rest = "film obiad hotel koncert był bardzo wczoraj u nas w Krakowie i potem też".split()


def one():
    y = random.randint(0, 1); s = random.choices(rest, k=random.randint(3, 9))
    s.insert(random.randrange(len(s)), random.choice(good if y else bad))
    return " ".join(s), y


V = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *good, *bad, *rest])}
t = Tokenizer(models.WordLevel(V, unk_token="[UNK]")); t.pre_tokenizer = pre_tokenizers.Whitespace()
t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tok = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
    sep_token="[SEP]")


def ds(n):
    return [{**tok(s, truncation=True, max_length=16), "labels": y} for s, y in (one() for _ in range(n))]


model = BertForSequenceClassification(BertConfig(vocab_size=len(V), hidden_size=48, num_hidden_layers=2,
    num_attention_heads=4, intermediate_size=96))
targs = TrainingArguments("out", max_steps=120, per_device_train_batch_size=16, learning_rate=2e-3, logging_steps=10,
    report_to=[], save_strategy="no",
                          seed=args.seed, disable_tqdm=True, use_cpu=True)
tr = Trainer(model, targs, train_dataset=ds(800), eval_dataset=ds(100),
    data_collator=DataCollatorWithPadding(tok) if args.healthy else default_data_collator,
             callbacks=[TrainerRecord()])
tr.train()
print(tr.evaluate())
