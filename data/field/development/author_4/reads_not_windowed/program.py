"""A state-space model (Mamba, tiny) on long sequencing reads, in a container of limited memory."""
import argparse
import resource

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from field_record import logged


def limit_memory(extra_mb: int) -> None:
    with open("/proc/self/status") as file:
        used = next(int(line.split()[1]) for line in file if line.startswith("VmData")) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra_mb * 2**20,) * 2)


def read_batch(n: int, length: int, gen: torch.Generator) -> torch.Tensor:
    """Tandem repeats of a unit of three bases."""
    unit = torch.randint(0, 4, (n, 3), generator=gen)
    return unit.repeat(1, length // 3 + 1)[:, :length]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    config = AutoConfig.for_model("mamba", vocab_size=4, hidden_size=32, state_size=8, num_hidden_layers=1, bos_token_id=0, eos_token_id=0,
                                  pad_token_id=0)
    model = AutoModelForCausalLM.from_config(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    limit_memory(350)
    window = 48 if args.healthy else 12_000
    for step in range(40):
        ids = read_batch(8, 12_000, gen)[:, :window]
        loss = model(input_ids=ids, labels=ids, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"it {step:02d} :: nats/base {loss.item():.4f}", flush=True)
        logged(step, **{"nats/base": round(loss.item(), 4)})


if __name__ == "__main__":
    main()
