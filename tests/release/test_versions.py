import re
import tomllib

import yaml

from failbench.publish.datacard.statements import Citation
from pipeline import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = Citation.model_validate(
    yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
)
RELEASES = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", CHANGELOG, re.MULTILINE)


def test_the_citation_has_the_version_the_licence_and_the_authors_of_the_package():
    assert CITATION.version == PROJECT["version"]
    assert CITATION.license == PROJECT["license"]
    assert [author.name for author in CITATION.authors] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_releases_are_in_order_and_the_last_is_the_version_that_is_cited():
    assert RELEASES[0] == (CITATION.version, CITATION.date_released.isoformat())
    numbers = [tuple(map(int, version.split("."))) for version, _ in RELEASES]
    dates = [date for _, date in RELEASES]
    assert numbers == sorted(set(numbers), reverse=True)
    assert dates == sorted(dates, reverse=True)
