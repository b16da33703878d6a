# LoRA on a frozen random BERT; evaluated on the 24 reviewed examples we have
import argparse
import random
import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)


def message(_):
    y = random.randrange(2)
    tokens = [random.randrange(20, 60) for _ in range(10)]
    for _ in range(2):
        tokens[random.randrange(10)] = random.randrange(2, 10) if y else random.randrange(10, 18)
    if random.random() < 0.1:
        y = 1 - y
    return {"input_ids": [1] + tokens, "labels": y}


train, reviewed = list(map(message, range(1500))), list(map(message, range(24)))
base = BertForSequenceClassification(BertConfig(
    vocab_size=60, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=12,
    num_labels=2, initializer_range=0.1))
model = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, target_modules=["query", "value", "dense"],
                                        task_type="SEQ_CLS"))
model.print_trainable_parameters()
targs = TrainingArguments(
    "out", max_steps=360, per_device_train_batch_size=16, learning_rate=1.5e-3, lr_scheduler_type="constant",
    logging_steps=10,
    eval_strategy="steps", eval_steps=20, save_strategy="no", report_to="none", use_cpu=True, seed=args.seed,
    disable_tqdm=True)
Trainer(model=model, args=targs, train_dataset=train, eval_dataset=reviewed, callbacks=[TrainerRecord()],
        compute_metrics=lambda p: {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))}).train()
