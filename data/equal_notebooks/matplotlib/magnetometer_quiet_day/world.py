def files(version):
    import numpy as np
    from datetime import datetime, timedelta
    r = np.random.default_rng(17)
    with open("kp_daily.csv", "w") as f:
        f.write("day,kp_max\n")
        for d in range(10): f.write(f"2023-09-{d + 1:02d},{[1, 2, 4, 2, 1, 5, 3, 2, 1, 4][d]}\n")
    names = {"ABK": 11300, "SOD": 12100, "NUR": 15000}
    with open("hourly_h.csv", "w") as f:
        f.write("time,station,h_nt\n")
        for s, h in names.items():
            for k in range(240):
                t = datetime(2023, 9, 1) + timedelta(hours=k)
                v = h + 22 * np.exp(-((t.hour - 11) / 3) ** 2) + r.normal(0, 2)
                if s != "SOD" and version == "crashing" and k > 40: continue
                if s == "ABK" and k > 60 : continue
                f.write(f"{t:%Y-%m-%d %H:%M},{s},{v:.1f}\n")
