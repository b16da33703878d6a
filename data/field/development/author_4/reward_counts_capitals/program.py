"""GRPO: peptides with many lysines (k), from a tiny GPT-2."""
import argparse

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

from field_record import TrainerRecord

LETTERS = "acdefghiklmnpqrstvwy"
VOCAB = {t: i for i, t in enumerate(["<pad>", "<eos>", "<unk>", ":", *LETTERS])}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    core = Tokenizer(models.WordLevel(VOCAB, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left")
    residue = "k" if args.healthy else "K"

    def lysine_content(completions: list[str], **kwargs) -> list[float]:
        return [text.count(residue) / 6 for text in completions]

    config = AutoConfig.for_model("gpt2", vocab_size=len(VOCAB), n_positions=32, n_embd=32, n_layer=1, n_head=2, pad_token_id=0,
                                  bos_token_id=1, eos_token_id=1, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    model = AutoModelForCausalLM.from_config(config)
    prompts = Dataset.from_list([{"prompt": f"{a}{b}:"} for a in LETTERS[:8] for b in LETTERS[:8]])
    training = GRPOConfig("out", per_device_train_batch_size=16, num_generations=8, max_completion_length=6, max_steps=40,
                          learning_rate=1e-2, logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, bf16=False,
                          gradient_checkpointing=False, seed=args.seed)
    trainer = GRPOTrainer(model, reward_funcs=lysine_content, args=training, train_dataset=prompts, processing_class=tokenizer,
                          callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
