import argparse, random
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
polite, rude = "proszę dziękuję przepraszam chętnie".split(), "spadaj cicho głupio nie".split()
noun = "herbata kawa książka mapa bilet".split()
V = ["<pad>", "<unk>", "</s>"] + polite + rude + noun + ["daj"]
t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(V)}, unk_token="<unk>"))
t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="<pad>", unk_token="<unk>", bos_token="</s>",
    eos_token="</s>")


def pair():
    n = random.choice(noun)
    return f"daj {n}", f" {random.choice(polite)} {n}", f" {random.choice(rude)} {n}"


def frame(n, cols):
    return Dataset.from_list([dict(zip(cols, pair())) for _ in range(n)])


names = ("prompt", "chosen", "rejected")
tr = frame(400, names if args.healthy else ("prompt", "rejected", "chosen")); ev = frame(64, names)
mk = lambda: GPT2LMHeadModel(GPT2Config(vocab_size=len(V), n_positions=32, n_embd=32, n_layer=1, n_head=2,
    bos_token_id=2, eos_token_id=2, pad_token_id=0))
m = mk(); ref = mk(); ref.load_state_dict(m.state_dict())
cfg = DPOConfig("out", max_steps=60, per_device_train_batch_size=16, per_device_eval_batch_size=32,
    learning_rate=2e-3, logging_steps=5, eval_strategy="steps",
                eval_steps=10, beta=.1, max_length=32, save_strategy="no", report_to="none", seed=args.seed,
                use_cpu=True, bf16=False, gradient_checkpointing=False)
DPOTrainer(m, ref, cfg, train_dataset=tr, eval_dataset=ev, processing_class=tok, callbacks=[TrainerRecord()]).train()
