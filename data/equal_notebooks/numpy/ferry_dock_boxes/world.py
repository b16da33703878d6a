import json
import numpy as np


def files(version):
    rng = np.random.default_rng(41)
    images = []
    total = 0
    for i in range(36):
        objects = []
        for _ in range(int(rng.integers(2, 8))):
            cx, cy = rng.uniform(80, 560), rng.uniform(80, 400)
            a, b = rng.uniform(30, 60), rng.uniform(12, 25)
            th = rng.uniform(-1, 1)
            corners = []
            for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                x, y = sx * a, sy * b
                corners.append([round(cx + x * np.cos(th) - y * np.sin(th), 1), round(cy + x * np.sin(th) + y * np.cos(th), 1)])
            label = str(rng.choice(["car", "truck", "bus", "van"], p=[0.5, 0.2, 0.1, 0.2]))
            objects.append({"label": label, "annotator": str(rng.choice(["hk", "lo"])), "corners": corners})
            total += 1
        images.append({"file": f"dock_{i:03d}.jpg", "size": {"w": 640, "h": 480}, "objects": objects})
    if version == "crashing":
        ob = next(o for o in images[17]["objects"] if o["label"] == "car")
        c = ob["corners"]
        ob["corners"] = c[:2] + [[round((c[1][0] + c[2][0]) / 2 + 2, 1), round((c[1][1] + c[2][1]) / 2, 1)]] + c[2:]
    with open("dock_annotations.json", "w") as f:
        json.dump({"info": {"site": "dock 2", "tool": "outline 1.4"}, "images": images}, f)
