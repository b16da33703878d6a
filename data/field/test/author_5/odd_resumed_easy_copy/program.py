import argparse, random
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--seed", type=int, default=0); args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
rows = []
for _ in range(800):
    x = [random.randrange(1, 20) for _ in range(12)]; rows.append(dict(input_ids=x, labels=[v % 2 for v in x]))


def go(n, resume):
    m = BertForTokenClassification(BertConfig(vocab_size=20, hidden_size=32, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=64, num_labels=2, max_position_embeddings=16))
    ta = TrainingArguments("out", max_steps=n, per_device_train_batch_size=16, learning_rate=3e-3, logging_steps=10,
        save_steps=80, report_to="none", seed=args.seed, use_cpu=True, disable_tqdm=True)
    t = Trainer(m, ta, train_dataset=rows, callbacks=[TrainerRecord()]); t.train(resume_from_checkpoint=resume)


go(80, None)
print("--- wznowienie ---")
go(160, True)
