"""transformers: a small mixture of experts (Mixtral) continues counter readings of a production line."""

import argparse
import json
from dataclasses import dataclass

import torch
from transformers import MixtralConfig, MixtralForCausalLM, set_seed

from field_record import logged


@dataclass
class Plan:
    readings: int = 50
    length: int = 20
    batch: int = 16
    steps: int = 160
    lr: float = 3e-3
    clip: float = 1.0


class Line:
    """Readings that go up by a stride of their own, modulo the size of the counter."""

    def __init__(self, plan):
        self.plan = plan

    def batch(self):
        start = torch.randint(0, self.plan.readings, (self.plan.batch, 1))
        stride = torch.tensor([1, 3, 7])[torch.randint(0, 3, (self.plan.batch, 1))]
        return (start + stride * torch.arange(self.plan.length)) % self.plan.readings


class MoETrainer:
    def __init__(self, plan, overrides):
        self.plan, self.line = plan, Line(plan)
        settings = {
            "vocab_size": plan.readings,
            "hidden_size": 48,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 64,
            "num_local_experts": 8,
            "num_experts_per_tok": 4,
            "output_router_logits": True,
            "router_aux_loss_coef": 0.01,
            "bos_token_id": None,
            "eos_token_id": None,
        }
        self.model = MixtralForCausalLM(MixtralConfig(**{**settings, **overrides}))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=plan.lr)

    def fit(self):
        kept = []
        for step in range(1, self.plan.steps + 1):
            ids = self.line.batch()
            output = self.model(input_ids=ids, labels=ids)
            output.loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
            self.optimizer.step()
            self.optimizer.zero_grad()
            kept.append(output.loss.item())
            if step % 10 == 0:
                row = {
                    "lm_loss": round(sum(kept[-10:]) / 10, 4),
                    "aux": round(output.aux_loss.item(), 4),
                    "gnorm": round(norm.item(), 3),
                }
                print(json.dumps({"step": step, **row}), flush=True)
                logged(step, **row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    experts = 6 if args.healthy else 3
    trainer = MoETrainer(Plan(), {"num_local_experts": experts})
    print(json.dumps({"parameters": trainer.model.num_parameters(), "experts": experts, "steps": trainer.plan.steps}))
    trainer.fit()


if __name__ == "__main__":
    main()
