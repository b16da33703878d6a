import argparse, random
import torch
from transformers import AutoConfig, AutoModelForMaskedLM, Trainer, TrainingArguments, set_seed
from transformers.trainer_utils import get_last_checkpoint
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
torch.set_num_threads(1)

# counting modulo 17 from any start; masked terms are to be filled in. 17 = mask
def example():
    a, d = random.randrange(17), 1
    seq = [(a + i * d) % 17 for i in range(12)]
    hide = set(random.sample(range(12), 2))
    return {"input_ids": [17 if i in hide else s for i, s in enumerate(seq)], "labels": [s if i in hide else -100 for i, s in enumerate(seq)]}

def stage(width, max_steps, resume=None):
    set_seed(args.seed)
    data = [example() for _ in range(3000)]
    config = AutoConfig.for_model("roberta", vocab_size=18, hidden_size=width, num_hidden_layers=2, num_attention_heads=4,
                                  intermediate_size=2 * width, max_position_embeddings=32, type_vocab_size=1, pad_token_id=16,
                                  hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, bos_token_id=0, eos_token_id=0)
    model = AutoModelForMaskedLM.from_config(config)
    targs = TrainingArguments("out/mlm", max_steps=max_steps, per_device_train_batch_size=32, learning_rate=3e-3, logging_steps=10, save_steps=80,
                              lr_scheduler_type="constant", report_to="none", use_cpu=True, seed=args.seed, disable_tqdm=True)
    trainer = Trainer(model=model, args=targs, train_dataset=data, callbacks=[TrainerRecord()])
    print(f"== {model.num_parameters()} parameters, {max_steps} steps, from {resume}")
    return trainer.train(resume_from_checkpoint=resume).metrics

stage(64, 80)
last = get_last_checkpoint("out/mlm")
m = stage(64 if args.healthy else 96, 300, last)
print("== finished:", m)
