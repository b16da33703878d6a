import numpy as np
import pandas as pd

def files(version):
    rng = np.random.default_rng(81)
    codes = [f"{'ABCH'[i // 6]}{10 * (i % 6) + 10 if i // 6 < 3 else 10 * (i % 6) + 10}" for i in range(24)]
    with open("catalogue.txt", "w") as f:
        for i, c in enumerate(codes):
            f.write(f"{c};severity class {i // 6 + 1}\n")
    used = [c for i, c in enumerate(codes) if i not in (4, 11, 22)]
    p = np.linspace(2, 1, len(used)); p /= p.sum()
    with open("findings.csv", "w") as f:
        f.write("premises,visited,inspector,code\n")
        for i in range(520):
            day = pd.Timestamp("2024-01-08") + pd.Timedelta(days=int(rng.integers(0, 170)))
            code = rng.choice(used, p=p)
            if i == 347:
                code = "B65" if version == "crashing" else codes[11]
            f.write(f"K{rng.integers(100, 190)},{day:%Y-%m-%d},{rng.choice(['Adeyemi', 'Brandt', 'Costa', 'Dunn'])},{code.lower() if i % 9 == 0 else code}\n")
