import pickle
import numpy as np
import pandas as pd
import lightgbm as lgb

def season(r, n, start):
    d = pd.DataFrame({"evening": pd.Timestamp(start) + pd.to_timedelta(np.sort(r.integers(0, 300, n)), unit="D"), "soloist": r.integers(0, 2, n),
                      "duration_min": r.integers(60, 130, n), "premiere": r.integers(0, 2, n), "price": r.integers(15, 80, n)})
    d["sold"] = (700 + 120 * d.soloist - 90 * d.premiere - 3 * d.price + 80 * (d.evening.dt.dayofweek > 3) + r.normal(0, 60, n)).round().astype(int)
    return d

def files(version):
    r = np.random.default_rng(1842)
    old = season(r, 160, "2021-09-01")
    X = pd.DataFrame({"weekday": old.evening.dt.dayofweek, "month": old.evening.dt.month}).join(old[["soloist", "duration_min", "premiere", "price"]])
    m = lgb.LGBMRegressor(n_estimators=25, num_leaves=6, n_jobs=1, verbose=-1, random_state=1).fit(X, old.sold)
    pickle.dump(m if version == "crashing" else m.booster_, open("attendance_model.pkl", "wb"))
    new = season(r, 130, "2022-09-01")
    new["soloist"] = new["soloist"].astype(float).mask(r.random(130) < .05)
    new.to_csv("season.csv", index=False)
