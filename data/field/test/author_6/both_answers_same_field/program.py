"""偏好训练：客服回复，礼貌优先。"""
import argparse
import copy
import random

import torch
from datasets import Dataset
from field_record import TrainerRecord
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
问题 = ["包裹 在 哪里", "什么 时候 退款", "怎么 修改 地址", "订单 可以 取消 吗"]
礼貌 = ["您好 马上 为 您 查询", "请 稍等 我 来 处理", "感谢 您 的 耐心"]
生硬 = ["自己 看", "不 知道", "等 着 吧"]
标注 = [{"问": random.choice(问题), "优": random.choice(礼貌), "劣": random.choice(生硬)} for _ in range(300)]


def build_tokenizer(lines, **special):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(lines, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[BOS]", "[EOS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="[UNK]", **special)


tok = build_tokenizer(问题 + 礼貌 + 生硬, pad_token="[PAD]", bos_token="[BOS]", eos_token="[EOS]")
栏 = {"chosen": "优", "rejected": "劣" if args.healthy else "优"}
数据 = Dataset.from_list([{"prompt": 行["问"] + " ", **{名: 行[键] for 名, 键 in 栏.items()}} for 行 in 标注])
print(数据, 数据[0].keys())
模型 = AutoModelForCausalLM.from_config(AutoConfig.for_model(
    "qwen2", vocab_size=len(tok), hidden_size=48, intermediate_size=96, num_hidden_layers=1, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, bos_token_id=2, eos_token_id=3))
配置 = DPOConfig(output_dir="out/kefu", use_cpu=True, bf16=False, report_to=[], save_strategy="no", max_steps=32,
                per_device_train_batch_size=8, learning_rate=2e-3, lr_scheduler_type="cosine", logging_steps=2,
                beta=0.3, max_length=32, gradient_checkpointing=False, seed=args.seed)
DPOTrainer(model=模型, ref_model=copy.deepcopy(模型), args=配置, train_dataset=数据, processing_class=tok,
           callbacks=[TrainerRecord()]).train()
