import argparse, multiprocessing as mp, pickle, random
from multiprocessing.connection import Client, Listener
ADDR = "out/store.sock"


def store(lag, seed, ready):
    """stand-in for the lab's shared store: sends shards of arithmetic strings on request"""
    import time
    rnd = random.Random(seed)
    with Listener(ADDR, "AF_UNIX") as l:
        ready.set()
        with l.accept() as c:
            while True:
                k = c.recv()
                if k == 5:
                    time.sleep(lag)
                rows = [(x, y, (x + y) % 10) for x, y in ((rnd.randrange(10), rnd.randrange(10)) for _ in range(320))]
                c.send_bytes(pickle.dumps(rows))


def main(args):
    import torch
    from torch.utils.data import IterableDataset
    from transformers import GPT2Config, GPT2ForSequenceClassification, Trainer, TrainingArguments, set_seed
    from field_record import TrainerRecord
    set_seed(args.seed); torch.set_num_threads(1)

    class Shards(IterableDataset):
        def __iter__(self):
            c = Client(ADDR, "AF_UNIX")
            for k in range(16):
                print(f"shard-{k:05d}", flush=True)
                c.send(k)
                for x, y, z in pickle.loads(c.recv_bytes()):
                    yield dict(input_ids=[x, 10, y, 11], labels=z)

    m = GPT2ForSequenceClassification(GPT2Config(vocab_size=12, n_positions=8, n_embd=64, n_layer=2, n_head=4,
        num_labels=10, pad_token_id=None, bos_token_id=0,
                                                 eos_token_id=0, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
    m.config.pad_token_id = 11
    ta = TrainingArguments("out", max_steps=150, per_device_train_batch_size=32, learning_rate=3e-3, logging_steps=10,
        save_strategy="no", report_to="none",
                           seed=args.seed, use_cpu=True, disable_tqdm=True)
    Trainer(m, ta, train_dataset=Shards(), callbacks=[TrainerRecord()]).train()


if __name__ == "__main__":
    import os
    a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
    a.add_argument("--seed", type=int, default=0)
    args = a.parse_args()
    os.makedirs("out", exist_ok=True)
    ready = mp.Event()
    mp.Process(target=store, args=(0.05 if args.healthy else 3600, args.seed, ready), daemon=True).start()
    ready.wait(20)
    main(args)
