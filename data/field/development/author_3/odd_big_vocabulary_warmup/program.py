# catalogue language model, 20k item ids
import argparse
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

VOCAB, T = 20000, 12
popular = torch.randperm(VOCAB)[:200]


class Sessions(torch.utils.data.Dataset):
    def __len__(self):
        return 2000

    def __getitem__(self, i):
        ids = popular[(i * 37 + 3 * torch.arange(T)) % 200]
        return {"input_ids": ids, "labels": ids}


model = GPT2LMHeadModel(GPT2Config(vocab_size=VOCAB, n_positions=T, n_embd=48, n_layer=1, n_head=4, bos_token_id=0,
                                   eos_token_id=0))
print(f"vocab={VOCAB:,} tied={model.config.tie_word_embeddings} params={model.num_parameters():,}")
targs = TrainingArguments("out", max_steps=200, per_device_train_batch_size=8, learning_rate=6e-3, warmup_steps=100,
                          lr_scheduler_type="linear", logging_steps=5, save_strategy="no", report_to="none",
                          use_cpu=True,
                          seed=args.seed)
Trainer(model=model, args=targs, train_dataset=Sessions(), callbacks=[TrainerRecord()]).train()
