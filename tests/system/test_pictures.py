"""Every picture of the published results is fit to print, not only those of made-up ones."""

import importlib
import shutil
from pathlib import Path

import pytest
from repository_copy import write_params_of_fewer_draws

from failbench.study import publication
from failbench.study.picture import Picture
from pipeline import stages
from printed_pictures import assert_printable

pytestmark = pytest.mark.system

DRAWING = sorted(
    name
    for name, stage in stages().items()
    if any(path.startswith("figures/") for path in stage.outputs)
)
WRITTEN = ("metrics", "plots")
"""Folders of data/ that stages of reports write to; they read the others alone."""


@pytest.fixture
def _results(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with all that is committed, in which a stage may write."""
    for folder in (repository / "data").iterdir():
        target = tmp_path / "data" / folder.name
        target.parent.mkdir(exist_ok=True)
        if folder.name in WRITTEN:
            shutil.copytree(folder, target)
        else:
            target.symlink_to(folder)
    write_params_of_fewer_draws(tmp_path / "params.yaml")
    fitted = Path("src/failbench/fitted")  # the study of logs shows an answer of its model
    (tmp_path / fitted).parent.mkdir(parents=True)
    (tmp_path / fitted).symlink_to(repository / fitted)
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "captions").symlink_to(repository / "paper" / "captions")
    (tmp_path / "figures").mkdir()
    shutil.copy(repository / "figures" / "matplotlibrc", tmp_path / "figures")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_results")
@pytest.mark.parametrize("stage", DRAWING)
def test_every_text_of_a_published_picture_can_be_read(stage, monkeypatch) -> None:
    pictures: dict[str, Picture] = {}

    def kept(picture: Picture, path: Path) -> None:
        pictures[path.stem] = picture

    monkeypatch.setattr(publication, "save_picture", kept)
    importlib.import_module(stage).main()
    assert pictures
    for picture in pictures.values():
        assert_printable(picture)
