from importlib.util import find_spec

if not all(map(find_spec, ("accelerate", "lightning", "transformers"))):
    collect_ignore_glob = ["*.py"]
