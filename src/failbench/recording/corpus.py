"""Real text: the docstrings of the running interpreter's standard library, and its tokenizer."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sysconfig
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.decoders import Metaspace as MetaspaceDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.trainers import BpeTrainer

PAD, UNKNOWN, BEGIN = 0, 1, 2
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[BOS]")
VOCABULARY = 512
ALPHABET = 64  # characters of the tokenizer: fewer than the corpus has, so that some are unknown
SLICES = 6
MINIMUM_CHARACTERS = 160
VALIDATION_SHARE = 0.1

_SKIPPED = frozenset({"site-packages", "test", "tests", "idlelib", "lib2to3", "ensurepip"})


@dataclass(frozen=True)
class CorpusSlice:
    """The documents of some neighbouring modules: one subject, split into training and held-out."""

    training: tuple[str, ...]
    validation: tuple[str, ...]
    statistics: dict[str, float]


@dataclass(frozen=True)
class Corpus:
    """All slices and the tokenizer that was trained on them."""

    slices: tuple[CorpusSlice, ...]
    tokenizer: Tokenizer
    sha256: str


def docstrings() -> dict[str, list[str]]:
    """Docstrings of the standard library by top-level module, in a fixed order."""
    root = Path(sysconfig.get_paths()["stdlib"])
    found: dict[str, list[str]] = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        if _SKIPPED.intersection(parts):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # some files of the library are deliberately broken
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = " ".join((ast.get_docstring(node) or "").split())
                if len(text) >= MINIMUM_CHARACTERS:
                    found.setdefault(parts[0], []).append(text)
    return found


def train_tokenizer(documents: list[str]) -> Tokenizer:
    """A byte-pair vocabulary with an unknown token for characters outside its alphabet."""
    tokenizer = Tokenizer(BPE(unk_token=SPECIAL_TOKENS[UNKNOWN]))
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.decoder = MetaspaceDecoder()
    trainer = BpeTrainer(
        vocab_size=VOCABULARY,
        limit_alphabet=ALPHABET,
        special_tokens=list(SPECIAL_TOKENS),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    return tokenizer


def _cut(modules: dict[str, list[str]]) -> list[list[str]]:
    total = sum(len(text) for texts in modules.values() for text in texts)
    slices: list[list[str]] = [[] for _ in range(SLICES)]
    seen = 0
    for texts in modules.values():
        slices[min(SLICES - 1, seen * SLICES // total)].extend(texts)
        seen += sum(map(len, texts))
    return slices


def _statistics(documents: list[str], tokenizer: Tokenizer) -> dict[str, float]:
    ids = np.concatenate([np.asarray(one.ids) for one in tokenizer.encode_batch(documents)])
    counts = np.bincount(ids, minlength=VOCABULARY)
    frequencies = counts[counts > 0] / counts.sum()
    return {
        "corpus_documents": len(documents),
        "corpus_tokens": int(ids.size),
        "corpus_distinct_tokens": int((counts > 0).sum()),
        "corpus_unknown_rate": float(counts[UNKNOWN] / ids.size),
        "corpus_token_entropy": float(-(frequencies * np.log(frequencies)).sum()),
    }


def _build() -> dict[str, object]:
    parts = _cut(docstrings())
    tokenizer = train_tokenizer([text for part in parts for text in part])
    slices = []
    for part in parts:
        # Every tenth document is held out, so that both parts cover the whole subject.
        step = round(1 / VALIDATION_SHARE)
        training = [text for index, text in enumerate(part) if index % step]
        slices.append(
            {
                "training": training,
                "validation": part[::step],
                "statistics": _statistics(training, tokenizer),
            }
        )
    return {"slices": slices, "tokenizer": tokenizer.to_str()}


def load_corpus(cache: Path) -> Corpus:
    """Load the corpus from a cache file, making that file first if it is not there."""
    if not cache.exists():
        cache.parent.mkdir(parents=True, exist_ok=True)
        partial = cache.with_name(f".{cache.name}.{os.getpid()}")
        partial.write_text(json.dumps(_build()), encoding="utf-8")
        partial.replace(cache)
    text = cache.read_text(encoding="utf-8")
    raw = json.loads(text)
    slices = tuple(
        CorpusSlice(tuple(one["training"]), tuple(one["validation"]), one["statistics"])
        for one in raw["slices"]
    )
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Corpus(slices, Tokenizer.from_str(raw["tokenizer"]), sha256)
