"""A cluster of several nodes, on this machine, against renders of one process."""

import os
import signal
import threading
import subprocess
import time
from collections import deque
from pathlib import Path

import numpy as np
import pytest

import torrance as tr

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

import torrance.ray

NODES = 4
SCENE = """
render = { size = [32, 24], spp = 8 }
camera = { position = [0, 0, 3], target = [0, 0, 0], fov = 50 }
environment = { radiance = 0.5 }
materials.ball = { type = "diffuse", reflectance = 0.5 }
shapes = [
    { name = "ball", type = "sphere", material = "ball" },
    { name = "lamp", type = "sphere", center = [1, 1, 1], radius = 0.2, emission = 5 },
]
"""


@pytest.fixture(scope="module")
def cluster():
    """The driver's node, which takes no tasks, and others of one core each."""
    # A node that is killed must be missed soon, but one on a busy machine must not.
    soon = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "health_check_failure_threshold": 5}
    small = {"object_store_memory": 100 << 20}
    made = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": soon, **small})
    for _ in range(NODES):
        made.add_node(num_cpus=1, **small)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenes") / "ball.toml"
    path.write_text(SCENE)
    return path


def assert_same(image, path, spp, **options):
    """The image is that of a single process, and has each sample once."""
    alone = tr.load(path).render(samples=(0, spp), device="cpu", **options)
    np.testing.assert_array_equal(image.samples, spp)
    assert np.sqrt(np.mean((image.radiance - alone.radiance) ** 2)) < 1e-6 * alone.radiance.mean()
    np.testing.assert_allclose(image.stderr, alone.stderr, rtol=1e-4, atol=1e-6)
    for name in ("sampleRanges", "samplesFingerprint", "sceneHash"):
        assert image.attributes[name] == alone.attributes[name]


def test_the_image_is_that_of_one_process(cluster, path):
    image = torrance.ray.render(path, spp=300)
    assert_same(image, path, 300)
    with pytest.raises(AssertionError):
        assert_same(image, path, 300, seed=1)
    with pytest.raises(AssertionError):
        assert_same(image, path, 301)


def test_options_are_those_of_renders(cluster, path):
    assert_same(torrance.ray.render(path, size=(20, 10), seed=3, chunk=3), path, 8, size=(20, 10), seed=3)


def render_without_a_node(cluster, path, size):
    """Renders, and kills one of the nodes on the way. Another one takes its place."""
    killed = []

    def observe(done, target, seconds):
        if done > 200 and not killed:
            killed.append(next(iter(cluster.worker_nodes)))
            kill(killed[0])
            cluster.add_node(num_cpus=1, object_store_memory=100 << 20, wait=False)

    try:
        image = torrance.ray.render(path, spp=3000, chunk=60, size=size, progress=observe)
    finally:
        for node in killed:
            cluster.remove_node(node, allow_graceful=False)
    assert killed, "the render was done before a node could be killed"
    return image


def test_a_node_that_dies_loses_nothing(cluster, path):
    image = render_without_a_node(cluster, path, (64, 48))
    assert_same(image, path, 3000, size=(64, 48))


def test_a_node_that_dies_does_lose_something_if_nothing_is_taken_again(cluster, path, monkeypatch):
    monkeypatch.setattr(torrance.ray, "RETRIES", 0)
    with pytest.raises(ray.exceptions.RayError):
        render_without_a_node(cluster, path, (64, 48))


def kill(node):
    """Kills a node with all of its workers, as a power failure does."""
    raylet = node.all_processes["raylet"][0].process.pid
    workers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and parent(entry) == raylet]
    assert workers
    for process in (raylet, *workers):
        os.kill(process, signal.SIGKILL)


def parent(entry):
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def test_noise_does_not_depend_on_how_samples_are_divided(cluster, path):
    noise = 0.05
    images = [torrance.ray.render(path, noise=noise, chunk=chunk) for chunk in (5, 64)]
    counts = [int(image.samples.min()) for image in images]
    assert counts[0] == counts[1] > torrance.ray.FIRST
    assert all(0.8 * noise < image.noise <= noise for image in images)
    np.testing.assert_allclose(images[0].radiance, images[1].radiance, rtol=1e-5, atol=1e-7)
    assert (torrance.ray.render(path, noise=noise, spp=20).samples == 20).all()


def test_looks_are_where_noise_should_be_small_enough():
    look = torrance.ray._next_look
    assert look(16, 1.5) >= 16 * 1.5**2 > 0.9 * look(16, 1.5)
    assert look(16, 100) == 64 and look(64, 1.000001) == 70 and look(64, 1.0000000001) > 64


def test_tasks_are_as_long_as_is_wanted():
    film = torrance.ray._Film.__new__(torrance.ray._Film)
    film._chunk, film._bytes, film._speeds, film._additions = None, 0, deque(), deque()
    assert film._length(1000, 4) == 1
    film._speeds.append((10, 1.0))
    assert film._length(10000, 4) == 30
    # The last ones are shorter, and none is longer than what is left.
    assert film._length(100, 4) == 13 and film._length(40, 4) == 5 and film._length(20, 4) == 4 and film._length(3, 4) == 3
    # Adding 80 images, of which each takes a tenth of a second, must not take longer than rendering them.
    film._additions.append(0.1)
    assert film._length(100000, 40) == 80
    # Large images take a while on their way.
    film._additions.clear()
    film._bytes = 300e6
    assert film._length(10000, 4) == 100
    film._chunk = 7
    assert film._length(1000, 4) == 7


def test_values_and_text_are_scenes(cluster, path):
    corners = np.array([[-2, -2, -1], [2, -2, -1], [0, 2, -1]])
    values = {
        "render": {"size": [16, 12]},
        "camera": {"position": [0, 0, 3], "target": [0, 0, 0], "fov": 50},
        "environment": {"radiance": 0.5},
        "materials": {"ball": {"type": "diffuse", "reflectance": {"texture": "t"}}},
        "textures": {"t": {"file": np.random.default_rng(1).random((8, 8, 3))}},
        "shapes": [
            {"type": "sphere", "material": "ball"},
            {"type": "mesh", "material": "ball", "file": tr.Mesh(corners, [[0, 1, 2]], uvs=corners[:, :2])},
        ],
    }
    np.testing.assert_array_equal(
        torrance.ray.render(values, spp=4, chunk=4).radiance, tr.scene(values).render(spp=4, device="cpu").radiance
    )
    pytest.importorskip("tomllib")
    changed = torrance.ray.render(SCENE, set={"environment.radiance": 2}, chunk=8)
    alone = tr.load(path, set={"environment.radiance": 2}).render(device="cpu")
    np.testing.assert_allclose(changed.radiance, alone.radiance, rtol=1e-6)


def test_mistakes_are_raised_as_they_are(cluster, path):
    with pytest.raises(tr.SceneError, match="nowhere.toml: cannot read the scene: no such file") as raised:
        torrance.ray.render("nowhere.toml", spp=4)
    assert type(raised.value) is tr.SceneError and raised.value.problems[0].message == "cannot read the scene: no such file"
    with pytest.raises(tr.ParameterError, match="seed: expected a whole number"):
        torrance.ray.render(path, spp=4, seed=-1)
    with pytest.raises(tr.ParameterError, match="chunk: expected a whole number"):
        torrance.ray.render(path, spp=4, chunk=0)
    with pytest.raises(tr.ParameterError, match="give its file or its values"):
        torrance.ray.render(tr.load(path), spp=4)
    with pytest.raises(tr.ParameterError, match="cannot be sent"):
        torrance.ray.render({"shapes": [{"type": "mesh", "file": threading.Lock()}]}, spp=4)
    with pytest.raises(tr.ParameterError, match="num_cpus=0 and num_gpus=0"):
        torrance.ray.render(path, spp=4, num_cpus=0)


def test_tasks_with_a_gpu_render_on_it(cluster, path):
    node = cluster.add_node(num_cpus=0, num_gpus=1, object_store_memory=100 << 20)
    try:
        image = torrance.ray.render(path, spp=4, num_gpus=1, num_cpus=0)
        assert not image.attributes["device"].startswith("CPU")
    except tr.DeviceError as error:
        # The node may have none, but it was asked for.
        assert 'device "cuda"' in str(error)
    finally:
        cluster.remove_node(node)


def test_progress_can_stop_and_ctrl_c_keeps_samples(cluster, path):
    image = torrance.ray.render(path, spp=100000, chunk=10, progress=lambda done, target, seconds: done < 50)
    assert 50 <= image.samples.min() < 100000 and image.samples.min() == image.samples.max()

    def interrupt(done, target, seconds):
        if done >= 50:
            raise KeyboardInterrupt

    with pytest.raises(tr.Interrupted) as raised:
        torrance.ray.render(path, size=(256, 192), spp=100000, chunk=40, progress=interrupt)
    assert raised.value.image.samples.min() >= 50
    # The rest is cancelled, and the machines are free again.
    assert soon(lambda: ray.available_resources().get("CPU", 0) == ray.cluster_resources()["CPU"])


def soon(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def test_scenes_stay_in_a_process_for_its_next_task(path):
    sources = [torrance.ray._Source(str(path), False, {}, ".", False, str(key)) for key in range(3)]
    first = torrance.ray._variants(sources[0])
    assert torrance.ray._variants(sources[0]) is first
    assert torrance.ray._variants(sources[1]) is not first
    torrance.ray._variants(sources[2])
    assert torrance.ray._variants(sources[0]) is not first and len(torrance.ray._SCENES) == torrance.ray.KEPT


def test_sweeps_are_those_of_one_process(cluster, path):
    parameters = {"materials.ball.reflectance": [0.2, 0.5, 0.8], "environment.radiance": [0.5, 1]}
    sweep = torrance.ray.sweep(path, parameters, spp=4)
    alone = tr.sweep(path, parameters, spp=4, device="cpu")
    np.testing.assert_allclose(sweep.radiance, alone.radiance, rtol=1e-6)
    for column in (*parameters, "mean", "noise", "spp", "paths"):
        assert sweep.table[column] == alone.table[column]


def test_a_sweep_that_fails_keeps_what_is_done(cluster, path):
    with pytest.raises(tr.ParameterError, match="reflectance") as raised:
        torrance.ray.sweep(path, {"materials.ball.reflectance": [0.2, "much"]}, spp=4)
    assert type(raised.value) is tr.ParameterError and raised.value.sweep[1] is None


def test_suites_have_the_verdicts_of_one_process(cluster, path):
    tr.load(path).render(spp=2048, seed=5, device="cpu").save(path.parent / "reference.exr")
    suite = path.parent / "suite.toml"
    case = '[[case]]\nname = "{}"\nscene = "ball.toml"\nreference = "reference.exr"\nspp = 128\nresolve = "5%"\n{}\n'
    kinds = {"same": "", "not-the-same": "max_depth = 1", "control": 'max_depth = 1\nexpect = "different"', "later": "skip = true"}
    suite.write_text("".join(case.format(*kind) for kind in kinds.items()))
    result, alone = torrance.ray.regress(suite), tr.regress(suite, device="cpu")
    assert [case.status for case in result.cases] == ["passed", "failed", "passed", "skipped"] and not result
    assert [case[:-1] for case in result.cases] == [case[:-1] for case in alone.cases]
    assert result.report.keys() == alone.report.keys()
    for key in ("level", "interrupted", "passed", "failed", "errors", "skipped", "not_run"):
        assert result.report[key] == alone.report[key]
    first = torrance.ray.regress(suite, num_cpus=1, progress=lambda done, target, seconds: False)
    assert first.report["interrupted"] and not first and len(first.cases) == 4 and "not run" in first.table["status"]
    with pytest.raises(tr.TorranceError, match="no such case"):
        torrance.ray.regress(suite, filter="nothing")


def test_the_module_says_how_to_get_ray():
    program = "import sys; sys.modules['ray'] = None; import torrance.ray"
    done = subprocess.run([os.sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "pip install ray" in done.stderr
