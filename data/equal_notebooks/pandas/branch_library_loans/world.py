import numpy as np
import pandas as pd

def files(version):
    r = np.random.default_rng(2718)
    nb = 60
    pd.DataFrame({"book_id": np.arange(1, nb + 1), "title": [f"Title {i:02d}" for i in range(1, nb + 1)],
                  "shelf": r.choice(["novel", "children", "travel", "history"], nb)}).to_csv("books.csv", index=False)
    n = 520
    lent = pd.Timestamp("2022-01-03") + pd.to_timedelta(np.sort(r.integers(0, 360, n)), unit="D")
    back = lent + pd.to_timedelta(r.integers(2, 40, n), unit="D")
    d = pd.DataFrame({"reader": r.integers(1, 90, n), "book_id": r.integers(1, nb + 1, n),
                      "lent": lent.strftime("%Y-%m-%d"), "returned": back.strftime("%Y-%m-%d")})
    if version == "crashing":
        d.loc[311, "lent"] = "2022-06-31"
    d.to_csv("loans.csv", index=False)
