def files(version):
    import numpy as np
    r = np.random.default_rng(19)
    sites = [f"IL{i:02d}" for i in range(1, 16)]
    taxa = ["Baetis", "Ecdyonurus", "Epeorus", "Gammarus", "Leuctra"]
    with open("kick_counts.csv", "w") as f:
        f.write("Site,Visit,Taxon,N\n")
        for s in sites:
            for v in range(1, 5):
                for t in taxa:
                    if r.random() < .8: f.write(f"{s},{v},{t},{r.poisson(14)}\n")
    with open("visits.csv", "w") as f:
        f.write("Site,Visit,Date,pH,Conductivity\n")
        for s in sites:
            for v in range(1, 5):
                w = 2 if (version == "crashing" and s == "IL09" and v == 3) else v
                f.write(f"{s},{w},2022-{3 + 2 * v - 1:02d}-{r.integers(3, 27):02d},{r.normal(6.6, .4):.2f},{r.normal(92, 14):.0f}\n")
