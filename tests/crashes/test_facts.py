import json

import pytest

from failbench.cli.main import main
from failbench.crashes.facts import CHECKS, FINDERS, LONGEST, RULES, deciding, describe, hints
from failbench.crashes.question import Question
from failbench.crashes.sight import sight
from failbench.notebooks.summaries import Summary


def asked(target, names, executed=()):
    return Question(executed, target, Summary(tuple(names), names, truncated=False))


def frame(rows=3, values=None, **dtypes):
    return {
        "type": {"kind": "frame", "class": "pandas.DataFrame", "dtypes": dtypes, "index": "int64"},
        "structural": {"shape": [rows, len(dtypes)], "columns": list(dtypes)},
        "value": {"by_column": values or {}},
    }


def array(*shape, dtype="float64", kind="array", **values):
    described = {"kind": kind, "class": "numpy.ndarray", "dtype": dtype}
    return {"type": described, "structural": {"shape": list(shape)}, "value": values}


def thing(kind, path, structural=None, **facts):
    return {"type": {"kind": kind, "class": path, **facts}, "structural": structural or {}}


ORDERS = {"orders": frame(id="int64", Region="str", total="float64")}
WAVES = {**ORDERS, "w": {"type": {"kind": "text", "class": "str"}, "value": {"value": "x9"}}}
BEYOND = {"load": array(4, 28, 48), "late": array(16, dtype="int64", range=[68, 83])}
NET = thing("network", "torch.nn.modules.linear.Linear", dtypes=["torch.float32"])
ROOMS = {
    "visits": frame(room="object", n="int64", values={"room": {"element_types": ["int", "str"]}})
}
SPECIES = {
    "birds": frame(species="str", values={"species": {"uniques": ["wren"], "distinct": 90}}),
    "codes": thing("estimator", "sklearn.preprocessing.LabelEncoder", fitted=True),
}
LISTS = {
    "boxes": thing("sequence", "list", {"length": 9})
    | {"items": {"0": thing("mapping", "dict", {"keys": ["corners"], "length": 1})}}
}


@pytest.mark.parametrize(
    ("target", "names", "exception", "reason", "words"),
    [
        (  # the key that is closest comes first
            'a = 1\norders["region"].sum()',
            ORDERS,
            "KeyError",
            "'region'",
            "`orders` has no column `region`: it holds `Region`, `id`, `total`.",
        ),
        (  # a column's name that is put together in a loop
            'for k in ["id", "n"]:\n    orders[f"{k}_{w}"]',
            WAVES,
            "KeyError",
            "'n_x9'",
            "`orders` has no column `n_x9`",
        ),
        (
            "a = 1\nload[:, :, late]",
            BEYOND,
            "IndexError",
            "index 68 is out of bounds for axis 2 with size 48",
            "`load` is an array of dtype float64 and shape (4, 28, 48): position 68 is beyond",
        ),
        (
            "a = 1\nnet(x)",
            {"net": NET, "x": array(9, 4, dtype="torch.float64", kind="tensor")},
            "RuntimeError",
            "mat1 and mat2 must have the same dtype, but got Double and Float",
            "`x` is a tensor of dtype float64",
        ),
        (
            "a = 1\nprint(encode.fit(visits))",
            ROOMS,
            "TypeError",
            "Encoders require their input argument must be uniformly strings or numbers.",
            "Column `room` of `visits` has dtype object and mixes int with str",
        ),
        (
            'a = 1\ncodes.transform(birds["species"])',
            SPECIES,
            "ValueError",
            "y contains previously unseen labels: 'wren_3'",
            "labels that `codes` did not learn: y contains",
        ),
        (
            "a = 1\nfor x in panels: x.plot()",
            {"panels": thing("object", "matplotlib.axes._axes.Axes")},
            "TypeError",
            "'Axes' object is not iterable",
            "`panels` is an `Axes` and no array",
        ),
        (
            'a = 1\nnp.array([b["corners"] for b in boxes])',
            LISTS,
            "ValueError",
            "setting an array element with a sequence.",
            "`corners` of an element of `boxes` differs",
        ),
        (
            "use = orders\nuse[1]",
            ORDERS,
            "FunnyError",
            "what no rule knows",
            "`orders` is a DataFrame of 3 rows and 3 columns: what no rule knows.",
        ),
        ("a = 1\norders +", ORDERS, "SyntaxError", "invalid syntax", "Invalid syntax."),
    ],
)
def test_the_sentence_says_the_fact_in_the_notebooks_own_names(
    target, names, exception, reason, words
):
    told = deciding(asked(target, names), exception, reason, 2)
    assert words in told.text
    assert len(told.text) <= LONGEST
    assert told.remedy


def test_a_value_that_a_dry_run_made_up_is_not_told_and_a_real_one_is():
    question = asked('codes.transform(birds["species"])', SPECIES)
    made, real = (
        deciding(question, "ValueError", f"y contains previously unseen labels: '{label}'", 1).text
        for label in ("wren_3", "kite")
    )
    assert "wren_3" not in made
    assert "kite" in real


def test_a_name_that_the_cell_bound_before_is_not_described_by_its_stale_value():
    names = {"x": array(9), "y": array(5)}
    told = deciding(asked("x = y\nx + 1", names), "FunnyError", "no", 2).text
    assert "`y`" in told
    assert "`x`" not in told


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.sentence[:30])
def test_every_rule_that_names_no_finder_says_what_things_must_be_like(rule):
    assert rule.find in FINDERS or all("=" in part for part in rule.find.split())


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            't.pivot(index="id", columns="Region")',
            ["look at `t.duplicated(['id', 'Region']).any()`"],
        ),
        ('t.merge(u, on="id")', []),  # no validation
        ('t.merge(t, on="id", validate="1:1")', ["look at `t.duplicated(['id']).any()`"]),
        ("t.head()", []),
    ],
)
def test_what_a_summary_cannot_hold_is_to_be_looked_at(target, expected):
    found = hints(asked(target, {"t": ORDERS["orders"]}))
    assert [hint.partition(":")[0] for hint in found] == expected
    assert len(hints(asked("\n".join(f"t.pivot({n})" for n in range(9)), {}))) <= len(CHECKS)


def test_names_behind_names_do_not_multiply():
    cell = "\n".join(
        f"a{n} = f'{{a{n + 1}}}{{a{n + 1}}}' + str([a{n + 1}])" for n in range(60, 0, -1)
    )
    view = sight(asked(f"a61 = 'b'\n{cell}\norders[a1]", ORDERS), 62)
    assert max(map(len, view.texts), default=0) < LONGEST
    assert describe(view.seen[0]).startswith("`orders` is a DataFrame")


def test_the_command_tells_the_fact_below_the_prediction_and_drives_no_terminal(tmp_path, capsys):
    cells = [
        {"cell_type": "code", "source": source, "execution_count": count, "outputs": []}
        for source, count in (("a = 1", 1), ('orders["region"]', None))
    ]
    book = tmp_path / "tried.ipynb"
    book.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 2, "cells": cells}))
    told = tmp_path / "summary.json"
    names = {"orders": frame(**{"Region\x1b[31m": "str"})}
    told.write_text(json.dumps({"relevant": ["orders"], "names": names, "truncated": False}))
    command = ["foresee", str(book), "--summary", str(told), "--predictor", "rules"]
    assert main(command) == 1
    printed = capsys.readouterr().out
    assert "\n             `orders` has no column `region`: it holds `Region`.\n" in printed
    assert "\x1b" not in printed
    main([*command, "--json"])
    answer = json.loads(capsys.readouterr().out)["predictions"]["rules"]
    assert answer["fact"] in printed
    assert answer["remedy"] in printed
    assert answer["hint"] is None
