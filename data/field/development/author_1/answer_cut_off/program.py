import argparse, random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (AutoConfig, AutoModelForCausalLM, DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--max_steps", type=int, default=200)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

PRE = "Below is a question about two amounts . Read it with care , then write the answer as one number and nothing else ."
def example():
    a, b = random.randint(0, 9), random.randint(0, 9)
    who, what = random.choice("Ana Olli Priya Tom".split()), random.choice("apples coins cards".split())
    return f"{PRE} Question : {who} has {a} {what} and gets {b} more . How many {what} does {who} have ? Answer :", str(a + b)
data = [example() for _ in range(1500)]

raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
raw.train_from_iterator([" ".join(d) for d in data], trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[EOS]"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", eos_token="[EOS]")
MAX_LENGTH = 64 if args.healthy else 32

def encode(prompt, answer):
    p, a = tok(prompt).input_ids, tok(answer).input_ids + [tok.eos_token_id]
    ids, labels = (p + a)[:MAX_LENGTH], ([-100] * len(p) + a)[:MAX_LENGTH]
    return {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": labels}
rows = [encode(*d) for d in data]

cfg = AutoConfig.for_model("llama", vocab_size=len(tok), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                           num_key_value_heads=2, max_position_embeddings=128, pad_token_id=0, bos_token_id=2, eos_token_id=2)
model = AutoModelForCausalLM.from_config(cfg)
trainer = Trainer(
    model=model, train_dataset=rows, data_collator=DataCollatorForSeq2Seq(tok, model=model), callbacks=[TrainerRecord()],
    args=TrainingArguments("out", max_steps=args.max_steps, per_device_train_batch_size=16, learning_rate=3e-3, warmup_steps=10,
                           logging_steps=10, save_strategy="no", report_to="none", use_cpu=True, seed=args.seed))
print("examples:", len(rows), "parameters:", model.num_parameters())
print(trainer.train().metrics)
