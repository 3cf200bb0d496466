"""The laboratory: materials on arrays of directions, and tests for BSDFs, ours and others'."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Tuple, Union

import numpy as np

from . import _torrance
from .errors import ParameterError

__all__ = ["Bsdf", "Chart", "Conformance", "Finding", "Samples", "bsdf", "conformance"]

#: Bits of :attr:`Samples.flags`.
VALID, DELTA, TRANSMITTED = 1, 2, 4


class Samples(NamedTuple):
    """Directions that were drawn; all arrays have a row for each."""

    #: (N, 3), float32: to the light; zero where none was drawn.
    wi: np.ndarray
    #: (N, 3), float32: f·|cos θi| / pdf.
    weight: np.ndarray
    #: (N,), float32: density per solid angle; 0 of a direction from a finite set, whose probability is in its weight.
    pdf: np.ndarray
    #: (N,), float32: index of refraction where wi leads, relative to where wo does; 1 for reflection.
    eta: np.ndarray
    #: (N,), uint8: 1 if a direction was drawn, 2 if it is one of a finite set, 4 if it is below the surface.
    flags: np.ndarray


class Finding(NamedTuple):
    """What one test has found."""

    name: str
    passed: bool
    #: A p-value (``density``, ``energy``), or the largest deviation.
    statistic: float
    #: The least p-value, or the largest deviation, with which it is passed.
    limit: float
    #: Angle of wo to the normal for which it is so, degrees; NaN where none stands out.
    theta_o: float
    sentence: str


class Conformance(List[Finding]):
    """The findings of all tests. ``bool(report)`` is :attr:`passed`."""

    @property
    def passed(self) -> bool:
        """Whether all tests are passed."""
        return all(finding.passed for finding in self)

    def __bool__(self) -> bool:
        return self.passed

    def __getitem__(self, key):
        """A finding by its name, or by its index."""
        if isinstance(key, str):
            for finding in self:
                if finding.name == key:
                    return finding
            raise KeyError(f"{key}: there are {', '.join(finding.name for finding in self)}")
        return super().__getitem__(key)

    def __str__(self) -> str:
        return "\n".join(f"{'passed' if f.passed else 'FAILED'}  {f.name:<13} {f.sentence}" for f in self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = (f"<tr><td>{'✓' if f.passed else '✗'}</td><td>{f.name}</td><td>{f.sentence}</td></tr>" for f in self)
        return f"<table>{''.join(rows)}</table>"


class Chart:
    """A chart of a material: in notebooks a picture."""

    def __init__(self, name: str, svg: str, csv: str, facts: Sequence[Tuple[str, float]]):
        self.name = name
        self.svg = svg
        #: The plotted numbers.
        self.csv = csv
        #: Figures by name.
        self.facts: Dict[str, float] = dict(facts)

    @property
    def table(self) -> Dict[str, np.ndarray]:
        """The plotted numbers: columns of floats, or of words, by their names, as ``pandas.DataFrame`` takes them."""
        rows = list(csv.DictReader(io.StringIO(self.csv)))
        return {name: _numbers([row[name] for row in rows]) for name in (rows[0] if rows else ())}

    def save(self, path) -> None:
        """Writes ``.svg`` or ``.csv``."""
        path = Path(path)
        if path.suffix not in (".svg", ".csv"):
            raise ParameterError(f"{path}: expected .svg or .csv")
        path.write_text(self.svg if path.suffix == ".svg" else self.csv, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {value:.4g}" for name, value in self.facts.items())
        return f"<torrance.Chart {self.name}{': ' if facts else ''}{facts}>"


class Bsdf:
    """How a material scatters, on arrays: what :func:`bsdf` makes.

    Directions are unit vectors in the local frame, whose z axis is the normal, and point away from the surface: wo to the viewer,
    above the surface, and wi to the light. The code that evaluates them is the renderer's.
    """

    def __init__(self, material: str, masking: str, device: str):
        self._bsdf = _torrance.Bsdf(material, masking, device)
        self._arguments = material, masking, device

    def __reduce__(self):
        return Bsdf, self._arguments

    @property
    def device(self) -> str:
        """Name of the machine that evaluates it."""
        return self._bsdf.device()

    def eval(self, wo, wi) -> np.ndarray:
        """f(wo, wi), without the cosine, sr⁻¹, (N, 3); 0 for delta lobes, as of mirrors.

        :param wo: (N, 3), or one direction for all.
        :param wi: (N, 3), or one direction for all.
        :raises ParameterError: they are not unit vectors, or not as many.
        """
        return self._bsdf.eval(*_pairs(wo, wi))

    def pdf(self, wo, wi) -> np.ndarray:
        """Density per solid angle with which :meth:`sample` draws wi, sr⁻¹, (N,)."""
        return self._bsdf.pdf(*_pairs(wo, wi))

    def sample(self, wo, u) -> Samples:
        """Draws a direction for each row of u, (N, 3), uniform in [0, 1): the first chooses among lobes, the others place it."""
        wo, u = _directions("wo", wo), _vectors("u", u)
        if not ((u >= 0) & (u < 1)).all():
            raise ParameterError("u: expected numbers from 0 to below 1")
        if len(wo) not in (1, len(u)):
            raise ParameterError(f"wo has {len(wo)} rows, and u {len(u)}")
        return Samples(*self._bsdf.sample(wo, u))

    def albedo(self, wo) -> np.ndarray:
        """Directional albedo: ∫ f·|cos θi| dωi for each wo, (N, 3), of power; by quadrature on the CPU, to about 10⁻⁵.
        Random walks are followed instead, 65 536 for each wo: to about 2 · 10⁻³."""
        reflected, transmitted = self._bsdf.albedo(_directions("wo", wo))
        return reflected + transmitted

    def conformance(self, **options) -> Conformance:
        """The tests of :func:`conformance`, with its options."""
        return Conformance(Finding(*finding) for finding in self._bsdf.conformance(_options(**options)))

    def chi2(self, **options) -> Finding:
        """Whether samples are distributed as their density says: Pearson's χ² test."""
        return self.conformance(**options)["density"]

    def furnace(self, **options) -> Finding:
        """Whether no more light is scattered than arrives."""
        return self.conformance(**options)["energy"]

    def chart(self, name: str, *, angles: Sequence[float] = (0, 30, 60, 80), azimuth: float = 0.0) -> Chart:
        """A chart: ``cross-section``, ``polar``, ``albedo``, ``furnace``, ``masking`` or ``samples``.

        :param angles: of wo to the normal, degrees.
        :raises ParameterError: the material has no such chart.
        """
        return Chart(name, *self._bsdf.chart(name, _angles(angles), azimuth))

    def charts(self, **options) -> Dict[str, Chart]:
        """All charts that the material has, by their names."""
        made = {}
        for name in _torrance.Bsdf.charts():
            try:
                made[name] = self.chart(name, **options)
            except ParameterError:
                continue
        return made

    def __repr__(self) -> str:
        return f"<torrance.Bsdf {self._bsdf.describe()}, on {self.device}>"


def bsdf(material: Union[Mapping[str, Any], str], *, masking: str = "correlated", device: str = "cpu") -> Bsdf:
    """A material by itself, from the keys of its table in a scene file.

    :param material: as in ``{"type": "conductor", "metal": "gold", "roughness": 0.3}``, or the same in TOML.
    :param masking: of microfacets: ``correlated`` or ``separable`` Smith G2, where light is scattered once.
    :param device: ``cpu``, ``cuda`` or ``cuda:1``.
    :raises SceneError: it is not a valid material.
    """
    return Bsdf(material if isinstance(material, str) else _inline(material), masking, device)


def conformance(
    eval: Callable[[np.ndarray, np.ndarray], np.ndarray],
    pdf: Callable[[np.ndarray, np.ndarray], np.ndarray],
    sample: Callable[[np.ndarray, np.ndarray], Tuple],
    **options,
) -> Conformance:
    """Tests a BSDF that is written in Python, by what its functions say of each other.

    Tests are ``finite``, ``weight`` (f·|cos θi| / pdf), ``sample_pdf``, ``normalization``, ``density`` (χ²), ``coverage``,
    ``reciprocity`` and ``energy``.

    :param eval: of wo and wi, (N, 3) each, gives f without the cosine, (N, 3) or (N,).
    :param pdf: of wo and wi gives densities per solid angle, (N,).
    :param sample: of wo and u, (N, 3) each, gives (wi, weight) or (wi, weight, pdf), with zero vectors where none is drawn.
        Without pdf, densities are those that ``pdf`` gives.
    :param angles: of wo to the normal, degrees; 0, 30, 60 and 80 by default.
    :param azimuth: of wo, degrees.
    :param samples: drawn from each wo; 262144 by default.
    :param significance: with which probability a BSDF that is right is rejected all the same; 0.01 by default.
    :param tolerance: of what has to be equal, relative; 0.01 by default.
    :param seed: of the random numbers.
    """

    def evaluated(wo, wi):
        return _colors("eval", eval(wo, wi), len(wi))

    def density(wo, wi):
        return _column("pdf", pdf(wo, wi), len(wi))

    def drawn(wo, u):
        wi, weight, *rest = sample(wo, u)
        wi = _colors("sample", wi, len(u))
        valid = (wi != 0).any(axis=1)
        if rest:
            densities = _column("sample", rest[0], len(u))
        else:
            densities = np.zeros(len(u), np.float32)
            densities[valid] = density(wo[valid], wi[valid])
        flags = np.where(valid, VALID, 0) | np.where(valid & (wi[:, 2] < 0), TRANSMITTED, 0)
        weight = np.where(valid[:, None], _colors("sample", weight, len(u)), np.float32(0))
        eta = valid.astype(np.float32)
        return wi, np.ascontiguousarray(weight), np.where(valid, densities, 0).astype(np.float32), eta, flags.astype(np.uint8)

    found = _torrance.conformance_of(evaluated, density, drawn, _options(**options))
    return Conformance(Finding(*finding) for finding in found)


def _options(
    *,
    angles: Sequence[float] = (0, 30, 60, 80),
    azimuth: float = 0.0,
    samples: int = 1 << 18,
    significance: float = 0.01,
    tolerance: float = 0.01,
    seed: int = 0,
) -> Dict[str, Any]:
    if not math.isfinite(azimuth):
        raise ParameterError(f"azimuth: expected degrees, not {azimuth!r}")
    if not 0 < tolerance < 1:
        raise ParameterError(f"tolerance: expected a number above 0 and below 1, not {tolerance!r}")
    if not 0 <= seed < 2**32:
        raise ParameterError(f"seed: expected a whole number from 0 to 4294967295, not {seed!r}")
    if not 0 < significance < 1:
        raise ParameterError(f"significance: expected a probability, not {significance!r}")
    if not 1 <= samples < 2**31:
        raise ParameterError(f"samples: expected a number from 1 on, not {samples!r}")
    return {
        "angles": _angles(angles),
        "azimuth": float(azimuth),
        "samples": int(samples),
        "significance": float(significance),
        "tolerance": float(tolerance),
        "seed": int(seed),
    }


def _angles(angles: Sequence[float]) -> List[float]:
    angles = [float(angle) for angle in angles]
    if not angles or not all(0 <= angle < 90 for angle in angles):
        raise ParameterError(f"angles: expected degrees from 0 to below 90, not {angles}")
    return angles


def _pairs(wo, wi) -> Tuple[np.ndarray, np.ndarray]:
    """Directions of which there are as many, or one of wo."""
    wo, wi = _directions("wo", wo), _directions("wi", wi)
    if len(wi) == 1 and len(wo) > 1:
        wi = np.ascontiguousarray(np.broadcast_to(wi, wo.shape))
    if len(wo) not in (1, len(wi)):
        raise ParameterError(f"wo has {len(wo)} rows, and wi {len(wi)}")
    return wo, wi


def _directions(name: str, values) -> np.ndarray:
    array = _vectors(name, values)
    wrong = _torrance.not_unit(array)
    if wrong is not None:
        raise ParameterError(f"{name}: expected unit vectors, and row {wrong} is {array[wrong].tolist()}")
    return array


def _numbers(words: List[str]) -> np.ndarray:
    try:
        return np.array([float(word) if word else math.nan for word in words])
    except ValueError:
        return np.array(words)


def _vectors(name: str, values) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu" or array.shape[-1:] != (3,) or array.ndim not in (1, 2):
        raise ParameterError(f"{name}: expected numbers, (N, 3), not {array.dtype}, {array.shape}")
    return np.ascontiguousarray(np.atleast_2d(array), dtype=np.float32)


def _colors(name: str, values, n: int) -> np.ndarray:
    array = np.asarray(values, dtype=np.float32)
    if array.shape == (n,):
        array = np.repeat(array[:, None], 3, axis=1)
    if array.shape != (n, 3):
        raise ParameterError(f"{name} has returned {array.shape}, not ({n}, 3)")
    return np.ascontiguousarray(array)


def _column(name: str, values, n: int) -> np.ndarray:
    array = np.asarray(values, dtype=np.float32)
    if array.shape != (n,):
        raise ParameterError(f"{name} has returned {array.shape}, not ({n},)")
    return np.ascontiguousarray(array)


def _inline(value: Any) -> str:
    """A value as TOML has it in a line."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(part)}" for key, part in value.items()) + " }"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_inline(part) for part in value) + "]"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return repr(value)
    raise ParameterError(f"{value!r} cannot be a value of a material")
