"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

__all__ = [
    "DeviceError",
    "Interrupted",
    "ParameterError",
    "Problem",
    "SceneError",
    "TorranceError",
    "TorranceWarning",
]


class TorranceError(Exception):
    """The base of all errors of torrance."""


class Problem(NamedTuple):
    """One problem of a scene."""

    file: str
    #: From 1; ``None`` if the file as a whole is meant.
    line: Optional[int]
    #: From 1, in characters.
    column: Optional[int]
    message: str
    #: What to do about it, if that is known.
    help: Optional[str]


class SceneError(TorranceError, ValueError):
    """A scene cannot be used. The message shows each problem with its file, line and the nearest valid name."""

    def __init__(self, message: str, problems: List[tuple] = ()):
        super().__init__(message)
        self.problems: List[Problem] = [Problem(*problem) for problem in problems]


class ParameterError(TorranceError, ValueError):
    """A parameter does not exist, or does not take a value."""


class DeviceError(TorranceError, RuntimeError):
    """A device is not there, has too little memory, or has failed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a render. :attr:`image` has the samples taken until then; ``image.interrupted`` is true."""

    def __init__(self, image):
        from .image import Image

        super().__init__("the render was interrupted; .image has what there is of it")
        self.image: Image = Image._of(image)


class TorranceWarning(UserWarning):
    """A render is possible, but perhaps not what was meant."""
