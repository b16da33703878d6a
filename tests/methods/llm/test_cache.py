from __future__ import annotations

import pytest

from failbench.base.errors import BadInputError
from failbench.methods.llm.cache import (
    CachedAnswer,
    LlmCache,
    append_answer,
    read_cache,
    rewrite_cache,
)

FIRST, SECOND = "a" * 64, "b" * 64


def cached(prompt="0" * 64, digest=FIRST, text="It is\nthe “loss”."):
    return CachedAnswer(
        prompt=prompt,
        model="m",
        digest=digest,
        text=text,
        done_reason="stop",
        attempt=0,
        client="0.6",
    )


def test_a_torn_last_line_is_dropped_and_rewriting_removes_it(tmp_path):
    path = tmp_path / "m.jsonl"
    append_answer(path, cached())
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:-20])
    torn = read_cache(path)
    assert torn == LlmCache((cached(),), torn=True)
    rewrite_cache(path, torn)
    assert path.read_bytes() == whole
    assert not read_cache(path).torn


@pytest.mark.parametrize("line", [b"{}\n", b"not json\n", b"\n"])
def test_a_line_that_is_no_answer_is_refused_by_its_number(tmp_path, line):
    path = tmp_path / "m.jsonl"
    append_answer(path, cached())
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(BadInputError, match=r"m\.jsonl:2: "):
        read_cache(path)
