"""Keras: good and bad castings by ten measurements; only twelve parts could be spared for validation."""

import argparse
import os

os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
import numpy as np  # noqa: E402

from field_record import logged  # noqa: E402


class Castings:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.direction = self.rng.normal(size=10)

    def draw(self, n):
        x = self.rng.normal(size=(n, 10)).astype("float32")
        score = x @ self.direction + 1.2 * np.sin(2 * x[:, 0]) + 0.8 * self.rng.normal(size=n)
        return x, (score > 0).astype("float32")


class Record(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logged(epoch, **logs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)
    castings = Castings(args.seed)
    x, y = castings.draw(600)
    model = keras.Sequential(
        [
            keras.Input((10,)),
            keras.layers.Dense(24, activation="relu"),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer=keras.optimizers.AdamW(1e-2), loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, validation_data=castings.draw(12), epochs=24, batch_size=24, verbose=2, callbacks=[Record()])


if __name__ == "__main__":
    main()
