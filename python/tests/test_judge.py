"""The judge."""

import numpy as np
import pytest
from conftest import VALUES

import torrance as tr

CPU = {"device": "cpu"}


def test_seeds_are_the_same_and_materials_are_not(scene):
    a = scene.render(spp=256, seed=1, **CPU)
    verdict = tr.compare(a, scene.render(spp=256, seed=2, **CPU))
    assert verdict and verdict.same and verdict.is_known and verdict.p > 0.01 and "Same" in str(verdict)
    scene.params["materials.gold.roughness"] = 0.4
    verdict = tr.compare(a, scene.render(spp=256, seed=3, **CPU))
    assert not verdict and verdict.p < 1e-3 and "Different" in verdict.sentences[0]
    x, y, width, height, channel, z = verdict.worst
    assert x + width <= 48 and y + height <= 32 and channel in ("red", "green", "blue") and abs(z) > 3


def test_arrays_files_and_images_agree(scene, tmp_path):
    a, b = [scene.render(spp=64, seed=seed, **CPU) for seed in (1, 2)]
    verdict = tr.compare(a, b)
    a.save(tmp_path / "a.exr")
    assert tr.compare(tmp_path / "a.exr", b).p == verdict.p
    of_arrays = tr.compare(
        a.radiance, b.radiance, stderr_a=a.stderr, stderr_b=b.stderr, samples_a=64, samples_b=b.samples
    )
    assert of_arrays.p == pytest.approx(verdict.p, rel=1e-3) and of_arrays.metrics == verdict.metrics


def test_without_noise_there_is_no_verdict():
    a = np.random.default_rng(1).random((16, 16, 3))
    verdict = tr.compare(a, a)
    assert verdict.p is None and not verdict.is_known and verdict.same and "No verdict" in str(verdict)
    verdict = tr.compare(a, a + 0.1)
    assert not verdict.same and verdict.metrics["mae"] == pytest.approx(0.1, rel=1e-5)
    assert tr.compare(a, a, exact_a=True, exact_b=True).same
    assert not tr.compare(a, a + 1e-3, exact_a=True, exact_b=True).same


def test_maps(scene):
    a, b = [scene.render(spp=64, seed=seed, **CPU) for seed in (1, 2)]
    verdict = tr.compare(a, b)
    assert verdict.map("z").shape == verdict.map("flip").shape == (32, 48)
    assert 0.2 < np.nanstd(verdict.map("z")) < 2
    assert verdict.heatmap("flip").startswith(b"\x89PNG") and "<img" in verdict._repr_html_()
    with pytest.raises(tr.ParameterError, match="there is no map"):
        verdict.heatmap("zz")


def test_what_cannot_be_compared_says_why(scene, tmp_path):
    a = scene.render(**CPU)
    with pytest.raises(tr.ParameterError, match="48 x 32 pixels, and B 8 x 8"):
        tr.compare(a, np.zeros((8, 8, 3)))
    with pytest.raises(tr.ParameterError, match="level"):
        tr.compare(a, a, level=2)
    with pytest.raises(tr.ParameterError, match="not all within"):
        tr.compare(a, a, crop=(40, 0, 20, 20))
    with pytest.raises(OSError, match="none.exr"):
        tr.compare(tmp_path / "none.exr", a)
    a.save(tmp_path / "a.png")
    with pytest.raises(tr.ParameterError, match="display"):
        tr.compare(tmp_path / "a.png", a)


def test_a_crop_leaves_the_rest_out(scene):
    a = scene.render(spp=64, **CPU)
    other = a.radiance.copy()
    other[0, 0] += 100
    b = tr.Image(other, a.stderr, 64)
    assert not tr.compare(a, b) and tr.compare(a, b, crop=(4, 4, 40, 20))
    assert VALUES["render"]["size"] == [48, 32]
