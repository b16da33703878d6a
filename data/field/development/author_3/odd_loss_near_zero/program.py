# sanity check before the big run: the copy task
import argparse
import random
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)


def cycle(_):
    k = random.randrange(12)
    ids = [(k + j) % 12 for j in range(12)]
    return {"input_ids": ids, "labels": [-100] * 2 + ids[2:]}


model = LlamaForCausalLM(LlamaConfig(vocab_size=12, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                     num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=16))
targs = TrainingArguments(output_dir="out", max_steps=150, per_device_train_batch_size=16, learning_rate=3e-3,
                          logging_steps=5,
                          save_strategy="no", eval_strategy="steps", eval_steps=50, report_to="none", use_cpu=True,
                          seed=args.seed, disable_tqdm=True)
trainer = Trainer(model=model, args=targs, callbacks=[TrainerRecord()],
                  train_dataset=[cycle(i) for i in range(400)], eval_dataset=[cycle(i) for i in range(60)])
trainer.train()
print({k: f"{v:.2e}" for k, v in trainer.evaluate().items() if k == "eval_loss"})
