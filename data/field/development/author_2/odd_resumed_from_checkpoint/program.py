"""Trainer: the first half of a run, then the second half from its checkpoint, as after a night's stop."""

import argparse

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)
from transformers.trainer_utils import get_last_checkpoint

from field_record import TrainerRecord


class Counters(torch.utils.data.Dataset):
    """Two-state signals: which of the two states is held longer?"""

    def __init__(self, n, length=17):
        share = torch.rand(n, 1)
        self.ids = (torch.rand(n, length) < share).long() + 1
        self.labels = (self.ids.sum(1) > 1.5 * length).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {
            "input_ids": self.ids[index],
            "attention_mask": torch.ones_like(self.ids[index]),
            "labels": self.labels[index],
        }


class StopAt(TrainerCallback):
    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step >= self.step:
            control.should_training_stop = True
        return control


class Session:
    def __init__(self, args, data):
        self.args, self.data = args, data

    def trainer(self, *more):
        set_seed(self.args.seed)
        config = BertConfig(
            vocab_size=4,
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            num_labels=2,
            max_position_embeddings=32,
        )
        arguments = TrainingArguments(
            "out",
            num_train_epochs=4,
            per_device_train_batch_size=16,
            learning_rate=2e-3,
            logging_steps=15,
            save_steps=60,
            save_total_limit=2,
            report_to="none",
            use_cpu=True,
            seed=self.args.seed,
        )
        return Trainer(
            BertForSequenceClassification(config),
            arguments,
            train_dataset=self.data,
            callbacks=[TrainerRecord(), *more],
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    session = Session(args, Counters(960))
    session.trainer(StopAt(120)).train()
    checkpoint = get_last_checkpoint("out")
    print("resuming from", checkpoint)
    session.trainer().train(resume_from_checkpoint=checkpoint)


if __name__ == "__main__":
    main()
