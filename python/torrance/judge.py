"""The judge: whether noise explains the difference of two images."""

from __future__ import annotations

import base64
import html
import os
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _torrance
from .errors import ParameterError
from .image import Image, PathLike, read

__all__ = ["Finding", "Verdict", "compare"]

Comparable = Union[Image, np.ndarray, PathLike]


class Finding(NamedTuple):
    """Where the evidence of a difference is strongest."""

    x: int
    y: int
    width: int
    height: int
    #: ``red``, ``green`` or ``blue``.
    channel: str
    #: Standard deviations of the noise; positive where the first image is brighter.
    z: float


class Verdict:
    """What :func:`compare` finds. ``bool(verdict)`` is :attr:`same`."""

    __slots__ = ("_verdict", "level")

    def __init__(self, verdict: "_torrance.Verdict", level: float):
        self._verdict = verdict
        #: How often, at most, images that do not differ are called different.
        self.level = level

    @property
    def is_known(self) -> bool:
        """Whether there is a verdict: the noise of both images is known."""
        return self.p is not None

    @property
    def same(self) -> bool:
        """Whether noise explains all differences. Without a verdict, whether all values are equal."""
        return not self._verdict.is_different() and (self.is_known or self.metrics["mae"] == 0.0)

    @property
    def p(self) -> Optional[float]:
        """Upper bound on the probability of evidence this strong between equal images; ``None`` if noise is not known."""
        return self._verdict.p()

    @property
    def resolution(self) -> Optional[float]:
        """The smallest relative difference of the whole image that would have been found with a probability of 95 %."""
        return self._verdict.resolution()

    @property
    def worst(self) -> Optional[Finding]:
        """Where the evidence is strongest."""
        worst = self._verdict.worst()
        return None if worst is None else Finding(*worst)

    @property
    def sentences(self) -> List[str]:
        """The verdict in words, or why there is none."""
        return self._verdict.sentences()

    @property
    def metrics(self) -> Dict[str, Optional[float]]:
        """``rmse``, ``mae``, ``relmse``, ``psnr`` (dB, infinite if equal), ``ssim``, ``flip`` and others."""
        return self._verdict.metrics()

    def map(self, name: str = "z") -> np.ndarray:
        """Values of a map, (height, width), float32: ``z``, the difference in standard deviations, or ``flip``, from 0 to 1."""
        return self._verdict.values(name)

    def heatmap(self, name: Optional[str] = None) -> bytes:
        """A map in false colours, as PNG: ``z``, ``flip``, ``difference`` or ``relative``; ``z`` by default, or else ``flip``."""
        return bytes(self._verdict.picture(name)[0])

    def __bool__(self) -> bool:
        return self.same

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def __repr__(self) -> str:
        return f"<torrance.Verdict: {self}>"

    def _repr_html_(self) -> str:
        picture, scale = self._verdict.picture(None)
        data = base64.b64encode(bytes(picture)).decode("ascii")
        shown = ("rmse", "relmse", "psnr", "ssim", "flip")
        cells = "".join(f"<td>{name} {_number(self.metrics.get(name))}</td>" for name in shown)
        return (
            f"<figure style='margin:0'><img src='data:image/png;base64,{data}' alt='heat map'>"
            f"<figcaption>{html.escape(str(self))}<br><small>{html.escape(scale)}</small></figcaption>"
            f"<table><tr>{cells}</tr></table></figure>"
        )


def _number(value: Optional[float]) -> str:
    return "–" if value is None else f"{value:.4g}"


def compare(
    a: Comparable,
    b: Comparable,
    *,
    stderr_a=None,
    stderr_b=None,
    samples_a=None,
    samples_b=None,
    exact_a: bool = False,
    exact_b: bool = False,
    level: float = 0.01,
    crop: Optional[Tuple[int, int, int, int]] = None,
    pixels_per_degree: float = 67.02065,
) -> Verdict:
    """Compares two images, and says whether noise explains the difference.

    :param a: image under test: an :class:`Image`, a file, or radiance as an array, (height, width, 3).
    :param b: reference, likewise.
    :param stderr_a: standard errors of A, where it does not have them: an array of its shape, or a file.
    :param samples_a: the number of samples that they come from, of each pixel or of all.
    :param exact_a: that A has no noise.
    :param level: how often, at most, images that do not differ are called different.
    :param crop: the part to compare: column and row of its top left pixel, width and height.
    :param pixels_per_degree: of the visual field, for ꟻLIP.
    :raises ParameterError: the images cannot be compared.
    :raises OSError: a file cannot be read.
    """
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level: expected a probability, above 0 and below 1, not {level!r}")
    a = _image("A", a, stderr_a, samples_a)
    b = _image("B", b, stderr_b, samples_b)
    if not 0.0 < pixels_per_degree < 1e4:
        raise ParameterError(f"pixels_per_degree: expected a number above 0, not {pixels_per_degree!r}")
    if crop is not None:
        crop = [int(x) for x in crop]
        if len(crop) != 4 or min(crop) < 0 or max(crop) >= 2**31 or 0 in crop[2:]:
            raise ParameterError(f"crop: expected column, row, width and height, not {crop}")
    verdict = _torrance.Verdict(a._image, b._image, [exact_a, exact_b], level, crop, pixels_per_degree)
    return Verdict(verdict, level)


def _image(name: str, value: Comparable, stderr, samples) -> Image:
    if isinstance(value, (str, os.PathLike)):
        value = read(value)
    elif not isinstance(value, Image):
        value = Image(value)
    if stderr is None and samples is None:
        return value
    if isinstance(stderr, (str, os.PathLike)):
        file = read(stderr)
        stderr = file.radiance if file.stderr is None else file.stderr
    return Image(value.radiance, value.stderr if stderr is None else stderr, value.samples if samples is None else samples)
