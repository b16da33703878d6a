"""A sample of the field's programs fails again as its cards say, and their twins learn."""

from pathlib import Path

import pytest

from failbench.field.programs import read_programs
from failbench.field.recorder import LIMIT, Recording, problems, record, wanted_runs
from pipeline import REPOSITORY

pytest.importorskip("torch")

# of the libraries that the recorder installs, of each kind and author
SAMPLE = (
    "author_4/clipping_far_too_tight", "author_1/param_groups_merged",
    "author_3/odd_resumed_accelerate", "author_3/ddp_head_now_and_then",
    "author_4/softmax_before_cross_entropy", "author_3/yaml_rate_is_text",
    "author_1/odd_negative_nll", "author_4/transcripts_in_latin1",
    "author_2/loss_meter_keeps_graph", "author_2/attention_mask_inverted",
    "author_4/more_experts_than_exist", "author_2/odd_resumed_from_checkpoint",
)  # fmt: skip


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """The sample, recorded; a machine that is shared may be four times as slow."""
    made = Recording(
        Path(REPOSITORY) / "data/field", tmp_path_factory.mktemp("field"), seconds=4 * LIMIT
    )
    programs = {each.name: each for each in read_programs(made.data, "development")}
    runs = wanted_runs([programs[name] for name in SAMPLE])
    record(made, [run for run in runs if run[1] != "other_seed"], 2, lambda *_: None)
    return made, programs


@pytest.mark.system
@pytest.mark.parametrize("name", SAMPLE)
def test_a_program_fails_as_its_card_says_and_its_twin_learns(recording, name):
    made, programs = recording
    assert problems(made, programs[name]) == []
    console = (made.folder(programs[name], "run") / "console.txt").read_text()
    assert "warm.py" not in console
