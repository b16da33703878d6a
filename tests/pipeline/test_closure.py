"""The tool that the other tests of the pipeline stand on."""

from __future__ import annotations

import pytest

import pipeline


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one script, ``a -> b``, ``c`` inside a function, and an unused ``d``."""
    files = {
        "experiments/study.py": "from stage import run\nimport package.a\n",
        "experiments/stage.py": "run = read_section = print\n",
        "src/package/__init__.py": "",
        "src/package/a.py": "from package.sub import b\n",
        "src/package/sub/__init__.py": "",
        "src/package/sub/b.py": "def f():\n    from package.c import x\n    return x\n",
        "src/package/c.py": "import numpy\nx = 1\n",
        "src/package/d.py": "y = 2\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(pipeline, "REPOSITORY", tmp_path)
    monkeypatch.setattr(pipeline, "IMPORT_ROOTS", (tmp_path / "src", tmp_path / "experiments"))
    return tmp_path


def test_closure_follows_modules_packages_and_imports_inside_functions(project):
    assert pipeline.import_closure(project / "experiments/study.py") == {
        "experiments/study.py",
        "experiments/stage.py",
        "src/package/a.py",
        "src/package/sub/b.py",
        "src/package/c.py",
    }


def test_closure_takes_in_a_package_marker_that_is_not_empty(project):
    (project / "src/package/sub/__init__.py").write_text("z = 3\n", encoding="utf-8")
    assert "src/package/sub/__init__.py" in pipeline.import_closure(
        project / "experiments/study.py"
    )


@pytest.fixture
def params(project):
    path = project / "params.yaml"
    path.write_text("study: {seed: 1}\nstatistics: {resamples: 9, power: 0.8, seed: 0}\n", "utf-8")


def test_sections_are_those_named_in_calls_and_computed_ones_are_reported(project, params):
    script = project / "experiments/study.py"
    script.write_text('read_section("one", A)\nread_section(name, B)\n', encoding="utf-8")
    assert pipeline.parameters_read(script) == ({"one"}, True)
    script.write_text('read_section("one", A)\n', encoding="utf-8")
    assert pipeline.parameters_read(script) == ({"one"}, False)


def test_what_studies_share_is_read_whole(project, params):
    script = project / "experiments/study.py"
    script.write_text('read_with_statistics("study", BootstrapSettings)\n', encoding="utf-8")
    assert pipeline.parameters_read(script) == ({"study", "statistics"}, False)


def test_paths_are_found_in_literals_and_in_formatted_strings(project):
    script = project / "experiments/study.py"
    script.write_text(
        'Path("data/a.csv"); f"data/b/{method}.parquet"; "data is no path"; "src/x.py"',
        encoding="utf-8",
    )
    assert pipeline.paths_named(script) == {"data/a.csv", "data/b/@.parquet"}
