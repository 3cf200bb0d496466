"""Images, with their noise."""

from __future__ import annotations

import errno
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _torrance
from .errors import ParameterError

__all__ = ["Image", "read"]

PathLike = Union[str, "os.PathLike[str]"]

#: A temperature in kelvin, or a colour.
WhiteBalance = Union[None, float, Sequence[float]]


class Image:
    """Radiance, with its standard errors and layers.

    Renders return images, :func:`read` reads them from files, and the constructor takes arrays.

    :param radiance: linear Rec. 709, (height, width, 3), any float type.
    :param stderr: standard error of the mean, likewise; leave it out if it is not known.
    :param samples: number of samples of each pixel, (height, width), or one number for all.
    :param attributes: what EXR files are to say of it, as text by name.

    ``numpy.asarray(image)`` is :attr:`radiance`.
    """

    __slots__ = ("_image",)

    def __init__(self, radiance, stderr=None, samples=None, attributes: Optional[Mapping[str, str]] = None):
        radiance = _rgb("radiance", radiance)
        if stderr is not None:
            stderr = _rgb("stderr", stderr)
        if samples is not None:
            samples = _counts(samples, radiance.shape[:2])
        attributes = dict(attributes or {})
        for name, value in attributes.items():
            if not (isinstance(name, str) and isinstance(value, str)) or "\0" in name + value:
                raise ParameterError(f"attributes: expected text without NUL, not {name!r}: {value!r}")
        self._image = _torrance.Image.of_arrays(radiance, stderr, samples, attributes)

    @classmethod
    def _of(cls, image: "_torrance.Image") -> "Image":
        made = cls.__new__(cls)
        made._image = image
        return made

    @property
    def shape(self) -> tuple:
        """(height, width, 3)."""
        return (*self._image.shape(), 3)

    @property
    def height(self) -> int:
        """Pixels."""
        return self._image.shape()[0]

    @property
    def width(self) -> int:
        """Pixels."""
        return self._image.shape()[1]

    @property
    def radiance(self) -> np.ndarray:
        """Mean radiance, linear Rec. 709, (height, width, 3), float32; row 0 is the top. It is not copied; do not write to it."""
        return self._image.radiance()

    @property
    def on_device(self) -> Optional["DeviceArray"]:
        """The radiance in the memory of the GPU that rendered it, which nobody has to copy; ``None`` for other images.

        ``torch.from_dlpack(image.on_device)``, ``cupy.asarray(image.on_device)`` and ``jax.dlpack.from_dlpack(image.on_device)`` are
        views of it.
        """
        found = self._image.on_device()
        return None if found is None else DeviceArray(self, *found)

    @property
    def stderr(self) -> Optional[np.ndarray]:
        """Standard error of the mean of each pixel, (height, width, 3), float32; infinite with one sample; ``None`` if unknown."""
        return self._image.stderr()

    @property
    def samples(self) -> Optional[np.ndarray]:
        """Number of samples of each pixel, (height, width), uint32; ``None`` if unknown."""
        return self._image.samples()

    @property
    def noise(self) -> float:
        """Relative standard error of the image: the root of the mean variance of pixels over their mean brightness."""
        return self._image.noise()

    @property
    def layers(self) -> List[str]:
        """Names of the layers, for :meth:`__getitem__`."""
        return [name for name in self._image.layers() if name != "sums" and not name.startswith("sums.")]

    def __getitem__(self, layer: str) -> np.ndarray:
        """A layer by its name: (height, width, channels) float32; (height, width) if it has one channel, uint32 for ids."""
        return self._image.layer(layer)

    @property
    def attributes(self) -> Dict[str, str]:
        """What an EXR file says of the image: scene, settings, seed, sample ranges."""
        return self._image.attributes()

    @property
    def spp(self) -> Optional[int]:
        """Samples taken of every pixel, at least; ``None`` if that is unknown."""
        return self._image.record()[0]

    @property
    def seconds(self) -> Optional[float]:
        """Seconds that rendering took, without reading, building and uploading the scene; ``None`` if that is unknown."""
        return self._image.record()[1]

    @property
    def paths(self) -> Optional[int]:
        """Number of paths traced; ``None`` if that is unknown."""
        return self._image.record()[2]

    @property
    def interrupted(self) -> bool:
        """Whether the render was stopped before it was done."""
        return self._image.record()[3]

    @property
    def rejected(self) -> Optional[int]:
        """Samples that were NaN or infinite, and left out; ``None`` if that is unknown."""
        return self._image.record()[4]

    @property
    def device(self) -> Optional[str]:
        """Name of the machine that rendered it; ``None`` if that is unknown."""
        return self._image.record()[5]

    def save(
        self,
        path: PathLike,
        *,
        exposure: Union[float, str] = 0.0,
        tonemap: str = "clip",
        white_balance: WhiteBalance = None,
        bits: int = 8,
        half: bool = False,
    ) -> None:
        """Writes a file: ``.png``, ``.jxl``, ``.webp`` or ``.jpg`` for displays, ``.exr``, ``.hdr`` or ``.pfm``. One that is there
        is replaced when the new one is complete.

        :param exposure: and ``tonemap`` and ``white_balance``, of files for displays, as of :meth:`tonemap`.
        :param bits: of PNG and JPEG XL, a channel: 8 or 16.
        :param half: whether colours of EXR files are 16-bit floats.
        :raises OSError: it cannot be written.
        """
        if bits not in (8, 16):
            raise ParameterError(f"bits: expected 8 or 16, not {bits}")
        self._image.save(os.fspath(path), (exposure, tonemap, white_balance), bits, half)

    def tonemap(
        self, operator: str = "clip", *, exposure: Union[float, str] = 0.0, white_balance: WhiteBalance = None
    ) -> np.ndarray:
        """The image as a display shows it: (height, width, 3), uint8, sRGB.

        :param operator: ``clip``, ``reinhard`` (extended, on luminance, white at 4), ``aces`` (Hill's fit), ``agx`` or
            ``neutral`` (Khronos PBR Neutral).
        :param exposure: stops: radiance is multiplied by 2 to this power; ``"auto"``, by which the mean is a middle grey; or a
            camera's, as in ``"ev100=12"`` or ``"f/8,1/125,iso=100"``, for radiance in cd/m².
        :param white_balance: which light looks white: its temperature, 1667 to 25000 kelvin, or its colour, linear Rec. 709.
        :raises ParameterError: one of them is none.
        """
        return self._image.tonemap((exposure, operator, white_balance))

    def denoised(
        self, denoiser: str = "auto", *, device: str = "auto", threads: Optional[int] = None
    ) -> "Image":
        """The image without its noise. It knows no noise any more, and :func:`torrance.compare` cannot judge it: judge the noisy one.

        Best of renders with ``aovs=["albedo", "N", "halves"]``, of which ``"oidn"`` needs no ``"halves"``.

        :param denoiser: ``"oidn"``, Open Image Denoise where its library is found; ``"nfor"``, torrance's own; or ``"auto"``, the first
            that there is.
        :param device: ``"cpu"``, ``"cuda"`` or ``"auto"``.
        :param threads: of the CPU; all if ``None``.
        :raises ParameterError: there is no such denoiser or device, or NFOR does not know the noise.
        """
        return Image._of(self._image.denoised(denoiser, device, threads))

    def merged(self, other: "Image") -> "Image":
        """The image of the samples of both: other samples of the same scene, rendered here or read from files.

        :raises ParameterError: they have samples in common, or are of different scenes or sizes.
        """
        return Image._of(self._image.merged(other._image))

    def __reduce__(self):
        return _unpacked, self._image.parts()

    def __array__(self, dtype=None, copy=None):
        array = self.radiance
        is_other = dtype is not None and np.dtype(dtype) != array.dtype
        if is_other and copy is False:
            raise ValueError(f"an array of {np.dtype(dtype)} cannot be made of float32 without a copy")
        if copy or is_other:
            return array.astype(dtype or array.dtype)
        return array

    def __dlpack__(self, **options):
        try:
            return self.radiance.__dlpack__(**options)
        except TypeError:
            # numpy 1 knows of no versions; it makes what everybody understands.
            return self.radiance.__dlpack__(stream=options.get("stream"))

    def __dlpack_device__(self):
        return self.radiance.__dlpack_device__()

    def _repr_png_(self) -> bytes:
        return bytes(self._image.png((0.0, "clip", None)))

    def __repr__(self) -> str:
        spp = "" if self.spp is None else f", {self.spp} spp"
        return f"<torrance.Image {self.width}×{self.height}{spp}{', interrupted' if self.interrupted else ''}>"


class DeviceArray:
    """Radiance in the memory of a GPU, (height, width, 3), float32, for what knows DLPack or ``__cuda_array_interface__``. Do not
    write to it."""

    def __init__(self, image: Image, address: int, device: int, size: tuple):
        # Its memory is free when the image is gone.
        self._image = image
        #: Index of the device.
        self.device = device
        self.shape = (*size, 3)
        self._address = address

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"shape": self.shape, "typestr": "<f4", "data": (self._address, False), "strides": None, "version": 3}

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        # Whatever the stream: all that writes the image is done.
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("the image can only be seen where it is, without a copy")
        return self._image._image.dlpack()

    def __dlpack_device__(self):
        cuda = 2
        return cuda, self.device


def _unpacked(said: bytes, pixels: Optional[np.ndarray]) -> Image:
    return Image._of(_torrance.Image.of_parts(said, pixels))


def _counts(samples, shape) -> np.ndarray:
    array = np.asarray(samples)
    if array.dtype.kind not in "fiu" or array.shape not in ((), shape):
        raise ParameterError(f"samples: expected a number, or numbers, {shape}, not {array.dtype}, {array.shape}")
    if not ((array >= 0) & (array < 2**32) & (array == np.floor(array))).all():
        raise ParameterError("samples: expected whole numbers from 0 to 4294967295")
    return np.ascontiguousarray(np.broadcast_to(array, shape), dtype=np.uint32)


def _rgb(name: str, values) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise ParameterError(f"{name}: expected numbers, not {array.dtype}")
    if array.ndim != 3 or array.shape[2] != 3 or 0 in array.shape:
        raise ParameterError(f"{name}: expected (height, width, 3), not {array.shape}")
    return np.ascontiguousarray(array, dtype=np.float32)


def read(path: PathLike) -> Image:
    """Reads an image: ``.exr`` with its layers, ``.png``, ``.hdr`` or ``.pfm``.

    :raises OSError: it cannot be read; says why.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    return Image._of(_torrance.Image.read(os.fspath(path)))
