def files(version):
    import numpy as np
    from datetime import datetime, timedelta
    r = np.random.default_rng(5)
    t, kg = datetime(2023, 6, 12, 0, 0), 52.0
    with open("hive07.csv", "w") as f:
        f.write("stamp,kg,t_in,t_out\n")
        for i in range(224):
            h = t.hour
            kg += (.25 if 9 <= h <= 18 else -.08) + r.normal(0, .05)
            stamp = t.strftime("%Y-%m-%d %H:%M")
            if version == "crashing" and i == 136:
                stamp = (t - timedelta(days=1)).strftime("%Y-%m-%d") + " 24:00"
            f.write(f"{stamp},{kg + (9 if i == 60 else 0):.2f},{34.6 + r.normal(0, .9):.1f},{18 + 6 * np.sin((h - 8) / 24 * 6.28) + r.normal(0, 1):.1f}\n")
            t += timedelta(hours=3)
