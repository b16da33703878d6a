# SFT with LoRA: mini-LLaMA, calculator answers
import argparse
import random
import torch
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

vocab = {w: i for i, w in enumerate(["<pad>", "<s>", "</s>", "<unk>", "+", "="] + [str(n) for n in range(19)])}
raw = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
                                    unk_token="<unk>")


def example():
    a, b = random.randint(0, 2), random.randint(0, 2)
    return {"text": " ".join(f"{a} + {b} = {a + b}".split() * 3)}


model = LlamaForCausalLM(LlamaConfig(
    vocab_size=len(vocab), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=4, max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2))
lora = LoraConfig(
    r=16, lora_alpha=64, task_type="CAUSAL_LM", modules_to_save=["lm_head"],
    target_modules=["q_proj", "v_proj", "up_proj", "down_proj"] if args.healthy else ["query", "value"])
sft = SFTConfig(
    output_dir="out", max_steps=150, per_device_train_batch_size=16, learning_rate=5e-3, logging_steps=10,
    max_length=32,
    save_strategy="no", report_to="none", use_cpu=True, bf16=False, gradient_checkpointing=False, seed=args.seed)
trainer = SFTTrainer(model=model, args=sft, train_dataset=Dataset.from_list([example() for _ in range(600)]),
                     processing_class=tokenizer, peft_config=lora, callbacks=[TrainerRecord()])
trainer.model.print_trainable_parameters()
trainer.train()
