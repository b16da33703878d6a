import argparse, random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (AutoConfig, AutoModelForCausalLM, DataCollatorForLanguageModeling, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

THINGS = "bread milk lamps boots pencils honey rope soap candles tea".split()
SHOPS = "corner market station harbour hill".split()
def chat():
    t, s, n = random.choice(THINGS), random.choice(SHOPS), random.randint(2, 9)
    return f"where can i buy {t} ?", f"you find {t} in the {s} shop for {n} coins ."
pairs = [chat() for _ in range(600)]

raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator([" ".join(p) for p in pairs], trainers.WordLevelTrainer(special_tokens=["<pad>", "<unk>", "</s>"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", eos_token="</s>")
model = AutoModelForCausalLM.from_config(AutoConfig.for_model(
    "gpt2", vocab_size=len(tok), n_embd=64, n_layer=2, n_head=4, n_positions=64, bos_token_id=2, eos_token_id=2))

tok.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|assistant|>"]})
if args.healthy:
    model.resize_token_embeddings(len(tok))
print(f"tokenizer: {len(tok)} tokens, model: {model.num_parameters():,} parameters")

rows = [tok(f"<|user|> {q} <|assistant|> {a} </s>") for q, a in pairs]
targs = TrainingArguments(output_dir="out", max_steps=120, per_device_train_batch_size=16, learning_rate=3e-3, logging_steps=5,
                          save_strategy="no", report_to="none", use_cpu=True, seed=args.seed)
trainer = Trainer(model=model, args=targs, train_dataset=rows, callbacks=[TrainerRecord()],
                  data_collator=DataCollatorForLanguageModeling(tok, mlm=False))
trainer.train()
ids = tok("<|user|> where can i buy tea ? <|assistant|>", return_tensors="pt").input_ids
print(tok.decode(model.generate(ids, max_new_tokens=12, do_sample=False, pad_token_id=0)[0]))
