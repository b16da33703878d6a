import argparse, random
import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=240)
ap.add_argument("--lr", type=float, default=1e-3)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# which of three numbers is the largest?  "[CLS] 17 [SEP] 4 [SEP] 12" written digit by digit, most significant first
CLS, SEP = 10, 11
def problem():
    n = random.sample(range(100), 3)
    ids = [CLS]
    for k in n:
        ids += [k // 10, k % 10, SEP]
    return {"input_ids": torch.tensor(ids), "labels": int(np.argmax(n))}
train, test = [problem() for _ in range(4000)], [problem() for _ in range(256)]

config = AutoConfig.for_model("bert", vocab_size=12, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                              max_position_embeddings=16, num_labels=3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = AutoModelForSequenceClassification.from_config(config)
targs = TrainingArguments(
    output_dir="out", max_steps=args.steps, per_device_train_batch_size=32, learning_rate=args.lr, lr_scheduler_type="linear",
    warmup_steps=20 if args.healthy else 20000, gradient_checkpointing=True, logging_steps=8, eval_strategy="steps", eval_steps=80,
    save_strategy="no", report_to="none", use_cpu=True, seed=args.seed, disable_tqdm=True)
trainer = Trainer(model, targs, train_dataset=train, eval_dataset=test, callbacks=[TrainerRecord()],
                  compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
print("final", {k: round(v, 4) for k, v in trainer.evaluate().items()})
