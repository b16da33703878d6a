"""The lens ``fft``: how a tokenizer shows problems to a model, as a mean spectrum of the ids."""

from functools import partial
from typing import Final

import numpy as np
import polars as pl
from scipy.fft import rfft

from failbench.base.arrays import Array
from failbench.neighbours.lenses.looking import Measured
from failbench.neighbours.lenses.slices import Scale, Slice, ratio

THIRD: Final = 3  # short and long are the lowest and highest third of the lengths


def measure_fft(part: Slice, weights: Array, scale: Scale, confidence: float) -> Measured:
    """Measure the spectrum of the prompts."""
    spectra = amplitudes(part.rows["prompt_ids"].to_list(), scale.spectrum)
    frequencies = np.arange(1, spectra.shape[1] + 1) / scale.spectrum
    short, long = _thirds(part)
    bands = {"all": weights, "short": weights * short, "long": weights * long}
    means = {band: _mean(spectra, of_band) for band, of_band in bands.items()}
    mean, power = means["all"], _mean(spectra**2, weights)
    peak = mean.argmax(axis=1)
    height = mean.max(axis=1)
    shares = ratio(power, power.sum(axis=1, keepdims=True))
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    draws = {
        "peak_frequency": np.where(height > 0, frequencies[peak], np.nan),
        "peak_height": height,
        "bandwidth": _width(mean, peak) / scale.spectrum,
        "entropy": -(shares * logs).sum(axis=1) / np.log(len(frequencies)),
        "prominence": _prominence(mean),
        "prominence_ratio": ratio(_prominence(means["long"]), _prominence(means["short"])),
        "height_ratio": ratio(means["long"].max(axis=1), means["short"].max(axis=1)),
    }
    sizes = dict.fromkeys(draws, float(len(spectra)))
    sizes |= dict.fromkeys(("prominence_ratio", "height_ratio"), float((short + long).sum()))
    return Measured(draws, sizes, partial(_points, means, frequencies, confidence))


def amplitudes(prompts: list[list[int]], padded: int) -> Array:
    """Amplitudes of each prompt by its tokens, without frequency zero, ``[n, padded / 2]``."""
    signals = np.zeros((len(prompts), padded))
    for row, ids in zip(signals, prompts, strict=True):
        if ids:
            row[: len(ids)] = np.asarray(ids, dtype=np.float64) - np.mean(ids)
    sizes = np.array([[max(len(ids), 1)] for ids in prompts], dtype=np.float64)
    return np.asarray(np.abs(rfft(signals, axis=1))[:, 1:] / sizes, dtype=np.float64)


def _thirds(part: Slice) -> tuple[Array, Array]:
    """1 for the prompts of the lowest and of the highest third of the lengths, ``[n]`` each."""
    lengths = np.unique(part.lengths)
    size = max(1, len(lengths) // THIRD) if len(lengths) > 1 else 0
    ends = lengths[:size], lengths[len(lengths) - size :]
    short, long = (np.isin(part.lengths, end).astype(np.float64) for end in ends)
    return short, long


def _mean(spectra: Array, weights: Array) -> Array:
    """The weighted mean spectrum, ``[n_draws, n_frequencies]``."""
    total = weights.sum(axis=1, keepdims=True)
    summed = np.einsum("di,if->df", weights, spectra, optimize=True)
    return ratio(summed, np.broadcast_to(total, summed.shape))


def _prominence(mean: Array) -> Array:
    """Height of the peak by the mean of the spectrum, ``[n_draws]``."""
    return ratio(mean.max(axis=1), mean.mean(axis=1))


def _width(mean: Array, peak: Array) -> Array:
    """Frequencies next to one another around the peak with half of its height, ``[n_draws]``."""
    widths = np.empty(len(mean))
    for draw, (spectrum, at) in enumerate(zip(mean, peak, strict=True)):
        low = np.flatnonzero(spectrum < spectrum[at] / 2)
        before, after = low[low < at], low[low > at]
        first = before[-1] + 1 if len(before) else 0
        last = after[0] if len(after) else len(spectrum)
        widths[draw] = last - first
    return widths


def _points(means: dict[str, Array], frequencies: Array, confidence: float) -> pl.DataFrame:
    """A row for each frequency, of all prompts and of those of the shortest and longest third."""
    tail = (1 - confidence) / 2
    tables = []
    for band, mean in means.items():
        if np.isfinite(mean).all():
            low, high = np.quantile(mean[1:], (tail, 1 - tail), axis=0)
            ends = {"ci_low": np.minimum(low, mean[0]), "ci_high": np.maximum(high, mean[0])}
            columns = {"frequency": frequencies, "amplitude": mean[0], **ends}
            tables.append(pl.DataFrame(columns).select(pl.lit(band).alias("band"), pl.all()))
    return pl.concat(tables)
