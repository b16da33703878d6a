"""A frame of runs as methods receive it, and everything that a method is built with."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import yaml

from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS, FEATURES
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import all_band_features

SMALL = {
    "learned_rules": {"inner_folds": 2, "max_leaf_nodes": [8, 25], "min_samples_leaf": [1]},
    "symptom_baseline": {"trees": 5},
    "decision_tree": {"inner_folds": 2, "max_depth": [2, None], "min_samples_leaf": [1]},
    "random_forest": {"trees": 10, "inner_folds": 2, "max_features": ["sqrt", 1.0]},
    "logistic_regression": {"inner_folds": 2, "inverse_penalty": [0.1, 10.0]},
    "lightgbm": {"trees": 20, "inner_folds": 2, "leaves": [7]},
    "ebm": {"learning_rate": [0.08], "outer_bags": 2, "max_rounds": 100},
}
"""What is less here than in params.yaml, so that a fit is quick."""


@pytest.fixture(scope="session")
def settings_of(repository):
    sections = yaml.safe_load((repository / "params.yaml").read_text(encoding="utf-8"))

    def build(name):
        method = method_named(name)
        records = {
            section: record.model_validate(sections[section] | SMALL.get(section, {}))
            for section, record in method.sections.items()
        }
        return method.assemble(records)

    return build


@pytest.fixture(scope="session")
def context():
    """Healthy features have mean 1 and standard deviation 0.1; simulations know ``runs``."""
    names = all_band_features()
    band = HealthyBand(dict.fromkeys(names, 1.0), dict.fromkeys(names, 0.1))
    true_categories = {f"run_{index}": CATEGORIES[index // 12] for index in range(60)}
    return Context(FEATURE_SETS["19"], band, seed=0, true_categories=true_categories)


@pytest.fixture
def run():
    """Builds a frame of one run; features are healthy (1, see ``context``) unless given."""

    def build(error_type="", error_message="", **features):
        row = {feature.name: 1.0 for feature in FEATURES} | {"memory_warning": 0.0} | features
        row |= {"error_type": error_type, "error_message": error_message}
        return pd.DataFrame([row], index=pd.Index(["a"], name="run_id"))

    return build


def made_up_runs():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.array(CATEGORIES, dtype=object), 12)
    groups = np.array([f"scenario_{index // 2}" for index in range(60)], dtype=object)
    names = pd.Index([f"run_{index}" for index in range(60)], name="run_id")
    frame = pd.DataFrame({each.name: rng.normal(size=60) for each in FEATURES}, index=names)
    frame["max_loss"] = np.repeat(np.arange(5.0), 12) + rng.normal(0, 0.05, 60)
    frame.loc[::7, "perplexity"] = np.nan
    frame["error_type"] = np.where(labels == "model_software", "RuntimeError", "")
    frame["error_message"] = ""
    return frame, labels, groups


@pytest.fixture
def runs():
    """Frame, labels and scenarios of 60 runs, two a scenario; the largest loss tells the label."""
    return made_up_runs()


@pytest.fixture(scope="session")
def fit(context, settings_of):
    def build(name, train=slice(None)):
        frame, labels, groups = made_up_runs()
        method = method_named(name).build(settings_of(name), context)
        return method.fit(frame[train], labels[train], groups=groups[train])

    return build


@pytest.fixture(scope="session")
def fitted(fit):
    """The method of a name, fitted to all of ``runs`` once for all tests, which only ask it."""
    return cache(fit)
