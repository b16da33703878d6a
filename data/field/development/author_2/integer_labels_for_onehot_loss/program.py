"""Keras: which of three stamps is on a metal plate."""

import argparse
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from keras import layers  # noqa: E402

from field_record import logged  # noqa: E402


class StampPlates:
    def __init__(self, seed, size=16):
        self.rng, self.size = np.random.default_rng(seed), size

    def draw(self, n):
        x = self.rng.normal(0, 0.4, (n, self.size, self.size, 1)).astype("float32")
        y = self.rng.integers(0, 3, n)
        for image, kind in zip(x, y):
            r, c = self.rng.integers(1, self.size - 7, 2)
            stamp = np.zeros((6, 6), "float32")
            if kind == 0:
                stamp[[0, -1]] = stamp[:, [0, -1]] = 1
            elif kind == 1:
                np.fill_diagonal(stamp, 1)
                np.fill_diagonal(stamp[::-1], 1)
            else:
                stamp[2:4] = 1
                stamp[:, 2:4] = 1
            image[r : r + 6, c : c + 6, 0] += 1.5 * stamp
        return x, y


def build(size):
    return keras.Sequential(
        [
            keras.Input((size, size, 1)),
            layers.Conv2D(16, 5, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(24, 3, activation="relu"),
            layers.GlobalMaxPooling2D(),
            layers.Dense(3, activation="softmax"),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    keras.utils.set_random_seed(args.seed)
    plates = StampPlates(args.seed)
    x, y = plates.draw(900)
    x_val, y_val = plates.draw(200)
    model = build(plates.size)
    model.summary()
    loss = "sparse_categorical_crossentropy" if args.healthy else "categorical_crossentropy"
    model.compile(optimizer=keras.optimizers.Adam(4e-3), loss=loss, metrics=["accuracy"])
    keep = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: logged(epoch, **logs))
    model.fit(x, y, validation_data=(x_val, y_val), epochs=8, batch_size=30, verbose=2, callbacks=[keep])


if __name__ == "__main__":
    main()
