"""Looks at an image: statistics where noise is known, bounds of metrics where it is not."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

import numpy as np

from ._sequential import Plan
from .errors import ParameterError
from .image import Image
from .judge import Verdict, compare

# Tracebacks of pytest do not show what is ours.
__tracebackhide__ = True

#: Bounds of metrics where nothing is known of noise, and the check gives none.
BOUNDS = {"flip": 0.05, "relmse": 0.01}


class Seen(NamedTuple):
    """What a look has seen."""

    #: ``different``, ``same`` or ``open``.
    outcome: str
    verdict: Verdict
    #: Bounds of metrics that do not hold, and what else is wrong beside statistics, in words.
    exceeded: List[str]

    @property
    def found(self) -> str:
        """The outcome, bounds included."""
        return "different" if self.exceeded else self.outcome


def look(image: Image, reference: Image, plan: Plan, bounds: Dict[str, Optional[float]]) -> Seen:
    """Compares the image of one round. ``bounds`` are those that the check gives, by metric.

    :raises ParameterError: the noise of the reference is known, that of the image is not, and there are no bounds.
    """
    is_bounded = any(bound is not None for bound in bounds.values())
    verdict = compare(image, reference, level=plan.look_level)
    if verdict.is_known:
        outcome, odd = plan.outcome(verdict.p, verdict.resolution), []
        if outcome == "open" and not _is_noisy(image) and not _is_noisy(reference):
            outcome = "same"  # and no pass could tell more
    elif reference.stderr is not None and not is_bounded:
        raise ParameterError(
            "the reference has standard errors, and the image has none: render it in several passes with different seeds, "
            "give an Image with standard errors, or set bounds, flip and relmse"
        )
    else:
        outcome, odd = "same", _odd_pixels(image, reference)
        bounds = bounds if is_bounded else BOUNDS
    exceeded = odd + _exceeded(verdict, bounds)
    # Noise only adds to metrics: more passes may bring them down.
    return Seen("open" if outcome == "same" and exceeded else outcome, verdict, exceeded)


def _is_noisy(image: Image) -> bool:
    return bool((image.stderr > 0).any())


def _odd_pixels(image: Image, reference: Image) -> List[str]:
    """A fault that metrics do not see."""
    odd = np.isfinite(image.radiance).all(axis=2) != np.isfinite(reference.radiance).all(axis=2)
    return [f"{odd.sum()} of {odd.size} pixels are finite in one image only"] if odd.any() else []


def _exceeded(verdict: Verdict, bounds: Dict[str, Optional[float]]) -> List[str]:
    values = {name: verdict.metrics[name] for name, bound in bounds.items() if bound is not None}
    labels = {"flip": "ꟻLIP", "relmse": "relMSE"}
    beyond = ((name, value) for name, value in values.items() if value is not None and value > bounds[name])
    return [f"{labels[name]} is {value:.3g}, above {bounds[name]:.3g}" for name, value in beyond]
