import joblib
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline

WORDS = {
    "billing": "invoice refund charge card payment receipt vat amount".split(),
    "delivery": "parcel late courier address tracking van depot box".split(),
    "account": "password login email locked reset profile name code".split(),
    "product": "broken screen battery button noise cable manual part".split(),
}


def texts(rng, n):
    out = []
    for _ in range(n):
        q = str(rng.choice(list(WORDS)))
        ws = list(rng.choice(WORDS[q], 5)) + list(rng.choice("please hello my the order since today again".split(), 4))
        rng.shuffle(ws)
        out.append((q, " ".join(ws)))
    return out


def files(version):
    rng = np.random.default_rng(31)
    train = texts(rng, 200)
    head = RidgeClassifier(alpha=1.0) if version == "crashing" else LogisticRegression(C=3.0)
    pipe = Pipeline([("text", TfidfVectorizer(min_df=2)), ("head", head)])
    pipe.fit([t for _, t in train], [q for q, _ in train])
    joblib.dump({"pipeline": pipe, "notes": {"trained": "2024-09-02", "owner": "desk tools", "rows": 200}}, "router_bundle.joblib", compress=3)
    week = texts(rng, 120)
    pd.DataFrame({"id": range(5001, 5121), "subject": [t.split()[0] for _, t in week],
                  "body": [" ".join(t.split()[1:]) + (" 4471" if i % 9 == 0 else "") for i, (_, t) in enumerate(week)]}).to_csv("tickets_week.csv", index=False)
