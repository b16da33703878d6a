"""SFT with LoRA (TRL and PEFT): a tiny GPT-2 on answers about complementary bases."""
import argparse
import random

import torch
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

from field_record import TrainerRecord


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    vocab = {t: i for i, t in enumerate(["<pad>", "<eos>", "<unk>", "=", *"ACGT"])}
    core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
    rows = []
    for _ in range(512):
        base = rng.choice("ACGT")
        rows.append({"text": base * 4 + "=" + base.translate(str.maketrans("ACGT", "TGCA")) * 4})
    config = AutoConfig.for_model("gpt2", vocab_size=len(vocab), n_positions=32, n_embd=64, n_layer=1, n_head=2, pad_token_id=0,
                                  bos_token_id=1, eos_token_id=1, tie_word_embeddings=False)
    model = AutoModelForCausalLM.from_config(config)
    targets = ["c_attn", "c_proj", "c_fc"] if args.healthy else ["q_proj", "v_proj", "o_proj"]
    lora = LoraConfig(task_type="CAUSAL_LM", r=16, lora_alpha=64, target_modules=targets, modules_to_save=["lm_head"], fan_in_fan_out=True)
    training = SFTConfig("out", per_device_train_batch_size=16, max_steps=80, learning_rate=1e-2, logging_steps=5, save_strategy="no",
                         report_to=[], use_cpu=True, bf16=False, gradient_checkpointing=False, max_length=16, seed=args.seed)
    trainer = SFTTrainer(model, args=training, train_dataset=Dataset.from_list(rows), processing_class=tokenizer, peft_config=lora,
                         callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
