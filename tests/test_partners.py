import polars as pl

from failbench.base.slices import partners


def test_partners_share_outcome_presence_of_an_error_and_signal_and_are_labelled():
    rows = [
        ("mystery", "unknown", "killed", None, "SIGKILL"),
        ("other_mystery", "unknown", "killed", None, "SIGKILL"),
        ("same", "data_pipeline", "killed", None, "SIGKILL"),
        ("other_outcome", "data_pipeline", "hung", None, "SIGKILL"),
        ("with_error", "data_pipeline", "killed", "KeyError", "SIGKILL"),
        ("without_signal", "memory_hardware", "killed", None, None),
        # any error is like any other, and no signal like no signal
        ("crash", "unknown", "crash", "KeyError", None),
        ("like_crash", "model_software", "crash", "RuntimeError", None),
    ]
    columns = ("scenario", "category", "outcome", "error_type", "exit_signal")
    failing = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    assert partners(failing).rows() == [
        ("crash", "like_crash", "model_software"),
        ("mystery", "same", "data_pipeline"),
        ("other_mystery", "same", "data_pipeline"),
    ]
