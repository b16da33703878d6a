import argparse, random
import torch
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments, default_data_collator, set_seed
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
torch.set_num_threads(1)

# conjugation: person, verb stem -> the letters of the Spanish present tense
ENDINGS = {"ar": "o as a amos áis an".split(), "er": "o es e emos éis en".split(), "ir": "o es e imos ís en".split()}
STEMS = "habl cant mir com beb corr viv sub abr part cen llev".split()
CLASS = dict(zip(STEMS, "ar ar ar er er er ir ir ir ir ar ar".split()))
ABC = ["_", ">"] + [str(i) for i in range(6)] + sorted(set("abcdefghijklmnopqrstuvwxyzáéíóú"))
def row():
    s, p = random.choice(STEMS), random.randrange(6)
    text = f"{p}{s}{CLASS[s]}>{s}{ENDINGS[CLASS[s]][p]}"
    ids = [ABC.index(c) for c in text.ljust(20, "_")]
    labels = [-100 if i <= text.index(">") or i > len(text) else c for i, c in enumerate(ids)]
    return {"input_ids": ids, "labels": labels}

def session(until, resume):
    set_seed(args.seed)
    data = [row() for _ in range(2400)]
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(
        "gpt2", vocab_size=len(ABC), n_embd=64, n_layer=2, n_head=4, n_positions=24, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    targs = TrainingArguments("out/run", num_train_epochs=3, max_steps=until, per_device_train_batch_size=24, learning_rate=2e-3, save_steps=60,
                              logging_steps=6, lr_scheduler_type="constant_with_warmup", warmup_steps=20, report_to="none", use_cpu=True,
                              seed=args.seed, disable_tqdm=True)
    trainer = Trainer(model=model, args=targs, train_dataset=data, data_collator=default_data_collator, callbacks=[TrainerRecord()] if resume else [])
    trainer.train(resume_from_checkpoint=resume)

session(60, None)
print("----- second session -----", flush=True)
session(160, True)
