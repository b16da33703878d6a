"""A preflight looks at a live process: without torch its tests are left out."""

try:
    import torch  # noqa: F401
except ModuleNotFoundError:
    collect_ignore_glob = ["*.py"]
