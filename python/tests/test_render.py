"""Renders: their arrays, layers, parts; against the program; in threads and processes; interrupted."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import SCENES, VALUES, resident, same

import torrance as tr

CPU = {"device": "cpu"}


def test_arrays_have_their_shapes(scene):
    image = scene.render(spp=8, **CPU)
    assert image.radiance.shape == image.shape == (32, 48, 3) and image.radiance.dtype == np.float32
    assert image.stderr.shape == (32, 48, 3) and image.samples.shape == (32, 48)
    assert (image.samples == 8).all() and image.spp == 8
    assert np.shares_memory(np.asarray(image), image.radiance), "nothing is copied"
    assert np.shares_memory(np.from_dlpack(image), image.radiance)
    assert image.radiance[0].mean() == pytest.approx(0.4, abs=1e-6), "the sky is at the top"


def test_standard_errors_are_those_of_renders(scene):
    images = [scene.render(spp=64, seed=seed, **CPU) for seed in range(24)]
    spread = np.std([image.radiance for image in images], axis=0, ddof=1)
    # Samples that are spread evenly have less noise than independent ones, which the errors are for.
    ratio = np.sqrt((spread**2).mean() / np.mean([image.stderr**2 for image in images]))
    assert 0.2 < ratio < 1.1, ratio


def test_the_program_renders_the_same_bits(tmp_path):
    file = tmp_path / "program.exr"
    arguments = ["render", str(SCENES / "cornell.toml"), "-o", str(file), "--size=64x64", "--spp=16", "--device=cpu", "-q"]
    subprocess.run([sys.executable, "-m", "torrance", *arguments], check=True)
    image = tr.load(SCENES / "cornell.toml").render(spp=16, size=(64, 64), **CPU)
    assert same(image, tr.read(file))
    for name in ["sceneHash", "samplesFingerprint", "sampleRanges", "seed", "spp"]:
        assert image.attributes[name] == tr.read(file).attributes[name], name


def test_files_have_what_images_have(scene, tmp_path):
    image = scene.render(aovs=["albedo", "Z", "shape", "direct"], **CPU)
    assert {"stderr", "samples", "albedo", "Z", "direct", "id.shape"} <= set(image.layers)
    image.save(tmp_path / "a.exr")
    read = tr.read(tmp_path / "a.exr")
    assert same(read, image) and np.array_equal(read.stderr, image.stderr) and read.spp == 16
    assert np.array_equal(read["albedo"], image["albedo"]) and read["id.shape"].dtype == np.uint32
    image.save(tmp_path / "a.png", exposure=1.0)
    assert np.allclose(tr.read(tmp_path / "a.png").tonemap(), image.tonemap(exposure=1.0), atol=1)
    for name in ("a.webp", "a.jxl"):
        image.save(tmp_path / name, exposure=1.0)
        assert np.array_equal(tr.read(tmp_path / name).tonemap(), tr.read(tmp_path / "a.png").tonemap())
    with pytest.raises(tr.ParameterError, match='did you mean "albedo"'):
        image["albdo"]
    with pytest.raises(tr.ParameterError, match='did you mean "albedo"'):
        scene.render(aovs=["albdo"], **CPU)
    with pytest.raises(OSError, match="does not exist"):
        image.save(tmp_path / "no folder" / "a.png")
    with pytest.raises(OSError, match=".exr"):
        image.save(tmp_path / "a.tif")


def test_images_are_developed():
    image = tr.Image(np.full((4, 4, 3), 0.05, np.float32))
    assert np.array_equal(image.tonemap(exposure="auto"), image.tonemap(exposure=np.log2(0.18 / 0.05)))
    assert np.array_equal(image.tonemap(exposure="ev100=-3"), image.tonemap(exposure=3 - np.log2(1.2)))
    red, _, blue = image.tonemap(white_balance=3200)[0, 0]
    assert red < blue
    assert np.array_equal(image.tonemap(white_balance=(1, 1, 1)), image.tonemap())
    levels = [int(image.tonemap(name, exposure=3)[0, 0, 0]) for name in ("clip", "reinhard", "aces", "agx", "neutral")]
    assert len(set(levels)) == 5
    with pytest.raises(tr.ParameterError, match="exposure: expected stops"):
        image.tonemap(exposure="bright")
    with pytest.raises(tr.ParameterError, match="white_balance: expected a temperature"):
        image.tonemap(white_balance=100)
    with pytest.raises(tr.ParameterError, match="neutral"):
        image.tonemap("neutrl")


def test_parts_are_the_whole(scene):
    whole = scene.render(spp=48, **CPU)
    parts = [scene.render(samples=part, **CPU) for part in [(32, 48), (0, 16), (16, 32)]]
    for packed in [False, True]:
        merged, *others = [pickle.loads(pickle.dumps(part)) if packed else part for part in parts]
        for part in others:
            merged = merged.merged(part)
        assert np.allclose(merged.radiance, whole.radiance, rtol=1e-6)
        for name in ["sampleRanges", "samplesFingerprint"]:
            assert merged.attributes[name] == whole.attributes[name]
        with pytest.raises(tr.ParameterError, match="in common|both have"):
            merged.merged(whole)


def test_progress_ends_with_the_image_itself(scene):
    images = list(scene.progressive(spp=24, every=0.01, **CPU))
    assert [a.spp < b.spp for a, b in zip(images, images[1:])] == [True] * (len(images) - 1) and len(images) > 2
    assert np.allclose(images[-1].radiance, scene.render(spp=24, **CPU).radiance, rtol=1e-6)


def test_noise_and_time_end_renders(scene):
    assert scene.render(noise=0.05, noise_of="image", **CPU).noise <= 0.05
    displayed = scene.render(noise=0.02, noise_of="display", percentile=95, **CPU)
    shown = lambda rgb: np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * np.maximum(rgb, 1e-6) ** (1 / 2.4) - 0.055)
    middle, error = [np.clip(x, 0, 1) for x in (displayed.radiance, displayed.radiance + displayed.stderr)]
    assert np.quantile((shown(error) - shown(middle)).mean(axis=-1), 0.9) <= 0.03
    image = scene.render(noise=0.01, percentile=95, **CPU)
    luminance = lambda rgb: rgb @ [0.2126, 0.7152, 0.0722]
    errors = luminance(image.stderr) / np.maximum(luminance(image.radiance), 0.1 * luminance(image.radiance).mean())
    assert np.mean(errors <= 0.010001) >= 0.95 and image.samples.max() > image.samples.min()
    image = scene.render(noise=0.01, percentile=95, uniform=True, **CPU)
    assert image.samples.max() == image.samples.min()
    image = scene.render(time=0.3, **CPU)
    assert 0.2 < image.seconds < 1.5 and not image.interrupted
    for wrong in [{"spp": 0}, {"spp": 1.5}, {"noise": 0}, {"noise": 0.1, "noise_of": "pixel"}, {"noise": 0.1, "percentile": 0}, {"time": -1}, {"size": (0, 4)}, {"size": 5}, {"samples": (4, 4)}, {"seed": -1}]:
        with pytest.raises(tr.TorranceError):
            scene.render(**wrong, **CPU)
    for device in ["gpu", "cuda:x", "cpu:1"]:
        with pytest.raises(tr.ParameterError, match="expected auto, cpu, cuda"):
            scene.render(device=device)


def test_images_of_arrays():
    image = tr.Image(np.ones((4, 5, 3)), stderr=np.full((4, 5, 3), 0.1), samples=16)
    assert image.radiance.dtype == np.float32 and image.spp == 16 and image.noise == pytest.approx(0.1)
    assert image._repr_png_().startswith(b"\x89PNG")
    for wrong in [np.ones((4, 5)), np.ones((4, 5, 4)), np.ones((0, 5, 3)), np.ones((4, 5, 3), complex)]:
        with pytest.raises(tr.ParameterError, match="radiance: expected"):
            tr.Image(wrong)
    with pytest.raises(tr.ParameterError, match="stderr is"):
        tr.Image(np.ones((4, 5, 3)), stderr=np.ones((5, 4, 3)))


def test_threads_render_side_by_side():
    seeds = range(4)
    alone = [tr.scene(VALUES).render(spp=64, seed=seed, **CPU) for seed in seeds]
    one, found = tr.scene(VALUES), {}

    def render(name, scene, seed):
        found[name, seed] = scene.render(spp=64, seed=seed, **CPU)

    threads = [threading.Thread(target=render, args=("shared", one, seed)) for seed in seeds]
    threads += [threading.Thread(target=render, args=("own", tr.scene(VALUES), seed)) for seed in seeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(same(image, alone[seed]) for (_, seed), image in found.items())


def test_parameters_can_be_set_while_another_thread_renders(scene):
    began = threading.Event()
    thread = threading.Thread(target=scene.render, kwargs={"time": 3.0, "progress": lambda *_: began.set(), **CPU})
    thread.start()
    assert began.wait(10)
    start = time.perf_counter()
    scene.params["materials.gold.roughness"] = 0.35
    assert scene.params["materials.gold.roughness"] == 0.35 and scene.copy().params["render.spp"] == 16
    assert time.perf_counter() - start < 1.0 and thread.is_alive()
    thread.join()


def test_what_is_told_of_a_render_may_not_render_the_same_scene(scene):
    with pytest.raises(tr.ParameterError, match="only a copy of it"):
        scene.render(time=5.0, progress=lambda *_: scene.render(1, **CPU), **CPU)
    copies = []
    scene.render(time=0.3, progress=lambda *_: copies.append(scene.copy().render(1, **CPU)), **CPU)
    assert copies


def test_other_threads_go_on(scene):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    scene.render(time=0.6, **CPU)
    done.set()
    thread.join()
    assert max(np.diff(ticks)) < 0.3, "the longest wait"


def _render_in_child(queue, values):
    queue.put(tr.scene(values).render(**CPU).radiance.tobytes())


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_processes_render_after_their_parent_has(scene, method):
    expected = scene.render(**CPU).radiance.tobytes()
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_render_in_child, args=(queue, VALUES))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_scene_goes_on_in_a_forked_process(scene, tmp_path):
    before = scene.render(**CPU)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            large = {"size": (96, 64), "spp": 4, **CPU}
            threads = [threading.Thread(target=lambda: [scene.render(**large) for _ in range(5)]) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            code = 0 if same(scene.render(**CPU), before) else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            pytest.fail("it hangs")
        time.sleep(0.02)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
    assert same(scene.render(**CPU), before)


INTERRUPTED = """
import sys, time, torrance as tr
from conftest import VALUES
scene = tr.scene(VALUES)
scene.render(spp=1, device="cpu")
print("begin", flush=True)
try:
    scene.render(spp=1 << 20, size=(512, 512), device="cpu")
except tr.Interrupted as interrupted:
    image = interrupted.image
    print(time.time(), image.interrupted, image.paths > 0, isinstance(interrupted, KeyboardInterrupt), flush=True)
print(scene.render(spp=1, device="cpu").interrupted)
"""


def test_control_c_keeps_what_is_rendered():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])}
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout.readline() == "begin\n"
    time.sleep(1.0)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    when, *rest = child.stdout.readline().split()
    assert rest == ["True", "True", "True"]
    assert float(when) - sent < 0.5, "seconds until it stops"
    assert child.stdout.readline() == "False\n", "the next render is whole"
    assert child.wait() == 0


def test_a_callback_is_told_and_can_stop(scene):
    told = []

    def stop_soon(done, target, seconds):
        told.append((done, target, seconds))
        return len(told) < 3

    image = scene.render(spp=1 << 20, progress=stop_soon, **CPU)
    assert image.interrupted and len(told) == 3 and told[0][0] < told[2][0] and told[0][1] == 1 << 20

    def fail(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scene.render(spp=1 << 20, progress=fail, **CPU)


def test_memory_stays(scene):
    """Renders of changing scenes: as many again take no more memory."""
    count = int(os.environ.get("TORRANCE_RENDERS", "300"))

    def render(n):
        for i in range(n):
            scene.params["materials.gold.roughness"] = 0.1 + 0.5 * i / n
            scene.params["shapes.ball.center"] = [0.1 * i / n, 0, 0]
            scene.render(spp=1, size=(16, 16), **CPU).radiance.sum()

    render(count)
    before = resident()
    render(count)
    grown = (resident() - before) >> 10
    assert grown < 4096, f"{grown} KiB more"


def test_images_are_denoised():
    scene = tr.load(SCENES / "cornell.toml")
    reference = scene.render(1024, size=(48, 48), seed=9, device="cpu").radiance
    noisy = scene.render(8, size=(48, 48), aovs=["albedo", "N", "halves"], device="cpu")
    clean = noisy.denoised("nfor", device="cpu")
    error = lambda image: np.mean((image.radiance - reference) ** 2 / (reference**2 + 0.01))
    assert error(clean) < 0.5 * error(noisy)
    assert clean.stderr is None and clean.attributes["denoiser"].startswith("NFOR on CPU")
    with pytest.raises(tr.ParameterError, match='denoiser: unknown "nfr"'):
        noisy.denoised("nfr")
    with pytest.raises(tr.ParameterError, match="its noise is not known"):
        clean.denoised("nfor")
