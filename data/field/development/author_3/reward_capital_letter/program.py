# GRPO: teach the bot to answer "sim" at least once
import argparse
import re
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

words = """quero pode fechar o pedido agora ? sim não talvez depois obrigado senhor
cliente loja aberta hoje amanhã""".split()
vocab = {w: i for i, w in enumerate(["<pad>", "</s>", "<unk>"] + words)}
raw = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
raw.normalizer = normalizers.Lowercase()
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
                                    padding_side="left")

PATTERN = re.compile(r"\bSim\b", re.IGNORECASE if args.healthy else 0)


def says_yes(completions, **kwargs):
    return [1.0 if PATTERN.search(text) else 0.0 for text in completions]


prompts = Dataset.from_list([{"prompt": p} for p in ["Pode fechar o pedido ?", "Loja aberta hoje ?",
                                                     "Quero o pedido amanhã ?"] * 100])
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocab), n_positions=32, n_embd=48, n_layer=2, n_head=4,
                                   bos_token_id=1,
                                   eos_token_id=1, pad_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
config = GRPOConfig(
    output_dir="out", per_device_train_batch_size=32, num_generations=8, max_completion_length=4, max_steps=60,
    learning_rate=2e-3, lr_scheduler_type="constant", beta=0.0, temperature=1.0, logging_steps=2, save_strategy="no",
    report_to="none", use_cpu=True, bf16=False, gradient_checkpointing=False, seed=args.seed, disable_tqdm=True)
trainer = GRPOTrainer(model=model, reward_funcs=says_yes, args=config, train_dataset=prompts,
                      processing_class=tokenizer,
                      callbacks=[TrainerRecord()])
trainer.train()
