"""Image regression tests: checks of renders against references, and new references."""

from __future__ import annotations

import base64
import re
import time
import warnings
from math import log2
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import numpy as np

from . import _words
from ._looks import Seen, look
from ._passes import Passes, noise
from ._run import Case, Run
from ._sequential import Plan, free_seeds, level_of_check, seed_of_next_reference, seeds_of, totals
from ._torrance import __version__
from .errors import ParameterError, TorranceWarning
from .image import Image, read
from .judge import Verdict, compare

# Tracebacks of pytest do not show what is ours: they end in the test, or go on in its renderer.
__tracebackhide__ = True

#: The level at which a new reference is held against the old one.
LEVEL_OF_CHANGES = 0.01


class ImageDifference(AssertionError):
    """A render differs from its reference; or does not, where it should."""


class Settings(NamedTuple):
    """How a check goes about it; :meth:`Regression.check` says what is what."""

    passes: int = 64
    first: int = 4
    timeout: Optional[float] = None
    resolve: float = 0.005
    level: Optional[float] = None
    flip: Optional[float] = None
    relmse: Optional[float] = None
    noise: float = 0.002
    bless_passes: int = 256
    seed: int = 1

    def validated(self) -> "Settings":
        """Itself.

        :raises ParameterError: a value is out of range.
        """
        for name, least in (("passes", 1), ("first", 1), ("bless_passes", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(f"{name}: expected a whole number from {least} on, not {value!r}")
        for name in ("timeout", "resolve", "flip", "relmse", "noise"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ParameterError(f"{name}: expected a number that is not negative, not {value!r}")
        if self.level is not None and not 0 < self.level < 1:
            raise ParameterError(f"level: expected a probability, above 0 and below 1, not {self.level!r}")
        return self


class Regression:
    """What the fixture ``image_regression`` is: the checks of one test.

    :param run: the run that it belongs to.
    :param test: name of the test.
    :param references: folder of the references.
    :param output: folder for images of checks that fail.
    :param level: how often, at most, a run in which nothing has changed reports a difference from any reference of the folder.
    :param blesses: whether checks write references instead.
    :param is_strict: whether a check that finds no clear verdict fails.
    :param draws: whether images are kept for a report.
    :param record: called with the name and the value of each property of a check.
    """

    def __init__(
        self,
        run: Run,
        test: str,
        references: Path,
        output: Path,
        *,
        level: float = 0.01,
        blesses: bool = False,
        is_strict: bool = False,
        draws: bool = False,
        record: Callable[[str, Any], None] = lambda name, value: None,
    ):
        self._run, self._test, self._references, self._output = run, test, references, output
        self._level, self._blesses, self._is_strict, self._draws, self._record = level, blesses, is_strict, draws, record
        self._names: List[str] = []

    def check(
        self,
        render,
        name: str,
        *,
        spp: Optional[int] = None,
        passes: int = 64,
        first: int = 4,
        timeout: Optional[float] = None,
        resolve: float = 0.005,
        differs_from: Optional[str] = None,
        level: Optional[float] = None,
        flip: Optional[float] = None,
        relmse: Optional[float] = None,
        noise: float = 0.002,
        bless_passes: int = 256,
        seed: int = 1,
    ) -> None:
        """Checks that a render has the expectation of its reference, ``NAME.exr``.

        :param render: a function of a seed, called once for each pass; or one image. What it returns and what counts as an image
            is radiance, linear Rec. 709, as an array (height, width, 3); with its standard errors as ``(array, stderr)`` or ``(array,
            stderr, samples)``; or a :class:`torrance.Image`. Without standard errors, the spread of passes is the noise.
        :param name: letters a to z, digits, ``.``, ``_``, ``-``; one check of a run may have it.
        :param spp: if given, handed on: ``render(seed, spp=spp)``.
        :param passes: how many, at most.
        :param first: passes before the first look; after it they double from look to look.
        :param timeout: no pass starts after so many seconds, but the second.
        :param resolve: the relative difference in brightness of the whole image that must be detectable for the verdict to be clear.
        :param differs_from: makes it a negative control, which passes if a difference from the reference of this name is found.
        :param level: how often, at most, this check may fail by chance; a share of that of the run by default.
        :param flip: bound of the mean ꟻLIP; 0.05 if nothing is known of noise, or else none.
        :param relmse: bound of the relative mean squared error; 0.01 if nothing is known of noise, or else none.
        :param noise: of a new reference, the median relative standard error of its noisy pixels.
        :param bless_passes: how many a new reference takes, at most.
        :param seed: of the first pass, from 0; those of further passes follow it. The reference's are skipped.
        :raises ImageDifference: there is a difference.
        :raises FileNotFoundError: there is no reference.
        :raises ParameterError: an argument or an image is of no use; the name is taken.
        """
        budget = {"passes": passes, "first": first, "timeout": timeout, "noise": noise, "bless_passes": bless_passes, "seed": seed}
        settings = Settings(resolve=resolve, level=level, flip=flip, relmse=relmse, **budget).validated()
        key = self._claim(name)
        case, start = Case(name, self._test), time.perf_counter()
        source = _Source(render, spp)
        try:
            if not self._blesses:
                self._examine(case, source, settings, differs_from)
            elif differs_from is None:
                self._bless(case, source, settings)
            else:
                return  # What is wrong on purpose makes no reference.
        except Exception as error:
            case.words = [f"{type(error).__name__}: {error}"]
            raise
        finally:
            case.seconds = time.perf_counter() - start
            # A test that skips itself in the midst has found nothing.
            if case.words:
                self._run.put(key, case)
        self._tell(case)

    def _claim(self, name: str) -> str:
        """Takes a name, and gives what it is known by among all folders."""
        if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", name):
            raise ParameterError(f"name: expected letters a to z, digits, '.', '_' and '-', not {name!r}")
        key = str(self._reference(name))
        owner = self._test if name in self._names else self._run.claim(key, self._test)
        if owner is not None:
            raise ParameterError(f"there are two checks of the name {name!r}: the other is in {owner}")
        self._names.append(name)
        return key

    def _reference(self, name: str) -> Path:
        return self._references / f"{name}.exr"

    def _examine(self, case: Case, source: _Source, settings: Settings, control: Optional[str]) -> None:
        """Looks at the image until the verdict is clear, or the budget is spent."""
        path = self._reference(control or case.name)
        reference = self._read(path, is_control=control is not None)
        counts = source.totals(settings.first, settings.passes)
        plan = Plan(settings.level or self._level_of_check(), len(counts), settings.resolve)
        seeds = free_seeds(settings.seed, seeds_of(reference.attributes))
        deadline = _Deadline(settings.timeout)
        clear = ("different",) if control else ("different", "same")
        passes = Passes()
        for total in counts:
            while passes.count < total and not (passes.count >= 2 and deadline.is_over):
                passes.add(source.draw(next(seeds)))
                if passes.count == 1:
                    _check_size(passes.image(), reference)
            image = passes.image()
            seen = look(image, reference, plan, {"flip": settings.flip, "relmse": settings.relmse})
            if seen.outcome in clear or deadline.is_over:
                break
        _note(case, seen, plan, passes.count, control)
        self._keep(case, image, reference, seen.verdict, path, settings.seed)

    def _level_of_check(self) -> float:
        # Names are unique, so that there are no more checks than references, whichever of them are run.
        return level_of_check(self._level, sum(1 for _ in self._references.glob("*.exr")))

    def _read(self, path: Path, is_control: bool) -> Image:
        if path.exists():
            return read(path)
        remedy = "the check of that name makes it" if is_control else f"make it with: pytest {self._quoted_test()} --bless"
        raise FileNotFoundError(f"there is no reference {_shown(path)}; {remedy}")

    def _quoted_test(self) -> str:
        return f"'{self._test}'" if re.search(r"[^\w./:-]", self._test) else self._test

    def _keep(self, case: Case, image: Image, reference: Image, verdict: Verdict, path: Path, seed: int) -> None:
        """Writes the images of a check that failed, and draws those of the report."""
        result, heatmap = (self._output / f"{case.name}{end}" for end in (".exr", "-heatmap.png"))
        if case.status in ("failed", "unresolved"):
            _write(image, result, _attributes(case, image, seed))
            heatmap.write_bytes(verdict.heatmap())
            case.files = {"result": _shown(result), "reference": _shown(path), "heat map": _shown(heatmap)}
        else:
            for stale in (result, heatmap):
                stale.unlink(missing_ok=True)
        if self._draws:
            exposure = _exposure(reference)
            case.pictures = {
                "result": _base64(image._image.png((exposure, "clip", None))),
                "reference": _base64(reference._image.png((exposure, "clip", None))),
                "difference in standard deviations" if verdict.is_known else "ꟻLIP": _base64(verdict.heatmap()),
            }

    def _bless(self, case: Case, source: _Source, settings: Settings) -> None:
        """Renders a new reference, writes it, and says how it differs from the old one."""
        path = self._reference(case.name)
        old = _old_reference(path)
        seed = seed_of_next_reference(seeds_of(old.attributes if isinstance(old, Image) else {}))
        passes, seeds = Passes(), free_seeds(seed, range(0))
        for total in source.totals(settings.first, settings.bless_passes):
            while passes.count < total:
                passes.add(source.draw(next(seeds)))
            image = passes.image()
            reached = noise(image)
            if reached is not None and reached <= settings.noise:
                break
        odd = int(np.sum(~np.isfinite(image.radiance).all(axis=2)))
        if odd:
            raise ParameterError(f"{odd} pixels are NaN or infinite: this is not blessed as the reference {_shown(path)}")
        case.status, case.passes, case.files = "blessed", passes.count, {"reference": _shown(path)}
        case.words = [_words.quality(passes.count, reached, settings.noise), *_change(image, old)]
        _write(image, path, _attributes(case, image, seed))
        if self._draws:
            case.pictures = {"reference": _base64(image._image.png((_exposure(image), "clip", None)))}

    def _tell(self, case: Case) -> None:
        """Tells JUnit what was found, and pytest."""
        for key in ("status", "p", "passes", "resolution"):
            value = getattr(case, key)
            if value is not None:
                self._record(f"{case.name}.{key}", value)
        if case.status == "failed" or case.status == "unresolved" and self._is_strict:
            raise ImageDifference(self._message(case))
        if case.status == "unresolved":
            warnings.warn(f"{case.name}: {case.words[0]}", TorranceWarning, stacklevel=3)

    def _message(self, case: Case) -> str:
        lines = [f"{case.name}: {case.words[0]}", *(f"  {sentence}" for sentence in case.words[1:])]
        lines += [f"  {what:<9}  {path}" for what, path in case.files.items()]
        if case.words[0].startswith("different"):
            lines.append(f"If it is meant to be so: pytest {self._quoted_test()} --bless")
        return "\n".join(lines)


class _Deadline:
    """The time after which nothing is begun."""

    def __init__(self, seconds: Optional[float]):
        self._at = None if seconds is None else time.perf_counter() + seconds

    @property
    def is_over(self) -> bool:
        return self._at is not None and time.perf_counter() >= self._at


class _Source:
    """Where passes come from: a function of a seed, or one image."""

    def __init__(self, render, spp: Optional[int]):
        self._render, self._arguments = render, {} if spp is None else {"spp": spp}

    def draw(self, seed: int):
        """What the renderer makes of a seed."""
        return self._render(seed, **self._arguments) if callable(self._render) else self._render

    def totals(self, first: int, most: int) -> List[int]:
        """Passes in total after each round."""
        return totals(min(first, most), most) if callable(self._render) else [1]


def _check_size(image: Image, reference: Image) -> None:
    if image.shape != reference.shape:
        sizes = [f"{i.width}×{i.height} pixels" for i in (image, reference)]
        raise ParameterError(f"the image has {sizes[0]}, and the reference {sizes[1]}")


def _note(case: Case, seen: Seen, plan: Plan, passes: int, control: Optional[str]) -> None:
    """Notes what the last look has seen."""
    verdict, wanted = seen.verdict, "same" if control is None else "different"
    case.status = "passed" if seen.found == wanted else "unresolved" if (seen.found, wanted) == ("open", "same") else "failed"
    case.words = _words.describe(seen, plan, passes, control, case.status)
    case.passes, case.p, case.level = passes, verdict.p, plan.look_level if verdict.is_known else None
    case.resolution = verdict.resolution if _words.is_finite(verdict.resolution) else None
    shown = {name: verdict.metrics[name] for name in ("relmse", "flip", "ssim", "psnr")}
    case.metrics = {name: value if _words.is_finite(value) else None for name, value in shown.items()}


def _old_reference(path: Path):
    """The image; or nothing, or why it cannot be read."""
    try:
        return read(path) if path.exists() else None
    except OSError as error:
        return error


def _change(new: Image, old) -> List[str]:
    """The new reference, held against the old one."""
    if not isinstance(old, Image):
        return [] if old is None else [f"the old one could not be read: {old}"]
    try:
        return ["A is the new reference, and B the old one.", *compare(new, old, level=LEVEL_OF_CHANGES).sentences]
    except ParameterError as error:
        return [str(error)]


def _attributes(case: Case, image: Image, seed: int) -> Dict[str, str]:
    ours = {"software": f"torrance {__version__}", "case": case.name, "passes": str(case.passes), "seed": str(seed)}
    # An image that says how it was made knows better.
    return {**ours, **image.attributes}


def _exposure(reference: Image) -> float:
    """Stops that make the brightest twentieth of the reference white."""
    bright = np.nanpercentile(reference.radiance.max(axis=2), 95)
    return -log2(bright) if 0 < bright < np.inf else 0.0


def _base64(png) -> str:
    return base64.b64encode(bytes(png)).decode("ascii")


def _shown(path: Path) -> str:
    """A path as it is typed: from the current folder on, if it is in it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _write(image: Image, path: Path, attributes: Dict[str, str]) -> None:
    """Writes an image with these text attributes and no others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image(image.radiance, image.stderr, image.samples, attributes).save(path)
