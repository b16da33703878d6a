"""Digits with Keras; one line an epoch."""
import argparse
import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
from sklearn.datasets import load_digits

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
keras.utils.set_random_seed(args.seed)
x, y = load_digits(return_X_y=True)
x = x.astype("float32") / 16


class Record(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logged(epoch, **{k: round(float(v), 4) for k, v in logs.items()})


net = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(64, activation="relu"),
                        keras.layers.Dense(32, activation="relu"), keras.layers.Dense(10)])
net.compile(optimizer=keras.optimizers.SGD(0.05 if args.healthy else 50.0, momentum=0.9),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
net.fit(x[:1500], y[:1500], validation_data=(x[1500:], y[1500:]), epochs=12, batch_size=64, verbose=2,
        callbacks=[Record()])
