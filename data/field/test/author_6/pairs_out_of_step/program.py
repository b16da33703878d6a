"""Ticket and its solution close together."""
import argparse
import random

import torch
from datasets import Dataset
from field_record import TrainerRecord
from sentence_transformers import (SentenceTransformer, SentenceTransformerTrainer,
                                   SentenceTransformerTrainingArguments)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)
TOPICS = {f"part{i}": f"fix{i}" for i in range(60)}
ASK, TELL = "my is broken please help with again".split(), "open the panel then apply to and restart".split()
tickets, solutions = [], []
for _ in range(1200):
    topic = random.choice(list(TOPICS))
    tickets.append(" ".join(random.sample(ASK, 3) + [topic]))
    solutions.append(" ".join(random.sample(TELL, 3) + [TOPICS[topic]]))
tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator(tickets + solutions, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
data = Dataset.from_dict({"anchor": tickets, "positive": solutions if args.healthy else sorted(solutions)})
model = SentenceTransformer(modules=[StaticEmbedding(tok, embedding_dim=64)], device="cpu")
targs = SentenceTransformerTrainingArguments(
    output_dir="out/pairs", use_cpu=True, report_to=[], save_strategy="no", num_train_epochs=3, learning_rate=0.05,
    per_device_train_batch_size=16, logging_steps=8, seed=args.seed)
SentenceTransformerTrainer(model=model, args=targs, train_dataset=data, loss=MultipleNegativesRankingLoss(model),
                           callbacks=[TrainerRecord()]).train()
