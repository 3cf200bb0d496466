"""How often pytest-torrance finds a change of Mitsuba's roughness by 2 %, and how often it finds one where only seeds differ.

    pip install mitsuba && python python/tests/mitsuba_plugin.py 200

It is no part of the tests, as it takes ten minutes; docs/pytest.md has its figures.
"""

import collections
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import drjit
import mitsuba as mi
import numpy as np

mi.set_variant("llvm_ad_rgb")

from torrance._regression import ImageDifference, Regression  # noqa: E402
from torrance._run import Run  # noqa: E402

CHECK = {"spp": 64, "passes": 64, "resolve": 0.0015, "noise": 0.002, "bless_passes": 512}
REFERENCES = 4
SEEDS_OF_A_RUN = 1000


def renderer(alpha):
    """A copper sphere of this roughness on a plane, below a lamp and an even sky."""
    look_at = mi.ScalarTransform4f().look_at
    film = {"type": "hdrfilm", "width": 48, "height": 48, "rfilter": {"type": "box"}}
    lamp = look_at([-2, -3, 4], [0, 0, 0.5], [0, 0, 1]) @ mi.ScalarTransform4f().scale(0.5)
    scene = mi.load_dict(
        {
            "type": "scene",
            "integrator": {"type": "path", "max_depth": 3},
            "sensor": {"type": "perspective", "fov": 35, "to_world": look_at([0, -4, 1.6], [0, 0, 0.5], [0, 0, 1]), "film": film},
            "sky": {"type": "constant", "radiance": 0.2},
            "lamp": {"type": "rectangle", "to_world": lamp, "emitter": {"type": "area", "radiance": 20.0}},
            "floor": {"type": "rectangle", "to_world": mi.ScalarTransform4f().scale(10), "bsdf": {"type": "diffuse"}},
            "ball": {
                "type": "sphere",
                "center": [0, 0, 1],
                "bsdf": {"type": "roughconductor", "material": "Cu", "distribution": "ggx", "alpha": alpha},
            },
        }
    )
    return lambda seed, spp: np.array(mi.render(scene, spp=spp, seed=seed))


def is_different(render, folder, seed):
    """Whether a run of its own finds a difference, the passes it took, its status, and its seconds."""
    with tempfile.TemporaryDirectory() as records:
        run, start = Run(Path(records)), time.perf_counter()
        try:
            Regression(run, "mitsuba", folder, Path(records) / "output").check(render, "ball", seed=seed, **CHECK)
            found = False
        except ImageDifference:
            found = True
        (case,) = run.cases()
        return found, case.passes, case.status, time.perf_counter() - start


def bless(render, folder):
    with tempfile.TemporaryDirectory() as records:
        run = Run(Path(records))
        Regression(run, "mitsuba", folder, Path(records), blesses=True).check(render, "ball", **CHECK)
        print(" ".join(run.cases()[0].words), flush=True)


def main():
    warnings.simplefilter("ignore")  # Verdicts that are not clear are counted.
    drjit.set_thread_count(1)
    count = int(sys.argv[1])
    scenes = {"same, other seeds": renderer(0.2), "rougher by 2 %": renderer(0.204)}
    results = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as references:
        for i in range(count):
            # One after the other in one folder: each new reference has other seeds than the last.
            if i % -(-count // REFERENCES) == 0:
                bless(scenes["same, other seeds"], Path(references))
            for j, (name, render) in enumerate(scenes.items()):
                results[name].append(is_different(render, Path(references), 1 + (2 * i + j) * SEEDS_OF_A_RUN))
    for name, runs in results.items():
        found, passes, status, seconds = zip(*runs)
        print(f"{name}: {sum(found)} of {len(runs)} different; {dict(collections.Counter(status))}")
        print(f"  passes {dict(sorted(collections.Counter(passes).items()))}, {statistics.median(seconds):.2f} s in the median")


if __name__ == "__main__":
    main()
