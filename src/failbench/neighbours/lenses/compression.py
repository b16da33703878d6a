"""The lens ``compression``: how much right and failed answers say, and whether they repeat it.

Failed answers are longer where problems are hard, and longer texts have more bytes: so bytes are
contrasted among answers of the same number of tokens.
"""

import zlib
from functools import partial
from typing import Final

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.neighbours.lenses.looking import Measured
from failbench.neighbours.lenses.slices import Integers, Scale, Slice, group_sums, ratio

LEAST: Final = 10  # answers of a kind below which nothing is said of it
LEVEL: Final = 9
EMPTY: Final = len(zlib.compress(b"", LEVEL))  # bytes of header and checksum, which every text has
BLOCK: Final = 8  # letters of the blocks of which repetition is counted
COPIES: Final = 3  # of a block in a row, for a loop
LEAST_LOOP: Final = 16  # letters of a loop


def measure_compression(part: Slice, weights: Array, scale: Scale, confidence: float) -> Measured:
    """Measure bytes, repetition and loops of right and failed answers."""
    del confidence
    texts = part.rows["text"].to_list()
    sizes_of = np.array([compressed_bytes(text) for text in texts], dtype=np.float64)
    repeated = np.array([repetition(text) for text in texts])
    loops = np.array([ends_in_loop(text) for text in texts], dtype=np.float64)
    kinds = {"right": weights * part.right, "failed": weights * part.failed}
    counts = {kind: each[0].sum() for kind, each in kinds.items()}
    right, failed = (
        each if counts[kind] >= LEAST else np.full_like(each, np.nan)
        for kind, each in kinds.items()
    )
    draws = {}
    for kind, each in (("right", right), ("failed", failed)):
        draws[f"tokens_{kind}"] = _mean(each, part.tokens)
        draws[f"bytes_per_token_{kind}"] = ratio(each @ sizes_of, each @ part.tokens)
        draws[f"repetition_{kind}"] = _mean(each, repeated)
        draws[f"loops_{kind}"] = _mean(each, loops)
    matched, share = _within(right, failed, _numbered(part.tokens), sizes_of)
    # the geometric mean of the tokens of failed by those of right answers within cells
    logs = np.log(np.maximum(part.tokens, 1))
    draws |= {
        "token_ratio": np.asarray(np.exp(_within(right, failed, part.cells, logs)[0])),
        "unmatched_difference": _mean(failed, sizes_of) - _mean(right, sizes_of),
        "matched_difference": matched,
        "matched_share": share,
        "unmatched_auc": _auc(right, failed, np.zeros_like(part.tokens), sizes_of),
        "matched_auc": _auc(right, failed, part.tokens, sizes_of),
        "loops_excess": draws["loops_failed"] - np.nan_to_num(draws["loops_right"]),
        "growth": _growth(weights, part, sizes_of),
    }
    kind_of = dict.fromkeys(("loops_excess", "matched_share"), "failed")
    sizes = {
        name: float(counts.get(kind_of.get(name, name.rpartition("_")[2]), len(texts)))
        for name in draws
    }
    points = partial(_points, part, scale.bucket, sizes_of, repeated, loops)
    return Measured(draws, sizes, points)


def _mean(weights: Array, values: Array | Integers) -> Array:
    return ratio(weights @ values, weights.sum(axis=1))


def _numbered(values: Array | Integers) -> Integers:
    """The number of each value among those that there are, from 0."""
    return np.unique(values, return_inverse=True)[1]


def _within(right: Array, failed: Array, strata: Integers, values: Array) -> tuple[Array, Array]:
    """Mean difference of failed less right answers in strata, and the failed with a match.

    Weights of Mantel and Haenszel, of least variance (Greenland and Robins, 1985, Biometrics 41).
    """
    size = int(strata.max()) + 1
    n_right, n_failed = (group_sums(each, strata, size) for each in (right, failed))
    of_right, of_failed = (group_sums(each * values, strata, size) for each in (right, failed))
    both = (n_right > 0) & (n_failed > 0)
    weight = np.where(both, ratio(n_right * n_failed, n_right + n_failed), 0.0)
    gap = np.where(both, ratio(of_failed, n_failed) - ratio(of_right, n_right), 0.0)
    share = ratio(np.where(both, n_failed, 0.0).sum(axis=1), n_failed.sum(axis=1))
    return ratio((weight * gap).sum(axis=1), weight.sum(axis=1)), share


def _auc(right: Array, failed: Array, strata: Integers, sizes: Array) -> Array:
    """Probability that of a right and a failed answer of a stratum the right one has more bytes."""
    strata, levels = _numbered(strata), _numbered(sizes)
    shape = int(strata.max()) + 1, int(levels.max()) + 1
    places = strata * shape[1] + levels
    result = np.empty(len(right))
    for draw, (of_right, of_failed) in enumerate(zip(right, failed, strict=True)):
        # a draw at a time: a table of strata by levels is large
        more = np.bincount(places, of_right, minlength=shape[0] * shape[1]).reshape(shape)
        less = np.bincount(places, of_failed, minlength=shape[0] * shape[1]).reshape(shape)
        below = np.cumsum(less, axis=1) - less / 2
        pairs = (more.sum(axis=1) * less.sum(axis=1)).sum()
        result[draw] = (more * below).sum() / pairs if pairs > 0 else np.nan
    return result


def _growth(weights: Array, part: Slice, sizes: Array) -> Array:
    """Slopes of the logarithm of bytes on those of length and depth, by least squares, added up."""
    axes = [np.log(axis) for axis in (part.lengths, part.depths) if 1 <= axis.min() < axis.max()]
    if not axes:
        return np.full(len(weights), np.nan)
    design = np.column_stack([np.ones(len(sizes)), *axes])
    logs = np.log(np.maximum(sizes, 1.0))
    squares = np.einsum("dn,ni,nj->dij", weights, design, design, optimize=True)
    products = np.einsum("dn,ni,n->di", weights, design, logs, optimize=True)
    inverse = np.linalg.pinv(squares, hermitian=True)  # length and depth may go together
    slopes = np.einsum("dij,dj->di", inverse, products)[:, 1:]
    return np.asarray(slopes.sum(axis=1))


def _points(part: Slice, bucket: int, sizes: Array, repeated: Array, loops: Array) -> pl.DataFrame:
    """A row for each outcome and bucket of tokens, with means over its answers."""
    answers = part.rows.select(
        "outcome",
        "tokens",
        first_token=pl.col("tokens").cast(pl.Int64) // bucket * bucket,
        bytes=pl.Series(sizes),
        repetition=pl.Series(repeated),
        loops=pl.Series(loops),
    )
    table = answers.group_by("outcome", "first_token").agg(
        (pl.col("first_token").first() + bucket - 1).alias("last_token"),
        pl.col("tokens", "bytes").mean(),
        pl.col("bytes").std().alias("sd"),
        pl.col("repetition").mean(),
        pl.col("loops").sum().cast(pl.Int64),
        pl.len().cast(pl.Int64).alias("n"),
    )
    return table.sort("outcome", "first_token")


def compressed_bytes(text: str) -> int:
    """Bytes of zlib at level 9 for the UTF-8 of a text, less those of an empty one."""
    return len(zlib.compress(text.encode("utf-8", "surrogatepass"), LEVEL)) - EMPTY


def repetition(text: str) -> float:
    """Share of the blocks of eight letters that were there before; 0 for a shorter text.

    >>> repetition("abcdefgh"), repetition("abcdefgh" * 2)
    (0.0, 0.1111111111111111)
    """
    blocks = len(text) - BLOCK + 1
    if blocks < 1:
        return 0.0
    return (blocks - len({text[at : at + BLOCK] for at in range(blocks)})) / blocks


def ends_in_loop(text: str) -> bool:
    """Whether half of a text or more, and 16 letters or more, is a block three times in a row.

    >>> ends_in_loop("12+3=15;" + "7;" * 12), ends_in_loop("1" * 6)
    (True, False)
    """
    return loop_letters(text) >= max(LEAST_LOOP, len(text) / 2)


def loop_letters(text: str) -> int:
    """Letters at the end that are one block three times in a row, the last cut off perhaps.

    Backwards, they are a Z-function (Gusfield, 1997, "Algorithms on strings", section 1.4).
    """
    backwards = text[::-1]
    agreement = _z_function(backwards)
    longest = 0
    for block in range(1, len(text) // COPIES + 1):
        letters = agreement[block] + block
        if letters >= COPIES * block:
            longest = max(longest, letters)
    return longest


def _z_function(text: str) -> list[int]:
    """How many letters from each place on agree with the beginning."""
    agreement = [0] * len(text)
    left = right = 0
    for at in range(1, len(text)):
        known = min(right - at, agreement[at - left]) if at < right else 0
        while at + known < len(text) and text[known] == text[at + known]:
            known += 1
        agreement[at] = known
        if at + known > right:
            left, right = at, at + known
    return agreement
