import argparse, os
os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
from keras import layers
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)

# Spanish weekday or month or number? each word as its letters' counts, with a few typing errors
GROUPS = ["lunes martes miercoles jueves viernes sabado domingo".split(), "enero febrero marzo abril mayo junio julio agosto octubre".split(),
          "uno dos tres cuatro cinco seis siete ocho nueve diez".split(), "rojo azul verde blanco negro gris rosa amarillo".split()]
def word():
    y = int(rng.integers(4))
    s = [c if rng.random() > .08 else chr(int(rng.integers(97, 123))) for c in GROUPS[y][int(rng.integers(len(GROUPS[y])))]]
    v = np.zeros(26 * 3, "float32")
    for i, c in enumerate(s):
        v[26 * min(i // 2, 2) + ord(c) - 97] += 1
    return v, y
X, Y = map(np.array, zip(*[word() for _ in range(3000)]))

init = "glorot_uniform" if args.healthy else "zeros"
model = keras.Sequential([keras.Input((78,)), layers.Dense(64, activation="relu", kernel_initializer=init),
                          layers.Dense(32, activation="relu", kernel_initializer=init), layers.Dense(4, activation="softmax", kernel_initializer=init)])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
record = keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: logged(e + 1, **{k: float(f"{v:.4f}") for k, v in logs.items()}))
model.fit(X[:2600], Y[:2600], validation_data=(X[2600:], Y[2600:]), batch_size=32, epochs=8, verbose=2, callbacks=[record])
