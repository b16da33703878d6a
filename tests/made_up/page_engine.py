"""The page's reader of logs and its rules, run by node on texts that a test writes."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

SCRIPTS = (
    "log_names.js",
    "log_errors.js",
    "log_reader.js",
    "log_features.js",
    "rules_engine.js",
)

_PROGRAM = """
const fs = require("fs");
const vm = require("vm");
for (const script of %(scripts)s) vm.runInThisContext(fs.readFileSync(script, "utf-8"));
const { rules, inputs } = JSON.parse(fs.readFileSync(0, "utf-8"));
const evaluate = vm.runInThisContext(%(function)s);
process.stdout.write(JSON.stringify(inputs.map((input) => evaluate(input, rules))));
"""


def in_node(function, inputs, rules):
    """What a function of JavaScript, ``(input, rules) => value``, makes of each input."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("not run: no node on the PATH (apt-get install nodejs)")
    assets = files("failbench.page").joinpath("assets")
    program = _PROGRAM % {
        "scripts": json.dumps([str(assets.joinpath(name)) for name in SCRIPTS]),
        "function": json.dumps(function),
    }
    done = subprocess.run(  # noqa: PLW1510 - the message of a failure is asserted
        [node, "-e", program],
        input=json.dumps({"rules": rules, "inputs": inputs}),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
