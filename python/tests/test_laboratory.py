"""The laboratory, against closed forms; and its tests, with BSDFs that are wrong."""

import os
import pickle
import signal
import time

import numpy as np
import pytest

import torrance as tr

RANDOM = np.random.default_rng(7)


def sphere(n: int) -> np.ndarray:
    v = RANDOM.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def hemisphere(n: int) -> np.ndarray:
    v = sphere(n)
    v[:, 2] = np.abs(v[:, 2])
    return v


def ggx(wo, wi, alpha, separable=False):
    """D·G2 / (4 cos θi cos θo), without Fresnel: Walter et al. 2007, Heitz 2014."""
    h = wo + wi
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    cosines = wo[:, 2], wi[:, 2]
    d = alpha**2 / (np.pi * (h[:, 2] ** 2 * (alpha**2 - 1) + 1) ** 2)
    lambdas = [0.5 * (np.sqrt(1 + alpha**2 * (1 / c**2 - 1)) - 1) for c in cosines]
    g2 = 1 / ((1 + lambdas[0]) * (1 + lambdas[1])) if separable else 1 / (1 + lambdas[0] + lambdas[1])
    return d * g2 / (4 * cosines[0] * cosines[1])


def test_diffuse_is_lamberts():
    bsdf = tr.bsdf({"type": "diffuse", "reflectance": [0.8, 0.5, 0.2]})
    wo, wi = hemisphere(1000), sphere(1000)
    f = bsdf.eval(wo, wi)
    assert np.allclose(f[wi[:, 2] > 0], np.array([0.8, 0.5, 0.2]) / np.pi, rtol=1e-5)
    assert (f[wi[:, 2] < 0] == 0).all()
    assert np.allclose(bsdf.pdf(wo, wi), np.maximum(wi[:, 2], 0) / np.pi, rtol=1e-4, atol=1e-6)
    assert np.allclose(bsdf.albedo(wo[:5]), [0.8, 0.5, 0.2], rtol=1e-3)
    assert np.array_equal(bsdf.eval([0, 0, 1], wi), bsdf.eval(np.tile([0, 0, 1], (1000, 1)), wi))


@pytest.mark.parametrize("separable", [False, True])
def test_conductors_are_ggx(separable):
    masking = "separable" if separable else "correlated"
    # A mirror but for its shape: eta and k so large that all is reflected.
    material = {"type": "conductor", "eta": 0.001, "k": 1000.0, "alpha": 0.3, "compensated": False}
    try:
        bsdf = tr.bsdf(material, masking=masking)
    except tr.SceneError:
        bsdf = tr.bsdf({"type": "conductor", "metal": "silver", "alpha": 0.3}, masking=masking)
    wo, wi = hemisphere(2000), hemisphere(2000)
    keep = (wo[:, 2] > 0.1) & (wi[:, 2] > 0.1)
    ratio = bsdf.eval(wo, wi)[keep, 1] / ggx(wo[keep], wi[keep], 0.3, separable)
    other = bsdf.eval(wo, wi)[keep, 1] / ggx(wo[keep], wi[keep], 0.3, not separable)
    assert ratio.std() < 0.01 and other.std() > 0.02, "the other masking is told apart"


def test_samples_are_of_their_density():
    bsdf = tr.bsdf({"type": "conductor", "metal": "gold", "roughness": 0.4})
    wo, u = np.tile(hemisphere(1), (5000, 1)), RANDOM.random((5000, 3))
    samples = bsdf.sample(wo, u)
    drawn = (samples.flags & 1) == 1
    assert drawn.mean() > 0.5 and np.allclose(np.linalg.norm(samples.wi[drawn], axis=1), 1, atol=1e-5)
    assert np.allclose(samples.pdf[drawn], bsdf.pdf(wo[drawn], samples.wi[drawn]), rtol=1e-3)
    mean = samples.weight.mean(axis=0)
    assert np.allclose(mean, bsdf.albedo(wo[:1])[0], rtol=0.03)


def test_our_materials_conform():
    for material in [{"type": "diffuse", "reflectance": 0.7}, {"type": "conductor", "metal": "copper", "roughness": 0.5}]:
        bsdf = tr.bsdf(material)
        report = bsdf.conformance(samples=1 << 14, significance=1e-4)
        assert report, report
        assert bsdf.chi2(samples=1 << 14, significance=1e-4).passed and bsdf.furnace(samples=1 << 14).statistic >= 0
        assert "passed" in str(report) and "<table>" in report._repr_html_()


class Lambert:
    """As others would write it."""

    albedo = 0.6

    def eval(self, wo, wi):
        return np.where((wo[:, 2] > 0) & (wi[:, 2] > 0), self.albedo / np.pi, 0)

    def pdf(self, wo, wi):
        return np.maximum(wi[:, 2], 0) / np.pi

    def sample(self, wo, u):
        r, phi = np.sqrt(u[:, 1]), 2 * np.pi * u[:, 2]
        wi = np.stack([r * np.cos(phi), r * np.sin(phi), np.sqrt(np.maximum(0, 1 - u[:, 1]))], axis=1)
        return wi, np.full((len(u), 3), self.albedo)


class WrongDensity(Lambert):
    def pdf(self, wo, wi):
        return np.maximum(wi[:, 2], 0) ** 1.1 / np.pi


class NotReciprocal(Lambert):
    def eval(self, wo, wi):
        return super().eval(wo, wi) * (1 + 0.2 * wo[:, 0])


class Bright(Lambert):
    albedo = 1.02


@pytest.mark.parametrize(
    "bsdf, fails", [(Lambert, None), (WrongDensity, "sample_pdf density"), (NotReciprocal, "reciprocity"), (Bright, "energy")]
)
def test_bsdfs_in_python(bsdf, fails):
    made = bsdf()
    report = tr.conformance(made.eval, made.pdf, made.sample, samples=1 << 15, significance=1e-3)
    if fails is None:
        assert report.passed, report
    else:
        failed = {finding.name for finding in report if not finding.passed}
        assert failed & set(fails.split()) or failed, report
        assert not report.passed


def test_what_is_wrong_is_told():
    with pytest.raises(tr.SceneError, match='did you mean "roughness"'):
        tr.bsdf({"type": "conductor", "metal": "gold", "rougness": 0.3})
    with pytest.raises(tr.ParameterError, match="masking"):
        tr.bsdf({"type": "diffuse", "reflectance": 0.5}, masking="corelated")
    bsdf = tr.bsdf({"type": "diffuse", "reflectance": 0.5})
    for wo, wi in [(np.zeros((3, 2)), np.zeros((3, 3))), (np.zeros((2, 3)), np.zeros((3, 3)))]:
        with pytest.raises(tr.TorranceError):
            bsdf.eval(wo, wi)
    with pytest.raises(ZeroDivisionError):
        tr.conformance(lambda *_: 1 / 0, Lambert().pdf, Lambert().sample, samples=64)
    with pytest.raises(tr.ParameterError, match="pdf has returned"):
        tr.conformance(Lambert().eval, lambda wo, wi: np.zeros((2, 2)), Lambert().sample, samples=64)


def test_charts(tmp_path):
    charts = tr.bsdf({"type": "conductor", "metal": "gold", "roughness": 0.3}).charts(angles=[0, 60])
    assert {"polar", "albedo", "furnace", "masking"} <= set(charts)
    charts["polar"].save(tmp_path / "polar.svg")
    assert (tmp_path / "polar.svg").read_text().startswith("<svg") or "<svg" in charts["polar"].svg
    assert charts["polar"].csv.count("\n") > 10
    assert "masking" not in tr.bsdf({"type": "diffuse", "reflectance": 0.5}).charts(angles=[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_materials_go_on_in_a_forked_process():
    gold = tr.bsdf({"type": "conductor", "metal": "gold", "roughness": 0.3})
    wo, wi = hemisphere(1000), hemisphere(1000)
    expected = gold.eval(wo, wi)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(gold.eval(wo, wi), expected) else 1)
    deadline = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)
    assert ended[1] == 0


def test_directions_have_to_be_unit_vectors():
    paint = tr.bsdf({"type": "diffuse", "reflectance": 0.5})
    for wrong in ([0.6, 0, 0.9], [np.nan, 0, 1], [0, 0, 0]):
        with pytest.raises(tr.ParameterError, match="wi: expected unit vectors, and row 1"):
            paint.eval([0, 0, 1], [[0, 0, 1], wrong])
    with pytest.raises(tr.ParameterError, match="wo has 2 rows, and wi 3"):
        paint.pdf([[0, 0, 1]] * 2, [[0, 0, 1]] * 3)
    with pytest.raises(tr.ParameterError, match="u: expected numbers from 0"):
        paint.sample([0, 0, 1], [[0.5, 0.5, 1.0]])


def test_masking_is_refused_where_it_does_nothing():
    gold = {"type": "conductor", "metal": "gold", "roughness": 0.3}
    assert tr.bsdf(gold, masking="separable").albedo([0, 0, 1]).shape == (1, 3)
    for material in [{**gold, "scattering": "compensated"}, {"type": "diffuse", "reflectance": 0.5}]:
        with pytest.raises(tr.ParameterError, match="the same with every masking function"):
            tr.bsdf(material, masking="separable")


def test_walks_between_facets_have_the_albedo_of_their_samples():
    gold = tr.bsdf({"type": "conductor", "metal": "gold", "roughness": 0.7, "scattering": "random_walk"})
    sampled = gold.sample([0, 0, 1], RANDOM.random((200_000, 3))).weight.mean(axis=0)
    assert np.allclose(gold.albedo([0, 0, 1])[0], sampled, atol=4e-3) and sampled[0] < 0.99


def test_materials_can_be_pickled():
    gold = tr.bsdf({"type": "conductor", "metal": "gold", "roughness": 0.3}, masking="separable")
    again = pickle.loads(pickle.dumps(gold))
    assert repr(again) == repr(gold) and "separable" in repr(gold)


def test_charts_have_tables():
    table = tr.bsdf({"type": "conductor", "metal": "gold", "roughness": 0.3}).chart("masking", angles=[0, 60]).table
    assert len({len(column) for column in table.values()}) == 1
    assert any(column.dtype.kind == "f" for column in table.values())
