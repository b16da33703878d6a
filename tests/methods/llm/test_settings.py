from __future__ import annotations

import pytest
import yaml
from pydantic import ValidationError

from failbench.base.params import PARAMS, read_section
from failbench.methods.llm.settings import LlmAgentsSettings, LlmModel
from made_up_llm import settings


@pytest.mark.parametrize("label", ["qwen_7b", "random_forest", "llm qwen"])
def test_a_label_that_could_be_taken_for_another_method_is_refused(label):
    with pytest.raises(ValidationError):
        settings(models={label: {"name": "qwen2.5:7b"}})


@pytest.mark.parametrize("digest", ["6577803", "sha256:6577803aa9a0", "XYZXYZXYZXYZ"])
def test_a_digest_is_twelve_characters_or_more_of_a_sha_256(digest):
    with pytest.raises(ValidationError):
        LlmModel(name="mistral", digest=digest)


def test_the_committed_settings_are_those_of_the_paper(repository):
    paper = (repository / "data/reported/paper.yaml").read_text(encoding="utf-8")
    raw_claims = yaml.safe_load(paper)["claims"]
    committed = read_section("llm_agents", LlmAgentsSettings, repository / PARAMS)
    assert committed.steps == raw_claims["llm_steps"]["value"]
    assert committed.temperature == raw_claims["llm_temperature"]["value"]
    assert {"mistral_7b", "llama_3_8b"} <= set(committed.models)
