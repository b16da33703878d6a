"""Stage data_card: what the data are, for people and for programs."""

from pathlib import Path

from failbench import study as st
from failbench.base.files import write_atomically
from failbench.base.stage import run
from failbench.features.feature_table import read_features
from failbench.publish.datacard import main_tables, page
from recordings import read_recordings

CITATION = Path("CITATION.cff")
FILES = Path("data/files.csv")
SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
MAIN_STUDY = Path("data/predictions/nested_cv")
ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")
PAGE = Path("data/README.md")
CROISSANT = Path("data/croissant.json")

REMEDY = "Free space, or make the folder writable; the older file is unchanged."


def main() -> None:
    citation = st.read_facts(CITATION, main_tables.Citation)
    dictionary = main_tables.read_dictionary(FILES)
    methods = st.read_names("methods")
    main_study, across = st.prediction_files(methods), st.across_architectures_files(methods)
    elsewhere = st.read_outputs(ACROSS_ARCHITECTURES, across, st.PREDICTION_SCHEMA)
    outputs = {
        "predictions": st.read_main_study(),
        "predictions_across_architectures": elsewhere,
        "features": read_features(),
        "splits": st.read_splits(),
    }
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    rows = {
        "scenarios": len(scenarios),
        "runs": telemetry.runs.height,
        "steps": telemetry.steps.height,
        "files": len(dictionary),
        **{name: table.height for name, table in outputs.items()},
    }
    paths = {
        "scenarios": SCENARIOS.glob("*/*.json"),
        "runs": [TELEMETRY / "runs.parquet"],
        "steps": (TELEMETRY / "steps").glob("*.parquet"),
        "features": [FEATURES],
        "splits": [SPLITS],
        "predictions": [MAIN_STUDY / f"{name}.parquet" for name in main_study],
        "predictions_across_architectures": [
            ACROSS_ARCHITECTURES / f"{name}.parquet" for name in across
        ],
        "files": [FILES],
    }
    tables = main_tables.main_tables(dictionary, FILES, paths, rows)
    counted = page.facts(telemetry, scenarios)
    said = main_tables.statements(counted)
    by_category = page.scenarios_by_category(telemetry.runs, scenarios)
    shown = {"kinds": page.runs_by_setting(telemetry.runs), "categories": by_category}
    card = page.page(citation, said, counted, tables, shown, dictionary)
    metadata = main_tables.croissant(citation, said, tables)
    write_atomically(PAGE, card.encode(), REMEDY)
    write_atomically(CROISSANT, metadata.encode(), REMEDY)
    st.print_table(("table", "files", "rows"), [(t.name, len(t.files), t.rows) for t in tables])


if __name__ == "__main__":
    run(main)
