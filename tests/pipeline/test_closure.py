"""The tool that the other tests of the pipeline stand on: what it finds in code."""

from __future__ import annotations

import pytest

import pipeline

FILES = {
    "experiments/study.py": "from stage import run\nimport package.a\n",
    "experiments/stage.py": "run = read_section = print\n",
    "src/package/__init__.py": "",
    "src/package/a.py": "from package.sub import b\n",
    "src/package/sub/__init__.py": "",
    "src/package/sub/b.py": "def f():\n    from package.c import x\n    return x\n",
    "src/package/c.py": "import numpy\nx = 1\n",
    "src/package/d.py": "y = 2\n",
}
"""A script, ``a -> b``, ``c`` inside a function, and an unused ``d``."""


@pytest.fixture
def script(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(pipeline, "REPOSITORY", tmp_path)
    monkeypatch.setattr(pipeline, "IMPORT_ROOTS", (tmp_path / "src", tmp_path / "experiments"))
    return tmp_path / "experiments/study.py"


def test_closure_follows_modules_and_imports_inside_functions_and_no_empty_marker(script):
    followed = {path for path, text in FILES.items() if text} - {"src/package/d.py"}
    assert pipeline.import_closure(script) == followed
    marker = "src/package/sub/__init__.py"
    (script.parents[1] / marker).write_text("z = 3\n", encoding="utf-8")
    assert pipeline.import_closure(script) == followed | {marker}


@pytest.mark.parametrize(
    ("text", "function", "found"),
    [
        ('read_section("one", A)\nread_section(n, B)', pipeline.parameters_read, ({"one"}, True)),
        ('read_section("one", A)', pipeline.parameters_read, ({"one"}, False)),
        (
            'read_with_statistics("one", A)',  # what studies share is read whole
            pipeline.parameters_read,
            ({"one", "statistics"}, False),
        ),
        ("read_section(name, record)", pipeline.records_read, {}),
        (
            'Path("data/a.csv"); f"data/b/{method}.parquet"; "data is no path"; "src/x.py"',
            pipeline.paths_named,
            {"data/a.csv", "data/b/@.parquet"},
        ),
        ("class A:\n    unused: int\n\nprint(a.used)", pipeline.attributes, {"used"}),
    ],
)
def test_sections_records_paths_and_attributes_are_those_of_the_code(script, text, function, found):
    script.write_text(f"{text}\n", encoding="utf-8")
    assert function(script) == found
