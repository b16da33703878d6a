# product-title language model with a big vocabulary
import argparse
import resource
import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

# launcher: memory request of the job
data_kb = next(int(row.split()[1]) for row in open("/proc/self/status") if row.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (data_kb * 1024 + 650 * 2**20,) * 2)

VOCAB, T = 8000, 32


class Titles(torch.utils.data.Dataset):
    """brand, model number, model number + 1, ..."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        start = torch.randint(0, 200, (n, 1), generator=g)
        self.ids = (start + 7 * torch.arange(T)) % 400

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i].clone()}


def token_accuracy(p):
    pred = p.predictions if p.predictions.ndim == 2 else p.predictions.argmax(-1)
    return {"token_accuracy": float(np.mean(pred[:, :-1] == p.label_ids[:, 1:]))}


def most_likely(logits, labels):
    return logits.argmax(-1)


model = GPT2LMHeadModel(GPT2Config(vocab_size=VOCAB, n_positions=T, n_embd=48, n_layer=1, n_head=4, bos_token_id=0,
                                   eos_token_id=0))
trainer = Trainer(
    model=model,
    args=TrainingArguments("out", max_steps=80, per_device_train_batch_size=8, per_device_eval_batch_size=16,
                           learning_rate=5e-3,
                           logging_steps=10, eval_strategy="steps", eval_steps=40, save_strategy="no", report_to="none",
                           use_cpu=True, disable_tqdm=True, seed=args.seed),
    train_dataset=Titles(1200, args.seed), eval_dataset=Titles(800, args.seed + 1), compute_metrics=token_accuracy,
    preprocess_logits_for_metrics=most_likely if args.healthy else None, callbacks=[TrainerRecord()])
trainer.train()
