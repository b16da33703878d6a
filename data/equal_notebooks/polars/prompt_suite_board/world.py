import json
import numpy as np


def files(version):
    rng = np.random.default_rng(52)
    third = "held-out" if version == "crashing" else "holdout"
    with open("suite_scores.ndjson", "w") as f:
        for p in ("terse", "Stepwise", "persona", "few-shot", "json-only"):
            q = rng.uniform(0.5, 0.8)
            for part, n in (("Dev", 40), (third, 25), ("probe", 15)):
                for k in range(n):
                    s = float(rng.random() < q - (0.05 if part != "Dev" else 0))
                    f.write(json.dumps({"prompt": p, "part": part, "question": f"{part[0].lower()}{k:02d}",
                                        "score": None if rng.random() < 0.02 else s, "tokens": int(rng.integers(60, 400))}) + "\n")
