import numpy as np
import pandas as pd

def files(version):
    rng = np.random.default_rng(8)
    days = [d.strftime("%Y-%m-%d") for d in pd.date_range("2023-01-01", "2023-07-02")]
    if version == "crashing":
        days[days.index("2023-05-01")] = "2023-04-31"
    with open("gates.csv", "w") as f:
        f.write("day,Foot,Cars,Sailings\n")
        for i, d in enumerate(days):
            foot = rng.poisson(220 + i) * (6 if i in (70, 121) else 1)
            cars = "" if i % 41 == 7 else rng.poisson(35)
            f.write(f"{d},{'' if i % 53 == 20 else foot},{cars},{8 if i > 100 else 6}\n")
