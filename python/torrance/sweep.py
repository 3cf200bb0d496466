"""Sweeps: a scene again and again, with other parameters."""

from __future__ import annotations

import base64
import html
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Callable

import numpy as np

from ._progress import Progress
from . import _torrance
from ._table import frame
from .errors import ParameterError
from .image import Image, PathLike
from .scene import Scene, load

__all__ = ["Sweep", "sweep"]

#: Of Rec. 709, linear.
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


class Sweep:
    """Variants of a scene, with their images: what :func:`sweep` returns.

    A sweep is a sequence of images, in the order in which the last parameter changes fastest. ``sweep[3]`` is one of them, and
    in a grid so is ``sweep[0, 3]``. Images that were not rendered, because the sweep was stopped, are ``None``.
    """

    def __init__(self, parameters: Mapping[str, Iterable[Any]], together: bool = False):
        #: The values of each parameter, by its path.
        self.parameters: dict[str, list] = {path: _values(path, values) for path, values in parameters.items()}
        if not self.parameters:
            raise ParameterError("there is no parameter to sweep; give {path: values}")
        counts = tuple(len(values) for values in self.parameters.values())
        if together and len(set(counts)) > 1:
            shown = ", ".join(f"{path} has {count}" for path, count in zip(self.parameters, counts))
            raise ParameterError(f"parameters that change together need as many values each: {shown}")
        #: Number of values of each parameter, or of all parameters that change together.
        self.shape: tuple[int, ...] = counts[:1] if together else counts
        rows = (zip if together else itertools.product)(*self.parameters.values())
        #: Parameters of each variant, by path.
        self.variants: list[dict[str, Any]] = [dict(zip(self.parameters, row)) for row in rows]
        self._images: list[Image | None] = [None] * len(self.variants)
        self._measured: list[dict[str, Any] | None] = [None] * len(self.variants)

    def _keep(self, index: int, image: Image, measured: dict[str, Any]) -> None:
        self._images[index], self._measured[index] = image, measured

    @property
    def images(self) -> np.ndarray:
        """The images, an array of objects of the grid's :attr:`shape`."""
        images = np.empty(self.shape, dtype=object)
        for index, image in zip(np.ndindex(self.shape), self._images):
            images[index] = image
        return images

    @property
    def radiance(self) -> np.ndarray:
        """Mean radiance, linear Rec. 709: the grid's shape and (height, width, 3), float32; NaN of variants that were not rendered.

        :raises ParameterError: the images differ in size, or there are none.
        """
        shapes = {image.shape for image in self._images if image is not None}
        if len(shapes) != 1:
            raise ParameterError("the images differ in size" if shapes else "there are no images")
        none = np.full(shapes.pop(), np.nan, np.float32)
        radiance = np.stack([none if image is None else image.radiance for image in self._images])
        return radiance.reshape(*self.shape, *none.shape)

    @property
    def table(self) -> dict[str, list]:
        """Columns with a row for each variant that was rendered, as ``pandas.DataFrame`` takes them: the parameters by their paths;
        ``mean``, the mean luminance, and ``mean_r``, ``mean_g`` and ``mean_b``; ``noise``, the relative standard error;
        ``spp``, ``seconds`` and ``paths``.
        """
        rows = [{**variant, **row} for variant, row in zip(self.variants, self._measured) if row is not None]
        columns = rows[0] if rows else self.parameters
        return {name: [row[name] for row in rows] for name in columns}

    @property
    def interrupted(self) -> bool:
        """Whether the sweep was stopped before it was done."""
        return None in self._measured

    def to_pandas(self):
        """:attr:`table` as a ``pandas.DataFrame``."""
        return frame(self.table)

    def mosaic(self, cols: int | None = None, *, gap: int = 4) -> Image:
        """The images side by side, with black between them, as an image without noise.

        :param cols: images in a row; by default those of the last parameter, or, if all change together, at most eight.
        :param gap: pixels between images.
        """
        images = [image for image in self._images if image is not None]
        if not images:
            raise ParameterError("there are no images")
        cols = self._cols() if cols is None else cols
        if cols < 1 or gap < 0:
            raise ParameterError(f"expected cols from 1 and gap from 0, not {cols} and {gap}")
        cols = min(cols, len(self))
        height, width = np.max([image.shape[:2] for image in images], axis=0) + gap
        sheet = np.zeros((height * -(-len(self) // cols), width * cols, 3), np.float32)
        for i, image in enumerate(self._images):
            if image is not None:
                y, x = height * (i // cols), width * (i % cols)
                sheet[y : y + image.height, x : x + image.width] = image.radiance
        return Image(sheet[: len(sheet) - gap, : width * cols - gap])

    def sheet(self, cols: int | None = None, *, gap: int = 4, tonemap: str = "clip", exposure: float = 0.0) -> np.ndarray:
        """The images side by side as a display shows them: (height, width, 3), uint8, sRGB.

        :param cols: and ``gap``, as of :meth:`mosaic`; ``tonemap`` and ``exposure`` as of :meth:`Image.tonemap`.
        """
        return self.mosaic(cols, gap=gap).tonemap(tonemap, exposure=exposure)

    def save(self, path: PathLike, cols: int | None = None, *, gap: int = 4, **options) -> None:
        """Writes the images side by side, ``.png``, ``.exr``, ``.hdr`` or ``.pfm``.

        :param cols: and ``gap``, as of :meth:`mosaic`; options as of :meth:`Image.save`.
        :raises OSError: the file cannot be written.
        """
        self.mosaic(cols, gap=gap).save(path, **options)

    def _cols(self) -> int:
        return min(self.shape[-1], 8) if len(self.shape) == 1 else self.shape[-1]

    def __len__(self) -> int:
        return len(self.variants)

    def __iter__(self) -> Iterator[Image | None]:
        return iter(self._images)

    def __getitem__(self, index: int | slice | tuple):
        return self.images[index] if isinstance(index, tuple) else self._images[index]

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.shape))
        missing = self._measured.count(None)
        return f"<torrance.Sweep {shape} of {', '.join(self.parameters)}{f', {missing} not rendered' if missing else ''}>"

    def _repr_html_(self) -> str:
        cells = [_cell(variant, image) for variant, image in zip(self.variants, self._images)]
        cols = self._cols()
        rows = ("".join(cells[i : i + cols]) for i in range(0, len(cells), cols))
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def sweep(
    scene: Scene | PathLike,
    parameters: Mapping[str, Iterable[Any]],
    *,
    zip: bool = False,
    device: str = "auto",
    progress: None | bool | Callable[[float, int, float], bool | None] = None,
    **options,
) -> Sweep:
    """Renders a scene once for each value of a parameter, or for each combination of several.

    >>> roughness = tr.sweep("scenes/preview.toml", {"materials.ball.roughness": np.linspace(0.05, 0.6, 8)}, spp=64)
    >>> roughness.save("roughness.png")

    The scene stays on the device, and only what differs between variants is rebuilt. They share their random numbers, so that
    differences come from the parameters and not from noise. ``scene`` itself is not changed.

    :param scene: a scene, or a file.
    :param parameters: values by path: numbers, words, vectors, or whatever a parameter takes.
    :param zip: whether all parameters change together, each to its first value, to its second, and so on.
    :param device: as of :meth:`Scene.render`; several, as in ``cuda:all``, render a variant each.
    :param progress: whether to show a bar; by default where there is a terminal or a notebook, and the sweep takes more than a
        second. Or a function, called several times a second with the variants so far, their number, and seconds; false stops the
        sweep, which then returns what it has.
    :param options: those of :meth:`Scene.render`, such as ``spp``, ``noise``, ``size``, ``seed`` and ``aovs``.
    :raises ParameterError: a path or a value is wrong. Nothing is rendered then.
    :raises KeyboardInterrupt: Ctrl-C. Whatever is raised while variants are rendered has the attribute ``sweep``, with those that
        are done.
    """
    done = Sweep(parameters, zip)
    scene = scene.copy() if isinstance(scene, Scene) else load(scene)
    devices = _devices(device)[: len(done)]
    # Meshes and images are added once. Paths and values that are wrong are found before anything is rendered.
    variants = done.variants
    for values in variants:
        scene.copy().params.update(values)
    _Run(done, variants, options).on([(Variants(scene), device) for device in devices], progress)
    return done


class Variants:
    """A scene that becomes one variant after the other."""

    def __init__(self, scene: Scene):
        self._original = scene
        #: The scene, as the variant that was chosen last.
        self.scene = scene.copy()

    def choose(self, values: Mapping[str, Any]) -> None:
        """Makes it the scene with these values."""
        self.scene._scene.assign(self._original._scene)
        self.scene.params.update(values)


class _Run:
    """Variants that are being rendered, on one device or several."""

    #: Seconds between looks at how far they are.
    MOMENT = 0.1

    def __init__(self, sweep: Sweep, variants: Sequence[Mapping[str, Any]], options: Mapping[str, Any]):
        self._sweep = sweep
        self._variants = variants
        self._options = options
        # Threads share it: each takes the next one.
        self._todo = iter(range(len(sweep)))
        self._parts = [0.0] * len(sweep)
        self._stops = False

    def on(self, scenes: Sequence[tuple[Variants, str]], progress) -> None:
        """Renders on devices that have the scene each, until all is done or ``progress`` wants to stop."""
        start = time.perf_counter()
        with Progress(progress, False, None, "variants") as shown, ThreadPoolExecutor(len(scenes)) as threads:
            pending = {threads.submit(self._work, *scene) for scene in scenes}
            try:
                while pending:
                    ended, pending = wait(pending, self.MOMENT, FIRST_COMPLETED)
                    for work in ended:
                        work.result()
                    if shown.stops(sum(self._parts), len(self._sweep), time.perf_counter() - start):
                        self._stops = True
            except BaseException as error:
                error.sweep = self._sweep
                raise
            finally:
                self._stops = True

    def _work(self, variants: Variants, device: str) -> None:
        for index in self._todo:
            if self._stops:
                return
            variants.choose(self._variants[index])
            image = variants.scene.render(device=device, progress=partial(self._observe, index), **self._options)
            if image.interrupted:
                return
            self._sweep._keep(index, image, measure(image))
            self._parts[index] = 1.0

    def _observe(self, index: int, done: float, target: int, _seconds: float) -> bool:
        self._parts[index] = min(done / target, 1.0)
        return not self._stops


def measure(image: Image) -> dict[str, Any]:
    """What the table says of an image."""
    mean = image.radiance.mean(axis=(0, 1), dtype=np.float64)
    channels = {f"mean_{name}": float(value) for name, value in zip("rgb", mean)}
    recorded = {"noise": image.noise, "spp": image.spp, "seconds": image.seconds, "paths": image.paths}
    return {"mean": float(mean @ LUMINANCE), **channels, **recorded}


def _values(path: str, values: Iterable[Any]) -> list:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ParameterError(f"{path}: expected a list of values, not {values!r}")
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not values:
        raise ParameterError(f"{path}: there are no values")
    return values


def _devices(name: str) -> list[str]:
    """Each of the devices of a name such as ``cuda:all+cpu``."""
    devices: list[str] = []
    for part in name.split("+"):
        kind, _, numbers = part.partition(":")
        if part == "cuda:all":
            devices += [device for device, _ in _torrance.gpus()]
        else:
            devices += [f"{kind}:{number}" for number in numbers.split(",")] if numbers else [part]
    return devices


def _cell(values: Mapping[str, Any], image: Image | None) -> str:
    """A cell of a table in HTML."""
    names = ((path.rpartition(".")[2], value) for path, value in values.items())
    text = html.escape(", ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in names))
    if image is None:
        return f"<td>–<br><small>{text}</small></td>"
    data = base64.b64encode(_thumbnail(image)._repr_png_()).decode("ascii")
    return f"<td><img src='data:image/png;base64,{data}' alt='{text}'><br><small>{text}</small></td>"


def _thumbnail(image: Image, most: int = 192) -> Image:
    """An image of at most so many pixels a side, by means over squares."""
    step = -(-max(image.shape) // most)
    height, width = image.height // step * step, image.width // step * step
    if step == 1 or not height or not width:
        return image
    squares = image.radiance[:height, :width].reshape(height // step, step, width // step, step, 3)
    return Image(squares.mean(axis=(1, 3)))
