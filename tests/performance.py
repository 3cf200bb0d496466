#!/usr/bin/env python3
"""How fast torrance is on the CPU, beside Mitsuba 3 (whole images) and Embree (rays alone): the tables of docs/performance.md.

    python3 tests/performance.py render                        images, as many samples in each program
    python3 tests/performance.py render --mode best            images, at equal error, each with its better sampler
    python3 tests/performance.py traversal                     rays
    python3 tests/performance.py mitsuba SCENE.xml... > m.json  rates of Mitsuba on a GPU, for torrance bench scenes --against m.json

`render` gives the CPU seconds (user and system, all threads) of rendering alone: not of loading, building or compiling. Mitsuba
(llvm_ad_rgb) loads a scene once, renders once so that its kernels are compiled, and is then asked for one image at a time. Of
torrance, whole processes are measured, one that takes all samples and one that takes a single sample a pixel; the difference is
rendering, since all else that they do is the same. (torrance prints how long it renders, too, but by the clock, which runs while
other programs have the processor.) All programs take turns, and the least of the turns counts.

At equal error, the ratio is that of time multiplied by mean squared error. Errors are relative to the brightness of a pixel; the
1 % of an image's pixels that are worst do not count, so that fireflies do not decide; and the median of the seeds is taken. The
reference is Mitsuba's, of independent samples. There are two halves of it, A and B, and (image - A)(image - B) is averaged, in
which their noise cancels.

`traversal` compiles tests/embree.cpp, and gives millions of rays a second of the four kinds of `torrance bench traversal`. They
are measured by the clock: let the machine do nothing else.

Needs numpy and, for `render`, Mitsuba: pip install mitsuba==3.9.1 numpy
Needs a compiler and, for `traversal`, Embree: apt install libembree-dev g++
"""

import argparse
import contextlib
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

try:
    import numpy as np
except ImportError:
    sys.exit("error: numpy is missing; pip install mitsuba==3.9.1 numpy")

ROOT = Path(__file__).resolve().parent.parent
REFERENCES = ROOT / "tests" / "references"
COPIED = [
    "cornell-diffuse", "cornell-ggx", "many-lights", "principled-sweep", "roughness-row", "textured", "glass-rough", "plastic",
    "instanced", "envmap-sun",
]  # fmt: skip
# Pixels of an image, nearly: scenes differ in their aspect ratio only.
PIXELS = 256 * 256
# Samples of the reference that Mitsuba takes at once.
REFERENCE_BATCH = 256
# Part of an image's pixels, the worst, that do not count in its error.
TRIMMED = 0.01
# Kinds of rays, as `torrance bench traversal` names them, and as the table does.
KINDS = {"primary": "camera", "shadow": "shadow", "bounce_1": "bounce 1", "bounce_2": "bounce 2"}


def log(text):
    """Tells of progress; tables alone go to stdout."""
    print(text, file=sys.stderr, flush=True)


# ---- Shapes ----


def normalized(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def icosphere(levels):
    """Vertices and triangles of an icosahedron on the unit sphere whose triangles are split in four, `levels` times."""
    g = (1 + math.sqrt(5)) / 2
    cycle = [(0, 1, g), (0, -1, g), (0, 1, -g), (0, -1, -g)]
    corners = np.array([np.roll(corner, shift) for shift in range(3) for corner in cycle], dtype=np.float64)
    vertices = normalized(corners)
    faces = icosahedron(vertices)
    for _ in range(levels):
        edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        # An edge is named by one number, since rows are slow to compare.
        keys, inverse = np.unique(edges[:, 0] * len(vertices) + edges[:, 1], return_inverse=True)
        middles = normalized(vertices[keys // len(vertices)] + vertices[keys % len(vertices)])
        ab, bc, ca = len(vertices) + inverse.reshape(3, -1)
        a, b, c = faces.T
        vertices = np.concatenate([vertices, middles])
        parts = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = np.concatenate([np.stack(part, axis=1) for part in parts])
    return vertices, faces


def icosahedron(vertices):
    """Triangles of the icosahedron with these vertices: all triples whose edges are the shortest, looking outwards."""
    near = np.linalg.norm(vertices[:, None] - vertices, axis=-1) < 1.1
    a, b, c = np.nonzero(near[:, :, None] & near[:, None, :] & near[None, :, :])
    faces = np.stack([a, b, c], axis=1)
    faces = faces[(a < b) & (b < c)]
    inwards = np.linalg.det(vertices[faces]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return faces


def vertex_normals(vertices, faces):
    """Normals of a smooth mesh: those of the triangles around each vertex, weighted by area."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    of_faces = np.cross(b - a, c - a)
    corners, repeated = faces.T.ravel(), np.tile(of_faces, (3, 1))
    sums = [np.bincount(corners, repeated[:, axis], len(vertices)) for axis in range(3)]
    return normalized(np.stack(sums, axis=1))


def grid(rows, columns, wrapped):
    """Triangles of a grid of vertices, rows first; the last rows and columns adjoin the first if it is `wrapped`."""
    i, j = np.meshgrid(np.arange(rows - (not wrapped)), np.arange(columns - (not wrapped)), indexing="ij")
    steps = [(0, 0), (1, 0), (1, 1), (0, 1)]
    a, b, c, d = (((i + di) % rows * columns + (j + dj) % columns).ravel() for di, dj in steps)
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def knot_line(t):
    """The torus knot (2, 3)."""
    r = 2 + np.cos(3 * t)
    return np.stack([r * np.cos(2 * t), r * np.sin(2 * t), np.sin(3 * t)], axis=-1)


def torus_knot(around=500, across=30):
    """A tube of 2 `around` `across` triangles along the torus knot, within the unit sphere."""
    t = np.arange(around) * (2 * math.pi / around)
    along = normalized(knot_line(t + 1e-4) - knot_line(t - 1e-4))
    side = normalized(np.cross(along, [0, 0, 1]))
    up = np.cross(side, along)
    angle = (np.arange(across) * (2 * math.pi / across))[None, :, None]
    tube = knot_line(t)[:, None] + 0.45 * (np.cos(angle) * side[:, None] + np.sin(angle) * up[:, None])
    return tube.reshape(-1, 3) / 3.45, grid(around, across, wrapped=True)


def box():
    """Five walls of the cube from -1 to 1, open towards +z, that face inwards."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    walls = np.array([(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2)])
    return corners, np.concatenate([walls[:, [0, 1, 2]], walls[:, [0, 2, 3]]])


def copies(vertices, faces, centres, radii):
    """One mesh of many copies of a mesh, moved and scaled."""
    moved = centres[:, None] + radii[:, None, None] * vertices
    numbered = faces + (np.arange(len(centres)) * len(vertices))[:, None, None]
    return moved.reshape(-1, 3), numbered.reshape(-1, 3)


def write_ply(path, vertices, faces, normals=None):
    """Writes a mesh as binary PLY."""
    columns = vertices if normals is None else np.concatenate([vertices, normals], axis=1)
    names = ["x", "y", "z", "nx", "ny", "nz"][: columns.shape[1]]
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(vertices)}"]
    header += [f"property float {name}" for name in names]
    header += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header", ""]
    rows = np.empty(len(faces), dtype=[("count", "u1"), ("indices", "<i4", 3)])
    rows["count"], rows["indices"] = 3, faces
    with open(path, "wb") as file:
        file.write("\n".join(header).encode())
        file.write(columns.astype("<f4").tobytes())
        file.write(rows.tobytes())


# ---- Scenes ----


@dataclass
class Scene:
    """A scene that is made here: for Mitsuba's format and for Embree."""

    origin: tuple
    target: tuple
    fov: float
    # XML of materials, shapes and lights.
    body: str
    # Vertices, triangles and perhaps normals, by the names of their files.
    meshes: dict
    max_depth: int = 8
    size: tuple = (256, 256)
    # Centres and radii.
    spheres: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))
    # Affine transforms of the only mesh, which is not in the world by itself then.
    instances: np.ndarray = field(default_factory=lambda: np.zeros((0, 3, 4)))
    # Files to copy.
    files: tuple = ()


WHITE_SKY = '<emitter type="constant"><rgb name="radiance" value="1, 1, 1"/></emitter>'


def diffuse(name, r, g, b):
    return f'<bsdf type="diffuse" id="{name}"><rgb name="reflectance" value="{r}, {g}, {b}"/></bsdf>'


def mesh(file, material, smooth, transform=""):
    """XML of a mesh in a file; `material` is the name of one, or XML."""
    flat = "" if smooth else '<boolean name="face_normals" value="true"/>'
    material = material if material.startswith("<") else f'<ref id="{material}"/>'
    place = f'<transform name="to_world">{transform}</transform>' if transform else ""
    return f'<shape type="ply"><string name="filename" value="{file}"/>{flat}{place}{material}</shape>'


def floor(size, material):
    return (
        f'<shape type="rectangle"><transform name="to_world"><scale x="{size}" y="{size}" z="1"/><rotate x="1" angle="-90"/>'
        f'</transform><ref id="{material}"/></shape>'
    )


def spheres_in_box(count, least, most):
    """Centres and radii of spheres at random in the box."""
    random = np.random.default_rng(1)
    return random.uniform(-0.95, 0.95, (count, 3)), random.uniform(least, most, count)


def clutter():
    """2000 balls in a box: 2.56 million triangles, none of which is near the next in memory for long."""
    meshes = {"balls.ply": copies(*icosphere(3), *spheres_in_box(2000, 0.02, 0.08)), "box.ply": box()}
    shapes = [mesh(file, "grey", smooth=False) for file in meshes]
    body = "\n".join([diffuse("grey", 0.7, 0.7, 0.7), *shapes, WHITE_SKY])
    return Scene((0, 0, 3.5), (0, 0, 0), 43.6, body, meshes)


# Complex indices of refraction in red, green and blue.
METALS = {
    "gold": ("0.143, 0.375, 1.442", "3.983, 2.386, 1.603"),
    "copper": ("0.2, 0.924, 1.102", "3.912, 2.452, 2.142"),
    "silver": ("0.155, 0.117, 0.138", "4.828, 3.122, 2.147"),
    "aluminium": ("1.657, 0.88, 0.521", "9.224, 6.27, 4.837"),
    "iron": ("2.911, 2.950, 2.585", "3.089, 2.932, 2.767"),
    "titanium": ("2.741, 2.542, 2.267", "3.814, 3.435, 3.039"),
    "chromium": ("3.177, 3.179, 2.315", "3.335, 3.325, 3.135"),
}


def metals():
    """Seven balls of rough metal, smooth meshes, under a lamp."""
    vertices, faces = icosphere(6)
    parts = [diffuse("floor", 0.5, 0.5, 0.5), floor(20, "floor")]
    alphas = np.linspace(0.05, 0.6, len(METALS))
    for place, ((eta, k), alpha) in enumerate(zip(METALS.values(), alphas)):
        material = (
            '<bsdf type="roughconductor"><string name="distribution" value="ggx"/>'
            f'<rgb name="eta" value="{eta}"/><rgb name="k" value="{k}"/><float name="alpha" value="{alpha:.4f}"/></bsdf>'
        )
        parts.append(mesh("ball.ply", material, True, f'<translate x="{2.1 * (place - 3):.1f}" y="1" z="0"/>'))
    parts.append(
        '<shape type="rectangle"><transform name="to_world"><scale x="6" y="1.5" z="1"/>'
        '<lookat origin="0, 7, 3" target="0, 0, 0" up="0, 1, 0"/></transform>'
        '<bsdf type="diffuse"><rgb name="reflectance" value="0, 0, 0"/></bsdf>'
        '<emitter type="area"><rgb name="radiance" value="6, 6, 6"/></emitter></shape>'
    )
    parts.append('<emitter type="constant"><rgb name="radiance" value="0.1, 0.1, 0.12"/></emitter>')
    meshes = {"ball.ply": (vertices, faces, vertices)}
    return Scene((0, 3.5, 16), (0, 0.9, 0), 52, "\n".join(parts), meshes, size=(410, 160))


def glass_sky():
    """A bumpy lump of frosted glass under a sky with a small sun."""
    vertices, faces = icosphere(6)
    x, y, z = vertices.T
    bumps = 1 + 0.06 * np.sin(7 * x + 1) * np.sin(6 * y + 2) + 0.04 * np.sin(9 * z) * np.cos(8 * x)
    vertices = vertices * bumps[:, None]
    vertices[:, 1] += 0.02 - vertices[:, 1].min()
    body = "\n".join([
        diffuse("floor", 0.45, 0.43, 0.4), floor(8, "floor"),
        '<bsdf type="roughdielectric" id="frosted"><string name="distribution" value="ggx"/><float name="alpha" value="0.2"/>'
        '<float name="int_ior" value="1.5"/><float name="ext_ior" value="1"/></bsdf>',
        mesh("lump.ply", "frosted", smooth=True),
        '<emitter type="envmap"><string name="filename" value="sky.exr"/><float name="scale" value="0.5"/></emitter>',
    ])  # fmt: skip
    meshes = {"lump.ply": (vertices, faces, vertex_normals(vertices, faces))}
    sky = (REFERENCES / "envmap-sun" / "sky.exr",)
    return Scene((0, 2.2, 5), (0, 0.9, 0), 36, body, meshes, max_depth=12, files=sky)


def terrain():
    """Hills with ripples, 2 million triangles."""
    u, v = (axis.ravel() for axis in np.meshgrid(*[np.linspace(0, 1, 1001)] * 2, indexing="ij"))
    heights = 0.1 * np.sin(17 * u) * np.cos(13 * v) + 0.02 * np.sin(140 * u * v)
    # In Mitsuba's scenes and here, y is up.
    meshes = {"terrain.ply": (np.stack([u, heights, 1 - v], axis=1), grid(1001, 1001, wrapped=False))}
    body = "\n".join([diffuse("grey", 0.7, 0.7, 0.7), mesh("terrain.ply", "grey", smooth=False), WHITE_SKY])
    return Scene((0.5, 0.55, 1.05), (0.5, 0, 0.55), 50, body, meshes)


def instanced():
    """A thousand instances of a knot of 30 000 triangles."""
    random = np.random.default_rng(2)
    rotations, _ = np.linalg.qr(random.normal(size=(1000, 3, 3)))
    rotations *= np.sign(np.linalg.det(rotations))[:, None, None]
    scales = random.uniform(0.08, 0.2, (1000, 1, 1))
    transforms = np.concatenate([rotations * scales, random.uniform(-1, 1, (1000, 3, 1))], axis=2)
    group = f'<shape type="shapegroup" id="knot">{mesh("knot.ply", "grey", smooth=False)}</shape>'
    places = []
    for transform in transforms:
        numbers = " ".join(f"{number:.6g}" for number in [*transform.ravel(), 0, 0, 0, 1])
        to_world = f'<transform name="to_world"><matrix value="{numbers}"/></transform>'
        places.append(f'<shape type="instance"><ref id="knot"/>{to_world}</shape>')
    body = "\n".join([diffuse("grey", 0.7, 0.7, 0.7), group, *places, WHITE_SKY])
    return Scene((0, 0.6, 3.6), (0, 0, 0), 38, body, {"knot.ply": torus_knot()}, instances=transforms)


def spheres():
    """10 000 spheres, not meshes, in a box."""
    centres, radii = spheres_in_box(10_000, 0.01, 0.04)
    parts = [diffuse("grey", 0.7, 0.7, 0.7), mesh("box.ply", "grey", smooth=False)]
    for (x, y, z), radius in zip(centres, radii):
        parts.append(
            f'<shape type="sphere"><point name="center" x="{x:.6g}" y="{y:.6g}" z="{z:.6g}"/>'
            f'<float name="radius" value="{radius:.6g}"/><ref id="grey"/></shape>'
        )
    body = "\n".join([*parts, WHITE_SKY])
    return Scene((0, 0, 3.5), (0, 0, 0), 43.6, body, {"box.ply": box()}, spheres=np.column_stack([centres, radii]))


MADE = {"clutter": clutter, "metals": metals, "glass-sky": glass_sky}
TRAVERSED = {"clutter": clutter, "terrain": terrain, "instanced": instanced, "spheres": spheres}


def scene_xml(scene):
    """A scene as Mitsuba reads it."""
    origin, target = (", ".join(map(str, point)) for point in (scene.origin, scene.target))
    return f"""<scene version="3.0.0">
<integrator type="path">
<integer name="max_depth" value="{scene.max_depth}"/>
<integer name="rr_depth" value="1000"/>
</integrator>
<sensor type="perspective">
<string name="fov_axis" value="x"/>
<float name="fov" value="{scene.fov}"/>
<transform name="to_world"><lookat origin="{origin}" target="{target}" up="0, 1, 0"/></transform>
<sampler type="independent"><integer name="sample_count" value="64"/></sampler>
<film type="hdrfilm">
<integer name="width" value="{scene.size[0]}"/>
<integer name="height" value="{scene.size[1]}"/>
<string name="pixel_format" value="rgb"/>
<string name="component_format" value="float32"/>
<rfilter type="box"/>
</film>
</sensor>
{scene.body}
</scene>
"""


def write_scene(scene, folder):
    """Writes a scene that is made here to a folder; returns the scene's file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, parts in scene.meshes.items():
        write_ply(folder / name, *parts)
    for file in scene.files:
        shutil.copy(file, folder)
    path = folder / "scene.xml"
    path.write_text(scene_xml(scene))
    return path


def copy_reference(name, folder):
    """Copies a scene of tests/references, and the files that it names."""
    folder.mkdir(parents=True, exist_ok=True)
    original = REFERENCES / name / "scene.xml"
    for element in ElementTree.parse(original).iter("string"):
        if element.get("name") == "filename":
            shutil.copy(original.parent / element.get("value"), folder)
    return Path(shutil.copy(original, folder))


def adapt(path, sampler, spp):
    """Writes a copy of a scene beside it, with another sampler, samples and size of the image; returns its path.

    The image keeps its aspect ratio, and has as many pixels as those of all scenes.
    """
    tree = ElementTree.parse(path)
    sensor = tree.find("sensor")
    sides = {element.get("name"): element for element in sensor.find("film").iter("integer")}
    width, height = (int(sides[side].get("value")) for side in ("width", "height"))
    new_width = round(math.sqrt(PIXELS * width / height))
    sides["width"].set("value", str(new_width))
    sides["height"].set("value", str(round(PIXELS / new_width)))
    sensor.find("sampler").set("type", sampler)
    sensor.find("sampler/integer[@name='sample_count']").set("value", str(spp))
    adapted = path.with_name(f"{sampler}.xml")
    tree.write(adapted)
    return adapted


def prepare(name, folder):
    """The file of a scene to render, written if it is not there."""
    path = folder / name / "scene.xml"
    if path.exists():
        return path
    log(f"writing {path}")
    return write_scene(MADE[name](), path.parent) if name in MADE else copy_reference(name, path.parent)


# ---- Mitsuba ----


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


def mitsuba_worker():
    """Serves `Mitsuba`: reads a request a line, as JSON, and answers each by a line."""
    answers = os.fdopen(os.dup(1), "w")
    # Whatever else is printed is no answer.
    os.dup2(2, 1)
    try:
        import drjit
        import mitsuba
    except ImportError:
        sys.exit("error: Mitsuba is missing; pip install mitsuba==3.9.1 numpy")
    mitsuba.set_variant("llvm_ad_rgb")
    scene = None

    def answer(request):
        nonlocal scene
        if "load" in request:
            scene = mitsuba.load_file(request["load"])
            return {"version": mitsuba.__version__, "threads": drjit.thread_count()}
        drjit.sync_thread()
        before = cpu_seconds(resource.getrusage(resource.RUSAGE_SELF))
        # As an array, so that it has really been computed.
        image = np.array(mitsuba.render(scene, spp=request["spp"], seed=request["seed"]))
        seconds = cpu_seconds(resource.getrusage(resource.RUSAGE_SELF)) - before
        if request["image"]:
            np.save(request["image"], image[:, :, :3])
        taken = scene.sensors()[0].sampler().sample_count()
        return {"seconds": seconds, "spp": taken}

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


class Mitsuba:
    """A process that renders one image at a time."""

    def __init__(self):
        command = [sys.executable, __file__, "mitsuba-worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, **request):
        """Sends a request, and returns the answer."""
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            # An error that Python has told of.
            if self.process.wait() == 1:
                sys.exit(1)
            sys.exit(
                "error: Mitsuba has crashed; what it said is above. If LLVM could not compile, take a newer one, as in\n"
                "apt install libllvm19; export DRJIT_LIBLLVM_PATH=/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1"
            )
        return json.loads(line)

    def load(self, path):
        return self.ask(load=str(path))

    def render(self, seed, spp, image=None):
        """Renders once; returns CPU seconds, and writes the image as `image`.npy if it has a name."""
        answer = self.ask(seed=seed, spp=spp, image=image and str(image))
        if answer["spp"] != spp:
            sys.exit(f"error: Mitsuba's sampler takes {answer['spp']} samples a pixel instead of {spp}; try 16, 64 or 256")
        return answer["seconds"]


# ---- torrance ----


def run_timed(command):
    """Runs a program; returns its CPU seconds and what it printed to stdout."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as printed:
        try:
            process = subprocess.Popen([*map(str, command)], stdout=printed, stderr=said)
        except OSError as error:
            sys.exit(f"error: {command[0]}: {error.strerror}; cargo build --release")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if process.returncode != 0:
            sys.exit(f"error: {' '.join(map(str, command))}\n{said.read()}")
        printed.seek(0)
        return cpu_seconds(usage), printed.read()


def torrance_render(program, scene, sampler, spp, seed, image):
    """CPU seconds of the whole process that renders a scene."""
    command = [program, "render", scene, "--device", "cpu", "--sampler", sampler, "--spp", spp, "--seed", seed, "--quiet"]
    return run_timed([*command, "-o", image])[0]


def read_pfm(path):
    """A colour image in a PFM file, from the top."""
    _, size, _, data = path.read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    return np.frombuffer(data, "<f4").reshape(height, width, 3)[::-1]


# ---- Images ----


def reference(mitsuba, scene, spp, batch):
    """Both halves of a reference image of the scene, which a file keeps; `mitsuba` makes it if there is none.

    `batch` is a file for what it renders at once.
    """
    kept = scene.with_name(f"reference-{spp}.npy")
    if kept.exists():
        return np.load(kept)
    log(f"  reference with {spp} samples a pixel")
    mitsuba.load(scene)
    halves = []
    batches = max(1, spp // (2 * REFERENCE_BATCH))
    for half in range(2):
        total = 0
        for number in range(batches):
            # Seeds that no image has.
            mitsuba.render(1_000_000 + half * batches + number, REFERENCE_BATCH, batch)
            total = total + np.load(batch).astype(np.float64)
        halves.append(total / batches)
    np.save(kept, halves)
    return np.array(halves)


def error(image, halves):
    """Mean squared error of an image relative to the brightness of pixels, without the worst of them."""
    mean = halves.mean(axis=0)
    energy = (mean**2).sum(axis=2)
    # Pixels that are nearly black would count for too much.
    scale = 1 / (energy + 1e-4 * energy.mean())
    squares = ((image - mean) ** 2).sum(axis=2) * scale
    kept = squares <= np.quantile(squares, 1 - TRIMMED)
    unbiased = ((image - halves[0]) * (image - halves[1])).sum(axis=2) * scale
    return unbiased[kept].mean()


def time_torrance(program, scene, options, seed, image):
    """CPU seconds of a process with all samples, and of one with a single sample a pixel."""
    sampler = "sobol" if options.mode == "best" else "independent"
    spare = image.with_name("spare.pfm")
    return [
        torrance_render(program, scene, sampler, options.spp, seed, image),
        torrance_render(program, scene, sampler, 1, seed, spare),
    ]


def rendering_seconds(pairs, spp):
    """CPU seconds of rendering, of those of processes with `spp` samples and with one."""
    all_samples, one_sample = (min(seconds) for seconds in zip(*pairs))
    return (all_samples - one_sample) * spp / (spp - 1)


def measure_scene(name, options, mitsuba, images):
    """Seconds, and in mode best errors, of Mitsuba and of each program; `images` is a folder for what they render."""
    path = prepare(name, options.folder)
    best = options.mode == "best"
    image, pfm = images / "image.npy", images / "image.pfm"
    adapted = adapt(path, "independent", options.spp)
    halves = reference(mitsuba, adapted, options.reference_spp, image) if best else None
    scene = adapt(path, "multijitter", options.spp) if best else adapted
    seconds = {"mitsuba": [], **{program: [] for program in options.programs}}
    errors = {program: [] for program in seconds}
    about = {}
    if mitsuba:
        about = mitsuba.load(scene)
        mitsuba.render(0, options.spp)
    for seed in range(1, options.repeat + 1):
        if mitsuba:
            seconds["mitsuba"].append(mitsuba.render(seed, options.spp, image if best else None))
        if best:
            errors["mitsuba"].append(error(np.load(image), halves))
        for program in options.programs:
            seconds[program].append(time_torrance(program, adapted, options, seed, pfm))
            if best:
                errors[program].append(error(read_pfm(pfm), halves))
    least = {program: rendering_seconds(seconds[program], options.spp) for program in options.programs}
    if mitsuba:
        least["mitsuba"] = min(seconds["mitsuba"])
    medians = {program: statistics.median(found) for program, found in errors.items() if found}
    return {"scene": name, "seconds": least, "errors": medians, "runs": seconds, **about}


def ratios(result, programs):
    """How many times as fast as Mitsuba each program is; at equal error, if errors are known."""
    costs = {name: seconds * result["errors"].get(name, 1) for name, seconds in result["seconds"].items()}
    return [costs["mitsuba"] / costs[program] for program in programs] if "mitsuba" in costs else []


def render_table(results, programs, labels):
    """The table of `render`."""
    first = results[0]
    names = (["mitsuba"] if "mitsuba" in first["seconds"] else []) + programs
    titles = ["Mitsuba" if name == "mitsuba" else labels[name] for name in names]
    header = ["Scene"] + [f"{title}, s" for title in titles]
    if first["errors"]:
        header += [f"{title}, error" for title in titles]
    if "mitsuba" in names:
        header += [f"Mitsuba / {labels[program]}" for program in programs]
    rows = []
    for result in results:
        row = [result["scene"]] + [f"{result['seconds'][name]:.2f}" for name in names]
        if first["errors"]:
            row += [f"{result['errors'][name]:.3g}" for name in names]
        rows.append(row + [f"{ratio:.2f}" for ratio in ratios(result, programs)])
    means = [geometric_mean(column) for column in zip(*(ratios(result, programs) for result in results))]
    if means:
        empty = [""] * (len(header) - 1 - len(means))
        rows.append(["geometric mean", *empty, *(f"{mean:.2f}" for mean in means)])
    return markdown([header, *rows])


def geometric_mean(values):
    """NaN if one is not positive: too few samples were taken to measure it."""
    return math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0 else math.nan


def markdown(rows):
    """A table: the first row is its header, and the first column is text."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if not i else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append(f"| {' | '.join(cells)} |")
    rule = ["-" * width if not i else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines.insert(1, f"| {' | '.join(rule)} |")
    return "\n".join(lines)


def processor():
    """Name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown processor"


def warn_if_busy():
    """Tells if the machine does something else already: seconds of tracing are by the clock, and caches are shared."""
    load = os.getloadavg()[0]
    if load > 0.3:
        log(f"warning: the machine is busy (load average {load:.1f}); what is measured may be too slow")


def short_names(programs):
    """Names of programs for tables: the file's, or with as many folders as it takes to tell them apart."""
    for count in range(1, max(len(Path(program).resolve().parts) for program in programs) + 1):
        names = ["/".join(Path(program).resolve().parts[-count:]) for program in programs]
        if len(set(names)) == len(names):
            break
    return dict(zip(programs, names))


def render(options):
    """The command `render`."""
    best = options.mode == "best"
    if options.spp < 2 or (best and not options.mitsuba):
        sys.exit("error: --spp is at least 2, and --mode best needs Mitsuba")
    labels = short_names(options.programs)
    results = []
    for name in options.scenes:
        log(name)
        # One process for each scene, so that none has what another leaves in memory.
        mitsuba = Mitsuba() if options.mitsuba else contextlib.nullcontext()
        with mitsuba as started, tempfile.TemporaryDirectory() as images:
            results.append(measure_scene(name, options, started, Path(images)))
        log("  " + ", ".join(f"{labels.get(program, program)} {s:.2f} s" for program, s in results[-1]["seconds"].items()))
    version = f"; Mitsuba {results[0]['version']}, {results[0]['threads']} threads" if options.mitsuba else ""
    samplers = "Sobol and multijitter" if best else "independent"
    print(f"{processor()}, {os.cpu_count()} threads{version}. CPU seconds of {options.spp} samples a pixel ({samplers}),")
    print(f"about {PIXELS} pixels, the least of {options.repeat}.\n")
    print(render_table(results, options.programs, labels))
    return {"mode": options.mode, "spp": options.spp, "results": results}


# ---- Embree ----


def compile_embree(folder):
    """Compiles tests/embree.cpp for this machine; returns the program."""
    source, program = ROOT / "tests" / "embree.cpp", folder / "embree"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    folder.mkdir(parents=True, exist_ok=True)
    command = ["g++", "-std=c++20", "-O3", "-march=native", source, "-o", program, "-pthread"]
    said = []
    for library in ["-lembree4", "-lembree3"]:
        try:
            done = subprocess.run([*command, library], capture_output=True, text=True)
        except FileNotFoundError:
            sys.exit("error: g++ is missing; apt install g++ libembree-dev")
        if done.returncode == 0:
            return program
        said.append(done.stderr)
    sys.exit(f"{said[-1]}\nerror: cannot compile {source}; is Embree missing? apt install libembree-dev g++")


def write_for_embree(scene, path):
    """Writes a scene as tests/embree.cpp reads it."""
    origin, target = np.array(scene.origin, dtype=np.float64), np.array(scene.target, dtype=np.float64)
    forward = normalized(target - origin)
    right = normalized(np.cross(forward, [0, 1, 0]))
    half = math.tan(math.radians(scene.fov) / 2)
    camera = [origin, half * right, half * scene.size[1] / scene.size[0] * np.cross(right, forward), forward]
    integers, floats = "<u4", "<f4"
    parts = [(scene.size, integers), (camera, floats), (len(scene.meshes), integers)]
    for vertices, faces, *_ in scene.meshes.values():
        parts += [((len(vertices), len(faces)), integers), (vertices, floats), (faces, integers)]
    # Transforms by columns.
    parts += [(len(scene.instances), integers), (scene.instances.transpose(0, 2, 1), floats)]
    parts += [(len(scene.spheres), integers), (scene.spheres, floats)]
    with open(path, "wb") as file:
        for values, kind in parts:
            file.write(np.asarray(values).astype(kind).tobytes())


def prepare_for_embree(name, folder):
    """The files of a scene whose rays are traced, for torrance and for Embree, written if they are not there."""
    # Not where `render` writes: scenes of the same name differ.
    path = folder / "traversal" / name / "scene.xml"
    binary = path.with_name("scene.bin")
    if not binary.exists():
        log(f"writing {path}")
        scene = TRAVERSED[name]()
        scene.size = (512, 512)
        write_scene(scene, path.parent)
        write_for_embree(scene, binary)
    return path, binary


def trace_by_embree(program, binary, threads):
    """What tests/embree.cpp measures in a scene."""
    command = [program, binary, *([threads] if threads else [])]
    return json.loads(run_timed(command)[1])


def trace_by_torrance(program, path, threads):
    """What a build of torrance measures in it."""
    command = [program, "bench", "traversal", path, "--device", "cpu", "--size", "512x512", "--json", "--quiet"]
    command += ["--threads", threads] if threads else []
    return json.loads(run_timed(command)[1])


def fastest(runs):
    """Of several runs, the fastest result for each kind of ray."""
    results = [{row["kind"]: row for row in run["results"]} for run in runs]
    return {kind: max((result[kind] for result in results), key=lambda row: row["mrays_per_s"]) for kind in KINDS}


def measure_traversal(name, options, embree):
    """The fastest results of Embree and of each program for a scene, and how long Embree builds it at least."""
    path, binary = prepare_for_embree(name, options.folder)
    runs = {"embree": [], **{program: [] for program in options.programs}}
    for _ in range(options.repeat):
        runs["embree"].append(trace_by_embree(embree, binary, options.threads))
        for program in options.programs:
            runs[program].append(trace_by_torrance(program, path, options.threads))
    builds = [[run[key] for run in runs["embree"]] for key in ("build_seconds", "build_cpu_seconds")]
    about = {key: runs["embree"][0][key] for key in ("version", "native_width", "threads")}
    found = {program: fastest(of_program) for program, of_program in runs.items()}
    warn_of_differences(found)
    return {"mesh": name, "build_seconds": min(builds[0]), "build_cpu_seconds": min(builds[1]), "fastest": found, **about}


def warn_of_differences(found):
    """The same scene and the same rays have the same hits, but for noise."""
    for program, rows in found.items():
        for kind, row in rows.items():
            theirs, ours = (r["hits"] / max(r["rays"], 1) for r in (found["embree"][kind], row))
            if abs(theirs - ours) > 0.01:
                log(f"warning: of the {KINDS[kind]} rays, {theirs:.3f} hit something in Embree and {ours:.3f} in {program}")


def traversal_table(results, programs, labels):
    """The table of `traversal`."""
    header = ["Scene", "rays", "Embree, Mrays/s", "traced by"]
    header += [f"{labels[program]}, Mrays/s" for program in programs] + [f"{labels[program]} / Embree" for program in programs]
    rows, relative = [], {kind: [] for kind in KINDS}
    for result in results:
        for kind, title in KINDS.items():
            anchor = result["fastest"]["embree"][kind]
            speeds = [result["fastest"][program][kind]["mrays_per_s"] for program in programs]
            relative[kind].append([speed / anchor["mrays_per_s"] for speed in speeds])
            cells = [result["mesh"], title, f"{anchor['mrays_per_s']:.1f}", str(anchor["width"])]
            rows.append(cells + [f"{speed:.1f}" for speed in speeds] + [f"{ratio:.2f}" for ratio in relative[kind][-1]])
    means = {title: relative[kind] for kind, title in KINDS.items()}
    means["all"] = [row for of_kind in relative.values() for row in of_kind]
    for title, values in means.items():
        cells = ["geometric mean", title, "", "", *([""] * len(programs))]
        rows.append(cells + [f"{geometric_mean(column):.2f}" for column in zip(*values)])
    return markdown([header, *rows])


def traversal(options):
    """The command `traversal`."""
    embree = compile_embree(options.folder)
    results = []
    for name in options.meshes:
        log(name)
        results.append(measure_traversal(name, options, embree))
    labels = short_names(options.programs)
    first = results[0]
    threads = f"{first['threads']} of {os.cpu_count()} threads"
    print(f"{processor()}, {threads}; Embree {first['version']}, whose vectors have {first['native_width']} lanes.")
    print(f"Millions of rays a second, the most of {options.repeat}; Embree traces as many rays together as is fastest for it.\n")
    print(traversal_table(results, options.programs, labels))
    print("\nEmbree builds, s (CPU s): ", end="")
    print(", ".join(f"{r['mesh']} {r['build_seconds']:.2f} ({r['build_cpu_seconds']:.2f})" for r in results))
    return {"results": results}


# ---- Command line ----


# ---- Rates of Mitsuba, for `torrance bench scenes --against` ----


def set_number(parent, name, value):
    """Sets an <integer> of an element, which may have none."""
    for element in parent.findall("integer"):
        if element.get("name") == name:
            element.set("value", str(value))
            return
    ElementTree.SubElement(parent, "integer", name=name, value=str(value))


def with_settings(path, size, depth):
    """The text of a scene file for an image of another size and paths of another length, where these are given; with both as they are."""
    root = ElementTree.parse(path).getroot()
    film, integrator = root.find("sensor/film"), root.find("integrator")
    if film is None or integrator is None:
        sys.exit(f"error: {path}: there is no <film> or no <integrator>")
    for name, value in zip(("width", "height"), size or ()):
        set_number(film, name, value)
    if depth is not None:
        set_number(integrator, "max_depth", depth)
    found = {e.get("name"): e.get("value") for e in [*film.findall("integer"), *integrator.findall("integer")]}
    try:
        kept = [int(found[name]) for name in ("width", "height", "max_depth")]
    except (KeyError, ValueError):
        sys.exit(f"error: {path}: width, height and max_depth must be numbers in the file, or be given")
    return ElementTree.tostring(root, encoding="unicode"), kept


def rate(mitsuba, drjit, path, samples, repeat):
    """Millions of paths a second: the best of several renders, after one that compiles."""
    scene = mitsuba.load_file(str(path))
    width, height = scene.sensors()[0].film().size()
    best = 0.0
    for seed in range(repeat + 1):
        drjit.sync_thread()
        begin = time.perf_counter()
        drjit.eval(mitsuba.render(scene, spp=samples, seed=seed))
        drjit.sync_thread()
        seconds = time.perf_counter() - begin
        if seed > 0:
            best = max(best, width * height * samples / seconds * 1e-6)
    return best


def rates(options):
    """Prints what `torrance bench scenes --against` reads."""
    try:
        import drjit
        import mitsuba
    except ImportError:
        sys.exit("error: Mitsuba is missing; pip install mitsuba==3.9.1 numpy")
    mitsuba.set_variant(options.variant)
    results = []
    for path in options.scenes:
        for depth in options.max_depth or [None]:
            text, (width, height, depth) = with_settings(path, options.size, depth)
            # Beside the scene, whose files it names.
            with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".rate-", suffix=".xml") as file:
                file.write(text)
                file.flush()
                found = rate(mitsuba, drjit, Path(file.name), options.spp, options.repeat)
            name = path.parent.resolve().name if path.stem == "scene" else path.stem
            log(f"{name}, depth {depth}: {found:.1f}")
            results.append({"scene": name, "max_depth": depth, "width": width, "height": height, "mpaths_per_s": found})
    program = f"Mitsuba {mitsuba.__version__}, {options.variant}"
    json.dump({"program": program, "device": options.device, "results": results}, sys.stdout, indent=1)
    print()
    return {}


def size(text):
    width, height = (int(side) for side in text.split("x"))
    return width, height


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    program = str(ROOT / "target" / "release" / "torrance")
    programs = "builds of torrance [target/release/torrance]"
    shared.add_argument("--programs", nargs="+", default=[program], metavar="PATH", help=programs)
    shared.add_argument("--folder", type=Path, metavar="DIR", help="where scenes are written, and found again [a temporary one]")
    shared.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to a file")
    images = commands.add_parser("render", parents=[shared], help="images, beside Mitsuba", description="Images, beside Mitsuba.")
    names = [*COPIED, *MADE]
    images.add_argument("--scenes", nargs="+", choices=names, default=names, metavar="NAME", help=f"of {', '.join(names)} [all]")
    images.add_argument("--spp", type=int, default=64, help="samples a pixel [64]")
    images.add_argument("--repeat", type=int, default=5, help="times that each program renders a scene [5]")
    images.add_argument(
        "--mode", choices=["independent", "best"], default="independent",
        help="as many independent samples, or equal error with the best sampler of each [independent]",
    )  # fmt: skip
    images.add_argument("--reference-spp", type=int, default=4096, metavar="SPP", help="of the reference in mode best [4096]")
    images.add_argument("--no-mitsuba", dest="mitsuba", action="store_false", help="measure the programs only")
    images.set_defaults(run=render)
    rays = commands.add_parser("traversal", parents=[shared], help="rays, beside Embree", description="Rays, beside Embree.")
    names = [*TRAVERSED]
    rays.add_argument("--meshes", nargs="+", choices=names, default=names, metavar="NAME", help=f"of {', '.join(names)} [all]")
    rays.add_argument("--repeat", type=int, default=5, help="times that each program traces a scene's rays [5]")
    rays.add_argument("--threads", type=int, metavar="N", help="threads of each program [all]")
    rays.set_defaults(run=traversal)
    other = commands.add_parser(
        "mitsuba", help="rates of Mitsuba", description="Rates of Mitsuba, for `torrance bench scenes --against`, on stdout."
    )
    other.add_argument("scenes", nargs="+", type=Path, metavar="SCENE", help="Mitsuba scene files")
    other.add_argument("--size", type=size, metavar="WxH", help="of the image [the file's]")
    depths = {"type": lambda text: [int(depth) for depth in text.split(",")], "metavar": "LIST"}
    other.add_argument("--max-depth", **depths, help="longest paths [the file's]")
    other.add_argument("--spp", type=int, default=64, help="samples a pixel of a render [64]")
    other.add_argument("--repeat", type=int, default=3, help="renders of which the fastest counts [3]")
    other.add_argument("--variant", default="cuda_ad_rgb", help="of Mitsuba [cuda_ad_rgb]")
    other.add_argument("--device", default="", metavar="NAME", help="to say what it ran on")
    other.set_defaults(run=rates, folder=None, json=None)
    return parser.parse_args()


def main():
    if sys.argv[1:] == ["mitsuba-worker"]:
        mitsuba_worker()
        return
    options = arguments()
    warn_if_busy()
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = options.folder or Path(temporary)
        measured = options.run(options)
    if options.json:
        options.json.write_text(json.dumps({"processor": processor(), **measured}, indent=1) + "\n")


if __name__ == "__main__":
    main()
