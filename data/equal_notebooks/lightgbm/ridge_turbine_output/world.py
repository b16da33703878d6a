def files(version):
    import numpy as np
    from datetime import datetime, timedelta
    r = np.random.default_rng(91)
    n = 600
    extra = "pitch[deg]" if version == "crashing" else "pitch_deg"
    t = datetime(2023, 11, 2)
    with open("scada_t3.csv", "w") as f:
        f.write(f"time,status,wind_speed,wind_dir,{extra},rotor_rpm,air_temp,power_kw\n")
        for i in range(n):
            w = r.weibull(2.1) * 8; p = 2000 / (1 + np.exp(-(w - 8.5) / 1.3)) + r.normal(0, 40)
            f.write(f"{t:%Y-%m-%d %H:%M},{'run' if r.random() < .93 else 'stop'},{w:.2f},{r.uniform(0, 360):.0f},{max(0, w - 11) * 2.2 + r.normal(0, .3):.2f},{min(16, 5 + w):.1f},{r.normal(6, 3):.1f},{p:.0f}\n")
            t += timedelta(minutes=10)
