#!/usr/bin/env python3
"""Makes the models of glTF by which the reader is tested, as .glb files in `tests/references/gltf-*`.

Needs `pip install numpy pillow`. What each model is for stands at its function.
"""

import io
import json
import math
import struct
from pathlib import Path

import numpy as np
from PIL import Image

REFERENCES = Path(__file__).resolve().parent.parent / "references"
COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
REPEAT, CLAMP, MIRROR, NEAREST, LINEAR = 10497, 33071, 33648, 9728, 9729


class Model:
    """A glTF document with one buffer."""

    def __init__(self):
        self.binary = bytearray()
        self.json = {"asset": {"version": "2.0", "generator": "tests/gltf/make_models.py"}, "scene": 0, "scenes": [{"nodes": []}]}
        self.used = set()

    def add(self, what, value):
        values = self.json.setdefault(what, [])
        values.append(value)
        return len(values) - 1

    def view(self, data, stride=None):
        self.binary += bytes(-len(self.binary) % 4)
        view = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)}
        if stride:
            view["byteStride"] = stride
        self.binary += data
        return self.add("bufferViews", view)

    def accessor(self, array, kind="f4", normalized=False, bounds=False, **more):
        array = np.asarray(array)
        if array.ndim == 1:
            array = array[:, None]
        array = array.astype("<" + kind)
        size = array.itemsize * array.shape[1]
        stride = size + -size % 4 if array.shape[1] > 1 else None
        padded = np.zeros((len(array), stride or size), np.uint8)
        padded[:, :size] = array.view(np.uint8).reshape(len(array), size)
        accessor = {"componentType": COMPONENTS[kind], "count": len(array), "type": KINDS[array.shape[1]]}
        if "sparse" not in more:
            accessor["bufferView"] = self.view(padded.tobytes(), stride)
        if normalized:
            accessor["normalized"] = True
        if bounds:
            accessor["min"], accessor["max"] = array.min(0).tolist(), array.max(0).tolist()
        return self.add("accessors", accessor | more)

    def image(self, pixels, sampler=None, jpeg=False):
        """A texture of an array of bytes."""
        file = io.BytesIO()
        image = Image.fromarray(np.asarray(pixels, np.uint8))
        image.save(file, "JPEG", quality=97, subsampling=0) if jpeg else image.save(file, "PNG", optimize=True)
        mime = "image/jpeg" if jpeg else "image/png"
        source = self.add("images", {"bufferView": self.view(file.getvalue()), "mimeType": mime})
        texture = {"source": source}
        if sampler:
            wrap, filter = sampler
            texture["sampler"] = self.add("samplers", {"wrapS": wrap, "wrapT": wrap, "magFilter": filter, "minFilter": filter})
        return self.add("textures", texture)

    def material(self, **material):
        return self.add("materials", {"doubleSided": True} | material)

    def diffuse(self, color, **more):
        """A Lambertian surface: a dielectric that reflects nothing."""
        pbr = {"metallicFactor": 0, "baseColorFactor": [*color, 1]} | more.pop("pbr", {})
        return self.material(pbrMetallicRoughness=pbr, extensions={"KHR_materials_specular": {"specularFactor": 0}}, **more)

    def lamp(self, strength):
        extensions = {"KHR_materials_specular": {"specularFactor": 0}, "KHR_materials_emissive_strength": {"emissiveStrength": strength}}
        pbr = {"metallicFactor": 0, "baseColorFactor": [0, 0, 0, 1]}
        return self.material(pbrMetallicRoughness=pbr, emissiveFactor=[1, 0.9, 0.8], extensions=extensions)

    def primitive(self, material, indices=None, mode=None, **attributes):
        primitive = {"attributes": attributes, "material": material}
        if indices is not None:
            primitive["indices"] = indices
        if mode is not None:
            primitive["mode"] = mode
        return primitive

    def mesh(self, *primitives):
        return self.add("meshes", {"primitives": list(primitives)})

    def node(self, parent=None, **node):
        index = self.add("nodes", node)
        siblings = self.json["scenes"][0]["nodes"] if parent is None else self.json["nodes"][parent].setdefault("children", [])
        siblings.append(index)
        return index

    def quad(self, material, uv=None, normal=True, name="TEXCOORD_0", **more):
        """The square [-1, 1]² at z = 0 as a mesh."""
        corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
        attributes = {"POSITION": self.accessor(corners, bounds=True)} | more
        if normal:
            attributes["NORMAL"] = self.accessor([[0, 0, 1]] * 4)
        if uv is not None:
            attributes[name] = self.accessor(uv)
        return self.mesh(self.primitive(material, self.accessor([0, 1, 2, 0, 2, 3], "u2"), **attributes))

    def camera(self, eye, target, perspective=None, orthographic=None):
        camera = {"type": "perspective", "perspective": {"aspectRatio": 4 / 3, "znear": 0.01, "zfar": 100} | (perspective or {})}
        if orthographic:
            camera = {"type": "orthographic", "orthographic": {"znear": 0.01, "zfar": 100} | orthographic}
        self.node(camera=self.add("cameras", camera), matrix=look_at(eye, target))

    def write(self, name):
        used = sorted(extensions(self.json) | self.used)
        if used:
            self.json["extensionsUsed"] = used
        required = [e for e in used if e in ("KHR_mesh_quantization", "KHR_texture_transform", "EXT_mesh_gpu_instancing")]
        if required:
            self.json["extensionsRequired"] = required
        self.json["buffers"] = [{"byteLength": len(self.binary)}]
        text = json.dumps(self.json, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        binary = bytes(self.binary) + bytes(-len(self.binary) % 4)
        body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
        path = REFERENCES / f"gltf-{name}" / "scene.glb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)
        print(path.relative_to(REFERENCES), path.stat().st_size, "bytes")


def extensions(value):
    """Names of extensions that are used within a value."""
    if isinstance(value, list):
        return set().union(*map(extensions, value))
    if isinstance(value, dict):
        return set(value.get("extensions", {})).union(*map(extensions, value.values()))
    # Not said anywhere else: positions that are no floats are one.
    return set()


def look_at(eye, target, up=(0, 1, 0)):
    """The matrix, column by column, of a node whose -z points to the target."""
    back = np.subtract(eye, target) / np.linalg.norm(np.subtract(eye, target))
    right = np.cross(up, back) / np.linalg.norm(np.cross(up, back))
    matrix = np.eye(4)
    matrix[:3] = np.column_stack([right, np.cross(back, right), back, eye])
    return matrix.T.flatten().round(9).tolist()


def turn(axis, degrees):
    """A rotation as glTF has it."""
    half = math.radians(degrees) / 2
    return [*(math.sin(half) * np.asarray(axis, float) / np.linalg.norm(axis)), math.cos(half)]


def sphere(columns, rows):
    """Positions, normals, texture coordinates and indices of a unit sphere around y."""
    u, v = np.meshgrid(np.linspace(0, 1, columns + 1), np.linspace(0, 1, rows + 1))
    phi, theta = 2 * np.pi * u.ravel(), np.pi * v.ravel()
    points = np.column_stack([np.sin(theta) * np.sin(phi), np.cos(theta), np.sin(theta) * np.cos(phi)])
    at = lambda i, j: j * (columns + 1) + i
    cells = [(at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)) for j in range(rows) for i in range(columns)]
    return points, points, np.column_stack([u.ravel(), v.ravel()]), [k for a, b, c, d in cells for k in (a, b, c, a, c, d)]


def room(model, color=(0.7, 0.7, 0.7), strength=8):
    """A floor and a wall, and a lamp above the camera."""
    plain = model.quad(model.diffuse(color))
    model.node(mesh=plain, name="floor", rotation=turn([1, 0, 0], -90), scale=[6, 6, 1])
    wall = model.quad(model.diffuse([c * 0.8 for c in color]))
    model.node(mesh=wall, name="wall", translation=[0, 6, -3], scale=[6, 6, 1])
    model.node(mesh=model.quad(model.lamp(strength)), name="lamp", translation=[1, 5, 4], rotation=turn([1, 0, 0], 130), scale=[1.5, 1, 1])


def pattern(size, alpha=False):
    """Blocks of colours, none like another, so that whatever is turned, mirrored or moved is seen."""
    j, i = np.mgrid[:size, :size]
    pixels = np.stack([40 + 190 * i // size, 30 + 200 * j // size, 60 + 150 * ((i + 2 * j) % 3 == 0)], -1)
    pixels[: size // 4, : size // 4] = [230, 40, 40]
    if alpha:
        pixels = np.dstack([pixels, 255 * ((i - size / 2 + 0.5) ** 2 + (j - size / 2 + 0.5) ** 2 < (0.4 * size) ** 2)])
    return pixels


def textures():
    """Embedded PNG and JPEG; wrap modes, nearest texels, KHR_texture_transform; a second set of coordinates; a mask and a blend."""
    m = Model()
    room(m)
    smooth = np.stack([*np.meshgrid(np.linspace(40, 220, 128), np.linspace(220, 60, 128)), np.full((128, 128), 120.0)], -1)
    photo = m.image(smooth, (CLAMP, LINEAR), jpeg=True)
    tiles = [
        ({"index": m.image(pattern(8), (REPEAT, NEAREST))}, [[0, 1], [1, 1], [1, 0], [0, 0]], {}),
        ({"index": photo, "extensions": {"KHR_texture_transform": {"offset": [-0.2, 0.1], "scale": [1.2, 0.8]}}}, [[0, 1], [1, 1], [1, 0], [0, 0]], {}),
        ({"index": m.image(pattern(8), (MIRROR, NEAREST)), "extensions": {"KHR_texture_transform": {"rotation": 0.5, "offset": [0.1, 0.3], "scale": [2.3, 1.7]}}}, [[0, 1], [1, 1], [1, 0], [0, 0]], {}),
        ({"index": m.image(pattern(8), (REPEAT, NEAREST)), "texCoord": 1}, [[-0.5, 2], [1.5, 2], [1.5, 0], [-0.5, 0]], {}),
        ({"index": m.image(pattern(16, True), (CLAMP, NEAREST))}, [[0, 1], [1, 1], [1, 0], [0, 0]], {"alphaMode": "MASK", "alphaCutoff": 0.4}),
        ({"index": m.image(np.dstack([pattern(8), np.mgrid[:8, :8][1] * 30 + 20]), (CLAMP, NEAREST))}, [[0, 1], [1, 1], [1, 0], [0, 0]], {"alphaMode": "BLEND"}),
    ]
    for k, (texture, uv, more) in enumerate(tiles):
        material = m.diffuse([0.9, 0.9, 0.9], pbr={"baseColorTexture": texture}, **more)
        other = {"TEXCOORD_0": m.accessor([[0, 0]] * 4)} if "texCoord" in texture else {}
        mesh = m.quad(material, uv, name=f"TEXCOORD_{texture.get('texCoord', 0)}", **other)
        m.node(mesh=mesh, name=f"tile {k}", translation=[2.3 * (k % 3) - 2.3, 3.4 - 2.3 * (k // 3), 0.4 * (k % 2)], rotation=turn([0, 1, 0], 20 * (k % 3 - 1)))
    m.camera([0, 2.4, 9], [0, 2.2, 0], {"yfov": 0.66})
    m.write("textures")


def transforms():
    """Nodes that mirror, turn and scale unevenly, one below the other, and so shear; a mesh in several places, by nodes and by instancing."""
    m = Model()
    room(m)
    box = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    corners = np.concatenate([box * [1, 0.3, 0.4], box * [0.3, 0.9, 0.4] + [0, 0.3, 0]])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [k + o for o in (0, 8) for a, b, c, d in faces for k in (a, b, c, a, c, d)]
    flat = m.mesh(m.primitive(m.diffuse([0.7, 0.3, 0.2]), POSITION=m.accessor(corners[triangles], bounds=True)))
    points, normals, _, indices = sphere(32, 16)
    ball = m.mesh(m.primitive(m.diffuse([0.2, 0.5, 0.7]), m.accessor(indices, "u2"), POSITION=m.accessor(points, bounds=True), NORMAL=m.accessor(normals)))
    parent = m.node(name="uneven", translation=[-1.7, 0.2, 0], scale=[1.2, 0.8, 0.6], rotation=turn([0, 1, 0], 30))
    m.node(parent, name="L", mesh=flat)
    m.node(parent, name="mirrored L", mesh=flat, translation=[-0.4, 1.2, 0], scale=[-1, 1, 1], rotation=turn([0, 0, 1], 25))
    m.node(parent, name="ellipsoid", mesh=ball, translation=[0.3, 1.9, 0.5], scale=[0.5, -0.8, 0.4], rotation=turn([1, 1, 0], 40))
    # Unevenly scaled after it was turned, it is sheared.
    tall = m.node(name="tall", matrix=[0.8, 0, 0.5, 0, 0, 1.5, 0, 0, 0.5, 0, -0.8, 0, 0.9, 0.3, 0.9, 1])
    m.node(tall, name="sheared L", mesh=flat, rotation=turn([0, 0, 1], 35))
    attributes = {
        "TRANSLATION": m.accessor([[0.4 + 0.7 * k, 2.2 + 0.3 * math.sin(k), 0.3 * k - 0.5] for k in range(4)]),
        "ROTATION": m.accessor([turn([1, k, 2], 40 * k) for k in range(4)]),
        "SCALE": m.accessor([[0.3 + 0.03 * k, 0.2, 0.35 - 0.05 * k] for k in range(4)]),
    }
    small = m.mesh(m.primitive(m.diffuse([0.6, 0.6, 0.2]), m.accessor(indices, "u2"), POSITION=m.accessor(points, bounds=True), NORMAL=m.accessor(normals)))
    m.node(name="instances", mesh=small, extensions={"EXT_mesh_gpu_instancing": {"attributes": attributes}})
    m.camera([0.3, 2.2, 8.5], [0, 1.6, 0], {"yfov": 0.66})
    m.write("transforms")


def colors():
    """Colours of vertices: floats, normalised bytes and shorts, with a factor and with a texture."""
    m = Model()
    room(m)
    four = np.array([[1, 0.1, 0.1], [0.1, 1, 0.1], [0.1, 0.1, 1], [0.9, 0.9, 0.2]])
    texture = {"index": m.image(pattern(4), (REPEAT, NEAREST))}
    kinds = [
        dict(COLOR_0=m.accessor(four), material=m.diffuse([1, 1, 1])),
        dict(COLOR_0=m.accessor(np.round(np.column_stack([four, np.ones(4)]) * 255), "u1", True), material=m.diffuse([0.5, 0.9, 0.7])),
        dict(COLOR_0=m.accessor(np.round(four * 65535), "u2", True), material=m.diffuse([0.9, 0.9, 0.9], pbr={"baseColorTexture": texture})),
    ]
    for k, attributes in enumerate(kinds):
        mesh = m.quad(attributes.pop("material"), [[0, 1], [1, 1], [1, 0], [0, 0]], **attributes)
        m.node(mesh=mesh, name=f"tile {k}", translation=[2.3 * k - 2.3, 1.7, 0], rotation=turn([1, 0, 0], -10))
    m.camera([0, 2.0, 9.5], [0, 1.6, 0], {"yfov": 0.6})
    m.write("colors")


def accessors():
    """Sparse accessors with and without a base, interleaved and quantised vertices, strips and fans, all types of index,
    normals and tangents that are missing."""
    m = Model()
    room(m)
    # A fan, flat: eight corners around a middle, every other one moved inwards by a sparse accessor.
    around = [[math.cos(k * math.pi / 4), math.sin(k * math.pi / 4), 0] for k in range(9)]
    moved = [1, 3, 5, 7]
    values = m.view(np.array([[0.4 * x for x in around[k - 1][:2]] + [0.3] for k in (2, 4, 6, 8)], "<f4").tobytes())
    base = m.accessor([[0, 0, 0]] + around, bounds=True)
    m.json["accessors"][base] |= {"sparse": {"count": 4, "indices": {"bufferView": m.view(np.array([2, 4, 6, 8], "u1").tobytes()), "componentType": 5121}, "values": {"bufferView": values}}}
    m.node(mesh=m.mesh(m.primitive(m.diffuse([0.8, 0.4, 0.2]), mode=6, POSITION=base)), name="fan", translation=[-2.4, 1.6, 0.3], rotation=turn([0, 1, 0], 30))
    # A triangle and more of nothing but a sparse accessor: all else is at the origin.
    corners = np.array([[1, 0, 0], [0, 1.4, 0], [-1, 0, 0.4]], "<f4")
    sparse = {"count": 3, "indices": {"bufferView": m.view(np.array([1, 2, 4], "<u2").tobytes()), "componentType": 5123}, "values": {"bufferView": m.view(corners.tobytes())}}
    zeros = m.accessor(np.zeros((6, 3)), sparse=sparse)
    m.json["accessors"][zeros] |= {"min": [-1, 0, 0], "max": [1, 1.4, 0.4]}
    m.node(mesh=m.mesh(m.primitive(m.diffuse([0.3, 0.7, 0.3]), m.accessor([1, 2, 4, 0, 1, 4], "u1"), POSITION=zeros)), name="sparse", translation=[-0.9, 2.6, 0])
    # A wavy strip, its positions and normals by turns in one view.
    rows = np.array([[[0.25 * i, y, 0.2 * math.sin(0.9 * i)] for y in (0, 1)] for i in range(12)], float).reshape(-1, 3)
    slopes = np.array([[[-0.2 * 0.9 * math.cos(0.9 * i) / 0.25, 0, 1]] * 2 for i in range(12)], float).reshape(-1, 3)
    slopes /= np.linalg.norm(slopes, axis=1)[:, None]
    both = m.view(np.column_stack([rows, slopes]).astype("<f4").tobytes(), 24)
    common = {"bufferView": both, "componentType": 5126, "count": 24, "type": "VEC3"}
    position = m.add("accessors", common | {"min": rows.min(0).tolist(), "max": rows.max(0).tolist()})
    normal = m.add("accessors", common | {"byteOffset": 12})
    order = [k for i in range(12) for k in (2 * i + 1, 2 * i)]
    strip = m.primitive(m.diffuse([0.3, 0.4, 0.8]), m.accessor(order, "u4"), 5, POSITION=position, NORMAL=normal)
    m.node(mesh=m.mesh(strip), name="strip", translation=[0.2, 2.3, 0])
    # A sphere of shorts, with normals of bytes.
    points, normals, _, indices = sphere(40, 20)
    quantised = dict(POSITION=m.accessor(np.round(points * 30000), "i2", bounds=True), NORMAL=m.accessor(np.round(normals * 127), "i1", True))
    m.node(mesh=m.mesh(m.primitive(m.diffuse([0.8, 0.8, 0.8]), m.accessor(indices, "u2"), **quantised)), name="quantised", translation=[1.2, 0.9, 0.8], scale=[0.9 / 30000] * 3)
    # The same without normals: its faces are seen.
    few, _, _, order = sphere(10, 6)
    m.node(mesh=m.mesh(m.primitive(m.diffuse([0.7, 0.6, 0.3]), m.accessor(order, "u1"), POSITION=m.accessor(few, bounds=True))), name="faceted", translation=[-0.8, 0.8, 1], scale=[0.8] * 3)
    m.used.add("KHR_mesh_quantization")
    m.camera([0, 2.2, 8], [0, 1.7, 0], {"yfov": 0.6})
    m.write("accessors")


def lights():
    """KHR_lights_punctual of each kind over a plane, seen by an orthographic camera."""
    m = Model()
    m.node(mesh=m.quad(m.diffuse([0.6, 0.7, 0.8])), name="floor", rotation=turn([1, 0, 0], -90), scale=[4, 4, 1])
    lights = [
        {"type": "point", "color": [1, 0.6, 0.3], "intensity": 1200},
        {"type": "directional", "color": [0.4, 0.6, 1], "intensity": 400},
        {"type": "spot", "color": [0.7, 1, 0.5], "intensity": 9000, "spot": {"innerConeAngle": 0.2, "outerConeAngle": 0.5}},
    ]
    m.json["extensions"] = {"KHR_lights_punctual": {"lights": lights}}
    places = [look_at([-1.5, 1, 0.5], [0, 0, 0]), look_at([1, 3, 2], [0, 0, 0]), look_at([1.5, 3, -0.5], [0.8, 0, 0.3])]
    for k, matrix in enumerate(places):
        m.node(name=lights[k]["type"], matrix=matrix, extensions={"KHR_lights_punctual": {"light": k}})
    m.camera([0, 6, 5], [0, 0, 0], orthographic={"xmag": 4, "ymag": 3})
    m.write("lights")


def materials():
    """Extensions of materials, on balls in the light of a sun."""
    m = Model()
    points, normals, uvs, indices = sphere(64, 32)
    shared = dict(POSITION=m.accessor(points, bounds=True), NORMAL=m.accessor(np.round(normals * 32767), "i2", True), TEXCOORD_0=m.accessor(np.round(uvs * 65535), "u2", True))
    order = m.accessor(indices, "u2")
    dark = {"baseColorFactor": [0, 0, 0, 1], "metallicFactor": 0}
    metal = {"baseColorFactor": [0.9, 0.6, 0.3, 1], "metallicFactor": 1}
    red = {"baseColorFactor": [0.7, 0.2, 0.1, 1], "metallicFactor": 0}
    halves = np.zeros((1, 2, 4), np.uint8)
    halves[0, 0], halves[0, 1] = [255, 128, 0, 128], [64, 255, 255, 255]
    packed = {"index": m.image(halves, (REPEAT, NEAREST))}
    none = {"KHR_materials_specular": {"specularFactor": 0}}
    balls = [
        dict(pbr=metal | {"roughnessFactor": 0.4}),
        dict(pbr=metal | {"metallicRoughnessTexture": packed, "roughnessFactor": 0.8}, **none),
        dict(pbr=dark | {"roughnessFactor": 0.3}, KHR_materials_ior={"ior": 2.0}),
        dict(pbr=dark | {"roughnessFactor": 0.5}, KHR_materials_specular={"specularFactor": 0.8, "specularColorFactor": [1, 3, 6], "specularTexture": packed}),
        dict(pbr=metal | {"roughnessFactor": 0.35}, KHR_materials_anisotropy={"anisotropyStrength": 0.8, "anisotropyRotation": 0.6}),
        dict(pbr=red, KHR_materials_clearcoat={"clearcoatFactor": 0.9, "clearcoatRoughnessFactor": 0.25, "clearcoatTexture": packed}, **none),
        dict(pbr=red, KHR_materials_sheen={"sheenColorFactor": [0.4, 0.6, 0.9], "sheenRoughnessFactor": 0.5}, **none),
        dict(pbr=red | {"roughnessFactor": 0.6}, KHR_materials_transmission={"transmissionFactor": 0.7, "transmissionTexture": packed}, **none),
        dict(KHR_materials_pbrSpecularGlossiness={"diffuseFactor": [0, 0, 0, 1], "specularFactor": [0.5, 0.3, 0.2], "glossinessFactor": 0.6}),
    ]
    for k, ball in enumerate(balls):
        material = {"pbrMetallicRoughness": ball.pop("pbr")} if "pbr" in ball else {}
        mesh = m.mesh(m.primitive(m.material(**material, extensions=ball), order, **shared))
        m.node(mesh=mesh, name=f"ball {k}", translation=[2.4 * (k % 3) - 2.4, 2.3 - 2.3 * (k // 3), 0])
    m.json["extensions"] = {"KHR_lights_punctual": {"lights": [{"type": "directional", "intensity": 683 * 3}]}}
    m.node(name="sun", matrix=look_at([1, 2, 2.5], [0, 0, 0]), extensions={"KHR_lights_punctual": {"light": 0}})
    m.used.add("KHR_mesh_quantization")
    m.camera([0, 0, 10], [0, 0, 0], orthographic={"xmag": 4.6, "ymag": 3.45})
    m.write("materials")


def emission():
    """What emits and what is not lit, of which neither reflects."""
    m = Model()
    colors = np.array([[[230, 60, 90], [40, 200, 120], [250, 240, 30]]])
    texture = {"index": m.image(colors, (CLAMP, NEAREST))}
    materials = [
        m.lamp(2.5),
        m.material(pbrMetallicRoughness={"baseColorFactor": [0.2, 0.5, 0.9, 1], "baseColorTexture": texture}, extensions={"KHR_materials_unlit": {}}),
    ]
    for k, material in enumerate(materials):
        m.node(mesh=m.quad(material, [[0, 1], [1, 1], [1, 0], [0, 0]]), name=f"tile {k}", translation=[2.3 * k - 1.15, 0, 0], scale=[-1, 1, 1])
    m.json["extensions"] = {"KHR_lights_punctual": {"lights": []}}
    m.camera([0, 0, 4], [0, 0, 0], orthographic={"xmag": 2.4, "ymag": 1.8})
    m.write("emission")


for make in (textures, transforms, colors, accessors, lights, materials, emission):
    make()
