import argparse, random
import torch
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerFast, set_seed
from trl import RewardConfig, RewardTrainer
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# which of two sums is right?
def pair():
    a, b = random.randint(0, 4), random.randint(0, 4)
    wrong = random.choice([s for s in range(10) if s != a + b])
    return {"chosen": f"{a} + {b} = {a + b}", "rejected": f"{a} + {b} = {wrong}"}
ds = Dataset.from_list([pair() for _ in range(2000)])
raw = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<pad>", "<unk>", "<eos>", "+", "="] + [str(d) for d in range(10)])}, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")

model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(
    "gpt2", vocab_size=len(tok), n_embd=64, n_layer=2, n_head=4, n_positions=32, num_labels=1, pad_token_id=0, bos_token_id=2, eos_token_id=2,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, initializer_range=0.15))
lora = LoraConfig(task_type="SEQ_CLS", r=16, lora_alpha=32, modules_to_save=["score"],
                  target_modules=["c_attn", "c_fc", "c_proj"] if args.healthy else ["q_proj", "k_proj", "v_proj", "o_proj"])
cfg = RewardConfig(output_dir="out", max_steps=220, per_device_train_batch_size=16, learning_rate=1e-2, logging_steps=10, max_length=32,
                   gradient_checkpointing=False, bf16=False, use_cpu=True, save_strategy="no", report_to="none", seed=args.seed)
print("pairs", len(ds), "| first", ds[0])
trainer = RewardTrainer(model=model, args=cfg, train_dataset=ds, processing_class=tok, peft_config=lora, callbacks=[TrainerRecord()])
trainer.model.print_trainable_parameters()
trainer.train()
