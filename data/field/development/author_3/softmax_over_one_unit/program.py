import argparse
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
keras.utils.set_random_seed(args.seed)
torch.set_num_threads(1)

x, y = load_breast_cancer(return_X_y=True)
x = (x - x.mean(0)) / x.std(0)
order = np.random.permutation(len(x))
x, y = x[order].astype("float32"), y[order].astype("float32")

model = keras.Sequential([
    keras.layers.Input((30,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid" if args.healthy else "softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.summary()


class Record(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logged(epoch + 1, **(logs or {}))


model.fit(x[:450], y[:450], validation_data=(x[450:], y[450:]), epochs=15, batch_size=32, verbose=2,
          callbacks=[Record()])
