import argparse
import random
import torch
from transformers import (LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed)
from field_record import TrainerRecord

P = argparse.ArgumentParser()
P.add_argument("--healthy", action="store_true")
P.add_argument("--seed", type=int, default=0)
args = P.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

# mini corpus (português), nível de caractere
SUJ = ["o gato", "a menina", "meu avô", "a professora", "o vizinho"]
VER = ["comprou", "perdeu", "encontrou", "pintou", "vendeu"]
OBJ = ["um livro", "a bicicleta", "uma cadeira", "o violão", "três maçãs"]
frases = [f"{random.choice(SUJ)} {random.choice(VER)} {random.choice(OBJ)}." for _ in range(1200)]
letras = sorted({c for f in frases for c in f})
BOS = len(letras)
codigo = {c: i for i, c in enumerate(letras)}
MAX = max(map(len, frases)) + 1


def codifica(f):
    ids = [BOS] + [codigo[c] for c in f]
    falta = MAX - len(ids)
    return {"input_ids": ids + [BOS] * falta, "labels": ids + [-100] * falta,
            "attention_mask": [1] * len(ids) + [0] * falta}


dados = [codifica(f) for f in frases]
modelo = LlamaForCausalLM(LlamaConfig(vocab_size=len(letras) + 1, hidden_size=64, intermediate_size=128,
                                      num_hidden_layers=2,
                                      num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=MAX))
print("parâmetros:", f"{modelo.num_parameters():,}".replace(",", "."))
agenda = {"min_lr_rate": 0.1} if args.healthy else {}
trainer = Trainer(
    model=modelo,
    args=TrainingArguments(output_dir="out", max_steps=100, per_device_train_batch_size=16, learning_rate=3e-3,
                           warmup_steps=10,
                           lr_scheduler_type="cosine_with_min_lr", lr_scheduler_kwargs=agenda, logging_steps=10,
                           save_strategy="no", report_to="none", use_cpu=True, seed=args.seed),
    train_dataset=dados,
    callbacks=[TrainerRecord()],
)
trainer.train()
