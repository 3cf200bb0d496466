"""pytest-torrance, held against runs of pytest whose outcome is known."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import torrance as tr
from torrance._passes import Passes, noise
from torrance._regression import ImageDifference, Regression
from torrance._report import page
from torrance._run import Case, Run
from torrance._sequential import (
    FIRST_SEED_OF_REFERENCES,
    SEEDS_OF_A_REFERENCE,
    Plan,
    free_seeds,
    level_of_check,
    seed_of_next_reference,
    seeds_of,
    totals,
)

pytest_plugins = ["pytester"]

#: A renderer of a slope with noise, whose `light` is the mistake that tests look for.
RENDERER = """
import os
import numpy as np

def renderer(light=1.0, size=(24, 32), noise=0.1):
    def render(seed):
        sampler = np.random.default_rng(seed)
        slope = np.linspace(0.5, 1.5, size[1])[None, :, None] * np.ones((*size, 3))
        return light * slope * (1 + noise * sampler.standard_normal((*size, 3)))
    return render

LIGHT = float(os.environ.get("LIGHT", "1"))
"""


@pytest.fixture
def suite(pytester, monkeypatch, request):
    """Runs pytest with the plugin on a test file; the first argument is its text."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(tr.__file__).parents[1]))
    # Installed, it is there by itself.
    plugin = () if request.config.pluginmanager.hasplugin("torrance") else ("-p", "torrance.pytest_plugin")
    pytester.makepyfile(renderers=RENDERER)

    def run(text: str, *options: str):
        pytester.makepyfile(test_images=f"from renderers import *\nimport pytest\nimport torrance as tr\n\n{text}\n")
        return pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider", *options)

    run.folder = pytester.path
    return run


CHECK = """
def test_slope(image_regression):
    image_regression.check(renderer(LIGHT), "slope", noise=0.01, resolve=0.02)
"""


def test_a_change_fails_and_none_passes(suite, monkeypatch):
    suite(CHECK, "--bless").assert_outcomes(passed=1)
    suite(CHECK).assert_outcomes(passed=1)
    monkeypatch.setenv("LIGHT", "1.03")
    result = suite(CHECK)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*ImageDifference: slope: different: over all pixels, * brighter in A than in B*",
            "*The evidence is strongest in 32×24 pixels from (0, 0)*",
            "*result     test-results/slope.exr",
            "*reference  references/slope.exr",
            "*heat map   test-results/slope-heatmap.png",
            "*pytest test_images.py::test_slope --bless",
        ]
    )
    assert "def check" not in result.stdout.str(), "the traceback is that of the test"
    assert tr.read(suite.folder / "test-results/slope.exr").radiance.mean() == pytest.approx(1.03, abs=0.01)
    assert (suite.folder / "test-results/slope-heatmap.png").read_bytes().startswith(b"\x89PNG")
    # What no longer fails leaves nothing behind.
    monkeypatch.setenv("LIGHT", "1")
    suite(CHECK).assert_outcomes(passed=1)
    assert not list((suite.folder / "test-results").glob("*.exr"))


def test_a_missing_reference_is_an_error_that_says_what_makes_it(suite):
    result = suite(CHECK)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*there is no reference references/slope.exr; make it with: pytest test_images.py::test_slope --bless*"]
    )


def test_blessing_reports_the_noise_and_what_has_changed(suite, monkeypatch):
    result = suite(CHECK, "--bless")
    result.stdout.fnmatch_lines(["references/slope.exr: 128 passes; half of the noisy pixels have standard errors below *"])
    reference = tr.read(suite.folder / "references/slope.exr")
    assert noise(reference) <= 0.01 and reference.samples[0, 0] == 128
    assert reference.attributes["seed"] == str(FIRST_SEED_OF_REFERENCES) and "pixelFilter" not in reference.attributes
    result = suite(CHECK, "--torrance-bless=yes")
    result.stdout.fnmatch_lines(["*Same: no evidence of a difference*"])
    seed = tr.read(suite.folder / "references/slope.exr").attributes["seed"]
    assert seed == str(FIRST_SEED_OF_REFERENCES + SEEDS_OF_A_REFERENCE), "another than the old one's"
    monkeypatch.setenv("LIGHT", "0.9")
    suite(CHECK, "--bless").stdout.fnmatch_lines(["*Different: over all pixels, * darker in A than in B*"])
    suite(CHECK).assert_outcomes(passed=1)


def test_an_option_of_another_plugin_is_left_alone(suite):
    suite.folder.joinpath("conftest.py").write_text(
        "def pytest_addoption(parser): parser.addoption('--bless', action='store_true')\n"
    )
    suite(CHECK, "--bless").assert_outcomes(failed=1)
    suite(CHECK, "--torrance-bless=yes").assert_outcomes(passed=1)


def test_ci_refuses_to_bless(suite, monkeypatch):
    monkeypatch.setenv("CI", "true")
    result = suite(CHECK, "--bless")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--bless=ci if it is meant*"])
    assert not (suite.folder / "references").exists()
    suite(CHECK, "--bless=ci").assert_outcomes(passed=1)
    suite(CHECK).assert_outcomes(passed=1)


def test_a_verdict_that_is_not_clear_is_a_warning_or_strictly_a_failure(suite):
    text = CHECK.replace("resolve=0.02", "resolve=0.0001, passes=8")
    suite(text, "--bless")
    result = suite(text)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*same as far as 8 passes can tell, but differences of up to * could hide*"])
    suite(text, "--torrance-strict").assert_outcomes(failed=1)
    suite(CHECK, "--torrance-strict").assert_outcomes(passed=1)
    suite(text.replace("=8", "=2")).stdout.fnmatch_lines(["*same as far as 2 passes can tell*"])


def test_time_ends_a_check(suite):
    text = CHECK.replace("resolve=0.02", "resolve=0, timeout=0")
    suite(text, "--bless")
    result = suite(text)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*same as far as 2 passes can tell*"])


def test_a_negative_control_passes_if_the_mistake_is_found(suite):
    control = """
def test_control(image_regression):
    image_regression.check(renderer({light}), "brighter", differs_from="slope", resolve=0.02)
"""
    suite(CHECK + control.format(light=1.1), "--bless").assert_outcomes(passed=2)
    assert [path.name for path in (suite.folder / "references").iterdir()] == ["slope.exr"]
    suite(CHECK + control.format(light=1.1)).assert_outcomes(passed=2)
    result = suite(CHECK + control.format(light=1.0))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*brighter: expected different from slope, but same: a difference of * would have been found*"])


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "each"), ("-n", "2")])
def test_a_name_is_one_checks(suite, workers):
    if workers:
        pytest.importorskip("xdist")
    twice = CHECK + CHECK.replace("test_slope", "test_again")
    suite(CHECK, "--bless").assert_outcomes(passed=1)
    if "each" in workers:
        # The same test in each worker is one test: they agree on who it is.
        suite(CHECK, *workers).assert_outcomes(passed=2)
        return
    result = suite(twice, *workers)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*there are two checks of the name 'slope': the other is in test_images.py::test_*"])
    in_one_test = CHECK + CHECK.splitlines()[-1]
    suite(in_one_test, *workers).assert_outcomes(failed=1)
    others = CHECK + CHECK.replace("test_slope", "test_again").replace('"slope"', '"other"')
    suite(others, "--bless", *workers).assert_outcomes(passed=2)
    suite(others, *workers).assert_outcomes(passed=2)


def test_workers_make_one_page(suite, monkeypatch):
    pytest.importorskip("xdist")
    text = """
@pytest.mark.parametrize("i", range(6))
def test_slopes(image_regression, i):
    image_regression.check(renderer(LIGHT if i == 3 else 1.0), f"slope-{i}", noise=0.01, resolve=0.02)
"""
    suite(text, "--bless", "-n", "2").assert_outcomes(passed=6)
    monkeypatch.setenv("LIGHT", "1.1")
    for workers in [("-n", "2"), ()]:
        suite(text, "--torrance-html", "pages/report.html", *workers).assert_outcomes(passed=5, failed=1)
        made = (suite.folder / "pages/report.html").read_text()
        assert "1 of 6 image checks failed" in made and "1 failed, 5 passed" in made
        assert [f"slope-{i}" in made for i in range(7)] == [True] * 6 + [False]
        assert made.count("data:image/png;base64,") == 18 and "http" not in made
        assert [path.name for path in (suite.folder / "pages").iterdir()] == ["report.html"]


def test_a_page_shows_what_tests_said():
    cases = [Case("a", "test_a", "passed", ["same"]), Case("b", "test_b[<x>]", "error", ["ValueError: <b>"], files={"result": "&"})]
    made = page(cases)
    assert "ValueError: &lt;b&gt;" in made and "<b>error</b> b" in made and "test_b[&lt;x&gt;]" in made and "&amp;" in made
    assert made.index(" b ") < made.index(" a "), "the worst first"
    assert "no image check failed, of 1" in page(cases[:1]), "and not always the same"


def test_junit_has_the_figures(suite, monkeypatch):
    suite(CHECK, "--bless")
    found = {}
    for light in ("1", "1.1"):
        monkeypatch.setenv("LIGHT", light)
        suite(CHECK, "--junitxml", "junit.xml")
        root = ElementTree.parse(suite.folder / "junit.xml").getroot()
        found[light] = {node.get("name"): node.get("value") for node in root.iter("property")}
    assert found["1"]["slope.status"] == "passed" and float(found["1"]["slope.p"]) > 0.01
    assert float(found["1"]["slope.resolution"]) <= 0.02 and found["1"]["slope.passes"] in ("4", "8", "16", "32")
    assert found["1.1"]["slope.status"] == "failed" and float(found["1.1"]["slope.p"]) < 1e-6


@pytest.mark.parametrize(
    "returned, message",
    [
        ("np.ones((8, 8))", "*radiance: expected (height, width, 3), not (8, 8)*"),
        ("np.ones((8, 8, 4))", "*radiance: expected (height, width, 3), not (8, 8, 4)*"),
        ("np.ones((8, 9, 3))", "*the image has 9×8 pixels, and the reference 32×24*"),
        ("np.ones((24, 32 + (seed + 1) % 2, 3))", "*pass 1 has 33×24 pixels, and those before it 32×24 pixels*"),
        ("None", "*radiance: expected numbers, not object*"),
        ("1 / 0", "*ZeroDivisionError: division by zero*"),
        ("np.where(np.arange(32)[:, None] == 5, np.nan, renderer()(seed))", "*there are NaN or infinities in one of A and B*"),
    ],
)
def test_renderers_that_fail(suite, returned, message):
    suite(CHECK, "--bless")
    text = f"""
def test_slope(image_regression):
    def render(seed):
        return {returned}
    image_regression.check(render, "slope", noise=0.01, resolve=0.02)
"""
    result = suite(text, "--torrance-html", "report.html")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])
    assert "1 of 1 image checks failed" in (suite.folder / "report.html").read_text()
    suite(text.replace(returned, "renderer()(seed)")).assert_outcomes(passed=1)


def test_nan_is_not_blessed(suite):
    text = """
def test_slope(image_regression):
    image = renderer()(1)
    image[3, 4] = np.nan
    image_regression.check(image, "slope")
"""
    result = suite(text, "--bless")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1 pixels are NaN or infinite*"])
    assert not (suite.folder / "references").exists()
    suite(text.replace("np.nan", "1"), "--bless").assert_outcomes(passed=1)


def test_images_without_noise_are_judged_by_metrics(suite):
    text = """
def test_array(image_regression):
    image_regression.check({light} * renderer(noise=0.0)(1), "array", {options})
"""
    suite(text.format(light=1, options=""), "--bless")
    suite(text.format(light=1.01, options="")).assert_outcomes(passed=1)
    result = suite(text.format(light=1.5, options=""))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*array: different: ꟻLIP is *, above 0.05, relMSE is *, above 0.01*"])
    suite(text.format(light=1.01, options="relmse=1e-6")).assert_outcomes(failed=1)


def test_an_array_against_a_reference_with_noise_needs_bounds(suite):
    suite(CHECK, "--bless")
    text = """
def test_slope(image_regression):
    image_regression.check(renderer()(1), "slope", {options})
"""
    result = suite(text.format(options=""))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the reference has standard errors, and the image has none*"])
    suite(text.format(options="relmse=0.1")).assert_outcomes(passed=1)


def test_images_that_know_their_noise(suite):
    text = """
def image(seed, light):
    passes = np.stack([renderer(light)(32 * seed + i) for i in range(32)])
    return tr.Image(passes.mean(0), passes.std(0, ddof=1) / 32**0.5, 32)

def test_slope(image_regression):
    image_regression.check(image(1, {light}), "one", resolve=0.02)
    image_regression.check(lambda seed: image(seed, {light}), "several", first=1, passes=4, resolve=0.02, noise=0.01)
"""
    suite(text.format(light=1), "--bless").assert_outcomes(passed=1)
    assert tr.read(suite.folder / "references/several.exr").samples[0, 0] >= 128
    suite(text.format(light=1).replace("image(1", "image(2")).assert_outcomes(passed=1)
    suite(text.format(light=1.1)).assert_outcomes(failed=1)


def test_renders_of_torrance_count_by_their_samples(scene, tmp_path):
    def render(seed):
        return scene.render(64, seed=seed, device="cpu")

    def check(radiance, run, **options):
        scene.params["environment.radiance"] = radiance
        run.mkdir()
        regression = Regression(Run(run), "test", tmp_path / "references", tmp_path / "output", **options)
        regression.check(render, "scene", first=1, passes=4, bless_passes=8, resolve=0.05)
        return Run(run).cases()[0]

    assert check(0.4, tmp_path / "a", blesses=True).status == "blessed"
    reference = tr.read(tmp_path / "references/scene.exr")
    assert (reference.samples == 512).all() and reference.attributes["seed"] == str(FIRST_SEED_OF_REFERENCES)
    assert check(0.4, tmp_path / "b").status == "passed"
    with pytest.raises(ImageDifference, match="brighter in A than in B"):
        check(0.5, tmp_path / "c")
    assert tr.read(tmp_path / "output/scene.exr").attributes["seed"] == "1"


def test_a_renderer_without_noise_is_clear_at_once(suite):
    text = """
def test_slope(image_regression):
    image_regression.check(lambda seed: {light} * renderer(noise=0.0)(1), "slope")
"""
    suite(text.format(light=1), "--bless")
    suite(text.format(light=1), "--torrance-strict").assert_outcomes(passed=1)
    suite(text.format(light=1.01)).assert_outcomes(failed=1)


def test_settings_and_places(suite):
    suite.folder.joinpath("pytest.ini").write_text("[pytest]\ntorrance_references = kept\ntorrance_output = made\n")
    suite(CHECK, "--bless")
    assert (suite.folder / "kept/slope.exr").exists()
    suite(CHECK.replace("renderer(LIGHT)", "renderer(2)")).assert_outcomes(failed=1)
    assert (suite.folder / "made/slope.exr").exists()
    suite(CHECK, "--torrance-references", "elsewhere").assert_outcomes(failed=1)
    assert suite(CHECK, "--torrance-level", "2").ret == pytest.ExitCode.USAGE_ERROR
    suite(CHECK.replace("resolve=0.02", "resolve=-1")).stdout.fnmatch_lines(
        ["*resolve: expected a number that is not negative, not -1*"]
    )


def test_spp_is_handed_on(suite):
    text = """
def test_slope(image_regression):
    def render(seed, spp):
        return renderer(noise=1.0 / spp)(seed)
    image_regression.check(render, "slope", {options})
"""
    suite(text.format(options="spp=1000"), "--bless").stdout.fnmatch_lines(["*: 4 passes; half of *"])
    suite(text.format(options="spp=1000")).assert_outcomes(passed=1)
    suite(text.format(options="")).assert_outcomes(failed=1)


def test_numpy_is_imported_when_it_is_used():
    names = ("torrance.pytest_plugin", "torrance")
    loaded = [_modules_of(f"import {name}") for name in names]
    assert not any("numpy" in modules for modules in loaded)
    assert "numpy" in _modules_of("import torrance; torrance.Image"), "the test can tell"


def test_functions_are_not_hidden_by_their_modules():
    program = "import torrance.scene, torrance.sweep, torrance as tr; assert {0}callable(tr.scene) and callable(tr.sweep)"
    codes = [subprocess.run([sys.executable, "-c", program.format(word)], capture_output=True).returncode for word in ("", "not ")]
    assert codes == [0, 1]


def _modules_of(statement: str) -> list:
    program = f"import json, sys; {statement}; print(json.dumps(list(sys.modules)))"
    return json.loads(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)


def test_passes_are_one_render_of_all_samples():
    samples = np.random.default_rng(1).gamma(0.5, size=(60, 4, 5, 3))
    whole = tr.Image(samples.mean(0), samples.std(0, ddof=1) / 60**0.5, 60)
    parts = Passes()
    for at, size in ((0, 1), (1, 2), (3, 20), (23, 37)):
        part = samples[at : at + size]
        parts.add((part.mean(0), part.std(0, ddof=1) / size**0.5, size) if size > 1 else part[0])
    merged = parts.image()
    np.testing.assert_allclose(merged.radiance, whole.radiance, rtol=1e-5)
    np.testing.assert_allclose(merged.stderr, whole.stderr, rtol=1e-5)
    assert (merged.samples == 60).all()
    parts.add(samples[0])
    assert not np.allclose(parts.image().stderr, whole.stderr, rtol=1e-5)


def test_attributes_of_files(tmp_path):
    attributes = {"seed": "12", "case": "ünder"}
    image = tr.Image(np.random.default_rng(1).random((40, 50, 3)), np.ones((40, 50, 3)), 7, attributes)
    image.save(tmp_path / "a.exr")
    again = tr.read(tmp_path / "a.exr")
    assert again.attributes == attributes
    np.testing.assert_array_equal(again.radiance, image.radiance)
    np.testing.assert_array_equal(again.samples, image.samples)
    tr.Image(image.radiance).save(tmp_path / "b.exr")
    assert tr.read(tmp_path / "b.exr").attributes == {}


def test_seeds_keep_out_of_the_references():
    for named in ("0", "1", "5,3", "1000", str(2**30)):
        taken = seeds_of({"seed": named})
        for first in (0, 1, 990, 2**30 - 3):
            generator = free_seeds(first, taken)
            seeds = [next(generator) for _ in range(200)]
            assert len(set(seeds)) == 200 and not any(seed in taken for seed in seeds) and min(seeds) >= first
        assert all(int(seed) in taken for seed in named.split(","))
        assert seed_of_next_reference(taken) not in taken
    assert seeds_of({}) == seeds_of({"seed": "?"}) == range(0)
    assert any(seed in seeds_of({"seed": "1"}) for seed in range(1, 9)), "the test can tell"


def test_plans():
    assert totals(4, 32) == [4, 8, 16, 32] and totals(4, 20) == [4, 8, 16, 20] and totals(1, 1) == [1]
    assert 1 - (1 - level_of_check(0.01, 30)) ** 30 == pytest.approx(0.01)
    plan = Plan(level=0.01, looks=4, resolve=0.005)
    assert plan.outcome(0.0025, 0.001) == "different" and plan.outcome(0.0026, 0.005) == "same"
    assert plan.outcome(0.0026, 0.0051) == plan.outcome(1.0, None) == "open"


def test_false_alarms_stay_below_the_level_over_all_looks():
    """Looks at a running mean: the rate holds, and would not if each look were judged at the level of the check."""
    counts, cases = totals(4, 64), 20_000
    noise = np.random.default_rng(1).standard_normal((cases, counts[-1])).cumsum(axis=1)
    z = np.abs(np.stack([noise[:, n - 1] / n**0.5 for n in counts]))

    def rate(critical):
        return (z > critical).any(axis=0).mean()

    plan = Plan(level=0.05, looks=len(counts), resolve=0.0)
    assert plan.look_level == pytest.approx(0.01)
    assert 0.015 < rate(2.576) <= plan.level, "two-sided, at 1 % a look"
    assert rate(1.960) > 2 * plan.level, "at 5 % a look"
