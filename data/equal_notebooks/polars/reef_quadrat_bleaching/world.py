def files(version):
    import json, numpy as np
    from datetime import date, timedelta
    r = np.random.default_rng(72)
    weeks = [date(2023, 1, 2) + timedelta(days=7 * i) for i in range(26)]
    sst = [round(float(28.2 + 2.6 * np.exp(-((i - 13) / 5) ** 2) + r.normal(0, .15)), 2) for i in range(26)]
    with open("quadrats.csv", "w") as f:
        f.write("week,quadrat,colonies,bleached\n")
        for i, w in enumerate(weeks):
            for q in range(1, 7):
                n = int(r.integers(12, 40)); f.write(f"{w},{q},{n},{r.binomial(n, .05 + .5 / (1 + np.exp(-(i - 15) / 1.5)) * (i < 23))}\n")
    json.dump({"serial": "HB-2291", "depth_m": 3.5, "max_monthly_mean": 29.1, "weekly_mean": sst[:-1] if version == "crashing" else sst}, open("logger_summary.json", "w"))
