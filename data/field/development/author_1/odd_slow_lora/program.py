import argparse, random
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForSequenceClassification, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=400)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# does a list of letters hold more a than b?
def row(n=12):
    ids = [random.choice((2, 3, 4, 5)) for _ in range(n)]
    while ids.count(2) == ids.count(3):
        ids = [random.choice((2, 3, 4, 5)) for _ in range(n)]
    return {"input_ids": [1] + ids, "labels": int(ids.count(2) > ids.count(3))}
rows = [row() for _ in range(4000)]
model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(
    "bert", vocab_size=6, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192, max_position_embeddings=16,
    num_labels=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
model = get_peft_model(model, LoraConfig(task_type="SEQ_CLS", r=1, lora_alpha=1, target_modules=["query", "value"]))
model.print_trainable_parameters()
targs = TrainingArguments("out", max_steps=args.steps, per_device_train_batch_size=32, learning_rate=3e-3, lr_scheduler_type="constant",
                          logging_steps=20, save_strategy="no", report_to="none", use_cpu=True, seed=args.seed, disable_tqdm=True)
Trainer(model=model, args=targs, train_dataset=rows, callbacks=[TrainerRecord()]).train()
