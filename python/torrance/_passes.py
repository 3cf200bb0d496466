"""The mean of passes, and its noise."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from .errors import ParameterError
from .image import Image

# Tracebacks of pytest do not show what is ours.
__tracebackhide__ = True

#: What an image with standard errors counts for where it does not say: docs/statistics.md, "Assumptions and limits".
UNKNOWN_SAMPLES = 64


class Passes:
    """Images of one scene with different seeds, merged.

    An image without standard errors is one sample of each pixel, and the spread between such passes is their noise. One with
    standard errors is as many samples as it says.
    """

    def __init__(self) -> None:
        self.count = 0
        self._first: Optional[Image] = None
        # Of each pixel: samples, their mean, and the sum of squared deviations from it.
        self._n = self._mean = self._squares = np.zeros(())

    def add(self, result) -> None:
        """Adds a pass: an array (height, width, 3), an :class:`Image`, ``(array, stderr)`` or ``(array, stderr, samples)``.

        :raises ParameterError: it is none of these, or has another size than those before.
        """
        image = _image(result)
        if self._first is None:
            self._first = image
        elif image.shape != self._first.shape:
            was, now = (f"{i.width}×{i.height} pixels" for i in (self._first, image))
            raise ParameterError(f"pass {self.count} has {now}, and those before it {was}")
        with np.errstate(invalid="ignore", over="ignore"):
            self._merge(*_moments(image))
        self.count += 1

    def _merge(self, n: np.ndarray, mean: np.ndarray, squares: np.ndarray) -> None:
        """Chan, Golub and LeVeque 1979: moments of two sets of samples make those of their union."""
        total, step = self._n + n, mean - self._mean
        share = np.divide(n, total, out=np.zeros_like(n), where=total > 0)
        self._squares = self._squares + squares + step**2 * self._n * share
        self._mean = self._mean + step * share
        self._n = total

    def image(self) -> Image:
        """The mean with its standard errors; a single pass as it is."""
        if self.count == 1:
            return self._first
        pairs = self._n * (self._n - 1)
        variance = np.divide(self._squares, pairs, out=np.full_like(self._squares, np.inf), where=pairs > 0)
        return Image(self._mean, np.sqrt(variance), self._n[:, :, 0])


def _image(result) -> Image:
    if isinstance(result, Image):
        return result
    if isinstance(result, tuple) and len(result) in (2, 3):
        return Image(*result)
    return Image(result)


def _moments(image: Image) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean = image.radiance.astype(np.float64)
    if image.stderr is None:
        return np.ones((*mean.shape[:2], 1)), mean, np.zeros_like(mean)
    samples = np.full(mean.shape[:2], UNKNOWN_SAMPLES) if image.samples is None else image.samples
    n = samples[:, :, None].astype(np.float64)
    # One sample says nothing of its noise, and its standard error is infinite.
    squares = np.where(n > 1, image.stderr.astype(np.float64), 0.0) ** 2 * n * (n - 1)
    return n, mean, squares


def noise(image: Image) -> Optional[float]:
    """The median relative standard error of pixels that have noise and are not black; 0 without such pixels, ``None`` if unknown."""
    if image.stderr is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = image.stderr.sum(axis=2) / image.radiance.sum(axis=2)
    # Samples that are alike but for rounding are no noise.
    relative = relative[np.isfinite(relative) & (relative > 1e-6)]
    return float(np.median(relative)) if relative.size else 0.0
