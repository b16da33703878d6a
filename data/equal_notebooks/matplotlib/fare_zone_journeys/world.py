import json
import numpy as np

def files(version):
    rng = np.random.default_rng(3)
    with open("taps.csv", "w") as f:
        f.write("card,zone_in,zone_out\n")
        for i in range(900):
            a, b = rng.choice(6, 2, p=[.35, .25, .15, .1, .1, .05]) + 1
            f.write(f"{rng.choice(['adult', 'child', 'senior'], p=[.7, .1, .2])},{a},{b if i % 40 else ''}\n")
    zones = ["Centre", "Inner ring", "Outer ring", "Airport", "Lakes", "Forest"]
    if version == "crashing":
        zones.remove("Airport")
    with open("brand.json", "w", encoding="utf-8") as f:
        json.dump({"title": "City Lines", "zones": zones, "colours": ["#00557f", "#e0a030", "#909090"]}, f)
