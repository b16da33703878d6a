"""The one rule for paths in error text."""

import pytest

from failbench.recording.paths import package_relative


@pytest.mark.parametrize(
    ("text", "relative"),
    [
        (
            'File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 1',
            'File "torch/nn/modules/linear.py", line 1',
        ),
        ('File "/usr/lib/python3.11/json/decoder.py"', 'File "python3.11/json/decoder.py"'),
        (
            'File "/opt/project/src/failbench/recording/loop.py"',
            'File "failbench/recording/loop.py"',
        ),
        (
            "No such file: '/mnt/disk/failbench-run-x1_y/shard.npy'",
            "No such file: 'scratch/shard.npy'",
        ),
        ("from /a/site-packages/b.py to /c/site-packages/d.py", "from b.py to d.py"),
    ],
)
def test_machine_paths_become_package_relative(text, relative):
    assert package_relative(text) == relative
