"""A copy of the repository that a test adds something to, and in which it runs what follows."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
ADDITIONS = Path(__file__).parent / "additions"
"""A folder per kind of addition: new files, each at its path in the repository."""

SECONDS = 300
"""Within which a command ends, on a slow machine too."""

FEWER = {"resamples": 1000, "draws": 1000}
FEWER |= dict.fromkeys(("answer_resamples", "floor_draws", "permutations"), 100)
"""Parameters of which most of the time of reports depends, and no claim of these tests."""

AUTHOR = ("-c", "user.name=A test", "-c", "user.email=test@example.org")


def write_params_of_fewer_draws(path: Path) -> None:
    text = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    for name, value in FEWER.items():
        text = re.sub(rf"^( +{name}): \d+$", rf"\1: {value}", text, flags=re.MULTILINE)
    path.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Insertion:
    """Whole lines that are put into a file, before a line of which there is one, or at its end."""

    path: str
    text: str
    before: str | None = None


@dataclass(frozen=True)
class RepositoryCopy:
    """A copy in a folder, under version control of its own."""

    root: Path

    @classmethod
    def of_working_tree(cls, root: Path) -> "RepositoryCopy":
        """Copy every file that git tracks or would track, as it is now, and commit the copy."""
        asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.check_output(asked, cwd=REPOSITORY, text=True)
        for name in filter(None, listed.split("\0")):
            if (REPOSITORY / name).exists():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(REPOSITORY / name, root / name)
        copy = cls(root)
        copy.run("git", "init", "--quiet")
        copy.commit()
        return copy

    def copied_to(self, root: Path) -> "RepositoryCopy":
        return RepositoryCopy(shutil.copytree(self.root, root))

    def run(self, *command: str, status: int = 0) -> str:
        paths = [self.root / "src", self.root / "experiments"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        done = subprocess.run(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=SECONDS,
        )  # fmt: skip
        assert done.returncode == status, f"{' '.join(command)}: {done.stdout[-4000:]}"
        return done.stdout

    def python(self, *arguments: str, status: int = 0) -> str:
        return self.run(sys.executable, *arguments, status=status)

    def pytest(self, *arguments: str, status: int = 0) -> str:
        quiet = ("-q", "-p", "no:cacheprovider")
        return self.python("-m", "pytest", *quiet, *arguments, status=status)

    def dvc(self, *arguments: str) -> str:
        return self.python("-m", "dvc", *arguments)

    def commit(self) -> None:
        self.run("git", "add", "--all")
        self.run("git", *AUTHOR, "commit", "--quiet", "--allow-empty", "--message", "As it is now")

    def changed(self) -> set[str]:
        lines = self.run("git", "status", "--porcelain", "--untracked-files=all").splitlines()
        return {line[3:] for line in lines}

    def add_files(self, kind: str) -> set[str]:
        folder = ADDITIONS / kind
        files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        for path in files:
            target = self.root / path.relative_to(folder)
            assert not target.exists(), f"{target} is there already."
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
        return {path.relative_to(folder).as_posix() for path in files}

    def insert(self, insertion: Insertion) -> str:
        file = self.root / insertion.path
        text = file.read_text(encoding="utf-8")
        changed = text + insertion.text
        if insertion.before is not None:
            line = f"\n{insertion.before}\n"
            assert text.count(line) == 1, f"{insertion.path} has not one line {insertion.before!r}."
            changed = text.replace(line, "\n" + insertion.text + line[1:])
        file.write_text(changed, encoding="utf-8")
        return insertion.path
