import json
import numpy as np

def files(version):
    r = np.random.default_rng(17)
    syl = [a + b for a in ["mo", "sno", "cri", "pl", "wi", "ra", "fro", "du", "le", "ga"] for b in ["on", "w", "cket", "um", "nd", "in", "g", "sk", "af", "te", "sh", "rn"]]
    vocabulary = {"<pad>": 0, "<unk>": 1}
    for s in syl:
        vocabulary[s] = len(vocabulary)
    n = len(vocabulary)
    poems = []
    for i in range(220):
        lines = [[int(1 + (n - 1) * r.beta(1, 3)) for _ in range(int(r.integers(2, 7)))] for _ in range(3)]
        lines = [[min(t, n - 2) for t in line] for line in lines]
        poems.append({"poet": str(r.choice(["B.", "I.", "S.", "C."])), "season": str(r.choice(["spring", "summer", "autumn", "winter"])), "lines": lines})
    poems[143]["lines"][1][1] = n + 5 if version == "crashing" else n - 3
    json.dump(vocabulary, open("vocabulary.json", "w"))
    json.dump({"lab": "phil-2", "poems": poems}, open("haiku.json", "w"))
