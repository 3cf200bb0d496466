"""What the documents show, runs."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/python.md"])
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 3
    os.symlink(ROOT / "scenes", tmp_path / "scenes")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert (tmp_path / "cornell.png").exists() and names["sweep"].radiance.shape == (6, 128, 128, 3)
