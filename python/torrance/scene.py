"""Scenes that stay on the device from one render to the next."""

from __future__ import annotations

import os
import time as clock
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _torrance
from ._progress import Progress
from .errors import DeviceError, Interrupted, ParameterError, TorranceWarning
from .image import Image, PathLike

__all__ = ["Mesh", "Parameters", "Scene", "Texture", "gpus", "load", "scene"]


class Mesh:
    """A triangle mesh from arrays, copied once. It takes the place of a file: ``{"type": "mesh", "file": mesh}``.

    :param vertices: positions, (N, 3), metres.
    :param faces: vertex indices of triangles, (M, 3), integers.
    :param normals: shading normals, (N, 3), of any length but 0; flat shading without them.
    :param uvs: texture coordinates, (N, 2).
    :param colors: linear vertex colours, (N, 3).
    :raises ParameterError: shapes or types do not fit, indices are out of range, numbers are not finite.
    """

    def __init__(self, vertices, faces, normals=None, uvs=None, colors=None):
        faces = np.asarray(faces)
        if faces.dtype.kind not in "iu" or faces.ndim != 2 or faces.shape[1] != 3:
            raise ParameterError(f"faces: expected integers, (M, 3), not {faces.dtype}, {faces.shape}")
        vertices = _matrix("vertices", vertices, 3)
        if faces.size and (faces.min() < 0 or faces.max() >= len(vertices)):
            row = int(np.argmax(((faces < 0) | (faces >= len(vertices))).any(axis=1)))
            raise ParameterError(f"faces: row {row} is {faces[row].tolist()}, and there are {len(vertices)} vertices")
        self._asset = _torrance.Asset.mesh(
            vertices,
            np.ascontiguousarray(faces, dtype=np.uint32),
            _optional("normals", normals, 3),
            _optional("uvs", uvs, 2),
            _finite("colors", _optional("colors", colors, 3)),
        )


    def __reduce__(self):
        return _of_arrays, (Mesh, "mesh", self._asset.arrays())


class Texture:
    """An image from an array, copied once. It takes the place of a file: ``{"file": texture}``.

    :param texels: (height, width), (height, width, 3) or, of bytes, (height, width, 4). uint8 is as in a PNG file, and the scene
        says what the bytes mean; floats are linear.
    :raises ParameterError: the shape or type does not fit, or numbers are not finite.
    """

    def __init__(self, texels):
        texels = np.asarray(texels)
        if texels.ndim == 2:
            texels = np.repeat(texels[:, :, None], 3, axis=2)
        if texels.ndim != 3 or texels.shape[2] not in (3, 4) or 0 in texels.shape:
            raise ParameterError(f"expected (height, width), (height, width, 3) or (height, width, 4), not {texels.shape}")
        if texels.dtype == np.uint8:
            if texels.shape[2] == 3:
                texels = np.dstack([texels, np.full(texels.shape[:2], 255, np.uint8)])
            self._asset = _torrance.Asset.of_bytes(np.ascontiguousarray(texels))
        elif texels.dtype.kind == "f" and texels.shape[2] == 3:
            self._asset = _torrance.Asset.of_floats(np.ascontiguousarray(texels, dtype=np.float32))
        else:
            raise ParameterError(f"expected uint8, or floats of 3 channels, not {texels.dtype} of {texels.shape[2]}")

    def __reduce__(self):
        arrays = self._asset.arrays()
        return _of_arrays, (Texture, "of_bytes" if arrays[0].dtype == np.uint8 else "of_floats", arrays)


def _of_arrays(kind, make: str, arrays):
    """A mesh or texture of arrays that have been checked."""
    made = kind.__new__(kind)
    made._asset = getattr(_torrance.Asset, make)(*arrays)
    return made


def _matrix(name: str, values, columns: int) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu" or array.ndim != 2 or array.shape[1] != columns:
        raise ParameterError(f"{name}: expected numbers, (N, {columns}), not {array.dtype}, {array.shape}")
    return np.ascontiguousarray(array, dtype=np.float32)


def _finite(name: str, array: Optional[np.ndarray]) -> Optional[np.ndarray]:
    if array is not None and not (np.isfinite(array) & (array >= 0)).all():
        row = int(np.argmin((np.isfinite(array) & (array >= 0)).all(axis=1)))
        raise ParameterError(f"{name}: expected numbers from 0 on, and row {row} is {array[row].tolist()}")
    return array


def _optional(name: str, values, columns: int) -> Optional[np.ndarray]:
    return None if values is None else _matrix(name, values, columns)


class Parameters(Mapping):
    """The parameters of a scene by their paths, as in ``params["materials.gold.roughness"]``.

    A path is that of the value in a scene file. Reading gives numbers, strings, lists and dicts; setting one marks the scene as
    changed, and the next render rebuilds what depends on it. Meshes, textures and arrays can be set where a file is named.
    """

    def __init__(self, scene: "_torrance.Scene"):
        self._scene = scene

    def __getitem__(self, path: str):
        return self._scene.get(path)

    def __setitem__(self, path: str, value) -> None:
        plain, assets = _with_assets(value)
        self._scene.set(path, plain, assets)

    def __contains__(self, path) -> bool:
        return self.get(path) is not None

    def get(self, path: str, default=None):
        """The value at a path; ``default`` if there is none."""
        try:
            return self[path]
        except ParameterError:
            return default

    def __iter__(self) -> Iterator[str]:
        return (path for path, _, _ in self._scene.parameters())

    def __len__(self) -> int:
        return len(self._scene.parameters())

    def takes(self, path: str) -> str:
        """The allowed values, in a few words, as in ``0, or from 0.01 to 1``."""
        return self._scene.takes(path)

    def update(self, values: Mapping[str, Any]) -> None:
        """Sets several parameters."""
        for path, value in values.items():
            self[path] = value

    def __repr__(self) -> str:
        lines = (f"{path} = {value}  # {takes}" for path, value, takes in self._scene.parameters())
        return "\n".join(lines)


class Scene:
    """A scene that can be rendered again and again. What differs from one render to the next, and only that, is rebuilt and uploaded.

    Scenes are made by :func:`load` and :func:`scene`. One may be rendered from several threads: one after another.
    """

    def __init__(self, scene: "_torrance.Scene"):
        self._scene = scene
        #: The parameters, by path.
        self.params = Parameters(scene)
        for warning in scene.warnings():
            warnings.warn(warning, TorranceWarning, stacklevel=3)

    def paths(self) -> List[str]:
        """The paths of all parameters."""
        return list(self.params)

    def copy(self) -> "Scene":
        """A scene of the same values, whose parameters are its own. Meshes and images are shared."""
        made = Scene.__new__(Scene)
        made._scene = self._scene.copy()
        made.params = Parameters(made._scene)
        return made

    def __copy__(self) -> "Scene":
        return self.copy()

    def __deepcopy__(self, memo) -> "Scene":
        return self.copy()

    def __reduce__(self):
        raise TypeError("a scene cannot be pickled; send its file or its values, and the parameters to set")

    def render(
        self,
        spp: Optional[int] = None,
        *,
        noise: Optional[float] = None,
        noise_of: str = "pixels",
        percentile: float = 99.0,
        uniform: bool = False,
        time: Optional[float] = None,
        size: Optional[Tuple[int, int]] = None,
        seed: Optional[int] = None,
        samples: Optional[Tuple[int, int]] = None,
        device: str = "auto",
        threads: Optional[int] = None,
        aovs: Sequence[str] = (),
        progress: Union[None, bool, Callable[[float, int, float], Optional[bool]]] = None,
    ) -> Image:
        """Renders.

        :param spp: samples per pixel, from 1; what the scene says if it is left out, or as many as ``noise`` or ``time`` take.
        :param noise: stop when noise is as low, > 0, as in ``0.01``, and take samples where it is not.
        :param noise_of: what ``noise`` bounds: the relative standard errors of ``pixels``; those of the ``display``, which shows them clipped
            at white; or that of the ``image`` as a whole, which is :attr:`Image.noise`.
        :param percentile: percentage of the pixels whose errors are to be within the bound, above 1 and up to 100.
        :param uniform: take as many samples of every pixel, however noisy some are.
        :param time: stop after so many seconds, once every pixel has a sample.
        :param size: (width, height), pixels.
        :param seed: of the sampler, 0 to 2**32 − 1.
        :param samples: the samples (from, to) of each pixel, and no others; those of disjoint ranges can be merged.
        :param device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``cuda:all``, ``cuda:0,2``, ``cuda:all+cpu``.
        :param threads: of a CPU; all by default.
        :param aovs: layers beside the image: ``emission``, ``direct``, ``indirect``, ``albedo``, ``N``, ``Ng``, ``Z``, ``P``, ``uv``,
            ``shape``, ``material``, ``crypto_object``, ``crypto_material``, ``crypto_asset``,
            and ``light:NAME``, what a light brings, as layer ``light.NAME``; ``light:*`` for each.
        :param progress: whether to show a bar; by default where there is a terminal or a notebook, and the render takes more than a
            second. Or a function, called several times a second with the samples per pixel so far, those wanted, and seconds; false
            stops the render.
        :raises Interrupted: Ctrl-C; its ``image`` has the samples taken until then.
        :raises SceneError: the values of parameters do not make a scene.
        :raises DeviceError: the device is not there, or fails.
        """
        samples = None if samples is None else _range("samples", samples)
        if samples is not None and spp is not None:
            raise ParameterError("spp and samples: give one of them")
        with Progress(progress, spp is None and samples is None and noise is None, time) as shown:
            image = self._scene.render(
                spp=_whole("spp", spp, 1, 2**30),
                noise=_positive("noise", noise),
                noise_of=noise_of,
                percentile=_percentile(percentile),
                uniform=bool(uniform),
                time=_positive("time", time),
                size=_size(size),
                seed=_whole("seed", seed, 0, 2**32 - 1),
                samples=samples,
                device=device,
                threads=_whole("threads", threads, 1, 1024),
                aovs=[aovs] if isinstance(aovs, str) else list(aovs),
                observe=shown.observe,
            )
        image = Image._of(image)
        if image.rejected:
            warnings.warn(f"{image.rejected} samples were NaN or infinite, and were left out", TorranceWarning, stacklevel=2)
        return image

    def progressive(self, spp: Optional[int] = None, *, every: float = 1.0, seed: Optional[int] = None, **options) -> Iterator[Image]:
        """Renders, and yields the image again and again as it gets better: after the first sample, and then about every ``every``
        seconds. The last one is the image of ``render(spp)``, but for rounding.

        :param spp: samples per pixel; what the scene says if it is left out.
        :param options: those of :meth:`render` but ``samples``, ``noise``, ``time`` and ``aovs``.
        """
        for name in {"samples", "noise", "time", "aovs"} & set(options):
            raise ParameterError(f"{name}: progressive renders take no such option")
        if not 0 < every < 1e9:
            raise ParameterError(f"every: expected seconds, above 0, not {every!r}")
        spp = self.params["render.spp"] if spp is None else _whole("spp", spp, 1, 2**30)
        image, done, step = None, 0, 1
        while done < spp:
            start = clock.perf_counter()
            end = min(spp, done + step)
            try:
                part = self.render(samples=(done, end), seed=seed, **options)
            except Interrupted as stopped:
                if image is not None:
                    stopped.image = image.merged(stopped.image) if stopped.image.samples.any() else image
                raise
            image = part if image is None else image.merged(part)
            yield image
            if part.interrupted:
                return
            seconds = max(clock.perf_counter() - start, 1e-3)
            # No more than twice as much as there is, so that the rate is known before much depends on it.
            done, step = end, max(1, min(2 * end, int(step * every / seconds)))


def _whole(name: str, value, least: int, most: int) -> Optional[int]:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise ParameterError(f"{name}: expected a whole number from {least} to {most}, not {value!r}")
    return int(value)


def _positive(name: str, value) -> Optional[float]:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < 1e18:
        raise ParameterError(f"{name}: expected a number above 0, not {value!r}")
    return float(value)


def _percentile(value) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 1 < value <= 100:
        raise ParameterError(f"percentile: expected a percentage above 1 and up to 100, not {value!r}")
    return float(value)


def _pair(name: str, value, expected: str) -> Tuple[int, int]:
    try:
        a, b = value
        return _whole(name, a, 0, 2**31 - 1), _whole(name, b, 0, 2**31 - 1)
    except (TypeError, ValueError):
        raise ParameterError(f"{name}: expected {expected}, not {value!r}") from None


def _size(value) -> Optional[Tuple[int, int]]:
    return None if value is None else _pair("size", value, "(width, height)")


def _range(name: str, value) -> Tuple[int, int]:
    a, b = _pair(name, value, "(from, to)")
    if a >= b:
        raise ParameterError(f"{name}: expected (from, to) with from < to, not {value!r}")
    return a, b


def _with_assets(value) -> Tuple[Any, List["_torrance.Asset"]]:
    """A value as TOML has it, and the meshes and textures that it names."""
    assets: List["_torrance.Asset"] = []

    def add(asset: "_torrance.Asset") -> str:
        assets.append(asset)
        return asset.name()

    return _plain(value, add), assets


def _plain(value, add: Callable[["_torrance.Asset"], str]):
    """A value as TOML has it: numpy's numbers and arrays, paths, meshes and textures as plain ones."""
    if isinstance(value, (Mesh, Texture)):
        return add(value._asset)
    if isinstance(value, np.ndarray):
        is_matrix = value.dtype.kind == "f" and value.shape in ((3, 4), (4, 4))
        return value.tolist() if value.ndim < 2 or is_matrix else add(Texture(value)._asset)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {key: _plain(part, add) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part, add) for part in value]
    return value


def gpus() -> Dict[str, str]:
    """The GPUs that can render: their models, by the names that ``device`` takes, as in ``{"cuda:0": "NVIDIA H100"}``. Empty if
    there is none, or no driver."""
    try:
        return dict(_torrance.gpus())
    except DeviceError:
        return {}


def load(path: PathLike, *, set: Optional[Mapping[str, Any]] = None, allow_external: bool = False) -> Scene:
    """Reads a scene: TOML, Mitsuba 3 XML, glTF, OBJ or PLY.

    :param set: parameters by path, as in ``{"materials.gold.roughness": 0.3}``.
    :param allow_external: whether the scene may read files outside its folder.
    :raises SceneError: all that is wrong, with file, line and the nearest valid name.
    """
    made = Scene(_torrance.Scene.open(os.fspath(path), allow_external))
    made.params.update(set or {})
    return made


def scene(values: Mapping[str, Any], *, folder: PathLike = ".", allow_external: bool = False) -> Scene:
    """A scene of values: the keys of a TOML scene file as dicts and lists, with meshes, textures and arrays in place of files.

    :param folder: where the files are that it names.
    :raises SceneError: all that is wrong. Lines are those of the values in TOML.
    """
    plain, assets = _with_assets(values)
    return Scene(_torrance.Scene.of_values(plain, os.fspath(folder), assets, allow_external))
