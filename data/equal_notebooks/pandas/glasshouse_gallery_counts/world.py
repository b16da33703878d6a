import numpy as np
import pandas as pd

def files(version):
    r = np.random.default_rng(640)
    rooms = ["Ceramics", "Drawings", "Glass", "Portraits", "Sculpture", "Textiles"]
    pd.DataFrame({"room": rooms, "floor_m2": [80, 45, 60, 120, 150, 70]}).to_csv("rooms.csv", index=False)
    out = []
    for day in pd.date_range("2023-03-01", periods=92):
        f = 1.6 if day.dayofweek >= 5 else 1
        for room in rooms:
            if r.random() < .03:
                continue
            out.append((day.date(), room, int(r.poisson(40 * f))))
    d = pd.DataFrame(out, columns=["day", "room", "visitors"])
    d.loc[[50, 210], "visitors"] = np.nan
    d["visitors"] = d["visitors"].astype("Int64")
    i = d.index[(d.day == pd.Timestamp("2023-05-06").date()) & (d.room == "Portraits")][0]
    j = d.index[(d.day == pd.Timestamp("2023-05-06").date()) & (d.room == "Sculpture")][0]
    if version == "crashing":
        d.loc[j, "room"] = "Portraits"
    d.to_csv("room_counts.csv", index=False)
