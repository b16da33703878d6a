import contextlib

import pytest

from failbench.base.detector import DetectorParams
from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.scenarios import read_scenarios
from failbench.base.telemetry import read_telemetry
from failbench.preflight.records.answers import ANSWER_TABLE, read_answers
from failbench.preflight.records.recorder import looks_of, record
from failbench.recording.campaign import Campaign
from failbench.recording.plan import SETTINGS, RecordParams

SCENARIOS = ("vocabulary_too_small", "layer_in_double_precision")
KEY = ["run_id", "step", "look"]
SAME_ANYWHERE = [*KEY, "findings", "causes", "places", "errors", "compared_steps"]
"""Not `equal`, whether steps are the recorded ones to the bit: other processors round otherwise."""


def test_a_table_without_rows_is_refused(tmp_path):
    ANSWER_TABLE.write(tmp_path / "answers.parquet", [])
    with pytest.raises(BadInputError, match="the table has none"):
        read_answers(tmp_path / "answers.parquet")


def test_a_run_that_ends_in_health_or_hangs_has_no_step_that_crashes():
    row = {"onset_step": 120, "failure_step": 130}
    for ending in ("completed", "timeout"):
        assert "failure" not in sum(looks_of({**row, "ending": ending}).values(), ())
    for ending in ("exception", "signal"):
        assert looks_of({**row, "ending": ending})[130] == ("failure",)


@pytest.mark.system
def test_what_is_recorded_again_is_what_is_committed(repository, tmp_path):
    with contextlib.chdir(repository):
        campaign = Campaign(
            SETTINGS["transformer-adamw"],
            tuple(
                each
                for each in read_scenarios(repository / "data/scenarios")
                if each.id in SCENARIOS
            ),
            read_section("record", RecordParams),
            read_section("detector", DetectorParams),
            tmp_path / "journal",
            tmp_path / "corpus.json",
            known=read_telemetry(repository / "data/telemetry"),
        )
    campaign.successes = campaign.successes[:2]
    record(campaign, tmp_path / "answers.parquet", lambda *_: None)
    recorded = read_answers(tmp_path / "answers.parquet")
    committed = read_answers(repository / "data/preflight/answers.parquet")
    expected = committed.join(recorded, on=["run_id", "look"], how="semi")
    assert recorded.height == 2 + 3 * 2 + 2 * 2
    again, before = (each.select(SAME_ANYWHERE).sort(KEY) for each in (recorded, expected))
    assert again.equals(before)
