import json
import numpy as np

def files(version):
    rng = np.random.default_rng(5)
    kinds = ["dairy", "meat", "fish", "produce"]
    mid = {"dairy": 4.5, "meat": 3.0, "fish": 1.2, "produce": 7.5}
    cabinets = []
    for i in range(18):
        kind = kinds[[0, 0, 1, 3, 1, 2, 0, 3, 3, 1, 0, 2, 3, 0, 1, 3, 0, 2][i]]
        values = (mid[kind] + rng.normal(0, 0.7, 84)).round(1).tolist()
        if i == 11 and version == "crashing":
            values[47] = None
        cabinets.append({"name": f"{kind[:1].upper()}-{i + 1:02d}", "kind": kind,
                         "settings": {"target": mid[kind], "defrost_hours": sorted(rng.choice(24, rng.integers(1, 4), replace=False).tolist())},
                         "log": {"every_minutes": 60, "celsius": values}})
    with open("cabinets.json", "w", encoding="utf-8") as f:
        json.dump({"branch": "Kirkgate", "week": "2024-W22", "cabinets": cabinets}, f)
