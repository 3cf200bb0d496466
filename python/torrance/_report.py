"""The page of a run: one file that needs no other."""

from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path
from typing import Iterable, List, Optional

from ._run import Case

#: Worst first, as the page shows them.
STATUSES = ("failed", "error", "unresolved", "blessed", "passed")

_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#d8dce1, #3a4048); --muted: light-dark(#5c6570, #9aa3af); }
.failed { --status: light-dark(#b4232c, #ff7b7b); }
.error { --status: light-dark(#8a3aa8, #d69af0); }
.unresolved { --status: light-dark(#8a5d00, #e6b84a); }
.passed, .blessed { --status: light-dark(#1d7a3c, #57c785); }
body { max-width: 1100px; margin: 24px auto; padding: 0 16px; font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 22px; }
h1 + p, small, .numbers th { color: var(--muted); }
details { border-top: 1px solid var(--line); padding: 8px 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary b { color: var(--status); display: inline-block; min-width: 6em; }
.body { padding: 8px 0 12px; border-left: 3px solid var(--status); padding-left: 14px; }
.views { display: grid; grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); gap: 12px; margin-top: 12px; }
figure { margin: 0; }
img { width: 100%; image-rendering: pixelated; border-radius: 3px; }
p { margin: 2px 0; overflow-wrap: anywhere; }
table { margin-top: 8px; border-spacing: 0; font-variant-numeric: tabular-nums; }
.numbers th { font-weight: normal; text-align: left; padding-right: 24px; }
"""


def write_page(cases: List[Case], path: Path) -> None:
    """Writes the page of these cases. A file that is there is replaced when the new one is complete.

    :raises OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".torrance-", dir=path.parent) as folder:
        made = Path(folder) / path.name
        made.write_text(page(cases), encoding="utf-8")
        os.replace(made, path)


def page(cases: List[Case]) -> str:
    """The page, worst cases first."""
    counts = {status: sum(case.status == status for case in cases) for status in STATUSES}
    bad = counts["failed"] + counts["error"]
    title = f"{bad} of {len(cases)} image checks failed" if bad else f"no image check failed, of {len(cases)}"
    summary = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    sections = "".join(_section(case) for case in sorted(cases, key=lambda case: STATUSES.index(case.status)))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1><p>{summary}</p>{sections}</html>\n"
    )


def _section(case: Case) -> str:
    opened = "" if case.status in ("passed", "blessed") else " open"
    headline, *words = (html.escape(sentence) for sentence in case.words)
    return (
        f'<details class="{case.status}"{opened}><summary><b>{case.status}</b> {html.escape(case.name)} '
        f"<small>{html.escape(case.test)}</small><p>{headline}</p></summary>"
        f'<div class="body">{"".join(f"<p>{sentence}</p>" for sentence in words)}{_numbers(case)}{_views(case)}</div></details>'
    )


def _numbers(case: Case) -> str:
    rows = [
        ("passes", str(case.passes)),
        ("seconds", f"{case.seconds:.1f}"),
        ("p", _number(case.p)),
        ("level of a look", _number(case.level)),
        ("detectable, whole image", _number(case.resolution)),
        *((name, _number(value)) for name, value in case.metrics.items()),
        *case.files.items(),
    ]
    cells = "".join(f"<tr><th>{html.escape(name)}<td>{html.escape(value)}" for name, value in rows)
    return f'<table class="numbers">{cells}</table>'


def _views(case: Case) -> str:
    return f'<div class="views">{"".join(_figures(case.pictures.items()))}</div>'


def _figures(pictures: Iterable) -> Iterable[str]:
    for what, png in pictures:
        alt = html.escape(what)
        yield f'<figure><img src="data:image/png;base64,{png}" alt="{alt}"><figcaption>{alt}</figcaption></figure>'


def _number(value: Optional[float]) -> str:
    return "–" if value is None else f"{value:.3g}"
