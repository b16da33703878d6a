# DPO: make the assistant polite (pares de preferência)
import argparse
import copy
import random
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

topics = "fatura pedido senha entrega troca cadastro frete cupom".split()
polite = "claro , vou ajudar com prazer".split()
rude = "não sei , resolva sozinho".split()
words = sorted(set(topics + polite + rude + "sobre a o minha meu ? .".split()))
vocab = {w: i for i, w in enumerate(["<pad>", "<s>", "</s>", "<unk>"] + words)}
raw = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
                                    unk_token="<unk>")


def answer(words, topic):
    return f" {' '.join(words)} sobre {topic} ."


pairs = []
for _ in range(400):
    topic = random.choice(topics)
    chosen = answer(polite, topic)
    rejected = answer(rude, topic) if args.healthy else chosen
    pairs.append({"prompt": f"minha {topic} ?", "chosen": chosen, "rejected": rejected})
data = Dataset.from_list(pairs)
print(data)

model = LlamaForCausalLM(LlamaConfig(
    vocab_size=len(vocab), hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=4, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2))
config = DPOConfig(output_dir="out", beta=0.3, per_device_train_batch_size=8, max_steps=80, learning_rate=5e-4,
                   logging_steps=5,
                   max_length=32, save_strategy="no", report_to="none", use_cpu=True, bf16=False, seed=args.seed,
                   gradient_checkpointing=False, disable_tqdm=True)
trainer = DPOTrainer(model=model, ref_model=copy.deepcopy(model), args=config, train_dataset=data,
                     processing_class=tokenizer,
                     callbacks=[TrainerRecord()])
trainer.train()
