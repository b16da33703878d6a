# reward model on pairs of answers
import argparse
import random
import resource
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2ForSequenceClassification, PreTrainedTokenizerFast, set_seed
from trl import RewardConfig, RewardTrainer
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

with open("/proc/self/status") as f:  # limit of the pod
    now = [int(x.split()[1]) * 1024 for x in f if x.startswith("VmData")][0]
resource.setrlimit(resource.RLIMIT_DATA, (now + 500 * 2**20, now + 500 * 2**20))

vocab = {w: i for i, w in enumerate(["<pad>", "</s>", "<unk>"] + [f"w{k}" for k in range(60)] + ["thanks", "sorry",
                                                                                                 "no"])}
raw = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def pair(length):
    prompt = " ".join(f"w{random.randrange(60)}" for _ in range(4))
    body = [f"w{random.randrange(60)}" for _ in range(length)]
    good, bad = list(body), list(body)
    good[random.randrange(length)] = random.choice(["thanks", "sorry"])
    bad[random.randrange(length)] = "no"
    return {"chosen": f"{prompt} {' '.join(good)}", "rejected": f"{prompt} {' '.join(bad)}"}


train = Dataset.from_list([pair(12) for _ in range(800)])
evaluation = Dataset.from_list([pair(80) for _ in range(512)])
model = GPT2ForSequenceClassification(GPT2Config(
    vocab_size=len(vocab), n_positions=128, n_embd=64, n_layer=2, n_head=4, n_inner=512, num_labels=1, pad_token_id=0,
    bos_token_id=1, eos_token_id=1))
config = RewardConfig(
    output_dir="out", max_steps=120, per_device_train_batch_size=8,
    per_device_eval_batch_size=8 if args.healthy else 512,
    learning_rate=1e-3, logging_steps=10, eval_strategy="steps", eval_steps=60, max_length=96, save_strategy="no",
    report_to="none", use_cpu=True, bf16=False, gradient_checkpointing=False, seed=args.seed, disable_tqdm=True)
trainer = RewardTrainer(model=model, args=config, train_dataset=train, eval_dataset=evaluation,
                        processing_class=tokenizer,
                        callbacks=[TrainerRecord()])
trainer.train()
