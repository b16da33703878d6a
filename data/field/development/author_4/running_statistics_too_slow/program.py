"""Keras 3: cough or speech from loudness features (dB), with batch normalisation."""
import argparse
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch

from field_record import logged


class Journal(keras.callbacks.Callback):
    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        logged(epoch, **(logs or {}))


def loudness(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    x = 60 + rng.normal(size=(n, 12)) * 4
    x[:, :4] += np.where(y == 1, 5, -5)[:, None]
    return x.astype("float32"), y


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    model = keras.Sequential([
        keras.layers.Input((12,)),
        keras.layers.BatchNormalization(momentum=0.9 if args.healthy else 0.99999),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.Adam(5e-3), loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(*loudness(640, rng), batch_size=32, epochs=12, verbose=2, validation_data=loudness(200, rng), callbacks=[Journal()])


if __name__ == "__main__":
    main()
