def files(version):
    import numpy as np
    r = np.random.default_rng(13)
    with open("lagoon_samples.csv", "w") as f:
        f.write("sample,lagoon,month,temp,salinity,nitrate,phosphate,wind,chlorophyll\n")
        k = 0
        for g in range(14):
            for m in range(1, 13):
                for _ in range(2):
                    k += 1
                    temp = 14 - 9 * np.cos(m / 12 * 6.28) + r.normal(0, 1.5)
                    no3 = r.gamma(2, 2.5); po4 = r.gamma(2, .3)
                    chl = 10 ** (.2 + .03 * temp + .04 * no3 + r.normal(0, .2))
                    p = f"{max(po4, .05):.2f}"
                    if k in (77, 203): p = "<0.05" if version == "crashing" else "0.05"
                    n = "lost" if r.random() < .02 else f"{no3:.2f}"
                    f.write(f"{k},L{g + 1:02d},{m},{temp:.1f},{r.normal(28, 4):.1f},{n},{p},{r.gamma(3, 1.5):.1f},{chl:.2f}\n")
