"""torrance: a physically based path tracer for NVIDIA GPUs and CPUs.

>>> import torrance as tr
>>> scene = tr.load("scenes/cornell.toml")
>>> scene.params["render.size"] = [256, 256]
>>> image = scene.render(spp=64)
>>> image.save("cornell.png")
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._torrance import __version__
    from .errors import DeviceError, Interrupted, ParameterError, SceneError, TorranceError, TorranceWarning
    from .image import Image, read
    from .judge import Verdict, compare
    from .laboratory import Bsdf, Chart, Conformance, bsdf, conformance
    from .scene import Mesh, Parameters, Scene, Texture, gpus, load, scene
    from .suite import SuiteResult, regress
    from .sweep import Sweep, sweep

__all__ = [
    "Bsdf",
    "Chart",
    "Conformance",
    "DeviceError",
    "Image",
    "Interrupted",
    "Mesh",
    "ParameterError",
    "Parameters",
    "Scene",
    "SceneError",
    "SuiteResult",
    "Sweep",
    "Texture",
    "TorranceError",
    "TorranceWarning",
    "Verdict",
    "__version__",
    "bsdf",
    "compare",
    "conformance",
    "gpus",
    "load",
    "read",
    "regress",
    "scene",
    "sweep",
]

#: Modules that have these names.
_HOMES = ("errors", "image", "judge", "laboratory", "scene", "suite", "sweep")


def __getattr__(name: str):
    # Imported when first used: pytest imports this package for its plugin in every run, with or without images.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._torrance import __version__

    for module in (import_module(f"{__name__}.{home}") for home in _HOMES):
        globals().update({each: getattr(module, each) for each in module.__all__ if each in __all__})
    globals()["__version__"] = __version__
    return globals()[name]


def __dir__() -> list:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps functions from being hidden by the modules that they are in: ``torrance.scene`` is not ``torrance/scene.py``."""

    def __setattr__(self, name: str, value) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
