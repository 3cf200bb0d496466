"""Suites, run by the program, on references that are made here."""

import json
import os
import signal
import sys
import threading
import time

import pytest

import torrance as tr

SCENE = """
render = { size = [16, 12], spp = 16, sampler = "independent" }
camera = { position = [0, 0, 3], target = [0, 0, 0], fov = 50 }
environment = { radiance = 1 }
materials.ball = { type = "diffuse", reflectance = REFLECTANCE }
shapes = [{ type = "sphere", material = "ball" }, { type = "sphere", center = [1, 1, 0], radius = 0.5, emission = 2 }]
"""

SUITE = """
[defaults]
spp = 256
max_spp = 1024
resolve = "5%"

[[case]]
name = "same"
scene = "ball.toml"
reference = "reference.exr"

[[case]]
name = "darker"
scene = "darker.toml"
reference = "reference.exr"

[[case]]
name = "control"
scene = "darker.toml"
reference = "reference.exr"
expect = "different"

[[case]]
name = "later"
scene = "ball.toml"
reference = "reference.exr"
skip = "not yet"
"""

ENDLESS = """
[[case]]
name = "endless"
scene = "ball.toml"
reference = "reference.exr"
spp = 1000000000
max_spp = 1000000000
resolve = "0.0001%"
"""


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "ball.toml").write_text(SCENE.replace("REFLECTANCE", "0.5"))
    (tmp_path / "darker.toml").write_text(SCENE.replace("REFLECTANCE", "0.3"))
    tr.load(tmp_path / "ball.toml").render(spp=4096, seed=5, device="cpu").save(tmp_path / "reference.exr")
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


def test_cases_have_verdicts(suite):
    result = tr.regress(suite, device="cpu")
    assert not result.passed and not result
    statuses = {case.name: case.status for case in result.cases}
    assert statuses == {"same": "passed", "darker": "failed", "control": "passed", "later": "skipped"}
    assert result["darker"].p < 1e-6 < result["same"].p and result["same"].resolution < 0.05
    assert "different" in result["darker"].reason and "not yet" in result["later"].reason
    assert result["same"].samples >= 256 and result["later"].samples is None
    assert str(result) == "2 passed, 1 failed, 1 skipped"
    assert result._repr_html_().count("✗") == 1 and result.report["level"] == 0.01
    with pytest.raises(KeyError):
        result["other"]


def test_filters_choose_cases_and_a_suite_can_pass(suite):
    assert [case.name for case in tr.regress(suite, filter="same", device="cpu").cases] == ["same"]
    result = tr.regress(suite, filter=["sam", "c*l"], device="cpu")
    assert result.table["name"] == ["same", "control"] and result.passed and result


def test_reports_are_written(suite, tmp_path):
    files = {"html": tmp_path / "page.html", "junit": tmp_path / "junit.xml", "output": tmp_path / "images"}
    tr.regress(suite, filter="same", full=True, resume=True, device="cpu", **files)
    assert "same" in files["html"].read_text() and "<testcase" in files["junit"].read_text()
    assert tr.read(files["output"] / "same.exr").shape == (12, 16, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filter": "nothing"}, "no such case"),
        ({"device": "toaster"}, "toaster"),
        ({"junit": "no/such/folder/junit.xml"}, "no/such/folder"),
    ],
)
def test_mistakes_are_exceptions(suite, options, message):
    with pytest.raises(tr.TorranceError, match=message) as raised:
        tr.regress(suite, **options)
    assert not str(raised.value).startswith("error")


def test_a_suite_that_is_not_there(tmp_path):
    with pytest.raises(tr.TorranceError, match="suite.toml"):
        tr.regress(tmp_path / "suite.toml")


def test_rows_are_printed_where_wanted(suite, capfd):
    tr.regress(suite, filter="same", device="cpu")
    assert capfd.readouterr() == ("", "")
    tr.regress(suite, filter="same", device="cpu", progress=True)
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("passed") and "same" in err


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_an_interruption_keeps_what_is_done(suite):
    suite.write_text(SUITE + ENDLESS)
    threading.Thread(target=interrupt_soon, daemon=True).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt) as raised:
        tr.regress(suite, device="cpu")
    assert time.perf_counter() - start < 60
    result = raised.value.suite
    assert result["same"].status == "passed" and result["endless"].status == "not run" and not result.passed
    assert json.dumps(result.report)


def interrupt_soon():
    time.sleep(4)
    os.kill(os.getpid(), signal.SIGINT)
