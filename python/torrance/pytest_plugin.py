"""pytest-torrance: image regression tests for any renderer. ``docs/pytest.md`` is its manual."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, List

import pytest

if TYPE_CHECKING:
    from ._regression import Regression

_RUN_FOLDER = pytest.StashKey[Path]()
#: The same, handed to the workers of pytest-xdist.
_RUN_OF_WORKERS = "torrance_run"


@pytest.fixture
def image_regression(request: pytest.FixtureRequest, record_property) -> Regression:
    """Checks of renders against references: ``image_regression.check(render, "name")``."""
    # Here, since most runs of pytest have no images, and should not wait for NumPy.
    from ._regression import Regression
    from ._run import Run

    config, folder = request.config, request.path.parent
    return Regression(
        Run(_run_folder(config)),
        request.node.nodeid,
        _setting(config, "references") or folder / "references",
        _output(config) / _below(folder, config.rootpath),
        level=_level(config),
        blesses=bool(config.option.torrance_bless),
        is_strict=config.option.torrance_strict,
        draws=bool(config.option.torrance_html),
        record=record_property,
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torrance", "image regression tests")
    group.addoption(
        "--torrance-bless",
        choices=("yes", "ci"),
        help="write new references instead of checking; where the environment variable CI is set, only with 'ci'. "
        "--bless and --bless=ci are short for it, unless another plugin has them",
    )
    group.addoption("--torrance-html", metavar="FILE", help="write a page with the images and the verdict of every check")
    group.addoption("--torrance-references", metavar="FOLDER", help="references, instead of the folder beside each test file")
    group.addoption("--torrance-output", metavar="FOLDER", help="images of checks that are not clear [test-results]")
    group.addoption("--torrance-level", metavar="P", help="bound of the probability that an unchanged folder fails [0.01]")
    group.addoption("--torrance-strict", action="store_true", help="checks without a clear verdict fail")
    for name, what in (("references", "folder"), ("output", "folder"), ("level", "probability")):
        parser.addini(f"torrance_{name}", f"{what}: the option --torrance-{name}")


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: List[str]):
    yield  # The options of all others are known only now.
    if _is_free(parser, "--bless"):
        long = {"--bless": "--torrance-bless=yes", "--bless=ci": "--torrance-bless=ci"}
        args[:] = [long.get(arg, arg) for arg in args]


def _is_free(parser: pytest.Parser, option: str) -> bool:
    try:
        return option in parser.parse_known_and_unknown_args([option])[1]
    except pytest.UsageError:  # Somebody's, and it takes a value.
        return False


def pytest_configure(config: pytest.Config) -> None:
    if config.option.torrance_bless == "yes" and os.environ.get("CI"):
        raise pytest.UsageError(
            "the variable CI is set, and who runs tests there seldom looks at images: --bless=ci if it is meant"
        )
    _level(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Tells a worker of pytest-xdist where the run is."""
    node.workerinput[_RUN_OF_WORKERS] = str(_run_folder(node.config))


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if config.option.torrance_html and not _is_worker(config):
        from ._report import write_page
        from ._run import Run

        write_page(Run(_run_folder(config)).cases(), Path(config.option.torrance_html))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if _RUN_FOLDER not in config.stash:
        return
    from ._run import Run

    blessed = [case for case in Run(_run_folder(config)).cases() if case.status == "blessed"]
    if blessed:
        terminalreporter.section("new references")
    for case in blessed:
        terminalreporter.line(f"{case.files['reference']}: {' '.join(case.words)}")
    if config.option.torrance_html:
        terminalreporter.line(f"images and verdicts: {config.option.torrance_html}")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUN_FOLDER in config.stash and not _is_worker(config):
        shutil.rmtree(config.stash[_RUN_FOLDER], ignore_errors=True)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _run_folder(config: pytest.Config) -> Path:
    """The folder that all processes of this run share."""
    if _RUN_FOLDER not in config.stash:
        shared = config.workerinput[_RUN_OF_WORKERS] if _is_worker(config) else tempfile.mkdtemp(prefix="torrance-")
        config.stash[_RUN_FOLDER] = Path(shared)
    return config.stash[_RUN_FOLDER]


def _setting(config: pytest.Config, name: str):
    """A folder: an option's, from the current one on; or that of the configuration, from the root on."""
    option, value = getattr(config.option, f"torrance_{name}"), config.getini(f"torrance_{name}")
    if option:
        return Path(config.invocation_params.dir, option)
    return config.rootpath / value if value else None


def _output(config: pytest.Config) -> Path:
    return _setting(config, "output") or config.rootpath / "test-results"


def _below(folder: Path, root: Path) -> Path:
    """Where a folder is in another. What is elsewhere goes by its name."""
    return folder.relative_to(root) if root in (folder, *folder.parents) else Path(folder.name)


def _level(config: pytest.Config) -> float:
    text = config.option.torrance_level or config.getini("torrance_level") or "0.01"
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0.0 < level < 1.0:
        raise pytest.UsageError(f"torrance-level: expected a probability, above 0 and below 1, not {text!r}")
    return level
