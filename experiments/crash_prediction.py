"""Stage crash_prediction: which crashes of notebooks are foreseen, and what the kernel adds."""

from __future__ import annotations

from pathlib import Path

from failbench.crashes.answers import read_answers
from failbench.crashes.cases import read_cases
from failbench.crashes.language.settings import CrashAgentsSettings
from failbench.methods.llm.cache import cache_path, read_cache
from failbench.params import read_section
from failbench.statistics.settings import read_with_statistics
from failbench.studies.crash_prediction.collected import collect, collected_table
from failbench.studies.crash_prediction.language import replay_models
from failbench.studies.crash_prediction.published import read_published
from failbench.studies.crash_prediction.report import report
from failbench.studies.crash_prediction.settings import CrashPredictionSettings
from failbench.study.publish import publish, run

NOTEBOOKS = Path("data/notebooks")
ANSWERS = Path("data/crashes/answers.parquet")
MODELS = Path("data/llm/crashes")
PUBLISHED = Path("data/reported/crane_llm.csv")


def main() -> None:
    settings = read_with_statistics("crash_prediction", CrashPredictionSettings)
    agents = read_section("crash_agents", CrashAgentsSettings)
    published = read_published(PUBLISHED)
    recorded = read_answers(ANSWERS)
    cases = read_cases(NOTEBOOKS, settings.control_seed)
    caches = {label: read_cache(cache_path(MODELS, label)) for label in agents.models}
    models = replay_models(cases, agents, caches)
    answers = {**collect(cases, recorded, ANSWERS), **models.answers}
    rows = collected_table(cases, answers)
    publish("crash_prediction", report(rows, cases, published, models, settings))


if __name__ == "__main__":
    run(main)
