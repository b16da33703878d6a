import json
import numpy as np
import pandas as pd

def files(version):
    r = np.random.default_rng(1876)
    base = {"A": 110, "AA": 170, "E": 95, "I": 80, "II": 140, "O": 100, "U": 85, "UU": 150}
    vowels = list(base)
    n = 900
    d = pd.DataFrame({"speaker": r.integers(1, 19, n), "vowel": r.choice(vowels, n)})
    d["dialect"] = np.array(["coast", "hill", "town"])[d.speaker % 3]
    d["ms"] = (d.vowel.map(base) * np.exp(r.normal(0, .2, n))).round()
    if version == "crashing":
        d["vowel"] = d["vowel"].replace({"UU": "U"})
    d.to_csv("vowel_tokens.csv", index=False)
    json.dump({"symbols": ["a", "aː", "ɛ", "ɪ", "iː", "ɔ", "ʊ", "uː"], "dialects": {"coast": "tab:blue", "hill": "tab:green", "town": "tab:orange"}}, open("display.json", "w", encoding="utf-8"))
