import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import band_features
from measure_architectures import calibrations
from shared.architectures import ArchitecturesDesign
from study_settings import IMPROVED_RULES

DESIGN = ArchitecturesDesign(noise=(0.05,), noisy_logs=2, percentile=0.99, seed=0)


def test_thresholds_of_its_own_come_from_an_architectures_successful_runs_alone(repository):
    features = pl.read_parquet(repository / "data/features/features.parquet")
    pair = pl.col("architecture").is_in(("transformer", "gru"))
    features = features.filter(pair, optimizer="adamw")
    reference = HealthyBand(
        dict.fromkeys(band_features(), 1.0), dict.fromkeys(band_features(), 0.0)
    )
    taken = {
        each.thresholds: each
        for each in calibrations(features, reference, IMPROVED_RULES, DESIGN)
        if each.architecture == "gru"
    }
    assert taken.pop("reference").band is reference
    norms = features.filter(kind="success", architecture="gru")["max_gradient_norm"].to_numpy()
    percentile = np.quantile(norms, 0.99)
    expected = {
        "own_deviations": norms.mean() + 3 * norms.std(ddof=1),
        "own_percentile": percentile,
        "own_percentile_and_limit": percentile,
    }
    upper = {name: each.band.upper("max_gradient_norm", 3) for name, each in taken.items()}
    assert upper == pytest.approx(expected)
    assert taken["own_percentile"].gradient_norm == 1000
    assert taken["own_percentile_and_limit"].gradient_norm == pytest.approx(percentile)
    gone = features.filter((pl.col("kind") == "failure") | (pl.col("architecture") != "gru"))
    with pytest.raises(BadInputError, match="Record the successful runs of this architecture"):
        list(calibrations(gone, HealthyBand({}, {}), IMPROVED_RULES, DESIGN))
