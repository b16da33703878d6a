import argparse, random
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
num = "영 일 이 삼 사 오 육 칠 팔 구".split()
q = "더하기 빼기 는 얼마 입니다 답은 마이너스".split()
sp = ["<pad>", "<unk>", "<s>", "</s>", "<user>", "<assistant>"]
t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(sp + num + q)}, unk_token="<unk>"))
t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="<pad>", unk_token="<unk>", bos_token="<s>",
    eos_token="</s>", additional_special_tokens=sp[4:])
TPL = "{% for m in messages %}{{ '<' + m.role + '> ' + m.content + ' ' }}" \
      "{% if m.role == 'assistant' %}{{ '</s> ' }}{% endif %}{% endfor %}" \
      "{% if add_generation_prompt %}{{ '<assistant> ' }}{% endif %}"
tok.chat_template = TPL if args.healthy else None


def talk():
    x, y = random.randrange(5), random.randrange(5)
    return {"messages": [{"role": "user", "content": f"{num[x]} 더하기 {num[y]} 는 얼마"},
        {"role": "assistant", "content": f"답은 {num[x + y]} 입니다"}]}


m = LlamaForCausalLM(LlamaConfig(vocab_size=len(tok), hidden_size=48, intermediate_size=96, num_hidden_layers=1,
    num_attention_heads=4, num_key_value_heads=4,
                                 max_position_embeddings=64, pad_token_id=0, bos_token_id=2, eos_token_id=3))
cfg = SFTConfig("out", max_steps=100, per_device_train_batch_size=16, learning_rate=5e-3, logging_steps=10,
    save_strategy="no", report_to="none", max_length=48,
                seed=args.seed, use_cpu=True, bf16=False, gradient_checkpointing=False)
SFTTrainer(m, cfg, train_dataset=Dataset.from_list([talk() for _ in range(600)]), processing_class=tok,
    callbacks=[TrainerRecord()]).train()
