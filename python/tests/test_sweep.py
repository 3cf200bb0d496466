"""Sweeps against the same scenes rendered one by one."""

import threading

import numpy as np
import pytest

import torrance as tr
from torrance.image import Image

SIZE = (16, 12)


def ball(**material):
    """A ball in even light."""
    return {
        "render": {"size": [32, 24], "spp": 4},
        "camera": {"position": [0, 0, 3], "target": [0, 0, 0], "fov": 50},
        "environment": {"radiance": 1},
        "materials": {"ball": {"type": "diffuse", "reflectance": 0.5, **material}},
        "shapes": [{"name": "ball", "type": "sphere", "material": "ball"}],
    }


def rendered(values, **parameters):
    scene = tr.scene(values)
    scene.params.update(parameters)
    return scene.render(size=SIZE, device="cpu").radiance


REFLECTANCE, RADIANCE = "materials.ball.reflectance", "environment.radiance"


def test_a_grid_has_the_images_of_its_variants():
    grid = {REFLECTANCE: np.linspace(0.2, 0.8, 3), RADIANCE: [1, 2]}
    sweep = tr.sweep(tr.scene(ball()), grid, size=SIZE, device="cpu")
    assert sweep.shape == sweep.images.shape == (3, 2) and len(sweep) == 6 and not sweep.interrupted
    assert sweep.radiance.shape == (3, 2, 12, 16, 3)
    for i, reflectance in enumerate((0.2, 0.5, 0.8)):
        for j, radiance in enumerate((1, 2)):
            alone = rendered(ball(), **{REFLECTANCE: reflectance, RADIANCE: radiance})
            np.testing.assert_array_equal(sweep.radiance[i, j], alone)
            assert sweep[i, j] is sweep[2 * i + j]
    assert not np.array_equal(sweep.radiance[0, 0], sweep.radiance[0, 1])


def test_parameters_change_together():
    sweep = tr.sweep(tr.scene(ball()), {REFLECTANCE: [0.2, 0.8], RADIANCE: [1, 2]}, zip=True, size=SIZE, device="cpu")
    assert sweep.shape == (2,)
    np.testing.assert_array_equal(sweep.radiance[1], rendered(ball(), **{REFLECTANCE: 0.8, RADIANCE: 2}))


def test_a_variant_does_not_depend_on_those_before_it():
    # That material has no reflectance; the diffuse ball after it has that of the scene all the same.
    kinds = tr.sweep(tr.scene(ball(reflectance=0.1)), {"materials.ball.type": ["principled", "diffuse"]}, size=SIZE, device="cpu")
    np.testing.assert_array_equal(kinds.radiance[1], rendered(ball(reflectance=0.1)))
    assert not np.array_equal(kinds.radiance[1], rendered(ball()))


def test_meshes_are_values():
    corners = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]])
    triangles = [tr.Mesh(corners * scale, [[0, 1, 2]]) for scale in (0.1, 1)]
    values = {**ball(reflectance=0), "shapes": [{"name": "t", "type": "mesh", "file": triangles[0], "material": "ball"}]}
    small, large = tr.sweep(tr.scene(values), {"shapes.t.file": triangles}, size=SIZE, device="cpu").table["mean"]
    assert small > 1.1 * large


def test_meshes_of_two_shapes_change_together():
    corners = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]])
    meshes = [tr.Mesh(corners * scale, [[0, 1, 2]]) for scale in (0.1, 1)]
    shapes = [{"name": name, "type": "mesh", "file": meshes[0], "material": "ball"} for name in "ab"]
    scene = tr.scene({**ball(reflectance=0), "shapes": shapes})
    parameters = {"shapes.a.file": [meshes[0], meshes[1]], "shapes.b.file": [meshes[0], meshes[0]]}
    small, large = tr.sweep(scene, parameters, zip=True, size=SIZE, device="cpu").table["mean"]
    assert small > 1.1 * large


def test_files_are_read_and_vectors_are_values(tmp_path):
    path = tmp_path / "ball.toml"
    path.write_text(
        "camera = { position = [0, 0, 3], target = [0, 0, 0], fov = 50 }\nenvironment = { radiance = 1 }\n"
        'materials.ball = { type = "diffuse", reflectance = 0.5 }\nshapes = [{ type = "sphere", material = "ball" }]\n'
    )
    colours = np.array([[1.0, 0, 0], [0, 1, 0]])
    sweep = tr.sweep(path, {REFLECTANCE: colours}, size=SIZE, spp=2, device="cpu")
    assert sweep.table["mean_r"][0] > sweep.table["mean_g"][0] and sweep.table["mean_r"][1] < sweep.table["mean_g"][1]


def test_the_table_has_parameters_and_figures():
    sweep = tr.sweep(tr.scene(ball()), {REFLECTANCE: [0.25, 0.5]}, size=SIZE, spp=3, device="cpu")
    table = sweep.table
    assert table[REFLECTANCE] == [0.25, 0.5] and table["spp"] == [3, 3] and table["paths"] == [576, 576]
    means = sweep.radiance.mean(axis=(1, 2), dtype=np.float64)
    np.testing.assert_allclose(np.transpose([table[f"mean_{c}"] for c in "rgb"]), means)
    np.testing.assert_allclose(table["mean"], means @ [0.2126, 0.7152, 0.0722])
    assert table["noise"] == [image.noise for image in sweep] and min(table["seconds"]) > 0


def test_tables_become_data_frames():
    pytest.importorskip("pandas")
    frame = tr.sweep(tr.scene(ball()), {REFLECTANCE: [0.25, 0.5]}, size=SIZE, device="cpu").to_pandas()
    assert list(frame[REFLECTANCE]) == [0.25, 0.5] and frame["mean"].is_monotonic_increasing


def test_the_scene_stays_as_it_was():
    scene = tr.scene(ball())
    before = dict(scene.params)
    tr.sweep(scene, {"materials.ball.type": ["principled"], "camera.lens.radius": [0.1]}, size=SIZE, device="cpu")
    assert dict(scene.params) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "no parameter"),
        ({REFLECTANCE: 0.5}, "expected a list of values, not 0.5"),
        ({REFLECTANCE: "red"}, "expected a list of values, not 'red'"),
        ({REFLECTANCE: []}, "there are no values"),
        ({"materials.bal.reflectance": [0.5]}, "bal"),
        ({REFLECTANCE: [0.5, "much"]}, "reflectance"),
    ],
)
def test_mistakes_are_found_before_anything_is_rendered(parameters, message, monkeypatch):
    monkeypatch.setattr(tr.Scene, "render", lambda *_, **__: pytest.fail("it renders"))
    with pytest.raises(tr.ParameterError, match=message):
        tr.sweep(tr.scene(ball()), parameters)


def test_parameters_that_change_together_need_as_many_values():
    with pytest.raises(tr.ParameterError, match="reflectance has 2, environment.radiance has 1"):
        tr.sweep(tr.scene(ball()), {REFLECTANCE: [0.1, 0.2], RADIANCE: [1]}, zip=True)


def fails_at(monkeypatch, count, error):
    """Lets the render of one variant fail."""
    render, calls = tr.Scene.render, iter(range(100))

    def failing(scene, *arguments, **options):
        if next(calls) == count:
            raise error
        return render(scene, *arguments, **options)

    monkeypatch.setattr(tr.Scene, "render", failing)


@pytest.mark.parametrize("error", [tr.DeviceError("it melted"), KeyboardInterrupt()])
def test_an_error_keeps_what_is_done(error, monkeypatch):
    fails_at(monkeypatch, 2, error)
    scene = tr.scene(ball())
    before = dict(scene.params)
    with pytest.raises(type(error)) as raised:
        tr.sweep(scene, {REFLECTANCE: [0.1, 0.2, 0.3, 0.4]}, size=SIZE, device="cpu")
    sweep = raised.value.sweep
    assert [image is None for image in sweep] == [False, False, True, True] and sweep.interrupted
    assert sweep.table[REFLECTANCE] == [0.1, 0.2] and np.isnan(sweep.radiance[2:]).all()
    assert sweep.sheet().shape == (12, 4 * 20 - 4, 3) and "2 not rendered" in repr(sweep) and "–" in sweep._repr_html_()
    assert dict(scene.params) == before


def test_progress_is_told_and_can_stop():
    told = []

    def observe(done, count, seconds):
        assert threading.current_thread() is threading.main_thread()
        told.append((done, count))
        return done < 2

    sweep = tr.sweep(tr.scene(ball()), {REFLECTANCE: np.linspace(0.1, 0.9, 50)}, spp=2000, device="cpu", progress=observe)
    assert sweep.interrupted and len(sweep.table[REFLECTANCE]) < 50
    assert all(count == 50 for _, count in told) and told == sorted(told)


def test_several_devices_share_the_variants():
    parameters = {REFLECTANCE: np.linspace(0.1, 0.9, 7)}
    sweep = tr.sweep(tr.scene(ball()), parameters, size=SIZE, device="cpu+cpu")
    alone = tr.sweep(tr.scene(ball()), parameters, size=SIZE, device="cpu")
    np.testing.assert_array_equal(sweep.radiance, alone.radiance)


def test_names_of_several_devices(monkeypatch):
    module = __import__("sys").modules["torrance.sweep"]
    monkeypatch.setattr(module._torrance, "gpus", lambda: [(f"cuda:{i}", "a GPU") for i in range(3)])
    names = {"auto": ["auto"], "cuda:0,2": ["cuda:0", "cuda:2"], "cuda:all+cpu": ["cuda:0", "cuda:1", "cuda:2", "cpu"]}
    assert {name: module._devices(name) for name in names} == names


def test_sheets_have_the_images_in_place(tmp_path):
    sweep = tr.sweep(tr.scene(ball()), {REFLECTANCE: [0.2, 0.5, 0.8], RADIANCE: [0.5, 1]}, size=SIZE, device="cpu")
    sheet = sweep.sheet(gap=2)
    assert sheet.dtype == np.uint8 and sheet.shape == (3 * 14 - 2, 2 * 18 - 2, 3)
    np.testing.assert_array_equal(sheet[28:40, 18:34], sweep[2, 1].tonemap())
    assert not sheet[12:14].any()
    sweep.save(tmp_path / "sheet.png", cols=6, gap=0)
    saved = tr.read(tmp_path / "sheet.png")
    assert (saved.height, saved.width) == (12, 96)
    expected = np.concatenate([image.tonemap() for image in sweep], axis=1)
    np.testing.assert_array_equal(saved.tonemap(), expected)


def test_notebooks_show_every_image():
    shown = tr.sweep(tr.scene(ball()), {REFLECTANCE: [0.2, 0.5], RADIANCE: [0.5, 1]}, size=(400, 300), spp=1, device="cpu")
    page = shown._repr_html_()
    assert page.count("<img") == 4 and page.count("<tr>") == 2 and "reflectance 0.2, radiance 0.5" in page
    assert isinstance(shown[0], Image) and shown[0].width == 400
