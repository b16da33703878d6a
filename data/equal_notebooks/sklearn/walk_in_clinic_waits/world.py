import json
import numpy as np
import pandas as pd

def files(version):
    rng = np.random.default_rng(64)
    rooms = ["1", "2", "2B", "3", "4", "4B"]
    visits = []
    for i in range(260):
        t = pd.Timestamp("2024-09-02") + pd.Timedelta(days=int(rng.integers(0, 14)), minutes=int(rng.integers(480, 1140)))
        room = str(rng.choice(rooms))
        if version == "crashing" and room.isdigit():
            room = int(room)
        visits.append({"site": str(rng.choice(["Bridge", "Mill", "Park"])), "room": room,
                       "reason": str(rng.choice(["wound", "fever", "vaccine", "other"])), "age": int(rng.integers(1, 90)),
                       "arrived": t.isoformat(), "seen": (t + pd.Timedelta(minutes=int(rng.gamma(2, 18)))).isoformat()})
    with open("visits.json", "w", encoding="utf-8") as f:
        json.dump({"period": "2024-09-02/2024-09-15", "visits": visits}, f)
