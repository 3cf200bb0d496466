"""Verdicts on checks, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional

if TYPE_CHECKING:
    from ._looks import Seen
    from ._sequential import Plan
    from .judge import Verdict


def describe(seen: Seen, plan: Plan, passes: int, control: Optional[str], status: str) -> List[str]:
    """What the last look has seen, the headline first. ``control`` is the reference that a negative control differs from."""
    expected = f"different from {control}"
    prefix = "" if control is None else f"as expected, {expected}; " if status == "passed" else f"expected {expected}, but "
    words = [prefix + _headline(seen, plan, passes)]
    if not seen.verdict.is_known:
        return [*words, "Nothing is known of noise: judged by bounds of metrics."]
    # The headline has said the first, where it says what differs.
    said = 1 if seen.outcome == "different" and not seen.exceeded else 0
    words += ["A is the image, and B the reference.", *seen.verdict.sentences[said:], _worst(seen.verdict)]
    return [*words, f"This was after {counted(passes)}; the level of each of {plan.looks} looks is {plan.look_level:.2g}."]


def _headline(seen: Seen, plan: Plan, passes: int) -> str:
    resolution = seen.verdict.resolution
    if seen.found == "different":
        return f"different: {', '.join(seen.exceeded) or seen.verdict.sentences[0].replace('Different: ', '').rstrip('.')}"
    if seen.found == "open":
        hidden = "any size" if not is_finite(resolution) else f"up to {percent(resolution)}"
        return (
            f"same as far as {counted(passes)} can tell, but differences of {hidden} could hide, and {percent(plan.resolve)} is "
            "wanted: give it more passes, or a reference of less noise"
        )
    if seen.verdict.is_known:
        return f"same: a difference of {percent(resolution)} would have been found" if is_finite(resolution) else "same: no noise"
    return "same within bounds of metrics"


def _worst(verdict: Verdict) -> str:
    worst = verdict.worst
    place = f"{worst.width}×{worst.height} pixels from ({worst.x}, {worst.y})"
    return f"The evidence is strongest in {place}, {worst.channel}: {worst.z:+.1f} standard deviations."


def quality(passes: int, reached: Optional[float], wanted: float) -> str:
    """How good a new reference is; ``reached`` and ``wanted`` are its noise."""
    if reached is None:
        return f"{counted(passes)}; nothing is known of its noise."
    if reached == 0:
        return f"{counted(passes)}, without noise."
    missed = "" if reached <= wanted else f", more than the {percent(wanted)} that was wanted"
    return f"{counted(passes)}; half of the noisy pixels have standard errors below {percent(reached)}{missed}."


def counted(passes: int) -> str:
    """``1 pass``, ``2 passes``."""
    return "1 pass" if passes == 1 else f"{passes} passes"


def percent(share: float) -> str:
    """``0.5 %``."""
    return f"{100 * share:.2g} %"


def is_finite(value: Optional[float]) -> bool:
    """Whether it is there, and a finite number."""
    return value is not None and abs(value) < float("inf")
