"""Renders, sweeps and suites on a cluster, by `Ray <https://docs.ray.io>`_, the extra ``ray`` of the package.

>>> import torrance.ray
>>> image = torrance.ray.render("/shared/temple.toml", spp=4096)

Everything runs as tasks of Ray, on as many machines as there are while it runs. What is lost with one is done again by another.
Where Ray has not been started, it starts on this machine; ``RAY_ADDRESS`` names a cluster.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
import uuid
import warnings
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Union

import numpy as np

try:
    import ray
except ImportError as error:
    raise ImportError("torrance.ray needs Ray: pip install ray") from error

from . import _torrance
from . import suite as _suite
from ._progress import Progress
from .errors import Interrupted, ParameterError, SceneError, TorranceWarning
from .image import Image, PathLike
from .scene import Scene, _positive, _whole
from .scene import load as _load
from .scene import scene as _of_values
from .suite import SuiteResult
from .sweep import Sweep, Variants, measure

__all__ = ["regress", "render", "sweep"]

#: What a scene may be: a file that all machines can read, values as :func:`torrance.scene` takes them, or the text of a TOML file.
SceneLike = Union[PathLike, Mapping[str, Any]]
#: Called several times a second with what is done, what is wanted, and seconds; false stops it.
Observer = Callable[[float, int, float], Union[bool, None]]

#: How often Ray takes a task again that was lost with its process or its machine.
RETRIES = 10
#: Seconds between looks at what has ended.
MOMENT = 0.2
#: Seconds of rendering that tell how long samples take, and seconds until a guess has to do.
KNOWN = 0.2
BEGINNING = 1.0
#: The most samples that a pixel can have.
MOST = 1 << 30


def render(
    scene: SceneLike,
    spp: int | None = None,
    *,
    noise: float | None = None,
    size: tuple[int, int] | None = None,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    folder: PathLike = ".",
    allow_external: bool = False,
    num_gpus: float = 0,
    num_cpus: float = 1,
    chunk: int | None = None,
    progress: None | bool | Observer = None,
) -> Image:
    """Renders on all machines of the cluster.

    The samples are divided into ranges, which are tasks of a few seconds. Each is counted once, however often it was begun, so
    that the image is that of :meth:`Scene.render` up to rounding.

    :param scene: a file that all machines can read, or values as of :func:`torrance.scene`, or the text of a TOML file.
    :param spp: samples per pixel, from 1; what the scene says if it is left out, or as many as ``noise`` takes.
    :param noise: stop at this relative standard error of the image, > 0. It is looked at after 16 samples per pixel, and then where
        it should be small enough, so that the number of samples does not depend on that of the machines.
    :param size: (width, height), pixels.
    :param seed: of the sampler, 0 to 2**32 − 1.
    :param set: parameters by path, as of :func:`torrance.load`; ``folder`` and ``allow_external``, as of :func:`torrance.scene`.
    :param num_gpus: GPUs of a task: 0 renders on CPUs.
    :param num_cpus: CPU cores of a task.
    :param chunk: samples per pixel of a task; by default, as many as take a few seconds.
    :param progress: as of :meth:`Scene.render`.
    :raises Interrupted: Ctrl-C; its ``image`` has the samples taken until then.
    :raises TorranceError: as :meth:`Scene.render` does. It is raised once, and ends the render.
    :raises ray.exceptions.RayError: a task was lost again and again.
    """
    _whole("chunk", chunk, 1, MOST)
    noise = _positive("noise", noise)
    cluster = _Cluster(num_cpus, num_gpus)
    source = _source(scene, set, folder, allow_external)
    if spp is None and noise is None:
        spp = _result(cluster.task(_default_spp).remote(source))
    most = _whole("spp", spp, 1, MOST) or MOST
    options = {"size": size, "seed": seed, **cluster.options}
    target = min(most, FIRST) if noise else most
    with Progress(progress, False, None) as shown, _Tasks(shown, target) as tasks:
        film = _Film(cluster, tasks, (source, options), chunk)
        try:
            _expose(film, tasks, most, noise)
        except KeyboardInterrupt:
            image = film.image
            if image is None:
                raise
            raise Interrupted(image._image) from None
    return film.image


def sweep(
    scene: SceneLike,
    parameters: Mapping[str, Iterable[Any]],
    *,
    zip: bool = False,
    set: Mapping[str, Any] | None = None,
    folder: PathLike = ".",
    allow_external: bool = False,
    num_gpus: float = 0,
    num_cpus: float = 1,
    progress: None | bool | Observer = None,
    **options,
) -> Sweep:
    """As :func:`torrance.sweep`, with a task for each variant.

    :param scene: as of :func:`render`, and so are ``set``, ``folder``, ``allow_external``, ``num_gpus`` and ``num_cpus``.
    :raises TorranceError: a parameter is wrong, or a variant fails. Whatever is raised has the attribute ``sweep``, with the
        variants that are done.
    """
    done = Sweep(parameters, zip)
    cluster = _Cluster(num_cpus, num_gpus)
    source = _source(scene, set, folder, allow_external)
    vary = cluster.task(_vary)
    with Progress(progress, False, None, "variants") as shown, _Tasks(shown, len(done)) as tasks:
        try:
            for index, values in enumerate(done.variants):
                tasks.add(vary.remote(source, values, {**options, **cluster.options}), index)
            for index, (image, measured) in tasks:
                done._keep(index, image, measured)
        except BaseException as error:
            error.sweep = done
            raise
    return done


def regress(
    suite: PathLike,
    *,
    filter: str | Iterable[str] = (),
    full: bool = False,
    output: PathLike | None = None,
    num_gpus: float = 0,
    num_cpus: float = 1,
    progress: None | bool | Observer = None,
) -> SuiteResult:
    """As :func:`torrance.regress`, with a task for each case. Verdicts do not depend on which cases run together.

    :param suite: a file that all machines can read; so ``output`` is a folder that all can write.
    :param num_gpus: GPUs of a task: 0 renders on CPUs.
    :param num_cpus: CPU cores of a task.
    :raises TorranceError: as :func:`torrance.regress` does. Whatever is raised while cases run has the attribute ``suite``, the
        result so far.
    """
    start = time.perf_counter()
    cluster = _Cluster(num_cpus, num_gpus)
    chosen = [f"--filter={text}" for text in ([filter] if isinstance(filter, str) else filter)]
    options = [f"--device={cluster.options['device']}", f"--threads={cluster.threads}", "--checkpoint=off"]
    options += ["--full"] * full + ([] if output is None else [f"--output={os.fspath(output)}"])
    suite = os.path.abspath(os.fspath(suite))
    names = _result(cluster.task(_suite.names).remote(suite, chosen))
    judge = cluster.task(_judge)
    reports: dict[str, dict] = {}
    with Progress(progress, False, None, "cases") as shown, _Tasks(shown, len(names)) as tasks:
        for name in names:
            tasks.add(judge.remote(suite, name, options), name)
        try:
            for name, report in tasks:
                reports[name] = report
        except BaseException as error:
            error.suite = SuiteResult(_joined(reports, names, time.perf_counter() - start))
            raise
    return SuiteResult(_joined(reports, names, time.perf_counter() - start))


# What tasks do.


class _Part(NamedTuple):
    """Samples that a task has taken: what is said of them and their pixels, where they end, and how many of the last took how long."""

    said: bytes
    pixels: np.ndarray
    end: int
    count: int
    seconds: float


@dataclass(frozen=True)
class _Source:
    """A scene, as tasks get it."""

    scene: str | Mapping[str, Any]
    is_text: bool
    set: Mapping[str, Any]
    folder: str
    allow_external: bool
    #: Of this scene alone. Two calls have two scenes even if they name the same file, which may have changed between them.
    key: str

    def load(self) -> Scene:
        if isinstance(self.scene, str) and not self.is_text:
            return _load(self.scene, set=self.set, allow_external=self.allow_external)
        values = _parsed(self.scene) if self.is_text else self.scene
        scene = _of_values(values, folder=self.folder, allow_external=self.allow_external)
        scene.params.update(self.set)
        return scene


#: Scenes of this process by their keys: those used last, which the next task probably wants.
_SCENES: OrderedDict[str, Variants] = OrderedDict()
KEPT = 2


def _variants(source: _Source) -> Variants:
    if source.key not in _SCENES:
        while len(_SCENES) >= KEPT:
            _SCENES.popitem(last=False)
        _SCENES[source.key] = Variants(source.load())
    _SCENES.move_to_end(source.key)
    return _SCENES[source.key]


def _default_spp(source: _Source) -> int:
    return _variants(source).scene.params["render.spp"]


def _take(source: _Source, options: Mapping[str, Any], samples: tuple[int, int]) -> _Part:
    """Takes a range of samples."""
    image = _variants(source).scene.render(samples=samples, progress=False, **options)
    return _Part(*image._image.parts(), samples[1], samples[1] - samples[0], image.seconds)


def _begin(source: _Source, options: Mapping[str, Any], samples: tuple[int, int]) -> _Part:
    """Takes so many samples from the beginning of a range as it takes to know how long they take."""
    start, (done, end), step, all_ = time.perf_counter(), samples, 1, _torrance.Sum()
    while True:
        part = _take(source, options, (done, min(end, done + step)))
        all_.add(part.said, part.pixels)
        is_known = part.seconds >= KNOWN or time.perf_counter() - start >= BEGINNING
        if is_known or part.end == end:
            said, pixels = all_.image().parts()
            return part._replace(said=said, pixels=pixels)
        done, step = part.end, 4 * step


def _vary(source: _Source, values: Mapping[str, Any], options: Mapping[str, Any]) -> tuple[Image, dict]:
    """Renders a variant. The second value is what tables say of it."""
    variants = _variants(source)
    variants.choose(values)
    image = variants.scene.render(progress=False, **options)
    return image, measure(image)


def _judge(suite: str, name: str, options: list[str]) -> dict:
    """Runs a case. Others whose names end in the same way may run with it."""
    report = _suite.run(suite, [f"--filter=*{name}", *options]).report
    return {**report, "cases": [case for case in report["cases"] if case["name"] == name]}


# How they are run.


class _Cluster:
    """What Ray is asked for."""

    def __init__(self, num_cpus: float, num_gpus: float):
        numbers = [isinstance(x, (int, float)) and 0 <= x < 1e6 for x in (num_cpus, num_gpus)]
        if not all(numbers) or num_cpus + num_gpus == 0:
            raise ParameterError(f"a task needs CPU cores or GPUs, not num_cpus={num_cpus!r} and num_gpus={num_gpus!r}")
        if not ray.is_initialized():
            ray.init()
        self._needs = {"CPU": num_cpus, "GPU": num_gpus}
        there = ray.cluster_resources()
        for kind, need in self._needs.items():
            if there.get(kind, 0) < need:
                has = f"a task needs {need} {kind}, and the whole cluster has {there.get(kind, 0):g}"
                warnings.warn(f"{has}: waiting for machines that have more", TorranceWarning, stacklevel=4)
        #: Threads of a task.
        self.threads = max(1, int(num_cpus))
        #: Of :meth:`Scene.render`.
        self.options = {"device": "cuda" if num_gpus else "cpu"}

    def task(self, function: Callable):
        """A function as tasks. A machine's threads are shared out as its cores are."""
        environment = {"env_vars": {"RAYON_NUM_THREADS": str(self.threads)}}
        needs = {"num_cpus": self._needs["CPU"], "num_gpus": self._needs["GPU"]}
        return ray.remote(function).options(max_retries=RETRIES, runtime_env=environment, **needs)

    def slots(self) -> int:
        """Number of tasks that can run at a time, on the machines that there are now."""
        there = ray.cluster_resources()
        return max(1, min(int(there.get(kind, 0) / need) for kind, need in self._needs.items() if need))


class _Tasks:
    """Tasks under way, and what each is for. Iterating gives what it is for, and its result, as they end."""

    def __init__(self, shown: Progress, target: int):
        self._pending: dict[ray.ObjectRef, tuple[Any, int]] = {}
        self._shown = shown
        self._start = time.perf_counter()
        #: What is done, and what all tasks amount to.
        self.done = 0
        self.target = target
        #: Whether the user wants no more.
        self.stopped = False

    def __enter__(self):
        return self

    def __exit__(self, kind, *_) -> None:
        for task in self._pending:
            ray.cancel(task)
        if kind is not None and issubclass(kind, Exception) and self._pending:
            # Others fail in the same way, of which Ray would tell where nobody asks for their results.
            for task in ray.wait(list(self._pending), num_returns=len(self._pending), timeout=1.0)[0]:
                with contextlib.suppress(Exception):
                    ray.get(task)

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, task: ray.ObjectRef, purpose: Any, amount: int = 1) -> None:
        """Watches a task, which is an amount of what is to be done."""
        self._pending[task] = purpose, amount

    def __iter__(self):
        while self._pending and not self.stopped:
            ready, _ = ray.wait(list(self._pending), timeout=MOMENT)
            for task in ready:
                purpose, amount = self._pending.pop(task)
                yield purpose, _result(task)
                self.done += amount
            # Stopping needs something to stop with.
            if self.done:
                self.stopped = self._shown.stops(self.done, self.target, time.perf_counter() - self._start)


def _result(task: ray.ObjectRef):
    """The result of a task. Its error is raised as it would be without Ray."""
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


class _Film:
    """The samples that were taken so far."""

    #: Seconds that a task is to take, and that its pixels may take of it on their way, at the least bytes a second.
    SECONDS = 3.0
    ON_THE_WAY = 0.1
    RATE = 0.3e9
    #: Tasks for each that can run at a time, so that there is always one to begin.
    AHEAD = 2

    def __init__(self, cluster: _Cluster, tasks: _Tasks, scene: tuple, chunk: int | None):
        #: Samples of each pixel.
        self.samples = 0
        self._sum = _torrance.Sum()
        self._cluster = cluster
        self._take, self._begin = cluster.task(_take), cluster.task(_begin)
        self._scene = scene
        self._tasks = tasks
        self._chunk = chunk
        self._bytes = 0
        # Ranges that nobody has taken, and samples that somebody takes, or is to take.
        self._left: list[tuple[int, int]] = []
        self._end = 0
        # Samples and seconds of the last tasks; seconds of the last additions.
        self._speeds: deque[tuple[int, float]] = deque(maxlen=16)
        self._additions: deque[float] = deque(maxlen=16)

    @property
    def image(self) -> Image | None:
        """The image so far."""
        made = self._sum.image()
        return None if made is None else Image._of(made)

    def extend(self, end: int) -> None:
        """Takes all samples before ``end``."""
        self._left.append((self._end, end))
        self._end = end
        if not self._speeds and not self._chunk:
            self._share_out()
        self._submit()
        for (begin, stop), part in self._tasks:
            self._speeds.append((part.count, part.seconds))
            self._add(part, part.end - begin)
            if part.end < stop:
                self._left.append((part.end, stop))
            self._submit()

    def _share_out(self) -> None:
        """Has each that can take tasks begin with a part of the samples. They tell how long samples take, and what is wrong with the
        scene, if anything is."""
        ((begin, end),) = self._left
        slots = min(self._cluster.slots(), end - begin)
        borders = [begin + i * (end - begin) // slots for i in range(slots + 1)]
        for samples in zip(borders, borders[1:]):
            # Of which it may leave some.
            self._tasks.add(self._begin.remote(*self._scene, samples), samples, 0)
        self._left = []

    def _submit(self) -> None:
        slots = self._cluster.slots()
        while self._left and len(self._tasks) < self.AHEAD * slots:
            begin, end = self._left.pop(0)
            left = end - begin + sum(b - a for a, b in self._left)
            stop = min(end, begin + self._length(left, slots))
            if stop < end:
                self._left.insert(0, (stop, end))
            self._tasks.add(self._take.remote(*self._scene, (begin, stop)), (begin, stop), 0)

    def _length(self, left: int, slots: int) -> int:
        """Samples of the next task, of those that are left."""
        if self._chunk or not self._speeds:
            return min(left, self._chunk or 1)
        samples, seconds = map(sum, zip(*self._speeds))
        # Parts are added one after the other. With many machines, tasks take longer, so that this keeps up.
        adding = self.AHEAD * slots * sum(self._additions) / max(1, len(self._additions))
        fair = samples / seconds * max(self.SECONDS, self._bytes / self.RATE / self.ON_THE_WAY, adding)
        # The last ones are shorter, so that all machines end at about the same time.
        return max(1, min(left, math.ceil(max(fair / 8, min(fair, left / (self.AHEAD * slots))))))

    def _add(self, part: _Part, samples: int) -> None:
        start = time.perf_counter()
        self._sum.add(part.said, part.pixels)
        self._bytes = part.pixels.nbytes
        self.samples += samples
        self._tasks.done = self.samples
        self._additions.append(time.perf_counter() - start)


def _expose(film: _Film, tasks: _Tasks, most: int, noise: float | None) -> None:
    """Takes samples until there are as many as there may be, or little enough noise."""
    film.extend(tasks.target)
    while film.samples < most and noise and not tasks.stopped:
        ratio = film.image.noise / noise
        if ratio <= 1:
            break
        tasks.target = min(most, _next_look(film.samples, ratio))
        film.extend(tasks.target)


#: Samples of each pixel at the first look at the noise, and looks that there can be until there are twice as many.
FIRST = 16
STEPS = 8


def _next_look(samples: int, ratio: float) -> int:
    """Where to look next if there is so many times the noise that is wanted. Variance falls with the number of samples. Looks are
    on steps of their own, so that rounding does not move them; and not too far, since the noise of few samples is uncertain."""
    octaves = math.log2(samples / FIRST * min(ratio**2, 4.0))
    return max(samples + 1, round(FIRST * 2 ** (math.ceil(STEPS * octaves) / STEPS)))


# Scenes and reports.


def _source(scene: SceneLike, set: Mapping[str, Any] | None, folder: PathLike, allow_external: bool) -> ray.ObjectRef:
    """Puts a scene where all machines find it."""
    if isinstance(scene, Scene):
        raise ParameterError(
            "a scene of this process cannot be sent to others; give its file or its values, and parameters by set="
        )
    is_text = isinstance(scene, str) and "\n" in scene
    if not isinstance(scene, Mapping) and not is_text:
        scene = os.path.abspath(os.fspath(scene))
    try:
        return ray.put(
            _Source(scene, is_text, dict(set or {}), os.path.abspath(os.fspath(folder)), allow_external, uuid.uuid4().hex)
        )
    except TypeError as error:
        raise ParameterError(f"values of the scene cannot be sent to other processes: {error}") from None


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        import tomllib
    except ImportError:
        raise ParameterError("text of TOML files needs Python 3.11; give the values as a dict, or a file") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"error: {error}") from None


#: What reports call the numbers of cases, by their status.
COUNTS = {
    "passed": "passed",
    "unresolved": "unresolved",
    "failed": "failed",
    "error": "errors",
    "skipped": "skipped",
    "not run": "not_run",
}


def _joined(reports: Mapping[str, dict], names: list[str], seconds: float) -> dict:
    """The report of a whole suite, of those of its cases."""
    done = [reports[name] for name in names if name in reports]
    cases = [reports[name]["cases"][0] if name in reports else _not_run(name) for name in names]
    statuses = Counter(case["status"] for case in cases)
    about = {key: done[0][key] for key in ("version", "suite", "level")} if done else {}
    devices = " + ".join(sorted({report["device"] for report in done}))
    counts = {count: statuses[status] for status, count in COUNTS.items()}
    return {**about, "device": devices, "interrupted": len(done) < len(names), **counts, "seconds": seconds, "cases": cases}


def _not_run(name: str) -> dict:
    return {"name": name, "status": "not run", "words": ["not run: interrupted before"]}
