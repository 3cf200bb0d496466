"""A scene for tests, small and quick."""

from pathlib import Path

import numpy as np
import pytest

import torrance as tr

SCENES = Path(__file__).resolve().parents[2] / "scenes"

VALUES = {
    "render": {"size": [48, 32], "spp": 16, "max_depth": 6},
    "camera": {"position": [0, 1, 6], "target": [0, 0, 0], "fov": 40},
    "environment": {"radiance": 0.4},
    "materials": {
        "grey": {"type": "diffuse", "reflectance": 0.5},
        "gold": {"type": "conductor", "metal": "gold", "roughness": 0.3},
    },
    "shapes": [
        {"type": "sphere", "name": "ball", "material": "gold"},
        {"type": "sphere", "name": "ground", "material": "grey", "center": [0, -101, 0], "radius": 100},
        {"type": "sphere", "name": "lamp", "emission": [8, 7, 6], "center": [3, 4, 2], "radius": 0.5},
    ],
}


@pytest.fixture
def scene() -> tr.Scene:
    return tr.scene(VALUES)


def same(a: tr.Image, b: tr.Image) -> bool:
    """Whether two images have the same bits."""
    return a.shape == b.shape and np.array_equal(a.radiance.view(np.uint32), b.radiance.view(np.uint32))


def resident() -> int:
    """Memory of this process, bytes."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    except FileNotFoundError:
        pytest.skip("the system does not tell how much memory a process has")
