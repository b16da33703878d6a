"""Settings that studies share: the section ``statistics`` of params.yaml, and its readers."""

from pathlib import Path

from failbench.base.params import PARAMS, read_section
from failbench.base.records import Model, Record
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.significance import ComparisonSettings

SECTION = "statistics"


class StatisticsSettings(ScenarioIntervalSettings, ComparisonSettings):
    """Confidence, resampling, margins and power; the section ``statistics`` of params.yaml."""


def read_statistics(model: type[Model], path: Path = PARAMS) -> Model:
    """Read those keys of the section ``statistics`` that a record has, and no other."""
    return model.model_validate(_shared(model, path))


def read_with_statistics(section: str, model: type[Model], path: Path = PARAMS) -> Model:
    """Read a study's section, which takes from ``statistics`` what it does not say itself."""
    return read_section(section, model, path, shared=_shared(model, path))


def _shared(model: type[Model], path: Path) -> dict[str, object]:
    statistics: Record = read_section(SECTION, StatisticsSettings, path)
    return statistics.model_dump(include=set(model.model_fields))
