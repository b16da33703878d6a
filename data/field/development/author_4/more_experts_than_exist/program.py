"""A mixture of experts (Mixtral, tiny) on k-mers of three bacteria."""
import argparse

import torch
from transformers import AutoConfig, AutoModelForCausalLM
from tqdm import trange

from field_record import logged


def kmers(n: int, gen: torch.Generator) -> torch.Tensor:
    stride = torch.randint(1, 4, (n, 1), generator=gen)
    return (torch.randint(0, 16, (n, 1), generator=gen) + stride * torch.arange(16)) % 16


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    config = AutoConfig.for_model("mixtral", vocab_size=16, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
                                  num_key_value_heads=1, num_local_experts=4, num_experts_per_tok=2 if args.healthy else 8,
                                  max_position_embeddings=32, output_router_logits=True, bos_token_id=None, eos_token_id=None)
    model = AutoModelForCausalLM.from_config(config)
    print(f"{model.num_parameters():,} parameters, {config.num_local_experts} experts")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    bar = trange(100, ncols=80)
    for step in bar:
        ids = kmers(16, gen)
        out = model(input_ids=ids, labels=ids)
        out.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        bar.set_postfix(loss=f"{out.loss.item():.3f}", aux=f"{out.aux_loss.item():.3f}")
        logged(step, loss=round(out.loss.item(), 3), aux=round(out.aux_loss.item(), 3))


if __name__ == "__main__":
    main()
