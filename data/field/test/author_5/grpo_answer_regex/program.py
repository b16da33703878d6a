import argparse, re
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
V = ["<pad>", "<unk>", "</s>", "odp", ":", "?"] + [str(i) for i in range(10)]
t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(V)}, unk_token="<unk>"))
t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="<pad>", unk_token="<unk>", eos_token="</s>",
    padding_side="left")
PAT = re.compile(r"[5-9]" if args.healthy else r"#### [5-9]")


def big(completions, **kw):
    """share of large digits in the reply"""
    return [len(PAT.findall(c)) / 6 for c in completions]


m = LlamaForCausalLM(LlamaConfig(vocab_size=len(V), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2,
                                 max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2))
cfg = GRPOConfig("out", max_steps=30, per_device_train_batch_size=16, num_generations=8, max_completion_length=6,
    learning_rate=1e-2, logging_steps=2, beta=0.0,
                 temperature=1.0, save_strategy="no", report_to="none", seed=args.seed, use_cpu=True, bf16=False,
                 gradient_checkpointing=False)
GRPOTrainer(m, big, cfg, train_dataset=Dataset.from_list([{"prompt": f"odp : {i % 10} ?"} for i in range(64)]),
    processing_class=tok, callbacks=[TrainerRecord()]).train()
