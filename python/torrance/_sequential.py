"""When to stop, such that the stated error rate holds whenever that is.

A check is looked at after every round of passes, and each look could be a false alarm. The number of looks, K, is known before the
first, and each is judged at 1/K of the check's level: by the union bound, the level then holds for all looks together, wherever
sampling stops. K is small because passes double from round to round. To stop because the images seem the same raises no false
alarms. ``docs/statistics.md`` derives the rest.
"""

from __future__ import annotations

import itertools
import math
from typing import Iterator, List, NamedTuple, Optional

#: References may have taken so many seeds from their first on: one for each pass.
SEEDS_OF_A_REFERENCE = 2**20
#: The first seed of a check's first reference, far from those of tests. Not all renderers take more than 31 bits.
FIRST_SEED_OF_REFERENCES = 2**30


class Plan(NamedTuple):
    """How a check is judged."""

    #: The probability, at most, of a false alarm in any look.
    level: float
    #: Number of looks, at most, from 1.
    looks: int
    #: The relative difference of the whole image that must be detectable before it counts as the same.
    resolve: float

    @property
    def look_level(self) -> float:
        """The level of each look."""
        return self.level / self.looks

    def outcome(self, p: float, resolution: Optional[float]) -> str:
        """``different``; ``same``, if a difference that matters would have been found; or ``open``."""
        if p <= self.look_level:
            return "different"
        return "same" if resolution is not None and resolution <= self.resolve else "open"


def level_of_check(level: float, checks: int) -> float:
    """The level of each of so many independent checks, for a false alarm in any of them to have probability ``level`` (Šidák)."""
    # With logarithms of 1 + x, for small levels lose no digits.
    return -math.expm1(math.log1p(-level) / max(checks, 1))


def totals(first: int, most: int) -> List[int]:
    """Passes in total after each round: they double from ``first`` ≤ ``most`` until they are ``most``."""
    doubled = itertools.takewhile(lambda n: n < most, (first << i for i in itertools.count()))
    return [*doubled, most]


def free_seeds(first: int, taken: range) -> Iterator[int]:
    """The seeds from ``first`` on but those that are taken."""
    yield from range(first, taken.start)
    yield from itertools.count(max(first, taken.stop))


def seeds_of(attributes: dict) -> range:
    """The seeds that a reference has taken, or may have: those that its file names, and those that follow the first."""
    named = [int(word) for word in attributes.get("seed", "").split(",") if word.strip().isdecimal()]
    return range(min(named), max(max(named) + 1, min(named) + SEEDS_OF_A_REFERENCE)) if named else range(0)


def seed_of_next_reference(taken: range) -> int:
    """The first seed of the reference that takes the place of one: another, so that the two can be compared."""
    return taken.stop if FIRST_SEED_OF_REFERENCES <= taken.start < 2**31 - 2 * SEEDS_OF_A_REFERENCE else FIRST_SEED_OF_REFERENCES
