"""Methods are refitted as if on other processors, but for those that this one cannot be."""

import polars as pl
import pytest
from processors import NATIVE, PROCESSORS, CannotExecuteError, differences, refitted

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def native(tmp_path_factory) -> pl.DataFrame:
    return refitted(NATIVE, tmp_path_factory.mktemp("native"))


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda processor: processor.name)
def test_predictions_are_those_of_any_processor(processor, native, tmp_path):
    try:
        rows = refitted(processor, tmp_path)
    except CannotExecuteError as error:
        pytest.skip(str(error))
    assert differences(rows, native) == {}
