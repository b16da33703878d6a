import argparse, random
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

NOMBRES = "Lucía Mateo Sofía Hugo Elena Bruno".split()
OFICIOS = "panadera pescador maestra herrero pintora músico".split()
CIUDADES = "Cádiz Bilbao Lugo Murcia Toledo".split()
def cuento():
    n, o, c = random.choice(NOMBRES), random.choice(OFICIOS), random.choice(CIUDADES)
    return f"{n} vive en {c} . Cada mañana {n} canta y su vecino es {o} . En {c} llueve poco , y {n} sueña con el mar ."

ds = Dataset.from_dict({"texto": [cuento() for _ in range(1000)]})
raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
raw.train_from_iterator(ds["texto"], trainers.WordLevelTrainer(special_tokens=["<pad>", "<unk>", "<eos>"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")
model = AutoModelForCausalLM.from_config(AutoConfig.for_model(
    "llama", vocab_size=len(tok), hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
    max_position_embeddings=64, pad_token_id=0, bos_token_id=2, eos_token_id=2, tie_word_embeddings=True))
print(ds, f"\nvocabulary {len(tok)}, parameters {model.num_parameters()}")

cfg = SFTConfig(output_dir="out", max_steps=100, per_device_train_batch_size=16, learning_rate=5e-3, logging_steps=5, max_length=64,
                dataset_text_field="texto" if args.healthy else "text", gradient_checkpointing=False, bf16=False, use_cpu=True,
                save_strategy="no", report_to="none", seed=args.seed)
trainer = SFTTrainer(model=model, args=cfg, train_dataset=ds, processing_class=tok, callbacks=[TrainerRecord()])
trainer.train()
ids = tok("Elena vive en", return_tensors="pt").input_ids
print(tok.decode(model.generate(ids, max_new_tokens=16, do_sample=True, pad_token_id=0)[0]))
