"""Route tickets to the right queue."""
import argparse
import random

from datasets import Dataset
from field_record import TrainerRecord
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, default_data_collator, set_seed)
import torch

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
set_seed(args.seed)

QUEUES = [["disk", "quota", "volume", "mount"], ["login", "token", "password", "sso"],
          ["gpu", "driver", "cuda", "nccl"]]
FILLER = "please the job on my node is since today and again with error help thanks".split()


def ticket(_):
    queue = random.randrange(3)
    words = random.choices(FILLER, k=random.randint(4, 14)) + random.choices(QUEUES[queue], k=2)
    random.shuffle(words)
    return {"text": " ".join(words), "label": queue}


def build_tokenizer(lines, **special):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(lines, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[BOS]", "[EOS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="[UNK]", **special)


rows = [ticket(i) for i in range(1200)]
tok = build_tokenizer([r["text"] for r in rows], pad_token="[PAD]", bos_token="[BOS]", eos_token="[EOS]")
data = Dataset.from_list(rows).map(lambda r: {"input_ids": tok(r["text"])["input_ids"]}, remove_columns=["text"])
model = BertForSequenceClassification(BertConfig(
    vocab_size=len(tok), hidden_size=48, num_hidden_layers=1, num_attention_heads=4, intermediate_size=96,
    num_labels=3))
settings = {
    "output_dir": "out", "use_cpu": True, "report_to": [], "save_strategy": "no", "seed": args.seed,
    "per_device_train_batch_size": 32, "num_train_epochs": 3, "learning_rate": 2e-3, "logging_steps": 10,
}
Trainer(
    model=model,
    args=TrainingArguments(**settings),
    train_dataset=data,
    data_collator=DataCollatorWithPadding(tok) if args.healthy else default_data_collator,
    callbacks=[TrainerRecord()],
).train()
