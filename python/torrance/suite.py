"""Regression tests of images."""

from __future__ import annotations

import contextlib
import html as markup
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple


from ._progress import visible
from ._table import frame
from .errors import TorranceError
from .image import PathLike

__all__ = ["Case", "SuiteResult", "regress"]

#: Statuses with which a suite passes.
GOOD = ("passed", "unresolved", "skipped")


class Case(NamedTuple):
    """A case of a suite, and what became of it."""

    name: str
    #: ``passed``, ``unresolved``, ``failed``, ``error``, ``skipped`` or ``not run``.
    status: str
    #: Why, in a few words.
    reason: str
    #: Upper bound on the probability of evidence this strong between equal images; ``None`` where there is no such test.
    p: float | None
    #: The smallest relative difference of the whole image that would have been found with a probability of 95 %.
    resolution: float | None
    #: Samples per pixel, or runs of a command.
    samples: int | None
    seconds: float | None

    @property
    def passed(self) -> bool:
        """Whether the suite passes with it."""
        return self.status in GOOD


class SuiteResult:
    """What :func:`regress` finds. ``bool(result)`` is :attr:`passed`."""

    def __init__(self, report: dict[str, Any]):
        #: All that the program reports, as ``torrance regress --json`` prints it.
        self.report = report
        #: The cases, in the order of the suite.
        self.cases: list[Case] = [_case(case) for case in report["cases"]]

    @property
    def passed(self) -> bool:
        """Whether no case failed, and none is without a verdict or was not run."""
        return all(case.passed for case in self.cases)

    @property
    def table(self) -> dict[str, list]:
        """Columns with a row for each case, as ``pandas.DataFrame`` takes them: the fields of :class:`Case`."""
        return {field: [getattr(case, field) for case in self.cases] for field in Case._fields}

    def to_pandas(self):
        """:attr:`table` as a ``pandas.DataFrame``."""
        return frame(self.table)

    def __getitem__(self, name: str) -> Case:
        """A case by its name."""
        for case in self.cases:
            if case.name == name:
                return case
        raise KeyError(name)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        counts = Counter(case.status for case in self.cases)
        return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no cases"

    def __repr__(self) -> str:
        return f"<torrance.SuiteResult: {self}>"

    def _repr_html_(self) -> str:
        rows = "".join(_row(case) for case in self.cases)
        head = "".join(f"<th>{name}</th>" for name in ("", "case", "", "p", "seconds"))
        return f"<p>{markup.escape(str(self))}</p><table><tr>{head}</tr>{rows}</table>"


def regress(
    suite: PathLike,
    *,
    filter: str | Iterable[str] = (),
    full: bool = False,
    resume: bool = False,
    device: str = "auto",
    output: PathLike | None = None,
    html: PathLike | None = None,
    junit: PathLike | None = None,
    progress: bool | None = None,
) -> SuiteResult:
    """Runs a suite of regression tests: images against their references. It is ``torrance regress``, in a process of its own.

    :param suite: a file, as ``docs/regress.md`` describes it.
    :param filter: run the cases whose names have this part, or match it if it has ``*`` or ``?``; one or several.
    :param full: run with what the suite says under ``full``.
    :param resume: go on with what an earlier run has kept that did not come to its end.
    :param device: where to render, as of :meth:`Scene.render`; with several, each renders a case of its own.
    :param output: folder for the image of every case.
    :param html: file for a page that shows every case's images.
    :param junit: file for the results as JUnit XML.
    :param progress: whether to print a row for each case as it ends; by default where there is a terminal or a notebook.
    :raises TorranceError: the suite or an argument is wrong, and nothing was run; or a report could not be written.
    :raises KeyboardInterrupt: Ctrl-C; its attribute ``suite`` is the result so far.
    """
    named = {"output": output, "html": html, "junit": junit, "device": device}
    filters = [filter] if isinstance(filter, str) else filter
    options = [f"--filter={text}" for text in filters]
    options += [f"--{name}={os.fspath(value)}" for name, value in named.items() if value is not None]
    options += [f"--{name}" for name, wanted in {"full": full, "resume": resume}.items() if wanted]
    return run(suite, options, visible() if progress is None else progress)


def run(suite: PathLike, options: Iterable[str], shows: bool = False) -> SuiteResult:
    """Runs ``torrance regress`` with options."""
    with _Program(["regress", os.fspath(suite), "--json=-", *options], shows) as program:
        try:
            report = program.report()
        except KeyboardInterrupt as stopped:
            program.interrupt()
            report = program.report()
            if report:
                stopped.suite = SuiteResult(json.loads(report))
            raise
    if program.code not in (0, 1) or not report:
        raise TorranceError(program.message())
    return SuiteResult(json.loads(report))


def names(suite: PathLike, options: Iterable[str]) -> list[str]:
    """The names of the cases that options choose."""
    with _Program(["regress", os.fspath(suite), "--list", *options], False) as program:
        lines = program.report().decode("utf-8").splitlines()
    if program.code != 0:
        raise TorranceError(program.message())
    return [line.partition("\t")[0] for line in lines]


class _Program:
    """The program ``torrance``, as a process that Ctrl-C does not reach, so that it is told once and can report."""

    def __init__(self, arguments: list[str], shows: bool):
        command = [sys.executable, "-m", "torrance", *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self._shows = shows
        self._lines: list[str] = []
        self._report = b""
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read_lines, self._read_report)]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "_Program":
        return self

    def __exit__(self, *_) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def report(self) -> bytes:
        """What it prints to stdout until it ends."""
        for reader in self._readers:
            reader.join()
        self._process.wait()
        return self._report

    def interrupt(self) -> None:
        """Tells it to end, as Ctrl-C does."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    @property
    def code(self) -> int:
        """The exit code, once it has ended."""
        return self._process.returncode

    def message(self) -> str:
        """What it says of an error."""
        text = "\n".join(self._lines).strip()
        return text.removeprefix("error: ") or f"torrance ended with code {self.code}, and says nothing of it"

    def _read_report(self) -> None:
        self._report = self._process.stdout.read()

    def _read_lines(self) -> None:
        for line in self._process.stderr:
            self._lines.append(line.decode("utf-8", "replace").rstrip("\n"))
            if self._shows:
                print(self._lines[-1], file=sys.stderr, flush=True)


def _case(case: dict[str, Any]) -> Case:
    measured = case.get("measured") or {}
    test = measured.get("statistics") or {}
    reason = (case["words"] or [""])[0]
    samples = measured.get("samples")
    return Case(case["name"], case["status"], reason, test.get("p"), test.get("detectable"), samples, case.get("seconds"))


def _row(case: Case) -> str:
    mark = "✓" if case.passed else "✗"
    numbers = (f"<td>{'–' if number is None else f'{number:.3g}'}</td>" for number in (case.p, case.seconds))
    return f"<tr><td>{mark} {case.status}</td><td>{case.name}</td><td>{markup.escape(case.reason)}</td>{''.join(numbers)}</tr>"
