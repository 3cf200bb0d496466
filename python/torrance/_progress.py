"""Progress bars in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from typing import Callable, Optional, Union

from .errors import ParameterError


class Progress:
    """Shows how far a render is, if it takes more than a second."""

    #: Seconds before there is a bar, and between its updates.
    PATIENCE = 1.0
    MOMENT = 0.2

    def __init__(self, wanted: Union[None, bool, Callable], is_open: bool, limit: Optional[float], unit: str = "spp"):
        if not (wanted is None or isinstance(wanted, bool) or callable(wanted)):
            raise ParameterError(f"progress: expected true, false or a function, not {wanted!r}")
        self._callback = wanted if callable(wanted) else None
        self._limit = limit
        self._unit = unit
        self._shows = bool(visible() if wanted is None else wanted) and self._callback is None
        self._bar = None
        self._last = time.perf_counter() + (self.PATIENCE if wanted is None else 0.0)
        #: What renders call, if anything.
        self.observe = self._observe if self._shows or self._callback else None

    def stops(self, done: float, target: int, seconds: float) -> bool:
        """Tells how far it is. Whether it is to stop."""
        answer = self.observe(done, target, seconds) if self.observe else None
        return answer is not None and not answer

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_) -> None:
        if self._bar is not None:
            self._bar.close()

    def _observe(self, done: float, target: int, seconds: float) -> Optional[bool]:
        if self._callback is not None:
            return self._callback(done, target, seconds)
        now = time.perf_counter()
        if now >= self._last + self.MOMENT:
            self._last = now
            self._show(done, target, seconds)
        return None

    def _show(self, done: float, target: int, seconds: float) -> None:
        is_timed = self._limit is not None
        total, part = (self._limit, seconds) if is_timed else (target, done)
        if self._bar is None:
            self._bar = _bar(total, "s" if is_timed else self._unit)
        self._bar.total = total
        self._bar.update(min(part, total) - self._bar.n)


def visible() -> bool:
    """Whether there is somebody to see a bar: in a terminal or a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return type(shell).__name__ == "ZMQInteractiveShell" or (sys.stderr is not None and sys.stderr.isatty())


def _bar(total: float, unit: str):
    form = "{l_bar}{bar}| {n:.0f}/{total:.0f} {unit} [{elapsed}<{remaining}]"
    try:
        from tqdm.auto import tqdm

        return tqdm(total=total, unit=unit, bar_format=form, leave=False)
    except ImportError:
        return _Line(total, unit)


class _Line:
    """One line of text, where there is no tqdm."""

    def __init__(self, total: float, unit: str):
        self.total, self.unit, self.n, self._start = total, unit, 0.0, time.perf_counter()

    def update(self, more: float) -> None:
        self.n += more
        part = self.n / self.total if self.total else 1.0
        elapsed = time.perf_counter() - self._start
        left = elapsed * (1 / part - 1) if part > 0 else 0.0
        filled = round(30 * part)
        bar = "#" * filled + "." * (30 - filled)
        sys.stderr.write(f"\r{100 * part:3.0f}% [{bar}] {self.n:.0f}/{self.total:.0f} {self.unit}, {left:.0f} s left  ")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r" + " " * 78 + "\r")
        sys.stderr.flush()
