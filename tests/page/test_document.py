import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.publish.page import document

ASSETS = Path(str(files("failbench.publish.page"))) / "assets"
HOSTILE = "</script><script>alert(1)</script><!-- <script> \u2028 & \" ' ]]>"


def blocks(page: str) -> dict[str, object]:
    found = re.findall(r'<script type="application/json" id="data-([\w-]+)">(.*?)</script>', page)
    return {name: json.loads(text) for name, text in found}


def test_text_of_any_kind_comes_back_ends_no_block_and_is_the_same_bytes_in_order():
    block = document.data_block("a", {"error": HOSTILE})
    assert block.count("</script>") == 1
    assert "<!--" not in block
    assert blocks(block) == {"a": {"error": HOSTILE}}
    sections = {"b": [1, 2], "a": {"x": HOSTILE}}
    assert document.page_of(sections) == document.page_of(sections)
    assert list(blocks(document.page_of(sections))) == ["b", "a"]
    assert "{{" not in document.page_of({})
    with pytest.raises(ValueError, match="JSON"):
        document.data_block("a", [float("nan")])


def test_the_only_scripts_that_may_run_are_those_whose_hashes_the_policy_names():
    page = document.page_of({"a": HOSTILE})
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == len(document.libraries()) + 1
    hashes = " ".join(f"'sha256-{document.script_hash(script)}'" for script in scripts)
    assert f"script-src {hashes};" in page
    assert "default-src 'none'" in page


def test_every_asset_is_declared_once_and_every_declared_one_is_there():
    declared = [*document.STYLES, *document.SCRIPTS, document.TEMPLATE]
    assert sorted(declared) == sorted(path.name for path in ASSETS.iterdir() if path.is_file())
    ends = ("min.js", "LICENSE")
    vendored = {f"{each.library}.{end}" for each in document.libraries() for end in ends}
    assert vendored | {"libraries.csv"} == {path.name for path in (ASSETS / "vendor").iterdir()}


def test_a_library_is_the_one_that_was_published_and_its_licence_goes_along():
    for library in document.libraries():
        assert "Permission to use, copy, modify" in library.script
        other = library.model_copy(update={"sha256": "0" * 64})
        with pytest.raises(BadInputError, match=rf"{library.library}\.min\.js: sha256"):
            _ = other.script


def test_no_two_scripts_declare_the_same_name():
    """They share one scope, in which a later function would silently replace an earlier one."""
    names = [
        name
        for script in document.SCRIPTS
        for name in re.findall(
            r"^(?:async )?(?:function|const|let|class) (\w+)",
            (ASSETS / script).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    ]
    assert len(names) > 50
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", [*document.STYLES, *document.SCRIPTS, document.TEMPLATE])
def test_no_asset_names_anything_on_a_network(name):
    text = (ASSETS / name).read_text(encoding="utf-8")
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"']*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "innerHTML" not in text
