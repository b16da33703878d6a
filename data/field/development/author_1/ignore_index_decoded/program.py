import argparse, random
import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (AutoConfig, AutoModelForSeq2SeqLM, DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer,
                          Seq2SeqTrainingArguments, set_seed)
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# números en letra -> cifras
UNI = "cero uno dos tres cuatro cinco seis siete ocho nueve".split()
DEC = ["", "", "veinte", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
def letra(n):
    d, u = divmod(n % 100, 10)
    resto = UNI[u] if d < 2 else DEC[d] + (f" y {UNI[u]}" if u else "")
    return (f"{UNI[n // 100]} cientos " if n >= 100 else "") + resto
nums = [n for n in range(1000) if not 10 <= n % 100 < 20]
random.shuffle(nums)
pares = [(letra(n), " ".join(str(n))) for n in nums]

raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator([" ".join(p) for p in pares], trainers.WordLevelTrainer(special_tokens=["<pad>", "</s>", "<unk>"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
rows = [{**tok(s + " </s>", return_token_type_ids=False), "labels": tok(t + " </s>").input_ids} for s, t in pares]

model = AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model(
    "t5", vocab_size=len(tok), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0, decoder_start_token_id=0,
    pad_token_id=0, eos_token_id=1))

def compute_metrics(p):
    labels = np.where(p.label_ids != -100, p.label_ids, tok.pad_token_id) if args.healthy else p.label_ids
    preds = np.where(p.predictions != -100, p.predictions, tok.pad_token_id)
    hyp, ref = tok.batch_decode(preds, skip_special_tokens=True), tok.batch_decode(labels, skip_special_tokens=True)
    return {"exactos": float(np.mean([h == r for h, r in zip(hyp, ref)]))}

targs = Seq2SeqTrainingArguments("out", num_train_epochs=5, per_device_train_batch_size=16, per_device_eval_batch_size=50, learning_rate=5e-3,
                                 logging_steps=10, eval_strategy="epoch", save_strategy="no", predict_with_generate=True, use_cpu=True,
                                 generation_max_length=6, report_to="none", seed=args.seed)
trainer = Seq2SeqTrainer(model=model, args=targs, train_dataset=rows[:800], eval_dataset=rows[800:900], compute_metrics=compute_metrics,
                         data_collator=DataCollatorForSeq2Seq(tok, model=model), callbacks=[TrainerRecord()], processing_class=tok)
trainer.train()
