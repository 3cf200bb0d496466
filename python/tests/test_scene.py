"""Scenes and their parameters."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from conftest import SCENES, VALUES, resident, same

import torrance as tr

CPU = {"device": "cpu"}
TETRAHEDRON = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def with_mesh(file) -> dict:
    return {**VALUES, "shapes": [{"type": "mesh", "name": "m", "file": file, "material": "grey"}, *VALUES["shapes"][1:]]}


def test_a_changed_parameter_gives_the_image_of_a_new_scene(scene):
    images = [scene.render(**CPU)]
    for path, value in [
        ("materials.gold.roughness", 0.31),
        ("materials.grey.reflectance", [0.5, 0.4, 0.1]),
        ("shapes.ball.center", [0.2, 0, 0]),
        ("shapes.lamp.emission", 3.0),
        ("camera.fov", np.float32(38)),
        ("environment.radiance", 0.1),
        ("render.max_depth", 2),
        ("materials.gold", {"type": "diffuse", "reflectance": 0.2}),
    ]:
        scene.params[path] = value
        image = scene.render(**CPU)
        assert all(not same(image, before) for before in images), path
        images.append(image)
    fresh = tr.scene(VALUES)
    for path in scene.paths():
        if not path.startswith("materials.gold") and path in fresh.params:
            fresh.params[path] = scene.params[path]
    fresh.params["materials.gold"] = {"type": "diffuse", "reflectance": 0.2}
    assert same(fresh.render(**CPU), images[-1])


def test_parameters_can_be_read(scene):
    assert scene.params["materials.gold.roughness"] == 0.3
    assert scene.params["render.size"] == [48, 32]
    assert "materials.gold.roughness" in scene.paths() and "materials.gold.roughness" in scene.params
    assert "from" in scene.params.takes("materials.gold.roughness")
    assert "materials.silver.roughness" not in scene.params


def test_wrong_parameters_say_what_would_be_right(scene):
    before = scene.render(**CPU)
    for path, value, message in [
        ("materials.gld.roughness", 0.1, "gold"),
        ("materials.gold.rughness", 0.1, 'did you mean "materials.gold.roughness"'),
        ("materials.gold.roughness", "rough", "roughness"),
        ("materials.gold.roughness", -1.0, "roughness"),
        ("render.spp", object(), "cannot be a value"),
    ]:
        with pytest.raises(tr.ParameterError) as raised:
            scene.params[path] = value
        assert message in str(raised.value), raised.value
    assert same(scene.render(**CPU), before), "nothing was set"


def test_a_copy_has_parameters_of_its_own(scene):
    copy = scene.copy()
    copy.params["materials.gold.roughness"] = 0.7
    assert scene.params["materials.gold.roughness"] == 0.3
    assert not same(scene.render(**CPU), copy.render(**CPU))
    assert same(deepcopy(scene).render(**CPU), scene.render(**CPU))
    with pytest.raises(TypeError, match="send its file or its values"):
        pickle.dumps(scene)


def test_files_have_errors_with_a_place(tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text("[camera]\nposition = [0, 0, 4]\ntargt = [0, 0, 0]\n")
    with pytest.raises(tr.SceneError) as raised:
        tr.load(file)
    assert 'did you mean "target"' in str(raised.value)
    problem = next(problem for problem in raised.value.problems if "targt" in problem.message)
    assert (problem.file, problem.line) == (str(file), 3)
    with pytest.raises(tr.SceneError, match="no such file"):
        tr.load(tmp_path / "none.toml")


def test_load_sets_parameters():
    scene = tr.load(SCENES / "cornell.toml", set={"materials.red.reflectance": [0.1, 0.2, 0.3]})
    assert np.allclose(scene.params["materials.red.reflectance"], [0.1, 0.2, 0.3])


def test_a_mesh_of_arrays_is_that_of_a_file(tmp_path):
    vertices, faces = TETRAHEDRON
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    (tmp_path / "mesh.obj").write_text("\n".join(lines))
    of_file = tr.scene(with_mesh("mesh.obj"), folder=tmp_path).render(**CPU)
    scene = tr.scene(with_mesh(tr.Mesh(vertices, faces)))
    assert same(scene.render(**CPU), of_file)
    scene.params["shapes.m.file"] = tr.Mesh(np.array(vertices) * 1.1, np.array(faces, np.int64))
    assert not same(scene.render(**CPU), of_file)
    scene.params["shapes.m.file"] = tr.Mesh(vertices, faces)
    assert same(scene.render(**CPU), of_file)


def test_copies_have_meshes_of_their_own():
    vertices, faces = np.array(TETRAHEDRON[0], float), TETRAHEDRON[1]
    scene = tr.scene(with_mesh(tr.Mesh(vertices, faces)))
    copy, images = scene.copy(), []
    for one, scale in [(scene, 0.5), (copy, 2.0), (scene, 3.0)]:
        one.params["shapes.m.file"] = tr.Mesh(scale * vertices, faces)
        images.append(one.render(**CPU))
    scene.params["camera.fov"] = 41.0
    copy.params["camera.fov"] = 40.0
    assert same(copy.render(**CPU), images[1]), "no mesh of another"
    scene.params["camera.fov"] = 40.0
    assert same(scene.render(**CPU), images[2])
    assert not same(images[0], images[1]) and not same(images[1], images[2])


def test_meshes_and_textures_can_be_pickled():
    vertices, faces = np.array(TETRAHEDRON[0], float), TETRAHEDRON[1]
    mesh = tr.Mesh(vertices, faces, normals=vertices - 0.25, uvs=vertices[:, :2], colors=vertices)
    for made in [mesh, tr.Texture(np.arange(24, dtype=np.uint8).reshape(2, 3, 4)), tr.Texture(np.ones((2, 3, 3)))]:
        again = pickle.loads(pickle.dumps(made))
        before, after = made._asset.arrays(), again._asset.arrays()
        assert len(before) == len(after) and all(np.array_equal(a, b) for a, b in zip(before, after))
    values = with_mesh(tr.Mesh(vertices, faces, normals=vertices - 0.25))
    assert same(tr.scene(pickle.loads(pickle.dumps(values))).render(**CPU), tr.scene(values).render(**CPU))


@pytest.mark.parametrize("way", ["path", "dict", "mistake"])
def test_meshes_that_are_replaced_are_forgotten(way):
    vertices, faces = np.array(TETRAHEDRON[0], float), TETRAHEDRON[1]
    scene = tr.scene(with_mesh(tr.Mesh(vertices, faces)))
    many = np.zeros((1_000_000, 3), np.float32)
    many[: len(vertices)] = vertices
    sizes = []
    for i in range(30):
        many[0] = 0.01 * i
        mesh = tr.Mesh(many, faces)
        if way == "path":
            scene.params["shapes.m.file"] = mesh
        elif way == "dict":
            scene.params["shapes.m"] = {"type": "mesh", "file": mesh, "material": "grey"}
        else:
            with pytest.raises(tr.ParameterError):
                scene.params["shapes.none.file"] = mesh
        sizes.append(resident())
    assert max(sizes[10:]) < max(sizes[:10]) + 100e6, "thirty of 12 MB"


def test_smooth_normals_of_a_mesh_are_used():
    vertices, faces = TETRAHEDRON
    flat = tr.scene(with_mesh(tr.Mesh(vertices, faces))).render(**CPU)
    normals = np.array(vertices) - 0.25
    assert not same(tr.scene(with_mesh(tr.Mesh(vertices, faces, normals=normals))).render(**CPU), flat)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([[0, 0], [1, 0]], [[0, 1, 1]]), "vertices: expected numbers, (N, 3)"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]]), "faces: row 0 is [0, 1, 3]"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, -1]]), "faces: row 0"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0.0, 1.0, 2.0]]), "faces: expected integers"),
        (([[0, 0, np.nan], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), "vertices: row 0 is not finite"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], [[0, 0, 1]]), "normals: 1 rows for 3 vertices"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.zeros((0, 3), int)), "faces: there are none"),
    ],
)
def test_wrong_meshes_say_why(arguments, message):
    with pytest.raises(tr.ParameterError) as raised:
        tr.Mesh(*arguments)
    assert message in str(raised.value)


def test_textures_of_arrays():
    def with_texture(texels) -> tr.Image:
        materials = {"grey": {"type": "diffuse", "reflectance": {"texture": "t"}}, "gold": VALUES["materials"]["gold"]}
        values = {**VALUES, "materials": materials, "textures": {"t": {"file": texels}}}
        return tr.scene(values).render(**CPU)

    floats = with_texture(np.full((4, 4, 3), 0.5, np.float32))
    plain = tr.scene(VALUES).render(**CPU)
    assert np.allclose(floats.radiance, plain.radiance, rtol=1e-4)
    # Bytes are sRGB: 188 is about half.
    assert np.allclose(with_texture(np.full((4, 4), 188, np.uint8)).radiance, plain.radiance, rtol=0.02)
    assert not np.allclose(with_texture(np.full((4, 4), 128, np.uint8)).radiance, plain.radiance, rtol=0.02)
    for texels in [np.zeros((4, 4, 2)), np.zeros(3), np.zeros((0, 4, 3)), np.zeros((2, 2, 3), complex)]:
        with pytest.raises(tr.ParameterError):
            tr.Texture(texels)
    with pytest.raises(tr.ParameterError, match=r"texel \[1, 0\] is NaN"):
        tr.Texture(np.array([[[0, 0, 0]], [[np.nan, 0, 0]]], np.float32))


def test_a_type_can_be_changed(scene):
    scene.params["materials.grey.type"] = "dielectric"
    glass = scene.render(**CPU)
    values = {**VALUES, "materials": {**VALUES["materials"], "grey": {"type": "dielectric"}}}
    assert same(glass, tr.scene(values).render(**CPU))
