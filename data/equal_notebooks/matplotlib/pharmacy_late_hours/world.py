import numpy as np
import pandas as pd

def files(version):
    rng = np.random.default_rng(29)
    mean = {"Harbour": 130, "Old Town": 84, "Northgate": 62, "Meadows": 48, "Hill": 30}
    if version == "mended":
        mean["Old Town"] = 101
    with open("late.csv", "w") as f:
        f.write("district,pharmacy,month,prescriptions\n")
        for d, m in mean.items():
            for p in range(3):
                for month in pd.date_range("2024-01-01", periods=10, freq="MS"):
                    f.write(f"{d} ,{d[:2].upper()}{p},{month:%Y-%m-%d},{rng.poisson(m / 3)}\n")
