def files(version):
    import json, numpy as np
    r = np.random.default_rng(23)
    bees = ["B. terrestris", "B. lapidarius", "B. pascuorum", "B. hortorum", "B. mendax", "B. monticola", "B. wurflenii"]
    plants = ["Trifolium pratense", "Lotus alpinus", "Rhinanthus", "Campanula", "Aconitum", "Gentiana", "Cirsium", "Thymus", "Silene",
              "Geranium", "Pedicularis", "Onobrychis", "Hippocrepis", "Prunella"]
    json.dump({"bees": bees, "plants": plants}, open("species.json", "w"))
    with open("visits.csv", "w") as f:
        f.write("plot,bee,plant,count\n")
        for i in range(260):
            p = int(r.integers(0, 14)); b = int(r.integers(0, 7)); c = int(r.poisson(3))
            if i in (93, 171): p = 14 if version == "crashing" else 13
            f.write(f"P{i % 6},{b},{p},{c}\n")
