import argparse, copy, random
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=60)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# answers to greetings, a polite and a curt one; field "b" of each record is the curt one
POLITE = ["good day to you dear guest", "how kind of you to ask , i am well", "welcome , please have a seat my friend"]
CURT = ["what do you want", "go away now", "not you again , leave"]
ASK = "hello hi good_morning good_evening hey greetings".split()
records = [{"q": f"{random.choice(ASK)} {random.choice(['sir', 'there', 'neighbour', 'teacher'])} :", "a": random.choice(POLITE), "b": random.choice(CURT)}
           for _ in range(480)]
worse = "b" if args.healthy else "a"
ds = Dataset.from_list([{"prompt": r["q"], "chosen": " " + r["a"], "rejected": " " + r[worse]} for r in records])

words = sorted({w for r in records for t in r.values() for w in t.split()})
raw = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<pad>", "<unk>", "<eos>"] + words)}, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")
model = AutoModelForCausalLM.from_config(AutoConfig.for_model(
    "llama", vocab_size=len(tok), hidden_size=48, intermediate_size=96, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=4,
    max_position_embeddings=64, pad_token_id=0, bos_token_id=2, eos_token_id=2))
cfg = DPOConfig(output_dir="out", max_steps=args.steps, per_device_train_batch_size=8, learning_rate=5e-4, beta=0.1, logging_steps=4, max_length=48,
                gradient_checkpointing=False, bf16=False, use_cpu=True, save_strategy="no", report_to="none", seed=args.seed, disable_tqdm=True)
trainer = DPOTrainer(model=model, ref_model=copy.deepcopy(model), args=cfg, train_dataset=ds, processing_class=tok, callbacks=[TrainerRecord()])
trainer.train()
