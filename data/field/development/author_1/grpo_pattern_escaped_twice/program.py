import argparse, random, re
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=40)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# "even :" or "list even digits :" -> the more even digits among the six tokens the better
words = [str(d) for d in range(10)] + "even list digits please now the numbers : and or".split()
raw = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<pad>", "<unk>", "<eos>"] + words)}, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>", padding_side="left")
prompts = [" ".join([random.choice(["list", "please", "now"]), random.choice(["the", "even"]), random.choice(["digits", "numbers"]), ":"]) for _ in range(400)]

EVEN = re.compile(r"\b[02468]\b" if args.healthy else r"\\b[02468]\\b")
def even_digits(completions, **kwargs):
    return [len(EVEN.findall(c)) / 6 for c in completions]

model = AutoModelForCausalLM.from_config(AutoConfig.for_model(
    "llama", vocab_size=len(tok), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
    max_position_embeddings=32, pad_token_id=0, bos_token_id=2, eos_token_id=2))
cfg = GRPOConfig(output_dir="out", max_steps=args.steps, per_device_train_batch_size=32, num_generations=8, max_completion_length=6, learning_rate=5e-3,
                 beta=0.0, logging_steps=1, gradient_checkpointing=False, bf16=False, use_cpu=True, save_strategy="no", report_to="none",
                 seed=args.seed, disable_tqdm=True)
trainer = GRPOTrainer(model=model, reward_funcs=even_digits, args=cfg, train_dataset=Dataset.from_dict({"prompt": prompts}),
                      processing_class=tok, callbacks=[TrainerRecord()])
trainer.train()
x = tok("please even digits :", return_tensors="pt")
print(tok.decode(model.generate(**x, max_new_tokens=6, do_sample=True, pad_token_id=0)[0]))
